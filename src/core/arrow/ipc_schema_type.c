/* SPDX-License-Identifier: MIT */
/* The type of a Field table as a format string of the C data interface. */
#include "core/arrow/flatbuf_read.h"
#include "core/arrow/ipc_format.h"
#include "core/arrow/ipc_schema.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/format.h"

#define MAX_UNION_CODES 128

/* What the readers of one type share. */
typedef struct type_reader {
    ald__flat *flat;
    const ald__flat_table *table;
    const char *column;
    ald_buffer *out;
    ald_error *err;
} type_reader;

static ald_status no_such_type(const type_reader *r, const char *what, int64_t found)
{
    return ald__fail(r->err, ALD_E_INVALID_FORMAT, r->flat->base + r->table->pos,
                     "column '%s': %s %lld is none that Arrow has", r->column, what,
                     (long long)found);
}

static ald_status put_format(const type_reader *r, const char *text)
{
    return ald__buffer_append_text(r->out, text, r->err);
}

static ald_status put_format_number(const type_reader *r, const char *before, int64_t value)
{
    char text[40];
    (void)ald__format(text, sizeof text, "%s%lld", before, (long long)value);
    return put_format(r, text);
}

static ald_status read_int_format(const type_reader *r)
{
    static const char letters[2][4] = {{'C', 'S', 'I', 'L'}, {'c', 's', 'i', 'l'}};
    char text[2] = {0, 0};
    int32_t bits;
    uint8_t is_signed;
    ALD_TRY(ald__flat_i32(r->flat, r->table, FBS_INT_BITS, 0, &bits, r->err));
    ALD_TRY(ald__flat_u8(r->flat, r->table, FBS_INT_SIGNED, 0, &is_signed, r->err));
    for (int i = 0; i < 4; i++) {
        if (bits == 8 << i)
            text[0] = letters[is_signed != 0][i];
    }
    return text[0] == 0 ? no_such_type(r, "integer width", bits) : put_format(r, text);
}

/* A type whose one number picks a format string; NULL entries and numbers past the last are errors. */
static ald_status read_choice_format(const type_reader *r, int16_t absent,
                                     const char *const *formats, int16_t count, const char *what)
{
    int16_t choice;
    ALD_TRY(ald__flat_i16(r->flat, r->table, 0, absent, &choice, r->err));
    return choice < 0 || choice >= count ? no_such_type(r, what, choice)
                                         : put_format(r, formats[choice]);
}

static ald_status read_decimal_format(const type_reader *r)
{
    int32_t precision, scale, bits, max;
    ALD_TRY(ald__flat_i32(r->flat, r->table, FBS_DECIMAL_PRECISION, 0, &precision, r->err));
    ALD_TRY(ald__flat_i32(r->flat, r->table, FBS_DECIMAL_SCALE, 0, &scale, r->err));
    ALD_TRY(ald__flat_i32(r->flat, r->table, FBS_DECIMAL_BITS, 128, &bits, r->err));
    max = bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : bits == 256 ? 76 : 0;
    if (max == 0)
        return no_such_type(r, "decimal width", bits);
    if (precision < 1 || precision > max)
        return no_such_type(r, "decimal precision", precision);
    ALD_TRY(put_format_number(r, "d:", precision));
    ALD_TRY(put_format_number(r, ",", scale));
    return bits == 128 ? ALD_OK : put_format_number(r, ",", bits);
}

static ald_status read_time_format(const type_reader *r)
{
    static const char *const formats[] = {"tts", "ttm", "ttu", "ttn"};
    int16_t unit;
    int32_t bits;
    ALD_TRY(ald__flat_i16(r->flat, r->table, FBS_TIME_UNIT, 1, &unit, r->err));
    ALD_TRY(ald__flat_i32(r->flat, r->table, FBS_TIME_BITS, 32, &bits, r->err));
    if (unit < 0 || unit > 3)
        return no_such_type(r, "time unit", unit);
    if (bits != (unit < 2 ? 32 : 64))
        return no_such_type(r, "time width", bits);
    return put_format(r, formats[unit]);
}

static ald_status read_timestamp_format(const type_reader *r)
{
    static const char *const formats[] = {"tss:", "tsm:", "tsu:", "tsn:"};
    ald__flat_text zone;
    ALD_TRY(read_choice_format(r, 0, formats, 4, "timestamp unit"));
    ALD_TRY(ald__flat_string(r->flat, r->table, FBS_TIMESTAMP_ZONE, &zone, r->err));
    return ald__buffer_append(r->out, zone.data, zone.size, r->err);
}

