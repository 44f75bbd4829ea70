/* SPDX-License-Identifier: MIT */
/* The memory of one JSON value at a time: handed out by moving a mark, taken back all at once. */
#ifndef INTERCHANGE_JSONL_JSON_POOL_H
#define INTERCHANGE_JSONL_JSON_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "ald/alloc.h"

typedef struct ald__json_pool_block ald__json_pool_block;

typedef struct ald__json_pool {
    const ald_allocator *alloc; /* borrowed */
    uint8_t *base;              /* the block that is kept from value to value */
    size_t capacity, used;
    size_t wanted;               /* what this value would have needed of it */
    ald__json_pool_block *extra; /* blocks of their own, for what does not fit */
} ald__json_pool;

/* Allocates nothing yet. */
void ald__json_pool_init(ald__json_pool *pool, const ald_allocator *alloc);
void ald__json_pool_clear(ald__json_pool *pool);
/* Forgets all that was allocated. */
void ald__json_pool_reset(ald__json_pool *pool);
/* `pool` must stay where it is. Freeing gives nothing back. */
yyjson_alc ald__json_pool_alc(ald__json_pool *pool);

#endif
