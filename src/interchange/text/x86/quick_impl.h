/* SPDX-License-Identifier: MIT */
/* The digits of a number with AVX2's registers: the same instructions for any number of digits, wherever the point stands.
 * Included by who has a loop for them. */
#include <immintrin.h>

#define QUICK_AVX2 __attribute__((target("avx2")))

/* Shuffles. From byte n on: those that bring n bytes to the end, with zeros before them. */
static const uint8_t quick_to_end[32] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15};
/* From byte 16 − n on, added to the places 0 to 15: those that leave out byte n. */
static const uint8_t quick_step[32] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

QUICK_AVX2 static inline __m128i quick_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* Bit i: byte i is no digit. */
QUICK_AVX2 static inline uint32_t quick_nondigits(__m128i text)
{
    __m128i low = _mm_add_epi8(text, _mm_set1_epi8(0x80 - '0')); /* digits are the lowest ten */
    return (uint32_t)_mm_movemask_epi8(_mm_cmpgt_epi8(low, _mm_set1_epi8(-128 + 9)));
}

/* The value of 16 digits, each a byte. */
QUICK_AVX2 static inline uint64_t quick_value(__m128i v)
{
    const __m128i tens = _mm_set_epi8(1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10);
    const __m128i hundreds = _mm_set_epi16(1, 100, 1, 100, 1, 100, 1, 100);
    const __m128i myriads = _mm_set_epi16(1, 10000, 1, 10000, 1, 10000, 1, 10000);
    uint64_t both;
    v = _mm_madd_epi16(_mm_maddubs_epi16(v, tens), hundreds);
    v = _mm_madd_epi16(_mm_packus_epi32(v, v), myriads);
    both = (uint64_t)_mm_cvtsi128_si64(v);
    return (both & 0xFFFFFFFFu) * 100000000 + (both >> 32);
}

/* ald__swar_decimal16 */
QUICK_AVX2 static inline uint32_t avx2_decimal16(const uint8_t *p, uint32_t size,
                                                 uint64_t *mantissa)
{
    const __m128i places = quick_load(quick_to_end + 16);
    __m128i text = quick_load(p), v = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    uint32_t other = quick_nondigits(text) & ((1u << size) - 1);
    uint32_t point = (uint32_t)__builtin_ctz(other | 1u << size);
    if ((other & (other - 1)) != 0 || (other != 0 && p[point] != '.'))
        return ALD__SWAR_NONE;
    v = _mm_shuffle_epi8(v, _mm_add_epi8(places, quick_load(quick_step + 16 - point)));
    v = _mm_shuffle_epi8(v, quick_load(quick_to_end + size - (other != 0)));
    *mantissa = quick_value(v);
    return point;
}

/* ald__swar_decimal24, but for points behind the 16th byte, which are left to a closer look. */
QUICK_AVX2 static inline int avx2_decimal24(const uint8_t *p, uint32_t size, ald__swar_decimal *out)
{
    const __m128i zero = _mm_set1_epi8('0');
    __m128i low = quick_load(p), high = quick_load(p + 16), behind;
    uint32_t other, point, rest = size - 17;
    uint64_t first;
    if (rest > 7)
        return 0;
    other = (quick_nondigits(low) | quick_nondigits(high) << 16) & ((1u << size) - 1);
    point = (uint32_t)__builtin_ctz(other | 1u << size);
    if ((other & (other - 1)) != 0 || point > 15 || p[point] != '.' || (*p == '0' && point > 1))
        return 0;
    behind = _mm_cmpeq_epi8(quick_load(quick_step + 16 - point), _mm_set1_epi8(1));
    low = _mm_blendv_epi8(low, _mm_alignr_epi8(high, low, 1), behind);
    first = quick_value(_mm_sub_epi8(low, zero));
    if (first >= ald__swar_powers[19 - rest])
        return 0; /* more than 19 significant digits */
    out->mantissa =
        first * ald__swar_powers[rest] + ald__swar_digits7(ald__swar_load8(p + 17), rest);
    out->decimals = size - 1 - point;
    out->whole = *p == '0' ? 0 : point;
    return 1;
}
