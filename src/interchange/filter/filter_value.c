/* SPDX-License-Identifier: MIT */
/* A value of a condition, laid down as a column of its type would hold it, and a cell compared with it. */
#include "ald/schema.h"
#include "interchange/filter/filter.h"
#include "interchange/text/mem.h"

enum { BEFORE = -1, SAME = 0, BEHIND = 1, UNORDERED = 2 };

static int is_format(const char *format, const char *other)
{
    size_t size = strlen(other);
    return strlen(format) == size && memcmp(format, other, size) == 0;
}

/* The type of the values of dictionaries and runs, in the form that text is read into. */
static const char *plain_format(const struct ArrowSchema *field)
{
    while (field->dictionary != NULL || is_format(field->format, "+r"))
        field = field->dictionary != NULL ? field->dictionary : field->children[1];
    const char *f = field->format;
    if (is_format(f, "vu") || is_format(f, "U"))
        return "u";
    if (is_format(f, "vz") || is_format(f, "Z") || (f[0] == 'w' && f[1] == ':'))
        return "z";
    return is_format(f, "e") ? "f" : f; /* any half is a float */
}

/* `text` is no value of the column; NULL: nothing is. */
static ald_status no_value(const struct ArrowSchema *field, const ald_allocator *alloc,
                           const char *text, size_t size, size_t offset, ald_error *err)
{
    ald_buffer type = {NULL, 0, 0, alloc};
    const char *name = field->name != NULL ? field->name : "";
    ald_status status = ald_type_format(field, &type, err);
    int length = (int)(type.size < 60 ? type.size : 60);
    if (status == ALD_OK && text == NULL)
        status = ald_error_set(err, ALD_E_INVALID_ARG, offset,
                               "condition: column '%s' is %.*s, which can only be tested with "
                               "`is null`",
                               name, length, (const char *)type.data);
    else if (status == ALD_OK)
        status = ald_error_set(err, ALD_E_INVALID_ARG, offset,
                               "condition: '%.*s' is no value of column '%s', which is %.*s",
                               (int)(size < 80 ? size : 80), text, name, length,
                               (const char *)type.data);
    ald_buffer_clear(&type);
    return status;
}

ald_status ald__filter_value(ald__filter_test *test, const struct ArrowSchema *field,
                             const ald_allocator *alloc, const char *text, size_t size,
                             size_t offset, ald_error *err)
{
    const char *format = plain_format(field);
    ald_status status = ald__column_init(&test->value, format, alloc, err);
    if (status == ALD_E_UNSUPPORTED || (status == ALD_OK && test->value.store == ALD__STORE_NULL))
        return no_value(field, alloc, NULL, 0, offset, err);
    if (status == ALD_OK)
        status = ald__column_add_text(&test->value, text, size, err);
    if (status == ALD_E_SCHEMA_MISMATCH)
        return no_value(field, alloc, text, size, offset, err);
    return status;
}

/* ---- comparing */

static int compare_bytes(ald__bytes a, const uint8_t *b, size_t b_size)
{
    size_t size = a.size < b_size ? a.size : b_size;
    int order = size > 0 ? memcmp(a.data, b, size) : 0;
    if (order != 0)
        return order < 0 ? BEFORE : BEHIND;
    return a.size < b_size ? BEFORE : a.size > b_size ? BEHIND : SAME;
}

/* Two's complement, little-endian; the top byte has the sign. */
static int compare_decimals(const uint8_t *a, const uint8_t *b, size_t size)
{
    if ((a[size - 1] ^ b[size - 1]) & 0x80)
        return a[size - 1] & 0x80 ? BEFORE : BEHIND;
    for (size_t i = size; i-- > 0;) {
        if (a[i] != b[i])
            return a[i] < b[i] ? BEFORE : BEHIND;
    }
    return SAME;
}

static int compare_floats(double a, double b)
{
    return a < b ? BEFORE : a > b ? BEHIND : a == b ? SAME : UNORDERED;
}

/* Integers, dates and times: as many bytes as the cell has. */
static int64_t load_ticks(ald__cell cell, const uint8_t *base, int64_t row)
{
    return cell == ALD__CELL_DATE32 || cell == ALD__CELL_TIME32
               ? ald__load_i32(base, row)
               : ald__load_integer(cell, base, row);
}

static int compare_integers(ald__cell cell, const ald__cell_ref *ref, const uint8_t *value)
{
    int64_t a = load_ticks(cell, ref->column->values, ref->row), b = load_ticks(cell, value, 0);
    if (cell == ALD__CELL_U64)
        return (uint64_t)a<(uint64_t)b ? BEFORE : (uint64_t)a>(uint64_t) b ? BEHIND : SAME;
    return a < b ? BEFORE : a > b ? BEHIND : SAME;
}

static int compare(const ald__cell_ref *ref, const ald__column *value)
{
    const ald__view *c = ref->column;
    int bit;
    if (ald__cell_is_text(c->cell) || ald__cell_is_binary(c->cell))
        return compare_bytes(ald__cell_bytes(c, ref->row), value->bytes, value->bytes_size);
    switch (c->cell) {
    case ALD__CELL_BOOL:
        bit = c->values[ref->row >> 3] >> (ref->row & 7) & 1;
        return bit - (value->values[0] & 1);
    case ALD__CELL_F16:
        return compare_floats(ald__load_float(c->cell, c->values, ref->row),
                              ald__load_float(ALD__CELL_F32, value->values, 0));
    case ALD__CELL_F32:
    case ALD__CELL_F64:
        return compare_floats(ald__load_float(c->cell, c->values, ref->row),
                              ald__load_float(c->cell, value->values, 0));
    case ALD__CELL_DECIMAL:
        return compare_decimals(c->values + ref->row * c->byte_width, value->values,
                                (size_t)c->byte_width);
    default:
        return compare_integers(c->cell, ref, value->values);
    }
}

ald_status ald__filter_fits(const ald__filter_test *test, int64_t row, int *fits, ald_error *err)
{
    ald__cell_ref ref;
    int order;
    ald_status status = ald__view_resolve(&test->view, row, &ref, err);
    *fits = 0;
    if (status != ALD_OK)
        return status;
    if (test->op >= ALD__FILTER_NULL || ref.column == NULL) {
        *fits = (test->op == ALD__FILTER_NULL && ref.column == NULL) ||
                (test->op == ALD__FILTER_NOT_NULL && ref.column != NULL);
        return ALD_OK;
    }
    order = compare(&ref, &test->value);
    switch (test->op) {
    case ALD__FILTER_EQUAL:
        *fits = order == SAME;
        break;
    case ALD__FILTER_NOT_EQUAL:
        *fits = order != SAME;
        break;
    case ALD__FILTER_LESS:
        *fits = order == BEFORE;
        break;
    case ALD__FILTER_LESS_EQUAL:
        *fits = order == BEFORE || order == SAME;
        break;
    case ALD__FILTER_GREATER:
        *fits = order == BEHIND;
        break;
    default:
        *fits = order == BEHIND || order == SAME;
        break;
    }
    return ALD_OK;
}
