/* SPDX-License-Identifier: MIT */
/* BLAKE3 from its official C code, which chooses the processor's instructions itself. */
#define _GNU_SOURCE
#include <blake3.h>
#include <pthread.h>
#include <string.h>

#include "native/crypto/provider.h"

typedef struct blake3_state {
    blake3_hasher hasher;
    const ald_allocator *alloc;
} blake3_state;

/* The choice is kept in a plain variable: it is made here, before threads can race for it. */
static void choose(void)
{
    static const uint8_t block[2 * BLAKE3_CHUNK_LEN];
    blake3_hasher hasher;
    uint8_t digest[BLAKE3_OUT_LEN];
    blake3_hasher_init(&hasher);
    blake3_hasher_update(&hasher, block, sizeof block);
    blake3_hasher_finalize(&hasher, digest, sizeof digest);
}

ald_status ald__blake3_new(const ald_allocator *alloc, const uint8_t *key, void **state,
                           ald_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    blake3_state *s = alloc->alloc(alloc->ctx, sizeof *s);
    *state = NULL;
    if (s == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a hash");
    (void)pthread_once(&once, choose);
    s->alloc = alloc;
    if (key == NULL)
        blake3_hasher_init(&s->hasher);
    else
        blake3_hasher_init_keyed(&s->hasher, key);
    *state = s;
    return ALD_OK;
}

void ald__blake3_update(void *state, const void *data, size_t size)
{
    if (size > 0)
        blake3_hasher_update(&((blake3_state *)state)->hasher, data, size);
}

void ald__blake3_finish(void *state, uint8_t *digest)
{
    blake3_state *s = state;
    if (s == NULL)
        return;
    if (digest != NULL)
        blake3_hasher_finalize(&s->hasher, digest, ALD_BLAKE3_BYTES);
    explicit_bzero(&s->hasher, sizeof s->hasher); /* it may be keyed */
    s->alloc->release(s->alloc->ctx, s, sizeof *s);
}
