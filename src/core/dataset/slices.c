/* SPDX-License-Identifier: MIT */
/* Each thread inflates a chunk, copies the few rows and forgets it: the block pool's memory stays in the processor's caches,
 * where a file's worth of chunks would be fresh pages from the system. */
#include "core/dataset/slices.h"

#include "core/base/buf.h"
#include "core/dataset/items.h"

typedef struct slicing {
    const ald_streaming *s;
    const struct ArrowSchema *schema;
    const uint8_t *columns;
    ald__slice *slices;
    size_t count;
} slicing;

static ald_status slice_rows(const slicing *w, ald__slice *slice, const struct ArrowArray *chunk,
                             ald_error *err)
{
    return ald__array_gather(&w->s->host.alloc, w->schema, &chunk, 1, slice->runs, slice->run_count,
                             ALD__GATHER_OWN, &slice->rows, err);
}

static ald_status take_slice(void *ctx, uint32_t worker, uint64_t index, ald_error *err)
{
    const slicing *w = ctx;
    ald__slice *slice = &w->slices[index];
    ald__cached *cached = ald__chunk_cache_find(w->s->cache, slice->chunk, w->columns,
                                                (size_t)w->s->info.schema->n_children);
    struct ArrowArray chunk;
    ald_status st;
    (void)worker;
    if (cached != NULL) {
        st = slice_rows(w, slice, ald__cached_array(cached), err);
        ald__cached_unref(cached);
        return st;
    }
    ALD_TRY(ald__chunk_load(w->s, slice->chunk, w->columns, &chunk, err));
    st = slice_rows(w, slice, &chunk, err);
    chunk.release(&chunk);
    return st;
}

static ald_status join_slices(const slicing *w, struct ArrowArray *out, ald_error *err)
{
    const ald_allocator *alloc = &w->s->host.alloc;
    const struct ArrowArray **sources = ald__alloc(alloc, w->count * sizeof *sources, err);
    ald__run *runs = sources != NULL ? ald__alloc(alloc, w->count * sizeof *runs, err) : NULL;
    ald_status st = ALD_E_NOMEM;
    if (runs != NULL) {
        for (size_t i = 0; i < w->count; i++) {
            sources[i] = &w->slices[i].rows;
            runs[i] = (ald__run){0, w->slices[i].rows.length, i};
        }
        st = ald__array_gather(alloc, w->schema, sources, w->count, runs, w->count, 0, out, err);
    }
    ald__release(alloc, runs, w->count * sizeof *runs);
    ald__release(alloc, sources, w->count * sizeof *sources);
    return st;
}

ald_status ald__slices_take(const ald_streaming *s, const struct ArrowSchema *schema,
                            const uint8_t *columns, ald__slice *slices, size_t count,
                            struct ArrowArray *out, ald_error *err)
{
    slicing w = {s, schema, columns, slices, count};
    ald_status st;
    out->release = NULL;
    for (size_t i = 0; i < count; i++)
        slices[i].rows.release = NULL;
    st = ald__items_run(&s->host, count, take_slice, &w, err);
    if (st == ALD_OK)
        st = join_slices(&w, out, err);
    for (size_t i = 0; i < count; i++) {
        if (slices[i].rows.release != NULL)
            slices[i].rows.release(&slices[i].rows);
    }
    return st;
}
