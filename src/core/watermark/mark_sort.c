/* SPDX-License-Identifier: MIT */
/* The values of a tally in ascending order.
 *
 * A long tally is cut into as many pieces as there are threads, a power of two. Each piece is sorted, then pairs of neighbours are
 * merged until one is left; each thread makes its part of what a merge yields. The keys go back and forth between two blocks,
 * those of value[] and of weight[], and what they are joined into is written over them. */
#include <string.h>

#include "core/arrow/sort.h"
#include "core/base/buf.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/mark_tally.h"
#include "core/watermark/marker.h"

#define DIGIT_BITS 9
#define DIGITS 8
#define DIGIT_COUNT (1u << DIGIT_BITS)
#define SHORT_KEY_LOW (64 - 4 * DIGIT_BITS)
#define LEAST_PIECE 32768
#define PIECES_MOST 64

/* Bits of a double as a number that sorts as the double does, and back. */
static uint64_t sort_key(double v)
{
    uint64_t bits = ald__mark_bits(v);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of_key(uint64_t key)
{
    return ald__mark_double(key >> 63 ? key & (UINT64_MAX >> 1) : ~key);
}

/* By digits of 9 bits from bit `low` on, the lowest first: 512 places to write to have their pages at hand. A digit that all keys
 * share costs nothing. Returns where the sorted keys are. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *other, size_t count, unsigned low,
                            uint32_t (*digits)[DIGIT_COUNT])
{
    const unsigned used = (64 - low + DIGIT_BITS - 1) / DIGIT_BITS;
    memset(digits, 0, used * sizeof *digits);
    for (size_t i = 0; i < count; i++) {
        uint64_t key = keys[i] >> low;
        for (unsigned d = 0; d < used; d++)
            digits[d][key >> (d * DIGIT_BITS) & (DIGIT_COUNT - 1)]++;
    }
    for (unsigned d = 0; d < used; d++) {
        unsigned shift = low + d * DIGIT_BITS;
        uint32_t at = 0, *first = digits[d];
        uint64_t *swap = keys;
        if (first[keys[0] >> shift & (DIGIT_COUNT - 1)] == count)
            continue;
        for (unsigned i = 0; i < DIGIT_COUNT; i++) {
            uint32_t n = first[i];
            first[i] = at;
            at += n;
        }
        for (size_t i = 0; i < count; i++)
            other[first[keys[i] >> shift & (DIGIT_COUNT - 1)]++] = keys[i];
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

/* Half of the digits put numbers of any precision nearly in order. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, size_t count,
                           uint32_t (*digits)[DIGIT_COUNT])
{
    uint64_t *near = radix_sort(keys, other, count, SHORT_KEY_LOW, digits);
    if (insertion_sort(near, count))
        return near;
    return radix_sort(near, near == keys ? other : keys, count, 0, digits);
}

typedef struct sorter {
    ald__mark_tally *tally;
    uint64_t *from, *to;        /* value[] itself and the block of the weights, in turns */
    size_t pieces, width;       /* width: pieces of one side of a merge */
    size_t end[PIECES_MOST];    /* of what a piece holds once equal values are joined */
    uint64_t kept[PIECES_MOST]; /* its rows */
    uint32_t (*digits)[DIGITS][DIGIT_COUNT];
} sorter;

static size_t begin_of(const sorter *s, size_t piece)
{
    return s->tally->count / s->pieces * piece + s->tally->count % s->pieces * piece / s->pieces;
}

static void sort_piece(void *arg, uint32_t index)
{
    sorter *s = arg;
    const size_t begin = begin_of(s, index), count = begin_of(s, index + 1) - begin;
    uint64_t *keys = s->from + begin, *sorted;
    for (size_t i = 0; i < count; i++)
        keys[i] = sort_key(s->tally->value[begin + i]);
    sorted = sort_keys(keys, s->to + begin, count, s->digits[index]);
    if (sorted != keys)
        memcpy(keys, sorted, count * sizeof *keys);
}

