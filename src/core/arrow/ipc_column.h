/* SPDX-License-Identifier: MIT */
/* One column after the other out of a batch's body. */
#ifndef CORE_ARROW_IPC_COLUMN_H
#define CORE_ARROW_IPC_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "core/arrow/ipc_schema.h"
#include "core/arrow/ipc_walk.h"

/* Everything but `sizes` is borrowed. */
typedef struct ald__ipc_columns {
    const ald_allocator *alloc;
    const ald__ipc_schema *schema;
    const ald__ipc_dictionaries *dictionaries;
    const ald__ipc_message *message;
    const ald__ipc_rules *rules;
    ald__shared *backing;
    ald__ipc_walk walk;
    uint64_t *
        sizes; /* bytes behind the buffers of the column at hand, in order, as the validator wants them */
    size_t size_cap, size_count;
    const char *column; /* the name of the column at hand */
    ald_error *err;
} ald__ipc_columns;

void ald__ipc_columns_init(ald__ipc_columns *columns, const ald__ipc_dictionaries *dictionaries,
                           const ald__ipc_message *message, const ald__ipc_rules *rules,
                           ald__shared *backing, ald_error *err);
/* Opens the message's record batch, or that of a dictionary batch. Clear it, also after a failure. */
ALD_NODISCARD ald_status ald__ipc_columns_open(ald__ipc_columns *columns);
void ald__ipc_columns_clear(ald__ipc_columns *columns);
/* Reads the next column, of tree node `node`, checks every value, and releases it to *out. `schema`: that of the node, or
 * one of the same type with another name and nullability. */
ALD_NODISCARD ald_status ald__ipc_columns_read(ald__ipc_columns *columns, uint32_t node,
                                               const struct ArrowSchema *schema,
                                               struct ArrowArray *out);

/* A share of the dictionary of number `index`. */
ALD_NODISCARD ald_status ald__ipc_dictionaries_share(const ald__ipc_dictionaries *dictionaries,
                                                     size_t index, struct ArrowArray *out,
                                                     ald_error *err);
/* 64 zero bytes: what buffers without bytes point to, since consumers may want a pointer. */
extern const uint8_t ald__ipc_zeros[64];

#endif
