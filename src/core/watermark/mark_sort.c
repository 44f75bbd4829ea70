/* SPDX-License-Identifier: MIT */
/* The values of a tally in ascending order.
 *
 * Keys are moved into BUCKETS of about as many each, as a sample of them says: this takes one pass over them by as many pieces as
 * threads have use for, each of which knows where its keys go. Buckets are sorted by themselves, in memory that is near, and their
 * equal keys are joined; no key is in two of them. The keys go from value[] to the block of weight[], and what they are joined into
 * is written over them. */
#include <string.h>

#include "core/arrow/sort.h"
#include "core/base/buf.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/mark_tally.h"
#include "core/watermark/marker.h"

#define DIGIT_BITS 9
#define DIGITS 8
#define DIGITS_LEAST 2 /* of keys in a bucket */
#define DIGITS_MOST 4  /* that are tried before all of them */
#define DIGIT_COUNT (1u << DIGIT_BITS)
#define BUCKETS 256      /* places to write to that have their pages at hand */
#define CELL_BITS 16
#define CELLS (1u << CELL_BITS)
#define SAMPLED 2048
#define LEAST_KEYS 32768 /* that are worth buckets */
#define PIECES_MOST 64
#define PIECES_EACH 4    /* of a thread */
#define PAGE_KEYS 512

/* Bits of a double as a number that sorts as the double does, and back. */
static uint64_t sort_key(double v)
{
    uint64_t bits = ald__mark_bits(v);
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

static double value_of_key(uint64_t key)
{
    return ald__mark_double(key >> 63 ? key & (UINT64_MAX >> 1) : ~key);
}

typedef uint32_t digit_counts[DIGITS][DIGIT_COUNT];

static inline void count_digits(const uint64_t *keys, size_t count, unsigned low,
                                digit_counts digits, const unsigned used)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = keys[i] >> low;
        for (unsigned d = 0; d < used; d++)
            digits[d][key >> (d * DIGIT_BITS) & (DIGIT_COUNT - 1)]++;
    }
}

/* By `used` digits of 9 bits from bit `low` up, the lowest first. A digit that all keys share costs nothing. Returns where the
 * sorted keys are. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *other, size_t count, unsigned low,
                            unsigned used, digit_counts digits)
{
    memset(digits, 0, used * sizeof *digits);
    if (used == 2)
        count_digits(keys, count, low, digits, 2);
    else if (used == 3)
        count_digits(keys, count, low, digits, 3);
    for (unsigned d = 0; used > 3 && d < used; d += 4)
        count_digits(keys, count, low + d * DIGIT_BITS, digits + d, 4);
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

static unsigned bits_of(uint64_t n)
{
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
}

/* The highest digits that differ put keys nearly in order: *used of them, or as many more as it takes. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, size_t count, unsigned *used,
                           digit_counts digits)
{
    uint64_t different = *used < DIGITS_MOST ? 0 : UINT64_MAX;
    unsigned high;
    for (size_t i = 0; i < count && *used < DIGITS_MOST; i++)
        different |= keys[i] ^ keys[0];
    high = bits_of(different);
    for (;;) {
        const unsigned low = high > *used * DIGIT_BITS ? high - *used * DIGIT_BITS : 0;
        uint64_t *near = radix_sort(keys, other, count, low, *used, digits);
        if (low == 0 || insertion_sort(near, count))
            return near;
        other = near == keys ? other : keys;
        keys = near;
        if (*used == DIGITS_MOST)
            return radix_sort(keys, other, count, 0, DIGITS, digits);
        ++*used;
    }
}

/* Cells of the same width, and the buckets that they are in. */
typedef struct cells {
    uint64_t least;
    unsigned shift; /* log2 of the width */
    uint8_t bucket[CELLS];
} cells;

typedef struct sorter {
    ald__mark_tally *tally;
    uint64_t *keys, *other; /* the blocks of value[] and of weight[] */
    size_t pieces;
    uint32_t begin[BUCKETS + 1]; /* of a bucket's keys */
    uint32_t first[PIECES_MOST]; /* of what a piece holds once equal values are joined */
    uint32_t end[PIECES_MOST];
    uint64_t kept[PIECES_MOST]; /* its rows */
    uint32_t counts[PIECES_MOST][BUCKETS]; /* of its keys; then where the next one goes */
    uint8_t *bucket; /* of each key */
    cells cells;
    uint64_t sample[2 * SAMPLED];
    digit_counts digits[]; /* one for each piece */
} sorter;

static size_t begin_of(const sorter *s, size_t piece)
{
    return s->tally->count / s->pieces * piece + s->tally->count % s->pieces * piece / s->pieces;
}

/* ---- into buckets */

static inline uint64_t cell_of(uint64_t key, uint64_t least, unsigned shift)
{
    const uint64_t cell = (key > least ? key - least : 0) >> shift;
    return cell < CELLS ? cell : CELLS - 1;
}

/* As many keys of the sample for each. */
static void choose_buckets(sorter *s)
{
    const size_t count = s->tally->count;
    cells *c = &s->cells;
    uint64_t *sample = s->sample;
    size_t cell = 0;
    unsigned bits, used = DIGITS_LEAST;
    for (size_t i = 0; i < SAMPLED; i++)
        sample[i] = sort_key(s->tally->value[count / SAMPLED * i]);
    sample = sort_keys(sample, sample + SAMPLED, SAMPLED, &used, s->digits[0]);
    c->least = sample[0];
    bits = bits_of(sample[SAMPLED - 1] - c->least);
    c->shift = bits > CELL_BITS ? bits - CELL_BITS : 0;
    for (size_t i = 0; i < SAMPLED; i++) {
        const size_t end = (size_t)cell_of(sample[i], c->least, c->shift) + 1;
        if (cell < end)
            memset(c->bucket + cell, (int)(i * BUCKETS / SAMPLED), end - cell);
        cell = end;
    }
    memset(c->bucket + cell, BUCKETS - 1, CELLS - cell);
}

