/* SPDX-License-Identifier: MIT */
/* A few slots, each with a block or nothing, changed by atomic exchange: nobody waits for anybody, also not for a thread that a
 * fork left behind. What finds no free slot goes back to the allocator, so there is never more than was in use at once.
 * Who keeps many small blocks gets them cut from slabs, for which the host may have huge pages: a fault for each page of a
 * column costs as much as the decompression of what repeats in it. */
#include "core/dataset/block_pool.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"

#ifndef ALD_ONE_THREAD

#define SLOTS_LEAST 4u /* for blocks of any size */
#define SLOTS 64u      /* as many as hold SMALL_BYTES of blocks like the one at hand */
#define SMALL_BYTES ((size_t)32 << 20)  /* a stream loads so many small chunks at once */
#define BYTES_LEAST ((size_t)256 << 10) /* smaller ones are the allocator's affair */
#define BYTES_MOST ((size_t)32 << 20)   /* larger ones are not kept */
#define ALIGNMENT 64u
#define SLAB_BYTES ((size_t)4 << 20) /* at least; the blocks that are cut from it are smaller */
#define SLAB_AFTER 8u                /* blocks that are out: who goes through a file has fewer */

/* At the start of its memory, in front of its blocks. */
typedef struct slab {
    size_t bytes;
    atomic_size_t blocks; /* that are out or in slots */
} slab;

/* At the start of its memory. */
typedef struct block {
    ald__block_pool *pool;
    size_t bytes; /* of the memory */
    slab *slab;   /* NULL: memory of its own */
} block;

struct ald__block_pool {
    ald_allocator alloc;
    atomic_size_t count; /* its owner, and each block that is out */
    _Atomic(block *) slots[SLOTS];
};

ald_status ald__block_pool_new(const ald_allocator *alloc, ald__block_pool **out, ald_error *err)
{
    ald__block_pool *p = ald__alloc_zero(alloc, sizeof *p, err);
    *out = p;
    if (p == NULL)
        return ALD_E_NOMEM;
    p->alloc = *alloc;
    atomic_init(&p->count, 1);
    for (size_t i = 0; i < SLOTS; i++)
        atomic_init(&p->slots[i], NULL);
    return ALD_OK;
}

static block *block_swap(ald__block_pool *pool, size_t slot, block *with)
{
    return atomic_exchange_explicit(&pool->slots[slot], with, memory_order_acq_rel);
}

static void block_drop(const ald_allocator *alloc, block *b)
{
    slab *from = b->slab;
    if (from == NULL)
        ald__release(alloc, b, b->bytes);
    else if (atomic_fetch_sub_explicit(&from->blocks, 1, memory_order_acq_rel) == 1)
        ald__release(alloc, from, from->bytes);
}

static void pool_unref(ald__block_pool *pool)
{
    ald_allocator alloc = pool->alloc;
    if (atomic_fetch_sub_explicit(&pool->count, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < SLOTS; i++) {
        block *b = block_swap(pool, i, NULL);
        if (b != NULL)
            block_drop(&alloc, b);
    }
    ald__release(&alloc, pool, sizeof *pool);
}

/* Those in which blocks of this size may lie. */
static size_t slots_for(size_t bytes)
{
    size_t count = SMALL_BYTES / bytes;
    return count < SLOTS_LEAST ? SLOTS_LEAST : count < SLOTS ? count : SLOTS;
}

/* Into an empty slot; what was in the last one gives way. */
static void block_put(ald__block_pool *pool, block *b)
{
    size_t slots = slots_for(b->bytes);
    for (size_t i = 0; i < slots && b != NULL; i++)
        b = block_swap(pool, i, b);
    if (b != NULL)
        block_drop(&pool->alloc, b);
}

/* A block of the pool that holds `bytes`, but not far more; NULL: there is none. */
static block *block_find(ald__block_pool *pool, size_t bytes)
{
    size_t slots = slots_for(bytes);
    for (size_t i = 0; i < slots; i++) {
        block *b = NULL;
        if (atomic_load_explicit(&pool->slots[i], memory_order_relaxed) != NULL)
            b = block_swap(pool, i, NULL);
        if (b == NULL)
            continue;
        if (b->bytes >= bytes && b->bytes / 2 <= bytes)
            return b;
        block_drop(&pool->alloc, b); /* chunks have another size now */
    }
    return NULL;
}

static void block_release(void *ctx, void *data, size_t size)
{
    block *b = ctx;
    ald__block_pool *pool = b->pool;
    (void)data;
    (void)size;
    block_put(pool, b);
    pool_unref(pool);
}

/* The first block of a new slab, the others in slots; NULL: no memory for it, or few blocks are out, or they are large. */
static block *slab_make(ald__block_pool *pool, size_t bytes)
{
    size_t stride = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1), count;
    uint8_t *p;
    slab *s;
    if (bytes >= SLAB_BYTES / 2 ||
        atomic_load_explicit(&pool->count, memory_order_relaxed) <= SLAB_AFTER)
        return NULL;
    count = (SLAB_BYTES + stride - 1) / stride;
    s = ald__alloc(&pool->alloc, ALIGNMENT + count * stride, NULL);
    if (s == NULL)
        return NULL;
    s->bytes = ALIGNMENT + count * stride;
    atomic_init(&s->blocks, count);
    p = (uint8_t *)s + ALIGNMENT;
    for (size_t i = 0; i < count; i++) {
        block *b = (block *)(void *)(p + i * stride);
        *b = (block){pool, bytes, s};
        if (i > 0)
            block_put(pool, b);
    }
    return (block *)(void *)p;
}

