/* SPDX-License-Identifier: MIT */
/* One dictionary for the rows of several sources. Chunks of a file usually repeat the same one, byte for byte. */
#include <string.h>

#include "core/arrow/array.h"
#include "core/arrow/bits.h"
#include "core/arrow/gather_node.h"
#include "core/base/buf.h"

/* A dictionary is compared with so many of the distinct ones before it. */
#define COMPARED_MAX 4

/* ---- whether two arrays are the same, told from their bytes: a no may be wrong */

static int same_buffers(const struct ArrowArray *a, const struct ArrowArray *b)
{
    for (int64_t i = 0; i < a->n_buffers; i++) {
        if (a->buffers[i] != b->buffers[i])
            return 0;
    }
    return 1;
}

static int equal_buffers(const ald__type *type, const struct ArrowArray *a,
                         const struct ArrowArray *b)
{
    for (int64_t i = 0; i < a->n_buffers; i++) {
        uint64_t size = ald__layout_used(type, a, i);
        if (size != ald__layout_used(type, b, i))
            return 0;
        if (size > 0 && memcmp(a->buffers[i], b->buffers[i], (size_t)size) != 0)
            return 0;
    }
    return 1;
}

static int same_array(const struct ArrowSchema *schema, const struct ArrowArray *a,
                      const struct ArrowArray *b)
{
    ald__type type;
    if (a->length != b->length || a->n_buffers != b->n_buffers || a->offset != b->offset ||
        ald__type_of(schema, &type, NULL) != ALD_OK)
        return 0;
    if (!same_buffers(a, b) &&
        (a->offset != 0 || a->null_count != b->null_count || !equal_buffers(&type, a, b)))
        return 0;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (!same_array(schema->children[i], a->children[i], b->children[i]))
            return 0;
    }
    return schema->dictionary == NULL ||
           same_array(schema->dictionary, a->dictionary, b->dictionary);
}

/* ---- the distinct dictionaries of the sources that have rows */

typedef struct distinct {
    const struct ArrowArray *values;
    int64_t base; /* where its values begin in the result */
} distinct;

typedef struct unify {
    const ald__gather *g;
    distinct *list;
    size_t count;
    size_t *number; /* by source; SIZE_MAX: no rows */
    int64_t total;
} unify;

static int64_t max_index(const ald__type *type)
{
    unsigned bits = type->bit_width;
    if (type->id >= ALD__UINT8 && type->id <= ALD__UINT64)
        return bits == 64 ? INT64_MAX : (int64_t)((UINT64_C(1) << bits) - 1);
    return ald__gather_max_signed((uint8_t)(bits / 8));
}

static ald_status add_dictionary(unify *u, size_t source)
{
    const struct ArrowArray *values = u->g->sources[source]->dictionary;
    size_t first = u->count > COMPARED_MAX ? u->count - COMPARED_MAX : 0;
    for (size_t i = u->count; i-- > first;) {
        if (same_array(u->g->schema->dictionary, u->list[i].values, values)) {
            u->number[source] = i;
            return ALD_OK;
        }
    }
    if (u->count > 0 && values->length - 1 > max_index(&u->g->type) - u->total)
        return ald__gather_too_large(
            u->g,
            "its chunks' dictionaries together have more values than its index type can number");
    u->number[source] = u->count;
    u->list[u->count++] = (distinct){values, u->total};
    u->total += values->length;
    return ALD_OK;
}

static ald_status find_distinct(unify *u)
{
    const ald__gather *g = u->g;
    for (size_t i = 0; i < g->source_count; i++)
        u->number[i] = SIZE_MAX;
    for (size_t i = 0; i < g->run_count; i++) {
        if (u->number[g->runs[i].source] == SIZE_MAX)
            ALD_TRY(add_dictionary(u, g->runs[i].source));
    }
    if (u->count == 0 && g->source_count > 0) /* no rows: any will do */
        return add_dictionary(u, 0);
    return ALD_OK;
}

static ald_status gather_values(const unify *u)
{
    const ald__gather *g = u->g;
    const struct ArrowArray **sources;
    size_t size = u->count * sizeof *sources;
    ald__run_list list;
    ald_status st;
    ALD_TRY(ald__run_list_init(g, u->count, &list));
    sources = ald__alloc(g->alloc, size, g->err);
    st = sources == NULL ? ALD_E_NOMEM : ALD_OK;
    for (size_t i = 0; i < u->count && st == ALD_OK; i++) {
        sources[i] = u->list[i].values;
        ald__run_list_add(&list, i, 0, sources[i]->length);
    }
    if (st == ALD_OK)
        st = ald__gather_into(g, g->schema->dictionary, sources, u->count, list.runs, list.count,
                              g->out->dictionary);
    ald__release(g->alloc, sources, size);
    ald__run_list_clear(g, &list);
    return st;
}

static void shift_index(uint8_t *p, size_t width, uint64_t shift, int is_null)
{
    uint64_t value = is_null ? 0 : ald__layout_unsigned(p, (uint8_t)width, 0) + shift;
    for (size_t i = 0; i < width; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static void shift_indices(const unify *u)
{
    const ald__gather *g = u->g;
    size_t width = g->type.bit_width / 8;
    uint8_t *p = ald__gather_buffer(g, 1);
    const uint8_t *validity = g->out->buffers[0];
    uint64_t row = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        uint64_t shift = (uint64_t)u->list[u->number[g->runs[i].source]].base;
        for (int64_t k = 0; k < g->runs[i].count; k++, row++, p += width)
            shift_index(p, width, shift, validity != NULL && !ald__bit_get(validity, row));
    }
}

static ald_status unify_all(unify *u)
{
    const ald__gather *g = u->g;
    ALD_TRY(find_distinct(u));
    if (u->count == 1 && !(g->flags & ALD__GATHER_OWN))
        return ald__array_clone(u->list[0].values, g->out->dictionary, g->err);
    if (u->count > 1)
        shift_indices(u);
    return gather_values(u);
}

ald_status ald__gather_dictionary(const ald__gather *g)
{
    unify u = {g, NULL, 0, NULL, 0};
    size_t list_size = (g->source_count + 1) * sizeof *u.list;
    size_t number_size = (g->source_count + 1) * sizeof *u.number;
    ald_status st = ALD_E_NOMEM;
    u.list = ald__alloc(g->alloc, list_size, g->err);
    if (u.list != NULL)
        u.number = ald__alloc(g->alloc, number_size, g->err);
    if (u.number != NULL)
        st = unify_all(&u);
    ald__release(g->alloc, u.number, number_size);
    ald__release(g->alloc, u.list, list_size);
    return st;
}
