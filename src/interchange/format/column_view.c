/* SPDX-License-Identifier: MIT */
/* Where the parts of each layout lie in an array, and how a cell is reached through the types that only point. */
#include "interchange/format/column_view.h"

#include "interchange/format/number_text.h"
#include "interchange/format/pen.h"

static int buffer_count_of(ald__cell cell)
{
    if (cell == ALD__CELL_NULL || cell == ALD__CELL_RUN_END)
        return 0;
    if (cell == ALD__CELL_STRUCT || cell == ALD__CELL_FIXED_LIST || cell == ALD__CELL_SPARSE_UNION)
        return 1;
    if (cell == ALD__CELL_BINARY || cell == ALD__CELL_LARGE_BINARY || cell == ALD__CELL_UTF8 ||
        cell == ALD__CELL_LARGE_UTF8 || cell == ALD__CELL_LIST_VIEW ||
        cell == ALD__CELL_LARGE_LIST_VIEW)
        return 3;
    return 2;
}

static void bind_buffers(ald__view *c, const struct ArrowArray *array)
{
    const uint8_t *const *buffers = (const uint8_t *const *)array->buffers;
    int has_validity = c->cell != ALD__CELL_NULL && c->cell != ALD__CELL_RUN_END &&
                       c->cell != ALD__CELL_SPARSE_UNION && c->cell != ALD__CELL_DENSE_UNION;
    c->validity = has_validity && array->null_count != 0 ? buffers[0] : NULL;
    c->values = c->offsets = c->sizes = NULL;
    c->buffers = NULL;
    switch (c->cell) {
    case ALD__CELL_BINARY:
    case ALD__CELL_LARGE_BINARY:
    case ALD__CELL_UTF8:
    case ALD__CELL_LARGE_UTF8:
        c->offsets = buffers[1];
        c->values = buffers[2];
        break;
    case ALD__CELL_LIST_VIEW:
    case ALD__CELL_LARGE_LIST_VIEW:
        c->sizes = buffers[2];
        c->offsets = buffers[1];
        break;
    case ALD__CELL_LIST:
    case ALD__CELL_LARGE_LIST:
    case ALD__CELL_MAP:
        c->offsets = buffers[1];
        break;
    case ALD__CELL_SPARSE_UNION:
        c->values = buffers[0];
        break;
    case ALD__CELL_DENSE_UNION:
        c->values = buffers[0];
        c->offsets = buffers[1];
        break;
    case ALD__CELL_BINARY_VIEW:
    case ALD__CELL_UTF8_VIEW:
        c->values = buffers[1];
        c->buffers = (const void *const *)(array->buffers + 2);
        break;
    case ALD__CELL_NULL:
    case ALD__CELL_STRUCT:
    case ALD__CELL_FIXED_LIST:
    case ALD__CELL_RUN_END:
        break;
    default:
        c->values = buffers[1];
        break;
    }
}

ald_status ald__view_bind(ald__view *column, const struct ArrowArray *array, ald_error *err)
{
    if (array->n_buffers < buffer_count_of(column->cell) ||
        array->n_children != column->child_count ||
        (array->dictionary == NULL) != (column->dictionary == NULL))
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "column '%s': the array has not the layout of its type", column->name);
    column->offset = array->offset;
    column->length = array->length;
    bind_buffers(column, array);
    for (int32_t i = 0; i < column->child_count; i++)
        ALD__PEN_TRY(ald__view_bind(column->children + i, array->children[i], err));
    return column->dictionary == NULL ? ALD_OK
                                      : ald__view_bind(column->dictionary, array->dictionary, err);
}

int64_t ald__load_integer(ald__cell cell, const uint8_t *base, int64_t row)
{
    int16_t i16;
    uint16_t u16;
    uint32_t u32;
    switch (cell) {
    case ALD__CELL_I8:
        return (int8_t)base[row];
    case ALD__CELL_U8:
        return base[row];
    case ALD__CELL_I16:
        memcpy(&i16, base + row * 2, 2);
        return i16;
    case ALD__CELL_U16:
        memcpy(&u16, base + row * 2, 2);
        return u16;
    case ALD__CELL_I32:
        return ald__load_i32(base, row);
    case ALD__CELL_U32:
        memcpy(&u32, base + row * 4, 4);
        return u32;
    default:
        return ald__load_i64(base, row);
    }
}

double ald__load_float(ald__cell cell, const uint8_t *base, int64_t row)
{
    double f64;
    float f32;
    uint16_t half;
    if (cell == ALD__CELL_F64) {
        memcpy(&f64, base + row * 8, 8);
        return f64;
    }
    if (cell == ALD__CELL_F32) {
        memcpy(&f32, base + row * 4, 4);
        return (double)f32;
    }
    memcpy(&half, base + row * 2, 2);
    return ald__half_to_double(half);
}

