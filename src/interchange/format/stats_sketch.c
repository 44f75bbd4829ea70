/* SPDX-License-Identifier: MIT */
/* HyperLogLog with Ertl's estimator (arXiv:1702.01284, section 4), bins that double, and a small table of values. */
#include "interchange/format/stats_sketch.h"

#include <string.h>

/* Free slots of the value table are found by linear search from the mix. */
#define COMMON_SLOTS ((size_t)ALD__COMMON_VALUES * 2)
#define COMMON_BYTES_ALL (COMMON_SLOTS * sizeof(struct ald__common_entry))
/* A file can be made so that all mixes meet in one place; the set then ends early. */
#define LONGEST_PROBE 128

uint64_t ald__mix_u64(uint64_t v)
{
    v ^= v >> 32;
    v *= 0xE9846AF9B1A615Dull;
    v ^= v >> 32;
    v *= 0xE9846AF9B1A615Dull;
    v ^= v >> 28;
    return v;
}

uint64_t ald__mix_bytes(const uint8_t *data, size_t size)
{
    uint64_t mix = ald__mix_u64(size + 0x9E3779B97F4A7C15ull), word;
    size_t i = 0;
    for (; size - i >= 8; i += 8) {
        memcpy(&word, data + i, 8);
        mix = (mix ^ word) * 0x9FB21C651E98DF25ull;
        mix ^= mix >> 29;
    }
    word = 0;
    for (; i < size; i++)
        word = word << 8 | data[i];
    return ald__mix_u64((mix ^ word) * 0x9FB21C651E98DF25ull);
}

static ald_status no_memory(size_t size, ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
}

static void *new_zeros(const ald_allocator *alloc, size_t size, ald_error *err)
{
    void *p = alloc->alloc(alloc->ctx, size);
    if (p == NULL)
        (void)no_memory(size, err);
    else
        memset(p, 0, size);
    return p;
}

static void register_add(ald__distinct *d, uint64_t mix)
{
    unsigned shift = 64u - d->precision;
    uint64_t rest = mix << d->precision;
    uint8_t rank = (uint8_t)(rest == 0 ? shift : (unsigned)__builtin_clzll(rest) + 1);
    uint8_t *r = d->registers + (mix >> shift);
    if (rank > *r)
        *r = rank;
}

static void drop_set(ald__distinct *d, const ald_allocator *alloc)
{
    if (d->set != NULL)
        alloc->release(alloc->ctx, d->set, d->capacity * sizeof *d->set);
    d->set = NULL;
    d->capacity = 0;
}

static ald_status to_registers(ald__distinct *d, const ald_allocator *alloc, ald_error *err)
{
    d->registers = new_zeros(alloc, (size_t)1 << d->precision, err);
    if (d->registers == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < d->capacity; i++) {
        if (d->set[i] != 0)
            register_add(d, d->set[i]);
    }
    drop_set(d, alloc);
    return ALD_OK;
}

/* 1: there now. 0: it was. -1: too far from its place. */
static int set_insert(ald__distinct *d, uint64_t mix)
{
    size_t mask = d->capacity - 1, at = (size_t)mix & mask;
    for (size_t probe = 0; probe < LONGEST_PROBE; probe++, at = (at + 1) & mask) {
        if (d->set[at] == mix)
            return 0;
        if (d->set[at] == 0) {
            d->set[at] = mix;
            return 1;
        }
    }
    return -1;
}

/* Half full at most. *crowded: a mix found no place, and the set is as it was. */
static ald_status set_grow(ald__distinct *d, const ald_allocator *alloc, int *crowded,
                           ald_error *err)
{
    ald__distinct bigger = *d;
    bigger.capacity = d->capacity == 0 ? 64 : d->capacity * 2;
    bigger.set = new_zeros(alloc, bigger.capacity * sizeof *bigger.set, err);
    if (bigger.set == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < d->capacity; i++) {
        if (d->set[i] != 0 && set_insert(&bigger, d->set[i]) < 0) {
            drop_set(&bigger, alloc);
            *crowded = 1;
            return ALD_OK;
        }
    }
    drop_set(d, alloc);
    *d = bigger;
    return ALD_OK;
}

ald_status ald__distinct_add(ald__distinct *d, uint64_t mix, const ald_allocator *alloc,
                             ald_error *err)
{
    ald_status status = ALD_OK;
    int added, crowded = 0;
    mix += mix == 0;
    if (d->registers == NULL) {
        if (d->count * 2 >= d->capacity)
            status = set_grow(d, alloc, &crowded, err);
        if (status != ALD_OK)
            return status;
        added = crowded ? -1 : set_insert(d, mix);
        d->count += added == 1;
        if (added >= 0 && d->count <= d->limit)
            return ALD_OK;
        status = to_registers(d, alloc, err);
        if (status != ALD_OK)
            return status;
    }
    register_add(d, mix);
    return ALD_OK;
}

/* sum of 2^(k-1) x^(2^k): what the registers that are still 0 tell. x < 1. */
static double sigma(double x)
{
    double y = 1, z = x, before;
    do {
        x *= x;
        before = z;
        z += x * y;
        y += y;
    } while (z != before);
    return z;
}

