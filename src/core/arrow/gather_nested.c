/* SPDX-License-Identifier: MIT */
/* Dense unions and run-end encoded arrays: what a row needs of the children is looked up row by row, or run by run. */
#include <string.h>

#include "core/arrow/array.h"
#include "core/arrow/gather_node.h"
#include "core/base/buf.h"
#include "core/base/endian.h"

/* ---- dense unions */

typedef struct union_child {
    int64_t count; /* slots that rows refer to */
    ald__run_list list;
} union_child;

typedef struct union_plan {
    uint8_t child_of[256]; /* by type code */
    union_child children[128];
    ald__run *runs; /* behind all lists */
} union_plan;

static const uint8_t *run_codes(const ald__gather *g, const ald__run *r)
{
    const struct ArrowArray *a = g->sources[r->source];
    return (const uint8_t *)a->buffers[0] + a->offset + r->begin;
}

static int64_t slot_of(const ald__gather *g, const ald__run *r, int64_t k)
{
    const struct ArrowArray *a = g->sources[r->source];
    return ald__layout_signed(a->buffers[1], 4, a->offset + r->begin + k);
}

static ald_status plan_counts(const ald__gather *g, union_plan *plan)
{
    int8_t codes[128];
    size_t at = 0;
    ALD_TRY(ald__type_union_ids(g->schema, codes, g->err));
    for (int64_t i = 0; i < g->out->n_children; i++)
        plan->child_of[(uint8_t)codes[i]] = (uint8_t)i;
    for (size_t i = 0; i < g->run_count; i++) {
        const uint8_t *code = run_codes(g, &g->runs[i]);
        for (int64_t k = 0; k < g->runs[i].count; k++)
            plan->children[plan->child_of[code[k]]].count++;
    }
    for (int64_t i = 0; i < g->out->n_children; i++) {
        plan->children[i].list.runs = plan->runs + at;
        at += (size_t)plan->children[i].count;
    }
    return ALD_OK;
}

/* Runs of each child in order of the rows, and offsets as if every row had its own slot. */
static void plan_runs(const ald__gather *g, union_plan *plan)
{
    uint8_t *offset = ald__gather_buffer(g, 1);
    for (int64_t i = 0; i < g->out->n_children; i++)
        plan->children[i].count = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const uint8_t *code = run_codes(g, r);
        for (int64_t k = 0; k < r->count; k++, offset += 4) {
            union_child *c = &plan->children[plan->child_of[code[k]]];
            ald__run_list_add(&c->list, r->source, slot_of(g, r, k), 1);
            ald__store_le32(offset, (uint32_t)c->count++);
        }
    }
}

/* Offsets of rows of child `index` into the sources' whole children. */
static void shift_offsets(const ald__gather *g, const union_plan *plan, int64_t index,
                          const int64_t *shifts)
{
    uint8_t *offset = ald__gather_buffer(g, 1);
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const uint8_t *code = run_codes(g, r);
        for (int64_t k = 0; k < r->count; k++, offset += 4) {
            if (plan->child_of[code[k]] == index)
                ald__store_le32(offset, (uint32_t)(shifts[r->source] + slot_of(g, r, k)));
        }
    }
}

static ald_status gather_union_child(const ald__gather *g, const union_plan *plan, int64_t index)
{
    const union_child *c = &plan->children[index];
    int64_t *shifts = NULL;
    int fits = c->count <= INT32_MAX;
    ald_status st = ALD_OK;
    if (fits)
        st = ald__gather_disjoint(g, index, &c->list, &fits);
    if (st == ALD_OK && fits)
        return ald__gather_child(g, index, c->list.runs, c->list.count);
    if (st == ALD_OK)
        st = ald__gather_whole_child(g, index, INT32_MAX, &shifts);
    if (st == ALD_OK)
        shift_offsets(g, plan, index, shifts);
    ald__gather_free_shifts(g, shifts);
    return st;
}

