/* SPDX-License-Identifier: MIT */
/* Numbers as programs print them, in one go: the nearest double, and all that a profile wants to know of the text. Anything
 * else is left to number.h. 32 bytes from the number's first on must be readable. */
#ifndef INTERCHANGE_TEXT_QUICK_H
#define INTERCHANGE_TEXT_QUICK_H

#include "interchange/text/number.h"
#include "interchange/text/swar.h"

#define ALD__NOINLINE __attribute__((noinline))

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

static const double ald__quick_powers[16] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

/* With its sign turned around, or not. */
static inline double ald__quick_signed(double value, uint32_t negative)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    bits ^= (uint64_t)negative << 63;
    memcpy(&value, &bits, 8);
    return value;
}

#define QUICK(name) ald__quick_##name
#define QUICK_DIGITS(name) ald__swar_##name
#define QUICK_FN static inline
#include "interchange/text/quick_template.h"

#endif
