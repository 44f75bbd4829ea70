/* SPDX-License-Identifier: MIT */
#include "core/watermark/row_bits.h"

#include <string.h>

#include "core/watermark/mark_math.h"

#define LEAST_PAIRS 20
#define LEAST_ROWS 640

enum { BIT_DOUBLE, BIT_FLOAT, BIT_FINITE, BIT_FULL };
enum { PAIRS, EQUAL, PAIRS_FULL = 3, EQUAL_FULL, FIRST_ONES = 6, SECOND_ONES = 8 };

unsigned ald__row_bits_lag(size_t index)
{
    static const uint16_t powers[4] = {128, 256, 512, 1024};
    static const uint8_t around[14] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64};
    if (index < 64)
        return (unsigned)index + 1;
    if (index < ALD__LAGS_SCORED)
        return powers[index - 64];
    index -= ALD__LAGS_SCORED;
    return index % 2 == 0 ? 256u + around[index / 2] : 256u - around[index / 2];
}

/* The bits of the rows that are `lag` before those of word `word`. */
static uint64_t earlier(const ald__row_bits *b, uint64_t word, unsigned lag, int bit)
{
    uint64_t back = lag / 64, high, low;
    unsigned shift = lag % 64;
    high = word >= back ? b->ring[(word - back) % ALD__LAG_WORDS][bit] : 0;
    if (shift == 0)
        return high;
    low = word >= back + 1 ? b->ring[(word - back - 1) % ALD__LAG_WORDS][bit] : 0;
    return high << shift | low >> (64 - shift);
}

static void take_word(ald__row_bits *b)
{
    uint64_t word = (b->rows - 1) / 64;
    memcpy(b->ring[word % ALD__LAG_WORDS], b->now, sizeof b->now);
    if (word < ALD_LSB_MAP_WORDS)
        memcpy(b->first[word], b->now, sizeof b->first[word]);
    memset(b->now, 0, sizeof b->now);
    const uint64_t *now = b->ring[word % ALD__LAG_WORDS];
    for (size_t i = 0; i < ALD__LAGS; i++) {
        unsigned lag = ald__row_bits_lag(i);
        uint64_t *sums = b->sums[i];
        uint64_t pair = now[BIT_FINITE] & earlier(b, word, lag, BIT_FINITE);
        uint64_t full = now[BIT_FULL] & earlier(b, word, lag, BIT_FULL);
        sums[PAIRS] += (uint64_t)__builtin_popcountll(pair);
        sums[PAIRS_FULL] += (uint64_t)__builtin_popcountll(full);
        for (int p = 0; p < 2; p++) {
            uint64_t before = earlier(b, word, lag, p), equal = ~(now[p] ^ before);
            sums[EQUAL + p] += (uint64_t)__builtin_popcountll(equal & pair);
            sums[EQUAL_FULL + p] += (uint64_t)__builtin_popcountll(equal & full);
            sums[FIRST_ONES + p] += (uint64_t)__builtin_popcountll(before & full);
            sums[SECOND_ONES + p] += (uint64_t)__builtin_popcountll(now[p] & full);
        }
    }
    b->full += (uint64_t)__builtin_popcountll(now[BIT_FULL]);
    for (int p = 0; p < 2; p++)
        b->ones[p] += (uint64_t)__builtin_popcountll(now[p] & now[BIT_FULL]);
}

void ald__row_bits_add(ald__row_bits *b, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned at = (unsigned)(b->rows % 64);
        uint64_t bits = ald__mark_bits(values[i]);
        float f = (float)values[i];
        uint32_t half;
        memcpy(&half, &f, sizeof half);
        b->now[BIT_DOUBLE] |= (bits & 1) << at;
        b->now[BIT_FLOAT] |= (uint64_t)(half & 1) << at;
        b->now[BIT_FINITE] |= (uint64_t)((bits >> 52 & 0x7ff) != 0x7ff) << at;
        b->now[BIT_FULL] |= (uint64_t)ald__mark_usable(values[i]) << at;
        b->rows++;
        if (at == 63)
            take_word(b);
    }
}

void ald__row_bits_end(ald__row_bits *b)
{
    if (b->rows % 64 != 0)
        take_word(b);
}

static int is_in_reach(const ald__row_bits *b, size_t index)
{
    return ald__row_bits_lag(index) <= b->rows / 2;
}

double ald__row_bits_plain(const ald__row_bits *b, size_t index, int pattern, uint64_t *pairs)
{
    const uint64_t *sums = b->sums[index];
    *pairs = is_in_reach(b, index) && sums[PAIRS] >= LEAST_PAIRS ? sums[PAIRS] : 0;
    return *pairs == 0 ? 0 : 2 * (double)sums[EQUAL + pattern] / (double)sums[PAIRS] - 1;
}

double ald__row_bits_centered(const ald__row_bits *b, size_t index, int pattern, uint64_t *pairs)
{
    const uint64_t *sums = b->sums[index];
    double n = (double)sums[PAIRS_FULL], mean, product, first, second, variance;
    *pairs = is_in_reach(b, index) && sums[PAIRS_FULL] >= LEAST_PAIRS ? sums[PAIRS_FULL] : 0;
    if (*pairs == 0 || b->full == 0)
        return 0;
    mean = 2 * (double)b->ones[pattern] / (double)b->full - 1;
    product = 2 * (double)sums[EQUAL_FULL + pattern] / n - 1;
    first = 2 * (double)sums[FIRST_ONES + pattern] / n - 1;
    second = 2 * (double)sums[SECOND_ONES + pattern] / n - 1;
    variance = 1 - mean * mean;
    return variance > 1e-9 ? (product - mean * (first + second) + mean * mean) / variance : 0;
}

double ald__row_bits_peak(const ald__row_bits *b, int pattern)
{
    uint64_t pairs;
    double peak = ald__row_bits_plain(b, 65, pattern, &pairs), most = 0;
    if (b->rows < LEAST_ROWS)
        return 0;
    for (size_t i = ALD__LAGS_SCORED; i < ALD__LAGS; i++) {
        double r = ald__mark_abs(ald__row_bits_plain(b, i, pattern, &pairs));
        most = r > most ? r : most;
    }
    return peak - most;
}