static void count_piece(void *arg, uint32_t index)
{
    const sorter *s = arg;
    const double *value = s->tally->value;
    const uint64_t least = s->cells.least;
    const unsigned shift = s->cells.shift;
    const size_t end = begin_of(s, index + 1);
    uint32_t *counts = ((sorter *)arg)->counts[index];
    uint8_t *bucket = s->bucket;
    memset(counts, 0, BUCKETS * sizeof *counts);
    /* a page of fresh memory is cleared by one thread, and not by all when they move their keys */
    for (size_t i = begin_of(s, index); i < end; i += PAGE_KEYS)
        s->other[i] = 0;
    for (size_t i = begin_of(s, index); i < end; i++)
        bucket[i] = s->cells.bucket[cell_of(sort_key(value[i]), least, shift)];
    for (size_t i = begin_of(s, index); i < end; i++)
        counts[bucket[i]]++;
}

static void move_piece(void *arg, uint32_t index)
{
    sorter *s = arg;
    const double *value = s->tally->value;
    const uint8_t *bucket = s->bucket;
    const size_t end = begin_of(s, index + 1);
    uint32_t *to = s->counts[index];
    uint64_t *other = s->other;
    for (size_t i = begin_of(s, index); i < end; i++)
        other[to[bucket[i]]++] = sort_key(value[i]);
}

static void fill_buckets(sorter *s, const ald_host *host)
{
    uint32_t at = 0;
    choose_buckets(s);
    ald__mark_run_tasks(host, s->pieces, count_piece, s);
    for (size_t b = 0; b < BUCKETS; b++) {
        s->begin[b] = at;
        for (size_t p = 0; p < s->pieces; p++) {
            uint32_t n = s->counts[p][b];
            s->counts[p][b] = at;
            at += n;
        }
    }
    s->begin[BUCKETS] = at;
    ald__mark_run_tasks(host, s->pieces, move_piece, s);
}

/* ---- and each by itself */

/* Into value[] and weight[] from `to` on. The keys are in one of them: no more is written than was read. */
static size_t join_keys(const uint64_t *keys, size_t begin, size_t end, ald__mark_tally *t,
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

/* The buckets that begin where the piece does, and behind. */
static void sort_piece(void *arg, uint32_t index)
{
    sorter *s = arg;
    const size_t begin = begin_of(s, index), end = begin_of(s, index + 1);
    size_t b = 0, first, to;
    unsigned used = s->pieces > 1 ? DIGITS_LEAST : DIGITS_MOST;
    while (b < BUCKETS && s->begin[b] < begin)
        b++;
    first = to = s->begin[b];
    for (; b < BUCKETS && s->begin[b] < end; b++) {
        const size_t at = s->begin[b], next = s->begin[b + 1];
        if (at < next)
            to = join_keys(
                sort_keys(s->other + at, s->keys + at, next - at, &used, s->digits[index]) - at, at,
                next, s->tally, to);
    }
    s->first[index] = (uint32_t)first;
    s->end[index] = (uint32_t)to;
    s->kept[index] = s->begin[b] - first;
}

/* The joined pieces, one behind the other. */
static void close_pieces(sorter *s)
{
    ald__mark_tally *t = s->tally;
    size_t count = 0;
    for (size_t p = 0; p < s->pieces; p++) {
        size_t first = s->first[p], n = s->end[p] - first;
        t->kept += s->kept[p];
        if (count != first) {
            memmove(t->value + count, t->value + first, n * sizeof *t->value);
            memmove(t->weight + count, t->weight + first, n * sizeof *t->weight);
        }
        count += n;
    }
    t->count = count;
}

static void sort_and_join(sorter *s, const ald_host *host)
{
    if (s->pieces > 1) {
        fill_buckets(s, host);
    } else { /* all of them in the first one */
        for (size_t i = 0; i < s->tally->count; i++)
            s->other[i] = sort_key(s->tally->value[i]);
        for (size_t b = 1; b <= BUCKETS; b++)
            s->begin[b] = (uint32_t)s->tally->count;
    }
    ald__mark_run_tasks(host, s->pieces, sort_piece, s);
    close_pieces(s);
}

static size_t pieces_for(const ald_host *host, size_t count)
{
    const size_t threads = host != NULL && host->run_tasks != NULL ? host->thread_count : 1;
    if (threads < 2 || count < LEAST_KEYS)
        return 1;
    return threads < PIECES_MOST / PIECES_EACH ? threads * PIECES_EACH : PIECES_MOST;
}

static ald_status sort_plain(ald__mark_tally *t, const ald_host *host, ald_error *err)
{
    const size_t pieces = pieces_for(host, t->count), ids = pieces > 1 ? t->count : 0;
    const size_t bytes = sizeof(sorter) + pieces * sizeof(digit_counts) + ids;
    sorter *s = ald__alloc(t->alloc, bytes, err);
    if (s == NULL)
        return ALD_E_NOMEM;
    s->other = ald__alloc(t->alloc, t->count * sizeof *s->other, err);
    if (s->other != NULL) {
        s->tally = t;
        s->keys = (uint64_t *)(void *)t->value;
        s->pieces = pieces;
        s->bucket = (uint8_t *)(s->digits + pieces);
        s->begin[0] = 0;
        t->weight = s->other;
        t->weight_capacity = t->count;
        sort_and_join(s, host);
    }
    ald__release(t->alloc, s, bytes);
    return t->weight != NULL ? ALD_OK : ALD_E_NOMEM;
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
