/* SPDX-License-Identifier: MIT */
/* Which rows of which node come next. A node hands rows on to its children as spans of theirs; a child takes them when enough
 * are there, or when the batch ends. So no more than a few spans of each node are held, however rows are nested, repeated or
 * picked from dictionaries, and each stream gets its bytes in the order of the rows. */
#include <string.h>

#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/base/endian.h"
#include "core/dataset/content_node.h"

#define LOCAL_VALUES 64

static void take_spans(ald__content_node *node);

static int span_extends(ald__content_span *last, int64_t row, int64_t count, int repeated)
{
    if (row < 0 || last->row < 0)
        return row < 0 && last->row < 0;
    if (last->count == 1 && row == last->row && (repeated || count == 1)) {
        last->repeated = 1; /* a first copy, whatever it was called */
        return 1;
    }
    if (last->repeated)
        return row == last->row && (repeated || count == 1);
    return !repeated && row == last->row + last->count;
}

static void push(ald__content_node *node, int64_t row, int64_t count, int repeated)
{
    if (count == 0)
        return;
    repeated = repeated && count > 1;
    if (node->span_count > 0 &&
        span_extends(&node->spans[node->span_count - 1], row, count, repeated)) {
        node->spans[node->span_count - 1].count += count;
        return;
    }
    if (node->span_count == ALD__CONTENT_SPANS)
        take_spans(node);
    node->spans[node->span_count++] = (ald__content_span){row, count, (uint8_t)(repeated != 0)};
}

/* ---- values: rows [at, at + count) of the buffers, none of them null */

static void put_bools(ald__content_node *node, int64_t at, int64_t count)
{
    uint8_t bytes[LOCAL_VALUES];
    const uint8_t *bits = node->array->buffers[1];
    for (int64_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < LOCAL_VALUES && done < count; n++, done++)
            bytes[n] = (uint8_t)ald__bit_get(bits, (uint64_t)(at + done));
        ald__content_put(node, &node->data, bytes, n);
    }
}

static void put_fixed(ald__content_node *node, int64_t at, int64_t count)
{
    if (node->width > 0)
        ald__content_put(node, &node->data,
                         (const uint8_t *)node->array->buffers[1] + (size_t)at * node->width,
                         (size_t)count * node->width);
}

static int64_t offset_at(const ald__content_node *node, int64_t at)
{
    return ald__layout_signed(node->array->buffers[1], (uint8_t)node->width, at);
}

/* Differences of offsets. */
static void put_lengths(ald__content_node *node, int64_t at, int64_t count)
{
    uint8_t bytes[LOCAL_VALUES * 8];
    int64_t before = offset_at(node, at);
    for (int64_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < LOCAL_VALUES && done < count; n++, done++) {
            int64_t next = offset_at(node, at + done + 1);
            ald__store_le64(bytes + n * 8, (uint64_t)(next - before));
            before = next;
        }
        ald__content_put(node, &node->lengths, bytes, n * 8);
    }
}

static void put_text(ald__content_node *node, int64_t at, int64_t count)
{
    int64_t begin = offset_at(node, at), end = offset_at(node, at + count);
    put_lengths(node, at, count);
    if (end > begin)
        ald__content_put(node, &node->data, (const uint8_t *)node->array->buffers[2] + begin,
                         (size_t)(end - begin));
}

static void put_views(ald__content_node *node, int64_t at, int64_t count)
{
    for (int64_t i = at; i < at + count; i++) {
        const uint8_t *view = (const uint8_t *)node->array->buffers[1] + (size_t)i * 16;
        uint32_t size = ald__load_le32(view);
        const uint8_t *data = view + 4;
        if (size > 12)
            data = (const uint8_t *)node->array->buffers[2 + ald__load_le32(view + 8)] +
                   ald__load_le32(view + 12);
        ald__content_put_u64(node, &node->lengths, size);
        ald__content_put(node, &node->data, data, size);
    }
}

