/* SPDX-License-Identifier: MIT */
/* A number token taken apart, and the exact questions about it. Inside src/interchange/text. */
#ifndef INTERCHANGE_TEXT_NUMBER_H
#define INTERCHANGE_TEXT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#define ALD__DECIMAL_DIGITS 76

/* value = (-1)^negative × digits × 10^exponent, where digits are `sig_digits` decimal digits from `sig` on (a point among
 * them is skipped), without leading zeros. Zero has sig_digits 0. */
typedef struct ald__number {
    const char *sig;
    size_t sig_digits;
    int64_t exponent;   /* of the last digit; clamped to ±10^9 */
    uint64_t mantissa;  /* the digits, when there are 19 or fewer */
    size_t int_digits;  /* before the point, leading zeros not counted */
    size_t frac_digits; /* behind the point as written */
    uint8_t negative, has_point, has_exponent;
} ald__number;

/* 0: not a number of the grammar (docs/TEXT.md). */
int ald__number_scan(const char *text, size_t size, ald__number *out);
/* The nearest double, ties to even. 0: it would be infinite. */
int ald__number_to_double(const ald__number *n, double *out);
/* Nonzero when n's digits are those of `value` (its nearest double), printed with as many significant digits. */
int ald__number_is_faithful(const ald__number *n, double value);
/* The nearest double of digits × 10^-decimals (ties to even), and whether it gives the digits back. Fast; 0: not for these
 * (few doubles near powers of two, very small and very large values), *out is then untouched. */
int ald__number_nearest(uint64_t digits, uint32_t decimals, double *out, int *faithful);
/* Sign of |n| − |value|, exactly. */
int ald__number_compare(const ald__number *n, double value);
/* Nonzero when |n| is an integer that a double equals; for numbers without point and exponent. */
int ald__number_is_exact(const ald__number *n);
/* The fewest digits that read back as a finite value, or (is_float) as a float: 40 bytes at most, with a NUL behind them. Their
 * end. Defined beside yyjson. */
char *ald__shortest_digits(double value, int is_float, char *buf);

#endif
