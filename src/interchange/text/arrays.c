/* SPDX-License-Identifier: MIT */
/* Knows how Arrow arrays and fields are laid out in the host's memory and let go again. */
#include <string.h>

#include "interchange/text/column.h"
#include "interchange/text/mem.h"

/* One block: this head, then children, pointers to them, buffer pointers, sizes. */
typedef struct array_block {
    ald_allocator alloc;
    size_t block_size;
    struct ArrowArray *children;
    struct ArrowArray **child_ptrs;
    const void **buffers;
    size_t *sizes;
} array_block;

static void array_release(struct ArrowArray *array)
{
    array_block *b = array->private_data;
    ald_allocator alloc = b->alloc;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    }
    for (int64_t i = 0; i < array->n_buffers; i++) {
        void *p;
        memcpy(&p, &b->buffers[i], sizeof p); /* the array's own, const only in the interface */
        if (p != NULL)
            alloc.release(alloc.ctx, p, b->sizes[i]);
    }
    array->release = NULL;
    alloc.release(alloc.ctx, b, b->block_size);
}

ald_status ald__text_array_new(const ald_allocator *alloc, int64_t length, int64_t null_count,
                               size_t n_buffers, void *const *blocks, const size_t *sizes,
                               size_t n_children, struct ArrowArray *out, ald_error *err)
{
    const size_t per_child = sizeof(struct ArrowArray) + sizeof(struct ArrowArray *);
    size_t size = sizeof(array_block) + n_buffers * (sizeof(void *) + sizeof(size_t));
    array_block *b;
    out->release = NULL;
    if (n_children > (SIZE_MAX / 2 - size) / per_child)
        return ald__text_no_memory(err, n_children);
    size += n_children * per_child;
    b = ald__text_alloc(alloc, 1, size, err);
    if (b == NULL)
        return ALD_E_NOMEM;
    b->alloc = *alloc;
    b->block_size = size;
    b->children = (struct ArrowArray *)(b + 1);
    b->child_ptrs = (struct ArrowArray **)(b->children + n_children);
    b->buffers = (const void **)(b->child_ptrs + n_children);
    b->sizes = (size_t *)(b->buffers + n_buffers);
    for (size_t i = 0; i < n_children; i++)
        b->child_ptrs[i] = &b->children[i];
    for (size_t i = 0; i < n_buffers; i++) {
        b->buffers[i] = blocks[i];
        b->sizes[i] = sizes[i];
    }
    *out = (struct ArrowArray){.length = length,
                               .null_count = null_count,
                               .n_buffers = (int64_t)n_buffers,
                               .n_children = (int64_t)n_children,
                               .buffers = b->buffers,
                               .children = n_children == 0 ? NULL : b->child_ptrs,
                               .release = array_release,
                               .private_data = b};
    return ALD_OK;
}

typedef struct field_block {
    ald_allocator alloc;
    size_t block_size;
    struct ArrowSchema *children;
    struct ArrowSchema **child_ptrs;
} field_block;

static void field_release(struct ArrowSchema *schema)
{
    field_block *b = schema->private_data;
    ald_allocator alloc = b->alloc;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
    }
    schema->release = NULL;
    alloc.release(alloc.ctx, b, b->block_size);
}

ald_status ald__field_new(const ald_allocator *alloc, const char *name, size_t name_size,
                          const char *format, int nullable, size_t n_children,
                          struct ArrowSchema *out, ald_error *err)
{
    const size_t per_child = sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *);
    size_t format_size = strlen(format) + 1, size;
    field_block *b;
    char *text;
    out->release = NULL;
    if (name_size > SIZE_MAX / 4 || n_children > SIZE_MAX / 4 / per_child)
        return ald__text_no_memory(err, name_size);
    size = sizeof *b + n_children * per_child + name_size + 1 + format_size;
    b = ald__text_alloc(alloc, 1, size, err);
    if (b == NULL)
        return ALD_E_NOMEM;
    b->alloc = *alloc;
    b->block_size = size;
    b->children = (struct ArrowSchema *)(b + 1);
    b->child_ptrs = (struct ArrowSchema **)(b->children + n_children);
    for (size_t i = 0; i < n_children; i++)
        b->child_ptrs[i] = &b->children[i];
    text = (char *)(b->child_ptrs + n_children);
    if (name_size > 0)
        memcpy(text, name, name_size);
    memcpy(text + name_size + 1, format, format_size);
    *out = (struct ArrowSchema){.format = text + name_size + 1,
                                .name = text,
                                .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
                                .n_children = (int64_t)n_children,
                                .children = n_children == 0 ? NULL : b->child_ptrs,
                                .release = field_release,
                                .private_data = b};
    return ALD_OK;
}
