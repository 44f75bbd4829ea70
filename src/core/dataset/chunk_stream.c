/* SPDX-License-Identifier: MIT */
/* All chunks of a file in order, as an Arrow stream.
 *
 * Chunks are loaded some at a time, on the host's threads. Threads are started and waited for each time, and the last chunk
 * keeps one of them busy alone; so where chunks turn out to be small (one column of many, say), more are loaded at once. */
#include <string.h>

#include "ald/stream.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/dataset/lazy.h"

#define AHEAD_MAX 128u
#define AHEAD_BYTES (16u << 20) /* in memory, unless the least number of chunks takes more */
#define GROWTH 4u

/* A chunk that was loaded ahead. */
typedef struct ahead {
    struct ArrowArray chunk;
    ald_status status;
    ald_error error;
} ahead;

typedef struct chunk_stream {
    ald_streaming *streaming;
    uint64_t next;    /* chunk to be given out */
    uint8_t *columns; /* or NULL */
    ahead *ready;     /* those from `first` on; NULL without threads */
    ald__projection projection;
    uint64_t first;
    uint32_t count, cap;
    uint32_t least, wanted; /* chunks to be loaded at once: at any rate, the next time */
} chunk_stream;

static size_t column_count(const ald_streaming *s)
{
    return (size_t)s->info.schema->n_children;
}

static ald_status copy_columns(const chunk_stream *c, const struct ArrowSchema *from,
                               struct ArrowSchema *out, ald_error *err)
{
    int64_t kept = 0;
    ALD_TRY(ald__schema_set_format(out, "+s", 2, err));
    ALD_TRY(ald__schema_set_metadata(out, from->metadata, ald__metadata_size(from->metadata), err));
    for (int64_t i = 0; i < from->n_children; i++) {
        if (c->columns[i])
            ALD_TRY(ald_schema_copy(&c->streaming->host, from->children[i], out->children[kept++],
                                    err));
    }
    return ALD_OK;
}

/* The schema, without the columns that are left out. */
static ald_status stream_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const chunk_stream *c = ctx;
    const struct ArrowSchema *from = c->streaming->info.schema;
    size_t count = 0;
    ald_status st;
    if (c->columns == NULL)
        return ald_schema_copy(&c->streaming->host, from, out, err);
    for (int64_t i = 0; i < from->n_children; i++)
        count += c->columns[i] != 0;
    ALD_TRY(ald__schema_new(&c->streaming->host.alloc, count, 0, out, err));
    st = copy_columns(c, from, out, err);
    if (st != ALD_OK)
        out->release(out);
    return st;
}

static void load_ahead(void *arg, uint32_t index)
{
    chunk_stream *c = arg;
    ahead *a = &c->ready[index];
    a->status =
        ald_streaming_chunk(c->streaming, c->first + index, c->columns, &a->chunk, &a->error);
}

/* As many as fit AHEAD_BYTES, if they are like those that are there now. */
static void plan_next(chunk_stream *c)
{
    uint64_t bytes = 1, fitting;
    uint32_t most = c->wanted < c->cap / GROWTH ? c->wanted * GROWTH : c->cap;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->ready[i].status == ALD_OK)
            bytes += ald__layout_memory(&c->projection.schema, &c->ready[i].chunk);
    }
    fitting = (uint64_t)AHEAD_BYTES * c->count / bytes;
    c->wanted = fitting >= most ? most : fitting > c->least ? (uint32_t)fitting : c->least;
}

/* The next chunks at once, on the host's threads. */
static void load_some(chunk_stream *c)
{
    const ald_host *host = &c->streaming->host;
    uint64_t left = c->streaming->file.chunk_count - c->next;
    c->first = c->next;
    c->count = left < c->wanted ? (uint32_t)left : c->wanted;
    host->run_tasks(host->ctx, c->count, load_ahead, c);
    if (left > c->count)
        plan_next(c);
}

static ald_status stream_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    chunk_stream *c = ctx;
    ahead *a;
    if (c->next == c->streaming->file.chunk_count)
        return ALD_OK;
    if (c->ready == NULL)
        return ald_streaming_chunk(c->streaming, c->next++, c->columns, out, err);
    if (c->next == c->first + c->count)
        load_some(c);
    a = &c->ready[c->next++ - c->first];
    if (a->status != ALD_OK && err != NULL)
        *err = a->error;
    *out = a->chunk;
    a->chunk.release = NULL;
    return a->status;
}

static void stream_free(void *ctx)
{
    chunk_stream *c = ctx;
    ald_allocator alloc = c->streaming->host.alloc;
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->ready[i].chunk.release != NULL)
            c->ready[i].chunk.release(&c->ready[i].chunk);
    }
    ald__release(&alloc, c->ready, c->cap * sizeof *c->ready);
    ald__projection_clear(c->streaming, &c->projection);
    ald__release(&alloc, c->columns, column_count(c->streaming));
    ald__release(&alloc, c, sizeof *c);
}

/* Two chunks for each thread at least, so that one that takes longer holds up less. */
static ald_status stream_init(chunk_stream *c, const uint8_t *columns, ald_error *err)
{
    const ald_host *host = &c->streaming->host;
    uint32_t threads = host->run_tasks != NULL ? host->thread_count : 1;
    if (columns != NULL) {
        c->columns = ald__alloc(&host->alloc, column_count(c->streaming), err);
        if (c->columns == NULL)
            return ALD_E_NOMEM;
        memcpy(c->columns, columns, column_count(c->streaming));
    }
    if (threads <= 1 || c->streaming->file.chunk_count <= 1)
        return ALD_OK;
    ALD_TRY(ald__projection_init(c->streaming, columns, &c->projection, err));
    c->cap = c->streaming->file.chunk_count < AHEAD_MAX ? (uint32_t)c->streaming->file.chunk_count
                                                        : AHEAD_MAX;
    c->least = threads < c->cap / 2 ? threads * 2 : c->cap;
    c->wanted = c->least;
    c->ready = ald__alloc_zero(&host->alloc, c->cap * sizeof *c->ready, err);
    return c->ready == NULL ? ALD_E_NOMEM : ALD_OK;
}

ald_status ald_streaming_stream(ald_streaming *s, const uint8_t *columns,
                                struct ArrowArrayStream *out, ald_error *err)
{
    chunk_stream *c = ald__alloc_zero(&s->host.alloc, sizeof *c, err);
    ald_stream_impl impl = {stream_schema, stream_next, stream_free, c, s->file.header.num_rows};
    ald_status st;
    memset(out, 0, sizeof *out);
    if (c == NULL)
        return ALD_E_NOMEM;
    c->streaming = s;
    st = stream_init(c, columns, err);
    if (st != ALD_OK) {
        stream_free(c);
        return st;
    }
    return ald_stream_new(&impl, &s->host.alloc, out, err);
}
