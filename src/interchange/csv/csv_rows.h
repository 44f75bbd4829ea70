/* SPDX-License-Identifier: MIT */
/* A slab of bytes cut into records of equally many fields. */
#ifndef INTERCHANGE_CSV_ROWS_H
#define INTERCHANGE_CSV_ROWS_H

#include "ald/alloc.h"
#include "interchange/csv/dialect.h"

/* Bytes behind a slab that must be readable, whatever they hold. */
#define ALD__CSV_PADDING 64
#define ALD__CSV_SLAB_MAX 0x7FFFFF00u

/* Field `c` of row `r` ends at ends[r × columns + c]. It begins behind the end of the field before it, the first one at
 * starts[r]. A field that is missing (padded) begins behind its end. */
typedef struct ald__csv_rows {
    const ald__csv_dialect *dialect;
    ald_allocator alloc;
    size_t columns;
    uint32_t *ends, *starts;
    size_t ends_capacity, starts_capacity;
    size_t rows;
    uint32_t
        consumed; /* all before this are whole records (or nothing); the next one begins here */
    uint32_t open_field; /* where the first field that is not complete begins */
    unsigned
        seen; /* ALD__CSV_HIGH, ALD__CSV_NUL: may be among the consumed bytes; if not set, is not */
    uint64_t padded, skipped; /* ragged records of this slab */
    ald__csv_fault fault;     /* behind the rows; offset from the slab's beginning */
} ald__csv_rows;

ALD_NODISCARD ald_status ald__csv_rows_init(ald__csv_rows *rows, const ald__csv_dialect *dialect,
                                            size_t columns, const ald_allocator *alloc,
                                            ald_error *err);
void ald__csv_rows_clear(ald__csv_rows *rows);

/* Cuts data[0 .. size), which begins at a record, into rows: until the bytes end, the room is full, `row_limit` rows are
 * there, or a row begins at `byte_limit` or later. size ≤ ALD__CSV_SLAB_MAX. `last` nonzero: the input ends with the slab. */
void ald__csv_rows_cut(ald__csv_rows *rows, const uint8_t *data, size_t size, int last,
                       size_t row_limit, size_t byte_limit);

/* The unquoted extent of a field. */
typedef struct ald__csv_field {
    uint32_t begin, end;
    uint8_t missing;
    uint8_t quoted; /* begin and end are inside the quotes */
} ald__csv_field;

static inline uint32_t ald__csv_begin(const ald__csv_rows *rows, size_t row, size_t column)
{
    return column == 0 ? rows->starts[row] : rows->ends[row * rows->columns + column - 1] + 1;
}

static inline ald__csv_field ald__csv_field_at(const ald__csv_rows *rows, const uint8_t *data,
                                               size_t row, size_t column)
{
    ald__csv_field f = {ald__csv_begin(rows, row, column), rows->ends[row * rows->columns + column],
                        0, 0};
    f.missing = f.begin > f.end;
    if (!f.missing && f.end - f.begin >= 2 && data[f.begin] == rows->dialect->quote) {
        f.quoted = 1;
        f.begin++;
        f.end--;
    }
    return f;
}

#endif
