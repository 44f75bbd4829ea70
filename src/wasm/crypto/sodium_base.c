/* SPDX-License-Identifier: MIT */
/* The few functions that libsodium's primitives ask of libsodium itself. Its own come with a random number generator, with
 * locks and with memory protection, none of which a module has. */
#include <stdint.h>

#include <sodium/core.h>
#include <sodium/private/ed25519_ref10.h>
#include <sodium/randombytes.h>
#include <sodium/runtime.h>
#include <sodium/utils.h>

#include "wasm/crypto/wasm_crypto.h"

void ald__wasm_wipe(void *data, size_t size)
{
    volatile uint8_t *p = data;
    while (size-- > 0)
        *p++ = 0;
}

void sodium_memzero(void *const pnt, const size_t len)
{
    ald__wasm_wipe(pnt, len);
}

int sodium_memcmp(const void *const b1_, const void *const b2_, size_t len)
{
    const volatile uint8_t *a = b1_, *b = b2_;
    unsigned different = 0;
    for (size_t i = 0; i < len; i++)
        different |= (unsigned)(a[i] ^ b[i]);
    return different == 0 ? 0 : -1;
}

int sodium_is_zero(const unsigned char *n, const size_t nlen)
{
    unsigned any = 0;
    for (size_t i = 0; i < nlen; i++)
        any |= n[i];
    return any == 0;
}

/* A caller broke a contract of libsodium. */
void sodium_misuse(void)
{
    __builtin_trap();
}

/* Salts of hashed passwords, which nothing here makes. */
void randombytes_buf(void *const buf, const size_t size)
{
    (void)buf;
    (void)size;
    __builtin_trap();
}

/* What Argon2 fills the place of its result with until it has one; elsewhere in libsodium it is randombytes_buf. */
void ald__wasm_blank(void *buf, size_t size);
void ald__wasm_blank(void *buf, size_t size)
{
    ald__wasm_wipe(buf, size);
}

/* Hashed passwords as text, likewise. */
char *sodium_bin2base64(char *const b64, const size_t b64_maxlen, const unsigned char *const bin,
                        const size_t bin_len, const int variant)
{
    (void)b64;
    (void)b64_maxlen;
    (void)bin;
    (void)bin_len;
    (void)variant;
    __builtin_trap();
}

/* Multiplying the base point of X25519 through the table of Ed25519, which nothing here asks for: linked in its place (see
 * tools/wasm). */
void ald__wasm_no_base(ge25519_p3 *h, const unsigned char *a);
void ald__wasm_no_base(ge25519_p3 *h, const unsigned char *a)
{
    (void)h;
    (void)a;
    __builtin_trap();
}
