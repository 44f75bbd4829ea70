/* SPDX-License-Identifier: MIT */
/* A record batch as the packed codec sees it: its nodes and where their buffers are. */
#ifndef CORE_DATASET_PACKED_LAYOUT_H
#define CORE_DATASET_PACKED_LAYOUT_H

#include "core/arrow/ipc_read.h"
#include "core/codec/packed/packed.h"

typedef struct ald__packed_plan {
    const ald_allocator *alloc;
    ald__packed_node *nodes;
    ald__packed_place *places;
    size_t node_cap, place_cap;
    ald__packed_layout layout;
    uint64_t rows;
} ald__packed_plan;

/* Every node and buffer of a record batch whose head was read, as F-408 wants them, else ALD_E_INVALID_FORMAT. Names are
 * borrowed from the schema. Clear also after a failure. */
ALD_NODISCARD ald_status ald__packed_plan_read(const ald_allocator *alloc,
                                               const ald__ipc_schema *schema,
                                               const ald__ipc_message *message,
                                               const ald__packed_at *at, ald__packed_plan *out);
void ald__packed_plan_clear(ald__packed_plan *plan);

#endif