/* Items of lists; a map's are the rows of its entries, whose children are the node's. */
static void push_items(ald__content_node *node, int64_t first, int64_t count)
{
    if (node->is_map)
        first += node->array->children[0]->offset;
    for (uint32_t i = 0; i < node->child_count; i++)
        push(&node->children[i], first, count, 0);
}

static void put_lists(ald__content_node *node, int64_t at, int64_t count)
{
    int64_t begin = offset_at(node, at);
    put_lengths(node, at, count);
    push_items(node, begin, offset_at(node, at + count) - begin);
}

static void put_list_views(ald__content_node *node, int64_t at, int64_t count)
{
    for (int64_t i = at; i < at + count; i++) {
        int64_t size = ald__layout_signed(node->array->buffers[2], (uint8_t)node->width, i);
        ald__content_put_u64(node, &node->lengths, (uint64_t)size);
        push_items(node, offset_at(node, i), size);
    }
}

static void put_union(ald__content_node *node, int64_t at, int64_t count, int repeated)
{
    const uint8_t *codes = node->array->buffers[0];
    for (int64_t i = 0; i < count; i++) {
        int64_t row = repeated ? at : at + i;
        uint8_t code = codes[row];
        int64_t slot = node->width > 0 ? ald__layout_signed(node->array->buffers[1], 4, row) : row;
        ald__content_put(node, &node->data, &code, 1);
        push(&node->children[node->child_of_code[code & 0x7F]], slot, 1, 0);
    }
}

static void put_indices(ald__content_node *node, int64_t at, int64_t count)
{
    const void *indices = node->array->buffers[1];
    for (int64_t i = at; i < at + count; i++) {
        uint64_t index = ald__layout_unsigned(indices, (uint8_t)node->width, i);
        push(&node->children[0], (int64_t)index, 1, 0);
    }
}

/* `row` is one without the array's offset. */
static void put_runs(ald__content_node *node, int64_t row, int64_t count)
{
    const struct ArrowArray *ends = node->array->children[0];
    int64_t run = ald__layout_run(node->array, (uint8_t)node->width, row);
    for (row += node->array->offset; count > 0; run++) {
        int64_t end =
            ald__layout_signed(ends->buffers[1], (uint8_t)node->width, ends->offset + run);
        int64_t n = end - row < count ? end - row : count;
        push(&node->children[0], run, n, 1);
        row += n;
        count -= n;
    }
}

static void put_values(ald__content_node *node, int64_t row, int64_t count)
{
    int64_t at = node->array->offset + row;
    switch (node->kind) {
    case ALD__CONTENT_BOOL:
        put_bools(node, at, count);
        break;
    case ALD__CONTENT_FIXED:
        put_fixed(node, at, count);
        break;
    case ALD__CONTENT_TEXT:
        put_text(node, at, count);
        break;
    case ALD__CONTENT_VIEW:
        put_views(node, at, count);
        break;
    case ALD__CONTENT_LIST:
        put_lists(node, at, count);
        break;
    case ALD__CONTENT_LIST_VIEW:
        put_list_views(node, at, count);
        break;
    case ALD__CONTENT_FIXED_LIST:
        push(&node->children[0], at * node->list_size, count * node->list_size, 0);
        break;
    case ALD__CONTENT_STRUCT:
        for (uint32_t i = 0; i < node->child_count; i++)
            push(&node->children[i], at, count, 0);
        break;
    case ALD__CONTENT_UNION:
        put_union(node, at, count, 0);
        break;
    case ALD__CONTENT_DICTIONARY:
        put_indices(node, at, count);
        break;
    case ALD__CONTENT_RUN_END:
        put_runs(node, row, count);
        break;
    default:
        break;
    }
}