/* The first run that ends behind `row`; run_count when there is none. */
static int64_t find_run(const ald__view *ends, int64_t row)
{
    int64_t low = 0, high = ends->length;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ald__load_integer(ends->cell, ends->values, middle + ends->offset) > row)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static ald_status leads_nowhere(const ald__view *c, int64_t row, const char *what, ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "column '%s', row %lld of the batch: no value has this %s", c->name,
                         (long long)row, what);
}

/* One step: from (*column, *row) to the column and logical row where the value is; NULL: null. */
static ald_status follow_step(const ald__view **column, int64_t *row, ald_error *err)
{
    const ald__view *c = *column;
    int64_t at = *row + c->offset, target;
    int code, child;
    if (c->cell == ALD__CELL_DICTIONARY) {
        *column = NULL;
        if (!ald__view_is_valid(c, at))
            return ALD_OK;
        target = ald__load_integer(c->index, c->values, at);
        if ((uint64_t)target >= (uint64_t)c->dictionary->length)
            return leads_nowhere(c, *row, "dictionary index", err);
        *column = c->dictionary;
        *row = target;
        return ALD_OK;
    }
    if (c->cell == ALD__CELL_RUN_END) {
        target = find_run(c->children, at);
        if (target >= c->children[0].length || target >= c->children[1].length)
            return leads_nowhere(c, *row, "run", err);
        *column = c->children + 1;
        *row = target;
        return ALD_OK;
    }
    code = c->values[at]; /* 128 and more: a negative code */
    child = code > 127 ? -1 : c->child_of_code[code];
    if (child < 0)
        return leads_nowhere(c, *row, "type code", err);
    target = c->cell == ALD__CELL_DENSE_UNION ? ald__load_i32(c->offsets, at) : at;
    if (target < 0 || target >= c->children[child].length)
        return leads_nowhere(c, *row, "offset", err);
    *column = c->children + child;
    *row = target;
    return ALD_OK;
}

ald_status ald__view_follow(const ald__view *column, int64_t row, ald__cell_ref *out,
                            ald_error *err)
{
    /* Each step goes one level down a tree of bounded depth. */
    while (column != NULL && column->cell >= ALD__CELL_SPARSE_UNION)
        ALD__PEN_TRY(follow_step(&column, &row, err));
    if (column != NULL)
        return ald__view_resolve(column, row, out, err);
    out->column = NULL;
    out->row = row;
    return ALD_OK;
}

/* Binary views: 4 bytes of size, then 12 bytes inline, or 4 of prefix, buffer index and offset. */
static ald__bytes view_bytes(const ald__view *c, int64_t row)
{
    const uint8_t *view = c->values + row * 16;
    ald__bytes bytes = {view + 4, (size_t)ald__load_i32(view, 0)};
    if (bytes.size > 12)
        bytes.data = (const uint8_t *)c->buffers[ald__load_i32(view, 2)] + ald__load_i32(view, 3);
    return bytes;
}

ald__bytes ald__cell_bytes(const ald__view *column, int64_t row)
{
    ald__bytes bytes;
    int64_t first, end;
    switch (column->cell) {
    case ALD__CELL_BINARY_VIEW:
    case ALD__CELL_UTF8_VIEW:
        return view_bytes(column, row);
    case ALD__CELL_FIXED_BINARY:
        bytes.size = (size_t)column->byte_width;
        bytes.data = column->values + row * column->byte_width;
        return bytes;
    case ALD__CELL_BINARY:
    case ALD__CELL_UTF8:
        first = ald__load_i32(column->offsets, row);
        end = ald__load_i32(column->offsets, row + 1);
        break;
    default:
        first = ald__load_i64(column->offsets, row);
        end = ald__load_i64(column->offsets, row + 1);
        break;
    }
    bytes.size = (size_t)(end - first);
    bytes.data = bytes.size > 0 ? column->values + first : (const uint8_t *)"";
    return bytes;
}

void ald__cell_range(const ald__view *column, int64_t row, int64_t *first, int64_t *count)
{
    switch (column->cell) {
    case ALD__CELL_FIXED_LIST:
        *first = row * column->list_size;
        *count = column->list_size;
        return;
    case ALD__CELL_LIST_VIEW:
        *first = ald__load_i32(column->offsets, row);
        *count = ald__load_i32(column->sizes, row);
        return;
    case ALD__CELL_LARGE_LIST_VIEW:
        *first = ald__load_i64(column->offsets, row);
        *count = ald__load_i64(column->sizes, row);
        return;
    case ALD__CELL_LARGE_LIST:
        *first = ald__load_i64(column->offsets, row);
        *count = ald__load_i64(column->offsets, row + 1) - *first;
        return;
    default:
        *first = ald__load_i32(column->offsets, row);
        *count = ald__load_i32(column->offsets, row + 1) - *first;
        return;
    }
}
