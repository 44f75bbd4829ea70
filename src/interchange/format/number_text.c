/* SPDX-License-Identifier: MIT */
/* Integers two digits at a time, short fractions by one division, all other doubles by yyjson. */
#include "interchange/format/number_text.h"

#include <string.h>

#include "interchange/text/number.h"

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

static inline uint8_t *put_pair(uint8_t *p, uint32_t v)
{
    memcpy(p, digit_pairs + 2 * (size_t)v, 2);
    return p + 2;
}

static inline uint8_t *put_4(uint8_t *p, uint32_t v)
{
    return put_pair(put_pair(p, v / 100), v % 100);
}

static inline uint8_t *put_8(uint8_t *p, uint32_t v)
{
    return put_4(put_4(p, v / 10000), v % 10000);
}

/* No leading zeros; v < 10^4. */
static inline uint8_t *put_up_to_4(uint8_t *p, uint32_t v)
{
    if (v < 10) {
        *p = (uint8_t)('0' + v);
        return p + 1;
    }
    if (v < 100)
        return put_pair(p, v);
    if (v < 1000) {
        *p = (uint8_t)('0' + v / 100);
        return put_pair(p + 1, v % 100);
    }
    return put_4(p, v);
}

static inline uint8_t *put_up_to_8(uint8_t *p, uint32_t v)
{
    if (v < 10000)
        return put_up_to_4(p, v);
    return put_4(put_up_to_4(p, v / 10000), v % 10000);
}

uint8_t *ald__put_u64(uint8_t *p, uint64_t v)
{
    if (v < 100000000)
        return put_up_to_8(p, (uint32_t)v);
    if (v < 10000000000000000)
        return put_8(put_up_to_8(p, (uint32_t)(v / 100000000)), (uint32_t)(v % 100000000));
    p = put_up_to_4(p, (uint32_t)(v / 10000000000000000));
    v %= 10000000000000000;
    return put_8(put_8(p, (uint32_t)(v / 100000000)), (uint32_t)(v % 100000000));
}

uint8_t *ald__put_i64(uint8_t *p, int64_t v)
{
    if (v >= 0)
        return ald__put_u64(p, (uint64_t)v);
    *p = '-';
    return ald__put_u64(p + 1, 0 - (uint64_t)v);
}

uint8_t *ald__put_padded(uint8_t *p, uint32_t v, int width)
{
    uint8_t *end = p + width, *q = end;
    while (q - p >= 2) {
        q -= 2;
        put_pair(q, v % 100);
        v /= 100;
    }
    if (q > p)
        *p = (uint8_t)('0' + v % 10);
    return end;
}

int ald__is_finite(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return (bits >> 52 & 0x7FF) != 0x7FF;
}

static uint8_t *put_word(uint8_t *p, double v)
{
    const char *word = v != v ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
    size_t n = strlen(word);
    memcpy(p, word, n);
    return p + n;
}

/* The six digits behind a point, without the zeros at their end (one digit stays). */
static inline uint8_t *put_fraction(uint8_t *p, uint32_t micro)
{
    if (micro % 10000 == 0)
        p = put_pair(p, micro / 10000);
    else if (micro % 100 == 0)
        p = put_4(p, micro / 100);
    else
        p = put_pair(put_4(p, micro / 100), micro % 100);
    return p[-1] == '0' && p[-2] != '.' ? p - 1 : p;
}

/* Most doubles in tables are short decimals: prices, temperatures, rounded measures. When k / 10^6, correctly rounded by
 * the division, is v, then k with six decimals is a decimal of at most 15 digits that reads back as v. No two such
 * decimals read as the same double, so without its trailing zeros it is also the shortest. NULL: not such a number. */
static inline uint8_t *put_short_decimal(uint8_t *p, double v)
{
    double a = v < 0 ? -v : v, scaled = a * 1e6, off;
    uint64_t k;
    if (!(a < 999999999.0 && a >= 0.001))
        return NULL;
    k = (uint64_t)(scaled + 0.5);
    off = scaled - (double)k; /* a rounding error, or the division can be spared */
    if (off > scaled * 1e-15 || off < scaled * -1e-15 || (double)k / 1e6 != a)
        return NULL;
    if (v < 0)
        *p++ = '-';
    p = ald__put_u64(p, k / 1000000);
    *p++ = '.';
    return put_fraction(p, (uint32_t)(k % 1000000));
}

/* yyjson fills large numbers with zeros up to the point: 99999999999999980.0 for 99999999999999984. Those digits are
 * not the number's, so from 10^16 on it is written 9.999999999999998e16. `end` is behind "….0". */
