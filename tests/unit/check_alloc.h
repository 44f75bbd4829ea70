/* SPDX-License-Identifier: MIT */
/* An allocator for tests: it checks that sizes are given back as they were asked for, counts what is alive, and can
 * refuse the n-th allocation.
 *
 *     check_heap heap;
 *     for (int64_t n = 0;; n++) {
 *         ald_allocator alloc = check_heap_init(&heap, n);
 *         ald_status st = thing_make(&alloc, &thing, &err);
 *         if (st == ALD_OK) { thing_free(thing); }
 *         CHECK_HEAP_EMPTY(&heap);
 *         if (st == ALD_OK) break;
 *         CHECK_INT(st, ALD_E_NOMEM);
 *     }
 *
 * Not for several threads at once. */
#ifndef CHECK_ALLOC_H
#define CHECK_ALLOC_H

#include "ald/alloc.h"
#include "check.h"

typedef struct check_heap {
    int64_t calls_left; /* allocations that still succeed; negative: all */
    size_t live_blocks, live_bytes, peak_bytes;
    size_t wrong_sizes; /* releases and resizes that gave another size than was asked for */
} check_heap;

/* In front of each block; as wide as the alignment that is promised. */
typedef union check_block {
    size_t size;
    char room[16];
} check_block;

static inline int check_heap_refuses(check_heap *heap)
{
    if (heap->calls_left == 0)
        return 1;
    if (heap->calls_left > 0)
        heap->calls_left--;
    return 0;
}

static inline void check_heap_note(check_heap *heap, size_t added, size_t gone)
{
    heap->live_bytes += added;
    heap->live_bytes -= gone;
    if (heap->live_bytes > heap->peak_bytes)
        heap->peak_bytes = heap->live_bytes;
}

static inline void *check_heap_alloc(void *ctx, size_t size)
{
    check_heap *heap = (check_heap *)ctx;
    check_block *block = check_heap_refuses(heap) ? NULL : malloc(sizeof *block + size);
    if (block == NULL)
        return NULL;
    block->size = size;
    heap->live_blocks++;
    check_heap_note(heap, size, 0);
    memset(block + 1, 0xa5, size); /* nobody may count on zeros */
    return block + 1;
}

static inline void check_heap_release(void *ctx, void *ptr, size_t size)
{
    check_heap *heap = (check_heap *)ctx;
    if (ptr == NULL)
        return;
    check_block *block = (check_block *)ptr - 1;
    heap->wrong_sizes += block->size != size;
    heap->live_blocks--;
    check_heap_note(heap, 0, block->size);
    free(block);
}

static inline void *check_heap_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    check_heap *heap = (check_heap *)ctx;
    if (ptr == NULL)
        return check_heap_alloc(ctx, new_size);
    /* Always another block, so that a pointer kept over a resize is found out. */
    void *moved = check_heap_alloc(ctx, new_size);
    if (moved == NULL) {
        heap->wrong_sizes += ((check_block *)ptr - 1)->size != old_size;
        return NULL;
    }
    memcpy(moved, ptr, old_size < new_size ? old_size : new_size);
    check_heap_release(ctx, ptr, old_size);
    return moved;
}

/* `calls`: how many allocations succeed; negative: all of them. */
static inline ald_allocator check_heap_init(check_heap *heap, int64_t calls)
{
    memset(heap, 0, sizeof *heap);
    heap->calls_left = calls;
    ald_allocator alloc = {check_heap_alloc, check_heap_resize, check_heap_release, heap};
    return alloc;
}

#define CHECK_HEAP_EMPTY(heap)                                                                     \
    do {                                                                                           \
        CHECK_UINT((heap)->live_blocks, 0);                                                        \
        CHECK_UINT((heap)->live_bytes, 0);                                                         \
        CHECK_UINT((heap)->wrong_sizes, 0);                                                        \
    } while (0)

#endif
