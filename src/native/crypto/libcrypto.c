/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "native/crypto/libcrypto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "native/crypto/library.h"

static ald_libcrypto crypto;
static int is_bound;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int bind_functions(void *library)
{
#define LIBCRYPTO_BIND(name) ald__library_bind(library, #name, &crypto.name) &&
    return LIBCRYPTO_FUNCTIONS(LIBCRYPTO_BIND) 1;
#undef LIBCRYPTO_BIND
}

/* Fetched once: a fetch takes locks and searches. What an earlier try got is kept. */
static int fetch_algorithms(void)
{
    if (crypto.context == NULL)
        crypto.context = crypto.OSSL_LIB_CTX_new();
    if (crypto.context == NULL)
        return 0;
    if (crypto.sha256 == NULL)
        crypto.sha256 = crypto.EVP_MD_fetch(crypto.context, "SHA2-256", NULL);
    if (crypto.sha512 == NULL)
        crypto.sha512 = crypto.EVP_MD_fetch(crypto.context, "SHA2-512", NULL);
    if (crypto.aes_256_gcm == NULL)
        crypto.aes_256_gcm = crypto.EVP_CIPHER_fetch(crypto.context, "AES-256-GCM", NULL);
    if (crypto.hkdf == NULL)
        crypto.hkdf = crypto.EVP_KDF_fetch(crypto.context, "HKDF", NULL);
    return crypto.sha256 != NULL && crypto.sha512 != NULL && crypto.aes_256_gcm != NULL &&
           crypto.hkdf != NULL;
}

static ald_status bind_library(ald_error *err)
{
    static void *library;
    if (library == NULL)
        library = ald__library_open("libcrypto.so.3", "libcrypto.3.dylib");
    if (library == NULL || !bind_functions(library))
        return ald_error_set(
            err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
            "hashes and keys need libcrypto.so.3 (OpenSSL 3), which is not installed");
    return fetch_algorithms() ? ALD_OK : ald__libcrypto_failed(err, "its algorithms");
}

ald_status ald__libcrypto(const ald_libcrypto **out, ald_error *err)
{
    ald_status st = ALD_OK;
    (void)pthread_mutex_lock(&lock);
    if (!is_bound)
        st = bind_library(err);
    is_bound = st == ALD_OK;
    (void)pthread_mutex_unlock(&lock);
    *out = st == ALD_OK ? &crypto : NULL;
    return st;
}

const ald_libcrypto *ald__libcrypto_bound(void)
{
    return &crypto;
}

ald_status ald__libcrypto_failed(ald_error *err, const char *what)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "libcrypto cannot begin: %s", what);
}
