/* SPDX-License-Identifier: MIT */
/* A schema as the IPC writer sees it: nodes in depth-first order with parsed types, dictionaries numbered. */
#ifndef CORE_ARROW_IPC_TREE_H
#define CORE_ARROW_IPC_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"
#include "core/arrow/type.h"

#define ALD__NO_DICTIONARY UINT32_MAX

/* The first child of node i is i + 1, the next sibling of a node is its `next`. A dictionary-encoded node is a leaf of
 * indices; the nodes up to its `next` are those of the dictionary's values. */
typedef struct ald__ipc_node {
    const struct ArrowSchema *schema; /* of the field; of the values for a dictionary's root */
    ald__type type;
    uint32_t next;
    uint32_t child_count;
    uint32_t dictionary; /* its number, or ALD__NO_DICTIONARY */
} ald__ipc_node;

typedef struct ald__ipc_tree {
    ald_allocator alloc;
    const struct ArrowSchema *schema; /* borrowed */
    ald__ipc_node *nodes;             /* nodes[0] is the root struct */
    uint32_t node_count;
    uint32_t
        *dictionary_nodes; /* node of the indices of dictionary d; inner ones have lower numbers */
    uint32_t dictionary_count;
} ald__ipc_tree;

/* ALD_E_INVALID_ARG for what IPC cannot say (no struct at the root, a dictionary whose values are dictionary-encoded
 * themselves, a bad format), ALD_E_LIMIT_EXCEEDED beyond ALD__MAX_TYPE_DEPTH. */
ALD_NODISCARD ald_status ald__ipc_tree_new(const ald_allocator *alloc,
                                           const struct ArrowSchema *schema, ald__ipc_tree *out,
                                           ald_error *err);
void ald__ipc_tree_clear(ald__ipc_tree *tree);

#endif
