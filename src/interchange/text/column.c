/* SPDX-License-Identifier: MIT */
/* Knows how values of each scalar type are laid down in Arrow buffers. */
#include "interchange/text/column.h"

#include "interchange/text/base64.h"
#include "interchange/text/classify.h"
#include "interchange/text/mem.h"

typedef struct format_row {
    char format[4];
    uint8_t store, width, digits;
} format_row;

static const format_row plain_formats[] = {
    {"n", ALD__STORE_NULL, 0, 0},       {"b", ALD__STORE_BOOL, 0, 0},
    {"c", ALD__STORE_INT, 1, 0},        {"s", ALD__STORE_INT, 2, 0},
    {"i", ALD__STORE_INT, 4, 0},        {"l", ALD__STORE_INT, 8, 0},
    {"C", ALD__STORE_UINT, 1, 0},       {"S", ALD__STORE_UINT, 2, 0},
    {"I", ALD__STORE_UINT, 4, 0},       {"L", ALD__STORE_UINT, 8, 0},
    {"f", ALD__STORE_FLOAT, 4, 0},      {"g", ALD__STORE_FLOAT, 8, 0},
    {"u", ALD__STORE_TEXT, 4, 0},       {"U", ALD__STORE_TEXT, 8, 0},
    {"z", ALD__STORE_BINARY, 4, 0},     {"Z", ALD__STORE_BINARY, 8, 0},
    {"tdD", ALD__STORE_DATE, 4, 0},     {"tdm", ALD__STORE_DATE, 8, 3},
    {"tts", ALD__STORE_TIME, 4, 0},     {"ttm", ALD__STORE_TIME, 4, 3},
    {"ttu", ALD__STORE_TIME, 8, 6},     {"ttn", ALD__STORE_TIME, 8, 9},
    {"tDs", ALD__STORE_DURATION, 8, 0}, {"tDm", ALD__STORE_DURATION, 8, 3},
    {"tDu", ALD__STORE_DURATION, 8, 6}, {"tDn", ALD__STORE_DURATION, 8, 9},
};

/* Digits at *pp, at most 999; 0: none. */
static int format_number(const char **pp, int *out)
{
    const char *p = *pp;
    int v = 0, negative = *p == '-';
    p += negative;
    if (*p < '0' || *p > '9')
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (*p - '0');
        if (v > 999)
            return 0;
    }
    *out = negative ? -v : v;
    *pp = p;
    return 1;
}

/* "d:precision,scale[,bits]" */
static int format_decimal(ald__column *column, const char *p)
{
    int precision, scale, bits = 128;
    if (!format_number(&p, &precision) || *p++ != ',' || !format_number(&p, &scale))
        return 0;
    if (*p == ',') {
        p++;
        if (!format_number(&p, &bits))
            return 0;
    }
    if (*p != '\0' || (bits != 32 && bits != 64 && bits != 128 && bits != 256))
        return 0;
    if (precision < 1 || precision > (bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : 76))
        return 0;
    column->store = ALD__STORE_DECIMAL;
    column->width = (uint8_t)(bits / 8);
    column->precision = (int16_t)precision;
    column->scale = (int16_t)scale;
    return 1;
}

/* "ts" unit ":" zone */
static int format_stamp(ald__column *column, const char *p)
{
    static const char units[] = "smun";
    for (unsigned i = 0; i < 4; i++) {
        if (*p == units[i] && p[1] == ':') {
            column->store = ALD__STORE_STAMP;
            column->width = 8;
            column->digits = (uint8_t)(3 * i);
            column->zoned = p[2] != '\0';
            return 1;
        }
    }
    return 0;
}

static int format_plain(ald__column *column, const char *format)
{
    for (size_t i = 0; i < sizeof plain_formats / sizeof plain_formats[0]; i++) {
        const format_row *row = &plain_formats[i];
        if (strlen(format) == strlen(row->format) &&
            memcmp(format, row->format, strlen(format)) == 0) {
            column->store = row->store;
            column->width = row->width;
            column->digits = row->digits;
            return 1;
        }
    }
    return 0;
}

ald_status ald__column_init(ald__column *column, const char *format, const ald_allocator *alloc,
                            ald_error *err)
{
    int known;
    *column = (ald__column){.alloc = *alloc};
    if (format[0] == 'd' && format[1] == ':')
        known = format_decimal(column, format + 2);
    else if (format[0] == 't' && format[1] == 's' && format[2] != '\0')
        known = format_stamp(column, format + 2);
    else
        known = format_plain(column, format);
    if (known)
        return ALD_OK;
    return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "text cannot be read into the Arrow type '%s'", format);
}

