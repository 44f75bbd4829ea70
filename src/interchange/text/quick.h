/* SPDX-License-Identifier: MIT */
/* Numbers as programs print them, in one go: the nearest double, and all that a profile wants to know of the text. Anything
 * else is left to number.h. 32 bytes from the number's first on must be readable. */
#ifndef INTERCHANGE_TEXT_QUICK_H
#define INTERCHANGE_TEXT_QUICK_H

#include "interchange/text/number.h"
#include "interchange/text/swar.h"

typedef struct ald__quick {
    double value;
    uint32_t whole, decimals; /* digits of each part, as in ald__token */
    uint8_t is_int;           /* digits alone, 15 at most */
    uint8_t has_exponent;
    uint8_t is_faithful;
} ald__quick;

/* The exponent at the end of the text: how many bytes it takes with its `e`, 0: there is none. */
static inline uint32_t ald__quick_exponent(const uint8_t *p, uint32_t n, int32_t *out)
{
    int32_t e = 0;
    uint32_t size = 0, negative, signs;
    for (uint32_t k = 2; k <= 4 && k < n; k++) {
        if ((p[n - k] | 0x20) == 'e')
            size = k;
    }
    if (size == 0)
        return 0;
    negative = p[n - size + 1] == '-';
    signs = negative || p[n - size + 1] == '+';
    if (size < 2 + signs)
        return 0;
    for (uint32_t i = n - size + 1 + signs; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return 0;
        e = e * 10 + (p[i] - '0');
    }
    *out = negative ? -e : e;
    return size;
}

/* With an exponent, or of 17 bytes and more. No sign. */
static inline int ald__quick_long(const uint8_t *p, uint32_t n, ald__quick *out)
{
    ald__swar_decimal d;
    int32_t e = 0;
    int faithful;
    uint32_t exponent = ald__quick_exponent(p, n, &e), body = n - exponent;
    if (body > 16) {
        if (!ald__swar_decimal24(p, body, &d))
            return 0;
    } else {
        ald__swar_shape shape = ald__swar_shape16(p, body);
        if (!shape.plain || body < 2 || (*p == '0' && shape.point > 1))
            return 0;
        d.whole = *p == '0' ? 0 : shape.point;
        d.decimals = shape.point == body ? 0 : body - 1 - shape.point;
        d.mantissa = ald__swar_digits16(p, shape.point);
        if (d.decimals > 0)
            d.mantissa = d.mantissa * ald__swar_powers[d.decimals] +
                         ald__swar_digits16(p + shape.point + 1, d.decimals);
    }
    e = (int32_t)d.decimals - e;
    if (e < 0 || !ald__number_nearest(d.mantissa, (uint32_t)e, &out->value, &faithful))
        return 0;
    out->whole = d.whole;
    out->decimals = d.decimals;
    out->is_int = 0;
    out->has_exponent = exponent > 0;
    out->is_faithful = faithful != 0;
    return 1;
}

/* 0: look closer (also minus zero). Digits with a point among them, 15 at most: both operands of the division are exact, so
 * its result is the nearest double. */
static inline int ald__quick_number(const uint8_t *p, uint32_t n, ald__quick *out)
{
    static const double powers[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    uint32_t negative = *p == '-', decimals = 0;
    uint64_t m;
    ald__swar_shape shape;
    p += negative;
    n -= negative;
    shape.plain = 0;
    if (n - 1 <= 15)
        shape = ald__swar_shape16(p, n);
    if (!shape.plain) {
        if (n - 1 > 31 || !ald__quick_long(p, n, out))
            return 0;
        out->value = negative ? -out->value : out->value;
        return 1;
    }
    if (*p == '0' && shape.point > 1)
        return 0;
    m = ald__swar_digits16(p, shape.point);
    out->is_int = shape.point == n;
    if (out->is_int) {
        if (n == 16)
            return 0;
    } else {
        if (n == 1)
            return 0; /* a point alone */
        decimals = n - 1 - shape.point;
        m = m * ald__swar_powers[decimals] + ald__swar_digits16(p + shape.point + 1, decimals);
    }
    if (negative && m == 0)
        return 0;
    out->whole = *p == '0' ? 0 : shape.point;
    out->decimals = decimals;
    out->has_exponent = 0;
    out->is_faithful = 1;
    out->value = (double)m / powers[decimals];
    out->value = negative ? -out->value : out->value;
    return 1;
}

#endif
