/* SPDX-License-Identifier: MIT */
/* Nodes, validity, values of fixed width, structs. Every node of the result has one block of memory for its buffers. */
#include "core/arrow/gather.h"

#include <string.h>

#include "core/arrow/array.h"
#include "core/arrow/bits.h"
#include "core/arrow/gather_node.h"
#include "core/arrow/sort.h"
#include "core/base/buf.h"
#include "core/base/checked.h"

#define GATHER_ALIGNMENT 64u
#define ITEMS_AHEAD 16u
/* Structs and fixed-size lists without nulls have no byte for a row; a bitmap for what they claim is made up to here. */
#define MAX_CLAIMED_ROWS (INT64_C(1) << 24)

ald_status ald__gather_too_large(const ald__gather *g, const char *what)
{
    const char *name = g->column != NULL ? g->column : g->schema->name;
    return ald__fail(g->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                     "column '%s': %s\ntake fewer rows at once", name != NULL ? name : "", what);
}

/* ---- memory */

ald_status ald__run_list_init(const ald__gather *g, uint64_t cap, ald__run_list *out)
{
    size_t size;
    uint64_t bytes;
    memset(out, 0, sizeof *out);
    if (!ald__mul_u64(cap, sizeof *out->runs, &bytes) || !ald__to_size(bytes, &size))
        return ald__no_memory(g->err, SIZE_MAX);
    out->runs = ald__alloc(g->alloc, size, g->err);
    out->cap = (size_t)cap;
    return out->runs == NULL ? ALD_E_NOMEM : ALD_OK;
}

void ald__run_list_clear(const ald__gather *g, ald__run_list *list)
{
    ald__release(g->alloc, list->runs, list->cap * sizeof *list->runs);
    list->runs = NULL;
}

ald_status ald__gather_alloc(const ald__gather *g, size_t first, const uint64_t *sizes,
                             size_t count)
{
    ald__shared *block;
    uint64_t total = 0;
    uint8_t *p;
    size_t size;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] > INT64_MAX || !ald__add_u64(total, sizes[i] + GATHER_ALIGNMENT, &total))
            return ald__no_memory(g->err, SIZE_MAX);
    }
    if (!ald__to_size(total, &size))
        return ald__no_memory(g->err, SIZE_MAX);
    ALD_TRY(ald__shared_alloc(g->alloc, size, &block, g->err));
    ald__array_hold(g->out, block);
    p = ald__shared_data(block);
    for (size_t i = 0; i < count; i++) {
        g->out->buffers[first + i] = p;
        p += (sizes[i] + GATHER_ALIGNMENT - 1) & ~(uint64_t)(GATHER_ALIGNMENT - 1);
    }
    ald__shared_unref(block);
    return ALD_OK;
}

uint8_t *ald__gather_buffer(const ald__gather *g, size_t index)
{
    union {
        const void *in;
        uint8_t *out;
    } cast = {g->out->buffers[index]}; /* our own fresh memory */
    return cast.out;
}

/* ---- validity */

/* Rows of which neither nulls nor values take a byte. */
static int has_bytes(const ald__gather *g)
{
    return g->type.bit_width > 0 || ald__type_offset_width(&g->type) > 0 ||
           ald__type_is_view(&g->type);
}

ald_status ald__gather_validity_size(const ald__gather *g, uint64_t *size)
{
    int any = 0;
    *size = 0;
    if (!g->type.has_validity)
        return ALD_OK;
    for (size_t i = 0; i < g->source_count; i++)
        any |= ald__gather_has_nulls(g->sources[i]);
    if (!any)
        return ALD_OK;
    for (size_t i = 0; i < g->run_count && !has_bytes(g); i++) {
        if (!ald__gather_has_nulls(g->sources[g->runs[i].source]) &&
            g->runs[i].count > MAX_CLAIMED_ROWS)
            return ald__gather_too_large(g, "too many rows that have no bytes of their own");
    }
    *size = ald__layout_bitmap((uint64_t)g->out->length);
    return ALD_OK;
}

