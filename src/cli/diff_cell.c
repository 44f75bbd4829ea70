/* SPDX-License-Identifier: MIT */
/* One value of each side. Values of one type are the same when the content hash says so (docs/FORMAT.md, F-457). Those of two
 * types are compared as numbers where both are, else by their text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diff.h"
#include "interchange/format/number_text.h"

static void set_integer(diff_cell *out, ald__cell cell, int64_t value)
{
    out->tag = cell == ALD__CELL_U64 && value < 0 ? DIFF_UINT : DIFF_INT;
    out->bits = (uint64_t)value;
}

static void set_double(diff_cell *out, double value)
{
    out->tag = DIFF_F64;
    memcpy(&out->bits, &value, sizeof(value));
}

/* A float's own bits: a conversion would quieten NaNs. */
static void set_float(diff_cell *out, const ald__view *view, int64_t row)
{
    uint32_t single;
    if (view->cell == ALD__CELL_F64) {
        out->tag = DIFF_F64;
        memcpy(&out->bits, view->values + row * 8, sizeof(out->bits));
    } else if (view->cell == ALD__CELL_F32) {
        out->tag = DIFF_F32;
        memcpy(&single, view->values + row * 4, sizeof(single));
        out->bits = single;
    } else {
        set_double(out, ald__load_float(view->cell, view->values, row));
    }
}

/* Without zeros at the end of a fraction: 1.50 and 1.5, 12:00:00.000 and 12:00:00. */
static size_t trim_fraction(uint8_t *text, size_t size)
{
    uint8_t *point = memchr(text, '.', size);
    if (point == NULL) {
        return size;
    }
    size_t begin = (size_t)(point - text), end = begin + 1;
    while (end < size && text[end] >= '0' && text[end] <= '9') {
        end++;
    }
    size_t keep = end;
    while (keep > begin + 1 && text[keep - 1] == '0') {
        keep--;
    }
    keep = keep == begin + 1 ? begin : keep;
    memmove(text + keep, text + end, size - end);
    return size - (end - keep);
}

static ald_status load_text(const diff_column *column, const ald__cell_ref *at, ald_buffer *scratch,
                            diff_cell *out, ald_error *err)
{
    static const ald__style style = {0};
    ald__pen pen;
    scratch->size = 0;
    ald__pen_open(&pen, scratch, err);
    ald_status status = ald__put_value_text(&pen, at->column, at->row, &style);
    ald__pen_close(&pen);
    if (status != ALD_OK) {
        return status;
    }
    out->tag = DIFF_DATA;
    out->size = column->trim ? trim_fraction(scratch->data, scratch->size) : scratch->size;
    out->data = scratch->data;
    return ALD_OK;
}

/* A decimal beside a float. */
static ald_status load_decimal(const diff_column *column, const ald__cell_ref *at,
                               ald_buffer *scratch, diff_cell *out, ald_error *err)
{
    char text[ALD__DECIMAL_BYTES + 1];
    ald_status status = load_text(column, at, scratch, out, err);
    if (status == ALD_OK) {
        size_t size = out->size < sizeof(text) ? out->size : sizeof(text) - 1;
        memcpy(text, out->data, size);
        text[size] = '\0';
        set_double(out, strtod(text, NULL));
    }
    return status;
}

ald_status diff_load(const diff_column *column, const ald__view *view, int64_t row,
                     ald_buffer *scratch, diff_cell *out, ald_error *err)
{
    ald__cell_ref at;
    memset(out, 0, sizeof(*out));
    ald_status status = ald__view_resolve(view, row, &at, err);
    if (status != ALD_OK || at.column == NULL) {
        return status;
    }
    ald__cell cell = at.column->cell;
    if (column->class == DIFF_BYTES) {
        ald__bytes bytes = ald__cell_bytes(at.column, at.row);
        out->tag = DIFF_DATA;
        out->data = bytes.data;
        out->size = bytes.size;
        return ALD_OK;
    }
    if (column->class == DIFF_TEXT) {
        return load_text(column, &at, scratch, out, err);
    }
    if (cell >= ALD__CELL_I8 && cell <= ALD__CELL_U64) {
        set_integer(out, cell, ald__load_integer(cell, at.column->values, at.row));
        return ALD_OK;
    }
    if (cell >= ALD__CELL_F16 && cell <= ALD__CELL_F64) {
        set_float(out, at.column, at.row);
        return ALD_OK;
    }
    return load_decimal(column, &at, scratch, out, err);
}

/* ---- numbers */

