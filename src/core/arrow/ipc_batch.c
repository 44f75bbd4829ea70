/* SPDX-License-Identifier: MIT */
/* Record batches, and where their columns lie. */
#include "core/arrow/array.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/ipc_column.h"
#include "core/arrow/ipc_format.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/endian.h"

static size_t count_wanted(const ald__ipc_tree *tree, const uint8_t *wanted)
{
    size_t count = 0;
    if (wanted == NULL)
        return tree->nodes[0].child_count;
    for (uint32_t i = 0; i < tree->nodes[0].child_count; i++)
        count += wanted[i] != 0;
    return count;
}

static ald_status check_column_rows(const ald__ipc_columns *c, const struct ArrowSchema *schema,
                                    const struct ArrowArray *column)
{
    if (column->length == c->walk.length)
        return ALD_OK;
    return ald__fail(c->err, ALD_E_INVALID_FORMAT, c->message->metadata_offset,
                     "column '%s' has %lld rows, its batch %lld", ald__schema_name(schema),
                     (long long)column->length, (long long)c->walk.length);
}

static ald_status read_columns(ald__ipc_columns *c, const uint8_t *wanted, struct ArrowArray *out)
{
    const ald__ipc_tree *tree = &c->schema->tree;
    uint32_t node = 1;
    size_t used = 0;
    ALD_TRY(ald__array_new(c->alloc, 1, count_wanted(tree, wanted), 0, out, c->err));
    out->length = c->walk.length;
    for (uint32_t i = 0; i < tree->nodes[0].child_count; i++) {
        const struct ArrowSchema *schema = tree->nodes[node].schema;
        if (wanted == NULL || wanted[i]) {
            ALD_TRY(ald__ipc_columns_read(c, node, schema, out->children[used]));
            ALD_TRY(check_column_rows(c, schema, out->children[used]));
            used++;
        } else {
            ALD_TRY(ald__ipc_walk_skip(&c->walk, tree, node, c->err));
        }
        node = tree->nodes[node].next;
    }
    return ald__ipc_walk_close(&c->walk, c->err);
}

static ald_status check_is_batch(const ald__ipc_message *message, ald_error *err)
{
    if (message->type == ALD__IPC_BATCH)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                     message->type == ALD__IPC_SCHEMA ? "a second schema message"
                                                      : "the message is no record batch");
}

ald_status ald__ipc_read_batch(const ald__ipc_dictionaries *dictionaries,
                               const ald__ipc_message *message, const ald__ipc_rules *rules,
                               ald__shared *backing, const uint8_t *wanted, struct ArrowArray *out,
                               ald_error *err)
{
    ald__ipc_columns columns;
    ald_status status;
    out->release = NULL;
    ALD_TRY(check_is_batch(message, err));
    ald__ipc_columns_init(&columns, dictionaries, message, rules, backing, err);
    status = ald__ipc_columns_open(&columns);
    if (status == ALD_OK)
        status = read_columns(&columns, wanted, out);
    ald__ipc_columns_clear(&columns);
    if (status != ALD_OK && out->release != NULL)
        out->release(out);
    return status;
}

/* ---- Spans */

static void span_add(ald__ipc_span *span, const ald__ipc_place *place)
{
    if (place->size == 0)
        return;
    if (span->end == 0 || place->offset < span->begin)
        span->begin = place->offset;
    if (place->offset + place->size > span->end)
        span->end = place->offset + place->size;
}

typedef enum span_role { SPAN_DEEPER, SPAN_COLUMN, SPAN_ELEMENTS } span_role;

static void span_note(ald__ipc_span *span, const ald__ipc_node *node, span_role role, size_t index,
                      const ald__ipc_place *place)
{
    if (index == 1 && node->type.bit_width > 0) {
        span->values_begin = place->offset;
        span->values_size = place->size;
    }
    if (index != 0 || !node->type.has_validity)
        return;
    *(role == SPAN_COLUMN ? &span->validity_begin : &span->element_validity_begin) = place->offset;
    *(role == SPAN_COLUMN ? &span->validity_size : &span->element_validity_size) = place->size;
}

/* One node's buffers into the span of its column. */
static ald_status span_node(ald__ipc_walk *walk, const ald__ipc_node *node, span_role role,
                            ald__ipc_span *span, ald_error *err)
{
    const char *name = ald__schema_name(node->schema);
    size_t count = ald__ipc_walk_buffer_count(walk, node), variadic = 0;
    int64_t length, null_count;
    ALD_TRY(ald__ipc_walk_node(walk, name, &length, &null_count, err));
    if (role != SPAN_DEEPER)
        *(role == SPAN_COLUMN ? &span->null_count : &span->element_null_count) = null_count;
    if (ald__type_is_view(&node->type))
        ALD_TRY(ald__ipc_walk_variadic(walk, name, &variadic, err));
    for (size_t i = 0; i < count + variadic; i++) {
        ald__ipc_place place;
        ALD_TRY(ald__ipc_walk_buffer(walk, name, &place, err));
        span_add(span, &place);
        if (role != SPAN_DEEPER)
            span_note(span, node, role, i, &place);
    }
    return ALD_OK;
}

ald_status ald__ipc_read_spans(const ald__ipc_schema *schema, const ald__ipc_message *message,
                               const ald__ipc_rules *rules, ald__ipc_span *spans,
                               uint64_t *num_rows, ald_error *err)
{
    const ald__ipc_node *nodes = schema->tree.nodes;
    ald__ipc_walk walk;
    uint32_t node = 1;
    ALD_TRY(check_is_batch(message, err));
    ALD_TRY(ald__ipc_walk_open(&walk, message, rules, err));
    for (uint32_t i = 0; i < nodes[0].child_count; i++) {
        uint32_t top = node;
        memset(&spans[i], 0, sizeof spans[i]);
        while (node < nodes[top].next) {
            span_role role = node == top ? SPAN_COLUMN
                             : node == top + 1 && nodes[top].type.id == ALD__FIXED_LIST
                                 ? SPAN_ELEMENTS
                                 : SPAN_DEEPER;
            ALD_TRY(span_node(&walk, &nodes[node], role, &spans[i], err));
            node = nodes[node].dictionary != ALD__NO_DICTIONARY ? nodes[node].next : node + 1;
        }
    }
    *num_rows = (uint64_t)walk.length;
    return ald__ipc_walk_close(&walk, err);
}

ald_status ald__ipc_check_aligned(const ald__ipc_message *message, ald_error *err)
{
    const ald__ipc_rules rules = {.strict = 1};
    ald__ipc_walk walk;
    ALD_TRY(ald__ipc_walk_open(&walk, message, &rules, err));
    for (size_t i = 0; i < walk.buffers.count; i++) {
        const uint8_t *p = walk.flat.data + walk.buffers.pos + FBS_BUFFER_BYTES * i;
        uint64_t at = message->body_offset + ald__load_le64(p);
        if (at % 64 != 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT, at,
                             "buffer %zu of a batch begins at %llu, expected a multiple of 64", i,
                             (unsigned long long)at);
    }
    return ALD_OK;
}
