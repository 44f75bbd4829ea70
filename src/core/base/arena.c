/* SPDX-License-Identifier: MIT */
/* A chain of blocks, each at least twice its predecessor up to a cap. */
#include "core/base/arena.h"

#include <stdint.h>
#include <string.h>

#include "core/base/buf.h"

struct ald__arena_block {
    ald__arena_block *next;
    size_t size; /* of the whole block */
};

#define HEAD_BYTES 16u /* keeps blocks aligned */
#define FIRST_BLOCK_BYTES 1024u
#define LARGEST_BLOCK_BYTES (256u << 10)

void ald__arena_init(ald__arena *arena, const ald_allocator *alloc)
{
    memset(arena, 0, sizeof *arena);
    arena->alloc = *alloc;
}

void ald__arena_clear(ald__arena *arena)
{
    while (arena->blocks != NULL) {
        ald__arena_block *b = arena->blocks;
        arena->blocks = b->next;
        ald__release(&arena->alloc, b, b->size);
    }
    arena->used = arena->cap = 0;
}

static ald_status add_block(ald__arena *arena, size_t need, ald_error *err)
{
    size_t size = arena->blocks == NULL ? FIRST_BLOCK_BYTES : arena->blocks->size * 2;
    ald__arena_block *b;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size - HEAD_BYTES < need)
        size = need + HEAD_BYTES;
    b = ald__alloc(&arena->alloc, size, err);
    if (b == NULL)
        return ALD_E_NOMEM;
    b->next = arena->blocks;
    b->size = size;
    arena->blocks = b;
    arena->used = HEAD_BYTES;
    arena->cap = size;
    return ALD_OK;
}

void *ald__arena_alloc(ald__arena *arena, size_t size, ald_error *err)
{
    void *p;
    if (size > SIZE_MAX / 4) {
        (void)ald__no_memory(err, size);
        return NULL;
    }
    size = (size + 16u) & ~(size_t)15u; /* 0 bytes have an address too */
    if (size > arena->cap - arena->used && add_block(arena, size, err) != ALD_OK)
        return NULL;
    p = (uint8_t *)arena->blocks + arena->used;
    arena->used += size;
    memset(p, 0, size);
    return p;
}

char *ald__arena_text(ald__arena *arena, const void *data, size_t size, ald_error *err)
{
    char *p = ald__arena_alloc(arena, size + 1, err);
    if (p != NULL && size > 0)
        memcpy(p, data, size);
    return p;
}
