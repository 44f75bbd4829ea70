/* SPDX-License-Identifier: MIT */
/* The rows of a slab into column builders. */
#ifndef INTERCHANGE_CSV_PARSE_H
#define INTERCHANGE_CSV_PARSE_H

#include "interchange/csv/reader.h"
#include "interchange/text/column.h"

typedef struct ald__csv_parser {
    const ald__csv_reader *reader;
    ald__column *columns;
    uint8_t *scratch; /* for fields with doubled quotes */
    size_t scratch_capacity;
    ald__csv_fault fault; /* the first value, by place, that its column does not take */
} ald__csv_parser;

/* Appends all rows of the walk's slab. With parser->fault set, what the columns hold is of no use. */
ALD_NODISCARD ald_status ald__csv_parse_slab(ald__csv_parser *parser, const ald__csv_walk *walk,
                                             ald_error *err);

/* One column of a slab, for the files of this folder. */
typedef struct ald__csv_stretch {
    ald__csv_parser *parser;
    const ald__csv_walk *walk;
    ald__column *column;
    size_t index;    /* of the column */
    int quick_nulls; /* the empty bare field is null, and may be */
} ald__csv_stretch;

static inline ald__csv_stretch ald__csv_stretch_of(ald__csv_parser *parser,
                                                   const ald__csv_walk *walk, size_t column)
{
    const ald__csv_reader *r = parser->reader;
    return (ald__csv_stretch){parser, walk, &parser->columns[column], column,
                              r->nulls.empty && r->columns[column].nullable};
}

/* All rows of the stretch. */
ALD_NODISCARD ald_status ald__csv_parse_column(const ald__csv_stretch *s, ald_error *err);
/* Any field. A value that does not fit is noted and a null put in its place. */
ALD_NODISCARD ald_status ald__csv_parse_field(const ald__csv_stretch *s, size_t row,
                                              ald_error *err);

/* Ends a row whose fixed-width value is in place. */
static inline void ald__csv_value_done(ald__column *column)
{
    size_t i = (size_t)column->length++;
    if (column->valid != NULL) {
        uint8_t *byte = &column->valid[i / 8];
        *byte = (uint8_t)((i % 8 == 0 ? 0 : *byte) | 1u << (i % 8));
    }
}

/* A null for an empty bare field, once the column has a bitmap. `width`: of the value to clear. 0: the general way. */
static inline int ald__csv_quick_null(const ald__csv_stretch *s, uint32_t size, size_t width)
{
    ald__column *c = s->column;
    size_t i = (size_t)c->length;
    if (size != 0 || !s->quick_nulls || c->valid == NULL)
        return 0;
    c->valid[i / 8] = (uint8_t)(i % 8 == 0 ? 0 : c->valid[i / 8] & ~(1u << (i % 8)));
    memset(c->values + i * width, 0, width);
    c->length++;
    c->null_count++;
    return 1;
}

/* As ald__csv_parse_slab, and what each value is goes into the profiles: pass one on the way. */
struct ald__csv_infer;
ALD_NODISCARD ald_status ald__csv_take_slab(ald__csv_parser *parser, struct ald__csv_infer *infer,
                                            const ald__csv_walk *walk, ald_error *err);

#endif
