/* SPDX-License-Identifier: MIT */
/* Both passes over a stream that can be read once. Its batches are kept in memory as long as they fit; what follows goes to the
 * host's spool as an Arrow IPC stream. */
#include <string.h>

#include "ald/ipc.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "core/arrow/array.h"
#include "core/arrow/array_layout.h"
#include "core/base/buf.h"
#include "core/watermark/marker.h"

typedef struct kept_batches {
    ald_host host;
    ald_buffer list; /* of ald__array_holder pointers */
    size_t count;
    uint64_t bytes, room;
    struct ArrowSchema schema;
    ald_spool spool; /* close NULL: none */
    uint64_t spooled;
} kept_batches;

static ald__array_holder **kept_at(const kept_batches *k, size_t i)
{
    return (ald__array_holder **)(void *)k->list.data + i;
}

static void free_kept(kept_batches *k)
{
    ald_allocator alloc = k->host.alloc;
    for (size_t i = 0; i < k->count; i++)
        ald__array_holder_free(*kept_at(k, i));
    ald_buffer_clear(&k->list);
    if (k->spool.close != NULL)
        k->spool.close(k->spool.ctx);
    if (k->schema.release != NULL)
        k->schema.release(&k->schema);
    ald__release(&alloc, k, sizeof *k);
}

/* Takes the batch over, also on failure. */
static ald_status keep_batch(kept_batches *k, struct ArrowArray *batch, ald_error *err)
{
    ald__array_holder *holder = NULL;
    uint64_t bytes = ald__layout_memory(&k->schema, batch);
    ald_status st = ald__array_holder_new(&k->host.alloc, batch, &holder, err);
    if (st == ALD_OK)
        st = ald__buffer_append(&k->list, &holder, sizeof(ald__array_holder *), err);
    if (st != ALD_OK) {
        ald__array_holder_free(holder);
        if (batch->release != NULL)
            batch->release(batch);
        return st;
    }
    k->count++;
    k->bytes = bytes < UINT64_MAX - k->bytes ? k->bytes + bytes : UINT64_MAX;
    return ALD_OK;
}

/* ---- to the spool */

static ald_status spool_write(void *ctx, const void *buf, size_t size, ald_error *err)
{
    kept_batches *k = ctx;
    ALD_TRY(k->spool.append(k->spool.ctx, buf, size, err));
    k->spooled += size;
    return ALD_OK;
}

static ald_status spool_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const kept_batches *k = ctx;
    return k->spool.read_at(k->spool.ctx, offset, buf, size, err);
}

/* What is left of a stream, from a batch on that was read already. */
typedef struct remainder {
    const kept_batches *kept;
    struct ArrowArrayStream *batches;
    struct ArrowArray first;
} remainder;

static ald_status remainder_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const remainder *r = ctx;
    return ald_schema_copy(&r->kept->host, &r->kept->schema, out, err);
}

static ald_status remainder_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    remainder *r = ctx;
    if (r->first.release == NULL)
        return ald_stream_next(r->batches, out, err);
    *out = r->first;
    r->first.release = NULL;
    return ALD_OK;
}

static void remainder_free(void *ctx)
{
    remainder *r = ctx;
    if (r->first.release != NULL)
        r->first.release(&r->first);
}

/* Takes `first` over. */
static ald_status spill(kept_batches *k, struct ArrowArrayStream *batches,
                        const struct ArrowArray *first, ald_error *err)
{
    remainder r = {k, batches, *first};
    ald_stream_impl impl = {remainder_schema, remainder_next, remainder_free, &r, 0};
    ald_ipc_options options = ALD_IPC_OPTIONS_INIT;
    ald_sink sink = {spool_write, NULL, k, "scratch"};
    struct ArrowArrayStream stream;
    ald_status st = k->host.spool_open(k->host.ctx, &k->spool, err);
    if (st != ALD_OK) {
        k->spool.close = NULL;
        remainder_free(&r);
        return st;
    }
    ALD_TRY(ald_stream_new(&impl, &k->host.alloc, &stream, err));
    return ald_ipc_write(&stream, &sink, &options, &k->host, err);
}

static ald_status keep_all(kept_batches *k, struct ArrowArrayStream *batches, ald_error *err)
{
    for (;;) {
        struct ArrowArray batch;
        ALD_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return ALD_OK;
        if (k->bytes >= k->room && k->host.spool_open != NULL)
            return spill(k, batches, &batch, err);
        ALD_TRY(keep_batch(k, &batch, err));
    }
}

