/* SPDX-License-Identifier: MIT */
/* Some rows and columns of a stream: a range of rows, a condition, a limit, a choice of columns.
 *
 * A condition is `column op value`, `column is null` or `column is not null`, joined by `and` and `or`, of which `and` binds
 * tighter. op is one of = != < <= > >=. Words are case-sensitive, save these key words. A column or value that is not a
 * plain word, or is a key word, stands in single or double quotes, doubled inside. The value is read as text of the column's
 * type (docs/TEXT.md), dictionaries and run-end encoding as their values; one that does not fit the type is an error. Text
 * and binary compare bytewise, the shorter first; false is before true. A null fits `is null` alone, a NaN `!=` alone. */
#ifndef ALD_FILTER_H
#define ALD_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

/* A condition, ready for the columns of one schema. */
typedef struct ald_filter ald_filter;

/* What is wrong with the text is ALD_E_INVALID_ARG, the offset is in the text. `schema` may be released afterwards. */
ALD_API ALD_NODISCARD ald_status ald_filter_new(const char *text, size_t size,
                                                const struct ArrowSchema *schema,
                                                const ald_host *host, ald_filter **out,
                                                ald_error *err);
/* The rows of a struct array that fit, rising, into rows[0 ..]: room for batch->length of them. Not from two threads at
 * once with one filter. */
ALD_API ALD_NODISCARD ald_status ald_filter_rows(ald_filter *filter, const struct ArrowArray *batch,
                                                 int64_t *rows, size_t *row_count, ald_error *err);
/* Sets columns[i] to 1 for each column of the schema that the condition looks at; the others are left as they are. */
ALD_API void ald_filter_columns(const ald_filter *filter, uint8_t *columns);
/* NULL is fine. */
ALD_API void ald_filter_free(ald_filter *filter);

typedef struct ald_select_options {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t row_begin, row_end; /* of the stream, before anything else; row_end 0: to the last */
    const char *where;           /* a condition; where_size 0: all rows */
    size_t where_size;
    uint64_t limit;             /* so many of the rows that fit, from the first on */
    const char *const *columns; /* names, in the order wanted; column_count 0: all */
    size_t column_count;
} ald_select_options;

#define ALD_SELECT_OPTIONS_INIT {sizeof(ald_select_options), 0, 0, 0, NULL, 0, UINT64_MAX, NULL, 0}

/* What options (NULL: everything) choose of `batches`, which is moved into *out (on failure it is released). Batches are as in the stream,
 * shorter, and none is empty; where something is left out of one, the rest is copied. Batches must be valid arrays: those
 * of this library's readers are. */
ALD_API ALD_NODISCARD ald_status ald_select_stream(struct ArrowArrayStream *batches,
                                                   const ald_select_options *options,
                                                   const ald_host *host,
                                                   struct ArrowArrayStream *out, ald_error *err);

/* Rows of a struct array, counted without its offset, in the order given, as a new one in memory of its own. */
ALD_API ALD_NODISCARD ald_status ald_array_take(const struct ArrowSchema *schema,
                                                const struct ArrowArray *array, const int64_t *rows,
                                                size_t row_count, const ald_host *host,
                                                struct ArrowArray *out, ald_error *err);

ALD_END_DECLS
#endif
