/* SPDX-License-Identifier: MIT */
/* SHA-256, and HKDF over it, from libcrypto. */
#define _GNU_SOURCE
#include <string.h>

#include "native/crypto/libcrypto.h"
#include "native/crypto/provider.h"

#define OUT_MAX 8160  /* 255 hashes */
#define INFO_MAX 1024 /* HKDF of OpenSSL 3.0 takes no more */

ald_status ald__sha256_new(const ald_allocator *alloc, void **state, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    EVP_MD_CTX *ctx;
    (void)alloc; /* libcrypto has its own memory */
    *state = NULL;
    if (st != ALD_OK)
        return st;
    ctx = lib->EVP_MD_CTX_new();
    if (ctx == NULL || lib->EVP_DigestInit_ex(ctx, lib->sha256, NULL) != 1) {
        lib->EVP_MD_CTX_free(ctx);
        return ald__libcrypto_failed(err, "SHA-256");
    }
    *state = ctx;
    return ALD_OK;
}

void ald__sha256_update(void *state, const void *data, size_t size)
{
    (void)ald__libcrypto_bound()->EVP_DigestUpdate(state, data, size); /* cannot fail after init */
}

void ald__sha256_finish(void *state, uint8_t *digest)
{
    const ald_libcrypto *lib = ald__libcrypto_bound();
    if (digest != NULL)
        (void)lib->EVP_DigestFinal_ex(state, digest, NULL);
    lib->EVP_MD_CTX_free(state);
}

ald_status ald__hkdf_sha256(const void *ikm, size_t ikm_size, const void *info, size_t info_size,
                            uint8_t *out, size_t out_size, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    char digest[] = "SHA2-256";
    EVP_KDF_CTX *ctx;
    OSSL_PARAM params[4];
    int done;
    if (st != ALD_OK)
        return st;
    if (ikm_size == 0 || info_size > INFO_MAX || out_size == 0 || out_size > OUT_MAX)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "HKDF: a size is not allowed");
    ctx = lib->EVP_KDF_CTX_new(lib->hkdf);
    if (ctx == NULL)
        return ald__libcrypto_failed(err, "HKDF");
    params[0] = lib->OSSL_PARAM_construct_utf8_string("digest", digest, 0);
    params[1] = lib->OSSL_PARAM_construct_octet_string("key", (void *)(uintptr_t)ikm, ikm_size);
    params[2] = lib->OSSL_PARAM_construct_octet_string("info", (void *)(uintptr_t)info, info_size);
    params[info_size > 0 ? 3 : 2] = lib->OSSL_PARAM_construct_end();
    (void)lib->ERR_set_mark();
    done = lib->EVP_KDF_derive(ctx, out, out_size, params) == 1;
    (void)lib->ERR_pop_to_mark();
    lib->EVP_KDF_CTX_free(ctx);
    return done ? ALD_OK : ald__libcrypto_failed(err, "HKDF");
}
