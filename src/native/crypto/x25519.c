/* SPDX-License-Identifier: MIT */
/* X25519 from libcrypto. */
#define _GNU_SOURCE
#include <string.h>

#include "native/crypto/libcrypto.h"
#include "native/crypto/provider.h"

ald_status ald__x25519_public(const uint8_t *private_key, uint8_t *public_key, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    size_t size = ALD_X25519_BYTES;
    EVP_PKEY *key;
    int done;
    if (st != ALD_OK)
        return st;
    (void)lib->ERR_set_mark();
    key = lib->EVP_PKEY_new_raw_private_key_ex(lib->context, "X25519", NULL, private_key,
                                               ALD_X25519_BYTES);
    done = key != NULL && lib->EVP_PKEY_get_raw_public_key(key, public_key, &size) == 1 &&
           size == ALD_X25519_BYTES;
    lib->EVP_PKEY_free(key);
    (void)lib->ERR_pop_to_mark();
    return done ? ALD_OK : ald__libcrypto_failed(err, "X25519");
}

static int is_zero(const uint8_t *bytes, size_t size)
{
    unsigned any = 0;
    for (size_t i = 0; i < size; i++)
        any |= bytes[i];
    return any == 0;
}

/* libcrypto refuses a shared secret of zeros, too; its failure then looks like any other. The derivation itself has no
 * other reason to fail. */
static ald_status derive(const ald_libcrypto *lib, EVP_PKEY_CTX *ctx, EVP_PKEY *peer,
                         uint8_t *shared, ald_error *err)
{
    uint8_t secret[ALD_X25519_BYTES];
    size_t size = sizeof secret;
    ald_status st = ALD_OK;
    if (lib->EVP_PKEY_derive_init(ctx) != 1 || lib->EVP_PKEY_derive_set_peer(ctx, peer) != 1)
        return ald__libcrypto_failed(err, "X25519");
    if (lib->EVP_PKEY_derive(ctx, secret, &size) != 1 || size != sizeof secret ||
        is_zero(secret, sizeof secret))
        st = ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s",
                           ALD_DECRYPTION_FAILED_TEXT);
    else
        memcpy(shared, secret, sizeof secret);
    explicit_bzero(secret, sizeof secret);
    return st;
}

ald_status ald__x25519(const uint8_t *private_key, const uint8_t *public_key, uint8_t *shared,
                       ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    EVP_PKEY *key, *peer;
    EVP_PKEY_CTX *ctx = NULL;
    if (st != ALD_OK)
        return st;
    (void)lib->ERR_set_mark();
    key = lib->EVP_PKEY_new_raw_private_key_ex(lib->context, "X25519", NULL, private_key,
                                               ALD_X25519_BYTES);
    peer = lib->EVP_PKEY_new_raw_public_key_ex(lib->context, "X25519", NULL, public_key,
                                               ALD_X25519_BYTES);
    if (key != NULL && peer != NULL)
        ctx = lib->EVP_PKEY_CTX_new_from_pkey(lib->context, key, NULL);
    st = ctx == NULL ? ald__libcrypto_failed(err, "X25519") : derive(lib, ctx, peer, shared, err);
    lib->EVP_PKEY_CTX_free(ctx);
    lib->EVP_PKEY_free(peer);
    lib->EVP_PKEY_free(key);
    (void)lib->ERR_pop_to_mark();
    return st;
}
