/* SPDX-License-Identifier: MIT */
/* scrypt (RFC 7914) from libsodium's portable code, for private keys under a passphrase. */
#include <crypto_scrypt.h>

#include "wasm/crypto/wasm_crypto.h"
#include "wasm/glue.h"

#define MEMORY_MOST (64u << 20)
#define WORK_MOST (1u << 22) /* N r p; `alimentar keygen` writes a sixth of it */

/* The numbers come out of a key's file. */
static int is_bearable(uint32_t n, uint32_t r, uint32_t p)
{
    return n >= 2 && (n & (n - 1)) == 0 && r > 0 && p > 0 && (uint64_t)n * r <= MEMORY_MOST / 128 &&
           (uint64_t)r * p <= MEMORY_MOST / 128 && (uint64_t)n * r * p <= WORK_MOST;
}

ald_status ald_wasm_scrypt(const uint8_t *passphrase, size_t passphrase_size, const uint8_t *salt,
                           size_t salt_size, uint32_t n, uint32_t r, uint32_t p, uint8_t *out,
                           size_t out_size)
{
    escrypt_local_t local;
    int done;
    if (!is_bearable(n, r, p))
        return ald_error_set(ald_wasm_error(), ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "scrypt with N = %u, r = %u, p = %u asks for too much", n, r, p);
    (void)escrypt_init_local(&local);
    done = escrypt_kdf_nosse(&local, passphrase, passphrase_size, salt, salt_size, n, r, p, out,
                             out_size) == 0;
    if (local.base != NULL)
        ald__wasm_wipe(local.aligned, local.size);
    (void)escrypt_free_local(&local);
    return done ? ALD_OK : ald_wasm_no_memory();
}
