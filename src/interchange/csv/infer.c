/* SPDX-License-Identifier: MIT */
/* Knows the cheap confirmations: most fields are integers or short fractions, empty, or of a column that is text anyway.
 * All others are classified in full. */
#include "interchange/csv/infer.h"

static void take_first(uint64_t *first, uint64_t where)
{
    if (where < *first)
        *first = where;
}

static void tally_flag(ald__profile *p, uint32_t flag, uint64_t first)
{
    if (first == ALD__NEVER)
        return;
    p->flags |= flag;
    take_first(&p->first_flag[__builtin_ctz(flag)], first);
}

void ald__csv_tally_add(ald__csv_tally *into, const ald__csv_tally *from)
{
    into->ints += from->ints;
    into->floats += from->floats;
    into->nulls += from->nulls;
    take_first(&into->first_int, from->first_int);
    take_first(&into->first_float, from->first_float);
    take_first(&into->first_null, from->first_null);
    take_first(&into->first_negative, from->first_negative);
    take_first(&into->first_exponent, from->first_exponent);
    take_first(&into->first_inexact, from->first_inexact);
    if (from->int_digits > into->int_digits)
        into->int_digits = from->int_digits;
    if (from->frac_digits > into->frac_digits)
        into->frac_digits = from->frac_digits;
}

void ald__csv_tally_fold(const ald__csv_tally *t, ald__profile *p)
{
    p->count[ALD__TOKEN_INT] += t->ints;
    p->count[ALD__TOKEN_FLOAT] += t->floats;
    p->count[ALD__TOKEN_NULL] += t->nulls;
    take_first(&p->first_kind[ALD__TOKEN_INT], t->first_int);
    take_first(&p->first_kind[ALD__TOKEN_FLOAT], t->first_float);
    take_first(&p->first_kind[ALD__TOKEN_NULL], t->first_null);
    tally_flag(p, ALD__TOKEN_NEGATIVE, t->first_negative);
    tally_flag(p, ALD__TOKEN_EXPONENT, t->first_exponent);
    tally_flag(p, ALD__TOKEN_INEXACT, t->first_inexact);
    if (t->int_digits > p->int_digits)
        p->int_digits = t->int_digits;
    if (t->frac_digits > p->frac_digits)
        p->frac_digits = t->frac_digits;
}

/* A number of up to 15 digits without exponent, which every double gives back. 0: look closer. */
static inline int tally_number(ald__csv_tally *t, const uint8_t *p, uint32_t size, uint64_t where)
{
    uint32_t negative = p[0] == '-', n = size - negative, whole;
    ald__swar_shape shape;
    p += negative;
    if (n - 1 > 15) /* 0 or more than 16 */
        return 0;
    shape = ald__swar_shape16(p, n);
    if (!shape.plain)
        return 0;
    whole = shape.point;
    if (p[0] == '0' && (whole > 1 || negative))
        return 0; /* leading zeros, maybe minus zero */
    if (whole == n) {
        if (n > 15)
            return 0;
        ald__csv_tally_int(t, p[0] == '0' ? 0 : n, negative, where);
        return 1;
    }
    if (n < 2 || (negative && whole == 0))
        return 0;
    ald__csv_tally_float(t, p[0] != '0' ? whole : 0, n - 1 - whole, where);
    return 1;
}

/* Longer ones, as programs print doubles. 0: look closer. */
static int tally_long(ald__csv_tally *t, const uint8_t *p, uint32_t size, uint64_t where)
{
    ald__quick q;
    return ald__quick_number(p, size, &q) && ald__csv_tally_quick(t, &q, p[0] == '-', where);
}

static void infer_quoted(ald__csv_infer *infer, size_t column, const char *text, size_t size,
                         uint64_t where)
{
    ald__token token = {.kind = ALD__TOKEN_TEXT};
    ald__profile *into = &infer->bare[column];
    if (infer->quoted != NULL && !infer->bare_seen) {
        into = &infer->quoted[column];
        if (infer->nulls->given && ald__csv_is_null(infer->nulls, text, size))
            token.kind = ALD__TOKEN_NULL;
        else
            ald__token_classify(text, size, &token);
    }
    ald__profile_add(into, &token, where);
}

static int has_many_text(const ald__csv_infer *infer, size_t column)
{
    return ald__csv_infer_texts(infer, column) >=
           ALD__CSV_MANY_TEXT + (infer->base != NULL ? infer->base[column] : 0);
}

int ald__csv_infer_field(ald__csv_infer *infer, const ald__csv_walk *walk, size_t row,
                         size_t column, ald__csv_tally *t)
{
    ald__csv_field f = ald__csv_field_at(&walk->rows, walk->slab, row, column);
    const char *text = (const char *)walk->slab + f.begin;
    size_t size = f.end - f.begin;
    uint64_t where = walk->slab_at + f.begin;
    ald__token token;
    if (f.quoted) {
        infer_quoted(infer, column, text, size, where);
        return !has_many_text(infer, column);
    }
    infer->bare_seen |= !f.missing;
    if (f.missing || ald__csv_is_null(infer->nulls, text, size)) {
        ald__csv_tally_null(t, where);
        return 1;
    }
    ald__token_classify(text, size, &token);
    ald__profile_add(&infer->bare[column], &token, where);
    return token.kind != ALD__TOKEN_TEXT || !has_many_text(infer, column);
}

void ald__csv_infer_column(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                           size_t rows)
{
    const ald__csv_rows *r = &walk->rows;
    ald__csv_tally t = ALD__CSV_TALLY_INIT;
    int fast = !infer->nulls->numeric;
    for (size_t row = 0; row < rows; row++) {
        uint32_t begin = ald__csv_begin(r, row, column);
        uint32_t end = r->ends[row * r->columns + column];
        if (fast && begin < end &&
            (tally_number(&t, walk->slab + begin, end - begin, walk->slab_at + begin) ||
             tally_long(&t, walk->slab + begin, end - begin, walk->slab_at + begin))) {
            infer->bare_seen = 1;
            continue;
        }
        if (!ald__csv_infer_field(infer, walk, row, column, &t)) {
            infer->done[column] = ALD__CSV_DONE_TEXT;
            break;
        }
    }
    ald__csv_tally_fold(&t, &infer->bare[column]);
}

/* Whether a field of the column is not quoted. */
static int column_has_bare(const ald__csv_walk *walk, size_t column, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        ald__csv_field f = ald__csv_field_at(&walk->rows, walk->slab, row, column);
        if (!f.quoted && !f.missing)
            return 1;
    }
    return 0;
}

void ald__csv_infer_quotes(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                           size_t rows)
{
    if (infer->quoted != NULL && !infer->bare_seen)
        infer->bare_seen = (uint8_t)column_has_bare(walk, column, rows);
}

void ald__csv_infer_empties(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                            size_t rows)
{
    const ald__csv_rows *r = &walk->rows;
    if (infer->done[column] == 0 || infer->nulls->given || !infer->nulls->empty)
        return;
    for (size_t row = 0; row < rows && !infer->empties; row++)
        infer->empties = ald__csv_begin(r, row, column) == r->ends[row * r->columns + column];
}

void ald__csv_infer_slab(ald__csv_infer *infer, const ald__csv_walk *walk, size_t rows)
{
    for (size_t c = 0; c < infer->columns; c++) {
        ald__csv_infer_quotes(infer, walk, c, rows);
        if (!infer->done[c])
            ald__csv_infer_column(infer, walk, c, rows);
        ald__csv_infer_empties(infer, walk, c, rows);
    }
}
