/* SPDX-License-Identifier: MIT */
/* Workers take the items in order and stop at their first failure. So everything before the lowest failure was done by
 * somebody, and that failure is the one that a single thread would have met. */
#include "core/dataset/items.h"

#include <stdatomic.h>

#include "core/base/buf.h"

/* All that a build for one thread (ALD_ONE_THREAD) has. */
static ald_status run_in_turn(uint64_t count, ald__item item, void *ctx, ald_error *err)
{
    ald_status st = ALD_OK;
    for (uint64_t i = 0; i < count && st == ALD_OK; i++)
        st = item(ctx, 0, i, err);
    return st;
}

#ifndef ALD_ONE_THREAD

typedef struct worker {
    uint64_t index; /* where it failed */
    ald_status status;
    ald_error error;
} worker;

typedef struct items {
    ald__item item;
    void *ctx;
    uint64_t count;
    atomic_size_t next;
    worker *workers;
} items;

static void run_items(void *arg, uint32_t number)
{
    items *w = arg;
    worker *mine = &w->workers[number];
    while (mine->status == ALD_OK) {
        mine->index = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
        if (mine->index >= w->count)
            return;
        mine->status = w->item(w->ctx, number, mine->index, &mine->error);
    }
}

static ald_status lowest_failure(const items *w, uint32_t workers, ald_error *err)
{
    const worker *lowest = NULL;
    for (uint32_t i = 0; i < workers; i++) {
        const worker *one = &w->workers[i];
        if (one->status != ALD_OK && (lowest == NULL || one->index < lowest->index))
            lowest = one;
    }
    if (lowest == NULL)
        return ALD_OK;
    if (err != NULL)
        *err = lowest->error;
    return lowest->status;
}

uint32_t ald__items_workers(const ald_host *host, uint64_t count)
{
    uint32_t most = host->run_tasks != NULL ? host->thread_count : 1;
    if (most <= 1 || count <= 1 || count >= SIZE_MAX / 2)
        return 1;
    return most < count ? most : (uint32_t)count;
}

ald_status ald__items_run(const ald_host *host, uint64_t count, ald__item item, void *ctx,
                          ald_error *err)
{
    uint32_t workers = ald__items_workers(host, count);
    items w = {.item = item, .ctx = ctx, .count = count};
    ald_status st = ALD_OK;
    if (workers == 1)
        return run_in_turn(count, item, ctx, err);
    w.workers = ald__alloc_zero(&host->alloc, workers * sizeof *w.workers, err);
    if (w.workers == NULL)
        return ALD_E_NOMEM;
    atomic_init(&w.next, 0);
    host->run_tasks(host->ctx, workers, run_items, &w);
    st = lowest_failure(&w, workers, err);
    ald__release(&host->alloc, w.workers, workers * sizeof *w.workers);
    return st;
}

#else

uint32_t ald__items_workers(const ald_host *host, uint64_t count)
{
    (void)host;
    (void)count;
    return 1;
}

ald_status ald__items_run(const ald_host *host, uint64_t count, ald__item item, void *ctx,
                          ald_error *err)
{
    (void)host;
    return run_in_turn(count, item, ctx, err);
}

#endif
