/* SPDX-License-Identifier: MIT */
/* The values of a tally in ascending order. Keys go back and forth between two blocks, those of value[] and of weight[], and what
 * they are joined into is written over them. */
#include "core/watermark/mark_sort.h"

#include <string.h>

#include "core/arrow/sort.h"
#include "core/base/buf.h"
#include "core/watermark/marker.h"

#define LEAST_SHARED 32768

static double value_of_key(uint64_t key)
{
    return ald__mark_double(key >> 63 ? key & (UINT64_MAX >> 1) : ~key);
}

static inline void count_digits(const uint64_t *keys, size_t count, unsigned low,
                                ald__mark_digits digits, const unsigned used)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = keys[i] >> low;
        for (unsigned d = 0; d < used; d++)
            digits[d][key >> (d * ALD__MARK_DIGIT_BITS) & (ALD__MARK_DIGIT_COUNT - 1)]++;
    }
}

/* By `used` digits of 9 bits from bit `low` up, the lowest first. A digit that all keys share costs nothing. Returns where the
 * sorted keys are. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *other, size_t count, unsigned low,
                            unsigned used, ald__mark_digits digits)
{
    memset(digits, 0, used * sizeof *digits);
    if (used == 2)
        count_digits(keys, count, low, digits, 2);
    else if (used == 3)
        count_digits(keys, count, low, digits, 3);
    for (unsigned d = 0; used > 3 && d < used; d += 4)
        count_digits(keys, count, low + d * ALD__MARK_DIGIT_BITS, digits + d, 4);
    for (unsigned d = 0; d < used; d++) {
        unsigned shift = low + d * ALD__MARK_DIGIT_BITS;
        uint32_t at = 0, *first = digits[d];
        uint64_t *swap = keys;
        if (first[keys[0] >> shift & (ALD__MARK_DIGIT_COUNT - 1)] == count)
            continue;
        for (unsigned i = 0; i < ALD__MARK_DIGIT_COUNT; i++) {
            uint32_t n = first[i];
            first[i] = at;
            at += n;
        }
        for (size_t i = 0; i < count; i++)
            other[first[keys[i] >> shift & (ALD__MARK_DIGIT_COUNT - 1)]++] = keys[i];
        keys = other;
        other = swap;
    }
    return keys;
}

/* Insertion, for what is nearly sorted; 0 when it would take more than a few moves for each key. */
static int insertion_sort(uint64_t *keys, size_t count)
{
    size_t moves = 0;
    for (size_t i = 1; i < count; i++) {
        uint64_t key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
        moves += i - at;
        if (moves > 4 * count + 64)
            return 0;
    }
    return 1;
}

static unsigned bits_of(uint64_t n)
{
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

/* The highest digits that differ put keys nearly in order. */
uint64_t *ald__mark_sort_keys(uint64_t *keys, uint64_t *other, size_t count, unsigned *used,
                              ald__mark_digits digits)
{
    uint64_t different = *used < ALD__MARK_DIGITS_MOST ? 0 : UINT64_MAX;
    unsigned high;
    for (size_t i = 0; i < count && *used < ALD__MARK_DIGITS_MOST; i++)
        different |= keys[i] ^ keys[0];
    high = bits_of(different);
    for (;;) {
        const unsigned low =
            high > *used * ALD__MARK_DIGIT_BITS ? high - *used * ALD__MARK_DIGIT_BITS : 0;
        uint64_t *near = radix_sort(keys, other, count, low, *used, digits);
        if (low == 0 || insertion_sort(near, count))
            return near;
        other = near == keys ? other : keys;
        keys = near;
        if (*used == ALD__MARK_DIGITS_MOST)
            return radix_sort(keys, other, count, 0, ALD__MARK_DIGITS, digits);
        ++*used;
    }
}

size_t ald__mark_join_keys(const uint64_t *keys, size_t begin, size_t end, ald__mark_tally *t,
                           size_t to)
{
    for (size_t i = begin; i < end; to++) {
        const uint64_t key = keys[i];
        size_t first = i++;
        while (i < end && keys[i] == key)
            i++;
        t->value[to] = value_of_key(key);
        t->weight[to] = i - first;
    }
    return to;
}

static ald_status sort_plain(ald__mark_tally *t, ald_error *err)
{
    uint64_t *keys = (uint64_t *)(void *)t->value, *other, *sorted;
    unsigned used = ALD__MARK_DIGITS_MOST;
    ald__mark_digits *digits = ald__alloc(t->alloc, sizeof *digits, err);
    if (digits == NULL)
        return ALD_E_NOMEM;
    other = ald__alloc(t->alloc, t->count * sizeof *other, err);
    if (other != NULL) {
        for (size_t i = 0; i < t->count; i++)
            keys[i] = ald__mark_sort_key(t->value[i]);
        t->weight = other;
        t->weight_capacity = t->kept = t->count;
        sorted = ald__mark_sort_keys(keys, other, t->count, &used, *digits);
        t->count = ald__mark_join_keys(sorted, 0, t->count, t, 0);
    }
    ald__release(t->alloc, digits, sizeof *digits);
    return other != NULL ? ALD_OK : ALD_E_NOMEM;
}

static ald_status sort_weighted(ald__mark_tally *t, ald_error *err)
{
    size_t to = 0, size;
    ald__pair *pairs = NULL;
    if (t->count <= SIZE_MAX / 2 / sizeof *pairs)
        pairs = ald__alloc(t->alloc, size = t->count * sizeof *pairs, err);
    if (pairs == NULL)
        return ald__no_memory(err, t->count);
    for (size_t i = 0; i < t->count; i++)
        pairs[i] = (ald__pair){ald__mark_sort_key(t->value[i]), t->weight[i]};
    ald__pairs_sort(pairs, t->count);
    for (size_t i = 0; i < t->count; i++) {
        t->kept += pairs[i].b;
        if (i > 0 && pairs[i].a == pairs[i - 1].a) {
            t->weight[to - 1] += pairs[i].b;
            continue;
        }
        t->value[to] = value_of_key(pairs[i].a);
        t->weight[to++] = pairs[i].b;
    }
    ald__release(t->alloc, pairs, size);
    t->count = to;
    return ALD_OK;
}

/* A build for one thread (ALD_ONE_THREAD) does without the others' way. */
ald_status ald__mark_tally_sort(ald__mark_tally *tally, const ald_host *host, ald_error *err)
{
    tally->is_sorted = 1;
    tally->kept = 0;
    if (tally->count == 0)
        return ALD_OK;
    if (tally->weight != NULL)
        return sort_weighted(tally, err);
#ifdef ALD_ONE_THREAD
    (void)host;
#else
    if (host != NULL && host->run_tasks != NULL && host->thread_count > 1 &&
        tally->count >= LEAST_SHARED && tally->count <= UINT32_MAX)
        return ald__mark_sort_shared(tally, host, err);
#endif
    return sort_plain(tally, err);
}
