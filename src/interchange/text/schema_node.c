/* SPDX-License-Identifier: MIT */
/* A node's block: header, child pointers, the children themselves, then the two texts. */
#include "interchange/text/schema_node.h"

#include <string.h>

typedef struct schema_block {
    ald_allocator alloc;
    size_t size;
} schema_block;

static void node_release(struct ArrowSchema *schema)
{
    schema_block *block = schema->private_data;
    ald_allocator alloc = block->alloc;
    for (int64_t i = 0; i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child->release)
            child->release(child);
    }
    memset(schema, 0, sizeof *schema);
    alloc.release(alloc.ctx, block, block->size);
}

ald_status ald__schema_node_new(const ald_allocator *alloc, const char *format, const char *name,
                                size_t name_size, size_t child_count, struct ArrowSchema *out,
                                ald_error *err)
{
    size_t format_size = strlen(format) + 1;
    size_t per_child = sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *);
    size_t fixed = sizeof(schema_block) + format_size + 1, size;
    schema_block *block;
    struct ArrowSchema **pointers, *children;
    char *text;
    memset(out, 0, sizeof *out);
    if (__builtin_mul_overflow(child_count, per_child, &size) ||
        __builtin_add_overflow(size, fixed, &size) || __builtin_add_overflow(size, name_size, &size))
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "too many columns");
    block = alloc->alloc(alloc->ctx, size);
    if (!block)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
    memset(block, 0, size);
    block->alloc = *alloc;
    block->size = size;
    pointers = (struct ArrowSchema **)(void *)(block + 1);
    children = (struct ArrowSchema *)(void *)(pointers + child_count);
    for (size_t i = 0; i < child_count; i++)
        pointers[i] = &children[i];
    text = (char *)(children + child_count);
    memcpy(text, format, format_size);
    if (name_size)
        memcpy(text + format_size, name, name_size);
    out->format = text;
    out->name = text + format_size;
    out->flags = ARROW_FLAG_NULLABLE;
    out->n_children = (int64_t)child_count;
    out->children = child_count ? pointers : NULL;
    out->release = node_release;
    out->private_data = block;
    return ALD_OK;
}
