/* SPDX-License-Identifier: MIT */
/* Arrow C streams with errors that keep their status. */
#include "ald/stream.h"

#include <string.h>

#include "ald/schema.h"
#include "core/base/buf.h"
#include "core/base/format.h"

/* The C stream interface wants errno codes; these are Linux's, as Arrow's own implementations use them. */
#define CODE_IO 5
#define CODE_NOMEM 12
#define CODE_INVALID 22

typedef struct stream {
    ald_allocator alloc;
    ald_stream_impl impl;
    ald_error error; /* of the last call that failed */
    char text[ALD_ERROR_MSG_BYTES + 32];
} stream;

static int code_of(ald_status st)
{
    return st == ALD_E_NOMEM ? CODE_NOMEM : st == ALD_E_IO ? CODE_IO : CODE_INVALID;
}

static int stream_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    stream *st = s->private_data;
    out->release = NULL;
    ald_status status = st->impl.schema(st->impl.ctx, out, &st->error);
    return status == ALD_OK ? 0 : code_of(status);
}

static int stream_get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    stream *st = s->private_data;
    out->release = NULL;
    if (st->error.status != ALD_OK)
        return code_of((ald_status)st->error.status);
    ald_status status = st->impl.next(st->impl.ctx, out, &st->error);
    return status == ALD_OK ? 0 : code_of(status);
}

static const char *stream_get_last_error(struct ArrowArrayStream *s)
{
    stream *st = s->private_data;
    if (st->error.status == ALD_OK)
        return NULL;
    (void)ald__format(st->text, sizeof st->text, "%s: %s",
                      ald_status_name((ald_status)st->error.status), st->error.msg);
    return st->text;
}

static void stream_release(struct ArrowArrayStream *s)
{
    stream *st = s->private_data;
    ald_allocator alloc = st->alloc;
    st->impl.free(st->impl.ctx);
    ald__release(&alloc, st, sizeof *st);
    memset(s, 0, sizeof *s);
}

ald_status ald_stream_new(const ald_stream_impl *impl, const ald_allocator *alloc,
                          struct ArrowArrayStream *out, ald_error *err)
{
    stream *st = ald__alloc_zero(alloc, sizeof *st, err);
    memset(out, 0, sizeof *out);
    if (st == NULL) {
        impl->free(impl->ctx);
        return ALD_E_NOMEM;
    }
    st->alloc = *alloc;
    st->impl = *impl;
    out->get_schema = stream_get_schema;
    out->get_next = stream_get_next;
    out->get_last_error = stream_get_last_error;
    out->release = stream_release;
    out->private_data = st;
    return ALD_OK;
}

static ald_status failure(struct ArrowArrayStream *s, int code, ald_error *err)
{
    const char *text;
    if (s->release == stream_release) {
        const stream *st = s->private_data;
        if (err != NULL)
            *err = st->error;
        return (ald_status)st->error.status;
    }
    text = s->get_last_error(s);
    return ald__fail(err, code == CODE_NOMEM ? ALD_E_NOMEM : ALD_E_IO, ALD_NO_OFFSET,
                     "the batch stream failed: %s", text != NULL ? text : "no reason given");
}

ald_status ald_stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out, ald_error *err)
{
    memset(out, 0, sizeof *out);
    int code = s->get_schema(s, out);
    return code == 0 ? ALD_OK : failure(s, code, err);
}

ald_status ald_stream_next(struct ArrowArrayStream *s, struct ArrowArray *out, ald_error *err)
{
    memset(out, 0, sizeof *out);
    int code = s->get_next(s, out);
    return code == 0 ? ALD_OK : failure(s, code, err);
}

uint64_t ald_stream_row_count(const struct ArrowArrayStream *s)
{
    return s->release == stream_release ? ((const stream *)s->private_data)->impl.row_count : 0;
}

/* ---- a stream over batches in memory */

typedef struct listed {
    ald_host host;
    struct ArrowSchema schema;
    size_t count, next;
    struct ArrowArray batches[];
} listed;

static size_t listed_bytes(size_t count)
{
    return sizeof(listed) + count * sizeof(struct ArrowArray);
}

static ald_status listed_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const listed *l = ctx;
    return ald_schema_copy(&l->host, &l->schema, out, err);
}

static ald_status listed_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    listed *l = ctx;
    (void)err;
    if (l->next == l->count)
        return ALD_OK;
    *out = l->batches[l->next];
    l->batches[l->next++].release = NULL;
    return ALD_OK;
}

static void release_all(struct ArrowSchema *schema, struct ArrowArray *batches, size_t count)
{
    if (schema->release != NULL)
        schema->release(schema);
    for (size_t i = 0; i < count; i++) {
        if (batches[i].release != NULL)
            batches[i].release(&batches[i]);
    }
}

static void listed_free(void *ctx)
{
    listed *l = ctx;
    ald_allocator alloc = l->host.alloc;
    release_all(&l->schema, l->batches, l->count);
    ald__release(&alloc, l, listed_bytes(l->count));
}

ald_status ald_stream_from_batches(struct ArrowSchema *schema, struct ArrowArray *batches,
                                   size_t batch_count, const ald_host *host,
                                   struct ArrowArrayStream *out, ald_error *err)
{
    listed *l = NULL;
    uint64_t rows = 0;
    memset(out, 0, sizeof *out);
    if (batch_count <= SIZE_MAX / 2 / sizeof(struct ArrowArray))
        l = ald__alloc_zero(&host->alloc, listed_bytes(batch_count), err);
    if (l == NULL) {
        release_all(schema, batches, batch_count);
        return ald__no_memory(err, batch_count);
    }
    l->host = *host;
    l->schema = *schema;
    schema->release = NULL;
    l->count = batch_count;
    for (size_t i = 0; i < batch_count; i++) {
        rows += (uint64_t)batches[i].length;
        l->batches[i] = batches[i];
        batches[i].release = NULL;
    }
    ald_stream_impl impl = {listed_schema, listed_next, listed_free, l, rows};
    return ald_stream_new(&impl, &host->alloc, out, err);
}
