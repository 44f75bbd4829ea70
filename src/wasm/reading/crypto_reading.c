/* SPDX-License-Identifier: MIT */
#include "wasm/crypto/wasm_crypto.h"

const ald_crypto *ald__wasm_crypto(void)
{
    static const ald_crypto provider = {.struct_size = sizeof provider, ALD_WASM_CRYPTO_READING};
    return &provider;
}
