/* SPDX-License-Identifier: MIT */
/* Small zeroed pieces of memory that are freed together. */
#ifndef INTERCHANGE_JSONL_JSON_BLOCKS_H
#define INTERCHANGE_JSONL_JSON_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"

typedef struct ald__json_block ald__json_block;

typedef struct ald__json_blocks {
    const ald_allocator *alloc; /* borrowed */
    ald__json_block *newest;
    uint8_t *top;
    size_t left;
} ald__json_blocks;

void ald__json_blocks_init(ald__json_blocks *blocks, const ald_allocator *alloc);
/* Zeroed storage is fine. */
void ald__json_blocks_clear(ald__json_blocks *blocks);
/* Frees all but one block, which is used again. */
void ald__json_blocks_reset(ald__json_blocks *blocks);
/* Aligned to 16 bytes, zeroed. NULL with err set. */
void *ald__json_blocks_alloc(ald__json_blocks *blocks, size_t count, size_t size, ald_error *err);

#endif
