/* SPDX-License-Identifier: MIT */
/* A fixed number of slots. Whoever works on a slot takes its pointer out by an atomic exchange that leaves a mark, and puts
 * a pointer back: a few dozen instructions later, so others try again for a moment, and then do without the slot. Nobody
 * ever waits for good: not for a thread that was stopped in between, and not for one that a fork left behind.
 *
 * Keys and times of use stand beside the pointers as hints, to be read without taking the slot. */
#include "core/dataset/chunk_cache.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"

#define SLOTS 256u
#define TRIES 2000 /* a slot is held for less than a hundred nanoseconds */
#define EVICT_TRIES (2 * (int)SLOTS)

struct ald__cached {
    ald_allocator alloc;
    atomic_size_t count;
    uint64_t chunk;
    size_t bytes;
    struct ArrowArray array;
    size_t column_count; /* 0: all columns */
    uint8_t columns[];
};

typedef struct slot {
    _Atomic(ald__cached *) entry; /* NULL, an entry, or `taken` */
    atomic_size_t key;            /* chunk + 1; 0: empty */
    atomic_size_t used;           /* time of the last use */
} slot;

struct ald__chunk_cache {
    ald_allocator alloc;
    size_t budget;
    atomic_size_t bytes, clock;
    slot slots[SLOTS];
};

/* The mark of a slot that somebody works on: an address that no entry has. */
static ald__cached *taken_mark(ald__chunk_cache *cache)
{
    return (ald__cached *)(void *)cache;
}

/* ---- entries */

ald_status ald__cached_new(const ald_allocator *alloc, uint64_t chunk, const uint8_t *columns,
                           size_t column_count, uint64_t bytes, struct ArrowArray *array,
                           ald__cached **out, ald_error *err)
{
    size_t count = columns != NULL ? column_count : 0;
    ald__cached *c = ald__alloc_zero(alloc, sizeof *c + count, err);
    *out = c;
    if (c == NULL) {
        array->release(array);
        return ALD_E_NOMEM;
    }
    c->alloc = *alloc;
    atomic_init(&c->count, 1);
    c->chunk = chunk;
    if (!ald__to_size(bytes, &c->bytes))
        c->bytes = SIZE_MAX / 2;
    c->array = *array;
    array->release = NULL;
    c->column_count = count;
    for (size_t i = 0; i < count; i++)
        c->columns[i] = columns[i] != 0;
    return ALD_OK;
}

const struct ArrowArray *ald__cached_array(const ald__cached *cached)
{
    return &cached->array;
}

static void cached_ref(ald__cached *c)
{
    (void)atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
}

void ald__cached_unref(ald__cached *c)
{
    ald_allocator alloc;
    if (c == NULL || atomic_fetch_sub_explicit(&c->count, 1, memory_order_acq_rel) != 1)
        return;
    alloc = c->alloc;
    c->array.release(&c->array);
    ald__release(&alloc, c, sizeof *c + c->column_count);
}

static int has_columns(const ald__cached *c, const uint8_t *columns, size_t count)
{
    if (columns == NULL || c->column_count == 0)
        return columns == NULL && c->column_count == 0;
    for (size_t i = 0; i < count; i++) {
        if (c->columns[i] != (columns[i] != 0))
            return 0;
    }
    return 1;
}

/* ---- slots */

/* The slot's entry or NULL in *out, the slot being ours until slot_put; 0: it could not be had. */
static int slot_take(ald__chunk_cache *cache, slot *s, ald__cached **out)
{
    for (int i = 0; i < TRIES; i++) {
        *out = atomic_exchange_explicit(&s->entry, taken_mark(cache), memory_order_acquire);
        if (*out != taken_mark(cache))
            return 1;
    }
    return 0;
}

static void slot_put(slot *s, ald__cached *c)
{
    atomic_store_explicit(&s->key, c != NULL ? (size_t)c->chunk + 1 : 0, memory_order_relaxed);
    atomic_store_explicit(&s->entry, c, memory_order_release);
}

static void slot_touch(ald__chunk_cache *cache, slot *s)
{
    atomic_store_explicit(&s->used,
                          atomic_fetch_add_explicit(&cache->clock, 1, memory_order_relaxed),
                          memory_order_relaxed);
}

static size_t slot_key(slot *s)
{
    return atomic_load_explicit(&s->key, memory_order_relaxed);
}

