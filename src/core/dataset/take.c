/* SPDX-License-Identifier: MIT */
/* Rows of many chunks as one array. Chunks are loaded once each, in file order, several at a time where the host has
 * threads. When they do not fit into memory together, this is done in waves: the rows of a wave are gathered and its chunks
 * let go, and in the end the waves' rows are put in order. Where few rows of each are wanted, a chunk is let go as soon as
 * its rows are copied; the cache then stays as it was, since it would hold none of them for the next call. */
#include <string.h>

#include "core/arrow/array_layout.h"
#include "core/arrow/gather.h"
#include "core/arrow/sort.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/dataset/lazy.h"
#include "core/dataset/slices.h"

#define SLICES_MOST 1024u /* that are joined at once: each has arrays of its own */
#define SPARSE 16u        /* one row of so many is wanted */
#define WAVE_BYTES_LEAST (64ull << 20)

/* ---- chunks in memory */

ald_status ald__projection_init(const ald_streaming *s, const uint8_t *columns,
                                ald__projection *out, ald_error *err)
{
    const struct ArrowSchema *from = s->info.schema;
    memset(out, 0, sizeof *out);
    out->schema = *from;
    if (columns == NULL)
        return ALD_OK;
    out->size = (size_t)from->n_children * sizeof *out->children;
    out->children = ald__alloc(&s->host.alloc, out->size, err);
    if (out->children == NULL)
        return ALD_E_NOMEM;
    out->schema.children = out->children;
    out->schema.n_children = 0;
    for (int64_t i = 0; i < from->n_children; i++) {
        if (columns[i])
            out->children[out->schema.n_children++] = from->children[i];
    }
    return ALD_OK;
}

void ald__projection_clear(const ald_streaming *s, ald__projection *p)
{
    if (p->children != NULL)
        ald__release(&s->host.alloc, p->children, p->size);
    p->children = NULL;
}

static ald_status load_chunk(ald_streaming *s, const struct ArrowSchema *schema, uint64_t index,
                             const uint8_t *columns, ald__cached **out, ald_error *err)
{
    struct ArrowArray array;
    ALD_TRY(ald__chunk_load(s, index, columns, &array, err));
    ALD_TRY(ald__cached_new(&s->host.alloc, index, columns, (size_t)s->info.schema->n_children,
                            ald__layout_memory(schema, &array), &array, out, err));
    ald__chunk_cache_add(s->cache, *out);
    return ALD_OK;
}

/* One chunk of a wave. */
typedef struct loading {
    uint64_t chunk;
    ald__cached *cached;
    ald_status status;
    ald_error error;
} loading;

/* Chunks to be held at the same time. */
typedef struct wave {
    ald_streaming *s;
    const uint8_t *columns;
    const struct ArrowSchema *schema; /* with the wanted columns */
    loading *list;
    size_t count;
} wave;

static void load_one(void *arg, uint32_t index)
{
    const wave *w = arg;
    loading *l = &w->list[index];
    if (l->cached == NULL && l->status == ALD_OK)
        l->status = load_chunk(w->s, w->schema, l->chunk, w->columns, &l->cached, &l->error);
}

static void wave_clear(wave *w)
{
    for (size_t i = 0; i < w->count; i++)
        ald__cached_unref(w->list[i].cached);
    ald__release(&w->s->host.alloc, w->list, w->count * sizeof *w->list);
    w->list = NULL;
}

/* Loads what the cache does not have. On failure the wave is empty; the error is the first chunk's in file order. */
static ald_status wave_load(wave *w, ald_error *err)
{
    const ald_host *host = &w->s->host;
    size_t columns = (size_t)w->s->info.schema->n_children, missing = 0;
    ald_status st = ALD_OK;
    for (size_t i = 0; i < w->count; i++) {
        loading *l = &w->list[i];
        l->cached = ald__chunk_cache_find(w->s->cache, l->chunk, w->columns, columns);
        l->status = ALD_OK;
        missing += l->cached == NULL;
    }
    if (missing > 1 && host->thread_count > 1 && host->run_tasks != NULL)
        host->run_tasks(host->ctx, (uint32_t)w->count, load_one, w);
    for (size_t i = 0; i < w->count && st == ALD_OK; i++) {
        load_one(w, (uint32_t)i); /* in turn, unless it was tried above */
        st = w->list[i].status;
        if (st != ALD_OK && err != NULL)
            *err = w->list[i].error;
    }
    if (st != ALD_OK)
        wave_clear(w);
    return st;
}

