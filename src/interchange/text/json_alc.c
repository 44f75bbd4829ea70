/* SPDX-License-Identifier: MIT */
/* yyjson frees without a size, the host wants one: each block carries it in 16 bytes ahead, which keep the alignment. */
#include "interchange/text/json_alc.h"

#include <stdint.h>
#include <string.h>

#define HEAD 16

static void *json_malloc(void *ctx, size_t size)
{
    const ald_allocator *alloc = ctx;
    uint8_t *p;
    if (size > SIZE_MAX - HEAD)
        return NULL;
    p = alloc->alloc(alloc->ctx, size + HEAD);
    if (!p)
        return NULL;
    memcpy(p, &size, sizeof size);
    return p + HEAD;
}

static void *json_realloc(void *ctx, void *ptr, size_t old_size, size_t size)
{
    const ald_allocator *alloc = ctx;
    uint8_t *p = (uint8_t *)ptr - HEAD;
    (void)old_size; /* the caller's idea of it; ours is what was asked for */
    if (size > SIZE_MAX - HEAD)
        return NULL;
    memcpy(&old_size, p, sizeof old_size);
    p = alloc->resize(alloc->ctx, p, old_size + HEAD, size + HEAD);
    if (!p)
        return NULL;
    memcpy(p, &size, sizeof size);
    return p + HEAD;
}

static void json_free(void *ctx, void *ptr)
{
    const ald_allocator *alloc = ctx;
    uint8_t *p = (uint8_t *)ptr - HEAD;
    size_t size;
    if (!ptr)
        return;
    memcpy(&size, p, sizeof size);
    alloc->release(alloc->ctx, p, size + HEAD);
}

yyjson_alc ald__json_alc(const ald_allocator *alloc)
{
    yyjson_alc alc;
    alc.malloc = json_malloc;
    alc.realloc = json_realloc;
    alc.free = json_free;
    alc.ctx = (void *)(uintptr_t)alloc;
    return alc;
}
