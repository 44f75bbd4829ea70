/* SPDX-License-Identifier: MIT */
/* Digits of a block of numbers: halves, pairs and single digits are split for all numbers in turn, which compilers make
 * vector code of. How many there are is a sum of comparisons: a branch would be guessed wrong every other time. */
#include "core/codec/packed/rebuild_digits.h"

#include <string.h>

#include "core/base/cpu.h"
#include "core/codec/packed/packed_lanes.h"

#define EIGHTS 100000000u /* 10^8 */
#define ZEROS 0x3030303030303030ull

/* Or more, below the next power of two. */
ALD__BODY uint64_t largest_number(const uint64_t *v, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= v[i];
    return all;
}

/* Four digits of each v < 10^4: a number in two pairs, a pair in two digits. */
ALD__BODY void split_fours(const uint16_t *v, size_t n, uint32_t *out)
{
    uint16_t pairs[4 * ALD__DIGITS_BLOCK];
    for (size_t i = 0; i < n; i++) {
        uint16_t high = (uint16_t)((uint16_t)((uint32_t)v[i] * 5243u >> 16) >> 3);
        pairs[2 * i] = high;
        pairs[2 * i + 1] = (uint16_t)(v[i] - high * 100u);
    }
    for (size_t i = 0; i < 2 * n; i++) {
        uint16_t high = (uint16_t)((uint16_t)(pairs[i] * 103u) >> 10);
        uint16_t low = (uint16_t)(pairs[i] - high * 10u);
        pairs[i] = (uint16_t)(0x3030u | high | (unsigned)low << 8);
    }
    memcpy(out, pairs, n * sizeof *out);
}

ALD__BODY uint8_t count_short(uint32_t v)
{
    return (uint8_t)(1 + (v > 9) + (v > 99) + (v > 999) + (v > 9999) + (v > 99999) + (v > 999999) +
                     (v > 9999999));
}

ALD__BODY void format_fours(ald__digits *d, size_t n)
{
    uint16_t v[ALD__DIGITS_BLOCK] = {0};
    uint32_t text[ALD__DIGITS_BLOCK];
    for (size_t i = 0; i < n; i++)
        v[i] = (uint16_t)d->text[i];
    split_fours(v, n, text);
    for (size_t i = 0; i < n; i++)
        d->text[i] = 0x30303030u | (uint64_t)text[i] << 32;
    for (size_t i = 0; i < n; i++)
        d->count[i] = (uint8_t)(1 + (v[i] > 9) + (v[i] > 99) + (v[i] > 999));
}

/* Eight digits of each v < 10^8. */
ALD__BODY void split_eights(const uint32_t *v, size_t n, uint64_t *out)
{
    uint16_t fours[2 * ALD__DIGITS_BLOCK] = {0};
    for (size_t i = 0; i < n; i++) {
        uint32_t high = v[i] / 10000;
        fours[2 * i] = (uint16_t)high;
        fours[2 * i + 1] = (uint16_t)(v[i] - high * 10000);
    }
    split_fours(fours, 2 * n, (uint32_t *)(void *)out);
}

ALD__BODY void format_eights(ald__digits *d, size_t n)
{
    uint32_t v[ALD__DIGITS_BLOCK];
    for (size_t i = 0; i < n; i++)
        v[i] = (uint32_t)d->text[i];
    split_eights(v, n, d->text);
    for (size_t i = 0; i < n; i++)
        d->count[i] = count_short(v[i]);
}

/* A number of any size in eights. */
ALD__BODY uint16_t cut_number(uint64_t v, uint32_t *low, uint32_t *high)
{
    uint64_t rest = v / EIGHTS, top = rest / EIGHTS;
    *low = (uint32_t)(v - rest * EIGHTS);
    *high = (uint32_t)(rest - top * EIGHTS);
    return (uint16_t)top;
}

static uint8_t count_long(uint32_t low, uint32_t high, uint32_t top)
{
    if (top > 0)
        return (uint8_t)(16 + count_short(top));
    return (uint8_t)(high > 0 ? 8 + count_short(high) : count_short(low));
}

ALD__BODY void format_longs(ald__digits *d, size_t n)
{
    uint32_t low[ALD__DIGITS_BLOCK], high[ALD__DIGITS_BLOCK], tops = 0;
    low[0] = high[0] = 0; /* n is not 0, which gcc 12 cannot see everywhere */
    for (size_t i = 0; i < n; i++)
        tops |= d->top[i] = cut_number(d->text[i], &low[i], &high[i]);
    split_eights(low, n, d->text);
    split_eights(high, n, d->high);
    for (size_t i = 0; i < n; i++)
        d->count[i] = (uint8_t)(high[i] > 0 ? 8 + count_short(high[i]) : count_short(low[i]));
    for (size_t i = 0; i < n && tops > 0; i++)
        d->count[i] = d->top[i] > 0 ? count_long(low[i], high[i], d->top[i]) : d->count[i];
}

/* Eight digits of one v < 10^8: halves, pairs and digits split side by side in one word. */
static uint64_t eight_digits(uint32_t v)
{
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, q;
    q = ((x * 10486) >> 20) & 0x0000007F0000007Full;
    x = q | (x - q * 100) << 16;
    q = ((x * 103) >> 10) & 0x000F000F000F000Full;
    x = q | (x - q * 10) << 8;
    return x | ZEROS;
}

/* One after the other. */
static void format_each(ald__digits *d, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t low, high;
        d->top[i] = cut_number(d->text[i], &low, &high);
        d->text[i] = eight_digits(low);
        d->high[i] = eight_digits(high);
        d->count[i] = count_long(low, high, d->top[i]);
    }
}

ALD__BODY void ald__digits_format_body(ald__digits *d, size_t n)
{
    uint64_t largest = largest_number(d->text, n);
    d->is_long = !ALD__FOR_SPEED || largest >= 1u << 26;
    if (!ALD__FOR_SPEED)
        format_each(d, n);
    else if (largest < 8192) /* a power of two below 10^4, and below 10^8 */
        format_fours(d, n);
    else if (!d->is_long)
        format_eights(d, n);
    else
        format_longs(d, n);
}

ALD__VARIANTS(, ald__digits_format, (ald__digits * d, size_t n), (d, n))

/* From the front: each piece writes over what the one before left too much. */
void ald__digits_put_long(uint8_t *to, const ald__digits *d, size_t i, size_t digits)
{
    uint64_t high = d->is_long ? d->high[i] : ZEROS;
    if (digits > 16) {
        uint64_t top = d->is_long ? eight_digits(d->top[i]) : ZEROS;
        ald__store_le64(to, top >> (8 * (24 - digits)));
        ald__store_le64(to + digits - 16, high);
    } else {
        ald__store_le64(to, high >> ((128 - 8 * digits) & 63));
    }
    ald__store_le64(to + digits - 8, d->text[i]);
}
