/* SPDX-License-Identifier: MIT */
/* Knows how number tokens become integers, floats and decimals without losing anything. */
#include <string.h>

#include "interchange/text/classify.h"
#include "interchange/text/number.h"

/* An integer token of at most 20 digits: sign and magnitude. */
static int integer_token(const char *text, size_t size, int *negative, uint64_t *magnitude)
{
    size_t i = size > 0 && text[0] == '-';
    uint64_t v = 0;
    *negative = (int)i;
    if (size == i || size - i > 20 || (text[i] == '0' && (size - i > 1 || *negative)))
        return 0;
    for (; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return 0;
    }
    *magnitude = v;
    return 1;
}

int ald__text_to_int64(const char *text, size_t size, int64_t *out)
{
    uint64_t v;
    int negative;
    if (!integer_token(text, size, &negative, &v) || v > (uint64_t)INT64_MAX + (uint64_t)negative)
        return 0;
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return 1;
}

int ald__text_to_uint64(const char *text, size_t size, uint64_t *out)
{
    int negative;
    return integer_token(text, size, &negative, out) && !negative;
}

/* Rounding to double and then to float goes wrong only where the double stands exactly between two floats while the text
 * does not: then the text decides. */
int ald__text_to_float(const char *text, size_t size, float *out)
{
    ald__number n;
    double d, odd;
    uint64_t bits;
    float f;
    int side;
    if (!ald__text_to_double(text, size, &d))
        return 0;
    if (!ald__number_scan(text, size, &n)) {
        *out = (float)d; /* NaN, infinity */
        return 1;
    }
    side = ald__number_compare(&n, d < 0 ? -d : d);
    if (side != 0 && d != 0) {
        /* Rounding to odd: a double that is not the text's value gets its last bit set, on the text's side. */
        memcpy(&bits, &d, sizeof bits);
        if (side < 0)
            bits--;
        bits |= 1;
        memcpy(&odd, &bits, sizeof odd);
        d = odd;
    }
    f = (float)d;
    if (f - f != 0)
        return 0;
    *out = f;
    return 1;
}

/* words = words × factor + add; nonzero when it still fits. */
static int words_mul_add(uint64_t *words, int count, uint64_t factor, uint64_t add)
{
    unsigned __int128 carry = add;
    for (int i = 0; i < count; i++) {
        carry += (unsigned __int128)words[i] * factor;
        words[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry == 0;
}

/* The first `digits` significant digits, then `zeros` zeros. 76 digits fit 253 bits. */
static int decimal_words(const ald__number *n, size_t digits, size_t zeros, int limbs,
                         uint64_t *out)
{
    const char *p = n->sig;
    memset(out, 0, (size_t)limbs * sizeof *out);
    while (digits > 0) {
        uint64_t chunk = 0, factor = 1;
        for (; digits > 0 && factor < 1000000000000000000ull; p++) {
            if (*p == '.')
                continue;
            chunk = chunk * 10 + (uint64_t)(*p - '0');
            factor *= 10;
            digits--;
        }
        if (!words_mul_add(out, limbs, factor, chunk))
            return 0;
    }
    for (; zeros > 0; zeros--) {
        if (!words_mul_add(out, limbs, 10, 0))
            return 0;
    }
    return 1;
}

/* Nonzero when the last `count` significant digits are zeros. */
static int ends_in_zeros(const ald__number *n, size_t count)
{
    const char *p = n->sig;
    size_t kept = n->sig_digits - count;
    for (size_t i = 0; i < n->sig_digits; p++) {
        if (*p == '.')
            continue;
        if (i >= kept && *p != '0')
            return 0;
        i++;
    }
    return 1;
}

int ald__text_to_decimal(const char *text, size_t size, int precision, int scale, int limbs,
                         uint64_t *out)
{
    ald__number n;
    int64_t shift;
    size_t digits, zeros = 0;
    memset(out, 0, (size_t)limbs * sizeof *out);
    if (!ald__number_scan(text, size, &n))
        return 0;
    digits = n.sig_digits;
    if (digits == 0)
        return 1;
    shift = n.exponent + scale; /* zeros to append; negative: digits to drop, which must be zeros */
    if (shift < 0) {
        if ((uint64_t)-shift >= digits || !ends_in_zeros(&n, (size_t)-shift))
            return 0;
        digits -= (size_t)-shift;
    } else {
        if (shift > precision)
            return 0;
        zeros = (size_t)shift;
    }
    if (digits + zeros > (size_t)precision || !decimal_words(&n, digits, zeros, limbs, out))
        return 0;
    if (n.negative) {
        uint64_t carry = 1;
        for (int i = 0; i < limbs; i++) {
            out[i] = ~out[i] + carry;
            carry = carry && out[i] == 0;
        }
    }
    return 1;
}
