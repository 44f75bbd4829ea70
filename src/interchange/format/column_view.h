/* SPDX-License-Identifier: MIT */
/* A column made ready for reading cell by cell: the type is parsed once for a stream, the buffers of each batch are bound
 * without allocation, and a cell's value is found through dictionaries, run ends and unions.
 *
 * Arrays are trusted as the C data interface promises them (readers of this library validate before they hand out). A bound
 * tree is read-only: any number of threads may read cells of it. */
#ifndef INTERCHANGE_FORMAT_COLUMN_VIEW_H
#define INTERCHANGE_FORMAT_COLUMN_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"
#include "interchange/format/time_text.h"

#define ALD__VIEW_DEPTH 64 /* of nested types */

typedef enum ald__cell {
    ALD__CELL_NULL,
    ALD__CELL_BOOL,
    ALD__CELL_I8,
    ALD__CELL_I16,
    ALD__CELL_I32,
    ALD__CELL_I64,
    ALD__CELL_U8,
    ALD__CELL_U16,
    ALD__CELL_U32,
    ALD__CELL_U64,
    ALD__CELL_F16,
    ALD__CELL_F32,
    ALD__CELL_F64,
    ALD__CELL_DECIMAL,
    ALD__CELL_DURATION,
    ALD__CELL_DATE32, /* from here on JSON writes strings */
    ALD__CELL_DATE64,
    ALD__CELL_TIME32,
    ALD__CELL_TIME64,
    ALD__CELL_TIMESTAMP,
    ALD__CELL_MONTHS,
    ALD__CELL_DAY_TIME,
    ALD__CELL_MONTH_DAY_NANO,
    ALD__CELL_BINARY, /* from here on of any length */
    ALD__CELL_LARGE_BINARY,
    ALD__CELL_BINARY_VIEW,
    ALD__CELL_FIXED_BINARY,
    ALD__CELL_UTF8,
    ALD__CELL_LARGE_UTF8,
    ALD__CELL_UTF8_VIEW,
    ALD__CELL_LIST, /* from here on nested */
    ALD__CELL_LARGE_LIST,
    ALD__CELL_LIST_VIEW,
    ALD__CELL_LARGE_LIST_VIEW,
    ALD__CELL_FIXED_LIST,
    ALD__CELL_STRUCT,
    ALD__CELL_MAP,
    ALD__CELL_SPARSE_UNION, /* from here on another column's value: ald__view_resolve never stops at one */
    ALD__CELL_DENSE_UNION,
    ALD__CELL_DICTIONARY,
    ALD__CELL_RUN_END
} ald__cell;

static inline int ald__cell_is_text(ald__cell cell)
{
    return cell >= ALD__CELL_UTF8 && cell <= ALD__CELL_UTF8_VIEW;
}

static inline int ald__cell_is_binary(ald__cell cell)
{
    return cell >= ALD__CELL_BINARY && cell <= ALD__CELL_FIXED_BINARY;
}

static inline int ald__cell_is_nested(ald__cell cell)
{
    return cell >= ALD__CELL_LIST && cell <= ALD__CELL_MAP;
}

typedef struct ald__view ald__view;
struct ald__view {
    /* of the type */
    ald__cell cell;
    ald__unit unit;
    ald__zone zone;
    ald__cell index;    /* DICTIONARY: how the indices are stored */
    int32_t byte_width; /* FIXED_BINARY, DECIMAL */
    int32_t scale;
    int32_t list_size;
    int32_t child_count;
    ald__view *children; /* child_count of them */
    ald__view *dictionary;
    int8_t *child_of_code; /* unions: 128 entries, -1 where the code is none */
    const char *name;      /* the field's, borrowed from the schema; never NULL */
    ald_buffer key;        /* the name as a JSON string and a colon */
    /* of the bound array */
    const uint8_t *validity;    /* NULL: no nulls */
    const uint8_t *values;      /* values, bits, views, union codes, or bytes behind offsets */
    const uint8_t *offsets;     /* offsets, dense union offsets */
    const uint8_t *sizes;       /* list views */
    const void *const *buffers; /* views: the data buffers */
    int64_t offset, length;
};

/* `field` must outlive the column. On failure there is nothing to clear. */
ALD_NODISCARD ald_status ald__view_init(ald__view *column, const struct ArrowSchema *field,
                                        const ald_allocator *alloc, ald_error *err);
/* A column of zeros is fine. */
void ald__view_clear(ald__view *column, const ald_allocator *alloc);

/* Points the column at an array of its type, which must stay until the last cell is read. */
ALD_NODISCARD ald_status ald__view_bind(ald__view *column, const struct ArrowArray *array,
                                        ald_error *err);

/* A cell in the column that stores it: `row` is the index into the buffers, the array's offset included. */
typedef struct ald__cell_ref {
    const ald__view *column; /* NULL: the cell is null */
    int64_t row;
} ald__cell_ref;

/* For types whose value lies elsewhere; see ald__view_resolve. */
ALD_NODISCARD ald_status ald__view_follow(const ald__view *column, int64_t row, ald__cell_ref *out,
                                          ald_error *err);

static inline int ald__view_is_valid(const ald__view *c, int64_t row)
{
    return c->validity == NULL || (c->validity[row >> 3] >> (row & 7) & 1) != 0;
}

/* `row` counts from 0 in the array. ALD_E_INVALID_FORMAT: an index or type code that leads nowhere. */
static inline ALD_NODISCARD ald_status ald__view_resolve(const ald__view *c, int64_t row,
                                                         ald__cell_ref *out, ald_error *err)
{
    if (c->cell >= ALD__CELL_SPARSE_UNION)
        return ald__view_follow(c, row, out, err);
    out->row = row + c->offset;
    out->column = c->cell != ALD__CELL_NULL && ald__view_is_valid(c, out->row) ? c : NULL;
    return ALD_OK;
}

/* Bytes of a text or binary cell. */
typedef struct ald__bytes {
    const uint8_t *data;
    size_t size;
} ald__bytes;
ald__bytes ald__cell_bytes(const ald__view *column, int64_t row);

/* The rows of child 0 that a list or map cell holds. */
void ald__cell_range(const ald__view *column, int64_t row, int64_t *first, int64_t *count);

static inline int32_t ald__load_i32(const uint8_t *base, int64_t row)
{
    int32_t v;
    memcpy(&v, base + row * 4, 4);
    return v;
}

static inline int64_t ald__load_i64(const uint8_t *base, int64_t row)
{
    int64_t v;
    memcpy(&v, base + row * 8, 8);
    return v;
}

/* Of cells stored as integers (I8 … I64, U8 … U32); U64 as its bits. */
int64_t ald__load_integer(ald__cell cell, const uint8_t *base, int64_t row);
/* Of F16, F32, F64. */
double ald__load_float(ald__cell cell, const uint8_t *base, int64_t row);

#endif
