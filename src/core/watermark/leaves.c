/* SPDX-License-Identifier: MIT */
#include "core/watermark/leaves.h"

#include <string.h>

#include "ald/watermark.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/watermark/wide_decimal.h"

#define MASK_SLOTS (INT64_C(1) << 32)

/* ---- what a schema has */

static int is_number(ald__type_id id)
{
    switch (id) {
    case ALD__INT8:
    case ALD__INT16:
    case ALD__INT32:
    case ALD__INT64:
    case ALD__UINT8:
    case ALD__UINT16:
    case ALD__UINT32:
    case ALD__UINT64:
    case ALD__FLOAT32:
    case ALD__FLOAT64:
    case ALD__DECIMAL:
    case ALD__DATE32:
    case ALD__DATE64:
    case ALD__TIME32:
    case ALD__TIME64:
    case ALD__TIMESTAMP:
    case ALD__DURATION:
        return 1;
    default:
        return 0;
    }
}

static int is_parent(ald__type_id id)
{
    return id == ALD__STRUCT || id == ALD__LIST || id == ALD__LARGE_LIST || id == ALD__FIXED_LIST;
}

static int is_closed(ald__type_id id)
{
    return id == ALD__MAP || id == ALD__SPARSE_UNION || id == ALD__DENSE_UNION ||
           id == ALD__LIST_VIEW || id == ALD__LARGE_LIST_VIEW;
}

typedef struct finder {
    ald__mark_leaves *out;
    size_t capacity; /* 0: only counts */
    uint32_t column;
} finder;

/* Numbers, or numbers behind a dictionary, at `field`. */
static ald_status describe_values(const struct ArrowSchema *field, ald__mark_leaf *leaf,
                                  ald_error *err)
{
    ALD_TRY(ald__type_of(field, &leaf->type, err));
    if (field->dictionary != NULL) {
        leaf->index_width = (uint8_t)(leaf->type.bit_width / 8);
        leaf->index_is_signed = leaf->type.id >= ALD__INT8 && leaf->type.id <= ALD__INT64;
        ALD_TRY(ald__type_of(field->dictionary, &leaf->type, err));
        if (field->dictionary->dictionary != NULL)
            leaf->reason = ALD_WATERMARK_NOT_NUMERIC;
    }
    if (!is_number(leaf->type.id))
        leaf->reason = ALD_WATERMARK_NOT_NUMERIC;
    else if (leaf->type.id == ALD__DECIMAL && (leaf->type.scale < 0 || leaf->type.scale > 22))
        leaf->reason = ALD_WATERMARK_SCALE;
    return ALD_OK;
}

void ald__mark_leaf_suspect(ald__mark_leaf *leaf)
{
    leaf->is_suspect = 1;
    if (leaf->reason == ALD_WATERMARK_SCALE && leaf->type.scale >= 0 &&
        leaf->type.scale <= ALD__WIDE_SCALE_MOST)
        leaf->reason = ALD_WATERMARK_NONE;
}

static ald_status add_leaf(finder *f, const struct ArrowSchema *field, const ald__type *type,
                           const char *name, ald_error *err)
{
    ald__mark_leaf *leaf;
    if (f->capacity == 0) {
        f->out->count++;
        return ALD_OK;
    }
    leaf = &f->out->list[f->out->count++];
    leaf->name = name;
    leaf->column = f->column;
    leaf->type = *type;
    if (is_closed(type->id)) {
        leaf->reason = ALD_WATERMARK_NESTED;
        return ALD_OK;
    }
    if (type->id == ALD__RUN_END) {
        ald__type ends;
        ALD_TRY(ald__type_of(field->children[0], &ends, err));
        leaf->has_runs = (uint8_t)(ends.bit_width / 8);
        field = field->children[1];
    }
    return describe_values(field, leaf, err);
}