static uint8_t *put_large(uint8_t *p, uint8_t *end)
{
    uint8_t *first = p + (*p == '-');
    int64_t exponent = end - first - 3;
    end -= 2;
    while (end[-1] == '0' && end - first > 1)
        end--;
    if (end - first > 1) {
        memmove(first + 2, first + 1, (size_t)(end - first - 1));
        first[1] = '.';
        end++;
    }
    *end = 'e';
    return ald__put_i64(end + 1, exponent);
}

static uint8_t *put_number(uint8_t *p, double v, int is_float)
{
    uint8_t *end = (uint8_t *)ald__shortest_digits(v, is_float, (char *)p);
    return end - p - (*p == '-') >= 19 && end[-1] == '0' && end[-2] == '.' ? put_large(p, end)
                                                                           : end;
}

uint8_t *ald__put_f64(uint8_t *p, double v)
{
    uint8_t *end = put_short_decimal(p, v);
    if (end != NULL)
        return end;
    if (!ald__is_finite(v))
        return put_word(p, v);
    return put_number(p, v, 0);
}

uint8_t *ald__put_f32(uint8_t *p, float v)
{
    if (!ald__is_finite((double)v))
        return put_word(p, (double)v);
    return put_number(p, (double)v, 1);
}

double ald__half_to_double(uint16_t half)
{
    uint64_t sign = (uint64_t)(half >> 15) << 63;
    uint32_t exponent = half >> 10 & 0x1F, fraction = half & 0x3FF;
    uint64_t bits;
    double v;
    if (exponent == 0) { /* zero and subnormals: fraction * 2^-24 */
        v = (double)fraction * (1.0 / 16777216.0);
        return sign != 0 ? -v : v;
    }
    bits = exponent == 31 ? (uint64_t)0x7FF << 52 : (uint64_t)(exponent + 1008) << 52;
    bits |= sign | (uint64_t)fraction << 42;
    memcpy(&v, &bits, 8);
    return v;
}

/* The digits of a magnitude of `count` little-endian 32-bit words, which are destroyed; "0" for zero. Up to 78 digits. */
static uint8_t *put_words(uint8_t *p, uint32_t *words, int count)
{
    uint32_t groups[9]; /* of nine digits, the lowest first: 9 * 9 >= 78 */
    int n = 0;
    while (count > 0 && words[count - 1] == 0)
        count--;
    while (count > 2) {
        uint64_t rest = 0;
        for (int i = count - 1; i >= 0; i--) {
            uint64_t part = rest << 32 | words[i];
            words[i] = (uint32_t)(part / 1000000000);
            rest = part % 1000000000;
        }
        groups[n++] = (uint32_t)rest;
        while (count > 0 && words[count - 1] == 0)
            count--;
    }
    p = ald__put_u64(p, (count > 1 ? (uint64_t)words[1] << 32 : 0) | (count > 0 ? words[0] : 0));
    while (n > 0)
        p = ald__put_padded(p, groups[--n], 9);
    return p;
}

/* Two's complement to magnitude; the return says whether it was negative. */
static int read_words(const uint8_t *le, int count, uint32_t words[8])
{
    int negative;
    uint64_t carry = 1;
    memcpy(words, le, (size_t)count * 4);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "Arrow data is read as little-endian"
#endif
    negative = words[count - 1] >> 31 != 0;
    for (int i = 0; negative && i < count; i++) {
        carry += (uint32_t)~words[i];
        words[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return negative;
}

static uint8_t *put_zeros(uint8_t *p, int32_t count)
{
    memset(p, '0', (size_t)count);
    return p + count;
}

uint8_t *ald__put_decimal(uint8_t *p, const uint8_t *le, int byte_width, int32_t scale)
{
    uint32_t words[8];
    uint8_t digits[ALD__NUMBER_BYTES * 2];
    int32_t n;
    if (read_words(le, byte_width / 4, words))
        *p++ = '-';
    n = (int32_t)(put_words(digits, words, byte_width / 4) - digits);
    if (scale > 120 || scale < -120) {
        memcpy(p, digits, (size_t)n);
        p[n] = 'e';
        return ald__put_i64(p + n + 1, -(int64_t)scale);
    }
    if (scale <= 0) {
        memcpy(p, digits, (size_t)n);
        return put_zeros(p + n, digits[0] == '0' ? 0 : -scale);
    }
    if (n <= scale) {
        *p++ = '0';
        *p++ = '.';
        p = put_zeros(p, scale - n);
        memcpy(p, digits, (size_t)n);
        return p + n;
    }
    memcpy(p, digits, (size_t)(n - scale));
    p += n - scale;
    *p++ = '.';
    memcpy(p, digits + n - scale, (size_t)scale);
    return p + scale;
}
