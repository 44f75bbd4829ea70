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

/* Of each number eight digits, the first in the lowest byte, leading zeros and all; where one has more, the eight before them
 * too, and what is left. */
typedef struct ald__digits {
    uint64_t text[ALD__DIGITS_BLOCK]; /* the number itself, before */
    uint64_t high[ALD__DIGITS_BLOCK];
    uint16_t top[ALD__DIGITS_BLOCK];  /* a number: 2^64 / 10^16 at most */
    uint8_t count[ALD__DIGITS_BLOCK]; /* digits without leading zeros, at least 1 */
    uint8_t is_long;                  /* high and top are there */
} ald__digits;

/* text[0 .. n) hold the numbers. */
void ald__digits_format(ald__digits *d, size_t n);

/* More than eight digits. */
void ald__digits_put_long(uint8_t *to, const ald__digits *d, size_t i, size_t digits);

/* Number i as so many digits, its count at least, so 1 at least. ALD__DIGITS_ROOM bytes may be overwritten. */
static inline void ald__digits_put(uint8_t *to, const ald__digits *d, size_t i, size_t digits)
{
    if (digits <= 8)
        ald__store_le64(to, d->text[i] >> ((64 - 8 * digits) & 63));
    else
        ald__digits_put_long(to, d, i, digits);
}

#endif
