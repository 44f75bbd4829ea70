/* SPDX-License-Identifier: MIT */
/* The tree is built once, so that nothing is parsed again for each batch. */
#include "core/arrow/ipc_tree.h"

#include <string.h>

#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/fail.h"

#define TREE_MAX_NODES (1u << 28)

/* Not inlined: its locals must not be in every frame of the recursion. */
__attribute__((noinline)) static ald_status tree_check(const struct ArrowSchema *schema,
                                                       ald_error *err)
{
    ald__type type;
    int8_t ids[128];
    ALD_TRY(ald__type_of(schema, &type, err));
    if (type.id == ALD__SPARSE_UNION || type.id == ALD__DENSE_UNION)
        return ald__type_union_ids(schema, ids, err);
    return ALD_OK;
}

/* Counts nodes and dictionaries; the depth limit bounds the recursion, also of the functions that walk the tree later. */
static ald_status tree_count(const struct ArrowSchema *schema, unsigned depth, ald__ipc_tree *tree,
                             ald_error *err)
{
    ALD_TRY(tree_check(schema, err));
    if (depth > ALD__MAX_TYPE_DEPTH)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "column '%s': types nest deeper than %d levels", ald__schema_name(schema),
                         ALD__MAX_TYPE_DEPTH);
    if (++tree->node_count > TREE_MAX_NODES)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "more than %u fields",
                         TREE_MAX_NODES);
    if (schema->dictionary != NULL) {
        tree->dictionary_count++;
        if (schema->dictionary->dictionary != NULL)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "column '%s': a dictionary of dictionary indices",
                             ald__schema_name(schema));
        return tree_count(schema->dictionary, depth, tree, err);
    }
    for (int64_t i = 0; i < schema->n_children; i++)
        ALD_TRY(tree_count(schema->children[i], depth + 1, tree, err));
    return ALD_OK;
}

/* After tree_count: nothing can fail but the types, which were parsed before. */
static ald_status tree_fill(const struct ArrowSchema *schema, ald__ipc_tree *tree, ald_error *err)
{
    uint32_t index = tree->node_count++;
    ald__ipc_node *node = &tree->nodes[index];
    node->schema = schema;
    node->dictionary = ALD__NO_DICTIONARY;
    ALD_TRY(ald__type_of(schema, &node->type, err));
    if (schema->dictionary != NULL) {
        ALD_TRY(tree_fill(schema->dictionary, tree, err));
        node->dictionary = tree->dictionary_count;
        tree->dictionary_nodes[tree->dictionary_count++] = index;
    } else {
        node->child_count = (uint32_t)schema->n_children;
        for (int64_t i = 0; i < schema->n_children; i++)
            ALD_TRY(tree_fill(schema->children[i], tree, err));
    }
    node->next = tree->node_count;
    return ALD_OK;
}

static ald_status tree_build(ald__ipc_tree *tree, ald_error *err)
{
    uint32_t nodes = tree->node_count, dictionaries = tree->dictionary_count;
    ald_status status;
    size_t size;
    if (!ald__mul_size(nodes, sizeof *tree->nodes, &size))
        return ald__no_memory(err, SIZE_MAX);
    tree->nodes = ald__alloc_zero(&tree->alloc, size, err);
    tree->dictionary_nodes =
        ald__alloc(&tree->alloc, dictionaries * sizeof *tree->dictionary_nodes, err);
    if (tree->nodes == NULL || tree->dictionary_nodes == NULL)
        return ALD_E_NOMEM;
    tree->node_count = 0;
    tree->dictionary_count = 0;
    status = tree_fill(tree->schema, tree, err);
    tree->node_count = nodes;
    tree->dictionary_count = dictionaries;
    return status;
}

ald_status ald__ipc_tree_new(const ald_allocator *alloc, const struct ArrowSchema *schema,
                             ald__ipc_tree *out, ald_error *err)
{
    ald_status status;
    memset(out, 0, sizeof *out);
    out->alloc = *alloc;
    out->schema = schema;
    ALD_TRY(tree_count(schema, 0, out, err));
    if (schema->dictionary != NULL || schema->format[0] != '+' || schema->format[1] != 's')
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the schema of a table is a struct, not '%s'", schema->format);
    status = tree_build(out, err);
    if (status != ALD_OK)
        ald__ipc_tree_clear(out);
    return status;
}

void ald__ipc_tree_clear(ald__ipc_tree *tree)
{
    ald__release(&tree->alloc, tree->nodes, tree->node_count * sizeof *tree->nodes);
    ald__release(&tree->alloc, tree->dictionary_nodes,
                 tree->dictionary_count * sizeof *tree->dictionary_nodes);
    tree->nodes = NULL;
    tree->dictionary_nodes = NULL;
}
