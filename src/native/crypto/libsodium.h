/* SPDX-License-Identifier: MIT */
/* libsodium, bound with dlopen at first need: Argon2id, the group of Ed25519, and small hashes. */
#ifndef NATIVE_CRYPTO_LIBSODIUM_H
#define NATIVE_CRYPTO_LIBSODIUM_H

#include <sodium.h>

#include "ald/error.h"

#define LIBSODIUM_FUNCTIONS(X)                                                                     \
    X(sodium_init)                                                                                 \
    X(crypto_hash_sha256)                                                                          \
    X(crypto_pwhash_argon2id)                                                                      \
    X(crypto_core_ed25519_is_valid_point)                                                          \
    X(crypto_core_ed25519_add)                                                                     \
    X(crypto_core_ed25519_sub)                                                                     \
    X(crypto_core_ed25519_scalar_reduce)                                                           \
    X(crypto_core_ed25519_scalar_add)                                                              \
    X(crypto_core_ed25519_scalar_mul)                                                              \
    X(crypto_scalarmult_ed25519_noclamp)                                                           \
    X(crypto_scalarmult_ed25519_base_noclamp)

typedef struct ald_libsodium {
#define LIBSODIUM_MEMBER(name) __typeof__(name) *name;
    LIBSODIUM_FUNCTIONS(LIBSODIUM_MEMBER)
#undef LIBSODIUM_MEMBER
} ald_libsodium;

/* Binds the library, once; it is never unloaded. */
ALD_NODISCARD ald_status ald__libsodium(const ald_libsodium **out, ald_error *err);

#endif
