/* SPDX-License-Identifier: MIT */
/* The host inside of a module: wasi-libc's heap, the two imports, one thread. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wasm/crypto/wasm_crypto.h"
#include "wasm/glue.h"

static void *heap_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *heap_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void heap_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static ald_status host_random(void *ctx, void *buf, size_t size, ald_error *err)
{
    (void)ctx;
    if (ald_wasm_import_random(buf, size) == 0)
        return ALD_OK;
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "there are no random bytes to be had here");
}

static int64_t host_now(void *ctx)
{
    double now = ald_wasm_import_now_ms();
    (void)ctx;
    return isnan(now) ? INT64_MIN : (int64_t)(now / 1000);
}

const ald_host *ald_wasm_host(void)
{
    static ald_host host;
    if (host.struct_size == 0) {
        host.struct_size = sizeof host;
        host.thread_count = 1;
        host.alloc.alloc = heap_alloc;
        host.alloc.resize = heap_resize;
        host.alloc.release = heap_release;
        host.random = host_random;
        host.now = host_now;
        host.crypto = ald__wasm_crypto();
    }
    return &host;
}

ald_error *ald_wasm_error(void)
{
    static ald_error error;
    return &error;
}

ald_status ald_wasm_no_memory(void)
{
    return ald_error_set(ald_wasm_error(), ALD_E_NOMEM, ALD_NO_OFFSET, "no memory");
}

void *ald_wasm_alloc(size_t size)
{
    return malloc(size > 0 ? size : 1);
}

void ald_wasm_free(void *ptr)
{
    free(ptr);
}

/* ---- handles */

struct ArrowArray *ald_wasm_array_new(void)
{
    return calloc(1, sizeof(struct ArrowArray));
}

void ald_wasm_array_free(struct ArrowArray *array)
{
    if (array != NULL && array->release != NULL)
        array->release(array);
    free(array);
}

struct ArrowArrayStream *ald_wasm_stream_new(void)
{
    return calloc(1, sizeof(struct ArrowArrayStream));
}

void ald_wasm_stream_free(struct ArrowArrayStream *stream)
{
    if (stream != NULL && stream->release != NULL)
        stream->release(stream);
    free(stream);
}

ald_buffer *ald_wasm_buffer_new(void)
{
    ald_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer != NULL)
        buffer->alloc = &ald_wasm_host()->alloc;
    return buffer;
}

void ald_wasm_buffer_free(ald_buffer *buffer)
{
    if (buffer != NULL)
        ald_buffer_clear(buffer);
    free(buffer);
}
