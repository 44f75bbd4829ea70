/* SPDX-License-Identifier: MIT */
/* Reference-counted memory. The count is atomic: the core starts no threads, but its hosts do. */
#include "core/base/shared.h"

#include <stdatomic.h>

#include "core/base/buf.h"
#include "core/base/checked.h"

#define ALIGNMENT 64u

struct ald__shared {
    ald_allocator alloc;
    atomic_size_t count;
    uint8_t *data;
    size_t size;
    void *block; /* what was allocated here, or NULL: `release` frees the data */
    size_t block_size;
    void (*release)(void *ctx, void *data, size_t size);
    void *ctx;
};

ald_status ald__shared_new(const ald_allocator *alloc, void *data, size_t size,
                           void (*release)(void *ctx, void *data, size_t size), void *ctx,
                           ald__shared **out, ald_error *err)
{
    ald__shared *s = ald__alloc_zero(alloc, sizeof *s, err);
    *out = s;
    if (s == NULL)
        return ALD_E_NOMEM;
    s->alloc = *alloc;
    atomic_init(&s->count, 1);
    s->data = data;
    s->size = size;
    s->release = release;
    s->ctx = ctx;
    return ALD_OK;
}

ald_status ald__shared_alloc(const ald_allocator *alloc, size_t size, ald__shared **out,
                             ald_error *err)
{
    size_t block_size;
    uint8_t *block;
    *out = NULL;
    if (!ald__add_size(size, ALIGNMENT, &block_size) || block_size > SIZE_MAX / 2)
        return ald__no_memory(err, size);
    block = ald__alloc(alloc, block_size, err);
    if (block == NULL)
        return ALD_E_NOMEM;
    if (ald__shared_new(alloc, block, size, NULL, NULL, out, err) != ALD_OK) {
        ald__release(alloc, block, block_size);
        return ALD_E_NOMEM;
    }
    (*out)->block = block;
    (*out)->block_size = block_size;
    (*out)->data = block + (ALIGNMENT - ((uintptr_t)block & (ALIGNMENT - 1))) % ALIGNMENT;
    return ALD_OK;
}

uint8_t *ald__shared_data(const ald__shared *shared)
{
    return shared->data;
}

size_t ald__shared_size(const ald__shared *shared)
{
    return shared->size;
}

ald__shared *ald__shared_ref(ald__shared *shared)
{
    (void)atomic_fetch_add_explicit(&shared->count, 1, memory_order_relaxed);
    return shared;
}

void ald__shared_unref(ald__shared *shared)
{
    ald_allocator alloc;
    if (shared == NULL || atomic_fetch_sub_explicit(&shared->count, 1, memory_order_acq_rel) != 1)
        return;
    alloc = shared->alloc;
    if (shared->block != NULL)
        ald__release(&alloc, shared->block, shared->block_size);
    else if (shared->release != NULL)
        shared->release(shared->ctx, shared->data, shared->size);
    ald__release(&alloc, shared, sizeof *shared);
}
