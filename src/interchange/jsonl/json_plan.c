/* SPDX-License-Identifier: MIT */
/* Places become plans by the tables of docs/TEXT.md. */
#include "interchange/jsonl/json_plan.h"

#include <string.h>

#include "ald/jsonl.h"
#include "ald/schema.h"
#include "interchange/jsonl/json_key.h"
#include "interchange/jsonl/json_plan_declared.h"
#include "interchange/text/column.h"

typedef struct maker {
    ald__plans *plans;
    const ald__plan_rules *rules;
    ald_error *err;
} maker;

static ald_status from_place(maker *m, const ald__place *place, const ald__plan *parent,
                             ald__plan **out);

uint32_t ald__plan_find(const ald__plans *plans, const ald__plan *plan, const char *name,
                        size_t size)
{
    uint32_t hash, slot, i = 0;
    if (!plan->slots) {
        while (i < plan->child_count && (plan->children[i]->name_size != size ||
                                         !ald__json_same(plan->children[i]->name, name, size)))
            i++;
        return i;
    }
    hash = ald__json_hash(name, size, plans->seed);
    for (slot = hash & (plan->slot_count - 1); plan->slots[slot];
         slot = (slot + 1) & (plan->slot_count - 1)) {
        const ald__plan *field = plan->children[plan->slots[slot] - 1];
        if (field->hash == hash && field->name_size == size &&
            ald__json_same(field->name, name, size))
            return plan->slots[slot] - 1;
    }
    return plan->child_count;
}

ald__plan *ald__plan_new(ald__plans *plans, ald__plan_op op, const char *format,
                         const ald__plan *parent, size_t child_count, ald_error *err)
{
    size_t size = strlen(format) + 1;
    ald__plan *plan = ald__json_blocks_alloc(&plans->blocks, 1, sizeof *plan, err);
    char *copy = plan ? ald__json_blocks_alloc(&plans->blocks, 1, size, err) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, format, size);
    plan->op = (uint8_t)op;
    plan->nullable = 1;
    plan->format = copy;
    plan->parent = parent;
    plan->child_count = (uint32_t)child_count;
    if (child_count) {
        plan->children =
            ald__json_blocks_alloc(&plans->blocks, child_count, sizeof *plan->children, err);
        if (!plan->children)
            return NULL;
    } else {
        plans->leaf_count++;
    }
    return plan;
}

ald_status ald__plan_set_name(ald__plans *plans, ald__plan *plan, const char *name, size_t size,
                              ald_error *err)
{
    char *copy = ald__json_blocks_alloc(&plans->blocks, 1, size + 1, err);
    if (!copy)
        return ALD_E_NOMEM;
    if (size)
        memcpy(copy, name, size);
    plan->name = copy;
    plan->name_size = (uint32_t)size;
    return ALD_OK;
}

ald_status ald__plan_hash_fields(ald__plans *plans, ald__plan *plan, ald_error *err)
{
    uint32_t slots = 16;
    if (plan->child_count <= 8)
        return ALD_OK;
    while (slots < 2 * plan->child_count)
        slots *= 2;
    plan->slots = ald__json_blocks_alloc(&plans->blocks, slots, sizeof *plan->slots, err);
    if (!plan->slots)
        return ALD_E_NOMEM;
    plan->slot_count = slots;
    for (uint32_t i = 0; i < plan->child_count; i++) {
        ald__plan *field = plan->children[i];
        uint32_t slot;
        field->hash = ald__json_hash(field->name, field->name_size, plans->seed);
        for (slot = field->hash & (slots - 1); plan->slots[slot]; slot = (slot + 1) & (slots - 1))
            ;
        plan->slots[slot] = i + 1;
    }
    return ALD_OK;
}

static ald_status plain(maker *m, ald__plan_op op, const char *format, const ald__plan *parent,
                        ald__plan **out)
{
    *out = ald__plan_new(m->plans, op, format, parent, 0, m->err);
    return *out ? ALD_OK : ALD_E_NOMEM;
}

static ald_status from_numbers(maker *m, const ald__place *place, const ald__plan *parent,
                               ald__plan **out)
{
    ald__text_type type = ald__profile_resolve(place->numbers);
    ald__plan_op op = ALD__PLAN_NUMBER;
    char format[ALD__FORMAT_BYTES];
    if (type.kind == ALD__KIND_INT64)
        op = ALD__PLAN_INT64;
    else if (type.kind == ALD__KIND_UINT64)
        op = ALD__PLAN_UINT64;
    else if (type.kind == ALD__KIND_FLOAT64)
        op = ALD__PLAN_FLOAT64;
    /* yyjson's own number of the token -0 is an integer 0. */
    if (op == ALD__PLAN_NUMBER || m->rules->is_checked ||
        (place->numbers->flags & ALD__TOKEN_NEG_ZERO))
        m->plans->raw_numbers = 1;
    ald__text_type_format(&type, format);
    if (plain(m, op, format, parent, out) != ALD_OK)
        return ALD_E_NOMEM;
    (*out)->is_checked = m->rules->is_checked != 0;
    return ALD_OK;
}

static ald_status from_list(maker *m, const ald__place *place, const ald__plan *parent,
                            ald__plan **out)
{
    ald__plan *list = ald__plan_new(m->plans, ALD__PLAN_LIST, "+l", parent, 1, m->err);
    *out = list;
    if (!list)
        return ALD_E_NOMEM;
    if (!place->item)
        return plain(m, ALD__PLAN_NULL, "n", list, &list->children[0]);
    return from_place(m, place->item, list, &list->children[0]);
}

