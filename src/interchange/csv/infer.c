/* SPDX-License-Identifier: MIT */
/* Knows the cheap confirmations: most fields are integers or short fractions, empty, or of a column that is text anyway.
 * All others are classified in full. */
#include "interchange/csv/infer.h"

#include "interchange/csv/swar.h"
#include "interchange/text/number.h"

/* What the cheap path saw of one column in one slab. */
typedef struct tally {
    uint64_t ints, floats, nulls;
    uint64_t first_int, first_float, first_null, first_negative;
    uint32_t int_digits, frac_digits;
} tally;

static void take_first(uint64_t *first, uint64_t where)
{
    if (where < *first)
        *first = where;
}

static void tally_fold(const tally *t, ald__profile *p)
{
    p->count[ALD__TOKEN_INT] += t->ints;
    p->count[ALD__TOKEN_FLOAT] += t->floats;
    p->count[ALD__TOKEN_NULL] += t->nulls;
    take_first(&p->first_kind[ALD__TOKEN_INT], t->first_int);
    take_first(&p->first_kind[ALD__TOKEN_FLOAT], t->first_float);
    take_first(&p->first_kind[ALD__TOKEN_NULL], t->first_null);
    if (t->first_negative != ALD__NEVER) {
        p->flags |= ALD__TOKEN_NEGATIVE;
        take_first(&p->first_flag[0], t->first_negative);
    }
    if (t->int_digits > p->int_digits)
        p->int_digits = t->int_digits;
    if (t->frac_digits > p->frac_digits)
        p->frac_digits = t->frac_digits;
}

/* A number of up to 15 digits without exponent, which every double gives back. 0: look closer. */
static inline int tally_number(tally *t, const uint8_t *p, uint32_t size, uint64_t where)
{
    uint32_t negative = p[0] == '-', n = size - negative, whole;
    ald__csv_shape shape;
    p += negative;
    if (n - 1 > 15) /* 0 or more than 16 */
        return 0;
    shape = ald__csv_shape16(p, n);
    if (!shape.plain)
        return 0;
    whole = shape.point;
    if (p[0] == '0' && (whole > 1 || negative))
        return 0; /* leading zeros, minus zero */
    if (whole == n) {
        if (n > 15)
            return 0;
        if (t->ints++ == 0)
            t->first_int = where;
        if (negative && t->first_negative == ALD__NEVER)
            t->first_negative = where;
    } else {
        if (n < 2 || (negative && whole == 0))
            return 0;
        if (t->floats++ == 0)
            t->first_float = where;
        if (n - 1 - whole > t->frac_digits)
            t->frac_digits = n - 1 - whole;
    }
    if (p[0] == '0')
        whole = 0;
    if (whole > t->int_digits)
        t->int_digits = whole;
    return 1;
}

/* A number of up to 19 digits with a point, as programs print doubles. 0: look closer. */
static int tally_long(tally *t, const uint8_t *p, uint32_t size, uint64_t where)
{
    uint32_t negative = p[0] == '-';
    ald__csv_decimal d;
    double value;
    int faithful;
    if (!ald__csv_decimal24(p + negative, size - negative, &d) ||
        !ald__number_nearest(d.mantissa, d.decimals, &value, &faithful) || !faithful)
        return 0;
    if (t->floats++ == 0)
        t->first_float = where;
    if (d.decimals > t->frac_digits)
        t->frac_digits = d.decimals;
    if (d.whole > t->int_digits)
        t->int_digits = d.whole;
    return 1;
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
    return infer->bare[column].count[ALD__TOKEN_TEXT] >= ALD__CSV_MANY_TEXT ||
           (infer->quoted != NULL &&
            infer->quoted[column].count[ALD__TOKEN_TEXT] >= ALD__CSV_MANY_TEXT);
}

/* A field that the cheap path does not take. 0: the column needs no further look. */
static int infer_field(ald__csv_infer *infer, const ald__csv_walk *walk, size_t row, size_t column,
                       tally *t)
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
        if (t->nulls++ == 0)
            t->first_null = where;
        return 1;
    }
    ald__token_classify(text, size, &token);
    ald__profile_add(&infer->bare[column], &token, where);
    return token.kind != ALD__TOKEN_TEXT || !has_many_text(infer, column);
}

static void infer_column(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                         size_t rows)
{
    const ald__csv_rows *r = &walk->rows;
    tally t = {.first_int = ALD__NEVER, .first_float = ALD__NEVER, .first_null = ALD__NEVER};
    int fast = !infer->nulls->numeric;
    t.first_negative = ALD__NEVER;
    for (size_t row = 0; row < rows; row++) {
        uint32_t begin = ald__csv_begin(r, row, column);
        uint32_t end = r->ends[row * r->columns + column];
        if (fast && begin < end &&
            (tally_number(&t, walk->slab + begin, end - begin, walk->slab_at + begin) ||
             tally_long(&t, walk->slab + begin, end - begin, walk->slab_at + begin))) {
            infer->bare_seen = 1;
            continue;
        }
        if (!infer_field(infer, walk, row, column, &t)) {
            infer->done[column] = ALD__CSV_DONE_TEXT;
            break;
        }
    }
    tally_fold(&t, &infer->bare[column]);
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

void ald__csv_infer_slab(ald__csv_infer *infer, const ald__csv_walk *walk, size_t rows)
{
    for (size_t c = 0; c < infer->columns; c++) {
        /* While quotes may say nothing, the first bare field ends that wherever it stands. */
        if (infer->quoted != NULL && !infer->bare_seen)
            infer->bare_seen = (uint8_t)column_has_bare(walk, c, rows);
        if (!infer->done[c])
            infer_column(infer, walk, c, rows);
    }
}