/* "parent.child"; the parent of a top-level column is NULL. */
static const char *path_of(finder *f, const char *parent, const char *name, ald_error *err)
{
    size_t before = parent == NULL ? 0 : strlen(parent) + 1, size = strlen(name);
    char *path;
    if (f->capacity == 0)
        return "";
    path = ald__arena_alloc(&f->out->arena, before + size + 1, err);
    if (path == NULL)
        return NULL;
    if (before > 0) {
        memcpy(path, parent, before - 1);
        path[before - 1] = '.';
    }
    memcpy(path + before, name, size + 1);
    return path;
}

/* The children of lists have names of no interest. */
static ald_status find_leaves(finder *f, const struct ArrowSchema *field, const char *name,
                              unsigned depth, ald_error *err)
{
    ald__type type;
    if (depth > ALD__MAX_TYPE_DEPTH)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "types nest too deep");
    ALD_TRY(ald__type_of(field, &type, err));
    if (!is_parent(type.id))
        return add_leaf(f, field, &type, name, err);
    if (type.id != ALD__STRUCT)
        return find_leaves(f, field->children[0], name, depth + 1, err);
    for (int64_t i = 0; i < field->n_children; i++) {
        const struct ArrowSchema *child = field->children[i];
        const char *path = path_of(f, name, ald__schema_name(child), err);
        if (path == NULL)
            return ALD_E_NOMEM;
        ALD_TRY(find_leaves(f, child, path, depth + 1, err));
    }
    return ALD_OK;
}

static ald_status find_all(finder *f, const struct ArrowSchema *schema, ald_error *err)
{
    f->out->count = 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowSchema *child = schema->children[i];
        const char *path = path_of(f, NULL, ald__schema_name(child), err);
        if (path == NULL)
            return ALD_E_NOMEM;
        f->column = (uint32_t)i;
        ALD_TRY(find_leaves(f, child, path, 1, err));
    }
    return ALD_OK;
}

ald_status ald__mark_leaves_init(ald__mark_leaves *leaves, const ald_allocator *alloc,
                                 const struct ArrowSchema *schema, ald_error *err)
{
    finder f = {leaves, 0, 0};
    ald__type root;
    size_t size;
    ald_status st;
    memset(leaves, 0, sizeof *leaves);
    ald__arena_init(&leaves->arena, alloc);
    ALD_TRY(ald__type_of(schema, &root, err));
    if (root.id != ALD__STRUCT || (uint64_t)schema->n_children > UINT32_MAX)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "batches must be structs");
    ALD_TRY(find_all(&f, schema, err));
    f.capacity = leaves->count;
    if (f.capacity == 0)
        return ALD_OK;
    if (!ald__mul_size(f.capacity, sizeof *leaves->list, &size))
        return ald__no_memory(err, SIZE_MAX);
    leaves->list = ald__arena_alloc(&leaves->arena, size, err);
    st = leaves->list == NULL ? ALD_E_NOMEM : find_all(&f, schema, err);
    if (st != ALD_OK)
        ald__mark_leaves_clear(leaves);
    return st;
}

void ald__mark_leaves_clear(ald__mark_leaves *leaves)
{
    ald__arena_clear(&leaves->arena);
    leaves->list = NULL;
    leaves->count = 0;
}

/* ---- where a batch has them */

typedef struct walker {
    const ald__mark_leaves *leaves;
    ald__arena *arena;
    ald_status (*visit)(void *ctx, size_t leaf, const ald__mark_slots *slots, ald_error *err);
    void *ctx;
    size_t next; /* leaf */
} walker;

static const uint8_t *validity_of(const struct ArrowArray *array)
{
    return array->null_count != 0 && array->n_buffers > 0 ? array->buffers[0] : NULL;
}

static int slot_is_live(const ald__mark_slots *s, const uint8_t *validity, int64_t i)
{
    if (s->mask != NULL && !ald__bit_get(s->mask, (uint64_t)i))
        return 0;
    return validity == NULL || ald__bit_get(validity, (uint64_t)(s->array->offset + s->begin + i));
}

