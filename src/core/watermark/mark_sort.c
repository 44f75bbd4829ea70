/* SPDX-License-Identifier: MIT */
/* The values of a tally in ascending order.
 *
 * One thread sorts all keys where they are. More of them do so with a piece each where a sample has equal values: these are joined,
 * and what is left is merged. Otherwise keys are first moved into BUCKETS of about as many each, as the sample says; each piece knows
 * where its keys go. Buckets are then sorted by themselves, in memory that is near, and no key is in two of them. Either way keys go
 * between value[] and the block of weight[], and what they are joined into is written over them. */
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
#define BUCKETS 256 /* places to write to that have their pages at hand */
#define CELL_BITS 16
#define CELLS (1u << CELL_BITS)
#define SAMPLED 2048
#define LEAST_KEYS 32768 /* that are worth buckets */
#define PIECES_MOST 64
#define PIECES_EACH 4 /* of a thread */
#define RUNS_MOST (PIECES_MOST * PIECES_EACH)
#define EQUAL_LEAST 6 /* of a sample: then a third of the values are different, or fewer */
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

/* Values in order, without equal ones, and how many rows have them: from first[i] to end[i]. */
typedef struct runs {
    double *value;
    uint64_t *weight;
    uint32_t first[RUNS_MOST], end[RUNS_MOST];
    uint32_t packed[RUNS_MOST]; /* where a run would begin if no room was between them */
} runs;

