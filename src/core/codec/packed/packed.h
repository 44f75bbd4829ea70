/* SPDX-License-Identifier: MIT */
/* Packed chunks (F-360): a chunk's buffers, taken apart into streams that a compressor likes, and rebuilt bit by bit.
 *
 * Nothing here knows Arrow. A layout says what the buffers of a record batch are; the chunk's caller makes it from schema and
 * metadata, and has checked it (F-408): lengths are exact, places follow each other, sizes fit the body. */
#ifndef CORE_CODEC_PACKED_PACKED_H
#define CORE_CODEC_PACKED_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"

#define ALD__PACKED_CHUNK_BYTES (1u << 27) /* the most that a chunk may hold rebuilt (F-402) */
#define ALD__PACKED_SLOTS_LIMIT (1u << 30) /* of a node with buffers (F-408) */

typedef enum ald__packed_class {
    ALD__PACKED_OTHER, /* buffers as they are, whatever they mean */
    ALD__PACKED_FIXED, /* values of `width` bytes */
    ALD__PACKED_FLOAT, /* the same, IEEE 754 of 4 or 8 bytes */
    ALD__PACKED_TEXT,  /* offsets of `width` bytes, data */
    ALD__PACKED_LIST   /* offsets of `width` bytes into a child */
} ald__packed_class;

typedef struct ald__packed_node {
    const char *column; /* name of the top-level column, for messages */
    uint8_t type;       /* an ald__packed_class */
    uint8_t has_validity;
    uint8_t top;           /* begins a top-level column */
    uint32_t width;        /* of a value, or of an offset */
    uint32_t list_size;    /* of the fixed-size list whose child this is; 0: none. For writers */
    uint32_t first_place;  /* of its buffers; validity comes first where there is one */
    uint32_t place_count;  /* all buffers, an empty validity included */
    uint64_t length;       /* slots */
    uint64_t null_count;   /* as the metadata says */
    uint64_t child_length; /* LIST */
} ald__packed_node;

/* One buffer in the body. */
typedef struct ald__packed_place {
    uint64_t begin, size;
} ald__packed_place;

typedef struct ald__packed_layout {
    const ald__packed_node *nodes;
    const ald__packed_place *places;
    uint32_t node_count, place_count, column_count;
    uint64_t body_size;
} ald__packed_layout;

/* Where a fault is, for its message. */
typedef struct ald__packed_at {
    uint64_t chunk, offset; /* number of the chunk; file offset of the frame at hand */
    const char *column;     /* or NULL */
    ald_error *err;
} ald__packed_at;

/* ALD_E_INVALID_FORMAT: "chunk C, column 'X': WHAT is FOUND". */
ALD_NODISCARD ald_status ald__packed_bad(const ald__packed_at *at, const char *what,
                                         uint64_t found);

/* ---- Reading */

typedef struct ald__packed_directory {
    uint32_t count;         /* head and bodies, at least 1 */
    const uint8_t *entries; /* count × (u32 compressed, u32 inflated) */
    size_t size;            /* bytes of the skippable frame */
} ald__packed_directory;

#define ALD__PACKED_DIRECTORY_HEAD 16u
/* Bytes of the directory, from the first 16 of the stored chunk (fewer: all there are). */
ALD_NODISCARD ald_status ald__packed_directory_size(const ald__packed_at *at, const uint8_t *src,
                                                    size_t src_size, uint64_t stored_size,
                                                    size_t *out);
/* All of it, as large as directory_size says. */
ALD_NODISCARD ald_status ald__packed_directory_read(const ald__packed_at *at, const uint8_t *src,
                                                    size_t size, uint64_t stored_size,
                                                    uint64_t rebuilt_size,
                                                    ald__packed_directory *out);
uint32_t ald__packed_stored_size(const ald__packed_directory *directory, uint32_t frame);
uint32_t ald__packed_inflated_size(const ald__packed_directory *directory, uint32_t frame);