static void column_drop(ald__column *c, uint8_t **block, size_t *capacity)
{
    if (*block != NULL)
        c->alloc.release(c->alloc.ctx, *block, *capacity);
    *block = NULL;
    *capacity = 0;
}

static void column_reset(ald__column *c)
{
    c->length = c->null_count = 0;
    c->row_capacity = c->bytes_size = 0;
}

void ald__column_clear(ald__column *column)
{
    column_drop(column, &column->valid, &column->valid_capacity);
    column_drop(column, &column->values, &column->values_capacity);
    column_drop(column, &column->bytes, &column->bytes_capacity);
    column_reset(column);
}

static int column_is_bytes(const ald__column *c)
{
    return c->store == ALD__STORE_TEXT || c->store == ALD__STORE_BINARY;
}

static ald_status column_block(ald__column *c, uint8_t **block, size_t *capacity, size_t need,
                               ald_error *err)
{
    void *p = *block;
    ald_status st = ald__text_grow(&c->alloc, &p, capacity, need, err);
    *block = p;
    return st;
}

ald_status ald__column_reserve(ald__column *column, size_t rows, ald_error *err)
{
    size_t have = (size_t)column->length, total, need;
    ald_status st = ALD_OK;
    if (rows > SIZE_MAX / 64 || have > SIZE_MAX / 64)
        return ald__text_no_memory(err, rows);
    total = have + rows;
    if (total <= column->row_capacity)
        return ALD_OK;
    if (total < column->row_capacity + column->row_capacity / 2)
        total = column->row_capacity + column->row_capacity / 2;
    total = (total + 63) / 64 * 64;
    if (column->store == ALD__STORE_BOOL)
        need = total / 8;
    else
        need = (total + (column_is_bytes(column) ? 1 : 0)) * column->width;
    if (need > 0)
        st = column_block(column, &column->values, &column->values_capacity, need, err);
    if (st == ALD_OK && column->valid != NULL)
        st = column_block(column, &column->valid, &column->valid_capacity, total / 8, err);
    if (st != ALD_OK)
        return st;
    if (have == 0 && column_is_bytes(column))
        memset(column->values, 0, column->width);
    column->row_capacity = total;
    return ALD_OK;
}

ald_status ald__column_reserve_bytes(ald__column *column, size_t size, ald_error *err)
{
    if (size > SIZE_MAX / 4 || column->bytes_size > SIZE_MAX / 4)
        return ald__text_no_memory(err, size);
    if (column->width == 4 && column->bytes_size + size > INT32_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "a column has more than 2 GiB of text in one batch\nuse fewer rows a "
                             "batch, or the type large_string");
    return column_block(column, &column->bytes, &column->bytes_capacity, column->bytes_size + size,
                        err);
}

static void bit_put(uint8_t *bits, size_t i, int value)
{
    uint8_t mask = (uint8_t)(1u << (i % 8));
    if (i % 8 == 0)
        bits[i / 8] = 0;
    if (value)
        bits[i / 8] |= mask;
    else
        bits[i / 8] &= (uint8_t)~mask;
}

/* The first null: all rows before it are valid. */
static ald_status column_valid_start(ald__column *c, ald_error *err)
{
    size_t need = c->row_capacity / 8;
    ald_status st = column_block(c, &c->valid, &c->valid_capacity, need, err);
    if (st == ALD_OK)
        memset(c->valid, 0xFF, need);
    return st;
}

static void column_offset_put(ald__column *c, size_t index)
{
    if (c->width == 4) {
        int32_t v = (int32_t)c->bytes_size;
        memcpy(c->values + index * 4, &v, 4);
    } else {
        int64_t v = (int64_t)c->bytes_size;
        memcpy(c->values + index * 8, &v, 8);
    }
}

/* Ends a row whose value is in place. */
static void column_row_done(ald__column *c)
{
    if (c->valid != NULL)
        bit_put(c->valid, (size_t)c->length, 1);
    c->length++;
    if (column_is_bytes(c))
        column_offset_put(c, (size_t)c->length);
}

ald_status ald__column_add_null(ald__column *column, ald_error *err)
{
    size_t i = (size_t)column->length;
    ald_status st = ald__column_reserve(column, 1, err);
    if (st == ALD_OK && column->valid == NULL && column->store != ALD__STORE_NULL)
        st = column_valid_start(column, err);
    if (st != ALD_OK)
        return st;
    if (column->store == ALD__STORE_BOOL)
        bit_put(column->values, i, 0);
    else if (column->store != ALD__STORE_NULL && !column_is_bytes(column))
        memset(column->values + i * column->width, 0, column->width);
    column_row_done(column);
    if (column->valid != NULL)
        bit_put(column->valid, i, 0);
    column->null_count++;
    return ALD_OK;
}

