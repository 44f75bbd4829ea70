/* SPDX-License-Identifier: MIT */
/* Blocks come back, fit, outlive their pool, and are shared by threads without being given out twice. */
#include <pthread.h>

#include "check_alloc.h"
#include "core/dataset/block_pool.h"

enum { KIB = 1024, SMALL = 100 * KIB, BLOCK = 1024 * KIB, HUGE = 40 * 1024 * KIB };

static void test_blocks_come_back(void)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald__block_pool *pool;
    ald__shared *a, *b;
    uint8_t *first;
    ald_error err;
    CHECK_OK(ald__block_pool_new(&alloc, &pool, &err), &err);
    CHECK_OK(ald__block_pool_take(pool, &alloc, BLOCK, &a, &err), &err);
    first = ald__shared_data(a);
    CHECK_UINT((uintptr_t)first % 64, 0);
    CHECK_UINT(ald__shared_size(a), BLOCK);
    memset(first, 1, BLOCK);
    ald__shared_unref(a);
    CHECK_OK(ald__block_pool_take(pool, &alloc, BLOCK - 1000, &a, &err), &err);
    CHECK(ald__shared_data(a) == first);
    CHECK_UINT(ald__shared_size(a), BLOCK - 1000);
    CHECK_OK(ald__block_pool_take(pool, &alloc, BLOCK, &b, &err), &err);
    CHECK(ald__shared_data(b) != first);
    ald__shared_unref(a);
    CHECK_OK(ald__block_pool_take(pool, &alloc, BLOCK / 3, &a, &err),
             &err); /* far too large for it */
    CHECK_UINT(ald__shared_size(a), BLOCK / 3);
    memset(ald__shared_data(a), 1, BLOCK / 3);
    ald__block_pool_free(pool);
    memset(ald__shared_data(b), 1, BLOCK);
    ald__shared_unref(b);
    ald__shared_unref(a);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_other_sizes(void)
{
    static const size_t sizes[] = {0, 1, SMALL, HUGE};
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald__block_pool *pool;
    ald_error err;
    CHECK_OK(ald__block_pool_new(&alloc, &pool, &err), &err);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ald__shared *a;
        CHECK_OK(ald__block_pool_take(pool, &alloc, sizes[i], &a, &err), &err);
        CHECK_UINT(ald__shared_size(a), sizes[i]);
        ald__shared_unref(a);
    }
    ald__block_pool_free(pool);
    ald__block_pool_free(NULL);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_more_than_there_are_slots(void)
{
    enum { COUNT = 40 };
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald__shared *blocks[COUNT];
    ald__block_pool *pool;
    ald_error err;
    CHECK_OK(ald__block_pool_new(&alloc, &pool, &err), &err);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            CHECK_OK(ald__block_pool_take(pool, &alloc, BLOCK, &blocks[i], &err), &err);
            memset(ald__shared_data(blocks[i]), i, BLOCK);
        }
        for (int i = 0; i < COUNT; i++) {
            CHECK_UINT(ald__shared_data(blocks[i])[BLOCK - 1], (unsigned)i);
            ald__shared_unref(blocks[i]);
        }
    }
    ald__block_pool_free(pool);
    CHECK_HEAP_EMPTY(&heap);
}

/* Many small blocks that are kept: a few allocations for all of them, each byte in one block only, and nothing left whatever
 * the order in which they are let go, before the pool or after it. */
static void test_slabs(void)
{
    enum { COUNT = 100, SIZE = 512 * KIB };
    static const size_t steps[] = {1, 33, 67, 99}; /* without a divisor in common with COUNT */
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald__shared *blocks[COUNT];
        ald__block_pool *pool;
        ald_error err;
        size_t shared;
        CHECK_OK(ald__block_pool_new(&alloc, &pool, &err), &err);
        for (size_t i = 0; i < COUNT; i++) {
            CHECK_OK(ald__block_pool_take(pool, &alloc, SIZE, &blocks[i], &err), &err);
            CHECK_UINT((uintptr_t)ald__shared_data(blocks[i]) % 64, 0);
            memset(ald__shared_data(blocks[i]), (int)i, SIZE);
        }
        shared =
            heap.live_blocks - 1 - COUNT; /* the pool, a head for each block, and their memory */
        CHECK(shared >= 8 + (COUNT - 8) / 8 && shared <= 8 + (COUNT - 8) / 8 + 1);
        CHECK(heap.live_bytes < (COUNT + 8) * (size_t)(SIZE + 1024));
        for (size_t i = 0; i < COUNT; i++) {
            size_t k = i * steps[s] % COUNT;
            const uint8_t *data = ald__shared_data(blocks[k]);
            CHECK(data[0] == k && memcmp(data, data + 1, SIZE - 1) == 0);
            ald__shared_unref(blocks[k]);
            if (i == steps[s])
                ald__block_pool_free(pool);
        }
        CHECK_HEAP_EMPTY(&heap);
    }
}