static ald_status read_union_format(const type_reader *r, size_t child_count)
{
    static const char *const formats[] = {"+us:", "+ud:"};
    ald__flat_vector ids;
    ALD_TRY(read_choice_format(r, 0, formats, 2, "union mode"));
    ALD_TRY(ald__flat_items(r->flat, r->table, FBS_UNION_TYPE_IDS, 4, &ids, r->err));
    if (child_count > MAX_UNION_CODES)
        return no_such_type(r, "union child count", (int64_t)child_count);
    if (ids.present && ids.count != child_count)
        return no_such_type(r, "number of union type ids", (int64_t)ids.count);
    for (size_t i = 0; i < child_count; i++) {
        int32_t id = (int32_t)i;
        if (ids.present)
            id = (int32_t)ald__load_le32(r->flat->data + ids.pos + 4 * i);
        if (id < 0 || id >= MAX_UNION_CODES)
            return no_such_type(r, "union type id", id);
        ALD_TRY(put_format_number(r, i == 0 ? "" : ",", id));
    }
    return ALD_OK;
}

static ald_status read_width_format(const type_reader *r, const char *before, const char *what)
{
    int32_t width;
    ALD_TRY(ald__flat_i32(r->flat, r->table, 0, 0, &width, r->err));
    return width < 0 ? no_such_type(r, what, width) : put_format_number(r, before, width);
}

/* Types without parameters; NULL: it has some. */
static const char *plain_format(uint8_t type)
{
    switch (type) {
    case FBS_TYPE_NULL:
        return "n";
    case FBS_TYPE_BINARY:
        return "z";
    case FBS_TYPE_UTF8:
        return "u";
    case FBS_TYPE_BOOL:
        return "b";
    case FBS_TYPE_LIST:
        return "+l";
    case FBS_TYPE_STRUCT:
        return "+s";
    case FBS_TYPE_MAP:
        return "+m";
    case FBS_TYPE_LARGE_BINARY:
        return "Z";
    case FBS_TYPE_LARGE_UTF8:
        return "U";
    case FBS_TYPE_LARGE_LIST:
        return "+L";
    case FBS_TYPE_RUN_END:
        return "+r";
    case FBS_TYPE_BINARY_VIEW:
        return "vz";
    case FBS_TYPE_UTF8_VIEW:
        return "vu";
    case FBS_TYPE_LIST_VIEW:
        return "+vl";
    case FBS_TYPE_LARGE_LIST_VIEW:
        return "+vL";
    default:
        return NULL;
    }
}

ald_status ald__ipc_read_type(ald__flat *flat, const ald__flat_table *table, uint8_t type,
                              size_t child_count, const char *column, ald_buffer *out,
                              ald_error *err)
{
    static const char *const floats[] = {"e", "f", "g"};
    static const char *const dates[] = {"tdD", "tdm"};
    static const char *const intervals[] = {"tiM", "tiD", "tin"};
    static const char *const durations[] = {"tDs", "tDm", "tDu", "tDn"};
    const type_reader r = {flat, table, column, out, err};
    const char *plain = plain_format(type);
    if (plain != NULL)
        return put_format(&r, plain);
    switch (type) {
    case FBS_TYPE_INT:
        return read_int_format(&r);
    case FBS_TYPE_FLOAT:
        return read_choice_format(&r, 0, floats, 3, "floating-point precision");
    case FBS_TYPE_DECIMAL:
        return read_decimal_format(&r);
    case FBS_TYPE_DATE:
        return read_choice_format(&r, 1, dates, 2, "date unit");
    case FBS_TYPE_TIME:
        return read_time_format(&r);
    case FBS_TYPE_TIMESTAMP:
        return read_timestamp_format(&r);
    case FBS_TYPE_INTERVAL:
        return read_choice_format(&r, 0, intervals, 3, "interval unit");
    case FBS_TYPE_DURATION:
        return read_choice_format(&r, 1, durations, 4, "duration unit");
    case FBS_TYPE_UNION:
        return read_union_format(&r, child_count);
    case FBS_TYPE_FIXED_BINARY:
        return read_width_format(&r, "w:", "binary width");
    case FBS_TYPE_FIXED_LIST:
        return read_width_format(&r, "+w:", "list size");
    default:
        return no_such_type(&r, "type", type);
    }
}

ald_status ald__ipc_read_int_type(ald__flat *flat, const ald__flat_table *table, const char *column,
                                  ald_buffer *out, ald_error *err)
{
    const type_reader r = {flat, table, column, out, err};
    return read_int_format(&r);
}
