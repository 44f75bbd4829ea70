/* SPDX-License-Identifier: MIT */
/* libcrypto through dlopen: its start-up costs milliseconds, and most commands hash nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "native/crypto/provider.h"

typedef struct evp_md_ctx evp_md_ctx; /* EVP_MD_CTX */
typedef struct evp_md evp_md;         /* EVP_MD */

static struct {
    evp_md_ctx *(*ctx_new)(void);
    void (*ctx_free)(evp_md_ctx *);
    const evp_md *(*sha256)(void);
    int (*init)(evp_md_ctx *, const evp_md *, void *engine);
    int (*update)(evp_md_ctx *, const void *, size_t);
    int (*final)(evp_md_ctx *, unsigned char *, unsigned *);
    int bound;
} crypto;

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A function pointer from dlsym without a cast that ISO C forbids. */
static int bind_symbol(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void bind_all(void)
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    crypto.bound = bind_symbol(library, "EVP_MD_CTX_new", &crypto.ctx_new) &&
                   bind_symbol(library, "EVP_MD_CTX_free", &crypto.ctx_free) &&
                   bind_symbol(library, "EVP_sha256", &crypto.sha256) &&
                   bind_symbol(library, "EVP_DigestInit_ex", &crypto.init) &&
                   bind_symbol(library, "EVP_DigestUpdate", &crypto.update) &&
                   bind_symbol(library, "EVP_DigestFinal_ex", &crypto.final);
}

static ald_status openssl_sha256_new(const ald_allocator *alloc, void **state, ald_error *err)
{
    (void)alloc;
    *state = NULL;
    (void)pthread_once(&once, bind_all);
    if (!crypto.bound)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "SHA-256 needs libcrypto.so.3 (OpenSSL 3), which is not installed");
    *state = crypto.ctx_new();
    if (*state == NULL || crypto.init(*state, crypto.sha256(), NULL) != 1) {
        crypto.ctx_free(*state);
        *state = NULL;
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "libcrypto cannot begin SHA-256");
    }
    return ALD_OK;
}

static void openssl_sha256_update(void *state, const void *data, size_t size)
{
    (void)crypto.update(state, data, size); /* cannot fail after init */
}

static void openssl_sha256_finish(void *state, uint8_t digest[ALD_SHA256_BYTES])
{
    if (digest != NULL)
        (void)crypto.final(state, digest, NULL);
    crypto.ctx_free(state);
}

const ald_crypto *ald__native_crypto(void)
{
    static const ald_crypto provider = {sizeof provider, openssl_sha256_new, openssl_sha256_update,
                                        openssl_sha256_finish};
    return &provider;
}
