/* SPDX-License-Identifier: MIT */
/* What the quick ways saw of one column in one slab: a profile of numbers that needs no look-up per value. */
#ifndef INTERCHANGE_CSV_CSV_TALLY_H
#define INTERCHANGE_CSV_CSV_TALLY_H

#include "interchange/text/classify.h"
#include "interchange/text/quick.h"

typedef struct ald__csv_tally {
    uint64_t ints, floats, nulls;
    uint64_t first_int, first_float, first_null, first_negative, first_exponent, first_inexact;
    uint32_t int_digits, frac_digits;
} ald__csv_tally;

#define ALD__CSV_TALLY_INIT                                                                        \
    {0, 0, 0, ALD__NEVER, ALD__NEVER, ALD__NEVER, ALD__NEVER, ALD__NEVER, ALD__NEVER, 0, 0}

void ald__csv_tally_add(ald__csv_tally *into, const ald__csv_tally *from);
void ald__csv_tally_fold(const ald__csv_tally *tally, ald__profile *into);

static inline void ald__csv_tally_null(ald__csv_tally *t, uint64_t where)
{
    if (t->nulls++ == 0)
        t->first_null = where;
}

static inline void ald__csv_tally_int(ald__csv_tally *t, uint32_t digits, uint32_t negative,
                                      uint64_t where)
{
    if (t->ints++ == 0)
        t->first_int = where;
    if (t->first_negative == ALD__NEVER && negative)
        t->first_negative = where;
    if (digits > t->int_digits)
        t->int_digits = digits;
}

/* An integer of more than 53 bits: few of them are doubles. */
static inline void ald__csv_tally_large(ald__csv_tally *t, uint64_t value, uint64_t where)
{
    if (t->first_inexact == ALD__NEVER && (uint64_t)(double)value != value)
        t->first_inexact = where;
}

static inline void ald__csv_tally_float(ald__csv_tally *t, uint32_t whole, uint32_t decimals,
                                        uint64_t where)
{
    if (t->floats++ == 0)
        t->first_float = where;
    if (decimals > t->frac_digits)
        t->frac_digits = decimals;
    if (whole > t->int_digits)
        t->int_digits = whole;
}

/* 0: the number is none that a tally can tell of. */
static inline int ald__csv_tally_quick(ald__csv_tally *t, const ald__quick *q, uint32_t negative,
                                       uint64_t where)
{
    if (q->is_int) {
        ald__csv_tally_int(t, q->whole, negative, where);
        return 1;
    }
    if (!q->is_faithful)
        return 0;
    if (q->has_exponent && t->first_exponent == ALD__NEVER)
        t->first_exponent = where;
    ald__csv_tally_float(t, q->whole, q->decimals, where);
    return 1;
}

#endif