static ald_status block_make(ald__block_pool *pool, size_t bytes, block **out, ald_error *err)
{
    *out = block_find(pool, bytes);
    if (*out == NULL)
        *out = slab_make(pool, bytes);
    if (*out != NULL)
        return ALD_OK;
    *out = ald__alloc(&pool->alloc, bytes, err);
    if (*out == NULL)
        return ALD_E_NOMEM;
    **out = (block){pool, bytes, NULL};
    return ALD_OK;
}

static int is_block(size_t size)
{
    return size >= BYTES_LEAST && size <= BYTES_MOST;
}

ald_status ald__block_pool_take(ald__block_pool *pool, const ald_allocator *alloc, size_t size,
                                ald__shared **out, ald_error *err)
{
    size_t bytes;
    uint8_t *data;
    block *b;
    *out = NULL;
    if (!is_block(size) || !ald__add_size(size, sizeof *b + ALIGNMENT, &bytes))
        return ald__shared_alloc(alloc, size, out, err);
    ALD_TRY(block_make(pool, bytes, &b, err));
    data = (uint8_t *)b + sizeof *b;
    data += (ALIGNMENT - ((uintptr_t)data & (ALIGNMENT - 1))) % ALIGNMENT;
    if (ald__shared_new(&pool->alloc, data, size, block_release, b, out, err) != ALD_OK) {
        block_put(pool, b);
        return ALD_E_NOMEM;
    }
    (void)atomic_fetch_add_explicit(&pool->count, 1, memory_order_relaxed);
    return ALD_OK;
}

static void *pool_take(void *ctx, size_t size)
{
    ald__block_pool *pool = ctx;
    uint8_t *p;
    block *b;
    if (!is_block(size))
        p = ald__alloc(&pool->alloc, size, NULL);
    else
        p = block_make(pool, ALIGNMENT + size, &b, NULL) == ALD_OK ? (uint8_t *)b + ALIGNMENT
                                                                   : NULL;
    if (p != NULL)
        (void)atomic_fetch_add_explicit(&pool->count, 1, memory_order_relaxed);
    return p;
}

static void pool_give_back(void *ctx, void *p, size_t size)
{
    ald__block_pool *pool = ctx;
    if (p == NULL)
        return;
    if (is_block(size))
        block_put(pool, (block *)(void *)((uint8_t *)p - ALIGNMENT));
    else
        ald__release(&pool->alloc, p, size);
    pool_unref(pool);
}

static void *pool_resize(void *ctx, void *p, size_t old_size, size_t new_size)
{
    void *moved = pool_take(ctx, new_size);
    if (moved == NULL || p == NULL)
        return moved;
    memcpy(moved, p, old_size < new_size ? old_size : new_size);
    pool_give_back(ctx, p, old_size);
    return moved;
}

ald_allocator ald__block_pool_allocator(ald__block_pool *pool)
{
    return (ald_allocator){pool_take, pool_resize, pool_give_back, pool};
}

void ald__block_pool_free(ald__block_pool *pool)
{
    if (pool != NULL)
        pool_unref(pool);
}

#else

ald_status ald__block_pool_new(const ald_allocator *alloc, ald__block_pool **out, ald_error *err)
{
    (void)alloc;
    (void)err;
    *out = NULL;
    return ALD_OK;
}

ald_status ald__block_pool_take(ald__block_pool *pool, const ald_allocator *alloc, size_t size,
                                ald__shared **out, ald_error *err)
{
    (void)pool;
    return ald__shared_alloc(alloc, size, out, err);
}

void ald__block_pool_free(ald__block_pool *pool)
{
    (void)pool;
}

#endif
