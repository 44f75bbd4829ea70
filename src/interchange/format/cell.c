/* SPDX-License-Identifier: MIT */
/* From a cell to its text, type by type. */
#include "interchange/format/cell.h"

#include "interchange/format/number_text.h"
#include "interchange/format/string_text.h"

ald__style ald__style_of(const ald_text_write_options *options)
{
    ald__style style = {options->binary == ALD_BINARY_HEX, options->plain_json != 0};
    return style;
}

static void put_bool(ald__pen *pen, int value)
{
    if (value)
        ald__pen_bytes(pen, "true", 4);
    else
        ald__pen_bytes(pen, "false", 5);
}

static uint8_t *put_time_cell(uint8_t *p, const ald__view *c, int64_t row)
{
    const uint8_t *v = c->values;
    int64_t nanos;
    switch (c->cell) {
    case ALD__CELL_DATE32:
        return ald__put_date(p, ald__load_i32(v, row));
    case ALD__CELL_DATE64:
        return ald__put_date64(p, ald__load_i64(v, row));
    case ALD__CELL_TIME32:
        return ald__put_time(p, ald__load_i32(v, row), c->unit);
    case ALD__CELL_TIME64:
        return ald__put_time(p, ald__load_i64(v, row), c->unit);
    case ALD__CELL_TIMESTAMP:
        return ald__put_timestamp(p, ald__load_i64(v, row), c->unit, c->zone);
    case ALD__CELL_MONTHS:
        return ald__put_interval(p, ald__load_i32(v, row), 0, 0);
    case ALD__CELL_DAY_TIME: /* milliseconds: 2^31 of them fit nanoseconds */
        nanos = (int64_t)ald__load_i32(v, row * 2 + 1) * 1000000;
        return ald__put_interval(p, 0, ald__load_i32(v, row * 2), nanos);
    default: /* MONTH_DAY_NANO */
        return ald__put_interval(p, ald__load_i32(v, row * 4), ald__load_i32(v, row * 4 + 1),
                                 ald__load_i64(v, row * 2 + 1));
    }
}

void ald__put_scalar(ald__pen *pen, const ald__view *c, int64_t row)
{
    float f32;
    switch (c->cell) {
    case ALD__CELL_BOOL:
        put_bool(pen, c->values[row >> 3] >> (row & 7) & 1);
        return;
    case ALD__CELL_I32:
        pen->at = ald__put_i64(pen->at, ald__load_i32(c->values, row));
        return;
    case ALD__CELL_I64:
    case ALD__CELL_DURATION:
        pen->at = ald__put_i64(pen->at, ald__load_i64(c->values, row));
        return;
    case ALD__CELL_U64:
        pen->at = ald__put_u64(pen->at, (uint64_t)ald__load_i64(c->values, row));
        return;
    case ALD__CELL_I8:
    case ALD__CELL_I16:
    case ALD__CELL_U8:
    case ALD__CELL_U16:
    case ALD__CELL_U32:
        pen->at = ald__put_i64(pen->at, ald__load_integer(c->cell, c->values, row));
        return;
    case ALD__CELL_F32:
        memcpy(&f32, c->values + row * 4, 4);
        pen->at = ald__put_f32(pen->at, f32);
        return;
    case ALD__CELL_F16:
    case ALD__CELL_F64:
        pen->at = ald__put_f64(pen->at, ald__load_float(c->cell, c->values, row));
        return;
    case ALD__CELL_DECIMAL:
        pen->at =
            ald__put_decimal(pen->at, c->values + row * c->byte_width, c->byte_width, c->scale);
        return;
    default:
        pen->at = put_time_cell(pen->at, c, row);
        return;
    }
}

static ald_status put_binary(ald__pen *pen, ald__bytes bytes, const ald__style *style)
{
    return style->hex ? ald__put_hex(pen, bytes.data, bytes.size)
                      : ald__put_base64(pen, bytes.data, bytes.size);
}

static ald_status put_json_scalar(ald__pen *pen, const ald__view *c, int64_t row,
                                  const ald__style *style)
{
    int quoted = c->cell >= ALD__CELL_DATE32;
    ALD__PEN_TRY(ald__pen_need(pen, ALD__PEN_SCALAR));
    if (c->cell >= ALD__CELL_F16 && c->cell <= ALD__CELL_F64 &&
        !ald__is_finite(ald__load_float(c->cell, c->values, row))) {
        if (style->plain_json) {
            ald__pen_bytes(pen, "null", 4);
            return ALD_OK;
        }
        quoted = 1;
    }
    if (quoted)
        ald__pen_byte(pen, '"');
    ald__put_scalar(pen, c, row);
    if (quoted)
        ald__pen_byte(pen, '"');
    return ALD_OK;
}

static ald_status put_json_value(ald__pen *pen, const ald__view *c, int64_t row,
                                 const ald__style *style);

/* A list of a type without bytes (null, struct<>) may hold 2^63 items in a tiny file. */
#define LIST_TEXT_LIMIT ((size_t)1 << 30)

