/* SPDX-License-Identifier: MIT */
/* Lets tests/unit/test_crypto.c run against the module's provider: the host that it asks for, on a C library. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/native.h"
#include "wasm/crypto/wasm_crypto.h"

static void *vectors_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *vectors_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void vectors_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static ald_status vectors_random(void *ctx, void *buf, size_t size, ald_error *err)
{
    uint8_t *p = buf;
    (void)ctx;
    for (size_t n; size > 0; p += n, size -= n) {
        n = size < 256 ? size : 256;
        if (getentropy(p, n) != 0)
            return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "no random bytes");
    }
    return ALD_OK;
}

ald_host ald_native_host(uint32_t thread_count)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.thread_count = thread_count;
    host.alloc.alloc = vectors_alloc;
    host.alloc.resize = vectors_resize;
    host.alloc.release = vectors_release;
    host.random = vectors_random;
    host.crypto = ald__wasm_crypto();
    return host;
}
