/* SPDX-License-Identifier: MIT */
/* Verifying Ed25519 signatures, and X25519, over libsodium's group. What signing needs is in another file: its table is as
 * large as the rest of the cryptography. */
#include <string.h>

#include <sodium/crypto_hash_sha512.h>
#include <sodium/crypto_scalarmult_curve25519.h>
#include <sodium/private/ed25519_ref10.h>

#include "wasm/crypto/wasm_crypto.h"

typedef struct verifier {
    crypto_hash_sha512_state hash;
    const ald_allocator *alloc;
    uint8_t signature[ALD_ED25519_SIGNATURE_BYTES];
    ge25519_p3 minus_a;
} verifier;

static ald_status does_not_verify(ald_error *err)
{
    return ald_error_set(err, ALD_E_SIGNATURE_INVALID, ALD_NO_OFFSET,
                         "the signature does not verify");
}

/* F-256: R and the key are not of small order, S is below the order. 0: no message can have this signature. */
static int verifier_init(verifier *v, const uint8_t *signature, const uint8_t *public_key)
{
    if (ge25519_has_small_order(signature) || ge25519_has_small_order(public_key) ||
        !sc25519_is_canonical(signature + 32) ||
        ge25519_frombytes_negate_vartime(&v->minus_a, public_key) != 0)
        return 0;
    memcpy(v->signature, signature, sizeof v->signature);
    (void)crypto_hash_sha512_init(&v->hash);
    (void)crypto_hash_sha512_update(&v->hash, signature, 32);
    (void)crypto_hash_sha512_update(&v->hash, public_key, 32);
    return 1;
}

/* Whether R is the encoding of S·B - k·A. All of it is public, so its time may depend on it. */
static int verifier_holds(verifier *v)
{
    uint8_t k[64], r[32];
    ge25519_p2 point;
    (void)crypto_hash_sha512_final(&v->hash, k);
    sc25519_reduce(k);
    ge25519_double_scalarmult_vartime(&point, k, &v->minus_a, v->signature + 32);
    ge25519_tobytes(r, &point);
    return memcmp(r, v->signature, sizeof r) == 0;
}

ald_status ald__wasm_ed25519_verify(const uint8_t *signature, const uint8_t *public_key,
                                    const void *message, size_t size, ald_error *err)
{
    verifier v;
    if (!verifier_init(&v, signature, public_key))
        return does_not_verify(err);
    ald__wasm_ed25519_verify_update(&v, message, size);
    return verifier_holds(&v) ? ALD_OK : does_not_verify(err);
}

ald_status ald__wasm_ed25519_verify_new(const ald_allocator *alloc, const uint8_t *signature,
                                        const uint8_t *public_key, void **state, ald_error *err)
{
    verifier *v = alloc->alloc(alloc->ctx, sizeof *v);
    *state = NULL;
    if (v == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to verify a signature");
    if (!verifier_init(v, signature, public_key)) {
        alloc->release(alloc->ctx, v, sizeof *v);
        return does_not_verify(err);
    }
    v->alloc = alloc;
    *state = v;
    return ALD_OK;
}

void ald__wasm_ed25519_verify_update(void *state, const void *data, size_t size)
{
    if (size > 0)
        (void)crypto_hash_sha512_update(&((verifier *)state)->hash, data, size);
}

ald_status ald__wasm_ed25519_verify_finish(void *state, int cancel, ald_error *err)
{
    verifier *v = state;
    int holds;
    if (v == NULL)
        return ALD_OK;
    holds = cancel || verifier_holds(v);
    v->alloc->release(v->alloc->ctx, v, sizeof *v);
    return holds ? ALD_OK : does_not_verify(err);
}

/* By the ladder from u = 9: what libsodium has for the base point brings the table along. */
ald_status ald__wasm_x25519_public(const uint8_t *private_key, uint8_t *public_key, ald_error *err)
{
    static const uint8_t base[ALD_X25519_BYTES] = {9};
    (void)err;
    (void)crypto_scalarmult_curve25519(public_key, private_key, base);
    return ALD_OK;
}

ald_status ald__wasm_x25519(const uint8_t *private_key, const uint8_t *public_key, uint8_t *shared,
                            ald_error *err)
{
    uint8_t secret[ALD_X25519_BYTES] = {0};
    int done = crypto_scalarmult_curve25519(secret, private_key, public_key) == 0;
    if (done)
        memcpy(shared, secret, sizeof secret);
    ald__wasm_wipe(secret, sizeof secret);
    return done ? ALD_OK
                : ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s",
                                ALD_DECRYPTION_FAILED_TEXT);
}