static ald_status put_json_list(ald__pen *pen, const ald__view *c, int64_t row,
                                const ald__style *style)
{
    size_t start = ald__pen_size(pen);
    int64_t first, count;
    ald__cell_range(c, row, &first, &count);
    ALD__PEN_TRY(ald__pen_append(pen, "[", 1));
    for (int64_t i = 0; i < count; i++) {
        if (i > 0)
            ALD__PEN_TRY(ald__pen_append(pen, ",", 1));
        ALD__PEN_TRY(ald__put_cell_json(pen, c->children, first + i, style));
        if (ald__pen_size(pen) - start > LIST_TEXT_LIMIT)
            return ald_error_set(pen->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                 "column '%s': the text of one list is over 1 GiB", c->name);
    }
    return ald__pen_append(pen, "]", 1);
}

static ald_status put_json_struct(ald__pen *pen, const ald__view *c, int64_t row,
                                  const ald__style *style)
{
    ALD__PEN_TRY(ald__pen_append(pen, "{", 1));
    for (int32_t i = 0; i < c->child_count; i++) {
        const ald__view *child = c->children + i;
        if (i > 0)
            ALD__PEN_TRY(ald__pen_append(pen, ",", 1));
        ALD__PEN_TRY(ald__pen_append(pen, child->key.data, child->key.size));
        ALD__PEN_TRY(ald__put_cell_json(pen, child, row, style));
    }
    return ald__pen_append(pen, "}", 1);
}

/* Text keys, also behind a dictionary. */
static int has_text_keys(const ald__view *map)
{
    const ald__view *keys = map->children[0].children;
    while (keys->cell == ALD__CELL_DICTIONARY || keys->cell == ALD__CELL_RUN_END)
        keys = keys->cell == ALD__CELL_DICTIONARY ? keys->dictionary : keys->children + 1;
    return ald__cell_is_text(keys->cell);
}

static ald_status put_json_map(ald__pen *pen, const ald__view *c, int64_t row,
                               const ald__style *style)
{
    const ald__view *entries = c->children;
    int object = has_text_keys(c);
    int64_t first, count;
    ald__cell_range(c, row, &first, &count);
    first += entries->offset;
    ALD__PEN_TRY(ald__pen_append(pen, object ? "{" : "[", 1));
    for (int64_t i = first; i < first + count; i++) {
        ALD__PEN_TRY(ald__pen_text(pen, i > first ? (object ? "," : ",[") : (object ? "" : "[")));
        ALD__PEN_TRY(ald__put_cell_json(pen, entries->children, i, style));
        ALD__PEN_TRY(ald__pen_append(pen, object ? ":" : ",", 1));
        ALD__PEN_TRY(ald__put_cell_json(pen, entries->children + 1, i, style));
        if (!object)
            ALD__PEN_TRY(ald__pen_append(pen, "]", 1));
    }
    return ald__pen_append(pen, object ? "}" : "]", 1);
}

static ald_status put_json_value(ald__pen *pen, const ald__view *c, int64_t row,
                                 const ald__style *style)
{
    ald__bytes bytes;
    if (c->cell < ALD__CELL_BINARY)
        return put_json_scalar(pen, c, row, style);
    if (c->cell == ALD__CELL_STRUCT)
        return put_json_struct(pen, c, row, style);
    if (c->cell == ALD__CELL_MAP)
        return put_json_map(pen, c, row, style);
    if (ald__cell_is_nested(c->cell))
        return put_json_list(pen, c, row, style);
    bytes = ald__cell_bytes(c, row);
    if (ald__cell_is_text(c->cell))
        return ald__put_json_string(pen, bytes.data, bytes.size);
    ALD__PEN_TRY(ald__pen_append(pen, "\"", 1));
    ALD__PEN_TRY(put_binary(pen, bytes, style));
    return ald__pen_append(pen, "\"", 1);
}

ald_status ald__put_cell_json(ald__pen *pen, const ald__view *view, int64_t row,
                              const ald__style *style)
{
    ald__cell_ref at;
    ALD__PEN_TRY(ald__view_resolve(view, row, &at, pen->err));
    if (at.column == NULL)
        return ald__pen_append(pen, "null", 4);
    return put_json_value(pen, at.column, at.row, style);
}

ald_status ald__put_value_text(ald__pen *pen, const ald__view *view, int64_t row,
                               const ald__style *style)
{
    ald__bytes bytes;
    if (view->cell < ALD__CELL_BINARY) {
        ALD__PEN_TRY(ald__pen_need(pen, ALD__PEN_SCALAR));
        ald__put_scalar(pen, view, row);
        return ALD_OK;
    }
    if (ald__cell_is_nested(view->cell))
        return put_json_value(pen, view, row, style);
    bytes = ald__cell_bytes(view, row);
    if (ald__cell_is_binary(view->cell))
        return put_binary(pen, bytes, style);
    return ald__pen_append(pen, bytes.data, bytes.size);
}
