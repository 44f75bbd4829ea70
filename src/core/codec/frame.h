/* SPDX-License-Identifier: MIT */
/* What zstd and LZ4 frames have in common, and the seam between codec.c and the two libraries. */
#ifndef CORE_CODEC_FRAME_H
#define CORE_CODEC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"

/* Bytes of the skippable frame at the start of src, or 0 when there is none. More than `size`: it is cut short. */
uint64_t ald__frame_skippable(const uint8_t *src, size_t size);

/* One decoding of several frames: where it stands. */
typedef struct ald__frame_io {
    const ald_allocator *alloc;
    const uint8_t *src;
    size_t src_size;
    uint8_t *dst;
    size_t dst_size, dst_pos;
    uint64_t offset; /* file offset of src[0] */
    size_t frames;   /* real ones so far */
} ald__frame_io;

/* Decoders: `frame` decodes the real frame at src[*pos] and moves *pos behind it. */
typedef struct ald__decoder_ops {
    ald_status (*open)(const ald_allocator *alloc, void **state, ald_error *err);
    ald_status (*frame)(void *state, ald__frame_io *io, size_t *pos, ald_error *err);
    void (*free)(void *state);
    /* Before anything is allocated for it: src is one frame, with a content checksum, that says `content_size` itself (LZ4
     * may leave a size of 0 out) and can hold as much. What follows the frame is noticed after decoding. */
    ald_status (*check_single)(const uint8_t *src, size_t src_size, uint64_t content_size,
                               uint64_t offset, ald_error *err);
} ald__decoder_ops;

extern const ald__decoder_ops ald__zstd_decoder;
extern const ald__decoder_ops ald__lz4_decoder;

/* A ZSTD_CCtx that allocates through `alloc`, which must stay where it is; NULL: no memory. */
struct ZSTD_CCtx_s *ald__zstd_context(const ald_allocator *alloc);

uint64_t ald__zstd_bound(const uint8_t *src, size_t size);

/* About what reading a whole frame of our own costs, in tenths of nanoseconds: to compare frames of the same data. */
uint64_t ald__zstd_cost(const uint8_t *frame, size_t size);

/* Encoders: `state` is the library's. write may be called with size 0. */
typedef struct ald__encoder_ops {
    ald_status (*open)(const ald_allocator *alloc, int level, uint64_t content_size, void **state,
                       ald_error *err);
    ald_status (*write)(void *state, const void *data, size_t size, const ald_sink *sink,
                        ald_error *err);
    ald_status (*restart)(void *state, uint64_t content_size, ald_error *err);
    ald_status (*finish)(void *state, const ald_sink *sink, ald_error *err);
    void (*free)(void *state);
    /* Optional (NULL): a whole frame from one piece of memory, appended to `out`, without a copy of the input. */
    ald_status (*once)(void *state, const void *data, size_t size, ald_buffer *out, ald_error *err);
    /* Optional (NULL): for the frames that follow, one of ALD__TUNINGS ways to look for matches. */
    ald_status (*tune)(void *state, unsigned choice, ald_error *err);
} ald__encoder_ops;

extern const ald__encoder_ops ald__zstd_encoder;
extern const ald__encoder_ops ald__lz4_encoder;

#endif
