/* SPDX-License-Identifier: MIT */
/* The kept block grows to what values have needed, up to KEPT_BYTES; a larger value lives in blocks of its own that go
 * with it, so that one large line does not pin its memory. */
#include "interchange/jsonl/json_pool.h"

#include <string.h>

#define ALIGN 16u
#define KEPT_BYTES ((size_t)1 << 20)
#define FIRST_BYTES ((size_t)16 << 10)

struct ald__json_pool_block {
    ald__json_pool_block *next, **link;
    size_t size; /* of what follows */
    size_t pad;  /* keeps what follows at a multiple of ALIGN, also with 32-bit pointers */
};

static uint8_t *block_data(ald__json_pool_block *block)
{
    return (uint8_t *)(block + 1);
}

static size_t rounded(size_t size)
{
    return (size + (ALIGN - 1)) & ~(size_t)(ALIGN - 1);
}

static void *extra_alloc(ald__json_pool *pool, size_t size)
{
    ald__json_pool_block *block;
    if (size > SIZE_MAX - sizeof *block)
        return NULL;
    block = pool->alloc->alloc(pool->alloc->ctx, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    block->next = pool->extra;
    block->link = &pool->extra;
    if (block->next)
        block->next->link = &block->next;
    pool->extra = block;
    return block_data(block);
}

static void *extra_resize(ald__json_pool *pool, void *ptr, size_t size)
{
    ald__json_pool_block *block = (ald__json_pool_block *)ptr - 1;
    ald__json_pool_block **link = block->link;
    if (size > SIZE_MAX - sizeof *block)
        return NULL;
    block = pool->alloc->resize(pool->alloc->ctx, block, sizeof *block + block->size,
                                sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    *link = block;
    if (block->next)
        block->next->link = &block->next;
    return block_data(block);
}

static int is_kept(const ald__json_pool *pool, const void *ptr)
{
    uintptr_t p = (uintptr_t)ptr, base = (uintptr_t)pool->base;
    return pool->base && p >= base && p < base + pool->capacity;
}

static void note_want(ald__json_pool *pool, size_t more)
{
    if (pool->wanted <= KEPT_BYTES)
        pool->wanted += more < KEPT_BYTES ? more : KEPT_BYTES + 1;
}

static void *pool_malloc(void *ctx, size_t size)
{
    ald__json_pool *pool = ctx;
    size_t need = rounded(size);
    uint8_t *p;
    if (need < size)
        return NULL;
    note_want(pool, need);
    if (need > pool->capacity - pool->used)
        return extra_alloc(pool, need);
    p = pool->base + pool->used;
    pool->used += need;
    return p;
}

static void *pool_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    ald__json_pool *pool = ctx;
    size_t had = rounded(old_size), need = rounded(size);
    void *p;
    if (need < size)
        return NULL;
    if (need > had)
        note_want(pool, need - had);
    if (!is_kept(pool, ptr))
        return extra_resize(pool, ptr, need);
    if ((uint8_t *)ptr + had == pool->base + pool->used &&
        need - had <= pool->capacity - pool->used && need >= had) {
        pool->used += need - had;
        return ptr;
    }
    p = pool_malloc(pool, size);
    if (p)
        memcpy(p, ptr, old_size < size ? old_size : size);
    return p;
}

static void pool_free(void *ctx, void *ptr)
{
    (void)ctx;
    (void)ptr;
}

void ald__json_pool_init(ald__json_pool *pool, const ald_allocator *alloc)
{
    memset(pool, 0, sizeof *pool);
    pool->alloc = alloc;
}

static void free_extra(ald__json_pool *pool)
{
    while (pool->extra) {
        ald__json_pool_block *next = pool->extra->next;
        pool->alloc->release(pool->alloc->ctx, pool->extra, sizeof *next + pool->extra->size);
        pool->extra = next;
    }
}

void ald__json_pool_clear(ald__json_pool *pool)
{
    if (!pool->alloc)
        return;
    free_extra(pool);
    if (pool->base)
        pool->alloc->release(pool->alloc->ctx, pool->base, pool->capacity);
    ald__json_pool_init(pool, pool->alloc);
}

void ald__json_pool_reset(ald__json_pool *pool)
{
    size_t want = pool->wanted < FIRST_BYTES ? FIRST_BYTES : 2 * pool->wanted;
    free_extra(pool);
    if (pool->wanted > pool->capacity && pool->wanted <= KEPT_BYTES) {
        /* Failure is no error: values then live in extra blocks, which report it. */
        uint8_t *base = pool->alloc->alloc(pool->alloc->ctx, want);
        if (base) {
            if (pool->base)
                pool->alloc->release(pool->alloc->ctx, pool->base, pool->capacity);
            pool->base = base;
            pool->capacity = want;
        }
    }
    pool->used = 0;
    pool->wanted = 0;
}

yyjson_alc ald__json_pool_alc(ald__json_pool *pool)
{
    yyjson_alc alc;
    alc.malloc = pool_malloc;
    alc.realloc = pool_realloc;
    alc.free = pool_free;
    alc.ctx = pool;
    return alc;
}
