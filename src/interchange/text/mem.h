/* SPDX-License-Identifier: MIT */
/* Allocation with errors for the text readers. */
#ifndef INTERCHANGE_TEXT_MEM_H
#define INTERCHANGE_TEXT_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ald/alloc.h"
#include "ald/error.h"

static inline ald_status ald__text_no_memory(ald_error *err, size_t size)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
}

/* Zeroed; NULL with err set. count × size may not overflow in a true request: then it fails. */
static inline void *ald__text_alloc(const ald_allocator *alloc, size_t count, size_t size,
                                    ald_error *err)
{
    size_t bytes = 0;
    void *p = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        p = alloc->alloc(alloc->ctx, bytes == 0 ? 1 : bytes);
    if (p == NULL) {
        (void)ald__text_no_memory(err, bytes);
        return NULL;
    }
    return memset(p, 0, bytes == 0 ? 1 : bytes);
}

/* count and size as given to ald__text_alloc; NULL is fine. */
static inline void ald__text_free(const ald_allocator *alloc, void *p, size_t count, size_t size)
{
    size_t bytes = count * size;
    if (p != NULL)
        alloc->release(alloc->ctx, p, bytes == 0 ? 1 : bytes);
}

/* Makes the block hold `need` bytes or more (at least half as much again as before); what it holds stays. */
ALD_NODISCARD static inline ald_status ald__text_grow(const ald_allocator *alloc, void **block,
                                                      size_t *capacity, size_t need, ald_error *err)
{
    size_t target = *capacity + *capacity / 2;
    void *p;
    if (need <= *capacity)
        return ALD_OK;
    if (target < need)
        target = need;
    if (target < 64)
        target = 64;
    if (target > SIZE_MAX / 2)
        return ald__text_no_memory(err, need);
    p = *block == NULL ? alloc->alloc(alloc->ctx, target)
                       : alloc->resize(alloc->ctx, *block, *capacity, target);
    if (p == NULL)
        return ald__text_no_memory(err, target);
    *block = p;
    *capacity = target;
    return ALD_OK;
}

#endif
