/* SPDX-License-Identifier: MIT */
/* A decoded schema as the batch readers use it. */
#ifndef CORE_ARROW_IPC_SCHEMA_H
#define CORE_ARROW_IPC_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "core/arrow/flatbuf_read.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/ipc_tree.h"
#include "core/arrow/sort.h"

/* The tree numbers a dictionary for each encoded field; fields may share one by its id, so there are fewer ids. */
struct ald__ipc_schema {
    ald_allocator alloc;
    struct ArrowSchema root;
    ald__ipc_tree tree;
    size_t id_count;
    ald__pair *ids;    /* (id, its number), sorted by id */
    uint32_t *numbers; /* id number of the tree's dictionary d */
    uint32_t
        *nodes; /* node of the first encoded field of id number i; its values are the next node */
    size_t field_count; /* encoded fields: tree.dictionary_count */
};

/* The id number of dictionary id `id`, or SIZE_MAX. */
size_t ald__ipc_schema_find(const ald__ipc_schema *schema, int64_t id);

/* An IPC type (a value of FBS_TYPE_ and its table) as a format string, appended to `out` without NUL. Errors name
 * the column. */
ALD_NODISCARD ald_status ald__ipc_read_type(ald__flat *flat, const ald__flat_table *table,
                                            uint8_t type, size_t child_count, const char *column,
                                            ald_buffer *out, ald_error *err);
ALD_NODISCARD ald_status ald__ipc_read_int_type(ald__flat *flat, const ald__flat_table *table,
                                                const char *column, ald_buffer *out,
                                                ald_error *err);

#endif
