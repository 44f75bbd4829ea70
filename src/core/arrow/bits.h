/* SPDX-License-Identifier: MIT */
/* Bitmaps: bit i is bit i % 8 of byte i / 8, counted from the lowest. */
#ifndef CORE_ARROW_BITS_H
#define CORE_ARROW_BITS_H

#include <stddef.h>
#include <stdint.h>

static inline int ald__bit_get(const uint8_t *bits, uint64_t i)
{
    return (bits[i / 8] >> (i % 8)) & 1;
}

static inline void ald__bit_set(uint8_t *bits, uint64_t i)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | (1u << (i % 8)));
}

static inline size_t ald__bits_bytes(uint64_t count)
{
    return (size_t)(count / 8 + (count % 8 != 0));
}

/* Ors `count` bits from src into dst, whose bits there must be zero. Touches no byte outside of either range. */
void ald__bits_copy(uint8_t *dst, uint64_t dst_at, const uint8_t *src, uint64_t src_at,
                    uint64_t count);
/* Sets `count` bits. */
void ald__bits_fill(uint8_t *bits, uint64_t at, uint64_t count);
/* Bits that are one. */
uint64_t ald__bits_count(const uint8_t *bits, uint64_t at, uint64_t count);
/* Position of the first zero (or, with `value`, one) bit in [at, end), or `end`. */
uint64_t ald__bits_find(const uint8_t *bits, uint64_t at, uint64_t end, int value);

#endif