static ald_status wave_gather(const wave *w, const ald__run *runs, size_t run_count, uint32_t flags,
                              struct ArrowArray *out, ald_error *err)
{
    const struct ArrowArray **sources;
    size_t size = w->count * sizeof *sources;
    ald_status st;
    sources = ald__alloc(&w->s->host.alloc, size, err);
    if (sources == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < w->count; i++)
        sources[i] = ald__cached_array(w->list[i].cached);
    st = ald__array_gather(&w->s->host.alloc, w->schema, sources, w->count, runs, run_count, flags,
                           out, err);
    ald__release(&w->s->host.alloc, sources, size);
    return st;
}

/* ---- taking */

typedef struct taking {
    ald_streaming *s;
    const uint8_t *columns;
    ald__projection projection;
    const ald__run *runs; /* as asked for; source: the chunk */
    size_t run_count;
    ald__pair *order;         /* chunk and number of each run, sorted */
    ald__run *wave_runs;      /* of one wave, in that order */
    ald__run *final_runs;     /* as asked for; source: the wave */
    struct ArrowArray *parts; /* what each wave gave */
    size_t part_count, part_cap;
    ald_error *err;
} taking;

static const ald_allocator *heap(const taking *t)
{
    return &t->s->host.alloc;
}

static ald_status taking_init(taking *t)
{
    size_t bytes;
    if (!ald__mul_size(t->run_count, sizeof *t->wave_runs, &bytes))
        return ald__no_memory(t->err, SIZE_MAX);
    ALD_TRY(ald__projection_init(t->s, t->columns, &t->projection, t->err));
    t->order = ald__alloc(heap(t), t->run_count * sizeof *t->order, t->err);
    t->wave_runs = t->order != NULL ? ald__alloc(heap(t), bytes, t->err) : NULL;
    t->final_runs = t->wave_runs != NULL ? ald__alloc(heap(t), bytes, t->err) : NULL;
    if (t->final_runs == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < t->run_count; i++)
        t->order[i] = (ald__pair){t->runs[i].source, i};
    ald__pairs_sort(t->order, t->run_count);
    return ALD_OK;
}

static void taking_clear(taking *t)
{
    for (size_t i = 0; i < t->part_count; i++)
        t->parts[i].release(&t->parts[i]);
    ald__release(heap(t), t->parts, t->part_cap * sizeof *t->parts);
    ald__release(heap(t), t->order, t->run_count * sizeof *t->order);
    ald__release(heap(t), t->wave_runs, t->run_count * sizeof *t->wave_runs);
    ald__release(heap(t), t->final_runs, t->run_count * sizeof *t->final_runs);
    ald__projection_clear(t->s, &t->projection);
}

/* The chunks that fit into memory together, from run order[at] on: how many, and where the next wave begins. */
static size_t next_wave(const taking *t, size_t at, size_t *end)
{
    uint64_t budget = ald__chunk_cache_budget(t->s->cache), bytes = 0, last = UINT64_MAX;
    size_t count = 0;
    if (budget < WAVE_BYTES_LEAST)
        budget = WAVE_BYTES_LEAST;
    for (; at < t->run_count; at++) {
        if (t->order[at].a != last) {
            last = t->order[at].a;
            bytes += t->s->file.chunks[last].uncompressed_size;
            if (count > 0 && bytes > budget)
                break;
            count++;
        }
    }
    *end = at;
    return count;
}

