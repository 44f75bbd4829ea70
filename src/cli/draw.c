/* SPDX-License-Identifier: MIT */
/* SplitMix64 as a function of the row's number: nothing has to be drawn in order, and no state is kept. */
#include "cli/draw.h"

#include <stddef.h>

typedef struct wide {
    uint64_t high, low;
} wide;

static wide multiply(uint64_t a, uint64_t b)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), other = a0 * b1 + (mid & UINT32_MAX);
    return (wide){a1 * b1 + (mid >> 32) + (other >> 32), other << 32 | (low & UINT32_MAX)};
}

uint64_t draw_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    wide p = multiply(a, b);
    uint64_t rest = p.high % c, result = 0;
    for (int bit = 63; bit >= 0; bit--) {
        int carry = rest >> 63 != 0;
        rest = rest << 1 | (p.low >> bit & 1);
        result <<= 1;
        if (carry || rest >= c) {
            rest -= c;
            result |= 1;
        }
    }
    return result;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

uint64_t draw_below(uint64_t seed, uint64_t row, uint64_t bound)
{
    uint64_t r = mix(mix(seed) + (row + 1) * UINT64_C(0x9E3779B97F4A7C15));
    return multiply(r, bound).high;
}

int draw_parse_share(const char *text, uint64_t limit, uint64_t *billionths)
{
    uint64_t value = 0, unit = DRAW_WHOLE;
    int digits = 0;
    for (; *text >= '0' && *text <= '9'; text++, digits++) {
        value = value * 10 + (uint64_t)(*text - '0');
        if (value >= limit) {
            return 0;
        }
    }
    value *= DRAW_WHOLE;
    if (*text == '.') {
        for (text++; *text >= '0' && *text <= '9' && unit > 1; text++, digits++) {
            unit /= 10;
            value += unit * (uint64_t)(*text - '0');
        }
    }
    *billionths = value;
    return digits > 0 && *text == '\0';
}

void draw_counts(uint64_t total, const uint64_t *shares, uint64_t *counts, uint64_t *remainders,
                 uint32_t count)
{
    uint64_t sum = 0, left = total;
    for (uint32_t i = 0; i < count; i++) {
        sum += shares[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        /* total = q * sum + r; r * shares[i] fits, as both are below 2^32 */
        uint64_t rest = total % sum * shares[i];
        counts[i] = total / sum * shares[i] + rest / sum;
        remainders[i] = rest % sum;
        left -= counts[i];
    }
    for (; left > 0; left--) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++) {
            best = remainders[i] > remainders[best] ? i : best;
        }
        counts[best]++;
        remainders[best] = 0;
    }
}