/* One row, which is not null, so many times. */
static void put_repeated(ald__content_node *node, int64_t row, int64_t count)
{
    int64_t at = node->array->offset + row;
    if (node->kind == ALD__CONTENT_FIXED_LIST && node->list_size == 0)
        return; /* nothing, however often */
    switch (node->kind) {
    case ALD__CONTENT_STRUCT:
        for (uint32_t i = 0; i < node->child_count; i++)
            push(&node->children[i], at, count, 1);
        break;
    case ALD__CONTENT_UNION:
        put_union(node, at, count, 1);
        break;
    case ALD__CONTENT_DICTIONARY:
        push(&node->children[0],
             (int64_t)ald__layout_unsigned(node->array->buffers[1], (uint8_t)node->width, at),
             count, 1);
        break;
    case ALD__CONTENT_RUN_END:
        push(&node->children[0], ald__layout_run(node->array, (uint8_t)node->width, row), count, 1);
        break;
    default:
        for (int64_t i = 0; i < count; i++)
            put_values(node, row, 1);
        break;
    }
}

/* ---- nulls */

/* Dictionaries and runs have no rows of their own. */
static int is_encoded(const ald__content_node *node)
{
    return node->kind == ALD__CONTENT_DICTIONARY || node->kind == ALD__CONTENT_RUN_END;
}

static void put_null_rows(ald__content_node *node, int64_t count)
{
    if (is_encoded(node))
        push(&node->children[0], -1, count, 0);
    else
        ald__content_put_nulls(node, (uint64_t)count);
}

static void put_valid_rows(ald__content_node *node, int64_t row, int64_t count, int repeated)
{
    if (!is_encoded(node))
        node->row_count += (uint64_t)count;
    if (repeated)
        put_repeated(node, row, count);
    else
        put_values(node, row, count);
}

static const uint8_t *validity_of(const ald__content_node *node)
{
    return node->has_validity && node->array->null_count != 0 ? node->array->buffers[0] : NULL;
}

/* The rows of a span, cut where nulls begin and end. */
static void put_span(ald__content_node *node, const ald__content_span *span)
{
    const uint8_t *valid = span->row >= 0 ? validity_of(node) : NULL;
    uint64_t at, end;
    if (span->row < 0 || node->kind == ALD__CONTENT_NULL) {
        put_null_rows(node, span->count);
        return;
    }
    at = (uint64_t)(node->array->offset + span->row);
    if (valid == NULL || (span->repeated && ald__bit_get(valid, at))) {
        put_valid_rows(node, span->row, span->count, span->repeated);
        return;
    }
    if (span->repeated) {
        put_null_rows(node, span->count);
        return;
    }
    for (end = at + (uint64_t)span->count; at < end;) {
        int is_valid = ald__bit_get(valid, at);
        uint64_t next = ald__bits_find(valid, at, end, !is_valid);
        if (is_valid)
            put_valid_rows(node, (int64_t)at - node->array->offset, (int64_t)(next - at), 0);
        else
            put_null_rows(node, (int64_t)(next - at));
        at = next;
    }
}

/* Spans that come while these are worked on belong to children. */
static void take_spans(ald__content_node *node)
{
    uint32_t count = node->span_count;
    for (uint32_t i = 0; i < count; i++)
        put_span(node, &node->spans[i]);
    node->span_count = 0;
}

/* ---- a batch */

static void bind_array(ald__content_node *node, const struct ArrowArray *array)
{
    const struct ArrowArray *parent = node->is_map ? array->children[0] : array;
    node->array = array;
    if (node->kind == ALD__CONTENT_DICTIONARY)
        bind_array(&node->children[0], array->dictionary);
    else if (node->kind == ALD__CONTENT_RUN_END)
        bind_array(&node->children[0], array->children[1]);
    else
        for (uint32_t i = 0; i < node->child_count; i++)
            bind_array(&node->children[i], parent->children[i]);
}

static void drain(ald__content_node *node)
{
    take_spans(node);
    for (uint32_t i = 0; i < node->child_count; i++)
        drain(&node->children[i]);
    ald__content_flush(node, &node->nulls);
    ald__content_flush(node, &node->lengths);
    ald__content_flush(node, &node->data);
    node->array = NULL;
}

void ald__content_node_take(ald__content_node *node, const struct ArrowArray *array, int64_t row,
                            int64_t count)
{
    const ald__content_span all = {row, count, 0};
    if (count == 0)
        return;
    bind_array(node, array);
    put_span(node, &all);
    drain(node);
}
