/* SPDX-License-Identifier: MIT */
/* The chance and the arithmetic of samples and splits, so that anyone can repeat them: docs/DATASETS.md has both in words. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include <stdint.h>

/* A number of [0, bound) that depends on seed and row alone; bound > 0. */
uint64_t draw_below(uint64_t seed, uint64_t row, uint64_t bound);

/* floor(a * b / c), with all bits of the product; c > 0, and the result fits. */
uint64_t draw_muldiv(uint64_t a, uint64_t b, uint64_t c);

/* A share of a whole, exactly: part / whole. */
#define DRAW_WHOLE UINT64_C(1000000000)

/* "0.25" as 250,000,000 billionths; 0: it is no decimal number of up to nine places below `limit` (in whole units). */
int draw_parse_share(const char *text, uint64_t limit, uint64_t *billionths);

/* counts[i] = total * shares[i] / sum of the shares, rounded so that they add up to `total`: what is left after rounding down
 * goes to the largest remainders, of equal ones to the first. The sum of the shares is at most 2^32. */
void draw_counts(uint64_t total, const uint64_t *shares, uint64_t *counts, uint64_t *remainders,
                 uint32_t count);

#endif
