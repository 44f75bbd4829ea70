/* SPDX-License-Identifier: MIT */
/* A sum of two doubles has 106 bits: enough for the digits that tell one double from the next (Dekker, 1971). */
#include "core/watermark/wide_decimal.h"

#include "core/base/endian.h"
#include "core/watermark/mark_math.h"

typedef struct twin {
    double high, low;
} twin;

static twin add_exactly(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (twin){sum, (a - (sum - part)) + (b - part)};
}

/* a * b - product, for products far from the ends of the range. */
static double product_rest(double a, double b, double product)
{
    double a_big = a * 134217729.0, b_big = b * 134217729.0; /* 2^27 + 1 */
    double a1 = a_big - (a_big - a), b1 = b_big - (b_big - b), a2 = a - a1, b2 = b - b1;
    return ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2;
}

/* x / power, where power is exact. */
static twin divided(twin x, double power)
{
    double quotient = x.high / power, product = quotient * power;
    double rest = ((x.high - product) - product_rest(quotient, power, product)) + x.low;
    return add_exactly(quotient, rest / power);
}

/* The magnitude: 32 bits after the other, the highest first. */
static twin magnitude_of(const uint8_t *from, int width, int is_negative)
{
    twin sum = {0, 0};
    uint64_t borrow = 0;
    uint32_t part[8];
    for (int i = 0; i < width / 4; i++) {
        uint64_t word = ald__load_le32(from + i * 4);
        if (is_negative) { /* 0 less all of it */
            word = 0 - word - borrow;
            borrow = word >> 63;
        }
        part[i] = (uint32_t)word;
    }
    for (int i = width / 4; i-- > 0;) {
        twin next = add_exactly(sum.high * 4294967296.0, (double)part[i]);
        sum = add_exactly(next.high, next.low + sum.low * 4294967296.0);
    }
    return sum;
}

double ald__wide_decimal(const uint8_t *from, int width, int scale)
{
    const int is_negative = from[width - 1] >> 7;
    twin x = magnitude_of(from, width, is_negative);
    x = divided(x, ald__mark_pow10(scale < 22 ? scale : 22));
    if (scale > 22)
        x = divided(x, ald__mark_pow10(scale - 22));
    return is_negative ? -x.high : x.high;
}
