/* SPDX-License-Identifier: MIT */
/* One block of memory for each node: the node's bookkeeping, its buffer pointers, child pointers, children, dictionary.
 * A child that was moved out took its own block along and left a released struct behind, so release order is free. */
#include "core/arrow/array.h"

#include <stdatomic.h>

#include "core/base/buf.h"
#include "core/base/checked.h"

#define MAX_BACKINGS 3
/* Types nest to 64 levels here; arrays of other producers get a little more, dictionaries included. */
#define MAX_SHARE_DEPTH 200

typedef struct array_node {
    ald_allocator alloc;
    size_t size;
    ald__shared *held[MAX_BACKINGS];
    ald__array_holder *holder;
} array_node;

struct ald__array_holder {
    ald_allocator alloc;
    atomic_size_t count;
    struct ArrowArray array;
};

static void array_node_release(struct ArrowArray *array)
{
    array_node *node = array->private_data;
    ald_allocator alloc = node->alloc;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    }
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    for (size_t i = 0; i < MAX_BACKINGS; i++)
        ald__shared_unref(node->held[i]);
    ald__array_holder_free(node->holder);
    array->release = NULL;
    ald__release(&alloc, node, node->size);
}

/* Bytes of a node's block, or 0: too many. */
static size_t node_size(size_t buffer_count, size_t child_count, int has_dictionary)
{
    const size_t per_child = sizeof(struct ArrowArray) + sizeof(struct ArrowArray *);
    size_t size = sizeof(array_node) + (has_dictionary ? sizeof(struct ArrowArray) : 0);
    size_t part;
    if (!ald__mul_size(child_count, per_child, &part) || !ald__add_size(size, part, &size) ||
        !ald__mul_size(buffer_count, sizeof(void *), &part) || !ald__add_size(size, part, &size))
        return 0;
    return size;
}

ald_status ald__array_new(const ald_allocator *alloc, size_t buffer_count, size_t child_count,
                          int has_dictionary, struct ArrowArray *out, ald_error *err)
{
    size_t size = node_size(buffer_count, child_count, has_dictionary);
    struct ArrowArray *children;
    array_node *node;
    memset(out, 0, sizeof *out);
    if (size == 0)
        return ald__no_memory(err, SIZE_MAX);
    node = ald__alloc_zero(alloc, size, err);
    if (node == NULL)
        return ALD_E_NOMEM;
    node->alloc = *alloc;
    node->size = size;
    children = (struct ArrowArray *)(node + 1);
    out->dictionary = has_dictionary ? children + child_count : NULL;
    out->children = (struct ArrowArray **)(children + child_count + (has_dictionary ? 1 : 0));
    out->buffers = (const void **)(out->children + child_count);
    for (size_t i = 0; i < child_count; i++)
        out->children[i] = &children[i];
    if (child_count == 0)
        out->children = NULL;
    if (buffer_count == 0)
        out->buffers = NULL;
    out->n_buffers = (int64_t)buffer_count;
    out->n_children = (int64_t)child_count;
    out->release = array_node_release;
    out->private_data = node;
    return ALD_OK;
}

void ald__array_hold(struct ArrowArray *array, ald__shared *backing)
{
    array_node *node = array->private_data;
    if (backing == NULL)
        return;
    for (size_t i = 0; i < MAX_BACKINGS; i++) {
        if (node->held[i] == backing)
            return;
        if (node->held[i] == NULL) {
            node->held[i] = ald__shared_ref(backing);
            return;
        }
    }
}

ald_status ald__array_holder_new(const ald_allocator *alloc, struct ArrowArray *from,
                                 ald__array_holder **out, ald_error *err)
{
    ald__array_holder *holder = ald__alloc_zero(alloc, sizeof *holder, err);
    *out = holder;
    if (holder == NULL)
        return ALD_E_NOMEM;
    holder->alloc = *alloc;
    atomic_init(&holder->count, 1);
    holder->array = *from;
    from->release = NULL;
    return ALD_OK;
}

static ald__array_holder *holder_ref(ald__array_holder *holder)
{
    if (holder != NULL)
        (void)atomic_fetch_add_explicit(&holder->count, 1, memory_order_relaxed);
    return holder;
}

/* What keeps the copy of `from` alive: `holder`, or (NULL) whatever `from` itself holds. */
static void copy_owners(const struct ArrowArray *from, ald__array_holder *holder, array_node *to)
{
    const array_node *node = from->private_data;
    to->holder = holder_ref(holder != NULL ? holder : node->holder);
    for (size_t i = 0; holder == NULL && i < MAX_BACKINGS; i++) {
        if (node->held[i] != NULL)
            to->held[i] = ald__shared_ref(node->held[i]);
    }
}

static ald_status copy_array_node(const ald_allocator *alloc, ald__array_holder *holder,
                                  const struct ArrowArray *from, unsigned depth,
                                  struct ArrowArray *out, ald_error *err)
{
    ald_status status = ALD_OK;
    out->release = NULL;
    if (depth > MAX_SHARE_DEPTH)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "arrays nest too deep");
    ALD_TRY(ald__array_new(alloc, (size_t)from->n_buffers, (size_t)from->n_children,
                           from->dictionary != NULL, out, err));
    copy_owners(from, holder, out->private_data);
    out->length = from->length;
    out->null_count = from->null_count;
    out->offset = from->offset;
    for (int64_t i = 0; i < from->n_buffers; i++)
        out->buffers[i] = from->buffers[i];
    if (from->dictionary != NULL)
        status = copy_array_node(alloc, holder, from->dictionary, depth + 1, out->dictionary, err);
    for (int64_t i = 0; i < from->n_children && status == ALD_OK; i++)
        status =
            copy_array_node(alloc, holder, from->children[i], depth + 1, out->children[i], err);
    if (status != ALD_OK)
        out->release(out);
    return status;
}

ald_status ald__array_clone(const struct ArrowArray *from, struct ArrowArray *out, ald_error *err)
{
    const array_node *node = from->private_data;
    return copy_array_node(&node->alloc, NULL, from, 1, out, err);
}

ald_status ald__array_holder_share(ald__array_holder *holder, struct ArrowArray *out,
                                   ald_error *err)
{
    return copy_array_node(&holder->alloc, holder, &holder->array, 1, out, err);
}

const struct ArrowArray *ald__array_holder_get(const ald__array_holder *holder)
{
    return &holder->array;
}

void ald__array_holder_free(ald__array_holder *holder)
{
    ald_allocator alloc;
    if (holder == NULL || atomic_fetch_sub_explicit(&holder->count, 1, memory_order_acq_rel) != 1)
        return;
    alloc = holder->alloc;
    if (holder->array.release != NULL)
        holder->array.release(&holder->array);
    ald__release(&alloc, holder, sizeof *holder);
}
