/* SPDX-License-Identifier: MIT */
/* A packed chunk, from its stored bytes to the IPC messages that it stands for. */
#ifndef CORE_DATASET_PACKED_CHUNK_H
#define CORE_DATASET_PACKED_CHUNK_H

#include "core/arrow/ipc_read.h"
#include "core/codec/packed/packed.h"

/* Stored bytes where they are needed: all of them, or some at a time. `offset` counts from the chunk's begin; the bytes are
 * borrowed until the next call. */
typedef struct ald__packed_source {
    ald_status (*bytes)(void *ctx, uint64_t offset, size_t size, const uint8_t **out,
                        ald_error *err);
    void *ctx;
} ald__packed_source;

typedef struct ald__packed_chunk {
    const ald_allocator *alloc;
    const ald__ipc_schema *schema;
    uint8_t compression;
    uint64_t number;      /* of the chunk */
    uint64_t offset;      /* in the file */
    uint64_t rows;        /* as the chunk index says */
    uint64_t stored_size; /* without what encryption adds */
    const uint8_t
        *columns; /* one byte each, or NULL: all. The others' buffers stay as they are in dst */
    /* NULL, or what a series of chunks shares, NULL at first; the caller frees it. */
    ald__unpacker **keep;
} ald__packed_chunk;

static inline int ald__compression_is_packed(uint8_t compression)
{
    return compression == ALD__PACKED_ZSTD || compression == ALD__PACKED_LZ4;
}

/* Rebuilds into dst exactly dst_size bytes: dictionary batches, the record batch's metadata, its body. The values are not
 * validated; the messages are for ald__chunk_parse. */
ALD_NODISCARD ald_status ald__packed_chunk_rebuild(const ald__packed_chunk *chunk,
                                                   const ald__packed_source *source, uint8_t *dst,
                                                   size_t dst_size, ald_error *err);
/* One node of a chunk, as its filter table and metadata say. */
typedef struct ald__packed_measure {
    uint32_t column;
    uint8_t filter;
    uint64_t plain, inflated;              /* bytes of its buffers, of its streams */
    uint64_t frame_stored, frame_inflated; /* of the frame that holds them */
} ald__packed_measure;
/* Calls `visit` for each node of a chunk; its columns are not inflated. */
ALD_NODISCARD ald_status ald__packed_chunk_measure(
    const ald__packed_chunk *chunk, const uint8_t *stored, size_t rebuilt_size,
    void (*visit)(void *ctx, const ald__packed_measure *node), void *ctx, ald_error *err);
/* The same with all bytes in memory. */
ALD_NODISCARD ald_status ald__packed_chunk_decode(const ald__packed_chunk *chunk,
                                                  const uint8_t *stored, uint8_t *dst,
                                                  size_t dst_size, ald_error *err);

#endif