ald_status ald__gather_dense_union(const ald__gather *g)
{
    union_plan *plan;
    ald__run_list room;
    uint64_t sizes[2];
    ald_status st;
    sizes[0] = (uint64_t)g->out->length;
    sizes[1] = sizes[0] * 4;
    ALD_TRY(ald__gather_alloc(g, 0, sizes, 2));
    ald__gather_items(g, 0, 1);
    ALD_TRY(ald__run_list_init(g, sizes[0], &room));
    plan = ald__alloc_zero(g->alloc, sizeof *plan, g->err);
    st = plan == NULL ? ALD_E_NOMEM : ALD_OK;
    if (st == ALD_OK) {
        plan->runs = room.runs;
        st = plan_counts(g, plan);
    }
    if (st == ALD_OK)
        plan_runs(g, plan);
    for (int64_t i = 0; i < g->out->n_children && st == ALD_OK; i++)
        st = gather_union_child(g, plan, i);
    ald__release(g->alloc, plan, sizeof *plan);
    ald__run_list_clear(g, &room);
    return st;
}

/* ---- run-end encoded */

/* The runs of the result: pieces of the sources' runs, a piece joined to the one before where both are of one run. With
 * `ends`, run ends are written; with `values`, the runs' values listed. */
typedef struct run_walk {
    uint8_t width;
    int64_t count, rows;
    size_t last_source;
    int64_t last_run;
    uint8_t *ends;
    ald__run_list *values;
} run_walk;

static void put_end(const run_walk *w)
{
    uint8_t *p = w->ends + (size_t)(w->count - 1) * w->width;
    if (w->width == 2)
        ald__store_le16(p, (uint16_t)w->rows);
    else if (w->width == 4)
        ald__store_le32(p, (uint32_t)w->rows);
    else
        ald__store_le64(p, (uint64_t)w->rows);
}

static void walk_piece(run_walk *w, size_t source, int64_t run, int64_t rows)
{
    int joined = w->count > 0 && w->last_source == source && w->last_run == run;
    w->rows += rows;
    w->count += !joined;
    w->last_source = source;
    w->last_run = run;
    if (w->ends != NULL)
        put_end(w);
    if (w->values != NULL && !joined)
        ald__run_list_add(w->values, source, run, 1);
}

static void walk_runs(const ald__gather *g, run_walk *w)
{
    w->count = w->rows = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source], *ends = a->children[0];
        int64_t run = ald__layout_run(a, w->width, r->begin), at = r->begin;
        int64_t stop = r->begin + r->count;
        for (; at < stop; run++) {
            int64_t end =
                ald__layout_signed(ends->buffers[1], w->width, ends->offset + run) - a->offset;
            if (end > stop)
                end = stop;
            walk_piece(w, r->source, run, end - at);
            at = end;
        }
    }
}

ald_status ald__gather_runs(const ald__gather *g)
{
    struct ArrowArray *ends = g->out->children[0];
    ald__gather e = *g;
    ald__run_list values;
    run_walk walk;
    uint64_t sizes[2] = {0, 0};
    ald_status st;
    memset(&walk, 0, sizeof walk);
    ALD_TRY(ald__type_of(g->schema->children[0], &e.type, g->err));
    walk.width = (uint8_t)(e.type.bit_width / 8);
    if (g->out->length > ald__gather_max_signed(walk.width))
        return ald__gather_too_large(g, "more rows than its run ends can count");
    walk_runs(g, &walk);
    ALD_TRY(ald__array_new(g->alloc, 2, 0, 0, ends, g->err));
    e.out = ends;
    ends->length = walk.count;
    sizes[1] = (uint64_t)walk.count * walk.width;
    ALD_TRY(ald__gather_alloc(&e, 0, sizes, 2));
    ends->buffers[0] = NULL;
    ALD_TRY(ald__run_list_init(g, (uint64_t)walk.count, &values));
    walk.ends = ald__gather_buffer(&e, 1);
    walk.values = &values;
    walk_runs(g, &walk);
    st = ald__gather_child(g, 1, values.runs, values.count);
    ald__run_list_clear(g, &values);
    return st;
}
