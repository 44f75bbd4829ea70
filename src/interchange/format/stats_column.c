/* SPDX-License-Identifier: MIT */
/* One value after the other into the sketches, by class of type. */
#include "interchange/format/stats_column.h"

#include "interchange/format/cell.h"
#include "interchange/format/number_text.h"

static ald__stats_class class_of(ald__cell cell)
{
    switch (cell) {
    case ALD__CELL_NULL:
        return ALD__STATS_NOTHING;
    case ALD__CELL_BOOL:
        return ALD__STATS_BOOL;
    case ALD__CELL_U64:
        return ALD__STATS_UNSIGNED;
    case ALD__CELL_F16:
    case ALD__CELL_F32:
    case ALD__CELL_F64:
        return ALD__STATS_FLOAT;
    case ALD__CELL_DECIMAL:
        return ALD__STATS_DECIMAL;
    case ALD__CELL_DAY_TIME: /* a day has not always 24 hours: no order */
    case ALD__CELL_MONTH_DAY_NANO:
        return ALD__STATS_JSON;
    default:
        if (ald__cell_is_text(cell) || ald__cell_is_binary(cell))
            return ALD__STATS_BYTES;
        return cell < ALD__CELL_BINARY ? ALD__STATS_SIGNED : ALD__STATS_JSON;
    }
}

static double unit_of(const ald__view *plain)
{
    double unit = 1;
    if (plain->cell != ALD__CELL_DECIMAL)
        return 1;
    for (int32_t i = 0; i < plain->scale && i < 400; i++)
        unit /= 10;
    for (int32_t i = 0; i > plain->scale && i > -400; i--)
        unit *= 10;
    return unit;
}

void ald__stats_column_init(ald__stats_column *c, const ald__view *view, size_t column_count,
                            const ald_allocator *alloc)
{
    const ald__view *plain = view;
    memset(c, 0, sizeof *c);
    while (plain->cell == ALD__CELL_DICTIONARY || plain->cell == ALD__CELL_RUN_END)
        plain = plain->cell == ALD__CELL_DICTIONARY ? plain->dictionary : plain->children + 1;
    c->view = view;
    c->plain = plain;
    c->kind = class_of(plain->cell);
    c->unit = unit_of(plain);
    c->bins.width = c->kind == ALD__STATS_SIGNED || c->kind == ALD__STATS_UNSIGNED ? 1 : 0;
    c->distinct.limit = column_count <= 16 ? 65536 : column_count <= 1000 ? 4096 : 1024;
    c->distinct.precision = column_count <= 1000 ? 14 : 12;
    c->text.alloc = alloc;
}

void ald__stats_column_clear(ald__stats_column *c)
{
    ald__distinct_clear(&c->distinct, c->text.alloc);
    ald__common_clear(&c->common, c->text.alloc);
    ald_buffer_clear(&c->text);
}

/* ---- the parts of a statistic */

static ald_status count_distinct(ald__stats_column *c, uint64_t mix, ald_error *err)
{
    if (mix == c->last_mix && c->values > 1)
        return ALD_OK;
    c->last_mix = mix;
    return ald__distinct_add(&c->distinct, mix, c->text.alloc, err);
}

static void set_edge(ald__stats_edge *edge, const uint8_t *bytes, size_t size)
{
    edge->size = size < ALD__STATS_EDGE ? size : ALD__STATS_EDGE;
    memcpy(edge->bytes, bytes, edge->size);
}

/* `below` and `above` say how the value stands to the edges so far. */
static void take_edges(ald__stats_column *c, int below, int above, const uint8_t *bytes,
                       size_t size)
{
    if (below || c->values == 1)
        set_edge(&c->min, bytes, size);
    if (above || c->values == 1)
        set_edge(&c->max, bytes, size);
}

static void take_number(ald__stats_column *c, double v)
{
    double delta = v - c->mean;
    c->averaged++;
    c->mean += delta / (double)c->averaged;
    c->squares += delta * (v - c->mean);
    ald__bins_add(&c->bins, v);
}

/* ---- classes */

static size_t integer_size(ald__cell cell)
{
    switch (cell) {
    case ALD__CELL_I8:
    case ALD__CELL_U8:
        return 1;
    case ALD__CELL_I16:
    case ALD__CELL_U16:
    case ALD__CELL_F16:
        return 2;
    case ALD__CELL_I32:
    case ALD__CELL_U32:
    case ALD__CELL_F32:
    case ALD__CELL_DATE32:
    case ALD__CELL_TIME32:
    case ALD__CELL_MONTHS:
        return 4;
    default:
        return 8;
    }
}

