/* SPDX-License-Identifier: MIT */
/* The native provider of ald_crypto: OpenSSL's libcrypto and libsodium, each bound when it is first needed, and BLAKE3's
 * own C code. A file for each primitive; the contracts are those of ald/crypto.h. */
#ifndef NATIVE_CRYPTO_PROVIDER_H
#define NATIVE_CRYPTO_PROVIDER_H

#include "ald/crypto.h"

const ald_crypto *ald__native_crypto(void);

ald_status ald__sha256_new(const ald_allocator *alloc, void **state, ald_error *err);
void ald__sha256_update(void *state, const void *data, size_t size);
void ald__sha256_finish(void *state, uint8_t *digest);

ald_status ald__blake3_new(const ald_allocator *alloc, const uint8_t *key, void **state,
                           ald_error *err);
void ald__blake3_update(void *state, const void *data, size_t size);
void ald__blake3_finish(void *state, uint8_t *digest);

ald_status ald__hkdf_sha256(const void *ikm, size_t ikm_size, const void *info, size_t info_size,
                            uint8_t *out, size_t out_size, ald_error *err);
ald_status ald__argon2id(const void *password, size_t password_size, const uint8_t *salt,
                         uint32_t m_kib, uint32_t t, uint32_t p, uint8_t *out, size_t out_size,
                         ald_error *err);

ald_status ald__x25519_public(const uint8_t *private_key, uint8_t *public_key, ald_error *err);
ald_status ald__x25519(const uint8_t *private_key, const uint8_t *public_key, uint8_t *shared,
                       ald_error *err);

ald_status ald__gcm_seal(const uint8_t *key, const uint8_t *nonce, const void *aad, size_t aad_size,
                         const void *text, size_t text_size, uint8_t *sealed, ald_error *err);
ald_status ald__gcm_open(const uint8_t *key, const uint8_t *nonce, const void *aad, size_t aad_size,
                         const void *sealed, size_t sealed_size, uint8_t *text, ald_error *err);

/* 0 when a signature and key are refused whatever the message is. */
int ald__ed25519_acceptable(const uint8_t *signature, const uint8_t *public_key);
ald_status ald__ed25519_invalid(ald_error *err);
ald_status ald__ed25519_public(const uint8_t *seed, uint8_t *public_key, ald_error *err);
ald_status ald__ed25519_sign(const uint8_t *seed, const void *message, size_t size,
                             uint8_t *signature, ald_error *err);
ald_status ald__ed25519_sign_stream(const ald_allocator *alloc, const uint8_t *seed,
                                    const ald_message *message, uint8_t *signature, ald_error *err);
ald_status ald__ed25519_verify(const uint8_t *signature, const uint8_t *public_key,
                               const void *message, size_t size, ald_error *err);
ald_status ald__ed25519_verify_new(const ald_allocator *alloc, const uint8_t *signature,
                                   const uint8_t *public_key, void **state, ald_error *err);
void ald__ed25519_verify_update(void *state, const void *data, size_t size);
ald_status ald__ed25519_verify_finish(void *state, int cancel, ald_error *err);

#endif