static double as_double(const diff_cell *cell)
{
    double value;
    float single;
    uint32_t bits = (uint32_t)cell->bits;
    switch (cell->tag) {
    case DIFF_INT:
        return (double)(int64_t)cell->bits;
    case DIFF_UINT:
        return (double)cell->bits;
    case DIFF_F32:
        memcpy(&single, &bits, sizeof(single));
        return (double)single;
    default:
        memcpy(&value, &cell->bits, sizeof(value));
        return value;
    }
}

static int is_float(const diff_cell *cell)
{
    return cell->tag == DIFF_F64 || cell->tag == DIFF_F32;
}

/* Without a fraction. From 2^53 on every double is. */
static int is_whole(double value)
{
    return fabs(value) >= 0x1p53 || value == (double)(int64_t)value;
}

/* Whether a float is exactly this integer. */
static int is_integer(double value, const diff_cell *integer)
{
    if (!(value >= -0x1p63 && value < 0x1p64) || !is_whole(value)) {
        return 0;
    }
    if (integer->tag == DIFF_UINT) {
        return value >= 0x1p63 && (uint64_t)value == integer->bits;
    }
    return value < 0x1p63 && (int64_t)value == (int64_t)integer->bits;
}

static int near_enough(const diff_run *run, double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) && isnan(b);
    }
    if (isinf(a) || isinf(b)) {
        return isinf(a) && isinf(b) && (a > 0) == (b > 0);
    }
    double gap = fabs(a - b), larger = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
    return gap <= run->absolute || gap <= run->relative * larger;
}

static int same_numbers(const diff_run *run, const diff_column *column, const diff_cell *a,
                        const diff_cell *b)
{
    if (!is_float(a) && !is_float(b)) {
        return a->tag == b->tag && a->bits == b->bits;
    }
    if (column->same_type && a->bits == b->bits) {
        return 1;
    }
    double x = as_double(a), y = as_double(b);
    if (run->is_tolerant && near_enough(run, x, y)) {
        return 1;
    }
    if (column->same_type) {
        return 0;
    }
    if (!is_float(a) || !is_float(b)) {
        return is_float(a) ? is_integer(x, b) : is_integer(y, a);
    }
    if (column->from_text && a->tag != b->tag) { /* 0.1 as text is the float 0.1 too */
        x = (double)(float)x;
        y = (double)(float)y;
    }
    return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

int diff_same(const diff_run *run, const diff_column *column, const diff_cell *a,
              const diff_cell *b)
{
    if (a->tag == DIFF_NULL || b->tag == DIFF_NULL) {
        return a->tag == b->tag;
    }
    if (a->tag == DIFF_DATA) {
        return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
    }
    return same_numbers(run, column, a, b);
}

void diff_normalise_key(diff_cell *cell)
{
    if (!is_float(cell)) {
        return;
    }
    double value = as_double(cell);
    if (value >= -0x1p53 && value <= 0x1p53 && is_whole(value)) {
        cell->tag = DIFF_INT; /* as an integer of the other side is; -0.0 too */
        cell->bits = (uint64_t)(int64_t)value;
        return;
    }
    set_double(cell, isnan(value) ? (double)NAN : value);
}

/* ---- texts */

static ald_status append(ald_buffer *out, const void *data, size_t size, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    return sink.write(sink.ctx, data, size, err);
}

static ald_status append_hex(ald_buffer *out, const diff_cell *cell, ald_error *err)
{
    static const char digits[] = "0123456789abcdef";
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < cell->size; i++) {
        char two[2] = {digits[cell->data[i] >> 4], digits[cell->data[i] & 15]};
        status = append(out, two, sizeof(two), err);
    }
    return status;
}

ald_status diff_text(const diff_column *column, const diff_cell *cell, ald_buffer *out,
                     ald_error *err)
{
    uint8_t text[ALD__NUMBER_BYTES];
    uint8_t *end;
    double value;
    switch (cell->tag) {
    case DIFF_NULL:
        return append(out, "null", 4, err);
    case DIFF_DATA:
        return column->is_binary ? append_hex(out, cell, err)
                                 : append(out, cell->data, cell->size, err);
    case DIFF_INT:
        end = ald__put_i64(text, (int64_t)cell->bits);
        break;
    case DIFF_UINT:
        end = ald__put_u64(text, cell->bits);
        break;
    case DIFF_F32:
        value = as_double(cell);
        end = ald__put_f32(text, (float)value);
        break;
    default:
        end = ald__put_f64(text, as_double(cell));
        break;
    }
    return append(out, text, (size_t)(end - text), err);
}
