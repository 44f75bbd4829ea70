/* SPDX-License-Identifier: MIT */
/* Many small blocks, freed at once. */
#ifndef CORE_BASE_ARENA_H
#define CORE_BASE_ARENA_H

#include <stddef.h>

#include "ald/alloc.h"
#include "ald/error.h"

typedef struct ald__arena_block ald__arena_block;

typedef struct ald__arena {
    ald_allocator alloc;
    ald__arena_block *blocks;
    size_t used, cap; /* of the newest block */
} ald__arena;

void ald__arena_init(ald__arena *arena, const ald_allocator *alloc);
void ald__arena_clear(ald__arena *arena);
/* Aligned to 16 bytes, zeroed. NULL with err set. */
void *ald__arena_alloc(ald__arena *arena, size_t size, ald_error *err);
/* A copy with a NUL behind it. */
char *ald__arena_text(ald__arena *arena, const void *data, size_t size, ald_error *err);

#endif
