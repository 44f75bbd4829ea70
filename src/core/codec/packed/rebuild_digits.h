/* SPDX-License-Identifier: MIT */
/* Decimal digits of many numbers at once, and where they are written. */
#ifndef CORE_CODEC_PACKED_REBUILD_DIGITS_H
#define CORE_CODEC_PACKED_REBUILD_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/endian.h"

#define ALD__DIGITS_BLOCK 128u
#define ALD__DIGITS_MAX 20u
#define ALD__DIGITS_ROOM 32u /* bytes that digits_put may write */

/* In a number's place `text` has its eight digits, the first in the lowest byte, leading zeros and all; of a number with more
 * digits the number itself. */
typedef struct ald__digits {
    uint64_t text[ALD__DIGITS_BLOCK];
    uint8_t count[ALD__DIGITS_BLOCK]; /* digits without leading zeros, at least 1 */
} ald__digits;

/* text[0 .. n) hold the numbers. */
void ald__digits_format(ald__digits *d, size_t n);

/* More than eight digits. */
void ald__digits_put_long(uint8_t *to, uint64_t text, size_t count, size_t digits);

/* The number as so many digits, its `count` at least, so 1 at least. ALD__DIGITS_ROOM bytes may be overwritten. */
static inline void ald__digits_put(uint8_t *to, uint64_t text, size_t count, size_t digits)
{
    if (digits <= 8)
        ald__store_le64(to, text >> ((64 - 8 * digits) & 63));
    else
        ald__digits_put_long(to, text, count, digits);
}

#endif
