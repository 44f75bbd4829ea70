/* SPDX-License-Identifier: MIT */
/* Arrow IPC messages into Arrow arrays: every byte of an untrusted message is checked before a value is released. */
#ifndef CORE_ARROW_IPC_READ_H
#define CORE_ARROW_IPC_READ_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"
#include "core/base/buf.h"
#include "core/base/shared.h"

/* Decompresses one IPC buffer: exactly dst_size bytes, else an error. `codec` as in the flatbuffer: 0 LZ4 frame, 1 zstd. */
typedef struct ald__ipc_codec {
    ald_status (*decode)(void *ctx, int codec, const uint8_t *src, size_t src_size, uint8_t *dst,
                         size_t dst_size, ald_error *err);
    void *ctx;
} ald__ipc_codec;

typedef struct ald__ipc_rules {
    uint8_t
        strict; /* .ald (WIRE): V5, marker, lengths and offsets multiples of 8, no buffer compression */
    uint8_t allow_delta;         /* delta dictionaries */
    const ald__ipc_codec *codec; /* NULL: compressed buffers are refused */
    uint8_t
        once; /* STREAMING chunks: a dictionary comes once for each set, and after those that it refers to */
} ald__ipc_rules;

typedef enum ald__ipc_type {
    ALD__IPC_END = 0, /* end-of-stream marker, or (not strict) the end of the bytes */
    ALD__IPC_SCHEMA = 1,
    ALD__IPC_DICTIONARY = 2,
    ALD__IPC_BATCH = 3
} ald__ipc_type;

/* One message, borrowed from the bytes it was read from. */
typedef struct ald__ipc_message {
    ald__ipc_type type;
    int marked_end;          /* END came as a marker */
    const uint8_t *metadata; /* the flatbuffer */
    size_t metadata_size;
    uint64_t metadata_offset; /* file offset of metadata[0], for messages */
    uint64_t body_offset;     /* file offset of the body */
    uint64_t body_size;
    const uint8_t *body; /* NULL from ald__ipc_read_head */
    uint64_t body_begin,
        body_end;     /* the part of the body that `body` is; all of it, unless a caller has less */
    size_t head_size; /* prefix and metadata, as read */
    int16_t version;  /* of the metadata, as numbered in the flatbuffer: 3 V4, 4 V5 */
} ald__ipc_message;

/* The next message with its body; the cursor moves behind it. Cut short is ALD_E_TRUNCATED unless strict, then
 * ALD_E_INVALID_FORMAT (the payload's size was already checked). */
ALD_NODISCARD ald_status ald__ipc_read_message(ald__cursor *cursor, const ald__ipc_rules *rules,
                                               ald__ipc_message *out, ald_error *err);
/* The same for prefix and metadata alone: the body is left unread at the cursor (body_size says how much follows). */
ALD_NODISCARD ald_status ald__ipc_read_head(ald__cursor *cursor, const ald__ipc_rules *rules,
                                            ald__ipc_message *out, ald_error *err);

/* A decoded schema message: immutable, may be shared by threads. */
typedef struct ald__ipc_schema ald__ipc_schema;
ALD_NODISCARD ald_status ald__ipc_schema_new(const ald_allocator *alloc,
                                             const ald__ipc_message *message,
                                             const ald__ipc_rules *rules, ald__ipc_schema **out,
                                             ald_error *err);
/* From the flatbuffer Schema table of a file footer: `data` is the whole footer buffer, `table` the table's position. */
ALD_NODISCARD ald_status ald__ipc_schema_from_footer(const ald_allocator *alloc,
                                                     const uint8_t *data, size_t size,
                                                     uint64_t base_offset, size_t table,
                                                     const ald__ipc_rules *rules,
                                                     ald__ipc_schema **out, ald_error *err);
void ald__ipc_schema_free(ald__ipc_schema *schema);
/* Borrowed; the root is a struct, dictionary-encoded fields carry `dictionary`. */
const struct ArrowSchema *ald__ipc_schema_get(const ald__ipc_schema *schema);
/* Distinct dictionary ids, inner before outer; 0: none. */
size_t ald__ipc_schema_dictionary_count(const ald__ipc_schema *schema);
/* Number of the dictionary that a dictionary batch sets. */
ALD_NODISCARD ald_status ald__ipc_schema_dictionary_index(const ald__ipc_schema *schema,
                                                          const ald__ipc_message *message,
                                                          size_t *out, ald_error *err);

/* The dictionaries that batches refer to: one set for each thread or chunk. */
typedef struct ald__ipc_dictionaries ald__ipc_dictionaries;
ALD_NODISCARD ald_status ald__ipc_dictionaries_new(const ald_allocator *alloc,
                                                   const ald__ipc_schema *schema,
                                                   ald__ipc_dictionaries **out, ald_error *err);
void ald__ipc_dictionaries_free(ald__ipc_dictionaries *dictionaries);
/* Decodes and validates a dictionary batch; replaces, or (delta) appends to a copy. `backing` holds the message's body and
 * is referenced. */
ALD_NODISCARD ald_status ald__ipc_read_dictionary(ald__ipc_dictionaries *dictionaries,
                                                  const ald__ipc_message *message,
                                                  const ald__ipc_rules *rules, ald__shared *backing,
                                                  ald_error *err);
/* Batches since the set was made that set id number `index` (as counted above); for "exactly one each" rules. */
size_t ald__ipc_dictionaries_seen(const ald__ipc_dictionaries *dictionaries, size_t index);

/* Decodes and validates a record batch into a struct array that references `backing` (no copy) and the dictionaries.
 * `wanted`: NULL, or one byte for each top-level column; columns with 0 are neither read nor validated, and left out. */
ALD_NODISCARD ald_status ald__ipc_read_batch(const ald__ipc_dictionaries *dictionaries,
                                             const ald__ipc_message *message,
                                             const ald__ipc_rules *rules, ald__shared *backing,
                                             const uint8_t *wanted, struct ArrowArray *out,
                                             ald_error *err);

/* Where a top-level column's buffers lie in the body of a record batch, from its metadata alone (checked against it). */
typedef struct ald__ipc_span {
    uint64_t begin,
        end; /* of the buffers that are not empty, without padding behind the last; 0, 0: none */
    uint64_t
        values_begin; /* of the column's values buffer (fixed-size list: its child's); 0 if none */
    uint64_t values_size;
    /* Validity of the column's rows and, for a fixed-size list, of its elements: place (size 0: no nulls) and count. */
    uint64_t validity_begin, validity_size, element_validity_begin, element_validity_size;
    int64_t null_count, element_null_count;
} ald__ipc_span;
/* Fills spans[0 .. top-level columns) and the batch's row count. */
ALD_NODISCARD ald_status ald__ipc_read_spans(const ald__ipc_schema *schema,
                                             const ald__ipc_message *message,
                                             const ald__ipc_rules *rules, ald__ipc_span *spans,
                                             uint64_t *num_rows, ald_error *err);
/* Whether every buffer of a record or dictionary batch, empty ones included, begins at a multiple of 64 in the file;
 * else ALD_E_INVALID_FORMAT. */
ALD_NODISCARD ald_status ald__ipc_check_aligned(const ald__ipc_message *message, ald_error *err);

#endif
