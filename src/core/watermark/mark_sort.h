/* SPDX-License-Identifier: MIT */
/* Sorting the values of a tally: what one thread and several of them share. */
#ifndef CORE_WATERMARK_MARK_SORT_H
#define CORE_WATERMARK_MARK_SORT_H

#include "core/watermark/mark_math.h"
#include "core/watermark/mark_tally.h"

#define ALD__MARK_DIGIT_BITS 9
#define ALD__MARK_DIGITS 8
#define ALD__MARK_DIGIT_COUNT (1u << ALD__MARK_DIGIT_BITS)
#define ALD__MARK_DIGITS_MOST 4 /* that are tried before all of them */

typedef uint32_t ald__mark_digits[ALD__MARK_DIGITS][ALD__MARK_DIGIT_COUNT];

/* Bits of a double as a number that sorts as the double does. */
static inline uint64_t ald__mark_sort_key(double v)
{
    uint64_t bits = ald__mark_bits(v);
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

/* Sorts keys, with as much room in `other`; returns where they are then. *used is how many digits will do, 2 to
 * ALD__MARK_DIGITS_MOST; it grows when they do not. */
uint64_t *ald__mark_sort_keys(uint64_t *keys, uint64_t *other, size_t count, unsigned *used,
                              ald__mark_digits digits);

/* Sorted keys [begin, end), equal ones joined, into value[] and weight[] of the tally from `to` on; returns where they end. The keys
 * may be in one of the two: no more is written than was read. */
size_t ald__mark_join_keys(const uint64_t *keys, size_t begin, size_t end, ald__mark_tally *tally,
                           size_t to);

/* A tally without weights, of many values, on the threads of `host`. */
ALD_NODISCARD ald_status ald__mark_sort_shared(ald__mark_tally *tally, const ald_host *host,
                                               ald_error *err);

#endif
