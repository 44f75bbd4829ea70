/* SPDX-License-Identifier: MIT */
/* What the parts of gathering share: one node of the result, and lists of runs for its children. */
#ifndef CORE_ARROW_GATHER_NODE_H
#define CORE_ARROW_GATHER_NODE_H

#include "core/arrow/array_layout.h"
#include "core/arrow/gather.h"

typedef struct ald__gather {
    const ald_allocator *alloc;
    const struct ArrowSchema *schema;
    const char *column; /* the top-level column's name; NULL at the root */
    ald__type type;
    const struct ArrowArray *const *sources;
    size_t source_count;
    const ald__run *runs;
    size_t run_count;
    uint32_t flags;
    struct ArrowArray *out;
    ald_error *err;
} ald__gather;

/* Runs for a child, neighbours joined. */
typedef struct ald__run_list {
    ald__run *runs;
    size_t count, cap;
} ald__run_list;

ALD_NODISCARD ald_status ald__run_list_init(const ald__gather *g, uint64_t cap, ald__run_list *out);
void ald__run_list_clear(const ald__gather *g, ald__run_list *list);

/* There must be room. A count of 0 adds nothing. */
static inline void ald__run_list_add(ald__run_list *list, size_t source, int64_t begin,
                                     int64_t count)
{
    if (count == 0)
        return;
    if (list->count > 0) {
        ald__run *last = &list->runs[list->count - 1];
        if (last->source == source && last->begin + last->count == begin) {
            last->count += count;
            return;
        }
    }
    list->runs[list->count++] = (ald__run){begin, count, source};
}

/* "column '…': what", ALD_E_LIMIT_EXCEEDED. */
ald_status ald__gather_too_large(const ald__gather *g, const char *what);

static inline int64_t ald__gather_max_signed(uint8_t width)
{
    return INT64_MAX >> (8 * (8 - width) & 63);
}

static inline int ald__gather_has_nulls(const struct ArrowArray *a)
{
    return a->null_count != 0 && a->buffers[0] != NULL;
}

/* Fresh memory for `count` buffers of out from `first` on, not initialised. */
ALD_NODISCARD ald_status ald__gather_alloc(const ald__gather *g, size_t first,
                                           const uint64_t *sizes, size_t count);
/* A buffer of out to write to. */
uint8_t *ald__gather_buffer(const ald__gather *g, size_t index);

/* Bytes of the validity buffer, or 0: none is needed. */
ALD_NODISCARD ald_status ald__gather_validity_size(const ald__gather *g, uint64_t *size);
/* Fills it and sets the null count. */
void ald__gather_validity(const ald__gather *g, uint64_t size);
/* Buffer `index` of fixed-width elements. */
void ald__gather_items(const ald__gather *g, size_t index, size_t width);

/* Child `index` from these runs of the sources' children (counted without the children's offsets). */
ALD_NODISCARD ald_status ald__gather_child(const ald__gather *g, int64_t index,
                                           const ald__run *runs, size_t run_count);
/* An array of the sources' dictionaries or other arrays of `schema` into *out. */
ALD_NODISCARD ald_status ald__gather_into(const ald__gather *parent,
                                          const struct ArrowSchema *schema,
                                          const struct ArrowArray *const *sources,
                                          size_t source_count, const ald__run *runs,
                                          size_t run_count, struct ArrowArray *out);

/* Whether no slot of child `index` lies in two of the runs. */
ALD_NODISCARD ald_status ald__gather_disjoint(const ald__gather *g, int64_t index,
                                              const ald__run_list *runs, int *disjoint);
/* Child `index` of each source that has a run, whole. shifts[source]: where it begins in the result; freed by the caller
 * with ald__gather_free_shifts. ALD_E_LIMIT_EXCEEDED when a position would be above `max`. */
ALD_NODISCARD ald_status ald__gather_whole_child(const ald__gather *g, int64_t index, int64_t max,
                                                 int64_t **shifts);
void ald__gather_free_shifts(const ald__gather *g, int64_t *shifts);

/* By type. */
ALD_NODISCARD ald_status ald__gather_strings(const ald__gather *g);
ALD_NODISCARD ald_status ald__gather_lists(const ald__gather *g);
ALD_NODISCARD ald_status ald__gather_list_views(const ald__gather *g);
ALD_NODISCARD ald_status ald__gather_dense_union(const ald__gather *g);
ALD_NODISCARD ald_status ald__gather_runs(const ald__gather *g);
ALD_NODISCARD ald_status ald__gather_dictionary(const ald__gather *g);

/* How views are gathered, decided before the node is made since it says how many buffers there are. */
typedef struct ald__gather_views_plan {
    int whole;         /* data buffers are copied as they are */
    size_t data_count; /* data buffers of the result */
} ald__gather_views_plan;
ALD_NODISCARD ald_status ald__gather_views_plan_make(const ald__gather *g,
                                                     ald__gather_views_plan *out);
ALD_NODISCARD ald_status ald__gather_views(const ald__gather *g,
                                           const ald__gather_views_plan *plan);

#endif