/* Bits of one run; returns how many are one. */
static uint64_t copy_bits(uint8_t *bits, uint64_t at, const struct ArrowArray *a, const ald__run *r)
{
    uint64_t from = (uint64_t)(a->offset + r->begin), count = (uint64_t)r->count;
    if (!ald__gather_has_nulls(a)) {
        ald__bits_fill(bits, at, count);
        return count;
    }
    if (count == 1) {
        int bit = ald__bit_get(a->buffers[0], from);
        bits[at / 8] = (uint8_t)(bits[at / 8] | bit << (at % 8));
        return (uint64_t)bit;
    }
    ald__bits_copy(bits, at, a->buffers[0], from, count);
    return ald__bits_count(a->buffers[0], from, count);
}

void ald__gather_validity(const ald__gather *g, uint64_t size)
{
    uint64_t at = 0, ones = 0;
    uint8_t *bits;
    g->out->null_count = 0;
    if (!g->type.has_validity)
        return;
    if (size > 0) {
        bits = ald__gather_buffer(g, 0);
        memset(bits, 0, (size_t)size);
        for (size_t i = 0; i < g->run_count; i++) {
            ones += copy_bits(bits, at, g->sources[g->runs[i].source], &g->runs[i]);
            at += (uint64_t)g->runs[i].count;
        }
        g->out->null_count = (int64_t)(at - ones);
    }
    if (g->out->null_count == 0)
        g->out->buffers[0] = NULL;
}

/* ---- values */

/* Where the values of a run begin. */
static inline const uint8_t *run_items(const ald__gather *g, size_t index, size_t width, size_t i)
{
    const ald__run *r = &g->runs[i];
    const struct ArrowArray *a = g->sources[r->source];
    return (const uint8_t *)a->buffers[index] + (size_t)(a->offset + r->begin) * width;
}

/* With a constant width, so that single rows are a load and a store. Rows in no order are as many cache misses, which are
 * begun some rows ahead. */
static inline void copy_items(const ald__gather *g, size_t index, uint8_t *out, size_t width)
{
    for (size_t i = 0; i < g->run_count; i++) {
        const uint8_t *from = run_items(g, index, width, i);
        size_t size = (size_t)g->runs[i].count * width;
        if (i + ITEMS_AHEAD < g->run_count)
            __builtin_prefetch(run_items(g, index, width, i + ITEMS_AHEAD));
        if (g->runs[i].count == 1)
            memcpy(out, from, width);
        else
            memcpy(out, from, size);
        out += size;
    }
}

void ald__gather_items(const ald__gather *g, size_t index, size_t width)
{
    uint8_t *out = ald__gather_buffer(g, index);
    switch (width) {
    case 0:
        return;
    case 1:
        copy_items(g, index, out, 1);
        return;
    case 2:
        copy_items(g, index, out, 2);
        return;
    case 4:
        copy_items(g, index, out, 4);
        return;
    case 8:
        copy_items(g, index, out, 8);
        return;
    case 16:
        copy_items(g, index, out, 16);
        return;
    default:
        copy_items(g, index, out, width);
    }
}

static void gather_bools(const ald__gather *g, size_t size)
{
    uint8_t *bits = ald__gather_buffer(g, 1);
    uint64_t at = 0;
    memset(bits, 0, size);
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        ald__bits_copy(bits, at, a->buffers[1], (uint64_t)(a->offset + r->begin),
                       (uint64_t)r->count);
        at += (uint64_t)r->count;
    }
}

static ald_status gather_fixed(const ald__gather *g)
{
    uint64_t sizes[2];
    ALD_TRY(ald__gather_validity_size(g, &sizes[0]));
    sizes[1] = ald__layout_buffer(&g->type, 1, g->out->length).bytes;
    ALD_TRY(ald__gather_alloc(g, 0, sizes, 2));
    ald__gather_validity(g, sizes[0]);
    if (g->type.bit_width == 1)
        gather_bools(g, (size_t)sizes[1]);
    else
        ald__gather_items(g, 1, g->type.bit_width / 8);
    return g->schema->dictionary != NULL ? ald__gather_dictionary(g) : ALD_OK;
}

/* ---- structs, fixed-size lists, sparse unions */

static ald_status gather_children(const ald__gather *g, const ald__run *runs)
{
    for (int64_t i = 0; i < g->out->n_children; i++)
        ALD_TRY(ald__gather_child(g, i, runs, g->run_count));
    return ALD_OK;
}

