/* SPDX-License-Identifier: MIT */
#include "native/crypto/provider.h"

const ald_crypto *ald__native_crypto(void)
{
    static const ald_crypto provider = {
        .struct_size = sizeof provider,
        .sha256_new = ald__sha256_new,
        .sha256_update = ald__sha256_update,
        .sha256_finish = ald__sha256_finish,
        .blake3_new = ald__blake3_new,
        .blake3_update = ald__blake3_update,
        .blake3_finish = ald__blake3_finish,
        .hkdf_sha256 = ald__hkdf_sha256,
        .argon2id = ald__argon2id,
        .x25519_public = ald__x25519_public,
        .x25519 = ald__x25519,
        .gcm_seal = ald__gcm_seal,
        .gcm_open = ald__gcm_open,
        .ed25519_public = ald__ed25519_public,
        .ed25519_sign = ald__ed25519_sign,
        .ed25519_sign_stream = ald__ed25519_sign_stream,
        .ed25519_verify = ald__ed25519_verify,
        .ed25519_verify_new = ald__ed25519_verify_new,
        .ed25519_verify_update = ald__ed25519_verify_update,
        .ed25519_verify_finish = ald__ed25519_verify_finish,
    };
    return &provider;
}
