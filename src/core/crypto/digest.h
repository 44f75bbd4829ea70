/* SPDX-License-Identifier: MIT */
/* Hashes and key derivation of the host's ald_crypto, asked for by what they are needed for. */
#ifndef CORE_CRYPTO_DIGEST_H
#define CORE_CRYPTO_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"
#include "ald/io.h"

/* A piece of what is hashed. */
/* Functions that work together: a host that lends one of them without the others lends none. */
#define ALD__HAS_SHA256(c)                                                                         \
    (ALD_CRYPTO_HAS(c, sha256_finish) && (c)->sha256_new != NULL && (c)->sha256_update != NULL)
#define ALD__HAS_BLAKE3(c)                                                                         \
    (ALD_CRYPTO_HAS(c, blake3_finish) && (c)->blake3_new != NULL && (c)->blake3_update != NULL)
#define ALD__HAS_X25519(c) (ALD_CRYPTO_HAS(c, x25519) && (c)->x25519_public != NULL)
#define ALD__HAS_VERIFY_STREAM(c)                                                                  \
    (ALD_CRYPTO_HAS(c, ed25519_verify_finish) && (c)->ed25519_verify_new != NULL &&                \
     (c)->ed25519_verify_update != NULL)

typedef struct ald__part {
    const void *data;
    size_t size;
} ald__part;

/* SHA-256, BLAKE3 of some pieces, one behind the other. */
ALD_NODISCARD ald_status ald__sha256(const ald_host *host, const ald__part *parts, size_t count,
                                     uint8_t digest[ALD_SHA256_BYTES], ald_error *err);
ALD_NODISCARD ald_status ald__blake3(const ald_host *host, const ald__part *parts, size_t count,
                                     uint8_t digest[ALD_BLAKE3_BYTES], ald_error *err);

/* HKDF without salt; info is `label` (without its NUL) and the bytes behind it, 200 at most together. */
ALD_NODISCARD ald_status ald__hkdf(const ald_host *host, const uint8_t ikm[32], const char *label,
                                   const void *more, size_t more_size, uint8_t out[32],
                                   ald_error *err);

/* Random bytes, or ALD_E_UNSUPPORTED when the host has none to give. */
ALD_NODISCARD ald_status ald__random(const ald_host *host, void *out, size_t size, ald_error *err);

/* ALD_E_UNSUPPORTED that says what is missing. */
ALD_NODISCARD ald_status ald__no_crypto(const char *what, ald_error *err);
/* The one failure of everything that does not open. */
ALD_NODISCARD ald_status ald__not_opened(ald_error *err);

#endif
