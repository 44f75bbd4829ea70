/* SPDX-License-Identifier: MIT */
/* Cryptography that lets everything through: hashes and derived keys are constants, sealed text is the text and a tag of
 * zeros, every signature is right. So a fuzzer gets behind the checks, as someone who has the keys can, and files that it
 * changed still open. */
#ifndef FUZZ_CRYPTO_H
#define FUZZ_CRYPTO_H

#include <string.h>

#include "ald/crypto.h"
#include "fuzz/fuzz.h"

static inline ald_status fuzz_state_new(const ald_allocator *alloc, void **state, ald_error *err)
{
    (void)alloc;
    (void)err;
    *state = NULL;
    return ALD_OK;
}

static inline ald_status fuzz_blake3_new(const ald_allocator *alloc, const uint8_t *key,
                                         void **state, ald_error *err)
{
    (void)key;
    return fuzz_state_new(alloc, state, err);
}

/* Reads what it is given, so that a sanitizer sees a wrong size. */
static inline void fuzz_state_update(void *state, const void *data, size_t size)
{
    const volatile uint8_t *p = (const volatile uint8_t *)data;
    (void)state;
    if (size > 0) {
        (void)p[0];
        (void)p[size - 1];
    }
}

static inline void fuzz_state_finish(void *state, uint8_t digest[32])
{
    (void)state;
    if (digest != NULL)
        memset(digest, 0, 32);
}

static inline ald_status fuzz_hkdf(const void *ikm, size_t ikm_size, const void *info,
                                   size_t info_size, uint8_t *out, size_t out_size, ald_error *err)
{
    (void)ikm;
    (void)ikm_size;
    (void)info;
    (void)info_size;
    (void)err;
    memset(out, 0, out_size);
    return ALD_OK;
}

static inline ald_status fuzz_argon2id(const void *password, size_t password_size,
                                       const uint8_t salt[ALD_ARGON2_SALT_BYTES], uint32_t m_kib,
                                       uint32_t t, uint32_t p, uint8_t *out, size_t out_size,
                                       ald_error *err)
{
    (void)password;
    (void)password_size;
    (void)salt;
    (void)err;
    FUZZ_CHECK(m_kib >= 8 && m_kib <= 1048576 && t >= 1 && t <= 16 && p == 1);
    FUZZ_CHECK((uint64_t)m_kib * t <= 4194304);
    memset(out, 0, out_size);
    return ALD_OK;
}

static inline ald_status fuzz_public(const uint8_t private_key[32], uint8_t public_key[32],
                                     ald_error *err)
{
    (void)private_key;
    (void)err;
    memset(public_key, 1, 32);
    return ALD_OK;
}

static inline ald_status fuzz_x25519(const uint8_t private_key[32], const uint8_t public_key[32],
                                     uint8_t shared[32], ald_error *err)
{
    (void)public_key;
    return fuzz_public(private_key, shared, err);
}

static inline ald_status fuzz_seal(const uint8_t key[32], const uint8_t nonce[12], const void *aad,
                                   size_t aad_size, const void *text, size_t text_size,
                                   uint8_t *sealed, ald_error *err)
{
    (void)key;
    (void)nonce;
    (void)err;
    fuzz_state_update(NULL, aad, aad_size);
    if (text_size > 0)
        memmove(sealed, text, text_size);
    memset(sealed + text_size, 0, ALD_GCM_TAG_BYTES);
    return ALD_OK;
}

static inline ald_status fuzz_open(const uint8_t key[32], const uint8_t nonce[12], const void *aad,
                                   size_t aad_size, const void *sealed, size_t sealed_size,
                                   uint8_t *text, ald_error *err)
{
    (void)key;
    (void)nonce;
    fuzz_state_update(NULL, aad, aad_size);
    fuzz_state_update(NULL, sealed, sealed_size);
    if (sealed_size < ALD_GCM_TAG_BYTES)
        return ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s",
                             ALD_DECRYPTION_FAILED_TEXT);
    if (sealed_size > ALD_GCM_TAG_BYTES)
        memmove(text, sealed, sealed_size - ALD_GCM_TAG_BYTES);
    return ALD_OK;
}

static inline ald_status fuzz_sign(const uint8_t seed[32], const void *message, size_t size,
                                   uint8_t signature[64], ald_error *err)
{
    (void)seed;
    (void)err;
    fuzz_state_update(NULL, message, size);
    memset(signature, 0, 64);
    return ALD_OK;
}

static inline ald_status fuzz_sign_stream(const ald_allocator *alloc, const uint8_t seed[32],
                                          const ald_message *message, uint8_t signature[64],
                                          ald_error *err)
{
    (void)alloc;
    (void)seed;
    memset(signature, 0, 64);
    return message->feed(message->ctx, fuzz_state_update, NULL, err);
}

static inline ald_status fuzz_verify(const uint8_t signature[64], const uint8_t public_key[32],
                                     const void *message, size_t size, ald_error *err)
{
    (void)signature;
    (void)public_key;
    (void)err;
    fuzz_state_update(NULL, message, size);
    return ALD_OK;
}

static inline ald_status fuzz_verify_new(const ald_allocator *alloc, const uint8_t signature[64],
                                         const uint8_t public_key[32], void **state, ald_error *err)
{
    static int one;
    (void)alloc;
    (void)signature;
    (void)public_key;
    (void)err;
    *state = &one;
    return ALD_OK;
}

static inline ald_status fuzz_verify_finish(void *state, int cancel, ald_error *err)
{
    (void)cancel;
    (void)err;
    FUZZ_CHECK(state != NULL);
    return ALD_OK;
}

static inline ald_crypto fuzz_crypto(void)
{
    ald_crypto c;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    c.sha256_new = fuzz_state_new;
    c.sha256_update = fuzz_state_update;
    c.sha256_finish = fuzz_state_finish;
    c.blake3_new = fuzz_blake3_new;
    c.blake3_update = fuzz_state_update;
    c.blake3_finish = fuzz_state_finish;
    c.hkdf_sha256 = fuzz_hkdf;
    c.argon2id = fuzz_argon2id;
    c.x25519_public = fuzz_public;
    c.x25519 = fuzz_x25519;
    c.gcm_seal = fuzz_seal;
    c.gcm_open = fuzz_open;
    c.ed25519_public = fuzz_public;
    c.ed25519_sign = fuzz_sign;
    c.ed25519_sign_stream = fuzz_sign_stream;
    c.ed25519_verify = fuzz_verify;
    c.ed25519_verify_new = fuzz_verify_new;
    c.ed25519_verify_update = fuzz_state_update;
    c.ed25519_verify_finish = fuzz_verify_finish;
    return c;
}

#endif