static ald_status load_wave(const taking *t, size_t begin, size_t end, size_t count, wave *w)
{
    size_t made = 0;
    memset(w, 0, sizeof *w);
    w->s = t->s;
    w->columns = t->columns;
    w->schema = &t->projection.schema;
    w->list = ald__alloc_zero(heap(t), count * sizeof *w->list, t->err);
    if (w->list == NULL)
        return ALD_E_NOMEM;
    w->count = count;
    for (size_t i = begin; i < end; i++) {
        if (i == begin || t->order[i].a != t->order[i - 1].a)
            w->list[made++].chunk = t->order[i].a;
    }
    return wave_load(w, t->err);
}

/* Everything in memory at once: gathered as it was asked for. */
static ald_status take_at_once(taking *t, size_t chunk_count, struct ArrowArray *out)
{
    size_t number = 0;
    wave w;
    ald_status st;
    for (size_t i = 0; i < t->run_count; i++) {
        size_t run = (size_t)t->order[i].b;
        number += i > 0 && t->order[i].a != t->order[i - 1].a;
        t->final_runs[run] = t->runs[run];
        t->final_runs[run].source = number;
    }
    ALD_TRY(load_wave(t, 0, t->run_count, chunk_count, &w));
    st = wave_gather(&w, t->final_runs, t->run_count, 0, out, t->err);
    wave_clear(&w);
    return st;
}

static ald_status add_part(taking *t, struct ArrowArray **out)
{
    if (t->part_count == t->part_cap) {
        size_t cap = t->part_cap == 0 ? 8 : t->part_cap * 2;
        struct ArrowArray *grown = ald__alloc_zero(heap(t), cap * sizeof *grown, t->err);
        if (grown == NULL)
            return ALD_E_NOMEM;
        if (t->part_count > 0)
            memcpy(grown, t->parts, t->part_count * sizeof *grown);
        ald__release(heap(t), t->parts, t->part_cap * sizeof *t->parts);
        t->parts = grown;
        t->part_cap = cap;
    }
    *out = &t->parts[t->part_count];
    return ALD_OK;
}

/* The rows of one wave, in order of chunks; final_runs says where each run of the request went. */
static ald_status take_wave(taking *t, size_t begin, size_t end, size_t chunk_count)
{
    struct ArrowArray *part;
    size_t number = 0;
    int64_t at = 0;
    wave w;
    ald_status st;
    for (size_t i = begin; i < end; i++) {
        const ald__run *r = &t->runs[t->order[i].b];
        number += i > begin && t->order[i].a != t->order[i - 1].a;
        t->wave_runs[i - begin] = (ald__run){r->begin, r->count, number};
        t->final_runs[t->order[i].b] = (ald__run){at, r->count, t->part_count};
        if (r->count > INT64_MAX - at)
            return ald__fail(t->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "too many rows");
        at += r->count;
    }
    ALD_TRY(add_part(t, &part));
    ALD_TRY(load_wave(t, begin, end, chunk_count, &w));
    st = wave_gather(&w, t->wave_runs, end - begin, ALD__GATHER_OWN, part, t->err);
    wave_clear(&w);
    t->part_count += st == ALD_OK;
    return st;
}

/* The chunks from run order[at] on, SLICES_MOST at most: how many, and where the next ones begin. */
static size_t next_slices(const taking *t, size_t at, ald__slice *slices, size_t *end)
{
    size_t count = 0;
    for (; at < t->run_count; at++) {
        const ald__pair *p = &t->order[at];
        const ald__run *r = &t->runs[p->b];
        if (count == 0 || p->a != slices[count - 1].chunk) {
            if (count == SLICES_MOST)
                break;
            slices[count++] = (ald__slice){.chunk = p->a, .runs = &t->wave_runs[at]};
        }
        t->wave_runs[at] = (ald__run){r->begin, r->count, 0};
        slices[count - 1].run_count++;
    }
    *end = at;
    return count;
}

