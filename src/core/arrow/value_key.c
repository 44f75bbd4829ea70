/* SPDX-License-Identifier: MIT */
/* A null is one zero byte; a value is a one, its size where that varies, and its bytes. Positions are checked here although
 * the array was encoded before: a buffer that went out as it was has not been looked at inside. */
#include "core/arrow/value_key.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

/* A list can claim any number of rows that have no bytes; its key has one for each. */
#define KEY_MAX_BYTES ((size_t)1 << 28)

typedef struct key_writer {
    const ald__ipc_tree *tree;
    const ald__ipc_remap *remaps;
    ald_buffer *out;
    ald_error *err;
} key_writer;

static ald_status key_value(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                            int64_t row);

static int64_t key_int(const void *base, int64_t i, size_t width)
{
    const uint8_t *p = (const uint8_t *)base + (size_t)i * width;
    if (width == 8)
        return (int64_t)ald__load_le64(p);
    if (width == 4)
        return (int32_t)ald__load_le32(p);
    return width == 2 ? (int16_t)ald__load_le16(p) : (int8_t)*p;
}

static ald_status key_number(const key_writer *w, uint64_t value)
{
    uint8_t bytes[8];
    ald__store_le64(bytes, value);
    return ald__buffer_append(w->out, bytes, sizeof bytes, w->err);
}

static ald_status key_bytes(const key_writer *w, const uint8_t *data, uint64_t size)
{
    ALD_TRY(key_number(w, size));
    return ald__buffer_append(w->out, data, (size_t)size, w->err);
}

static ald_status key_text(const key_writer *w, const ald__ipc_node *node,
                           const struct ArrowArray *array, int64_t at)
{
    size_t width = node->type.id == ALD__LARGE_BINARY || node->type.id == ALD__LARGE_UTF8 ? 8 : 4;
    int64_t low = key_int(array->buffers[1], at, width);
    int64_t high = key_int(array->buffers[1], at + 1, width);
    if (low < 0 || high < low)
        return ald__ipc_bad_array(node, "offsets fall, or are negative", w->err);
    if (high == low)
        return key_number(w, 0);
    return key_bytes(w, (const uint8_t *)array->buffers[2] + low, (uint64_t)(high - low));
}

static ald_status key_view(const key_writer *w, const struct ArrowArray *array, int64_t at)
{
    const uint8_t *view = (const uint8_t *)array->buffers[1] + (size_t)at * 16;
    uint32_t size = ald__load_le32(view);
    const uint8_t *data = view + 4;
    if (size > 12)
        data = (const uint8_t *)array->buffers[2 + ald__load_le32(view + 8)] +
               ald__load_le32(view + 12);
    return key_bytes(w, data, size);
}

/* Rows [first, first + count) of the only child. */
static ald_status key_items(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                            int64_t first, int64_t count)
{
    const struct ArrowArray *child = array->children[0];
    if (first < 0 || count < 0 || first > child->length || count > child->length - first)
        return ald__ipc_bad_array(&w->tree->nodes[index], "a list outside of its child", w->err);
    ALD_TRY(key_number(w, (uint64_t)count));
    for (int64_t i = 0; i < count; i++)
        ALD_TRY(key_value(w, index + 1, child, first + i));
    return ALD_OK;
}

static ald_status key_list(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                           int64_t at)
{
    const ald__type *type = &w->tree->nodes[index].type;
    int large = type->id == ALD__LARGE_LIST || type->id == ALD__LARGE_LIST_VIEW;
    size_t width = large ? 8 : 4;
    int64_t first, count;
    if (type->id == ALD__FIXED_LIST)
        return key_items(w, index, array, at * type->list_size, type->list_size);
    first = key_int(array->buffers[1], at, width);
    if (type->id == ALD__LIST_VIEW || type->id == ALD__LARGE_LIST_VIEW)
        count = key_int(array->buffers[2], at, width);
    else if (__builtin_sub_overflow(key_int(array->buffers[1], at + 1, width), first, &count))
        count = -1;
    return key_items(w, index, array, first, count);
}

static ald_status key_struct(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                             int64_t at)
{
    const ald__ipc_node *nodes = w->tree->nodes;
    uint32_t child = index + 1;
    for (uint32_t i = 0; i < nodes[index].child_count; i++) {
        ALD_TRY(key_value(w, child, array->children[i], at));
        child = nodes[child].next;
    }
    return ALD_OK;
}

