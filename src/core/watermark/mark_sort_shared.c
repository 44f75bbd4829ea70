/* SPDX-License-Identifier: MIT */
/* The values of a tally in ascending order, by several threads.
 *
 * Where a sample has equal values, each thread sorts a piece, equal values are joined, and what is left is merged. Otherwise keys are
 * first moved into BUCKETS of about as many each, as the sample says; each piece knows where its keys go. Buckets are then sorted by
 * themselves, in memory that is near, and no key is in two of them. */
#include <string.h>

#include "core/base/buf.h"
#include "core/watermark/mark_sort.h"
#include "core/watermark/marker.h"

#define DIGITS_LEAST 2 /* of keys in a bucket */
#define BUCKETS 256    /* places to write to that have their pages at hand */
#define CELL_BITS 16
#define CELLS (1u << CELL_BITS)
#define SAMPLED 2048
#define PIECES_MOST 64
#define PIECES_EACH 4      /* of a thread */
#define EQUAL_LEAST 6      /* of a sample: then a third of the values are different, or fewer */
#define LEAST_COPIED 65536 /* values that are worth threads */
#define PAGE_KEYS 512

static unsigned bits_of_range(uint64_t n)
{
    return n == 0 ? 0 : 64 - (unsigned)__builtin_clzll(n);
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
    uint32_t first[PIECES_MOST], end[PIECES_MOST];
    uint32_t packed[PIECES_MOST]; /* where a run would begin if no room was between them */
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
    uint64_t *sample, room[2 * SAMPLED];
    ald__mark_digits digits[]; /* one for each piece */
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

/* Returns how many keys of the sample, which is sorted then, are equal to others. */
static size_t take_sample(sorter *s)
{
    const size_t step = s->tally->count / SAMPLED;
    uint64_t *keys = s->room;
    size_t equal = 0;
    unsigned used = DIGITS_LEAST;
    for (size_t i = 0; i < SAMPLED; i++)
        keys[i] = ald__mark_sort_key(s->tally->value[step * i]);
    s->sample = ald__mark_sort_keys(keys, keys + SAMPLED, SAMPLED, &used, s->digits[0]);
    for (size_t i = 1; i < SAMPLED; i++)
        equal += s->sample[i] == s->sample[i - 1];
    return equal;
}

/* As many keys of the sample for each. */
static void choose_buckets(sorter *s)
{
    cells *c = &s->cells;
    const uint64_t least = s->sample[0];
    const unsigned bits = bits_of_range(s->sample[SAMPLED - 1] - least);
    size_t cell = 0;
    c->least = least;
    c->shift = bits > CELL_BITS ? bits - CELL_BITS : 0;
    for (size_t i = 0; i < SAMPLED; i++) {
        const size_t end = (size_t)cell_of(s->sample[i], least, c->shift) + 1;
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
        bucket[i] = s->cells.bucket[cell_of(ald__mark_sort_key(value[i]), least, shift)];
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
        other[to[bucket[i]]++] = ald__mark_sort_key(value[i]);
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
            to = ald__mark_join_keys(ald__mark_sort_keys(s->other + at, s->keys + at, next - at,
                                                         &used, s->digits[index]) -
                                         at,
                                     at, next, s->tally, to);
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
    unsigned used = ALD__MARK_DIGITS_MOST;
    for (size_t i = begin; i < end; i++)
        s->keys[i] = ald__mark_sort_key(s->tally->value[i]);
    keys = ald__mark_sort_keys(keys, s->other + begin, end - begin, &used, s->digits[index]);
    s->from.first[index] = (uint32_t)begin;
    s->from.end[index] = (uint32_t)ald__mark_join_keys(keys - begin, begin, end, s->tally, begin);
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

/* Runs one behind the other; returns where the last one ends. */
static uint32_t close_up(runs *r, size_t count)
{
    size_t to = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t at = r->first[i], n = r->end[i] - at;
        if (to != at) {
            memmove(r->value + to, r->value + at, n * sizeof *r->value);
            memmove(r->weight + to, r->weight + at, n * sizeof *r->weight);
        }
        to += n;
    }
    return (uint32_t)to;
}

/* A merged part, back to where it came from. */
static void copy_part(void *arg, uint32_t index)
{
    const sorter *s = arg;
    const size_t at = s->to.first[index], n = s->to.end[index] - at, to = s->to.packed[index];
    memcpy(s->from.value + to, s->to.value + at, n * sizeof *s->to.value);
    memcpy(s->from.weight + to, s->to.weight + at, n * sizeof *s->to.weight);
}

/* Where each of some runs would begin if no room was between them; returns how much they hold. */
static uint32_t pack_runs(runs *r, size_t count)
{
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        r->packed[i] = at;
        at += r->end[i] - r->first[i];
    }
    return at;
}

/* Neighbouring runs become one, until one is left. */
static void merge_runs(sorter *s, const ald_host *host)
{
    for (size_t count = s->pieces; count > 1; count /= 2) {
        const size_t parts = count / 2 * PIECES_EACH;
        uint32_t all;
        (void)pack_runs(&s->from, count);
        ald__mark_run_tasks(host, parts, merge_part, s);
        all = pack_runs(&s->to, parts);
        ald__mark_run_tasks(all >= LEAST_COPIED ? host : NULL, parts, copy_part, s);
        for (size_t i = 0; i < count / 2; i++) {
            s->from.first[i] = s->to.packed[i * PIECES_EACH];
            s->from.end[i] = i + 1 < count / 2 ? s->to.packed[(i + 1) * PIECES_EACH] : all;
        }
    }
}

static ald_status sort_runs(sorter *s, const ald_host *host, ald_error *err)
{
    const ald_allocator *alloc = s->tally->alloc;
    size_t bytes;
    ald__mark_run_tasks(host, s->pieces, sort_run, s);
    bytes = pack_runs(&s->from, s->pieces) * sizeof(double);
    s->to.value = ald__alloc(alloc, bytes, err);
    s->to.weight = ald__alloc(alloc, bytes, err);
    if (s->to.value != NULL && s->to.weight != NULL)
        merge_runs(s, host);
    if (s->to.value != NULL)
        ald__release(alloc, s->to.value, bytes);
    if (s->to.weight != NULL)
        ald__release(alloc, s->to.weight, bytes);
    return s->to.value != NULL && s->to.weight != NULL ? ALD_OK : ALD_E_NOMEM;
}

static ald_status sort_in_pieces(sorter *s, const ald_host *host, ald_error *err)
{
    ald__mark_tally *t = s->tally;
    s->from.value = t->value;
    s->from.weight = t->weight;
    if (take_sample(s) < EQUAL_LEAST) {
        choose_buckets(s);
        fill_buckets(s, host);
        ald__mark_run_tasks(host, s->pieces, sort_buckets, s);
        t->count = close_up(&s->from, s->pieces);
        return ALD_OK;
    }
    s->pieces /= PIECES_EACH;
    ALD_TRY(sort_runs(s, host, err));
    t->count = s->from.end[0];
    return ALD_OK;
}

ald_status ald__mark_sort_shared(ald__mark_tally *t, const ald_host *host, ald_error *err)
{
    size_t pieces = PIECES_EACH, bytes;
    ald_status st = ALD_E_NOMEM;
    sorter *s;
    while (pieces < host->thread_count * PIECES_EACH && pieces < PIECES_MOST)
        pieces *= 2; /* a power of two */
    bytes = sizeof *s + pieces * sizeof(ald__mark_digits) + t->count;
    s = ald__alloc(t->alloc, bytes, err);
    if (s == NULL)
        return ALD_E_NOMEM;
    s->other = ald__alloc(t->alloc, t->count * sizeof *s->other, err);
    if (s->other != NULL) {
        s->tally = t;
        s->keys = (uint64_t *)(void *)t->value;
        s->pieces = pieces;
        s->bucket = (uint8_t *)(s->digits + pieces);
        t->weight = s->other;
        t->weight_capacity = t->kept = t->count;
        st = sort_in_pieces(s, host, err);
    }
    ald__release(t->alloc, s, bytes);
    return st;
}
