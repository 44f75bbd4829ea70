/* SPDX-License-Identifier: MIT */
/* A host for fuzz targets: serial, no clock, no randomness, and an allocator that refuses more than a fixed amount in
 * all, so that a decoder which believes a length in its input is seen at once. Fuzz processes are single-threaded. */
#ifndef FUZZ_HOST_H
#define FUZZ_HOST_H

#include <string.h>

#include "ald/ald.h"
#include "fuzz/fuzz.h"

#define FUZZ_HEAP_BYTES ((size_t)512 << 20)

static size_t fuzz_live_bytes;

static inline void *fuzz_alloc(void *ctx, size_t size)
{
    (void)ctx;
    if (size > FUZZ_HEAP_BYTES - fuzz_live_bytes)
        return NULL;
    void *block = malloc(size);
    fuzz_live_bytes += block != NULL ? size : 0;
    return block;
}

static inline void fuzz_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    if (ptr != NULL) {
        FUZZ_CHECK(size <= fuzz_live_bytes);
        fuzz_live_bytes -= size;
    }
    free(ptr);
}

static inline void *fuzz_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    void *block = fuzz_alloc(ctx, new_size);
    if (block == NULL)
        return NULL;
    if (ptr != NULL)
        memcpy(block, ptr, old_size < new_size ? old_size : new_size);
    fuzz_release(ctx, ptr, ptr != NULL ? old_size : 0);
    return block;
}

static inline ald_host fuzz_host(void)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc.alloc = fuzz_alloc;
    host.alloc.resize = fuzz_resize;
    host.alloc.release = fuzz_release;
    return host;
}

/* Everything that was allocated through the host is back. */
#define FUZZ_CHECK_EMPTY() FUZZ_CHECK(fuzz_live_bytes == 0)

/* A failure has a name and a message; a success left none to read. */
static inline void fuzz_check_error(ald_status status, const ald_error *err)
{
    if (status != ALD_OK) {
        FUZZ_CHECK(err->status == (int32_t)status);
        FUZZ_CHECK(err->msg[0] != '\0');
        FUZZ_CHECK(memchr(err->msg, '\0', sizeof err->msg) != NULL);
    }
}

/* Rows of all batches; the stream is released. A status other than ALD_OK is the stream's. */
static inline ald_status fuzz_drain(struct ArrowArrayStream *stream, int64_t *rows, ald_error *err)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof schema);
    ald_status status = ald_stream_schema(stream, &schema, err);
    *rows = 0;
    while (status == ALD_OK) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof batch);
        status = ald_stream_next(stream, &batch, err);
        if (status != ALD_OK || batch.release == NULL)
            break;
        FUZZ_CHECK(batch.length >= 0 && batch.n_children == schema.n_children);
        *rows += batch.length;
        batch.release(&batch);
    }
    if (schema.release != NULL)
        schema.release(&schema);
    stream->release(stream);
    return status;
}

#endif
