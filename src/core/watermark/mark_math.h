/* SPDX-License-Identifier: MIT */
/* Arithmetic on doubles without a mathematical library, the same bits with every compiler and at every level of
 * optimization: these use additions, multiplications, divisions and bits only. What ends in `_about` is accurate to ten
 * digits or so, for weights and probabilities; the rest is exact. */
#ifndef CORE_WATERMARK_MARK_MATH_H
#define CORE_WATERMARK_MARK_MATH_H

#include <stdint.h>
#include <string.h>

#define ALD__MARK_2P52 4503599627370496.0

static inline uint64_t ald__mark_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double ald__mark_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double ald__mark_abs(double x)
{
    return ald__mark_double(ald__mark_bits(x) & (UINT64_MAX >> 1));
}

/* Whether x is neither 0 nor infinite nor NaN. */
static inline int ald__mark_usable(double x)
{
    uint64_t magnitude = ald__mark_bits(x) & (UINT64_MAX >> 1);
    return magnitude - 1 < (UINT64_C(0x7ff) << 52) - 1;
}

/* floor(log2(x)) of a finite x > 0. */
static inline int ald__mark_exponent(double x)
{
    int raw = (int)(ald__mark_bits(x) >> 52 & 0x7ff);
    if (raw == 0)
        return (int)(ald__mark_bits(x * 18446744073709551616.0) >> 52 & 0x7ff) - 1023 - 64;
    return raw - 1023;
}

/* 2^n for -1022 <= n <= 1023. */
static inline double ald__mark_pow2(int n)
{
    return ald__mark_double((uint64_t)(n + 1023) << 52);
}

/* The nearest integer, ties to even, of x >= 0. */
static inline double ald__mark_round(double x)
{
    return x < ALD__MARK_2P52 ? (x + ALD__MARK_2P52) - ALD__MARK_2P52 : x;
}

/* The integer below x >= 0. */
static inline double ald__mark_floor(double x)
{
    double near = ald__mark_round(x);
    return near > x ? near - 1.0 : near;
}

/* 10^n for 0 <= n <= 22, where it is exact. */
double ald__mark_pow10(int n);

double ald__mark_sqrt_about(double x);    /* x >= 0 */
double ald__mark_log2_about(double x);    /* x > 0 */
double ald__mark_exp2_about(double x);    /* 0 below the range of doubles */
double ald__mark_cos_about(double turns); /* cos(2 pi turns), |turns| < 2^50 */

/* sin(2 pi phase) for a phase in [0, 1], to six digits, without branches so that loops over it become vector code. */
static inline double ald__mark_sin_phase(double phase)
{
    double y = phase - 0.5; /* sin(2 pi phase) is -sin(2 pi y) */
    double bent = 0.25 - ald__mark_abs(ald__mark_abs(y) - 0.25);
    double x = 6.283185307179586 * bent, s = x * x; /* 0 to pi / 2, the same sine */
    double v =
        x * (1.0 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880)))));
    return y < 0 ? v : -v;
}

#endif