/* The slots of a child that the live slots of a parent reach: of parent slot i, those from first(i) on, count(i) of them. */
static ald_status make_mask(walker *w, const ald__mark_slots *s, ald__mark_slots *child,
                            int64_t fixed, const void *offsets, uint8_t width, ald_error *err)
{
    const uint8_t *validity = validity_of(s->array);
    uint8_t *mask;
    child->mask = NULL;
    if ((s->mask == NULL && validity == NULL) || child->count == 0)
        return ALD_OK;
    /* Runs have slots without bytes: what is asked for here is not bounded by what is there. */
    if (child->count > MASK_SLOTS)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a batch has lists of more than 2^32 values with nulls");
    mask = ald__arena_alloc(w->arena, ald__bits_bytes((uint64_t)child->count), err);
    if (mask == NULL)
        return ALD_E_NOMEM;
    child->mask = mask;
    for (int64_t i = 0; i < s->count; i++) {
        int64_t first = i * fixed, count = fixed;
        if (!slot_is_live(s, validity, i))
            continue;
        if (offsets != NULL) {
            int64_t at = s->array->offset + s->begin + i;
            first = ald__layout_signed(offsets, width, at);
            count = ald__layout_signed(offsets, width, at + 1) - first;
            first -= child->begin;
        }
        ald__bits_fill(mask, (uint64_t)first, (uint64_t)count);
    }
    return ALD_OK;
}

static ald_status child_slots(walker *w, const ald__mark_slots *s, const ald__type *type,
                              int64_t index, ald__mark_slots *child, ald_error *err)
{
    int64_t begin = s->array->offset + s->begin, fixed = 1;
    child->array = s->array->children[index];
    child->twin = s->twin != NULL ? s->twin->children[index] : NULL;
    if (type->id == ALD__LIST || type->id == ALD__LARGE_LIST) {
        uint8_t width = type->id == ALD__LIST ? 4 : 8;
        const void *offsets = s->array->buffers[1];
        child->begin = s->count > 0 ? ald__layout_signed(offsets, width, begin) : 0;
        child->count =
            s->count > 0 ? ald__layout_signed(offsets, width, begin + s->count) - child->begin : 0;
        return make_mask(w, s, child, 0, offsets, width, err);
    }
    if (type->id == ALD__FIXED_LIST)
        fixed = type->list_size;
    child->begin = begin * fixed;
    child->count = s->count * fixed;
    return make_mask(w, s, child, fixed, NULL, 0, err);
}

/* Depth is limited by the schema's, which has been walked. */
static ald_status walk_field(walker *w, const struct ArrowSchema *field, const ald__mark_slots *s,
                             ald_error *err)
{
    ald__type type;
    ALD_TRY(ald__type_of(field, &type, err));
    if (!is_parent(type.id)) {
        size_t leaf = w->next++;
        return w->leaves->list[leaf].reason == ALD_WATERMARK_NONE ? w->visit(w->ctx, leaf, s, err)
                                                                  : ALD_OK;
    }
    for (int64_t i = 0; i < field->n_children; i++) {
        ald__mark_slots child;
        ALD_TRY(child_slots(w, s, &type, i, &child, err));
        ALD_TRY(walk_field(w, field->children[i], &child, err));
    }
    return ALD_OK;
}

ald_status ald__mark_walk(const ald__mark_leaves *leaves, const struct ArrowSchema *schema,
                          const struct ArrowArray *array, struct ArrowArray *twin,
                          ald__arena *arena,
                          ald_status (*visit)(void *ctx, size_t leaf, const ald__mark_slots *slots,
                                              ald_error *err),
                          void *ctx, ald_error *err)
{
    walker w = {leaves, arena, visit, ctx, 0};
    ald__mark_slots root = {array, twin, 0, array->length, NULL};
    return walk_field(&w, schema, &root, err);
}
