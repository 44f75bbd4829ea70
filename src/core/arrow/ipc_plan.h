/* SPDX-License-Identifier: MIT */
/* What a record batch will hold, before a byte is written: its field nodes and, for each IPC buffer, where the bytes are. */
#ifndef CORE_ARROW_IPC_PLAN_H
#define CORE_ARROW_IPC_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/io.h"

typedef struct ald__ipc_field_node {
    int64_t length, null_count;
} ald__ipc_field_node;

/* Bytes of one buffer: the array's own, or scratch of the plan. */
typedef struct ald__ipc_piece {
    const uint8_t *data;
    size_t size;
} ald__ipc_piece;

/* Kept from batch to batch, so that its vectors need not grow again. */
typedef struct ald__ipc_plan {
    ald_allocator alloc;
    ald_buffer nodes;    /* ald__ipc_field_node */
    ald_buffer pieces;   /* ald__ipc_piece */
    ald_buffer variadic; /* int64_t: data buffers of each view column */
    ald_buffer scratch;  /* blocks to free */
    int64_t length;      /* rows */
} ald__ipc_plan;

/* The plan must stay where it is. */
void ald__ipc_plan_init(ald__ipc_plan *plan, const ald_allocator *alloc);
/* Empty, ready for another batch; frees the scratch. */
void ald__ipc_plan_reset(ald__ipc_plan *plan);
void ald__ipc_plan_clear(ald__ipc_plan *plan);

/* Bytes that live until the plan is reset. NULL with err set. */
void *ald__ipc_plan_alloc(ald__ipc_plan *plan, size_t size, ald_error *err);
void *ald__ipc_plan_alloc_zero(ald__ipc_plan *plan, size_t size, ald_error *err);

ALD_NODISCARD ald_status ald__ipc_plan_node(ald__ipc_plan *plan, int64_t length, int64_t null_count,
                                            ald_error *err);
ALD_NODISCARD ald_status ald__ipc_plan_piece(ald__ipc_plan *plan, const void *data, size_t size,
                                             ald_error *err);
ALD_NODISCARD ald_status ald__ipc_plan_variadic(ald__ipc_plan *plan, int64_t count, ald_error *err);

static inline size_t ald__ipc_plan_node_count(const ald__ipc_plan *plan)
{
    return plan->nodes.size / sizeof(ald__ipc_field_node);
}

static inline size_t ald__ipc_plan_piece_count(const ald__ipc_plan *plan)
{
    return plan->pieces.size / sizeof(ald__ipc_piece);
}

static inline const ald__ipc_field_node *ald__ipc_plan_nodes(const ald__ipc_plan *plan)
{
    return (const void *)plan->nodes.data;
}

static inline const ald__ipc_piece *ald__ipc_plan_pieces(const ald__ipc_plan *plan)
{
    return (const void *)plan->pieces.data;
}

#endif
