/* SPDX-License-Identifier: MIT */
/* Numbers as text. Every function stores at p without a NUL and returns the end; nothing fails. */
#ifndef INTERCHANGE_FORMAT_NUMBER_TEXT_H
#define INTERCHANGE_FORMAT_NUMBER_TEXT_H

#include <stdint.h>

/* Room for any of them but decimals, and for decimals. */
#define ALD__NUMBER_BYTES 48
#define ALD__DECIMAL_BYTES 256

uint8_t *ald__put_u64(uint8_t *p, uint64_t v);
uint8_t *ald__put_i64(uint8_t *p, int64_t v);
/* Exactly `width` (1 to 9) digits of v < 10^width. */
uint8_t *ald__put_padded(uint8_t *p, uint32_t v, int width);

/* The shortest digits that read back as the same double (float), always with a point or an exponent. NaN and infinities are
 * the words NaN, Infinity, -Infinity. */
uint8_t *ald__put_f64(uint8_t *p, double v);
uint8_t *ald__put_f32(uint8_t *p, float v);
/* The exact value of an IEEE half. */
double ald__half_to_double(uint16_t half);
int ald__is_finite(double v);

/* A two's complement integer of byte_width (4, 8, 16, 32) little-endian bytes, times 10^-scale: plain notation with `scale`
 * digits behind the point; a scale beyond ±120, which no value of 76 digits needs, is written as an exponent. */
uint8_t *ald__put_decimal(uint8_t *p, const uint8_t *le, int byte_width, int32_t scale);

#endif
