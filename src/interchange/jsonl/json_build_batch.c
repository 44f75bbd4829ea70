/* SPDX-License-Identifier: MIT */
/* The life of the builders: made from plans, finished into arrays, emptied. */
#include <string.h>

#include "interchange/jsonl/json_build.h"
#include "interchange/text/mem.h"

static ald_status init_builder(ald__build *build, ald__builder *b, const ald__plan *plan,
                               ald_error *err)
{
    ald_status status = ALD_OK;
    int nested = plan->op >= ALD__PLAN_LIST && plan->op <= ALD__PLAN_MAP;
    b->plan = plan;
    if (nested)
        b->column.alloc = *build->alloc;
    else
        status = ald__column_init(&b->column, plan->format, build->alloc, err);
    if (status != ALD_OK || !plan->child_count)
        return status;
    b->children = ald__text_alloc(build->alloc, plan->child_count, sizeof *b->children, err);
    if (!b->children)
        return ALD_E_NOMEM;
    for (uint32_t i = 0; i < plan->child_count && status == ALD_OK; i++)
        status = init_builder(build, &b->children[i], plan->children[i], err);
    return status;
}

ald_status ald__build_init(ald__build *build, const ald__plans *plans, const ald_allocator *alloc,
                           ald_error *err)
{
    memset(build, 0, sizeof *build);
    build->plans = plans;
    build->alloc = alloc;
    return init_builder(build, &build->root, plans->root, err);
}

static void clear_builder(ald__build *build, ald__builder *b)
{
    if (b->plan) {
        for (uint32_t i = 0; b->children && i < b->plan->child_count; i++)
            clear_builder(build, &b->children[i]);
        ald__text_free(build->alloc, b->children, b->plan->child_count, sizeof *b->children);
        ald__text_free(build->alloc, b->slots, b->slot_count, sizeof *b->slots);
        ald__column_clear(&b->column);
    }
    memset(b, 0, sizeof *b);
}

void ald__build_clear(ald__build *build)
{
    if (build->alloc)
        clear_builder(build, &build->root);
}

ald_status ald__build_reserve(ald__build *build, size_t rows, ald_error *err)
{
    ald_status status = ALD_OK;
    for (uint32_t i = 0; i < build->root.plan->child_count && status == ALD_OK; i++) {
        ald__builder *b = &build->root.children[i];
        if (!b->children)
            status = ald__column_reserve(&b->column, rows, err);
    }
    return status;
}

/* Dictionaries: the text builders' arrays have none, so this one brings its own owner. */
typedef struct dictionary_block {
    ald_allocator alloc;
    void (*release_indices)(struct ArrowArray *);
    struct ArrowArray values;
} dictionary_block;

static void release_dictionary(struct ArrowArray *array)
{
    dictionary_block *block = (dictionary_block *)(void *)((uint8_t *)array->dictionary -
                                                           offsetof(dictionary_block, values));
    ald_allocator alloc = block->alloc;
    if (block->values.release)
        block->values.release(&block->values);
    array->dictionary = NULL;
    block->release_indices(array);
    alloc.release(alloc.ctx, block, sizeof *block);
}

static ald_status finish_dictionary(ald__build *build, ald__builder *b, struct ArrowArray *out,
                                    ald_error *err)
{
    dictionary_block *block = ald__text_alloc(build->alloc, 1, sizeof *block, err);
    ald_status status = block ? ALD_OK : ALD_E_NOMEM;
    if (status == ALD_OK)
        status = ald__column_finish(&b->children[0].column, &block->values, err);
    if (status == ALD_OK) {
        status = ald__column_finish(&b->column, out, err);
        if (status != ALD_OK)
            block->values.release(&block->values);
    }
    if (status != ALD_OK) {
        ald__text_free(build->alloc, block, 1, sizeof *block);
        return status;
    }
    block->alloc = *build->alloc;
    block->release_indices = out->release;
    out->dictionary = &block->values;
    out->release = release_dictionary;
    if (b->slots)
        memset(b->slots, 0, b->slot_count * sizeof *b->slots);
    return ALD_OK;
}

/* Offsets that were never written: a list without rows still has one. */
static ald_status first_offset(ald__builder *b, ald_error *err)
{
    ald__column *c = &b->column;
    void *block = c->values;
    ald_status status;
    if (c->values && c->length)
        return ALD_OK;
    status = ald__text_grow(&c->alloc, &block, &c->values_capacity, 8, err);
    c->values = block;
    if (status == ALD_OK)
        memset(c->values, 0, 8);
    return status;
}

static void forget(ald__builder *b)
{
    ald__column *c = &b->column;
    c->valid = c->values = NULL;
    c->valid_capacity = c->values_capacity = c->row_capacity = 0;
    c->length = c->null_count = 0;
}

static ald_status finish_builder(ald__build *build, ald__builder *b, struct ArrowArray *out,
                                 ald_error *err)
{
    ald__column *c = &b->column;
    struct ArrowArray made;
    void *blocks[2] = {c->valid, NULL};
    size_t sizes[2] = {c->valid_capacity, 0};
    int has_offsets = b->plan->op == ALD__PLAN_LIST || b->plan->op == ALD__PLAN_MAP;
    ald_status status = ALD_OK;
    if (b->plan->op == ALD__PLAN_DICTIONARY)
        return finish_dictionary(build, b, out, err);
    if (!b->plan->child_count && b->plan->op != ALD__PLAN_STRUCT)
        return ald__column_finish(c, out, err);
    if (has_offsets)
        status = first_offset(b, err);
    blocks[1] = has_offsets ? c->values : NULL;
    sizes[1] = has_offsets ? c->values_capacity : 0;
    if (status == ALD_OK)
        status = ald__text_array_new(&c->alloc, c->length, c->null_count, has_offsets ? 2 : 1,
                                     blocks, sizes, b->plan->child_count, &made, err);
    if (status != ALD_OK)
        return status;
    for (uint32_t i = 0; i < b->plan->child_count && status == ALD_OK; i++) {
        ald__builder *child = &b->children[i];
        if (b->plan->op == ALD__PLAN_STRUCT)
            status = ald__builder_pad(child, c->length, err);
        else if (b->plan->op == ALD__PLAN_FIXED_LIST)
            status = ald__builder_pad(child, c->length * b->plan->list_size, err);
        if (status == ALD_OK)
            status = finish_builder(build, child, made.children[i], err);
    }
    forget(b); /* the array owns the blocks now */
    if (status != ALD_OK)
        made.release(&made);
    else
        *out = made;
    return status;
}

ald_status ald__build_finish(ald__build *build, struct ArrowArray *out, ald_error *err)
{
    return finish_builder(build, &build->root, out, err);
}
