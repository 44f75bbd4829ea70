/* SPDX-License-Identifier: MIT */
/* A node keeps its texts' sizes, because ald_allocator wants the size of what it frees. */
#include "core/arrow/schema_build.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/fail.h"

typedef struct schema_node {
    ald_allocator alloc;
    size_t child_count;
    size_t format_size, name_size, metadata_size; /* of the blocks; 0: static text or none */
    struct ArrowSchema dictionary;
    struct ArrowSchema *children; /* one block of child_count */
    struct ArrowSchema **pointers;
} schema_node;

static void schema_node_release(struct ArrowSchema *schema)
{
    schema_node *node = schema->private_data;
    ald_allocator alloc = node->alloc;
    for (size_t i = 0; i < node->child_count; i++) {
        if (node->children[i].release != NULL)
            node->children[i].release(&node->children[i]);
    }
    if (node->dictionary.release != NULL)
        node->dictionary.release(&node->dictionary);
    if (node->format_size > 0)
        ald__release(&alloc, (void *)(uintptr_t)schema->format, node->format_size);
    if (node->name_size > 0)
        ald__release(&alloc, (void *)(uintptr_t)schema->name, node->name_size);
    if (node->metadata_size > 0)
        ald__release(&alloc, (void *)(uintptr_t)schema->metadata, node->metadata_size);
    if (node->child_count > 0) {
        ald__release(&alloc, node->children, node->child_count * sizeof *node->children);
        ald__release(&alloc, node->pointers, node->child_count * sizeof *node->pointers);
    }
    ald__release(&alloc, node, sizeof *node);
    schema->release = NULL;
}

int ald__schema_is_own(const struct ArrowSchema *schema)
{
    return schema->release == schema_node_release;
}

static ald_status schema_new_children(schema_node *node, size_t count, ald_error *err)
{
    size_t size;
    if (count == 0)
        return ALD_OK;
    if (!ald__mul_size(count, sizeof *node->children, &size))
        return ald__no_memory(err, SIZE_MAX);
    node->children = ald__alloc_zero(&node->alloc, size, err);
    if (node->children == NULL)
        return ALD_E_NOMEM;
    node->pointers = ald__alloc(&node->alloc, count * sizeof *node->pointers, err);
    if (node->pointers == NULL) {
        ald__release(&node->alloc, node->children, size);
        return ALD_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++)
        node->pointers[i] = &node->children[i];
    node->child_count = count;
    return ALD_OK;
}

ald_status ald__schema_new(const ald_allocator *alloc, size_t child_count, int has_dictionary,
                           struct ArrowSchema *out, ald_error *err)
{
    schema_node *node = ald__alloc_zero(alloc, sizeof *node, err);
    memset(out, 0, sizeof *out);
    if (node == NULL)
        return ALD_E_NOMEM;
    node->alloc = *alloc;
    if (schema_new_children(node, child_count, err) != ALD_OK) {
        ald__release(alloc, node, sizeof *node);
        return ALD_E_NOMEM;
    }
    out->format = "";
    out->name = "";
    out->n_children = (int64_t)child_count;
    out->children = node->pointers;
    out->dictionary = has_dictionary ? &node->dictionary : NULL;
    out->release = schema_node_release;
    out->private_data = node;
    return ALD_OK;
}

/* Replaces one of the node's blocks by a copy with a NUL behind it. */
static ald_status schema_set_bytes(struct ArrowSchema *schema, const char **slot, size_t *slot_size,
                                   const void *data, size_t size, ald_error *err)
{
    schema_node *node = schema->private_data;
    char *copy = NULL;
    size_t copy_size;
    if (!ald__add_size(size, 1, &copy_size))
        return ald__no_memory(err, size);
    copy = ald__alloc(&node->alloc, copy_size, err);
    if (copy == NULL)
        return ALD_E_NOMEM;
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    if (*slot_size > 0)
        ald__release(&node->alloc, (void *)(uintptr_t)*slot, *slot_size);
    *slot = copy;
    *slot_size = copy_size;
    return ALD_OK;
}

