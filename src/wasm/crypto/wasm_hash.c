/* SPDX-License-Identifier: MIT */
/* SHA-256, HKDF and Argon2id from libsodium, BLAKE3 from its own code. */
#include <blake3.h>
#include <sodium/crypto_hash_sha256.h>
#include <sodium/crypto_kdf_hkdf_sha256.h>
#include <sodium/crypto_pwhash_argon2id.h>

#include "wasm/crypto/deferral.h"
#include "wasm/crypto/wasm_crypto.h"

#define OUT_MAX 8160  /* 255 hashes */
#define INFO_MAX 1024 /* ald/crypto.h */

typedef struct sha256 {
    crypto_hash_sha256_state hash;
    const ald_allocator *alloc;
} sha256;

typedef struct blake3 {
    blake3_hasher hasher;
    const ald_allocator *alloc;
} blake3;

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a hash");
}

ald_status ald__wasm_sha256_new(const ald_allocator *alloc, void **state, ald_error *err)
{
    sha256 *s = alloc->alloc(alloc->ctx, sizeof *s);
    *state = s;
    if (s == NULL)
        return no_memory(err);
    s->alloc = alloc;
    (void)crypto_hash_sha256_init(&s->hash);
    return ALD_OK;
}

void ald__wasm_sha256_update(void *state, const void *data, size_t size)
{
    if (size > 0)
        (void)crypto_hash_sha256_update(&((sha256 *)state)->hash, data, size);
}

void ald__wasm_sha256_finish(void *state, uint8_t *digest)
{
    sha256 *s = state;
    if (s == NULL)
        return;
    if (digest != NULL)
        (void)crypto_hash_sha256_final(&s->hash, digest);
    s->alloc->release(s->alloc->ctx, s, sizeof *s);
}

ald_status ald__wasm_blake3_new(const ald_allocator *alloc, const uint8_t *key, void **state,
                                ald_error *err)
{
    blake3 *s = alloc->alloc(alloc->ctx, sizeof *s);
    *state = s;
    if (s == NULL)
        return no_memory(err);
    s->alloc = alloc;
    if (key == NULL)
        blake3_hasher_init(&s->hasher);
    else
        blake3_hasher_init_keyed(&s->hasher, key);
    return ALD_OK;
}

void ald__wasm_blake3_update(void *state, const void *data, size_t size)
{
    if (size > 0)
        blake3_hasher_update(&((blake3 *)state)->hasher, data, size);
}

void ald__wasm_blake3_finish(void *state, uint8_t *digest)
{
    blake3 *s = state;
    if (s == NULL)
        return;
    if (digest != NULL)
        blake3_hasher_finalize(&s->hasher, digest, ALD_BLAKE3_BYTES);
    ald__wasm_wipe(&s->hasher, sizeof s->hasher); /* it may be keyed */
    s->alloc->release(s->alloc->ctx, s, sizeof *s);
}

ald_status ald__wasm_hkdf_sha256(const void *ikm, size_t ikm_size, const void *info,
                                 size_t info_size, uint8_t *out, size_t out_size, ald_error *err)
{
    uint8_t prk[crypto_kdf_hkdf_sha256_KEYBYTES];
    if (ikm_size == 0 || info_size > INFO_MAX || out_size == 0 || out_size > OUT_MAX)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "HKDF: a size is not allowed");
    (void)crypto_kdf_hkdf_sha256_extract(prk, NULL, 0, ikm, ikm_size);
    (void)crypto_kdf_hkdf_sha256_expand(out, out_size, info, info_size, prk);
    ald__wasm_wipe(prk, sizeof prk);
    return ALD_OK;
}

/* All that a key of Argon2id is made from, as one hash. */
static void argon2id_facts(const void *password, size_t password_size, const uint8_t *salt,
                           uint32_t m_kib, uint32_t t, uint8_t out[ALD_BLAKE3_BYTES])
{
    blake3_hasher h;
    blake3_hasher_init(&h);
    blake3_hasher_update(&h, &m_kib, sizeof m_kib);
    blake3_hasher_update(&h, &t, sizeof t);
    blake3_hasher_update(&h, salt, ALD_ARGON2_SALT_BYTES);
    blake3_hasher_update(&h, password, password_size);
    blake3_hasher_finalize(&h, out, ALD_BLAKE3_BYTES);
    ald__wasm_wipe(&h, sizeof h);
}

ald_status ald__wasm_argon2id(const void *password, size_t password_size, const uint8_t *salt,
                              uint32_t m_kib, uint32_t t, uint32_t p, uint8_t *out, size_t out_size,
                              ald_error *err)
{
    uint64_t memory = (uint64_t)m_kib * 1024;
    uint8_t facts[ALD_BLAKE3_BYTES];
    if (p != 1)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "Argon2id with %u lanes; 1 is supported", p);
    if (t == 0 || m_kib < 8 || out_size < 16 || out_size > UINT32_MAX || password_size > UINT32_MAX)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "Argon2id: a setting is not allowed");
    argon2id_facts(password, password_size, salt, m_kib, t, facts);
    if (ald__wasm_deferred_key(facts, out, out_size))
        return ALD_OK;
    if ((size_t)memory != memory ||
        crypto_pwhash_argon2id(out, out_size, password, password_size, salt, t, (size_t)memory,
                               crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET,
                             "no memory to derive a key from the password: %u MiB are needed",
                             m_kib / 1024);
    ald__wasm_deferred_keep(facts, out, out_size);
    ald__wasm_wipe(facts, sizeof facts);
    return ALD_OK;
}
