/* SPDX-License-Identifier: MIT */
/* How the lowest bits of rows depend on those of other rows: 64 rows at a time, in bounded memory. */
#ifndef CORE_WATERMARK_ROW_BITS_H
#define CORE_WATERMARK_ROW_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/piracy.h"

#define ALD__LAG_WORDS 18 /* of 64 rows: the longest lag, 1,024, and one more of each side */
#define ALD__LAGS 96      /* 1 to 64, 128, 256, 512, 1,024, and around 256 */
#define ALD__LAGS_SCORED 68

/* Two patterns of each row are followed, a double's and a float's: which one counts is known at the end. */
typedef struct ald__row_bits {
    uint64_t rows;
    uint64_t ring[ALD__LAG_WORDS]
                 [4]; /* lowest bit of the double, of the float; finite; finite and not 0 */
    uint64_t now[4];
    uint64_t first[ALD_LSB_MAP_WORDS]
                  [3]; /* of the first rows: lowest bit of the double, of the float; finite */
    /* by lag: pairs of finite rows; equal bits of them (2); pairs that are not 0; equal (2); ones of the first and of the second (2
     * each) */
    uint64_t sums[ALD__LAGS][10];
    uint64_t ones[2], full; /* over rows that are not 0 */
} ald__row_bits;

void ald__row_bits_add(ald__row_bits *b, const double *values, size_t count);
/* Call once, behind the last row. */
void ald__row_bits_end(ald__row_bits *b);

unsigned ald__row_bits_lag(size_t index);
/* Correlation at a lag; *pairs tells of how many. `pattern` 0: doubles, 1: floats. */
double ald__row_bits_plain(const ald__row_bits *b, size_t index, int pattern, uint64_t *pairs);
double ald__row_bits_centered(const ald__row_bits *b, size_t index, int pattern, uint64_t *pairs);
/* How far lag 256 stands out of those around it; 0 below 640 rows. */
double ald__row_bits_peak(const ald__row_bits *b, int pattern);

#endif
