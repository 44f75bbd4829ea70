/* SPDX-License-Identifier: MIT */
/* The metadata of a record batch, walked in step with the schema's tree: nodes, buffers, variadic counts. */
#ifndef CORE_ARROW_IPC_WALK_H
#define CORE_ARROW_IPC_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "core/arrow/flatbuf_read.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/ipc_tree.h"

typedef struct ald__ipc_walk {
    ald__flat flat;
    const ald__ipc_message *message; /* borrowed, as is what it borrows */
    int strict;
    int64_t length;        /* rows */
    int codec;             /* of buffers, -1: none */
    int is_delta;          /* dictionary batch */
    int64_t dictionary_id; /* dictionary batch */
    ald__flat_vector nodes, buffers, variadic;
    size_t next_node, next_buffer, next_variadic;
} ald__ipc_walk;

/* One buffer's place in the body, checked against it. */
typedef struct ald__ipc_place {
    uint64_t offset, size;
} ald__ipc_place;

/* Opens a record batch, or a dictionary batch's record batch. */
ALD_NODISCARD ald_status ald__ipc_walk_open(ald__ipc_walk *walk, const ald__ipc_message *message,
                                            const ald__ipc_rules *rules, ald_error *err);
/* Length and null count of the next node, 0 ≤ null_count ≤ length; when not strict also -1, unknown. `column` is for
 * messages. */
ALD_NODISCARD ald_status ald__ipc_walk_node(ald__ipc_walk *walk, const char *column,
                                            int64_t *length, int64_t *null_count, ald_error *err);
ALD_NODISCARD ald_status ald__ipc_walk_buffer(ald__ipc_walk *walk, const char *column,
                                              ald__ipc_place *out, ald_error *err);
/* Number of data buffers of the next view column; there are as many more buffers in the metadata. */
ALD_NODISCARD ald_status ald__ipc_walk_variadic(ald__ipc_walk *walk, const char *column,
                                                size_t *count, ald_error *err);
/* Passes node `node` of the tree with all below it, without a look at buffers. */
ALD_NODISCARD ald_status ald__ipc_walk_skip(ald__ipc_walk *walk, const ald__ipc_tree *tree,
                                            uint32_t node, ald_error *err);
/* Everything was asked for. */
ALD_NODISCARD ald_status ald__ipc_walk_close(const ald__ipc_walk *walk, ald_error *err);

/* Buffers of a node in the metadata, without a view's variadic ones. */
size_t ald__ipc_walk_buffer_count(const ald__ipc_walk *walk, const ald__ipc_node *node);

#endif
