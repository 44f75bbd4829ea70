/* SPDX-License-Identifier: MIT */
/* Pieces are cut from blocks of BLOCK_BYTES; one that is a quarter of that or more gets a block of its own size. */
#include "interchange/jsonl/json_blocks.h"

#include <string.h>

#include "interchange/text/mem.h"

#define BLOCK_BYTES ((size_t)64 << 10)

struct ald__json_block {
    ald__json_block *next;
    size_t size; /* with this head */
};

static const size_t head_bytes = (sizeof(ald__json_block) + 15) & ~(size_t)15;

void ald__json_blocks_init(ald__json_blocks *blocks, const ald_allocator *alloc)
{
    memset(blocks, 0, sizeof *blocks);
    blocks->alloc = alloc;
}

void ald__json_blocks_clear(ald__json_blocks *blocks)
{
    while (blocks->newest) {
        ald__json_block *next = blocks->newest->next;
        blocks->alloc->release(blocks->alloc->ctx, blocks->newest, blocks->newest->size);
        blocks->newest = next;
    }
    blocks->top = NULL;
    blocks->left = 0;
}

void ald__json_blocks_reset(ald__json_blocks *blocks)
{
    ald__json_block *kept = blocks->newest;
    if (kept && kept->size == head_bytes + BLOCK_BYTES) {
        blocks->newest = kept->next;
        ald__json_blocks_clear(blocks);
        kept->next = NULL;
        blocks->newest = kept;
        blocks->top = (uint8_t *)kept + head_bytes;
        blocks->left = BLOCK_BYTES;
    } else {
        ald__json_blocks_clear(blocks);
    }
}

static int add_block(ald__json_blocks *blocks, size_t need, ald_error *err)
{
    size_t size = head_bytes + (need > BLOCK_BYTES / 4 ? need : BLOCK_BYTES);
    ald__json_block *block = blocks->alloc->alloc(blocks->alloc->ctx, size);
    if (!block) {
        (void)ald__text_no_memory(err, size);
        return 0;
    }
    block->size = size;
    block->next = blocks->newest;
    blocks->newest = block;
    blocks->top = (uint8_t *)block + head_bytes;
    blocks->left = size - head_bytes;
    return 1;
}

void *ald__json_blocks_alloc(ald__json_blocks *blocks, size_t count, size_t size, ald_error *err)
{
    size_t need;
    void *p;
    if (__builtin_mul_overflow(count, size, &need) || need > SIZE_MAX / 2) {
        (void)ald__text_no_memory(err, SIZE_MAX);
        return NULL;
    }
    need = (need + 15) & ~(size_t)15;
    if (need > blocks->left && !add_block(blocks, need, err))
        return NULL;
    p = blocks->top;
    blocks->top += need;
    blocks->left -= need;
    return memset(p, 0, need);
}