/* As an allocator: sizes of all kinds, kept beyond the pool, moved when they are resized. */
static void test_as_an_allocator(void)
{
    static const size_t sizes[] = {1, SMALL, 256 * KIB, BLOCK / 2, BLOCK, HUGE};
    enum { COUNT = 60, KINDS = sizeof sizes / sizeof *sizes };
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1), blocks;
    uint8_t *p[COUNT];
    ald__block_pool *pool;
    ald_error err;
    CHECK_OK(ald__block_pool_new(&alloc, &pool, &err), &err);
    blocks = ald__block_pool_allocator(pool);
    for (size_t i = 0; i < COUNT; i++) {
        p[i] = blocks.alloc(blocks.ctx, sizes[i % KINDS]);
        REQUIRE(p[i] != NULL);
        CHECK_UINT((uintptr_t)p[i] % 16, 0);
        memset(p[i], (int)i, sizes[i % KINDS]);
    }
    for (size_t i = 0; i < COUNT; i++) { /* each to the size of the next kind */
        size_t from = sizes[i % KINDS], to = sizes[(i + 1) % KINDS];
        p[i] = blocks.resize(blocks.ctx, p[i], from, to);
        REQUIRE(p[i] != NULL);
        CHECK(p[i][0] == i && p[i][(from < to ? from : to) - 1] == i);
        memset(p[i], (int)i, to);
    }
    ald__block_pool_free(pool);
    for (size_t i = 0; i < COUNT; i++) {
        CHECK(p[i][sizes[(i + 1) % KINDS] - 1] == i);
        blocks.release(blocks.ctx, p[i], sizes[(i + 1) % KINDS]);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_slabs_without_memory(void)
{
    enum { COUNT = 20 };
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald__shared *blocks[COUNT] = {NULL};
        ald__block_pool *pool;
        ald_error err;
        ald_status st = ald__block_pool_new(&alloc, &pool, &err);
        for (size_t i = 0; i < COUNT && st == ALD_OK; i++)
            st = ald__block_pool_take(pool, &alloc, BLOCK / 2, &blocks[i], &err);
        for (size_t i = 0; i < COUNT; i++)
            ald__shared_unref(blocks[i]);
        ald__block_pool_free(pool);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        CHECK_INT(st, ALD_E_NOMEM);
    }
}

static void test_pool_without_memory(void)
{
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald__block_pool *pool;
        ald__shared *a = NULL, *b = NULL;
        ald_error err;
        ald_status st = ald__block_pool_new(&alloc, &pool, &err);
        if (st == ALD_OK)
            st = ald__block_pool_take(pool, &alloc, BLOCK, &a, &err);
        if (st == ALD_OK)
            st = ald__block_pool_take(pool, &alloc, BLOCK, &b, &err);
        ald__shared_unref(a);
        ald__shared_unref(b);
        ald__block_pool_free(pool);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        CHECK_INT(st, ALD_E_NOMEM);
    }
}

static ald__block_pool *shared_pool;

static void *pool_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void pool_release(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

static const ald_allocator pool_allocator = {pool_alloc, NULL, pool_release, NULL};

static void *use_pool(void *arg)
{
    uintptr_t wrong = 0;
    ald__shared *kept[16] = {NULL}; /* with those of the other threads enough for slabs */
    for (int i = 0; i < 2000; i++) {
        ald__shared **a = &kept[i % (i < 1000 ? 1 : 16)];
        ald_error err;
        if (*a != NULL)
            wrong += *(void *volatile *)(void *)ald__shared_data(*a) != arg;
        ald__shared_unref(*a);
        if (ald__block_pool_take(shared_pool, &pool_allocator, BLOCK / 2, a, &err) != ALD_OK)
            return (void *)(uintptr_t)1;
        *(void **)(void *)ald__shared_data(*a) = arg;
    }
    for (size_t i = 0; i < 16; i++) {
        wrong += *(void *volatile *)(void *)ald__shared_data(kept[i]) != arg;
        ald__shared_unref(kept[i]);
    }
    return (void *)wrong;
}

static void test_threads(void)
{
    pthread_t threads[6];
    char marks[6];
    ald_error err;
    CHECK_OK(ald__block_pool_new(&pool_allocator, &shared_pool, &err), &err);
    for (size_t i = 0; i < 6; i++)
        REQUIRE(pthread_create(&threads[i], NULL, use_pool, &marks[i]) == 0);
    for (size_t i = 0; i < 6; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(wrong == NULL);
    }
    ald__block_pool_free(shared_pool);
}

int main(void)
{
    RUN(test_blocks_come_back);
    RUN(test_other_sizes);
    RUN(test_more_than_there_are_slots);
    RUN(test_slabs);
    RUN(test_as_an_allocator);
    RUN(test_slabs_without_memory);
    RUN(test_pool_without_memory);
    RUN(test_threads);
    return check_done();
}
