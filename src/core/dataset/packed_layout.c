/* SPDX-License-Identifier: MIT */
/* The nodes of a record batch in the order of its metadata. Lengths are exact and buffers follow each other, so that what is
 * rebuilt is what was packed, byte for byte. */
#include "core/dataset/packed_layout.h"

#include "core/arrow/array_layout.h"
#include "core/arrow/ipc_schema.h"
#include "core/arrow/ipc_walk.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/checked.h"

#define ANY_SIZE UINT64_MAX

typedef struct plan_walk {
    ald__packed_plan *plan;
    ald__ipc_walk walk;
    const ald__packed_at *at;
    const ald__ipc_node *node;
    ald__packed_node *out;
    uint64_t body; /* end of the buffers so far, padded */
} plan_walk;

static uint32_t byte_width(const ald__type *t)
{
    if (t->id == ALD__FIXED_BINARY)
        return t->byte_width > 0 ? (uint32_t)t->byte_width : 0;
    return t->bit_width / 8;
}

static uint8_t packed_class_of(const ald__type *t)
{
    switch (t->id) {
    case ALD__FLOAT32:
    case ALD__FLOAT64:
        return ALD__PACKED_FLOAT;
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return ALD__PACKED_TEXT;
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return ALD__PACKED_LIST;
    case ALD__NULL:
    case ALD__BOOL:
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return ALD__PACKED_OTHER;
    default:
        return byte_width(t) > 0 ? ALD__PACKED_FIXED : ALD__PACKED_OTHER;
    }
}

/* The exact size of a buffer behind the validity; `n` ≤ 2^30. */
static uint64_t exact_size(const plan_walk *w, uint32_t index)
{
    const ald__type *t = &w->node->type;
    uint64_t n = w->out->length;
    if (t->id == ALD__BOOL)
        return ald__layout_bitmap(n);
    if (t->id == ALD__FIXED_BINARY)
        return n * byte_width(t);
    switch (w->out->type) {
    case ALD__PACKED_FIXED:
    case ALD__PACKED_FLOAT:
        return n * w->out->width;
    case ALD__PACKED_TEXT:
    case ALD__PACKED_LIST:
        return index == 0 ? (n + 1) * w->out->width : ANY_SIZE;
    default:
        return ANY_SIZE;
    }
}

static ald_status check_place(plan_walk *w, uint32_t index, const ald__packed_place *p)
{
    const ald__packed_node *n = w->out;
    uint32_t validity = n->has_validity ? 1 : 0;
    uint64_t expected;
    if (p->begin != w->body)
        return ald__packed_bad(w->at, "not where the one before ends: offset of a buffer",
                               p->begin);
    w->body = (p->begin + p->size + 7) & ~(uint64_t)7;
    if ((index >= validity || p->size > 0) && n->length > ALD__PACKED_SLOTS_LIMIT)
        return ald__packed_bad(w->at, "over 2^30: length", n->length);
    if (index < validity)
        expected = p->size == 0 ? 0 : ald__layout_bitmap(n->length);
    else
        expected = exact_size(w, index - validity);
    if (expected != ANY_SIZE && p->size != expected)
        return ald__packed_bad(w->at, "not exact: size of a buffer", p->size);
    return ALD_OK;
}

static ald_status read_node_places(plan_walk *w, size_t count)
{
    ald__packed_layout *l = &w->plan->layout;
    for (size_t i = 0; i < count; i++) {
        ald__packed_place *p = &w->plan->places[l->place_count];
        ald__ipc_place place;
        ALD_TRY(ald__ipc_walk_buffer(&w->walk, w->out->column, &place, w->at->err));
        p->begin = place.offset;
        p->size = place.size;
        ALD_TRY(check_place(w, (uint32_t)i, p));
        l->place_count++;
    }
    return ALD_OK;
}

