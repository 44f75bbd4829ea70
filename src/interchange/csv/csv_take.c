/* SPDX-License-Identifier: MIT */
/* Values and profiles in one go. Knows the types where parsing a value tells all of its class; other columns are looked at
 * twice, while they are in the cache. */
#include "interchange/csv/csv_numbers.h"
#include "interchange/csv/infer.h"
#include "interchange/csv/parse.h"
#include "interchange/text/mem.h"

typedef struct taking {
    ald__csv_stretch s;
    ald__csv_infer *infer;
    ald__csv_tally tally;
} taking;

/* A field that the quick ways do not take. */
static ald_status take_field(taking *t, size_t row, ald_error *err)
{
    if (!ald__csv_infer_field(t->infer, t->s.walk, row, t->s.index, &t->tally))
        t->infer->done[t->s.index] = ALD__CSV_DONE_TEXT;
    return ald__csv_parse_field(&t->s, row, err);
}

static ald_status take_numbers(taking *t, ald__csv_numbers_fn loop, ald_error *err)
{
    const size_t rows = t->s.walk->rows.rows;
    for (size_t row = loop(&t->s, &t->tally, 0); row < rows; row = loop(&t->s, &t->tally, row)) {
        ald_status st = take_field(t, row, err);
        if (st != ALD_OK)
            return st;
        row++;
    }
    return ALD_OK;
}

static ald_status take_int64(taking *t, ald_error *err)
{
    return take_numbers(t, t->s.parser->reader->dialect.numbers->int64, err);
}

static ald_status take_double(taking *t, ald_error *err)
{
    return take_numbers(t, t->s.parser->reader->dialect.numbers->float64, err);
}

/* A moment of the column's kind: its number. 0: look closer. */
static inline int take_ticks(const ald__column *column, const ald__moment *m, int64_t *out)
{
    if (column->store == ALD__STORE_DATE) {
        *out = m->days;
        return m->kind == ALD__TOKEN_DATE;
    }
    if (column->store == ALD__STORE_TIME ? m->kind != ALD__TOKEN_TIME
        : column->zoned                  ? m->kind != ALD__TOKEN_ZONED
                        : m->kind != ALD__TOKEN_STAMP && m->kind != ALD__TOKEN_DATE)
        return 0;
    return ald__moment_to_ticks(m, column->digits, out);
}

/* Dates in days, times and timestamps in 64 bits. */
static ald_status take_moments(taking *t, ald_error *err)
{
    const ald__csv_rows *r = &t->s.walk->rows;
    ald__column *column = t->s.column;
    ald__profile *profile = &t->infer->bare[t->s.index];
    for (size_t row = 0; row < r->rows; row++) {
        uint32_t begin = ald__csv_begin(r, row, t->s.index);
        uint32_t n = r->ends[row * r->columns + t->s.index] - begin;
        const char *p = (const char *)t->s.walk->slab + begin;
        uint64_t where = t->s.walk->slab_at + begin;
        ald__moment m;
        ald__token token;
        int64_t ticks;
        ald_status st;
        if (ald__csv_quick_null(&t->s, n, column->width)) {
            ald__csv_tally_null(&t->tally, where);
            continue;
        }
        if (n - 8 < 64 && *p >= '0' && *p <= '9' && ald__text_to_moment(p, n, &m) &&
            take_ticks(column, &m, &ticks)) {
            ald__token_moment(&m, &token);
            ald__profile_add(profile, &token, where);
            memcpy(column->values + (size_t)column->length * column->width, &ticks, column->width);
            ald__csv_value_done(column);
            continue;
        }
        st = take_field(t, row, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

typedef ald_status (*taker)(taking *t, ald_error *err);

static taker taker_of(const taking *t)
{
    const ald__column *c = t->s.column;
    if (t->s.parser->reader->nulls.numeric || t->infer->quoted != NULL)
        return NULL;
    if (c->store == ALD__STORE_INT && c->width == 8)
        return take_int64;
    if (c->store == ALD__STORE_FLOAT && c->width == 8)
        return take_double;
    if ((c->store == ALD__STORE_DATE && c->width == 4) ||
        ((c->store == ALD__STORE_TIME || c->store == ALD__STORE_STAMP) && c->width == 8))
        return take_moments;
    return NULL;
}

static ald_status take_column(taking *t, ald_error *err)
{
    const size_t rows = t->s.walk->rows.rows;
    taker take = taker_of(t);
    ald_status st;
    if (take == NULL) {
        ald__csv_infer_column(t->infer, t->s.walk, t->s.index, rows);
        return ald__csv_parse_column(&t->s, err);
    }
    st = ald__column_reserve(t->s.column, rows, err);
    if (st == ALD_OK)
        st = take(t, err);
    ald__csv_tally_fold(&t->tally, &t->infer->bare[t->s.index]);
    return st;
}

ald_status ald__csv_take_slab(ald__csv_parser *parser, ald__csv_infer *infer,
                              const ald__csv_walk *walk, ald_error *err)
{
    for (size_t c = 0; c < walk->rows.columns; c++) {
        taking t = {ald__csv_stretch_of(parser, walk, c), infer, ALD__CSV_TALLY_INIT};
        ald_status st;
        ald__csv_infer_quotes(infer, walk, c, walk->rows.rows);
        st = infer->done[c] ? ald__csv_parse_column(&t.s, err) : take_column(&t, err);
        if (st != ALD_OK)
            return st;
        ald__csv_infer_empties(infer, walk, c, walk->rows.rows);
    }
    return ALD_OK;
}