/* A little-endian value of the column's width (all hosts that this is built for are). */
static ald_status column_put(ald__column *c, const void *value, ald_error *err)
{
    ald_status st = ald__column_reserve(c, 1, err);
    if (st != ALD_OK)
        return st;
    memcpy(c->values + (size_t)c->length * c->width, value, c->width);
    column_row_done(c);
    return ALD_OK;
}

ald_status ald__column_add_bool(ald__column *column, int value, ald_error *err)
{
    ald_status st;
    if (column->store != ALD__STORE_BOOL)
        return ALD_E_SCHEMA_MISMATCH;
    st = ald__column_reserve(column, 1, err);
    if (st != ALD_OK)
        return st;
    bit_put(column->values, (size_t)column->length, value);
    column_row_done(column);
    return ALD_OK;
}

/* sign and magnitude into INT or UINT */
static ald_status column_add_integer(ald__column *c, int negative, uint64_t magnitude,
                                     ald_error *err)
{
    unsigned bits = c->width * 8u;
    uint64_t value = negative ? 0 - magnitude : magnitude;
    uint64_t most = UINT64_MAX >> (64 - bits);
    if (c->store == ALD__STORE_INT)
        most = (most >> 1) + (negative != 0);
    else if (negative && magnitude != 0)
        return ALD_E_SCHEMA_MISMATCH;
    if (magnitude > most)
        return ALD_E_SCHEMA_MISMATCH;
    return column_put(c, &value, err);
}

static ald_status column_add_sign_magnitude(ald__column *c, int negative, uint64_t magnitude,
                                            ald_error *err)
{
    char text[24];
    size_t n = sizeof text;
    uint64_t left = magnitude;
    double d = (double)magnitude;
    if (c->store == ALD__STORE_INT || c->store == ALD__STORE_UINT)
        return column_add_integer(c, negative, magnitude, err);
    if (c->store == ALD__STORE_FLOAT)
        return ald__column_add_double(c, negative ? -d : d, err);
    if (c->store != ALD__STORE_DECIMAL)
        return ALD_E_SCHEMA_MISMATCH;
    do {
        text[--n] = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (negative)
        text[--n] = '-';
    return ald__column_add_text(c, text + n, sizeof text - n, err);
}

ald_status ald__column_add_int64(ald__column *column, int64_t value, ald_error *err)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return column_add_sign_magnitude(column, value < 0, magnitude, err);
}

ald_status ald__column_add_uint64(ald__column *column, uint64_t value, ald_error *err)
{
    return column_add_sign_magnitude(column, 0, value, err);
}

ald_status ald__column_add_double(ald__column *column, double value, ald_error *err)
{
    float f = (float)value;
    if (column->store != ALD__STORE_FLOAT)
        return ALD_E_SCHEMA_MISMATCH;
    if (column->width == 8)
        return column_put(column, &value, err);
    return column_put(column, &f, err);
}

ald_status ald__column_add_bytes(ald__column *column, const void *data, size_t size, ald_error *err)
{
    ald_status st;
    if (!column_is_bytes(column))
        return ALD_E_SCHEMA_MISMATCH;
    st = ald__column_reserve(column, 1, err);
    if (st == ALD_OK)
        st = ald__column_reserve_bytes(column, size, err);
    if (st != ALD_OK)
        return st;
    if (size > 0)
        memcpy(column->bytes + column->bytes_size, data, size);
    column->bytes_size += size;
    column_row_done(column);
    return ALD_OK;
}

static ald_status add_float_text(ald__column *c, const char *text, size_t size, ald_error *err)
{
    double d;
    float f;
    if (c->width == 8)
        return ald__text_to_double(text, size, &d) ? column_put(c, &d, err) : ALD_E_SCHEMA_MISMATCH;
    return ald__text_to_float(text, size, &f) ? column_put(c, &f, err) : ALD_E_SCHEMA_MISMATCH;
}

static ald_status add_decimal_text(ald__column *c, const char *text, size_t size, ald_error *err)
{
    uint64_t words[4];
    int limbs = c->width <= 8 ? 1 : c->width / 8;
    if (!ald__text_to_decimal(text, size, c->precision, c->scale, limbs, words))
        return ALD_E_SCHEMA_MISMATCH;
    return column_put(c, words, err);
}