/* walk_buffer fails before places run out: there are as many as the metadata has buffers. */
static ald_status plan_node(plan_walk *w, const char *column)
{
    ald__packed_layout *l = &w->plan->layout;
    const ald__type *t = &w->node->type;
    size_t variadic = 0;
    int64_t length, null_count;
    w->out = &w->plan->nodes[l->node_count++];
    w->out->column = column;
    w->out->type = packed_class_of(t);
    w->out->has_validity = t->has_validity;
    w->out->width = ald__type_offset_width(t) > 0 ? ald__type_offset_width(t) : byte_width(t);
    ALD_TRY(ald__ipc_walk_node(&w->walk, column, &length, &null_count, w->at->err));
    w->out->length = (uint64_t)length;
    w->out->null_count = (uint64_t)null_count;
    if (ald__type_is_view(t))
        ALD_TRY(ald__ipc_walk_variadic(&w->walk, column, &variadic, w->at->err));
    w->out->first_place = l->place_count;
    ALD_TRY(read_node_places(w, ald__ipc_walk_buffer_count(&w->walk, w->node) + variadic));
    w->out->place_count = l->place_count - w->out->first_place;
    return ALD_OK;
}

static ald_status plan_nodes(plan_walk *w, const ald__ipc_tree *tree)
{
    const char *column = "";
    const ald__ipc_node *parent = NULL;
    uint32_t top = 1;
    for (uint32_t i = 1; i < tree->node_count;) {
        const ald__ipc_node *n = &tree->nodes[i];
        ald__packed_node *before = w->out;
        if (i == top)
            column = ald__schema_name(n->schema);
        w->node = n;
        ALD_TRY(plan_node(w, column));
        if (i == top) {
            w->out->top = 1;
            w->plan->layout.column_count++;
            top = n->next;
        } else if (before != NULL && before->type == ALD__PACKED_LIST) {
            before->child_length = w->out->length;
        } else if (parent != NULL && parent->type.id == ALD__FIXED_LIST &&
                   parent->type.list_size > 0) {
            w->out->list_size = (uint32_t)parent->type.list_size;
        }
        parent = n->dictionary == ALD__NO_DICTIONARY ? n : NULL;
        i = n->dictionary != ALD__NO_DICTIONARY ? n->next : i + 1;
    }
    return ald__ipc_walk_close(&w->walk, w->at->err);
}

ald_status ald__packed_plan_read(const ald_allocator *alloc, const ald__ipc_schema *schema,
                                 const ald__ipc_message *message, const ald__packed_at *at,
                                 ald__packed_plan *out)
{
    plan_walk w;
    memset(out, 0, sizeof *out);
    memset(&w, 0, sizeof w);
    w.plan = out;
    w.at = at;
    out->alloc = alloc;
    ALD_TRY(ald__ipc_walk_open(&w.walk, message, &(ald__ipc_rules){.strict = 1}, at->err));
    out->node_cap = schema->tree.node_count;
    out->place_cap = w.walk.buffers.count;
    out->nodes = ald__alloc_zero(alloc, out->node_cap * sizeof *out->nodes, at->err);
    out->places = ald__alloc(alloc, out->place_cap * sizeof *out->places, at->err);
    if (out->nodes == NULL || out->places == NULL)
        return ALD_E_NOMEM;
    ALD_TRY(plan_nodes(&w, &schema->tree));
    out->rows = (uint64_t)w.walk.length;
    out->layout.nodes = out->nodes;
    out->layout.places = out->places;
    out->layout.body_size = w.body;
    if (w.body != message->body_size)
        return ald__packed_bad(at, "not the end of its last buffer: size of the body",
                               message->body_size);
    return ALD_OK;
}

void ald__packed_plan_clear(ald__packed_plan *plan)
{
    if (plan->alloc == NULL)
        return;
    ald__release(plan->alloc, plan->nodes, plan->node_cap * sizeof *plan->nodes);
    ald__release(plan->alloc, plan->places, plan->place_cap * sizeof *plan->places);
}
