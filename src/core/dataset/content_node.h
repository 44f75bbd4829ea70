/* SPDX-License-Identifier: MIT */
/* One node of a column's type while a table is hashed. Dictionaries and run-end encoding are nodes that only say which rows of
 * another node come next; all others have streams of bytes (F-455), each with a running BLAKE3. */
#ifndef CORE_DATASET_CONTENT_NODE_H
#define CORE_DATASET_CONTENT_NODE_H

#include "ald/io.h"
#include "core/arrow/type.h"

#define ALD__CONTENT_SPANS 64

typedef enum ald__content_kind {
    ALD__CONTENT_NULL,
    ALD__CONTENT_BOOL,
    ALD__CONTENT_FIXED,
    ALD__CONTENT_TEXT, /* and binary, with offsets */
    ALD__CONTENT_VIEW,
    ALD__CONTENT_LIST, /* and map: its two children are the node's */
    ALD__CONTENT_LIST_VIEW,
    ALD__CONTENT_FIXED_LIST,
    ALD__CONTENT_STRUCT,
    ALD__CONTENT_UNION,
    ALD__CONTENT_DICTIONARY, /* the only child: its values */
    ALD__CONTENT_RUN_END     /* the only child: its values */
} ald__content_kind;

/* Rows that come next: [row, row + count), or one row so many times, or (row < 0) so many nulls. */
typedef struct ald__content_span {
    int64_t row, count;
    uint8_t repeated;
} ald__content_span;

/* A running hash. Small pieces are gathered, since BLAKE3 is fast on large ones only. */
typedef struct ald__content_stream {
    void *state; /* the provider's; NULL: this type has no such stream */
    uint8_t *staged;
    size_t staged_size;
} ald__content_stream;

typedef struct ald__content_node {
    const ald_host *host;
    const struct ArrowArray *array; /* of the batch at hand */
    ald__content_stream nulls, lengths, data;
    struct ald__content_node *children;
    ald__content_span *spans; /* ALD__CONTENT_SPANS of them; NULL: of a column itself */
    uint64_t row_count;       /* so far */
    uint64_t null_begin;      /* the last run of nulls, [null_begin, null_end) … */
    uint64_t null_end;        /* … may go on */
    uint32_t child_count, span_count;
    uint32_t width; /* bytes: of a value, an offset, an index, a run end */
    int32_t list_size;
    uint8_t kind, has_validity, is_map;
    uint8_t child_of_code[128]; /* unions: by type id */
} ald__content_node;

/* A zeroed node for a field, with all below it. Its type's bytes (F-452) are appended to `type`. On failure clear it. */
ALD_NODISCARD ald_status ald__content_node_init(ald__content_node *node,
                                                const struct ArrowSchema *field,
                                                const ald_host *host, ald_buffer *type,
                                                ald_error *err);
void ald__content_node_clear(ald__content_node *node);

/* Takes rows [row, row + count) of a valid array, counted without its offset. Nothing is kept of it. */
void ald__content_node_take(ald__content_node *node, const struct ArrowArray *array, int64_t row,
                            int64_t count);
/* Appends the digests of the node's streams and of those below it (F-455), once. */
ALD_NODISCARD ald_status ald__content_node_finish(ald__content_node *node, ald_buffer *out,
                                                  ald_error *err);

/* Parts of the above, in files of their own. */
void ald__content_put(ald__content_node *node, ald__content_stream *stream, const void *data,
                      size_t size);
void ald__content_put_u64(ald__content_node *node, ald__content_stream *stream, uint64_t value);
/* Counts rows; those of a run of nulls are written once it is over. */
void ald__content_put_nulls(ald__content_node *node, uint64_t count);
/* Hashes what is gathered, and frees the room. */
void ald__content_flush(ald__content_node *node, ald__content_stream *stream);

#endif