static ald_status take_slices_with(taking *t, ald__slice *slices)
{
    for (size_t begin = 0, end = 0; begin < t->run_count; begin = end) {
        size_t count = next_slices(t, begin, slices, &end);
        struct ArrowArray *part;
        int64_t at = 0;
        for (size_t i = begin; i < end; i++) {
            t->final_runs[t->order[i].b] = (ald__run){at, t->wave_runs[i].count, t->part_count};
            at += t->wave_runs[i].count; /* is_sparse: fewer than the file has */
        }
        ALD_TRY(add_part(t, &part));
        ALD_TRY(
            ald__slices_take(t->s, &t->projection.schema, t->columns, slices, count, part, t->err));
        t->part_count++;
    }
    return ALD_OK;
}

static ald_status take_slices(taking *t)
{
    size_t size = SLICES_MOST * sizeof(ald__slice);
    ald__slice *slices = ald__alloc(heap(t), size, t->err);
    ald_status st;
    if (slices == NULL)
        return ALD_E_NOMEM;
    st = take_slices_with(t, slices);
    ald__release(heap(t), slices, size);
    return st;
}

/* Few rows of each chunk, on the whole; a dictionary would be copied for each. */
static int is_sparse(const taking *t)
{
    uint64_t wanted = 0, rows = 0;
    if (ald__ipc_schema_dictionary_count(t->s->schema) > 0)
        return 0;
    for (size_t i = 0; i < t->run_count; i++) {
        wanted += (uint64_t)t->runs[i].count;
        if (i == 0 || t->order[i].a != t->order[i - 1].a)
            rows += t->s->file.chunks[t->order[i].a].num_rows;
    }
    return wanted <= rows / SPARSE;
}

static ald_status put_in_order(taking *t, struct ArrowArray *out)
{
    const struct ArrowArray **sources;
    size_t size = t->part_count * sizeof *sources;
    ald_status st;
    sources = ald__alloc(heap(t), size, t->err);
    if (sources == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < t->part_count; i++)
        sources[i] = &t->parts[i];
    st = ald__array_gather(heap(t), &t->projection.schema, sources, t->part_count, t->final_runs,
                           t->run_count, 0, out, t->err);
    ald__release(heap(t), sources, size);
    return st;
}

static ald_status take_in_waves(taking *t, struct ArrowArray *out)
{
    if (is_sparse(t)) {
        ALD_TRY(take_slices(t));
    } else {
        for (size_t begin = 0, end = 0; begin < t->run_count; begin = end) {
            size_t count = next_wave(t, begin, &end);
            ALD_TRY(take_wave(t, begin, end, count));
        }
    }
    return put_in_order(t, out);
}

static ald_status take_runs(ald_streaming *s, const ald__run *runs, size_t run_count,
                            const uint8_t *columns, struct ArrowArray *out, ald_error *err)
{
    taking t;
    ald_status st;
    memset(&t, 0, sizeof t);
    t.s = s;
    t.columns = columns;
    t.runs = runs;
    t.run_count = run_count;
    t.err = err;
    st = taking_init(&t);
    if (st == ALD_OK) {
        size_t end, count = next_wave(&t, 0, &end);
        st = end == run_count ? take_at_once(&t, count, out) : take_in_waves(&t, out);
    }
    taking_clear(&t);
    return st;
}

/* ---- the public calls */

static ald_status runs_alloc(const ald_streaming *s, uint64_t count, ald__run **out, size_t *size,
                             ald_error *err)
{
    uint64_t bytes;
    *out = NULL;
    *size = 0;
    if (!ald__mul_u64(count, sizeof **out, &bytes) || !ald__to_size(bytes, size))
        return ald__no_memory(err, SIZE_MAX);
    *out = ald__alloc(&s->host.alloc, *size, err);
    return *out == NULL ? ALD_E_NOMEM : ALD_OK;
}

static ald_status check_rows(const ald_streaming *s, uint64_t start, uint64_t count, ald_error *err)
{
    uint64_t rows = s->file.header.num_rows;
    if (start <= rows && count <= rows - start)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "rows %llu and %llu more of %llu",
                     (unsigned long long)start, (unsigned long long)count,
                     (unsigned long long)rows);
}

