/* SPDX-License-Identifier: MIT */
/* Ed25519 over a message that comes in pieces: SHA-512 of libcrypto and the group of libsodium, put together as in RFC
 * 8032. libcrypto itself takes a message in memory only, libsodium a prehashed one. */
#define _GNU_SOURCE
#include <string.h>

#include "native/crypto/libcrypto.h"
#include "native/crypto/libsodium.h"
#include "native/crypto/provider.h"

static const uint8_t identity[32] = {1};

static EVP_MD_CTX *hash_new(const ald_libcrypto *lib)
{
    EVP_MD_CTX *ctx = lib->EVP_MD_CTX_new();
    if (ctx != NULL && lib->EVP_DigestInit_ex(ctx, lib->sha512, NULL) == 1)
        return ctx;
    lib->EVP_MD_CTX_free(ctx);
    return NULL;
}

/* The hash as a number modulo L. Frees. */
static void hash_finish(const ald_libcrypto *lib, const ald_libsodium *sodium, EVP_MD_CTX *ctx,
                        uint8_t scalar[32])
{
    uint8_t digest[64];
    (void)lib->EVP_DigestFinal_ex(ctx, digest, NULL);
    lib->EVP_MD_CTX_free(ctx);
    sodium->crypto_core_ed25519_scalar_reduce(scalar, digest);
    explicit_bzero(digest, sizeof digest);
}

/* ---- verifying: everything here is public, so its time may depend on it */

typedef struct verify_state {
    EVP_MD_CTX *hash;
    const ald_libcrypto *lib;
    const ald_libsodium *sodium;
    const ald_allocator *alloc;
    uint8_t signature[ALD_ED25519_SIGNATURE_BYTES];
    uint8_t public_key[ALD_ED25519_PUBLIC_BYTES];
} verify_state;

static int is_zero(const uint8_t *scalar)
{
    static const uint8_t zero[32];
    return memcmp(scalar, zero, sizeof zero) == 0;
}

/* out = n·point for a point of the base point's group. libsodium calls the identity a failure. */
static int multiply(const ald_libsodium *sodium, uint8_t out[32], const uint8_t n[32],
                    const uint8_t point[32])
{
    if (is_zero(n)) {
        memcpy(out, identity, sizeof identity);
        return 1;
    }
    return sodium->crypto_scalarmult_ed25519_noclamp(out, n, point) == 0;
}

/* out = k·A for a key A that is outside of the base point's group, or not encoded the shortest way: libsodium multiplies no
 * such points, but adds them, and libcrypto takes them. A = B + T, where T has an order that divides 8: B = (1/8 mod L)·8A,
 * T = A - B, k·A = k·B + (k mod 8)·T. */
static int multiply_any(const ald_libsodium *sodium, uint8_t out[32], const uint8_t k[32],
                        const uint8_t a[32])
{
    static const uint8_t eighth[32] = {0x79, 0x2f, 0xdc, 0xe2, 0x29, 0xe5, 0x06, 0x61,
                                       0xd0, 0xda, 0x1c, 0x7d, 0xb3, 0x9d, 0xd3, 0x07,
                                       0,    0,    0,    0,    0,    0,    0,    0,
                                       0,    0,    0,    0,    0,    0,    0,    0x06};
    uint8_t b[32], t[32];
    if (sodium->crypto_core_ed25519_add(b, a, a) != 0 ||
        sodium->crypto_core_ed25519_add(b, b, b) != 0 ||
        sodium->crypto_core_ed25519_add(b, b, b) != 0 || !multiply(sodium, b, eighth, b) ||
        sodium->crypto_core_ed25519_sub(t, a, b) != 0 || !multiply(sodium, out, k, b))
        return 0;
    for (unsigned i = 0; i < (k[0] & 7u); i++) {
        if (sodium->crypto_core_ed25519_add(out, out, t) != 0)
            return 0;
    }
    return 1;
}

/* Whether R is the encoding of S·B - k·A. */
static int equation_holds(const verify_state *s, const uint8_t k[32])
{
    const ald_libsodium *sodium = s->sodium;
    const uint8_t *scalar = s->signature + 32;
    uint8_t sb[32], ka[32], r[32];
    if (is_zero(scalar))
        memcpy(sb, identity, sizeof sb);
    else if (sodium->crypto_scalarmult_ed25519_base_noclamp(sb, scalar) != 0)
        return 0;
    if (sodium->crypto_core_ed25519_is_valid_point(s->public_key)
            ? !multiply(sodium, ka, k, s->public_key)
            : !multiply_any(sodium, ka, k, s->public_key))
        return 0;
    return sodium->crypto_core_ed25519_sub(r, sb, ka) == 0 &&
           memcmp(r, s->signature, sizeof r) == 0;
}

