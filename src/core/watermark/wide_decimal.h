/* SPDX-License-Identifier: MIT */
/* Decimals of any size as doubles, for reading a suspect copy: other programs print doubles with all their digits, and those come
 * back as decimals. */
#ifndef CORE_WATERMARK_WIDE_DECIMAL_H
#define CORE_WATERMARK_WIDE_DECIMAL_H

#include <stdint.h>

#define ALD__WIDE_SCALE_MOST 44

/* Two's complement of 4 to 32 bytes, divided by 10^scale (0 to ALD__WIDE_SCALE_MOST): the nearest double, but for a few in 2^50
 * that lie half-way. */
double ald__wide_decimal(const uint8_t *from, int width, int scale);

#endif