#define ALD__PACKED_ZSTD 4u /* compression ids */
#define ALD__PACKED_LZ4 5u

/* Inflates frames, one after the other, with the same memory. */
typedef struct ald__unpacker ald__unpacker;
ALD_NODISCARD ald_status ald__unpacker_new(uint8_t compression, const ald_allocator *alloc,
                                           ald__unpacker **out, ald_error *err);
void ald__unpacker_free(ald__unpacker *unpacker);
size_t ald__unpacker_bytes(const ald__unpacker *unpacker); /* that it keeps for frames */
/* One stored frame; *out is borrowed until the next call. */
ALD_NODISCARD ald_status ald__unpacker_inflate(ald__unpacker *unpacker, const ald__packed_at *at,
                                               const uint8_t *src, size_t src_size, uint32_t size,
                                               const uint8_t **out);

/* A body frame, as the filter table describes it. */
typedef struct ald__packed_frame {
    uint32_t index; /* in the directory: 1 is the first body */
    uint32_t first_node, node_count;
    uint32_t first_column, column_count;
    size_t table_begin; /* of its first entry */
} ald__packed_frame;

/* Body frames in order. Zero-initialise; `table` is the whole filter table. */
typedef struct ald__packed_frames {
    const ald__packed_layout *layout;
    const ald__packed_directory *directory;
    const uint8_t *table;
    size_t table_size, table_pos;
    uint32_t node, column, frame;
} ald__packed_frames;

/* The next frame, all that its entries say checked, against the nodes and the frame's size; out->index 0: that was all,
 * and table, columns and frames end together. */
ALD_NODISCARD ald_status ald__packed_frames_next(ald__packed_frames *frames,
                                                 const ald__packed_at *at, ald__packed_frame *out);
/* Filter and stream bytes of a node whose entry is at *table_pos (a frame's table_begin for its first node), which moves
 * behind it. */
ALD_NODISCARD ald_status ald__packed_node_streams(const ald__packed_frames *frames, uint32_t node,
                                                  size_t *table_pos, const ald__packed_at *at,
                                                  uint8_t *filter, uint64_t *bytes);
/* Inflates a frame that frames_next gave and rebuilds its nodes' buffers, with the zeros behind each, in the body. */
ALD_NODISCARD ald_status ald__packed_frame_rebuild(ald__unpacker *unpacker,
                                                   const ald__packed_frames *frames,
                                                   const ald__packed_frame *frame,
                                                   const ald__packed_at *at, const uint8_t *src,
                                                   size_t src_size, uint8_t *body);

/* ---- Writing */

/* How much a writer tries; ald_effort. */
typedef enum ald__pack_effort {
    ALD__PACK_DEFAULT = 0,
    ALD__PACK_FAST = 1, /* neither numbers in text nor strides nor sums of bytes */
    ALD__PACK_BEST = 2  /* every filter on the whole column */
} ald__pack_effort;

/* Packs chunks, one after the other, with the same memory. What comes out depends on the chunk alone. */
typedef struct ald__pack ald__packer;
ALD_NODISCARD ald_status ald__packer_new(uint8_t compression, uint8_t effort,
                                         const ald_allocator *alloc, ald__packer **out,
                                         ald_error *err);
void ald__packer_free(ald__packer *packer);
/* Tests: every column with this filter (an id) where it suits and can say the column, and its numbers in this mode: 0
 * plain, 1 delta, 2 zigzag delta, 3 stride. −1: as chosen. */
void ald__packer_force(ald__packer *packer, int filter, int mode);
/* Appends the stored chunk: `head` are the messages up to the record batch's body. */
ALD_NODISCARD ald_status ald__packer_chunk(ald__packer *packer, const ald__packed_layout *layout,
                                           const uint8_t *head, size_t head_size,
                                           const uint8_t *body, ald_buffer *out, ald_error *err);

#endif
