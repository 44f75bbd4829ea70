/* SPDX-License-Identifier: MIT */
/* Knows how fields become values: one column at a time over the rows of a slab, with a short way for what most fields look
 * like and one general way for all else. */
#include "interchange/csv/parse.h"
#include "interchange/csv/csv_numbers.h"

#include "interchange/text/mem.h"
#include "interchange/text/quick.h"

#include "yyjson.h"

static void value_fault(const ald__csv_stretch *s, uint8_t kind, const ald__csv_field *f)
{
    ald__csv_fault *fault = &s->parser->fault;
    uint64_t at = s->walk->slab_at + f->begin;
    if (fault->kind == ALD__CSV_FINE || at < fault->offset)
        *fault = (ald__csv_fault){at, s->index, f->end - f->begin, kind};
}

/* The field's content without doubled quotes, in *text and *size. */
static ald_status field_content(const ald__csv_stretch *s, const ald__csv_field *f,
                                const char **text, size_t *size, ald_error *err)
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

static int field_is_null(const ald__csv_stretch *s, const ald__csv_field *f)
{
    const ald__csv_reader *r = s->parser->reader;
    if (f->missing)
        return 1;
    if (f->quoted && !(r->all_quoted && r->nulls.given))
        return 0;
    return ald__csv_is_null(&r->nulls, (const char *)s->walk->slab + f->begin, f->end - f->begin);
}

static ald_status add_null(const ald__csv_stretch *s, const ald__csv_field *f, ald_error *err)
{
    if (!s->parser->reader->columns[s->index].nullable)
        value_fault(s, ALD__CSV_FAULT_NULL, f);
    return ald__column_add_null(s->column, err);
}

/* Numbers of a column whose type comes from the first rows alone: a double that does not give the digits back would be
 * another number. */
static int is_unseen_float(const ald__csv_stretch *s)
{
    const ald__csv_reader *r = s->parser->reader;
    return s->column->store == ALD__STORE_FLOAT && r->text.infer_rows != 0 &&
           !r->columns[s->index].declared;
}

static int is_faithful_float(const char *text, size_t size)
{
    ald__token token;
    ald__token_classify(text, size, &token);
    return token.kind == ALD__TOKEN_FLOAT || token.kind == ALD__TOKEN_SPECIAL ||
           (token.kind == ALD__TOKEN_INT && !(token.flags & ALD__TOKEN_INEXACT));
}

ald_status ald__csv_parse_field(const ald__csv_stretch *s, size_t row, ald_error *err)
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
    if (st == ALD_OK && is_unseen_float(s) && !is_faithful_float(text, size))
        st = ALD_E_SCHEMA_MISMATCH;
    if (st == ALD_OK)
        st = ald__column_add_text(s->column, text, size, err);
    if (st != ALD_E_SCHEMA_MISMATCH)
        return st;
    value_fault(s, ALD__CSV_FAULT_VALUE, &f);
    return ald__column_add_null(s->column, err);
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

/* A double that does not give its digits back, or of more of them than the loops take. 0: look closer. */
static int parse_long(const ald__csv_stretch *s, size_t row)
{
    const ald__csv_rows *r = &s->walk->rows;
    const uint8_t delimiter = r->dialect->delimiter;
    uint32_t begin = ald__csv_begin(r, row, s->index);
    uint32_t n = r->ends[row * r->columns + s->index] - begin;
    const uint8_t *p = s->walk->slab + begin;
    ald__quick q;
    int in_place = delimiter == ',' || delimiter == '\t' || delimiter == ';' || delimiter == '|';
    if (s->column->store != ALD__STORE_FLOAT || is_unseen_float(s))
        return 0;
    if (!ald__quick_number(p, n, &q) && !(in_place && long_double(p, n, &q.value)))
        return 0;
    memcpy(s->column->values + (size_t)s->column->length * 8, &q.value, 8);
    ald__csv_value_done(s->column);
    return 1;
}

static ald_status parse_numbers(const ald__csv_stretch *s, ald__csv_numbers_fn loop, ald_error *err)
{
    ald__csv_tally nobody = ALD__CSV_TALLY_INIT;
    const size_t rows = s->walk->rows.rows;
    for (size_t row = loop(s, &nobody, 0); row < rows; row = loop(s, &nobody, row)) {
        ald_status st = parse_long(s, row) ? ALD_OK : ald__csv_parse_field(s, row, err);
        if (st != ALD_OK)
            return st;
        row++;
    }
    return ALD_OK;
}

static ald_status parse_any(const ald__csv_stretch *s, ald_error *err)
{
    for (size_t row = 0; row < s->walk->rows.rows; row++) {
        ald_status st = ald__csv_parse_field(s, row, err);
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
        uint64_t v = ald__swar_load8(p + i) ^ pattern;
        found |= ~(((v & low7) + low7) | v | low7) &
                 ald__swar_low_bytes((uint32_t)(size - i < 8 ? size - i : 8));
    }
    return found != 0;
}

/* Behind the text that was put at the end of the column's bytes. */
static inline void text_done(ald__column *column, size_t size)
{
    int32_t offset;
    column->bytes_size += size;
    ald__csv_value_done(column);
    offset = (int32_t)column->bytes_size;
    memcpy(column->values + (size_t)column->length * 4, &offset, 4);
}

static ald_status reserve_text(const ald__csv_stretch *s, ald_error *err)
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

static ald_status parse_text(const ald__csv_stretch *s, ald_error *err)
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
            (void)ald__csv_quick_null(s, 0, 0);
            memcpy(column->values + (size_t)column->length * 4, &offset, 4);
        } else if (n - 1 > INT32_MAX || tokens || (*p == quote && n < 2)) {
            st = ald__csv_parse_field(s, row, err);
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

ald_status ald__csv_parse_column(const ald__csv_stretch *s, ald_error *err)
{
    const ald__column *c = s->column;
    ald_status st = ald__column_reserve(s->column, s->walk->rows.rows, err);
    if (st != ALD_OK)
        return st;
    if (s->parser->reader->nulls.numeric)
        return parse_any(s, err);
    if (c->store == ALD__STORE_INT && c->width == 8)
        return parse_numbers(s, s->parser->reader->dialect.numbers->int64, err);
    if (c->store == ALD__STORE_FLOAT && c->width == 8)
        return parse_numbers(s, s->parser->reader->dialect.numbers->float64, err);
    if (c->store == ALD__STORE_TEXT && c->width == 4)
        return parse_text(s, err);
    return parse_any(s, err);
}

ald_status ald__csv_parse_slab(ald__csv_parser *parser, const ald__csv_walk *walk, ald_error *err)
{
    for (size_t c = 0; c < walk->rows.columns; c++) {
        ald__csv_stretch s = ald__csv_stretch_of(parser, walk, c);
        ald_status st = ald__csv_parse_column(&s, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}
