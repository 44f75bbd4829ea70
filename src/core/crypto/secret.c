/* SPDX-License-Identifier: MIT */
#include "core/crypto/secret.h"

#include <string.h>

#include "core/base/fail.h"

/* The compiler cannot know what a volatile pointer points to, so the call stays. */
static void *(*const volatile unseen_memset)(void *, int, size_t) = memset;

void ald__wipe(void *data, size_t size)
{
    if (size > 0)
        (void)unseen_memset(data, 0, size);
}

int ald__equal_ct(const void *a, const void *b, size_t size)
{
    const volatile uint8_t *x = a, *y = b;
    unsigned differ = 0;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned)(x[i] ^ y[i]);
    return (int)((differ - 1u) >> 8 & 1u); /* 0 - 1 has bit 8 set, 1 … 255 less 1 has not */
}

ald_status ald__secret_init(ald_secret *out, const ald_allocator *alloc, size_t size,
                            ald_error *err)
{
    out->alloc = alloc;
    out->size = 0;
    out->bytes = NULL;
    if (size == 0)
        return ALD_OK;
    out->bytes = alloc->alloc(alloc->ctx, size);
    if (out->bytes == NULL)
        return ald__fail(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a key");
    memset(out->bytes, 0, size);
    out->size = size;
    return ALD_OK;
}

void ald__secret_clear(ald_secret *secret)
{
    if (secret->bytes != NULL) {
        ald__wipe(secret->bytes, secret->size);
        secret->alloc->release(secret->alloc->ctx, secret->bytes, secret->size);
    }
    secret->bytes = NULL;
    secret->size = 0;
}
