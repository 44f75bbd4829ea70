/* SPDX-License-Identifier: MIT */
/* The provider of ald_crypto in a WebAssembly module: AES from BearSSL, whose code takes the same time for any key and text,
 * the rest from libsodium's portable code, and BLAKE3's own. Contracts are those of ald/crypto.h. Nothing here is shared
 * between threads, and nothing needs to be set up. */
#ifndef WASM_CRYPTO_WASM_CRYPTO_H
#define WASM_CRYPTO_WASM_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"

/* What the module lends the core. Two files define it: one for a module that only reads, which has no key to sign with and
 * so no table for it, and one for the whole module. */
const ald_crypto *ald__wasm_crypto(void);

/* Zeros that the compiler does not leave out. */
void ald__wasm_wipe(void *data, size_t size);

ald_status ald__wasm_sha256_new(const ald_allocator *alloc, void **state, ald_error *err);
void ald__wasm_sha256_update(void *state, const void *data, size_t size);
void ald__wasm_sha256_finish(void *state, uint8_t *digest);

ald_status ald__wasm_blake3_new(const ald_allocator *alloc, const uint8_t *key, void **state,
                                ald_error *err);
void ald__wasm_blake3_update(void *state, const void *data, size_t size);
void ald__wasm_blake3_finish(void *state, uint8_t *digest);

ald_status ald__wasm_hkdf_sha256(const void *ikm, size_t ikm_size, const void *info,
                                 size_t info_size, uint8_t *out, size_t out_size, ald_error *err);
ald_status ald__wasm_argon2id(const void *password, size_t password_size, const uint8_t *salt,
                              uint32_t m_kib, uint32_t t, uint32_t p, uint8_t *out, size_t out_size,
                              ald_error *err);

ald_status ald__wasm_x25519_public(const uint8_t *private_key, uint8_t *public_key, ald_error *err);
ald_status ald__wasm_x25519(const uint8_t *private_key, const uint8_t *public_key, uint8_t *shared,
                            ald_error *err);

ald_status ald__wasm_gcm_seal(const uint8_t *key, const uint8_t *nonce, const void *aad,
                              size_t aad_size, const void *text, size_t text_size, uint8_t *sealed,
                              ald_error *err);
ald_status ald__wasm_gcm_open(const uint8_t *key, const uint8_t *nonce, const void *aad,
                              size_t aad_size, const void *sealed, size_t sealed_size,
                              uint8_t *text, ald_error *err);
ald_status ald__wasm_gcm_open_all(const ald_gcm_call *calls, size_t count, ald_error *err);

ald_status ald__wasm_ed25519_public(const uint8_t *seed, uint8_t *public_key, ald_error *err);
ald_status ald__wasm_ed25519_sign(const uint8_t *seed, const void *message, size_t size,
                                  uint8_t *signature, ald_error *err);
ald_status ald__wasm_ed25519_sign_stream(const ald_allocator *alloc, const uint8_t *seed,
                                         const ald_message *message, uint8_t *signature,
                                         ald_error *err);
ald_status ald__wasm_ed25519_verify(const uint8_t *signature, const uint8_t *public_key,
                                    const void *message, size_t size, ald_error *err);
ald_status ald__wasm_ed25519_verify_new(const ald_allocator *alloc, const uint8_t *signature,
                                        const uint8_t *public_key, void **state, ald_error *err);
void ald__wasm_ed25519_verify_update(void *state, const void *data, size_t size);
ald_status ald__wasm_ed25519_verify_finish(void *state, int cancel, ald_error *err);

/* The members that reading needs. */
#define ALD_WASM_CRYPTO_READING                                                                    \
    .sha256_new = ald__wasm_sha256_new, .sha256_update = ald__wasm_sha256_update,                  \
    .sha256_finish = ald__wasm_sha256_finish, .blake3_new = ald__wasm_blake3_new,                  \
    .blake3_update = ald__wasm_blake3_update, .blake3_finish = ald__wasm_blake3_finish,            \
    .hkdf_sha256 = ald__wasm_hkdf_sha256, .argon2id = ald__wasm_argon2id,                          \
    .x25519_public = ald__wasm_x25519_public, .x25519 = ald__wasm_x25519,                          \
    .gcm_open = ald__wasm_gcm_open, .gcm_open_all = ald__wasm_gcm_open_all,                        \
    .ed25519_verify = ald__wasm_ed25519_verify,                                                    \
    .ed25519_verify_new = ald__wasm_ed25519_verify_new,                                            \
    .ed25519_verify_update = ald__wasm_ed25519_verify_update,                                      \
    .ed25519_verify_finish = ald__wasm_ed25519_verify_finish

#endif