ald_status ald__chunk_cache_new(const ald_allocator *alloc, uint64_t budget_bytes,
                                ald__chunk_cache **out, ald_error *err)
{
    ald__chunk_cache *c = ald__alloc_zero(alloc, sizeof *c, err);
    *out = c;
    if (c == NULL)
        return ALD_E_NOMEM;
    c->alloc = *alloc;
    if (!ald__to_size(budget_bytes, &c->budget))
        c->budget = SIZE_MAX / 2;
    atomic_init(&c->bytes, 0);
    atomic_init(&c->clock, 0);
    for (size_t i = 0; i < SLOTS; i++) {
        atomic_init(&c->slots[i].entry, NULL);
        atomic_init(&c->slots[i].key, 0);
        atomic_init(&c->slots[i].used, 0);
    }
    return ALD_OK;
}

void ald__chunk_cache_free(ald__chunk_cache *cache)
{
    ald_allocator alloc;
    if (cache == NULL)
        return;
    alloc = cache->alloc;
    for (size_t i = 0; i < SLOTS; i++) {
        ald__cached *c;
        if (slot_take(cache, &cache->slots[i], &c))
            ald__cached_unref(c);
    }
    ald__release(&alloc, cache, sizeof *cache);
}

uint64_t ald__chunk_cache_budget(const ald__chunk_cache *cache)
{
    return cache->budget;
}

static ald__cached *slot_find(ald__chunk_cache *cache, slot *s, uint64_t chunk,
                              const uint8_t *columns, size_t column_count)
{
    ald__cached *c, *found = NULL;
    if (!slot_take(cache, s, &c))
        return NULL;
    if (c != NULL && c->chunk == chunk && has_columns(c, columns, column_count)) {
        cached_ref(c);
        slot_touch(cache, s);
        found = c;
    }
    slot_put(s, c);
    return found;
}

ald__cached *ald__chunk_cache_find(ald__chunk_cache *cache, uint64_t chunk, const uint8_t *columns,
                                   size_t column_count)
{
    for (size_t i = 0; i < SLOTS; i++) {
        slot *s = &cache->slots[(chunk + i) % SLOTS];
        ald__cached *found;
        if (slot_key(s) != (size_t)chunk + 1)
            continue;
        found = slot_find(cache, s, chunk, columns, column_count);
        if (found != NULL)
            return found;
    }
    return NULL;
}

/* Empties the slot used longest ago; 0: there is none to be had. */
static int evict(ald__chunk_cache *cache)
{
    slot *oldest = NULL;
    size_t time = 0;
    ald__cached *c;
    for (size_t i = 0; i < SLOTS; i++) {
        slot *s = &cache->slots[i];
        size_t used = atomic_load_explicit(&s->used, memory_order_relaxed);
        if (slot_key(s) != 0 && (oldest == NULL || used < time)) {
            oldest = s;
            time = used;
        }
    }
    if (oldest == NULL || !slot_take(cache, oldest, &c))
        return 0;
    slot_put(oldest, NULL);
    if (c != NULL)
        (void)atomic_fetch_sub_explicit(&cache->bytes, c->bytes, memory_order_relaxed);
    ald__cached_unref(c);
    return 1;
}

/* Into an empty slot. */
static int put_somewhere(ald__chunk_cache *cache, ald__cached *c)
{
    for (size_t i = 0; i < SLOTS; i++) {
        slot *s = &cache->slots[(c->chunk + i) % SLOTS];
        ald__cached *before;
        if (slot_key(s) != 0 || !slot_take(cache, s, &before))
            continue;
        if (before == NULL) {
            slot_touch(cache, s);
            slot_put(s, c);
            return 1;
        }
        slot_put(s, before);
    }
    return 0;
}

void ald__chunk_cache_add(ald__chunk_cache *cache, ald__cached *c)
{
    size_t bytes;
    int tries = EVICT_TRIES;
    if (c->bytes > cache->budget)
        return;
    bytes = atomic_fetch_add_explicit(&cache->bytes, c->bytes, memory_order_relaxed) + c->bytes;
    for (; bytes > cache->budget && tries > 0; tries--) {
        if (!evict(cache))
            break;
        bytes = atomic_load_explicit(&cache->bytes, memory_order_relaxed);
    }
    if (bytes <= cache->budget) {
        cached_ref(c);
        for (; tries > 0; tries--) {
            if (put_somewhere(cache, c))
                return;
            if (!evict(cache))
                break;
        }
        ald__cached_unref(c);
    }
    (void)atomic_fetch_sub_explicit(&cache->bytes, c->bytes, memory_order_relaxed);
}
