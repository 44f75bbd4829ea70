/* SPDX-License-Identifier: MIT */
/* The cryptography that a host lends to the core. Providers: src/native/crypto. */
#ifndef ALD_CRYPTO_H
#define ALD_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/export.h"

ALD_BEGIN_DECLS

#define ALD_SHA256_BYTES 32

typedef struct ald_crypto ald_crypto;

/* Every member may be called from several threads on different state. */
struct ald_crypto {
    uint32_t struct_size;
    /* Incremental SHA-256. `state` is the provider's; new returns NULL in *state on failure. */
    ald_status (*sha256_new)(const ald_allocator *alloc, void **state, ald_error *err);
    void (*sha256_update)(void *state, const void *data, size_t size);
    /* Writes the digest and frees the state; digest NULL only frees. */
    void (*sha256_finish)(void *state, uint8_t digest[ALD_SHA256_BYTES]);
};

ALD_END_DECLS
#endif
