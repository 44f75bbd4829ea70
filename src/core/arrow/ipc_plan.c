/* SPDX-License-Identifier: MIT */
/* Planning first and writing later lets the metadata, which comes first and holds every size, be written once, and lets
 * buffers that need no change go out without a copy. */
#include "core/arrow/ipc_plan.h"

#include <string.h>

#include "core/base/buf.h"

typedef struct plan_block {
    void *data;
    size_t size;
} plan_block;

void ald__ipc_plan_init(ald__ipc_plan *plan, const ald_allocator *alloc)
{
    memset(plan, 0, sizeof *plan);
    plan->alloc = *alloc;
    plan->nodes.alloc = &plan->alloc;
    plan->pieces.alloc = &plan->alloc;
    plan->variadic.alloc = &plan->alloc;
    plan->scratch.alloc = &plan->alloc;
}

void ald__ipc_plan_reset(ald__ipc_plan *plan)
{
    const plan_block *blocks = (const void *)plan->scratch.data;
    for (size_t i = 0; i < plan->scratch.size / sizeof *blocks; i++)
        ald__release(&plan->alloc, blocks[i].data, blocks[i].size);
    plan->nodes.size = 0;
    plan->pieces.size = 0;
    plan->variadic.size = 0;
    plan->scratch.size = 0;
    plan->length = 0;
}

void ald__ipc_plan_clear(ald__ipc_plan *plan)
{
    ald__ipc_plan_reset(plan);
    ald_buffer_clear(&plan->nodes);
    ald_buffer_clear(&plan->pieces);
    ald_buffer_clear(&plan->variadic);
    ald_buffer_clear(&plan->scratch);
}

void *ald__ipc_plan_alloc(ald__ipc_plan *plan, size_t size, ald_error *err)
{
    plan_block block = {NULL, size};
    if (ald__buffer_reserve(&plan->scratch, sizeof block, err) != ALD_OK)
        return NULL;
    block.data = ald__alloc(&plan->alloc, size, err);
    if (block.data == NULL)
        return NULL;
    memcpy(plan->scratch.data + plan->scratch.size, &block, sizeof block);
    plan->scratch.size += sizeof block;
    return block.data;
}

void *ald__ipc_plan_alloc_zero(ald__ipc_plan *plan, size_t size, ald_error *err)
{
    void *data = ald__ipc_plan_alloc(plan, size, err);
    if (data != NULL && size > 0)
        memset(data, 0, size);
    return data;
}

ald_status ald__ipc_plan_node(ald__ipc_plan *plan, int64_t length, int64_t null_count,
                              ald_error *err)
{
    ald__ipc_field_node node = {length, null_count};
    return ald__buffer_append(&plan->nodes, &node, sizeof node, err);
}

ald_status ald__ipc_plan_piece(ald__ipc_plan *plan, const void *data, size_t size, ald_error *err)
{
    ald__ipc_piece piece = {data, size};
    return ald__buffer_append(&plan->pieces, &piece, sizeof piece, err);
}

ald_status ald__ipc_plan_variadic(ald__ipc_plan *plan, int64_t count, ald_error *err)
{
    return ald__buffer_append(&plan->variadic, &count, sizeof count, err);
}
