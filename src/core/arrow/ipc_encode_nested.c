/* SPDX-License-Identifier: MIT */
/* List views, unions and run-end encoding: layouts whose children are not in step with their rows. */
#include "core/arrow/ipc_encode.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/schema_build.h"
#include "core/base/fail.h"

/* A signed integer of `width` bytes at any address. */
static int64_t nested_load(const uint8_t *p, size_t width)
{
    int64_t wide;
    int32_t mid;
    int16_t narrow;
    if (width == 8) {
        memcpy(&wide, p, 8);
        return wide;
    }
    if (width == 4) {
        memcpy(&mid, p, 4);
        return mid;
    }
    memcpy(&narrow, p, 2);
    return narrow;
}

/* The low bytes; the hosts that this is built for are little-endian, as is the format. */
static void nested_store(uint8_t *p, size_t width, int64_t value)
{
    memcpy(p, &value, width);
}

/* Lowest and highest child row that a slot with a value and a length uses. */
static ald_status view_extent(ald__ipc_encoder *enc, const ald__ipc_node *node,
                              const struct ArrowArray *array, const ald__ipc_rows *rows,
                              const uint8_t *mask, size_t width, ald__ipc_range *extent)
{
    const uint8_t *offsets = array->buffers[1], *sizes = array->buffers[2];
    int64_t slot = 0, low = INT64_MAX, high = 0;
    for (size_t r = 0; r < rows->count; r++) {
        int64_t first = array->offset + rows->ranges[r].start;
        for (int64_t i = first; i < first + rows->ranges[r].length; i++, slot++) {
            int64_t at = nested_load(offsets + (size_t)i * width, width);
            int64_t size = nested_load(sizes + (size_t)i * width, width), end;
            if ((mask != NULL && !ald__bit_get(mask, (uint64_t)slot)) || size == 0)
                continue;
            if (at < 0 || size < 0 || __builtin_add_overflow(at, size, &end))
                return ald__ipc_bad_array(node, "a list view outside of its child", enc->err);
            low = at < low ? at : low;
            high = end > high ? end : high;
        }
    }
    extent->start = low < high ? low : 0;
    extent->length = low < high ? high - low : 0;
    return ALD_OK;
}

/* The child is cut to what lies between the first and the last row in use: slots may share rows, and be in any order. */
ald_status ald__ipc_encode_list_view(ald__ipc_encoder *enc, uint32_t index,
                                     const struct ArrowArray *array, const ald__ipc_rows *rows,
                                     const uint8_t *mask)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    size_t width = node->type.id == ALD__LARGE_LIST_VIEW ? 8 : 4;
    const uint8_t *offsets = array->buffers[1], *sizes = array->buffers[2];
    uint8_t *new_offsets = NULL, *new_sizes = NULL;
    ald__ipc_range extent = {0, 0};
    ald__ipc_rows child = {&extent, 1, 0, NULL, 0};
    int64_t slot = 0;
    if (rows->total > 0 && (offsets == NULL || sizes == NULL))
        return ald__ipc_bad_array(node, "the offsets are missing", enc->err);
    ALD_TRY(view_extent(enc, node, array, rows, mask, width, &extent));
    child.total = extent.length;
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total, width, 1, &new_offsets));
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total, width, 1, &new_sizes));
    for (size_t r = 0; r < rows->count; r++) {
        int64_t first = array->offset + rows->ranges[r].start;
        for (int64_t i = first; i < first + rows->ranges[r].length; i++, slot++) {
            int64_t size = nested_load(sizes + (size_t)i * width, width);
            if (size == 0 || (mask != NULL && !ald__bit_get(mask, (uint64_t)slot)))
                continue;
            nested_store(new_offsets + (size_t)slot * width, width,
                         nested_load(offsets + (size_t)i * width, width) - extent.start);
            nested_store(new_sizes + (size_t)slot * width, width, size);
        }
    }
    ALD_TRY(ald__ipc_plan_piece(enc->plan, new_offsets, (size_t)rows->total * width, enc->err));
    ALD_TRY(ald__ipc_plan_piece(enc->plan, new_sizes, (size_t)rows->total * width, enc->err));
    return ald__ipc_encode(enc, index + 1, array->children[0], &child);
}

