/* SPDX-License-Identifier: MIT */
/* The file key under a recipient's own key (F-214). The nonce is zero: a wrap key is used once, as the ephemeral key and the
 * recipient's key both go into it. */
#include "core/crypto/wrap.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"

static const uint8_t zero_nonce[ALD_GCM_NONCE_BYTES];

static ald_status wrap_key(const ald_host *host, const uint8_t own[32], const uint8_t other[32],
                           const uint8_t ephemeral[32], const uint8_t recipient[32],
                           uint8_t out[32], ald_error *err)
{
    uint8_t shared[ALD_X25519_BYTES], info[64];
    ald_status st;
    if (!ALD__HAS_X25519(host->crypto))
        return ald__no_crypto("X25519", err);
    memcpy(info, ephemeral, 32);
    memcpy(info + 32, recipient, 32);
    st = host->crypto->x25519(own, other, shared, err);
    if (st == ALD_OK)
        st = ald__hkdf(host, shared, "ald-v1-wrap", info, sizeof info, out, err);
    ald__wipe(shared, sizeof shared);
    return st;
}

ald_status ald__wrap(const ald_host *host, const uint8_t ephemeral_private[32],
                     const uint8_t ephemeral[32], const uint8_t recipient[32],
                     const uint8_t key[ALD__KEY_BYTES], uint8_t wrapped[ALD__WRAP_BYTES],
                     ald_error *err)
{
    uint8_t secret[32];
    ald_status st;
    if (!ALD_CRYPTO_HAS(host->crypto, gcm_seal))
        return ald__no_crypto("AES-GCM", err);
    st = wrap_key(host, ephemeral_private, recipient, ephemeral, recipient, secret, err);
    if (st == ALD_OK)
        st = host->crypto->gcm_seal(secret, zero_nonce, NULL, 0, key, ALD__KEY_BYTES, wrapped, err);
    ald__wipe(secret, sizeof secret);
    return st;
}

ald_status ald__unwrap(const ald_host *host, const uint8_t private_key[32],
                       const uint8_t recipient[32], const uint8_t ephemeral[32],
                       const uint8_t wrapped[ALD__WRAP_BYTES], uint8_t key[ALD__KEY_BYTES],
                       ald_error *err)
{
    uint8_t secret[32];
    ald_status st;
    if (!ALD_CRYPTO_HAS(host->crypto, gcm_open))
        return ald__no_crypto("AES-GCM", err);
    st = wrap_key(host, private_key, ephemeral, ephemeral, recipient, secret, err);
    if (st == ALD_OK)
        st =
            host->crypto->gcm_open(secret, zero_nonce, NULL, 0, wrapped, ALD__WRAP_BYTES, key, err);
    ald__wipe(secret, sizeof secret);
    return st;
}
