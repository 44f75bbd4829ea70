/* SPDX-License-Identifier: MIT */
/* Knows how fields become values: one column at a time over the rows of a slab, with a short way for what most fields look
 * like and one general way for all else. */
#include "interchange/csv/parse.h"

#include "interchange/csv/swar.h"
#include "interchange/text/mem.h"
#include "interchange/text/number.h"

#include "yyjson.h"

typedef struct stretch {
    ald__csv_parser *parser;
    const ald__csv_walk *walk;
    ald__column *column;
    size_t index;    /* of the column */
    int quick_nulls; /* the empty bare field is null, and may be */
} stretch;

static void value_fault(const stretch *s, uint8_t kind, const ald__csv_field *f)
{
    ald__csv_fault *fault = &s->parser->fault;
    uint64_t at = s->walk->slab_at + f->begin;
    if (fault->kind == ALD__CSV_FINE || at < fault->offset)
        *fault = (ald__csv_fault){at, s->index, f->end - f->begin, kind};
}

/* The field's content without doubled quotes, in *text and *size. */
static ald_status field_content(const stretch *s, const ald__csv_field *f, const char **text,
                                size_t *size, ald_error *err)
{
    const uint8_t *p = s->walk->slab + f->begin, quote = s->walk->rows.dialect->quote;
    void *block = s->parser->scratch;
    ald_status st;
    size_t i = 0;
    *size = f->end - f->begin;
    *text = (const char *)p;
    while (i < *size && p[i] != quote)
        i++;
    if (i == *size)
        return ALD_OK;
    st =
        ald__text_grow(&s->parser->reader->alloc, &block, &s->parser->scratch_capacity, *size, err);
    s->parser->scratch = block;
    if (st != ALD_OK)
        return st;
    *size = ald__csv_unquote(p, *size, quote, s->parser->scratch);
    *text = (const char *)s->parser->scratch;
    return ALD_OK;
}

static int field_is_null(const stretch *s, const ald__csv_field *f)
{
    const ald__csv_reader *r = s->parser->reader;
    if (f->missing)
        return 1;
    if (f->quoted && !(r->all_quoted && r->nulls.given))
        return 0;
    return ald__csv_is_null(&r->nulls, (const char *)s->walk->slab + f->begin, f->end - f->begin);
}

static ald_status add_null(const stretch *s, const ald__csv_field *f, ald_error *err)
{
    if (!s->parser->reader->columns[s->index].nullable)
        value_fault(s, ALD__CSV_FAULT_NULL, f);
    return ald__column_add_null(s->column, err);
}

/* Any field. A value that does not fit is noted and a null put in its place. */
static ald_status add_field(const stretch *s, size_t row, ald_error *err)
{
    const ald__csv_reader *r = s->parser->reader;
    ald__csv_field f = ald__csv_field_at(&s->walk->rows, s->walk->slab, row, s->index);
    const char *text = (const char *)s->walk->slab + f.begin;
    size_t size = f.end - f.begin;
    ald_status st = ALD_OK;
    if (field_is_null(s, &f))
        return add_null(s, &f, err);
    if (f.quoted) {
        st = field_content(s, &f, &text, &size, err);
        if (st != ALD_OK)
            return st;
        /* Quotes make text, unless the caller said otherwise; inference has seen that, save behind --infer-rows. */
        if (!r->all_quoted && !r->columns[s->index].declared && s->column->store != ALD__STORE_TEXT)
            st = ALD_E_SCHEMA_MISMATCH;
    }
    if (st == ALD_OK)
        st = ald__column_add_text(s->column, text, size, err);
    if (st != ALD_E_SCHEMA_MISMATCH)
        return st;
    value_fault(s, ALD__CSV_FAULT_VALUE, &f);
    return ald__column_add_null(s->column, err);
}

/* Ends a row whose fixed-width value is in place. */
static inline void value_done(ald__column *column)
{
    size_t i = (size_t)column->length++;
    if (column->valid != NULL) {
        uint8_t *byte = &column->valid[i / 8];
        *byte = (uint8_t)((i % 8 == 0 ? 0 : *byte) | 1u << (i % 8));
    }
}