ald_status ald__ed25519_verify_new(const ald_allocator *alloc, const uint8_t *signature,
                                   const uint8_t *public_key, void **state, ald_error *err)
{
    const ald_libcrypto *lib;
    const ald_libsodium *sodium;
    verify_state *s;
    ald_status st = ald__libcrypto(&lib, err);
    *state = NULL;
    if (st == ALD_OK)
        st = ald__libsodium(&sodium, err);
    if (st == ALD_OK && !ald__ed25519_acceptable(signature, public_key))
        st = ald__ed25519_invalid(err);
    if (st != ALD_OK)
        return st;
    s = alloc->alloc(alloc->ctx, sizeof *s);
    if (s == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to verify a signature");
    s->lib = lib;
    s->sodium = sodium;
    s->alloc = alloc;
    memcpy(s->signature, signature, sizeof s->signature);
    memcpy(s->public_key, public_key, sizeof s->public_key);
    s->hash = hash_new(lib);
    if (s->hash == NULL) {
        alloc->release(alloc->ctx, s, sizeof *s);
        return ald__libcrypto_failed(err, "SHA-512");
    }
    (void)lib->EVP_DigestUpdate(s->hash, signature, 32);
    (void)lib->EVP_DigestUpdate(s->hash, public_key, 32);
    *state = s;
    return ALD_OK;
}

void ald__ed25519_verify_update(void *state, const void *data, size_t size)
{
    verify_state *s = state;
    (void)s->lib->EVP_DigestUpdate(s->hash, data, size); /* cannot fail after init */
}

ald_status ald__ed25519_verify_finish(void *state, int cancel, ald_error *err)
{
    verify_state *s = state;
    uint8_t k[32];
    int holds;
    if (s == NULL)
        return ALD_OK;
    hash_finish(s->lib, s->sodium, s->hash, k);
    holds = cancel || equation_holds(s, k);
    s->alloc->release(s->alloc->ctx, s, sizeof *s);
    return holds ? ALD_OK : ald__ed25519_invalid(err);
}

/* ---- signing */

/* a and prefix of RFC 8032, 5.1.5. */
typedef struct expanded_key {
    uint8_t a[32], prefix[32];
} expanded_key;

static int expand(const ald_libcrypto *lib, const uint8_t *seed, expanded_key *out)
{
    EVP_MD_CTX *ctx = hash_new(lib);
    uint8_t digest[64];
    int done = ctx != NULL && lib->EVP_DigestUpdate(ctx, seed, ALD_ED25519_SEED_BYTES) == 1 &&
               lib->EVP_DigestFinal_ex(ctx, digest, NULL) == 1;
    lib->EVP_MD_CTX_free(ctx);
    if (done) {
        memcpy(out->a, digest, 32);
        memcpy(out->prefix, digest + 32, 32);
        out->a[0] &= 248u;
        out->a[31] = (uint8_t)((out->a[31] & 127u) | 64u);
    }
    explicit_bzero(digest, sizeof digest);
    return done;
}

/* Where a pass over the message goes: into the hash of the signature, and into one that shows whether both passes saw the
 * same. */
typedef struct pass {
    const ald_libcrypto *lib;
    EVP_MD_CTX *hash;
    void *same;
} pass;

static void take(void *to, const void *data, size_t size)
{
    pass *p = to;
    (void)p->lib->EVP_DigestUpdate(p->hash, data, size);
    ald__blake3_update(p->same, data, size);
}

/* scalar = SHA-512(head ‖ message) mod L; `same` = BLAKE3(message). */
static ald_status hash_message(const ald_libcrypto *lib, const ald_libsodium *sodium,
                               const ald_allocator *alloc, const void *head, size_t head_size,
                               const ald_message *message, uint8_t scalar[32], uint8_t same[32],
                               ald_error *err)
{
    pass p = {lib, NULL, NULL};
    ald_status st = ald__blake3_new(alloc, NULL, &p.same, err);
    if (st != ALD_OK)
        return st;
    p.hash = hash_new(lib);
    st = p.hash == NULL ? ald__libcrypto_failed(err, "SHA-512") : ALD_OK;
    if (st == ALD_OK) {
        (void)lib->EVP_DigestUpdate(p.hash, head, head_size);
        st = message->feed(message->ctx, take, &p, err);
        hash_finish(lib, sodium, p.hash, scalar);
    }
    ald__blake3_finish(p.same, same);
    return st;
}

/* The two passes. A message that changes between them would give away the key: R would be the same for two hashes. */
static ald_status sign_expanded(const ald_libcrypto *lib, const ald_libsodium *sodium,
                                const ald_allocator *alloc, const expanded_key *key,
                                const uint8_t public_key[32], const ald_message *message,
                                uint8_t *signature, ald_error *err)
{
    uint8_t r[32], k[32], first[32], second[32], head[64], out[64];
    ald_status st =
        hash_message(lib, sodium, alloc, key->prefix, sizeof key->prefix, message, r, first, err);
    if (st == ALD_OK && sodium->crypto_scalarmult_ed25519_base_noclamp(out, r) != 0)
        st = ald__libcrypto_failed(err, "Ed25519");
    if (st == ALD_OK) {
        memcpy(head, out, 32);
        memcpy(head + 32, public_key, 32);
        st = hash_message(lib, sodium, alloc, head, sizeof head, message, k, second, err);
    }
    if (st == ALD_OK && memcmp(first, second, sizeof first) != 0)
        st = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the data changed while they were signed");
    if (st == ALD_OK) {
        sodium->crypto_core_ed25519_scalar_mul(k, k, key->a);
        sodium->crypto_core_ed25519_scalar_add(out + 32, r, k);
        memcpy(signature, out, sizeof out);
    }
    explicit_bzero(r, sizeof r);
    explicit_bzero(k, sizeof k);
    return st;
}

ald_status ald__ed25519_sign_stream(const ald_allocator *alloc, const uint8_t *seed,
                                    const ald_message *message, uint8_t *signature, ald_error *err)
{
    const ald_libcrypto *lib;
    const ald_libsodium *sodium;
    uint8_t public_key[ALD_ED25519_PUBLIC_BYTES];
    expanded_key key;
    ald_status st = ald__libcrypto(&lib, err);
    if (st == ALD_OK)
        st = ald__libsodium(&sodium, err);
    if (st == ALD_OK)
        st = ald__ed25519_public(seed, public_key, err);
    if (st != ALD_OK)
        return st;
    st = expand(lib, seed, &key)
             ? sign_expanded(lib, sodium, alloc, &key, public_key, message, signature, err)
             : ald__libcrypto_failed(err, "SHA-512");
    explicit_bzero(&key, sizeof key);
    return st;
}