static ald_status key_union(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                            int64_t at)
{
    const ald__ipc_node *nodes = w->tree->nodes;
    int64_t id = key_int(array->buffers[0], at, 1), row = at;
    uint32_t child = index + 1;
    int8_t ids[128];
    ALD_TRY(ald__type_union_ids(nodes[index].schema, ids, w->err));
    ALD_TRY(key_number(w, (uint64_t)id));
    if (nodes[index].type.id == ALD__DENSE_UNION)
        row = key_int(array->buffers[1], at, 4);
    for (uint32_t i = 0; i < nodes[index].child_count; i++) {
        if (ids[i] == id && row >= 0 && row < array->children[i]->length)
            return key_value(w, child, array->children[i], row);
        child = nodes[child].next;
    }
    return ald__ipc_bad_array(&nodes[index], "a type id or offset that is none", w->err);
}

/* The value of the run that holds the row: the first whose end is above it. */
static ald_status key_run(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                          int64_t at)
{
    const ald__ipc_node *nodes = w->tree->nodes;
    const struct ArrowArray *runs = array->children[0], *values = array->children[1];
    size_t width = nodes[index + 1].type.bit_width / 8;
    int64_t low = 0, high = runs->length;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (key_int(runs->buffers[1], runs->offset + mid, width) > at)
            high = mid;
        else
            low = mid + 1;
    }
    if (low >= values->length)
        return ald__ipc_bad_array(&nodes[index], "the runs end before the rows do", w->err);
    return key_value(w, nodes[index + 1].next, values, low);
}

static ald_status key_fixed(const key_writer *w, const ald__ipc_node *node,
                            const struct ArrowArray *array, int64_t at)
{
    size_t width = node->type.bit_width / 8;
    if (node->dictionary != ALD__NO_DICTIONARY) {
        const ald__ipc_remap *remap = &w->remaps[node->dictionary];
        int64_t i = key_int(array->buffers[1], at, width);
        /* An unsigned index was read as signed; its low bytes are what it is. */
        uint64_t number = (uint64_t)i & (UINT64_MAX >> (64 - node->type.bit_width));
        if (remap->map != NULL && number >= remap->count)
            return ald__ipc_bad_array(node, "an index is outside the dictionary", w->err);
        return key_number(w, remap->map != NULL ? remap->map[number] : number);
    }
    return ald__buffer_append(w->out, (const uint8_t *)array->buffers[1] + (size_t)at * width,
                              width, w->err);
}

static ald_status key_layout(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                             int64_t at)
{
    const ald__ipc_node *node = &w->tree->nodes[index];
    uint8_t bit;
    switch (node->type.id) {
    case ALD__NULL:
        return ALD_OK;
    case ALD__BOOL:
        bit = (uint8_t)ald__bit_get(array->buffers[1], (uint64_t)at);
        return ald__buffer_append(w->out, &bit, 1, w->err);
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return key_text(w, node, array, at);
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return key_view(w, array, at);
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
    case ALD__FIXED_LIST:
    case ALD__MAP:
        return key_list(w, index, array, at);
    case ALD__STRUCT:
        return key_struct(w, index, array, at);
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return key_union(w, index, array, at);
    case ALD__RUN_END:
        return key_run(w, index, array, at);
    default:
        return key_fixed(w, node, array, at);
    }
}

/* Recursion is bounded by the tree's depth. */
static ald_status key_value(const key_writer *w, uint32_t index, const struct ArrowArray *array,
                            int64_t row)
{
    const ald__ipc_node *node = &w->tree->nodes[index];
    int64_t at = array->offset + row;
    uint8_t valid = 1;
    if (w->out->size > KEY_MAX_BYTES)
        return ald__fail(w->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "column '%s': a dictionary value beyond 256 MiB",
                         ald__schema_name(node->schema));
    if (node->type.has_validity && array->null_count != 0 && array->buffers[0] != NULL)
        valid = (uint8_t)ald__bit_get(array->buffers[0], (uint64_t)at);
    ALD_TRY(ald__buffer_append(w->out, &valid, 1, w->err));
    return valid ? key_layout(w, index, array, at) : ALD_OK;
}

ald_status ald__value_key(const ald__ipc_tree *tree, const ald__ipc_remap *remaps, uint32_t node,
                          const struct ArrowArray *array, int64_t row, ald_buffer *out,
                          ald_error *err)
{
    key_writer w = {tree, remaps, out, err};
    return key_value(&w, node, array, row);
}