/* A null for an empty bare field, once the column has a bitmap. `width`: of the value to clear. 0: the general way. */
static inline int quick_null(const stretch *s, uint32_t size, size_t width)
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

static ald_status parse_int64(const stretch *s, ald_error *err)
{
    const ald__csv_rows *r = &s->walk->rows;
    for (size_t row = 0; row < r->rows; row++) {
        uint32_t begin = ald__csv_begin(r, row, s->index);
        uint32_t n = r->ends[row * r->columns + s->index] - begin;
        const uint8_t *p = s->walk->slab + begin;
        uint32_t negative = *p == '-';
        ald_status st;
        if (quick_null(s, n, 8))
            continue;
        p += negative;
        n -= negative;
        if (n - 1 < 16) {
            ald__csv_shape shape = ald__csv_shape16(p, n);
            if (shape.plain && shape.point == n && (*p != '0' || (n == 1 && !negative))) {
                int64_t v = (int64_t)ald__csv_digits16(p, n);
                v = negative ? -v : v;
                memcpy(s->column->values + (size_t)s->column->length * 8, &v, 8);
                value_done(s->column);
                continue;
            }
        }
        st = add_field(s, row, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

/* Digits with a point among them, 15 at most: both operands of the division are exact, so its result is the nearest
 * double. 0: something else. */
static inline int short_double(const uint8_t *p, uint32_t n, double *out)
{
    static const double powers[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint32_t negative = *p == '-', decimals;
    uint64_t m;
    ald__csv_shape shape;
    p += negative;
    n -= negative;
    if (n - 1 > 15)
        return 0;
    shape = ald__csv_shape16(p, n);
    if (!shape.plain || (*p == '0' && shape.point > 1))
        return 0;
    decimals = n - shape.point;
    m = ald__csv_digits16(p, shape.point);
    if (decimals > 0) {
        decimals--;
        if (n == 1)
            return 0; /* a point alone */
        m = m * (uint64_t)powers[decimals] + ald__csv_digits16(p + shape.point + 1, decimals);
    } else if (n == 16) {
        return 0;
    }
    *out = (double)m / powers[decimals];
    *out = negative ? -*out : *out;
    return 1;
}

/* 17 to 24 bytes of up to 19 digits. */
static inline int medium_double(const uint8_t *p, uint32_t n, double *out)
{
    uint32_t negative = *p == '-';
    ald__csv_decimal d;
    int faithful;
    if (!ald__csv_decimal24(p + negative, n - negative, &d) ||
        !ald__number_nearest(d.mantissa, d.decimals, out, &faithful))
        return 0;
    *out = negative ? -*out : *out;
    return 1;
}

/* Longer numbers where they stand: yyjson stops at the delimiter, and takes JSON's grammar only. 0: look closer. */
static int long_double(const uint8_t *p, uint32_t n, double *out)
{
    yyjson_val val;
    if (n > 64 || n == 0 || (*p != '-' && (*p < '0' || *p > '9')))
        return 0;
    if (yyjson_read_number((const char *)p, &val, 0, NULL, NULL) != (const char *)p + n)
        return 0;
    *out = yyjson_get_num(&val);
    /* -0 is read as an integer */
    return *out != 0;
}

static ald_status parse_double(const stretch *s, ald_error *err)
{
    const ald__csv_rows *r = &s->walk->rows;
    const uint8_t delimiter = r->dialect->delimiter;
    int in_place = delimiter == ',' || delimiter == '\t' || delimiter == ';' || delimiter == '|';
    for (size_t row = 0; row < r->rows; row++) {
        uint32_t begin = ald__csv_begin(r, row, s->index);
        uint32_t n = r->ends[row * r->columns + s->index] - begin;
        const uint8_t *p = s->walk->slab + begin;
        double d;
        ald_status st;
        if (quick_null(s, n, 8))
            continue;
        if (short_double(p, n, &d) || medium_double(p, n, &d) ||
            (in_place && long_double(p, n, &d))) {
            memcpy(s->column->values + (size_t)s->column->length * 8, &d, 8);
            value_done(s->column);
            continue;
        }
        st = add_field(s, row, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

static ald_status parse_any(const stretch *s, ald_error *err)
{
    for (size_t row = 0; row < s->walk->rows.rows; row++) {
        ald_status st = add_field(s, row, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

/* Copies and says how many bytes it became. Short texts are copied as 16 bytes at once: both sides have room behind. */
static inline size_t copy_text(uint8_t *out, const uint8_t *in, size_t size)
{
    if (size <= 16)
        memcpy(out, in, 16);
    else
        memcpy(out, in, size);
    return size;
}

static int has_quote(const uint8_t *p, size_t size, uint8_t quote)
{
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Full, pattern = 0x0101010101010101ull * quote;
    uint64_t found = 0;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t v = ald__csv_load8(p + i) ^ pattern;
        found |= ~(((v & low7) + low7) | v | low7) &
                 ald__csv_low_bytes((uint32_t)(size - i < 8 ? size - i : 8));
    }
    return found != 0;
}

/* Behind the text that was put at the end of the column's bytes. */
static inline void text_done(ald__column *column, size_t size)
{
    int32_t offset;
    column->bytes_size += size;
    value_done(column);
    offset = (int32_t)column->bytes_size;
    memcpy(column->values + (size_t)column->length * 4, &offset, 4);
}

static ald_status reserve_text(const stretch *s, ald_error *err)
{
    const ald__csv_rows *r = &s->walk->rows;
    size_t total = 16;
    for (size_t row = 0; row < r->rows; row++) {
        uint32_t begin = ald__csv_begin(r, row, s->index),
                 end = r->ends[row * r->columns + s->index];
        total += end > begin ? end - begin : 0;
    }
    return ald__column_reserve_bytes(s->column, total, err);
}

static ald_status parse_text(const stretch *s, ald_error *err)
{
    const ald__csv_rows *r = &s->walk->rows;
    const uint8_t quote = r->dialect->quote;
    const int tokens = s->parser->reader->nulls.count > 0;
    ald__column *column = s->column;
    ald_status st = reserve_text(s, err);
    for (size_t row = 0; row < r->rows && st == ALD_OK; row++) {
        uint32_t begin = ald__csv_begin(r, row, s->index);
        uint32_t n = r->ends[row * r->columns + s->index] - begin;
        const uint8_t *p = s->walk->slab + begin;
        if (n == 0 && s->quick_nulls && column->valid != NULL) {
            int32_t offset = (int32_t)column->bytes_size;
            (void)quick_null(s, 0, 0);
            memcpy(column->values + (size_t)column->length * 4, &offset, 4);
        } else if (n - 1 > INT32_MAX || tokens || (*p == quote && n < 2)) {
            st = add_field(s, row, err);
        } else if (*p != quote) {
            text_done(column, copy_text(column->bytes + column->bytes_size, p, n));
        } else if (!has_quote(p + 1, n - 2, quote)) {
            text_done(column, copy_text(column->bytes + column->bytes_size, p + 1, n - 2));
        } else {
            text_done(column,
                      ald__csv_unquote(p + 1, n - 2, quote, column->bytes + column->bytes_size));
        }
    }
    return st;
}

static ald_status parse_column(const stretch *s, ald_error *err)
{
    const ald__column *c = s->column;
    ald_status st = ald__column_reserve(s->column, s->walk->rows.rows, err);
    if (st != ALD_OK)
        return st;
    if (s->parser->reader->nulls.numeric)
        return parse_any(s, err);
    if (c->store == ALD__STORE_INT && c->width == 8)
        return parse_int64(s, err);
    if (c->store == ALD__STORE_FLOAT && c->width == 8)
        return parse_double(s, err);
    if (c->store == ALD__STORE_TEXT && c->width == 4)
        return parse_text(s, err);
    return parse_any(s, err);
}

ald_status ald__csv_parse_slab(ald__csv_parser *parser, const ald__csv_walk *walk, ald_error *err)
{
    for (size_t c = 0; c < walk->rows.columns; c++) {
        const ald__csv_reader *r = parser->reader;
        stretch s = {parser, walk, &parser->columns[c], c,
                     r->nulls.empty && r->columns[c].nullable};
        ald_status st = parse_column(&s, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}