/* Child number of each type id; -1: none. */
static ald_status union_children(const ald__ipc_node *node, int8_t child_of[128], ald_error *err)
{
    int8_t ids[128];
    ALD_TRY(ald__type_union_ids(node->schema, ids, err));
    memset(child_of, -1, 128);
    for (uint32_t i = 0; i < node->child_count; i++)
        child_of[ids[i]] = (int8_t)i;
    return ALD_OK;
}

/* Each child is cut to what lies between its first and last row in use, extents[child]. */
static ald_status dense_extents(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                const uint8_t *types, const uint8_t *offsets, int64_t count,
                                const int8_t child_of[128], ald__ipc_range *extents)
{
    for (int64_t i = 0; i < count; i++) {
        int child = types[i] < 128 ? child_of[types[i]] : -1;
        int64_t at = nested_load(offsets + (size_t)i * 4, 4);
        ald__ipc_range *e = child < 0 ? NULL : &extents[child];
        if (e == NULL || at < 0)
            return ald__ipc_bad_array(node, "a type id or offset that is none", enc->err);
        if (e->length == 0) {
            e->start = at;
            e->length = 1;
        } else if (at < e->start) {
            e->length += e->start - at;
            e->start = at;
        } else if (at - e->start >= e->length) {
            e->length = at - e->start + 1;
        }
    }
    return ALD_OK;
}

static ald_status encode_dense(ald__ipc_encoder *enc, uint32_t index,
                               const struct ArrowArray *array, const ald__ipc_rows *rows,
                               const uint8_t *types)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    ald__ipc_range *extents = NULL;
    const uint8_t *offsets = NULL;
    uint8_t *copy = NULL, *moved = NULL;
    int8_t child_of[128];
    uint32_t at = index + 1;
    ALD_TRY(union_children(node, child_of, enc->err));
    ALD_TRY(ald__ipc_scratch(enc, node->child_count, sizeof *extents, 1, &extents));
    if (rows->total > 0)
        ALD_TRY(
            ald__ipc_gather(enc, node, array->buffers[1], array->offset, rows, 4, &copy, &offsets));
    ALD_TRY(dense_extents(enc, node, types, offsets, rows->total, child_of, extents));
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total, 4, 0, &moved));
    for (int64_t i = 0; i < rows->total; i++)
        nested_store(moved + (size_t)i * 4, 4,
                     nested_load(offsets + (size_t)i * 4, 4) - extents[child_of[types[i]]].start);
    ALD_TRY(ald__ipc_plan_piece(enc->plan, moved, (size_t)rows->total * 4, enc->err));
    for (uint32_t i = 0; i < node->child_count; i++) {
        ald__ipc_rows child = {&extents[i], 1, extents[i].length, NULL, 0};
        ALD_TRY(ald__ipc_encode(enc, at, array->children[i], &child));
        at = enc->tree->nodes[at].next;
    }
    return ALD_OK;
}

ald_status ald__ipc_encode_union(ald__ipc_encoder *enc, uint32_t index,
                                 const struct ArrowArray *array, const ald__ipc_rows *rows)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    const uint8_t *types = NULL;
    uint8_t *copy = NULL;
    ald__ipc_rows child;
    uint32_t at = index + 1;
    if (rows->total > 0)
        ALD_TRY(
            ald__ipc_gather(enc, node, array->buffers[0], array->offset, rows, 1, &copy, &types));
    ALD_TRY(ald__ipc_plan_piece(enc->plan, types, (size_t)rows->total, enc->err));
    if (node->type.id == ALD__DENSE_UNION)
        return encode_dense(enc, index, array, rows, types);
    ALD_TRY(ald__ipc_child_rows(enc, node, array, rows, 1, &child));
    for (uint32_t i = 0; i < node->child_count; i++) {
        ALD_TRY(ald__ipc_encode(enc, at, array->children[i], &child));
        at = enc->tree->nodes[at].next;
    }
    return ALD_OK;
}

/* Run ends with the child's own offset taken in. */
typedef struct run_ends {
    const uint8_t *ends;
    size_t width;
    int64_t count;
} run_ends;

static int64_t run_end_at(const run_ends *runs, int64_t i)
{
    return nested_load(runs->ends + (size_t)i * runs->width, runs->width);
}

