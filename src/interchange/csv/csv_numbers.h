/* SPDX-License-Identifier: MIT */
/* Columns of numbers: the loops over the fields of a slab, one set of them per kind of processor. */
#ifndef INTERCHANGE_CSV_CSV_NUMBERS_H
#define INTERCHANGE_CSV_CSV_NUMBERS_H

#include "interchange/csv/csv_tally.h"
#include "interchange/csv/parse.h"

/* Appends the values of the fields from `row` on to the column, which has room for them, and adds what they are to the
 * tally. Empty fields become null once the column has a bitmap. The first row that it does not take is returned: it wants
 * the general way. */
typedef size_t (*ald__csv_numbers_fn)(const ald__csv_stretch *s, ald__csv_tally *tally, size_t row);

struct ald__csv_numbers {
    ald__csv_numbers_fn int64;   /* columns of INT, 8 bytes: integers of up to 18 digits */
    ald__csv_numbers_fn float64; /* FLOAT, 8 bytes: what ald__quick_number takes, and faithful */
};

/* The fastest that this processor has. */
const ald__csv_numbers *ald__csv_numbers_best(void);
/* All that this build and processor have, fastest first, the portable ones last; NULL behind the last. For tests. */
const ald__csv_numbers *ald__csv_numbers_variant(size_t index);

#endif