static ald_status schema_set_text(struct ArrowSchema *schema, const char **slot, size_t *slot_size,
                                  const char *text, size_t size, ald_error *err)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0')
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "'%.*s': a name or format with a NUL inside", (int)i, text);
    }
    return schema_set_bytes(schema, slot, slot_size, text, size, err);
}

ald_status ald__schema_set_format(struct ArrowSchema *schema, const char *format, size_t size,
                                  ald_error *err)
{
    schema_node *node = schema->private_data;
    return schema_set_text(schema, &schema->format, &node->format_size, format, size, err);
}

ald_status ald__schema_set_name(struct ArrowSchema *schema, const char *name, size_t size,
                                ald_error *err)
{
    schema_node *node = schema->private_data;
    return schema_set_text(schema, &schema->name, &node->name_size, name, size, err);
}

ald_status ald__schema_set_metadata(struct ArrowSchema *schema, const void *metadata, size_t size,
                                    ald_error *err)
{
    schema_node *node = schema->private_data;
    if (size > 0)
        return schema_set_bytes(schema, &schema->metadata, &node->metadata_size, metadata, size,
                                err);
    if (node->metadata_size > 0)
        ald__release(&node->alloc, (void *)(uintptr_t)schema->metadata, node->metadata_size);
    schema->metadata = NULL;
    node->metadata_size = 0;
    return ALD_OK;
}

/* The lengths are int32 in the host's byte order, at any address. */
static int32_t metadata_i32(const uint8_t *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

ald__metadata_iter ald__metadata_begin(const char *metadata)
{
    ald__metadata_iter iter = {0};
    if (metadata != NULL) {
        iter.left = metadata_i32((const uint8_t *)metadata);
        iter.next = (const uint8_t *)metadata + sizeof(int32_t);
    }
    return iter;
}

static int metadata_take(ald__metadata_iter *iter, const char **text, size_t *size)
{
    int32_t length = metadata_i32(iter->next);
    if (length < 0)
        return 0;
    *text = (const char *)iter->next + sizeof(int32_t);
    *size = (size_t)length;
    iter->next += sizeof(int32_t) + *size;
    return 1;
}

int ald__metadata_next(ald__metadata_iter *iter)
{
    if (iter->left <= 0)
        return 0;
    iter->left--;
    return metadata_take(iter, &iter->key, &iter->key_size) &&
           metadata_take(iter, &iter->value, &iter->value_size);
}

size_t ald__metadata_size(const char *metadata)
{
    ald__metadata_iter iter = ald__metadata_begin(metadata);
    if (metadata == NULL)
        return 0;
    while (ald__metadata_next(&iter)) {
    }
    return (size_t)(iter.next - (const uint8_t *)metadata);
}

ald_status ald__metadata_append(ald_buffer *out, const char *key, size_t key_size,
                                const char *value, size_t value_size, ald_error *err)
{
    int32_t sizes[2], count = 0;
    size_t before = out->size, need;
    if (key_size > INT32_MAX || value_size > INT32_MAX ||
        !ald__add_size(key_size, value_size, &need) ||
        !ald__add_size(need, 3 * sizeof(int32_t), &need))
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a metadata pair of 2 GiB or more");
    ALD_TRY(ald__buffer_reserve(out, need, err));
    if (before == 0)
        ALD_TRY(ald__buffer_append_zeros(out, sizeof count, err));
    memcpy(&count, out->data, sizeof count);
    count++;
    memcpy(out->data, &count, sizeof count);
    sizes[0] = (int32_t)key_size;
    sizes[1] = (int32_t)value_size;
    ALD_TRY(ald__buffer_append(out, &sizes[0], sizeof sizes[0], err));
    ALD_TRY(ald__buffer_append(out, key, key_size, err));
    ALD_TRY(ald__buffer_append(out, &sizes[1], sizeof sizes[1], err));
    return ald__buffer_append(out, value, value_size, err);
}
