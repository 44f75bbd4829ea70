/* SPDX-License-Identifier: MIT */
/* Arrow arrays into Arrow IPC messages. */
#ifndef CORE_ARROW_IPC_WRITE_H
#define CORE_ARROW_IPC_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"

/* Receives the bytes of messages in order, in pieces that are borrowed for the call. */
typedef struct ald__emit {
    ald_status (*bytes)(void *ctx, const void *data, size_t size, ald_error *err);
    void *ctx;
} ald__emit;

/* Compresses one IPC buffer. Appends to `out`; appends nothing when the result would not be smaller than `size`. */
typedef struct ald__ipc_compress {
    int codec; /* 0 LZ4 frame, 1 zstd */
    ald_status (*encode)(void *ctx, const uint8_t *src, size_t size, ald_buffer *out,
                         ald_error *err);
    void *ctx;
} ald__ipc_compress;

typedef enum ald__dictionary_mode {
    ALD__DICTIONARY_STREAM = 0, /* before the first batch, and again when one changed */
    ALD__DICTIONARY_CHUNK = 1,  /* all of them before every batch, inner before outer */
    ALD__DICTIONARY_DELTA = 2   /* file: one dictionary, extended by deltas, indices remapped */
} ald__dictionary_mode;

typedef struct ald__ipc_write_options {
    uint32_t
        alignment; /* 8, or 64: every buffer, empty ones included, begins at a multiple of 64 of `position` */
    uint8_t dictionary_mode;
    const ald__ipc_compress *compress; /* NULL: none */
} ald__ipc_write_options;

typedef struct ald__ipc_writer ald__ipc_writer;

/* `schema` is borrowed and must outlive the writer. Fails with ALD_E_INVALID_ARG for a schema that IPC cannot say. */
ALD_NODISCARD ald_status ald__ipc_writer_new(const ald_allocator *alloc,
                                             const struct ArrowSchema *schema,
                                             const ald__ipc_write_options *options,
                                             ald__ipc_writer **out, ald_error *err);
void ald__ipc_writer_free(ald__ipc_writer *writer);

/* The schema message with its prefix. */
ALD_NODISCARD ald_status ald__ipc_write_schema(ald__ipc_writer *writer, const ald__emit *emit,
                                               ald_error *err);
/* Dictionary batches as the mode asks, then the record batch. Buffers are cut to the rows; bits past the end, bytes under
 * nulls and between buffers are zero; offsets begin at 0. `batch` (a struct array of the schema) is checked for form
 * (lengths, children, buffers), not for values. */
ALD_NODISCARD ald_status ald__ipc_write_batch(ald__ipc_writer *writer,
                                              const struct ArrowArray *batch, const ald__emit *emit,
                                              ald_error *err);
/* The end-of-stream marker, 8 bytes. */
ALD_NODISCARD ald_status ald__ipc_write_end(ald__ipc_writer *writer, const ald__emit *emit,
                                            ald_error *err);

/* Where messages went, for footers and indices. Counted from where the writer's first byte is said to be. */
void ald__ipc_writer_set_position(ald__ipc_writer *writer, uint64_t position);
uint64_t ald__ipc_writer_position(const ald__ipc_writer *writer);

/* Of the last record batch: file offset and size of the values buffer of a top-level column (fixed-size list: its
 * child's), as ald__ipc_span. */
typedef struct ald__ipc_block {
    uint64_t offset;        /* of the message's prefix */
    uint32_t metadata_size; /* prefix and metadata with padding */
    uint64_t body_size;
    int is_dictionary;
} ald__ipc_block;
/* Blocks of all messages written so far, dictionaries and batches, in order; borrowed until the next write. */
const ald__ipc_block *ald__ipc_writer_blocks(const ald__ipc_writer *writer, size_t *count);
/* Values buffers of the last record batch: offsets[i], sizes[i] for each top-level column (0, 0: none). */
void ald__ipc_writer_values(const ald__ipc_writer *writer, const uint64_t **offsets,
                            const uint64_t **sizes);

/* A complete stream of the schema alone: schema message and end marker, as the schema section holds. Appended. */
ALD_NODISCARD ald_status ald__ipc_schema_section(const ald_allocator *alloc,
                                                 const struct ArrowSchema *schema, ald_buffer *out,
                                                 ald_error *err);
/* A file's footer flatbuffer (Footer table: schema, dictionaries, blocks). Appended, without length and magic. */
ALD_NODISCARD ald_status ald__ipc_write_footer(ald__ipc_writer *writer, ald_buffer *out,
                                               ald_error *err);

#endif
