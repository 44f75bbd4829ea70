/* SPDX-License-Identifier: MIT */
#include "interchange/tensors/tensor_node.h"

#include <string.h>

#include "interchange/text/column.h"
#include "interchange/text/mem.h"

typedef struct ald__tensor_block {
    struct ald__tensor_block *before;
    size_t size;
} ald__tensor_block;

#define BLOCK_HEAD ((sizeof(ald__tensor_block) + 15) & ~(size_t)15)

void *ald__tensor_alloc(ald__tensor_memory *memory, size_t count, size_t size, ald_error *err)
{
    ald__tensor_block *block = NULL;
    size_t bytes = 0, whole = 0;
    if (!__builtin_mul_overflow(count, size, &bytes) &&
        !__builtin_add_overflow(bytes, BLOCK_HEAD, &whole))
        block = memory->alloc.alloc(memory->alloc.ctx, whole);
    if (block == NULL) {
        (void)ald__text_no_memory(err, bytes);
        return NULL;
    }
    memset(block, 0, whole);
    block->before = memory->last;
    block->size = whole;
    memory->last = block;
    return (uint8_t *)block + BLOCK_HEAD;
}

char *ald__tensor_text(ald__tensor_memory *memory, const char *text, size_t size, ald_error *err)
{
    char *copy = size < SIZE_MAX ? ald__tensor_alloc(memory, size + 1, 1, err) : NULL;
    if (copy != NULL && size > 0)
        memcpy(copy, text, size);
    return copy;
}

void ald__tensor_memory_clear(ald__tensor_memory *memory)
{
    while (memory->last != NULL) {
        ald__tensor_block *block = memory->last;
        memory->last = block->before;
        memory->alloc.release(memory->alloc.ctx, block, block->size);
    }
}

/* ---- nodes */

static void put_number(char *out, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    while (n > 0)
        *out++ = digits[--n];
    *out = '\0';
}

ald_status ald__tensor_node_repeat(ald__tensor_memory *memory, uint64_t count,
                                   ald__tensor_node *node, ald_error *err)
{
    ald__tensor_node list = {.kind = ALD__TENSOR_LIST, .format = "+w:", .count = count};
    if (count > INT32_MAX)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "a dimension of %llu is more than a fixed-size list can have",
                             (unsigned long long)count);
    if (__builtin_mul_overflow(node->width, (size_t)count, &list.width))
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the dimensions are too large");
    list.children = ald__tensor_alloc(memory, 1, sizeof *list.children, err);
    if (list.children == NULL)
        return ALD_E_NOMEM;
    list.child_count = 1;
    list.name = node->name;
    list.name_size = node->name_size;
    list.note = node->note;
    list.was = node->was;
    list.offset = node->offset;
    list.children[0] = *node;
    list.children[0].name = "item";
    list.children[0].name_size = 4;
    list.children[0].offset = 0;
    put_number(list.format + 3, count);
    *node = list;
    return ALD_OK;
}

ald_status ald__tensor_node_complex(ald__tensor_memory *memory, size_t width, const char *format,
                                    int swap, ald__tensor_node *node, ald_error *err)
{
    memset(node, 0, sizeof *node);
    node->kind = ALD__TENSOR_COPY;
    node->swap = swap != 0;
    node->width = width;
    node->format[0] = format[0];
    node->note = "complex numbers: lists of the real and the imaginary part";
    return ald__tensor_node_repeat(memory, 2, node, err);
}

size_t ald__tensor_node_depth(const ald__tensor_node *node)
{
    size_t deepest = 0;
    for (size_t i = 0; i < node->child_count; i++) {
        size_t depth = ald__tensor_node_depth(&node->children[i]);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

uint64_t ald__tensor_node_memory(const ald__tensor_node *node)
{
    uint64_t sum = 0, one;
    switch (node->kind) {
    case ALD__TENSOR_BOOL:
        return 1;
    case ALD__TENSOR_BFLOAT16:
    case ALD__TENSOR_DAYS:
    case ALD__TENSOR_MONTHS:
        return 5;
    case ALD__TENSOR_TIME:
        return 9;
    case ALD__TENSOR_BYTES:
    case ALD__TENSOR_UCS4:
        return (uint64_t)node->width + 4;
    case ALD__TENSOR_LIST:
        one = ald__tensor_node_memory(&node->children[0]);
        return __builtin_mul_overflow(one, node->count, &sum) ? UINT64_MAX : sum;
    case ALD__TENSOR_STRUCT:
        for (size_t i = 0; i < node->child_count; i++) {
            one = ald__tensor_node_memory(&node->children[i]);
            if (__builtin_add_overflow(sum, one, &sum))
                return UINT64_MAX;
        }
        return sum;
    default:
        return node->width > 0 ? node->width : 1;
    }
}

ald_status ald__tensor_node_field(const ald__tensor_node *node, const char *name, size_t name_size,
                                  const ald_allocator *alloc, struct ArrowSchema *out,
                                  ald_error *err)
{
    ald_status status =
        ald__field_new(alloc, name, name_size, node->format, 1, node->child_count, out, err);
    for (size_t i = 0; status == ALD_OK && i < node->child_count; i++) {
        const ald__tensor_node *child = &node->children[i];
        status = ald__tensor_node_field(child, child->name, child->name_size, alloc,
                                        out->children[i], err);
    }
    if (status != ALD_OK && out->release != NULL)
        out->release(out);
    return status;
}