/* The stored integer, by its size: dates and times too. */
static int64_t stored_integer(const ald__view *v, const uint8_t *base, int64_t row)
{
    if (v->cell <= ALD__CELL_U64)
        return ald__load_integer(v->cell, base, row);
    return integer_size(v->cell) == 4 ? ald__load_i32(base, row) : ald__load_i64(base, row);
}

static ald_status add_integer(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    int64_t value = stored_integer(v, v->values, row);
    int64_t min = stored_integer(v, c->min.bytes, 0), max = stored_integer(v, c->max.bytes, 0);
    size_t size = integer_size(v->cell);
    const uint8_t *bytes = v->values + row * (int64_t)size;
    if (c->kind == ALD__STATS_UNSIGNED) {
        take_edges(c, (uint64_t)value<(uint64_t)min, (uint64_t)value>(uint64_t) max, bytes, size);
        take_number(c, (double)(uint64_t)value);
    } else {
        take_edges(c, value<min, value> max, bytes, size);
        take_number(c, (double)value);
    }
    return count_distinct(c, ald__mix_u64((uint64_t)value), err);
}

static ald_status add_float(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    double value = ald__load_float(v->cell, v->values, row);
    size_t size = integer_size(v->cell);
    uint64_t bits = 0;
    if (value != value) {
        c->nans++;
        c->values--; /* the first other value sets the edges */
        return ald__distinct_add(&c->distinct, ald__mix_u64(UINT64_MAX), c->text.alloc, err);
    }
    take_edges(c,
               value<ald__load_float(v->cell, c->min.bytes, 0), value> ald__load_float(
                   v->cell, c->max.bytes, 0),
               v->values + row * (int64_t)size, size);
    if (ald__is_finite(value))
        take_number(c, value);
    else
        c->infinities++;
    if (value != 0) /* both zeros are one value */
        memcpy(&bits, &value, 8);
    return count_distinct(c, ald__mix_u64(bits), err);
}

/* Two's complement, from the top byte down. */
static int compare_decimals(const uint8_t *a, const uint8_t *b, int32_t size)
{
    int sign = (int8_t)a[size - 1] - (int8_t)b[size - 1];
    for (int32_t i = size - 2; sign == 0 && i >= 0; i--)
        sign = (int)a[i] - (int)b[i];
    return sign;
}

static double decimal_to_double(const uint8_t *bytes, int32_t size, double unit)
{
    double v = (int8_t)bytes[size - 1];
    for (int32_t i = size - 2; i >= 0; i--)
        v = v * 256 + bytes[i];
    return v * unit;
}

static ald_status add_decimal(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    const uint8_t *bytes = v->values + row * v->byte_width;
    take_edges(c, compare_decimals(bytes, c->min.bytes, v->byte_width) < 0,
               compare_decimals(bytes, c->max.bytes, v->byte_width) > 0, bytes,
               (size_t)v->byte_width);
    take_number(c, decimal_to_double(bytes, v->byte_width, c->unit));
    return count_distinct(c, ald__mix_bytes(bytes, (size_t)v->byte_width), err);
}

/* An edge that was cut is equal to all that begin with it: what is shown is the same. */
static int compare_bytes(const uint8_t *s, size_t n, const ald__stats_edge *edge)
{
    size_t least = n < edge->size ? n : edge->size;
    int order = least > 0 ? memcmp(s, edge->bytes, least) : 0;
    if (order != 0)
        return order;
    return n < edge->size ? -1 : n > edge->size && edge->size < ALD__STATS_EDGE;
}

static void take_size(ald__stats_column *c, uint64_t size)
{
    if (c->values == 1 || size < c->shortest)
        c->shortest = size;
    if (size > c->longest)
        c->longest = size;
}

static ald_status add_bytes(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    ald__bytes b = ald__cell_bytes(v, row);
    uint64_t mix = ald__mix_bytes(b.data, b.size);
    ald_status status;
    take_edges(c, compare_bytes(b.data, b.size, &c->min) < 0,
               compare_bytes(b.data, b.size, &c->max) > 0, b.data, b.size);
    take_size(c, b.size);
    status = ald__common_add(&c->common, mix, b.data, b.size, c->text.alloc, err);
    return status == ALD_OK ? count_distinct(c, mix, err) : status;
}