ald_status ald_streaming_rows(ald_streaming *s, uint64_t start, uint64_t count,
                              const uint8_t *columns, struct ArrowArray *out, ald_error *err)
{
    uint64_t chunk = 0, last = 0;
    const ald_chunk_entry *e;
    size_t size, made = 0;
    ald__run *runs;
    ald_status st;
    out->release = NULL;
    ALD_TRY(check_rows(s, start, count, err));
    if (count > 0) {
        ALD_TRY(ald_streaming_find_chunk(s, start, &chunk, err));
        ALD_TRY(ald_streaming_find_chunk(s, start + count - 1, &last, err));
    }
    if (count > 0 && chunk == last && s->file.chunks[chunk].num_rows == count)
        return ald_streaming_chunk(s, chunk, columns, out, err);
    ALD_TRY(runs_alloc(s, last - chunk + 1, &runs, &size, err));
    for (; count > 0; chunk++) {
        uint64_t skip, rows;
        e = &s->file.chunks[chunk];
        skip = start - e->row_offset;
        rows = e->num_rows - skip < count ? e->num_rows - skip : count;
        if (rows == 0)
            continue;
        runs[made++] = (ald__run){(int64_t)skip, (int64_t)rows, (size_t)chunk};
        start += rows;
        count -= rows;
    }
    st = take_runs(s, runs, made, columns, out, err);
    ald__release(&s->host.alloc, runs, size);
    return st;
}

/* Row indices as runs of neighbours. */
static ald_status list_runs(const ald_streaming *s, const uint64_t *rows, size_t count,
                            ald__run *runs, size_t *made, ald_error *err)
{
    const ald_chunk_entry *e = NULL;
    uint64_t chunk = 0;
    *made = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t row = rows[i];
        if (e == NULL || row < e->row_offset || row - e->row_offset >= e->num_rows) {
            ALD_TRY(ald_streaming_find_chunk(s, row, &chunk, err));
            e = &s->file.chunks[chunk];
        } else if (i > 0 && row == rows[i - 1] + 1) {
            runs[*made - 1].count++;
            continue;
        }
        runs[(*made)++] = (ald__run){(int64_t)(row - e->row_offset), 1, (size_t)chunk};
    }
    return ALD_OK;
}

ald_status ald_streaming_take(ald_streaming *s, const uint64_t *rows, size_t count,
                              const uint8_t *columns, struct ArrowArray *out, ald_error *err)
{
    ald__run *runs;
    size_t size, made;
    ald_status st;
    out->release = NULL;
    ALD_TRY(runs_alloc(s, count, &runs, &size, err));
    st = list_runs(s, rows, count, runs, &made, err);
    if (st == ALD_OK)
        st = take_runs(s, runs, made, columns, out, err);
    ald__release(&s->host.alloc, runs, size);
    return st;
}

ald_status ald_streaming_prefetch(ald_streaming *s, uint64_t first, uint64_t count,
                                  const uint8_t *columns, ald_error *err)
{
    uint64_t bytes = 0, fitting = 0;
    ald__projection p;
    wave w;
    ald_status st;
    if (first > s->file.chunk_count || count > s->file.chunk_count - first)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "chunks %llu and %llu more of %llu",
                         (unsigned long long)first, (unsigned long long)count,
                         (unsigned long long)s->file.chunk_count);
    for (; fitting < count; fitting++) {
        bytes += s->file.chunks[first + fitting].uncompressed_size;
        if (bytes > ald__chunk_cache_budget(s->cache))
            break;
    }
    if (fitting == 0)
        return ALD_OK;
    ALD_TRY(ald__projection_init(s, columns, &p, err));
    w = (wave){s, columns, &p.schema, NULL, (size_t)fitting};
    w.list = ald__alloc_zero(&s->host.alloc, w.count * sizeof *w.list, err);
    st = w.list == NULL ? ALD_E_NOMEM : ALD_OK;
    for (size_t i = 0; i < w.count && st == ALD_OK; i++)
        w.list[i].chunk = first + i;
    if (st == ALD_OK)
        st = wave_load(&w, err);
    if (st == ALD_OK)
        wave_clear(&w);
    ald__projection_clear(s, &p);
    return st;
}