typedef struct sorter {
    ald__mark_tally *tally;
    uint64_t *keys, *other; /* the blocks of value[] and of weight[] */
    size_t pieces;
    runs from, to;                         /* to: of merging */
    uint32_t begin[BUCKETS + 1];           /* of a bucket's keys */
    uint32_t counts[PIECES_MOST][BUCKETS]; /* of a piece's keys; then where the next one goes */
    uint8_t *bucket;                       /* of each key */
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

/* As many keys of the sample for each; returns how many of them are equal to others. */
static size_t choose_buckets(sorter *s)
{
    const size_t count = s->tally->count;
    cells *c = &s->cells;
    uint64_t *sample = s->sample;
    size_t cell = 0, equal = 0;
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
        equal += i > 0 && sample[i] == sample[i - 1];
    }
    memset(c->bucket + cell, BUCKETS - 1, CELLS - cell);
    return equal;
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
static void sort_buckets(void *arg, uint32_t index)
{
    sorter *s = arg;
    const size_t begin = begin_of(s, index), end = begin_of(s, index + 1);
    size_t b = 0, first, to;
    unsigned used = DIGITS_LEAST;
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
    s->from.first[index] = (uint32_t)first;
    s->from.end[index] = (uint32_t)to;
}

/* ---- without buckets */

/* A piece as it is. */
static void sort_run(void *arg, uint32_t index)
{
    sorter *s = arg;
    const size_t begin = begin_of(s, index), end = begin_of(s, index + 1);
    uint64_t *keys = s->keys + begin;
    unsigned used = DIGITS_MOST;
    for (size_t i = begin; i < end; i++)
        s->keys[i] = sort_key(s->tally->value[i]);
    keys = sort_keys(keys, s->other + begin, end - begin, &used, s->digits[index]);
    s->from.first[index] = (uint32_t)begin;
    s->from.end[index] = (uint32_t)join_keys(keys - begin, begin, end, s->tally, begin);
}

/* How many of the first `rank` values of a and b together are of a; what both have is not parted. *of_b: those of b. */
static size_t share_of(const double *a, size_t a_count, const double *b, size_t b_count,
                       size_t rank, size_t *of_b)
{
    size_t low = rank > b_count ? rank - b_count : 0, high = rank < a_count ? rank : a_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a[middle] < b[rank - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    *of_b = rank - low;
    return low + (low < a_count && *of_b > 0 && a[low] == b[*of_b - 1]);
}

/* A part of what two runs become. */
static void merge_part(void *arg, uint32_t index)
{
    sorter *s = arg;
    const runs *from = &s->from;
    const size_t run = index / PIECES_EACH * 2, part = index % PIECES_EACH;
    const size_t a_count = from->end[run] - from->first[run];
    const size_t b_count = from->end[run + 1] - from->first[run + 1], both = a_count + b_count;
    const double *a = from->value + from->first[run], *b = from->value + from->first[run + 1];
    const uint64_t *a_weight = from->weight + from->first[run];
    const uint64_t *b_weight = from->weight + from->first[run + 1];
    size_t j, j_end, i = share_of(a, a_count, b, b_count, both * part / PIECES_EACH, &j);
    const size_t i_end = share_of(a, a_count, b, b_count, both * (part + 1) / PIECES_EACH, &j_end);
    double *value = s->to.value + from->packed[run] + i + j;
    uint64_t *weight = s->to.weight + from->packed[run] + i + j;
    s->to.first[index] = (uint32_t)(value - s->to.value);
    while (i < i_end && j < j_end) {
        const double x = a[i], y = b[j];
        const uint64_t is_a = x <= y, is_b = y <= x;
        *value++ = is_a ? x : y;
        *weight++ = (a_weight[i] & (0 - is_a)) + (b_weight[j] & (0 - is_b));
        i += is_a;
        j += is_b;
    }
    for (; i < i_end; i++) {
        *value++ = a[i];
        *weight++ = a_weight[i];
    }
    for (; j < j_end; j++) {
        *value++ = b[j];
        *weight++ = b_weight[j];
    }
    s->to.end[index] = (uint32_t)(value - s->to.value);
}

/* Runs [first, first + count), one behind the other; returns where they end. */
static uint32_t close_up(runs *r, size_t first, size_t count)
{
    size_t to = r->first[first];
    for (size_t i = first; i < first + count; i++) {
        const size_t at = r->first[i], n = r->end[i] - at;
        if (to != at) {
            memmove(r->value + to, r->value + at, n * sizeof *r->value);
            memmove(r->weight + to, r->weight + at, n * sizeof *r->weight);
        }
        to += n;
    }
    return (uint32_t)to;
}

/* Neighbouring runs become one, until one is left. */
static void merge_runs(sorter *s, const ald_host *host)
{
    for (size_t count = s->pieces; count > 1; count /= 2) {
        runs swap;
        uint32_t at = 0;
        for (size_t i = 0; i < count; i++) {
            s->from.packed[i] = at;
            at += s->from.end[i] - s->from.first[i];
        }
        ald__mark_run_tasks(host, count / 2 * PIECES_EACH, merge_part, s);
        for (size_t i = 0; i < count / 2; i++) {
            s->to.end[i] = close_up(&s->to, i * PIECES_EACH, PIECES_EACH);
            s->to.first[i] = s->to.first[i * PIECES_EACH];
        }
        swap = s->from;
        s->from = s->to;
        s->to = swap;
    }
}

/* The tally takes the blocks that the last run is in; the others are freed. */
static void take_blocks(sorter *s, size_t room)
{
    ald__mark_tally *t = s->tally;
    if (s->from.value != t->value) {
        ald__release(t->alloc, t->value, t->capacity * sizeof(double));
        ald__release(t->alloc, t->weight, t->weight_capacity * sizeof(uint64_t));
        t->value = s->from.value;
        t->weight = s->from.weight;
        t->capacity = t->weight_capacity = room;
        return;
    }
    ald__release(t->alloc, s->to.value, room * sizeof(double));
    ald__release(t->alloc, s->to.weight, room * sizeof(uint64_t));
}

static ald_status sort_runs(sorter *s, const ald_host *host, ald_error *err)
{
    const ald_allocator *alloc = s->tally->alloc;
    size_t room = 0;
    ald__mark_run_tasks(host, s->pieces, sort_run, s);
    if (s->pieces == 1)
        return ALD_OK;
    for (size_t i = 0; i < s->pieces; i++)
        room += s->from.end[i] - s->from.first[i];
    s->to.value = ald__alloc(alloc, room * sizeof(double), err);
    s->to.weight = ald__alloc(alloc, room * sizeof(uint64_t), err);
    if (s->to.value == NULL || s->to.weight == NULL) {
        if (s->to.value != NULL)
            ald__release(alloc, s->to.value, room * sizeof(double));
        if (s->to.weight != NULL)
            ald__release(alloc, s->to.weight, room * sizeof(uint64_t));
        return ALD_E_NOMEM;
    }
    merge_runs(s, host);
    take_blocks(s, room);
    return ALD_OK;
}

/* ---- */

static ald_status sort_keys_of(sorter *s, const ald_host *host, ald_error *err)
{
    ald__mark_tally *t = s->tally;
    const int has_equal = s->pieces > 1 && choose_buckets(s) >= EQUAL_LEAST;
    s->from.value = t->value;
    s->from.weight = t->weight;
    if (s->pieces > 1 && !has_equal) {
        fill_buckets(s, host);
        ald__mark_run_tasks(host, s->pieces, sort_buckets, s);
        t->count = close_up(&s->from, 0, s->pieces);
        return ALD_OK;
    }
    if (s->pieces > 1)
        s->pieces /= PIECES_EACH;
    ALD_TRY(sort_runs(s, host, err));
    t->count = s->from.end[0];
    return ALD_OK;
}

/* A power of two. */
static size_t pieces_for(const ald_host *host, size_t count)
{
    const size_t threads = host != NULL && host->run_tasks != NULL ? host->thread_count : 1;
    size_t pieces = PIECES_EACH;
    if (threads < 2 || count < LEAST_KEYS)
        return 1;
    while (pieces < threads * PIECES_EACH && pieces < PIECES_MOST)
        pieces *= 2;
    return pieces;
}

static ald_status sort_plain(ald__mark_tally *t, const ald_host *host, ald_error *err)
{
    const size_t pieces = pieces_for(host, t->count), ids = pieces > 1 ? t->count : 0;
    const size_t bytes = sizeof(sorter) + pieces * sizeof(digit_counts) + ids;
    ald_status st = ALD_E_NOMEM;
    sorter *s = ald__alloc(t->alloc, bytes, err);
    if (s == NULL)
        return ALD_E_NOMEM;
    s->other = ald__alloc(t->alloc, t->count * sizeof *s->other, err);
    if (s->other != NULL) {
        s->tally = t;
        s->keys = (uint64_t *)(void *)t->value;
        s->pieces = pieces;
        s->bucket = (uint8_t *)(s->digits + pieces);
        t->weight = s->other;
        t->weight_capacity = t->count;
        t->kept = t->count;
        st = sort_keys_of(s, host, err);
    }
    ald__release(t->alloc, s, bytes);
    return st;
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