uint64_t ald__distinct_count(const ald__distinct *d)
{
    size_t m = (size_t)1 << d->precision;
    uint32_t of_rank[66] = {0};
    double z = 0;
    if (d->registers == NULL)
        return d->count;
    for (size_t i = 0; i < m; i++)
        of_rank[d->registers[i]]++;
    for (int k = 64 - d->precision; k >= 1; k--)
        z = 0.5 * (z + of_rank[k]);
    if (of_rank[0] < m)
        z += (double)m * sigma((double)of_rank[0] / (double)m);
    return (uint64_t)(0.72134752044448170368 * (double)m * (double)m / z + 0.5); /* 1 / (2 ln 2) */
}

void ald__distinct_clear(ald__distinct *d, const ald_allocator *alloc)
{
    drop_set(d, alloc);
    if (d->registers != NULL)
        alloc->release(alloc->ctx, d->registers, (size_t)1 << d->precision);
    d->registers = NULL;
}

/* ---- bins */

#define EXACT_INTEGERS 4503599627370496.0 /* 2^52: floor(v / width) is exact below */

static int64_t floor_to_int(double v)
{
    int64_t i = (int64_t)v;
    return i - ((double)i > v);
}

/* Half of `i`, towards minus infinity. */
static int64_t half_of(int64_t i)
{
    return (i - (i & 1)) / 2;
}

static void double_width(ald__bins *b)
{
    uint64_t merged[ALD_STATS_BINS] = {0};
    int64_t first = half_of(b->first);
    b->width *= 2;
    if (b->used > 1) {
        for (uint32_t i = 0; i < b->used; i++)
            merged[half_of(b->first + i) - first] += b->bins[i];
        b->used = (uint32_t)(half_of(b->first + b->used - 1) - first) + 1;
        memcpy(b->bins, merged, sizeof merged);
    }
    b->first = first;
}

static double magnitude(double v)
{
    return v < 0 ? -v : v;
}

/* The distance to the next double: no narrower bin tells values apart. */
static double spacing(double v)
{
    uint64_t bits;
    int exponent;
    double width;
    memcpy(&bits, &v, 8);
    exponent = (int)(bits >> 52 & 0x7FF);
    if (exponent <= 52) {
        bits = exponent == 0 ? 1 : (uint64_t)1 << (exponent - 1);
    } else
        bits = (uint64_t)(exponent - 52) << 52;
    memcpy(&width, &bits, 8);
    return width;
}

void ald__bins_add(ald__bins *b, double v)
{
    int64_t at, low, high;
    if (b->width == 0)
        b->width = spacing(v) * 2;
    while (magnitude(v) / b->width >= EXACT_INTEGERS)
        double_width(b);
    at = floor_to_int(v / b->width);
    for (;;) {
        low = b->used == 0 || at < b->first ? at : b->first;
        high = b->used == 0 || at > b->first + b->used - 1 ? at : b->first + b->used - 1;
        if (high - low < ALD_STATS_BINS)
            break;
        double_width(b);
        at = half_of(at);
    }
    if (b->used > 0 && low < b->first)
        memmove(b->bins + (b->first - low), b->bins, b->used * sizeof *b->bins);
    for (int64_t i = low; b->used > 0 && i < b->first; i++)
        b->bins[i - low] = 0;
    b->first = low;
    b->used = (uint32_t)(high - low) + 1;
    b->bins[at - low]++;
}

/* ---- most frequent values */

void ald__common_clear(ald__common *c, const ald_allocator *alloc)
{
    if (c->entries != NULL)
        alloc->release(alloc->ctx, c->entries, COMMON_BYTES_ALL);
    c->entries = NULL;
    c->count = 0;
}

ald_status ald__common_add(ald__common *c, uint64_t mix, const uint8_t *text, size_t size,
                           const ald_allocator *alloc, ald_error *err)
{
    size_t at = (size_t)(mix % COMMON_SLOTS);
    struct ald__common_entry *e;
    if (c->given_up)
        return ALD_OK;
    if (c->entries == NULL && (c->entries = new_zeros(alloc, COMMON_BYTES_ALL, err)) == NULL)
        return ALD_E_NOMEM;
    for (;; at = (at + 1) % COMMON_SLOTS) {
        e = c->entries + at;
        if (e->count == 0)
            break;
        if (e->mix == mix && e->size == size && memcmp(e->text, text, size) == 0) {
            e->count++;
            return ALD_OK;
        }
    }
    if (size > ALD__COMMON_BYTES || c->count == ALD__COMMON_VALUES) {
        ald__common_clear(c, alloc);
        c->given_up = 1;
        return ALD_OK;
    }
    e->mix = mix;
    e->count = 1;
    e->size = (uint8_t)size;
    memcpy(e->text, text, size);
    c->count++;
    return ALD_OK;
}

static int comes_before(const struct ald__common_entry *a, const struct ald__common_entry *b)
{
    size_t n = a->size < b->size ? a->size : b->size;
    int order;
    if (a->count != b->count)
        return a->count > b->count;
    order = memcmp(a->text, b->text, n);
    return order != 0 ? order < 0 : a->size < b->size;
}

/* Insertion: at most 256 of them. The table becomes a list. */
void ald__common_sort(ald__common *c)
{
    size_t n = 0;
    for (size_t i = 0; c->entries != NULL && i < COMMON_SLOTS; i++) {
        struct ald__common_entry e = c->entries[i];
        size_t at = n;
        if (e.count == 0)
            continue;
        n++;
        for (; at > 0 && comes_before(&e, c->entries + at - 1); at--)
            c->entries[at] = c->entries[at - 1];
        c->entries[at] = e;
    }
}
