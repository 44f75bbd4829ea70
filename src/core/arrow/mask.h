/* SPDX-License-Identifier: MIT */
/* Values under zero bits of a bitmap. `mask` counts from bit 0; `width` is in bytes. */
#ifndef CORE_ARROW_MASK_H
#define CORE_ARROW_MASK_H

#include <stddef.h>
#include <stdint.h>

/* Bits [at, at + 64) of a mask of `count` > at bits, `at` a multiple of 8; those past its end are one. */
uint64_t ald__mask_word(const uint8_t *mask, uint64_t at, uint64_t count);
/* Whether a value under a zero bit has a byte that is not zero. */
int ald__mask_is_dirty(const uint8_t *values, size_t width, const uint8_t *mask, uint64_t count);
/* Zeroes the values under zero bits. */
void ald__mask_clean(uint8_t *values, size_t width, const uint8_t *mask, uint64_t count);

#endif