static ald_status add_moment_text(ald__column *c, const char *text, size_t size, ald_error *err)
{
    ald__moment m;
    int64_t ticks;
    int fits;
    if (!ald__text_to_moment(text, size, &m))
        return ALD_E_SCHEMA_MISMATCH;
    if (c->store == ALD__STORE_DATE)
        fits = m.kind == ALD__TOKEN_DATE;
    else if (c->store == ALD__STORE_TIME)
        fits = m.kind == ALD__TOKEN_TIME;
    else if (c->zoned)
        fits = m.kind == ALD__TOKEN_ZONED;
    else
        fits = m.kind == ALD__TOKEN_STAMP || m.kind == ALD__TOKEN_DATE;
    if (!fits)
        return ALD_E_SCHEMA_MISMATCH;
    if (c->store == ALD__STORE_DATE && c->width == 4)
        return column_put(c, &m.days, err);
    if (!ald__moment_to_ticks(&m, c->digits, &ticks))
        return ALD_E_SCHEMA_MISMATCH;
    return column_put(c, &ticks, err);
}

static ald_status add_base64_text(ald__column *c, const char *text, size_t size, ald_error *err)
{
    ald_status st = ald__column_reserve(c, 1, err);
    size_t written;
    if (st == ALD_OK)
        st = ald__column_reserve_bytes(c, size / 4 * 3 + 3, err);
    if (st != ALD_OK)
        return st;
    if (!ald__base64_decode(text, size, c->bytes + c->bytes_size, &written))
        return ALD_E_SCHEMA_MISMATCH;
    c->bytes_size += written;
    column_row_done(c);
    return ALD_OK;
}

ald_status ald__column_add_text(ald__column *column, const char *text, size_t size, ald_error *err)
{
    int64_t i64;
    uint64_t u64;
    int flag;
    switch (column->store) {
    case ALD__STORE_BOOL:
        return ald__text_to_bool(text, size, &flag) ? ald__column_add_bool(column, flag, err)
                                                    : ALD_E_SCHEMA_MISMATCH;
    case ALD__STORE_INT:
        return ald__text_to_int64(text, size, &i64) ? ald__column_add_int64(column, i64, err)
                                                    : ALD_E_SCHEMA_MISMATCH;
    case ALD__STORE_UINT:
        return ald__text_to_uint64(text, size, &u64) ? ald__column_add_uint64(column, u64, err)
                                                     : ALD_E_SCHEMA_MISMATCH;
    case ALD__STORE_DURATION:
        return ald__text_to_int64(text, size, &i64) ? column_put(column, &i64, err)
                                                    : ALD_E_SCHEMA_MISMATCH;
    case ALD__STORE_FLOAT:
        return add_float_text(column, text, size, err);
    case ALD__STORE_DECIMAL:
        return add_decimal_text(column, text, size, err);
    case ALD__STORE_DATE:
    case ALD__STORE_TIME:
    case ALD__STORE_STAMP:
        return add_moment_text(column, text, size, err);
    case ALD__STORE_TEXT:
        return ald__column_add_bytes(column, text, size, err);
    case ALD__STORE_BINARY:
        return add_base64_text(column, text, size, err);
    default:
        return ALD_E_SCHEMA_MISMATCH; /* a null column holds no value */
    }
}

ald_status ald__column_finish(ald__column *column, struct ArrowArray *out, ald_error *err)
{
    void *blocks[3] = {column->valid, column->values, column->bytes};
    size_t sizes[3] = {column->valid_capacity, column->values_capacity, column->bytes_capacity};
    size_t n_buffers = column->store == ALD__STORE_NULL ? 0 : column_is_bytes(column) ? 3 : 2;
    ald_status st;
    if (column->store != ALD__STORE_NULL && column->values == NULL) {
        st = ald__column_reserve(column, 1, err); /* offsets and values are never NULL */
        if (st != ALD_OK)
            return st;
        blocks[1] = column->values;
        sizes[1] = column->values_capacity;
    }
    if (column->valid != NULL && column->length % 8 != 0)
        column->valid[column->length / 8] &= (uint8_t)((1u << (column->length % 8)) - 1);
    st = ald__text_array_new(&column->alloc, column->length, column->null_count, n_buffers, blocks,
                             sizes, 0, out, err);
    if (st != ALD_OK)
        return st;
    column->valid = column->values = column->bytes = NULL;
    column->valid_capacity = column->values_capacity = column->bytes_capacity = 0;
    column_reset(column);
    return ALD_OK;
}
