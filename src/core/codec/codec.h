/* SPDX-License-Identifier: MIT */
/* Compression behind one interface. The size of what comes out is known before decoding starts. */
#ifndef CORE_CODEC_CODEC_H
#define CORE_CODEC_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"

/* Decodes all frames of `src` into exactly `dst_size` bytes. `id` is an ald_compression of 0 to 3 (0 copies). Frames may
 * be several, skippable ones among them, but at least one real one (not with id 0), and nothing may follow the last.
 * `offset` is the file offset of src, for messages. Errors: ALD_E_INVALID_FORMAT (broken frames, other size, dictionary
 * id, legacy frame), ALD_E_CHECKSUM_MISMATCH (content checksum), ALD_E_LIMIT_EXCEEDED (zstd window over 128 MiB). */
ALD_NODISCARD ald_status ald__codec_decode(uint8_t id, const ald_allocator *alloc,
                                           const uint8_t *src, size_t src_size, uint8_t *dst,
                                           size_t dst_size, uint64_t offset, ald_error *err);

/* The same with memory that is kept from call to call, for one thread at a time. After a failure it can only be freed. */
typedef struct ald__decoder ald__decoder;
ALD_NODISCARD ald_status ald__decoder_new(uint8_t id, const ald_allocator *alloc,
                                          ald__decoder **out, ald_error *err);
ALD_NODISCARD ald_status ald__decoder_run(ald__decoder *decoder, const uint8_t *src,
                                          size_t src_size, uint8_t *dst, size_t dst_size,
                                          uint64_t offset, ald_error *err);
void ald__decoder_free(ald__decoder *decoder); /* NULL is fine */

/* The most that the frames of `src` can hold, found without decoding: a stated size beyond it is a lie, and nothing is
 * allocated for it. Broken frames give any bound. */
uint64_t ald__codec_bound(uint8_t id, const uint8_t *src, size_t src_size);

/* One frame with content checksum and size, fed in pieces. `content_size` must be what is written in all, or
 * UINT64_MAX: unknown (the frame then has no size). Id 0 passes bytes through. */
typedef struct ald__encoder ald__encoder;
ALD_NODISCARD ald_status ald__encoder_new(uint8_t id, const ald_allocator *alloc,
                                          uint64_t content_size, const ald_sink *sink,
                                          ald__encoder **out, ald_error *err);
ALD_NODISCARD ald_status ald__encoder_write(ald__encoder *encoder, const void *data, size_t size,
                                            ald_error *err);
/* Begins another frame, with the memory of the last one. */
ALD_NODISCARD ald_status ald__encoder_restart(ald__encoder *encoder, uint64_t content_size,
                                              const ald_sink *sink, ald_error *err);
/* A whole frame from one piece of memory, appended to `out`; a restart is not needed before. */
ALD_NODISCARD ald_status ald__encoder_frame(ald__encoder *encoder, const void *data, size_t size,
                                            ald_buffer *out, ald_error *err);
/* Ways to look for matches that zstd-l3 has; 0 is level 3 itself, some are faster, the rest is for readers. Other encoders
 * have only 0. */
#define ALD__TUNINGS 11u
/* For the frames that follow, until it is called again. */
ALD_NODISCARD ald_status ald__encoder_tune(ald__encoder *encoder, unsigned choice, ald_error *err);
/* Writes what is left. The encoder must still be freed. */
ALD_NODISCARD ald_status ald__encoder_finish(ald__encoder *encoder, ald_error *err);
void ald__encoder_free(ald__encoder *encoder);

/* One frame from one piece of memory, appended to `out`; content checksum and size as above. */
ALD_NODISCARD ald_status ald__codec_encode(uint8_t id, const ald_allocator *alloc,
                                           const uint8_t *src, size_t size, ald_buffer *out,
                                           ald_error *err);

/* What is used for the frames of one column, and the size that is expected: stored bytes of 65,536 plain ones. */
typedef struct ald__tuning {
    uint8_t choice;
    uint8_t for_readers; /* and chosen again, for them, where the size is another one */
    uint32_t expected;
} ald__tuning;

/* The fastest choice that makes a sample of `data` at most a hundredth larger than level 3 does. Leaves the encoder tuned
 * in any way, and anything in `spare`. The outcome depends on the data alone. */
ALD_NODISCARD ald_status ald__tuning_choose(ald__encoder *encoder, const uint8_t *data, size_t size,
                                            ald_buffer *spare, ald__tuning *out, ald_error *err);
/* The same for those who read: of all of `data`, what costs them least. */
ALD_NODISCARD ald_status ald__tuning_choose_reading(ald__encoder *encoder, const uint8_t *data,
                                                    size_t size, ald_buffer *spare,
                                                    ald__tuning *out, ald_error *err);
/* Appends a frame made as `tuning` (NULL: level 3) says. Where its size is not as expected, the data have changed, and a
 * sample tells whether the choice is still right; if not, level 3 makes the frame, unless it makes it larger. What is for
 * readers, level 3 too, is chosen again. */
ALD_NODISCARD ald_status ald__tuned_frame(ald__encoder *encoder, const ald__tuning *tuning,
                                          const uint8_t *data, size_t size, ald_buffer *spare,
                                          ald_buffer *out, ald_error *err);

/* CRC32, IEEE 802.3 (zlib's): continue with the last result, begin with 0. */
uint32_t ald__crc32(uint32_t crc, const void *data, size_t size);
/* The deviating variant of the Rust crate alimentar 0.1–0.4: two wrong table entries (FORMAT.md). */
uint32_t ald__crc32_crate(uint32_t crc, const void *data, size_t size);
/* CRC of a ‖ b from the CRCs of both and the size of b. */
uint32_t ald__crc32_combine(uint32_t crc_a, uint32_t crc_b, uint64_t size_b);

#endif
