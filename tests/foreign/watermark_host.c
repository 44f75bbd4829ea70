/* SPDX-License-Identifier: MIT */
/* A host for the tests of watermarks on processors that the libraries of the native one are not there for: memory and BLAKE3,
 * one thread. See tools/foreign. */
#include <stdlib.h>
#include <string.h>

#include "ald/crypto.h"
#include "ald/native.h"
#include "native/crypto/provider.h"

static void *take(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

ald_host ald_native_host(uint32_t thread_count)
{
    static ald_crypto crypto;
    ald_host host;
    (void)thread_count;
    memset(&host, 0, sizeof host);
    crypto.struct_size = sizeof crypto;
    crypto.blake3_new = ald__blake3_new;
    crypto.blake3_update = ald__blake3_update;
    crypto.blake3_finish = ald__blake3_finish;
    host.struct_size = sizeof host;
    host.thread_count = 1;
    host.alloc = (ald_allocator){take, resize, release, NULL};
    host.crypto = &crypto;
    return host;
}