/* How many of the first `rank` keys of a and b together are of a. */
static size_t share_of(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                       size_t rank)
{
    size_t low = rank > b_count ? rank - b_count : 0, high = rank < a_count ? rank : a_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a[middle] < b[rank - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of the merged keys that lies where piece `index` does. No branch depends on the keys. */
static void merge_piece(void *arg, uint32_t index)
{
    const sorter *s = arg;
    const size_t group = index / (2 * s->width) * 2 * s->width;
    const size_t first = begin_of(s, group), middle = begin_of(s, group + s->width);
    const size_t last = begin_of(s, group + 2 * s->width);
    const uint64_t *a = s->from + first, *b = s->from + middle;
    const size_t a_count = middle - first, b_count = last - middle;
    const size_t end = begin_of(s, index + 1) - first;
    size_t at = begin_of(s, index) - first, i = share_of(a, a_count, b, b_count, at), j = at - i;
    uint64_t *to = s->to + first;
    for (; at < end && i < a_count && j < b_count; at++) {
        const uint64_t x = a[i], y = b[j];
        const size_t is_a = x <= y;
        to[at] = is_a ? x : y;
        i += is_a;
        j += !is_a;
    }
    if (at < end && i < a_count)
        memcpy(to + at, a + i, (end - at) * sizeof *to);
    else if (at < end)
        memcpy(to + at, b + j, (end - at) * sizeof *to);
}

/* Into value[] and weight[], each piece by itself. The keys are in one of them: no more is written than was read. */
static void join_piece(void *arg, uint32_t index)
{
    sorter *s = arg;
    ald__mark_tally *t = s->tally;
    const uint64_t *keys = s->from;
    const size_t end = begin_of(s, index + 1);
    size_t i = begin_of(s, index), to = i;
    uint64_t kept = 0;
    while (i < end) {
        uint64_t key = keys[i], rows = 0;
        for (; i < end && keys[i] == key; i++)
            rows++;
        t->value[to] = value_of_key(key);
        t->weight[to++] = rows;
        kept += rows;
    }
    s->end[index] = to;
    s->kept[index] = kept;
}

/* The joined pieces, one behind the other. The same value may end one and begin the next. */
static void close_pieces(sorter *s)
{
    ald__mark_tally *t = s->tally;
    size_t count = 0;
    for (size_t p = 0; p < s->pieces; p++) {
        size_t begin = begin_of(s, p), n = s->end[p] - begin;
        t->kept += s->kept[p];
        if (n > 0 && count > 0 && sort_key(t->value[begin]) == sort_key(t->value[count - 1])) {
            t->weight[count - 1] += t->weight[begin];
            begin++;
            n--;
        }
        if (count != begin) {
            memmove(t->value + count, t->value + begin, n * sizeof *t->value);
            memmove(t->weight + count, t->weight + begin, n * sizeof *t->weight);
        }
        count += n;
    }
    t->count = count;
}

static void sort_and_join(sorter *s, const ald_host *host)
{
    ald__mark_run_tasks(host, s->pieces, sort_piece, s);
    for (s->width = 1; s->width < s->pieces; s->width *= 2) {
        uint64_t *swap = s->from;
        ald__mark_run_tasks(host, s->pieces, merge_piece, s);
        s->from = s->to;
        s->to = swap;
    }
    ald__mark_run_tasks(host, s->pieces, join_piece, s);
    close_pieces(s);
}

static size_t pieces_for(const ald_host *host, size_t count)
{
    const size_t threads = host != NULL && host->run_tasks != NULL ? host->thread_count : 1;
    size_t pieces = 1;
    while (pieces * 2 <= threads && pieces < PIECES_MOST && count / (pieces * 2) >= LEAST_PIECE)
        pieces *= 2;
    return pieces;
}

static ald_status sort_plain(ald__mark_tally *t, const ald_host *host, ald_error *err)
{
    const size_t pieces = pieces_for(host, t->count);
    sorter s = {t, (uint64_t *)(void *)t->value, NULL, pieces, 0, {0}, {0}, NULL};
    const size_t digit_bytes = pieces * sizeof *s.digits;
    s.digits = ald__alloc(t->alloc, digit_bytes, err);
    if (s.digits == NULL)
        return ALD_E_NOMEM;
    s.to = ald__alloc(t->alloc, t->count * sizeof *s.to, err);
    if (s.to == NULL) {
        ald__release(t->alloc, s.digits, digit_bytes);
        return ALD_E_NOMEM;
    }
    t->weight = s.to;
    t->weight_capacity = t->count;
    sort_and_join(&s, host);
    ald__release(t->alloc, s.digits, digit_bytes);
    return ALD_OK;
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
        pairs[i] = (ald__pair){sort_key(t->value[i]), t->weight[i]};
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

ald_status ald__mark_tally_sort(ald__mark_tally *tally, const ald_host *host, ald_error *err)
{
    tally->is_sorted = 1;
    tally->kept = 0;
    if (tally->count == 0)
        return ALD_OK;
    return tally->weight != NULL ? sort_weighted(tally, err) : sort_plain(tally, host, err);
}
