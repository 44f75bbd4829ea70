/* SPDX-License-Identifier: MIT */
/* Ed25519 signatures as RFC 8032 puts them together, over libsodium's group and SHA-512. libsodium itself signs only what is
 * in memory as one piece. */
#include <string.h>

#include <sodium/crypto_hash_sha512.h>
#include <sodium/private/ed25519_ref10.h>

#include "wasm/crypto/wasm_crypto.h"

/* a and prefix of RFC 8032, 5.1.5, and the key that others see. */
typedef struct signing_key {
    uint8_t a[32], prefix[32];
    uint8_t public_key[ALD_ED25519_PUBLIC_BYTES];
} signing_key;

static void signing_key_init(signing_key *key, const uint8_t *seed)
{
    uint8_t digest[64];
    crypto_hash_sha512_state hash;
    ge25519_p3 point;
    (void)crypto_hash_sha512_init(&hash);
    (void)crypto_hash_sha512_update(&hash, seed, ALD_ED25519_SEED_BYTES);
    (void)crypto_hash_sha512_final(&hash, digest);
    memcpy(key->a, digest, 32);
    memcpy(key->prefix, digest + 32, 32);
    key->a[0] &= 248u;
    key->a[31] = (uint8_t)((key->a[31] & 127u) | 64u);
    ge25519_scalarmult_base(&point, key->a);
    ge25519_p3_tobytes(key->public_key, &point);
    ald__wasm_wipe(digest, sizeof digest);
    ald__wasm_wipe(&hash, sizeof hash);
    ald__wasm_wipe(&point, sizeof point);
}

/* Where a pass over the message goes: into the hash of the signature, and into one that shows whether both passes saw the
 * same. */
typedef struct signing_pass {
    crypto_hash_sha512_state hash;
    void *same;
} signing_pass;

static void signing_take(void *to, const void *data, size_t size)
{
    signing_pass *p = to;
    if (size > 0)
        (void)crypto_hash_sha512_update(&p->hash, data, size);
    ald__wasm_blake3_update(p->same, data, size);
}

/* scalar = SHA-512(head ‖ message) mod L; `same` = BLAKE3(message). */
static ald_status signing_hash(const ald_allocator *alloc, const void *head, size_t head_size,
                               const ald_message *message, uint8_t scalar[64], uint8_t same[32],
                               ald_error *err)
{
    signing_pass p = {.same = NULL};
    ald_status st = ald__wasm_blake3_new(alloc, NULL, &p.same, err);
    if (st != ALD_OK)
        return st;
    (void)crypto_hash_sha512_init(&p.hash);
    (void)crypto_hash_sha512_update(&p.hash, head, head_size);
    st = message->feed(message->ctx, signing_take, &p, err);
    (void)crypto_hash_sha512_final(&p.hash, scalar);
    sc25519_reduce(scalar);
    ald__wasm_blake3_finish(p.same, same);
    ald__wasm_wipe(&p, sizeof p);
    return st;
}

/* The two passes. A message that changes between them would give away the key: R would be the same for two hashes. */
static ald_status signing_run(const ald_allocator *alloc, const signing_key *key,
                              const ald_message *message, uint8_t *signature, ald_error *err)
{
    uint8_t r[64], k[64], first[32], second[32], head[64];
    ge25519_p3 point;
    ald_status st = signing_hash(alloc, key->prefix, sizeof key->prefix, message, r, first, err);
    if (st == ALD_OK) {
        ge25519_scalarmult_base(&point, r);
        ge25519_p3_tobytes(head, &point);
        memcpy(head + 32, key->public_key, 32);
        st = signing_hash(alloc, head, sizeof head, message, k, second, err);
        ald__wasm_wipe(&point, sizeof point);
    }
    if (st == ALD_OK && memcmp(first, second, sizeof first) != 0)
        st = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the data changed while they were signed");
    if (st == ALD_OK) {
        memcpy(signature, head, 32);
        sc25519_muladd(signature + 32, k, key->a, r);
    }
    ald__wasm_wipe(r, sizeof r);
    ald__wasm_wipe(k, sizeof k);
    return st;
}

ald_status ald__wasm_ed25519_public(const uint8_t *seed, uint8_t *public_key, ald_error *err)
{
    signing_key key;
    (void)err;
    signing_key_init(&key, seed);
    memcpy(public_key, key.public_key, sizeof key.public_key);
    ald__wasm_wipe(&key, sizeof key);
    return ALD_OK;
}

ald_status ald__wasm_ed25519_sign_stream(const ald_allocator *alloc, const uint8_t *seed,
                                         const ald_message *message, uint8_t *signature,
                                         ald_error *err)
{
    signing_key key;
    ald_status st;
    signing_key_init(&key, seed);
    st = signing_run(alloc, &key, message, signature, err);
    ald__wasm_wipe(&key, sizeof key);
    return st;
}

ald_status ald__wasm_ed25519_sign(const uint8_t *seed, const void *message, size_t size,
                                  uint8_t *signature, ald_error *err)
{
    uint8_t r[64], k[64];
    crypto_hash_sha512_state hash;
    ge25519_p3 point;
    signing_key key;
    (void)err;
    signing_key_init(&key, seed);
    (void)crypto_hash_sha512_init(&hash);
    (void)crypto_hash_sha512_update(&hash, key.prefix, sizeof key.prefix);
    (void)crypto_hash_sha512_update(&hash, message, size);
    (void)crypto_hash_sha512_final(&hash, r);
    sc25519_reduce(r);
    ge25519_scalarmult_base(&point, r);
    ge25519_p3_tobytes(signature, &point);
    (void)crypto_hash_sha512_init(&hash);
    (void)crypto_hash_sha512_update(&hash, signature, 32);
    (void)crypto_hash_sha512_update(&hash, key.public_key, sizeof key.public_key);
    (void)crypto_hash_sha512_update(&hash, message, size);
    (void)crypto_hash_sha512_final(&hash, k);
    sc25519_reduce(k);
    sc25519_muladd(signature + 32, k, key.a, r);
    ald__wasm_wipe(&key, sizeof key);
    ald__wasm_wipe(r, sizeof r);
    ald__wasm_wipe(k, sizeof k);
    ald__wasm_wipe(&hash, sizeof hash);
    ald__wasm_wipe(&point, sizeof point);
    return ALD_OK;
}