/* The run that holds row `row`, or `count`. */
static int64_t run_find(const run_ends *runs, int64_t row)
{
    int64_t low = 0, high = runs->count;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (run_end_at(runs, mid) > row)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

/* For each range the runs that it touches, as ranges of the values. */
static ald_status run_ranges(ald__ipc_encoder *enc, const ald__ipc_node *node, const run_ends *runs,
                             const struct ArrowArray *array, const ald__ipc_rows *rows,
                             ald__ipc_range *ranges, ald__ipc_rows *values)
{
    values->ranges = ranges;
    for (size_t r = 0; r < rows->count; r++) {
        int64_t first = array->offset + rows->ranges[r].start, from, to;
        if (rows->ranges[r].length == 0)
            continue;
        from = run_find(runs, first);
        to = run_find(runs, first + rows->ranges[r].length - 1);
        if (to >= runs->count || to < from)
            return ald__ipc_bad_array(node, "the runs end before the rows do", enc->err);
        ranges[values->count].start = from;
        ranges[values->count].length = to - from + 1;
        values->count++;
        values->total += to - from + 1;
    }
    return ALD_OK;
}

/* The run ends child: its field node, no validity, the ends clipped to the rows. */
static ald_status encode_run_ends(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                  const run_ends *runs, const struct ArrowArray *array,
                                  const ald__ipc_rows *rows, int64_t run_count)
{
    int64_t limit = runs->width == 2 ? INT16_MAX : runs->width == 4 ? INT32_MAX : INT64_MAX;
    int64_t before = 0, last = 0;
    uint8_t *ends = NULL, *to;
    ALD_TRY(ald__ipc_plan_node(enc->plan, run_count, 0, enc->err));
    ALD_TRY(ald__ipc_plan_piece(enc->plan, NULL, 0, enc->err));
    if (rows->total > limit)
        return ald__fail(enc->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "column '%s': more rows than its run ends can count",
                         ald__schema_name(node->schema));
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)run_count, runs->width, 0, &ends));
    to = ends;
    for (size_t r = 0; r < rows->count; r++) {
        int64_t first = array->offset + rows->ranges[r].start, length = rows->ranges[r].length;
        for (int64_t i = length > 0 ? run_find(runs, first) : 0; length > 0; i++) {
            int64_t end = run_end_at(runs, i) - first;
            int64_t stop = before + (end < length ? end : length);
            if (stop <= last)
                return ald__ipc_bad_array(node, "run ends do not rise", enc->err);
            last = stop;
            nested_store(to, runs->width, stop);
            to += runs->width;
            if (end >= length)
                break;
        }
        before += length;
    }
    if (to != ends + (size_t)run_count * runs->width)
        return ald__ipc_bad_array(node, "run ends do not rise", enc->err);
    return ald__ipc_plan_piece(enc->plan, ends, (size_t)run_count * runs->width, enc->err);
}

ald_status ald__ipc_encode_run_end(ald__ipc_encoder *enc, uint32_t index,
                                   const struct ArrowArray *array, const ald__ipc_rows *rows)
{
    const ald__ipc_node *nodes = enc->tree->nodes, *node = &nodes[index];
    const struct ArrowArray *child = array->children[0];
    run_ends runs = {NULL, nodes[index + 1].type.bit_width / 8, 0};
    ald__ipc_range *ranges = NULL;
    ald__ipc_rows values = {0};
    ALD_TRY(ald__ipc_check_form(&nodes[index + 1], child, enc->err));
    if (child->length > 0 && child->buffers[1] == NULL)
        return ald__ipc_bad_array(node, "the run ends are missing", enc->err);
    if (child->length > 0)
        runs.ends = (const uint8_t *)child->buffers[1] + (size_t)child->offset * runs.width;
    runs.count = child->length;
    ALD_TRY(ald__ipc_scratch(enc, rows->count, sizeof *ranges, 0, &ranges));
    ALD_TRY(run_ranges(enc, node, &runs, array, rows, ranges, &values));
    ALD_TRY(encode_run_ends(enc, node, &runs, array, rows, values.total));
    return ald__ipc_encode(enc, nodes[index + 1].next, array->children[1], &values);
}