static ald_status add_bool(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    uint8_t bit = v->values[row >> 3] >> (row & 7) & 1;
    ald_status status = ald__common_add(&c->common, bit, (const uint8_t *)(bit ? "true" : "false"),
                                        bit ? 4 : 5, c->text.alloc, err);
    take_edges(c, bit<(c->min.bytes[0] & 1), bit>(c->max.bytes[0] & 1), &bit, 1);
    return status == ALD_OK ? count_distinct(c, ald__mix_u64(bit), err) : status;
}

static ald_status add_json(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    static const ald__style style = {0, 0};
    int64_t first, count;
    uint64_t mix;
    ald_status status;
    ald__pen pen;
    if (ald__cell_is_nested(v->cell) && v->cell != ALD__CELL_STRUCT && v == c->plain) {
        ald__cell_range(v, row, &first, &count);
        take_size(c, (uint64_t)count);
    }
    c->text.size = 0;
    ald__pen_open(&pen, &c->text, err);
    status = ald__put_cell_json(&pen, v, row - v->offset, &style);
    ald__pen_close(&pen);
    if (status != ALD_OK)
        return status;
    mix = ald__mix_bytes(c->text.data, c->text.size);
    status = ald__common_add(&c->common, mix, c->text.data, c->text.size, c->text.alloc, err);
    return status == ALD_OK ? count_distinct(c, mix, err) : status;
}

static ald_status add_value(ald__stats_column *c, const ald__view *v, int64_t row, ald_error *err)
{
    c->values++;
    switch (c->kind) {
    case ALD__STATS_NOTHING:
        return ALD_OK;
    case ALD__STATS_BOOL:
        return add_bool(c, v, row, err);
    case ALD__STATS_SIGNED:
    case ALD__STATS_UNSIGNED:
        return add_integer(c, v, row, err);
    case ALD__STATS_FLOAT:
        return add_float(c, v, row, err);
    case ALD__STATS_DECIMAL:
        return add_decimal(c, v, row, err);
    case ALD__STATS_BYTES:
        return add_bytes(c, v, row, err);
    case ALD__STATS_JSON:
        break;
    }
    return add_json(c, v, row, err);
}

ald_status ald__stats_column_add(ald__stats_column *c, int64_t first, int64_t count, ald_error *err)
{
    ald__cell_ref at;
    ald_status status;
    for (int64_t row = first; row < first + count; row++) {
        status = ald__view_resolve(c->view, row, &at, err);
        if (status == ALD_OK && at.column != NULL)
            status = add_value(c, at.column, at.row, err);
        if (status != ALD_OK)
            return status;
        c->nulls += at.column == NULL;
    }
    return ALD_OK;
}

/* Without the character that the cut went through. */
static size_t whole_characters(const ald__stats_edge *edge)
{
    size_t n = edge->size, start = n;
    if (n < ALD__STATS_EDGE)
        return n;
    while (start > 0 && (edge->bytes[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && edge->bytes[start - 1] >= 0xC0) {
        uint8_t lead = edge->bytes[start - 1];
        size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        return n - (start - 1) < size ? start - 1 : n;
    }
    return n;
}

ald_status ald__stats_edge_text(const ald__stats_column *c, const ald__stats_edge *edge,
                                ald_buffer *out, ald_error *err)
{
    static const ald__style style = {0, 0};
    ald__view stored = *c->plain;
    ald_status status;
    ald__pen pen;
    ald__pen_open(&pen, out, err);
    if (c->kind == ALD__STATS_BYTES) {
        stored.cell = ald__cell_is_text(c->plain->cell) ? ALD__CELL_UTF8 : ALD__CELL_FIXED_BINARY;
        stored.byte_width = (int32_t)edge->size;
    }
    stored.values = edge->bytes;
    if (stored.cell == ALD__CELL_UTF8)
        status = ald__pen_append(&pen, edge->bytes, whole_characters(edge));
    else
        status = ald__put_value_text(&pen, &stored, 0, &style);
    if (status == ALD_OK)
        status = ald__pen_append(&pen, "", 1);
    ald__pen_close(&pen);
    return status;
}
