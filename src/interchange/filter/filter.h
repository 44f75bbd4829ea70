/* SPDX-License-Identifier: MIT */
/* Inside src/interchange/filter: one test of a condition, the value that it compares with, and the words it is made of. */
#ifndef INTERCHANGE_FILTER_FILTER_H
#define INTERCHANGE_FILTER_FILTER_H

#include "ald/filter.h"
#include "interchange/format/column_view.h"
#include "interchange/text/column.h"

typedef enum ald__filter_op {
    ALD__FILTER_EQUAL,
    ALD__FILTER_NOT_EQUAL,
    ALD__FILTER_LESS,
    ALD__FILTER_LESS_EQUAL,
    ALD__FILTER_GREATER,
    ALD__FILTER_GREATER_EQUAL,
    ALD__FILTER_NULL,
    ALD__FILTER_NOT_NULL
} ald__filter_op;

typedef struct ald__filter_test {
    ald__filter_op op;
    uint8_t starts_term; /* joined to the test before by `or` */
    size_t column;
    ald__view view;
    ald__column value; /* the one value compared with, in the type of the column's cells */
} ald__filter_test;

struct ald_filter {
    ald_allocator alloc;
    struct ArrowSchema schema;
    ald__filter_test *tests;
    size_t test_count, test_capacity;
};

typedef enum ald__filter_kind {
    ALD__WORD_END,
    ALD__WORD_PLAIN,
    ALD__WORD_QUOTED,
    ALD__WORD_OPERATOR
} ald__filter_kind;

typedef struct ald__filter_word {
    ald__filter_kind kind;
    const char *text; /* of a quoted one: what is between the quotes, doubled ones as written */
    size_t size;
    size_t offset;
    char quote;
} ald__filter_word;

/* The next word from *pos on. A quote that does not end is ALD_E_INVALID_ARG. */
ALD_NODISCARD ald_status ald__filter_next(const char *text, size_t size, size_t *pos,
                                          ald__filter_word *out, ald_error *err);

/* Reads `text` as a value of the test's column. */
ALD_NODISCARD ald_status ald__filter_value(ald__filter_test *test, const struct ArrowSchema *field,
                                           const ald_allocator *alloc, const char *text,
                                           size_t size, size_t offset, ald_error *err);

/* Whether the row of the bound column fits. `row` counts from 0 in the column's array. */
ALD_NODISCARD ald_status ald__filter_fits(const ald__filter_test *test, int64_t row, int *fits,
                                          ald_error *err);

#endif