static ald_status from_object(maker *m, const ald__place *place, const ald__plan *parent,
                              size_t more, ald__plan **out)
{
    ald__plan *plan =
        ald__plan_new(m->plans, ALD__PLAN_STRUCT, "+s", parent, place->field_count + more, m->err);
    *out = plan;
    if (!plan)
        return ALD_E_NOMEM;
    for (uint32_t i = 0; i < place->field_count; i++) {
        const ald__place *field = place->fields[i];
        ald_status status;
        if (field->declared)
            status = ald__plan_from_schema(m->plans, m->rules->types->children[field->declared - 1],
                                           plan, &plan->children[i], m->err);
        else
            status = from_place(m, field, plan, &plan->children[i]);
        if (status == ALD_OK)
            status = ald__plan_set_name(m->plans, plan->children[i], field->name, field->name_size,
                                        m->err);
        if (status != ALD_OK)
            return status;
        plan->has_required |= !plan->children[i]->nullable;
    }
    return more ? ALD_OK : ald__plan_hash_fields(m->plans, plan, m->err);
}

static ald_status from_place(maker *m, const ald__place *place, const ald__plan *parent,
                             ald__plan **out)
{
    int kinds = ald__place_kind_count(place);
    if (kinds > 1) {
        m->plans->raw_numbers = 1;
        return plain(m, m->rules->mixed == ALD_JSON_MIXED_JSON ? ALD__PLAN_JSON : ALD__PLAN_TEXT,
                     "u", parent, out);
    }
    if (place->first[ALD__JSON_BOOL] != ALD__NEVER)
        return plain(m, ALD__PLAN_BOOL, "b", parent, out);
    if (place->first[ALD__JSON_STRING] != ALD__NEVER)
        return plain(m, ALD__PLAN_STRING, "u", parent, out);
    if (place->numbers)
        return from_numbers(m, place, parent, out);
    if (place->first[ALD__JSON_LIST] != ALD__NEVER)
        return from_list(m, place, parent, out);
    if (place->first[ALD__JSON_OBJECT] != ALD__NEVER)
        return from_object(m, place, parent, 0, out);
    return plain(m, ALD__PLAN_NULL, "n", parent, out);
}

static int is_met(const ald__place_tree *tree, const struct ArrowSchema *field)
{
    return ald__place_find(tree, tree->root, field->name, strlen(field->name)) <
           tree->root->field_count;
}

/* The columns that the input has, then declared ones that it has not. */
static ald_status make_root(maker *m, const ald__place_tree *tree)
{
    const struct ArrowSchema *types = m->rules->types;
    uint32_t at = tree->root->field_count;
    size_t more = 0;
    ald__plan *root;
    ald_status status;
    for (int64_t i = 0; types && i < types->n_children; i++)
        more += !is_met(tree, types->children[i]);
    status = from_object(m, tree->root, NULL, more, &m->plans->root);
    if (status != ALD_OK || !more)
        return status;
    root = m->plans->root;
    for (int64_t i = 0; i < types->n_children && status == ALD_OK; i++) {
        const struct ArrowSchema *field = types->children[i];
        if (is_met(tree, field))
            continue;
        status = ald__plan_from_schema(m->plans, field, root, &root->children[at], m->err);
        if (status == ALD_OK)
            status = ald__plan_set_name(m->plans, root->children[at], field->name,
                                        strlen(field->name), m->err);
        if (status == ALD_OK)
            root->has_required |= !root->children[at++]->nullable;
    }
    return status == ALD_OK ? ald__plan_hash_fields(m->plans, root, m->err) : status;
}

ald_status ald__plans_make(ald__plans *plans, const ald_allocator *alloc,
                           const ald__place_tree *tree, const ald__plan_rules *rules,
                           ald_error *err)
{
    maker m = {plans, rules, err};
    memset(plans, 0, sizeof *plans);
    ald__json_blocks_init(&plans->blocks, alloc);
    plans->seed = tree->seed;
    if (rules->schema || rules->types)
        plans->raw_numbers = 1;
    if (rules->schema)
        return ald__plan_from_schema(plans, rules->schema, NULL, &plans->root, err);
    return make_root(&m, tree);
}

void ald__plans_clear(ald__plans *plans)
{
    ald__json_blocks_clear(&plans->blocks);
    plans->root = NULL;
}

static ald_status schema_of(const ald__plan *plan, const ald_allocator *alloc,
                            struct ArrowSchema *out, ald_error *err)
{
    const char *name = plan->name ? plan->name : plan->parent ? "item" : "";
    ald_status status = ald__field_new(alloc, name, strlen(name), plan->format,
                                       plan->parent && plan->nullable, plan->child_count, out, err);
    for (uint32_t i = 0; i < plan->child_count && status == ALD_OK; i++)
        status = schema_of(plan->children[i], alloc, out->children[i], err);
    return status;
}

/* Declared columns are copied as they were given, since a plan does not keep all of a type. */
ald_status ald__plans_schema(const ald__plans *plans, const ald__plan_rules *rules,
                             const ald_host *host, struct ArrowSchema *out, ald_error *err)
{
    const struct ArrowSchema *types = rules->types;
    struct ArrowSchema made;
    ald_status status;
    if (rules->schema)
        return ald_schema_copy(host, rules->schema, out, err);
    memset(&made, 0, sizeof made);
    status = schema_of(plans->root, &host->alloc, &made, err);
    for (int64_t i = 0; types && i < types->n_children && status == ALD_OK; i++) {
        uint32_t at = ald__plan_find(plans, plans->root, types->children[i]->name,
                                     strlen(types->children[i]->name));
        struct ArrowSchema *child = made.children[at];
        child->release(child);
        child->release = NULL;
        status = ald_schema_copy(host, types->children[i], child, err);
    }
    if (status == ALD_OK)
        status = ald_schema_copy(host, &made, out, err);
    if (made.release)
        made.release(&made);
    return status;
}