/* Children have `items` slots for each of ours and are addressed with our offset. */
static ald_status gather_parallel(const ald__gather *g, int64_t items)
{
    ald__run_list list;
    uint64_t total;
    ald_status st;
    int same = items == 1;
    for (size_t i = 0; i < g->source_count; i++)
        same &= g->sources[i]->offset == 0;
    if (same || g->out->n_children == 0)
        return gather_children(g, g->runs);
    if (!ald__mul_u64((uint64_t)g->out->length, (uint64_t)items, &total) || total > INT64_MAX)
        return ald__gather_too_large(g, "too many items for its lists");
    if (items == 0)
        return ald__gather_child(g, 0, NULL, 0);
    ALD_TRY(ald__run_list_init(g, g->run_count, &list));
    for (; list.count < g->run_count; list.count++) {
        const ald__run *r = &g->runs[list.count];
        list.runs[list.count] = (ald__run){(g->sources[r->source]->offset + r->begin) * items,
                                           r->count * items, r->source};
    }
    st = gather_children(g, list.runs);
    ald__run_list_clear(g, &list);
    return st;
}

static ald_status gather_struct(const ald__gather *g, int64_t items)
{
    uint64_t size;
    ALD_TRY(ald__gather_validity_size(g, &size));
    if (size > 0)
        ALD_TRY(ald__gather_alloc(g, 0, &size, 1));
    ald__gather_validity(g, size);
    return gather_parallel(g, items);
}

static ald_status gather_sparse_union(const ald__gather *g)
{
    uint64_t size = (uint64_t)g->out->length;
    ALD_TRY(ald__gather_alloc(g, 0, &size, 1));
    ald__gather_items(g, 0, 1);
    return gather_parallel(g, 1);
}

ald_status ald__gather_child(const ald__gather *g, int64_t index, const ald__run *runs,
                             size_t run_count)
{
    const struct ArrowArray **children, *one[4] = {NULL, NULL, NULL, NULL};
    size_t size = g->source_count * sizeof *children;
    ald_status st;
    children = g->source_count <= 4 ? one : ald__alloc(g->alloc, size, g->err);
    if (children == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < g->source_count; i++)
        children[i] = g->sources[i]->children[index];
    st = ald__gather_into(g, g->schema->children[index], children, g->source_count, runs, run_count,
                          g->out->children[index]);
    if (children != one)
        ald__release(g->alloc, children, size);
    return st;
}

/* ---- children that several slots may share */

static ald_status overlap_sorted(const ald__gather *g, const uint64_t *bases,
                                 const ald__run_list *runs, int *disjoint)
{
    size_t size = runs->count * sizeof(ald__pair);
    ald__pair *pairs = ald__alloc(g->alloc, size, g->err);
    if (pairs == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < runs->count; i++) {
        const ald__run *r = &runs->runs[i];
        pairs[i].a = bases[r->source] + (uint64_t)r->begin;
        pairs[i].b = pairs[i].a + (uint64_t)r->count;
    }
    ald__pairs_sort(pairs, runs->count);
    *disjoint = 1;
    for (size_t i = 1; i < runs->count; i++)
        *disjoint &= pairs[i].a >= pairs[i - 1].b;
    ald__release(g->alloc, pairs, size);
    return ALD_OK;
}

ald_status ald__gather_disjoint(const ald__gather *g, int64_t index, const ald__run_list *runs,
                                int *disjoint)
{
    size_t size = g->source_count * sizeof(uint64_t);
    uint64_t *bases, end = 0;
    ald_status st = ALD_OK;
    *disjoint = 1;
    for (size_t i = 1; i < runs->count; i++) {
        const ald__run *a = &runs->runs[i - 1], *b = a + 1;
        *disjoint &=
            a->source < b->source || (a->source == b->source && a->begin + a->count <= b->begin);
    }
    if (*disjoint)
        return ALD_OK;
    bases = ald__alloc(g->alloc, size, g->err);
    if (bases == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < g->source_count && st == ALD_OK; i++) {
        bases[i] = end;
        if (!ald__add_u64(end, (uint64_t)g->sources[i]->children[index]->length, &end))
            st = ald__gather_too_large(g, "its children have too many slots");
    }
    if (st == ALD_OK)
        st = overlap_sorted(g, bases, runs, disjoint);
    ald__release(g->alloc, bases, size);
    return st;
}