/* ---- and out again */

/* One reading of what was kept. The last one frees it as it goes. */
typedef struct replay {
    kept_batches *kept;
    size_t next;
    int is_last;
    struct ArrowArrayStream rest;
} replay;

static ald_status replay_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const replay *r = ctx;
    return ald_schema_copy(&r->kept->host, &r->kept->schema, out, err);
}

static ald_status replay_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    replay *r = ctx;
    ald__array_holder **holder;
    if (r->next == r->kept->count)
        return r->rest.release != NULL ? ald_stream_next(&r->rest, out, err) : ALD_OK;
    holder = kept_at(r->kept, r->next++);
    ALD_TRY(ald__array_holder_share(*holder, out, err));
    if (r->is_last) {
        ald__array_holder_free(*holder);
        *holder = NULL;
    }
    return ALD_OK;
}

static void replay_free(void *ctx)
{
    replay *r = ctx;
    ald_allocator alloc = r->kept->host.alloc;
    if (r->rest.release != NULL)
        r->rest.release(&r->rest);
    if (r->is_last)
        free_kept(r->kept);
    ald__release(&alloc, r, sizeof *r);
}

/* With is_last, `kept` belongs to the stream, also on failure. */
static ald_status replay_new(kept_batches *kept, int is_last, struct ArrowArrayStream *out,
                             ald_error *err)
{
    replay *r = ald__alloc_zero(&kept->host.alloc, sizeof *r, err);
    ald_stream_impl impl = {replay_schema, replay_next, replay_free, r, 0};
    ald_source source = {kept->spooled, spool_read, NULL, NULL, kept, "scratch"};
    ald_status st = ALD_OK;
    out->release = NULL;
    if (r == NULL) {
        if (is_last)
            free_kept(kept);
        return ALD_E_NOMEM;
    }
    r->kept = kept;
    r->is_last = is_last;
    if (kept->spool.close != NULL)
        st = ald_ipc_open(&source, ALD_IPC_STREAM, &kept->host, &r->rest, err);
    if (st != ALD_OK) {
        replay_free(r);
        return st;
    }
    return ald_stream_new(&impl, &kept->host.alloc, out, err);
}

static ald_status keep_stream(ald_watermark *w, struct ArrowArrayStream *batches,
                              kept_batches **out, ald_error *err)
{
    kept_batches *k = ald__alloc_zero(&w->host.alloc, sizeof *k, err);
    struct ArrowSchema schema;
    ald_status st;
    *out = k;
    if (k == NULL)
        return ALD_E_NOMEM;
    k->host = w->host;
    k->list.alloc = &k->host.alloc;
    k->room = w->options.memory_bytes != 0 ? w->options.memory_bytes : ALD__MARK_MEMORY;
    st = ald_stream_schema(batches, &schema, err);
    if (st == ALD_OK) {
        st = ald_schema_copy(&k->host, &schema, &k->schema, err);
        schema.release(&schema);
    }
    if (st == ALD_OK)
        st = keep_all(k, batches, err);
    if (st != ALD_OK) {
        free_kept(k);
        *out = NULL;
    }
    return st;
}

ald_status ald_watermark_embed(ald_watermark *watermark, struct ArrowArrayStream *batches,
                               ald_error *err)
{
    kept_batches *kept = NULL;
    struct ArrowArrayStream replayed;
    ald_status st = keep_stream(watermark, batches, &kept, err);
    batches->release(batches);
    batches->release = NULL;
    if (st != ALD_OK)
        return st;
    st = replay_new(kept, 0, &replayed, err);
    if (st == ALD_OK)
        st = ald_watermark_survey(watermark, &replayed, err);
    if (st != ALD_OK) {
        free_kept(kept);
        return st;
    }
    ALD_TRY(replay_new(kept, 1, batches, err));
    return ald_watermark_apply(watermark, batches, err);
}

/* The hook's host is the one that the watermark was made with, or does the same. */
static ald_status embed_for_package(void *ctx, struct ArrowArrayStream *batches,
                                    const ald_host *host, ald_error *err)
{
    (void)host;
    return ald_watermark_embed(ctx, batches, err);
}

ald_watermark_hook ald_watermark_hook_get(ald_watermark *watermark)
{
    ald_watermark_hook hook = {embed_for_package, watermark};
    return hook;
}
