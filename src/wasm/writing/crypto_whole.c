/* SPDX-License-Identifier: MIT */
#include "wasm/crypto/wasm_crypto.h"

const ald_crypto *ald__wasm_crypto(void)
{
    static const ald_crypto provider = {
        .struct_size = sizeof provider,
        ALD_WASM_CRYPTO_READING,
        .gcm_seal = ald__wasm_gcm_seal,
        .ed25519_public = ald__wasm_ed25519_public,
        .ed25519_sign = ald__wasm_ed25519_sign,
        .ed25519_sign_stream = ald__wasm_ed25519_sign_stream,
    };
    return &provider;
}