ald_status ald__gather_whole_child(const ald__gather *g, int64_t index, int64_t max,
                                   int64_t **shifts)
{
    ald__run_list list;
    int64_t at = 0, *p = ald__alloc(g->alloc, g->source_count * sizeof *p, g->err);
    ald_status st = ALD_OK;
    *shifts = p;
    if (p == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < g->source_count; i++)
        p[i] = -1;
    for (size_t i = 0; i < g->run_count; i++)
        p[g->runs[i].source] = 0;
    ALD_TRY(ald__run_list_init(g, g->source_count, &list));
    for (size_t i = 0; i < g->source_count && st == ALD_OK; i++) {
        int64_t length = g->sources[i]->children[index]->length;
        if (p[i] < 0)
            continue;
        p[i] = at;
        if (length > max - at)
            st = ald__gather_too_large(g, "its children have too many slots for its offsets");
        ald__run_list_add(&list, i, 0, length);
        at += st == ALD_OK ? length : 0;
    }
    if (st == ALD_OK)
        st = ald__gather_child(g, index, list.runs, list.count);
    ald__run_list_clear(g, &list);
    return st;
}

void ald__gather_free_shifts(const ald__gather *g, int64_t *shifts)
{
    ald__release(g->alloc, shifts, g->source_count * sizeof *shifts);
}

/* ---- nodes */

static ald_status gather_node(const ald__gather *g, const ald__gather_views_plan *views)
{
    switch (g->type.id) {
    case ALD__NULL:
        g->out->null_count = g->out->length;
        return ALD_OK;
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return ald__gather_strings(g);
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return ald__gather_views(g, views);
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return ald__gather_lists(g);
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return ald__gather_list_views(g);
    case ALD__STRUCT:
        return gather_struct(g, 1);
    case ALD__FIXED_LIST:
        return gather_struct(g, g->type.list_size);
    case ALD__SPARSE_UNION:
        return gather_sparse_union(g);
    case ALD__DENSE_UNION:
        return ald__gather_dense_union(g);
    case ALD__RUN_END:
        return ald__gather_runs(g);
    default:
        return gather_fixed(g);
    }
}

static ald_status count_rows(const ald__gather *g, int64_t *rows)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        if (!ald__add_u64(sum, (uint64_t)g->runs[i].count, &sum) || sum > INT64_MAX)
            return ald__gather_too_large(g, "too many rows");
    }
    *rows = (int64_t)sum;
    return ALD_OK;
}

/* On failure *out may be half made; the caller releases the root. */
ald_status ald__gather_into(const ald__gather *parent, const struct ArrowSchema *schema,
                            const struct ArrowArray *const *sources, size_t source_count,
                            const ald__run *runs, size_t run_count, struct ArrowArray *out)
{
    ald__gather g = *parent;
    ald__gather_views_plan views = {0, 0};
    size_t buffers;
    int64_t rows = 0;
    g.schema = schema;
    if (g.column == NULL && parent->schema != schema)
        g.column = schema->name != NULL ? schema->name : "";
    g.sources = sources;
    g.source_count = source_count;
    g.runs = runs;
    g.run_count = run_count;
    g.out = out;
    ALD_TRY(ald__type_of(schema, &g.type, g.err));
    ALD_TRY(count_rows(&g, &rows));
    buffers = g.type.buffer_count;
    if (ald__type_is_view(&g.type)) {
        ALD_TRY(ald__gather_views_plan_make(&g, &views));
        buffers += views.data_count + 1;
    }
    ALD_TRY(ald__array_new(g.alloc, buffers, (size_t)schema->n_children, schema->dictionary != NULL,
                           out, g.err));
    out->length = rows;
    return gather_node(&g, &views);
}

ald_status ald__array_gather(const ald_allocator *alloc, const struct ArrowSchema *schema,
                             const struct ArrowArray *const *sources, size_t source_count,
                             const ald__run *runs, size_t run_count, uint32_t flags,
                             struct ArrowArray *out, ald_error *err)
{
    ald__gather root;
    ald_status st;
    memset(&root, 0, sizeof root);
    root.alloc = alloc;
    root.schema = schema;
    root.flags = flags;
    root.err = err;
    out->release = NULL;
    st = ald__gather_into(&root, schema, sources, source_count, runs, run_count, out);
    if (st != ALD_OK && out->release != NULL)
        out->release(out);
    return st;
}
