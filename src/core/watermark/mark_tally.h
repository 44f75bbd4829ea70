/* SPDX-License-Identifier: MIT */
/* The values of one column: what a mark depends on is said about all of them together. */
#ifndef CORE_WATERMARK_MARK_TALLY_H
#define CORE_WATERMARK_MARK_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/io.h"

/* All values that are neither 0 nor NaN nor infinite, while they fit. Beyond `limit`, of every 2^thin values (by their number in
 * row order, scattered by a hash, so that no period of the data meets it) one is kept. */
typedef struct ald__mark_tally {
    const ald_allocator *alloc;
    size_t limit;
    size_t expected; /* values, as somebody said; 0: not known */
    double *value;
    uint64_t *weight; /* NULL: all 1 */
    size_t count, capacity;
    size_t weight_capacity;
    unsigned thin;
    uint64_t seen;  /* entries offered */
    uint64_t total; /* rows that they stand for */
    uint64_t zeros; /* rows that are 0, NaN or infinite */
    /* About all entries, kept or not: */
    double least, greatest, last;
    uint8_t rises, falls; /* strictly, in row order */
    uint8_t is_f32;       /* every value is one of a float */
    uint8_t is_sorted;    /* value[] is ascending and distinct, weight[] there */
    uint64_t kept;        /* sum of the weights kept, once sorted */
} ald__mark_tally;

void ald__mark_tally_init(ald__mark_tally *tally, const ald_allocator *alloc, size_t limit);
void ald__mark_tally_clear(ald__mark_tally *tally);

ALD_NODISCARD ald_status ald__mark_tally_add(ald__mark_tally *tally, const double *values,
                                             size_t count, ald_error *err);
/* One value for `rows` > 0 rows. */
ALD_NODISCARD ald_status ald__mark_tally_add_run(ald__mark_tally *tally, double value,
                                                 uint64_t rows, ald_error *err);

/* Parts of a batch may be added side by side: room for `count` values is reserved (*is_there 0: they have to be added in turn), parts
 * of it are filled as tallies of their own, which are not cleared, and joined in row order. */
ALD_NODISCARD ald_status ald__mark_tally_reserve(ald__mark_tally *tally, size_t count,
                                                 int *is_there, ald_error *err);
void ald__mark_tally_part(const ald__mark_tally *tally, size_t begin, size_t count,
                          ald__mark_tally *part);
void ald__mark_tally_join(ald__mark_tally *tally, const ald__mark_tally *part);

/* Sorts, and joins equal values. No values may be added afterwards. A long tally is shared out to the threads of `host` (NULL:
 * none); the result does not depend on them. */
ALD_NODISCARD ald_status ald__mark_tally_sort(ald__mark_tally *tally, const ald_host *host,
                                              ald_error *err);

/* The following need a sorted tally. */

/* The value of this rank, counting rows that are kept; rank < kept. */
double ald__mark_tally_at(const ald__mark_tally *tally, uint64_t rank);
/* The interquartile range, or that of the inner 80 % where it is 0. */
double ald__mark_tally_spread(const ald__mark_tally *tally);

/* The smallest number of decimals, up to 12, that 95 of 100 values are written with; -1: none. *of_floats: they are floats next
 * to such decimals (up to 6). */
int ald__mark_tally_decimals(const ald__mark_tally *tally, int is_f32, int *of_floats);

#endif
