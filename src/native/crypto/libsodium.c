/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "native/crypto/libsodium.h"

#include <pthread.h>

#include "native/crypto/library.h"

static ald_libsodium sodium;
static int is_bound;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int bind_functions(void *library)
{
#define LIBSODIUM_BIND(name) ald__library_bind(library, #name, &sodium.name) &&
    return LIBSODIUM_FUNCTIONS(LIBSODIUM_BIND) 1;
#undef LIBSODIUM_BIND
}

/* The ABI number of every libsodium since 1.0.12; 1.0.20 raised it, and kept these functions. */
static void *open_library(void)
{
    void *library = ald__library_open("libsodium.so.23", "libsodium.23.dylib");
    return library != NULL ? library : ald__library_open("libsodium.so.26", "libsodium.26.dylib");
}

ald_status ald__libsodium(const ald_libsodium **out, ald_error *err)
{
    static void *library;
    ald_status st = ALD_OK;
    (void)pthread_mutex_lock(&lock);
    if (!is_bound) {
        if (library == NULL)
            library = open_library();
        is_bound = library != NULL && bind_functions(library) && sodium.sodium_init() >= 0;
    }
    if (!is_bound)
        st =
            ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                          "passwords and signatures of large files need libsodium 1.0.18 or later, "
                          "which is not installed");
    *out = st == ALD_OK ? &sodium : NULL;
    (void)pthread_mutex_unlock(&lock);
    return st;
}
