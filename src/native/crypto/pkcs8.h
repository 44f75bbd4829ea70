/* SPDX-License-Identifier: MIT */
/* PKCS#8 private keys under a passphrase (PBES2, RFC 8018), from libcrypto. */
#ifndef NATIVE_CRYPTO_PKCS8_H
#define NATIVE_CRYPTO_PKCS8_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

/* AES-256-CBC, scrypt with N 2^14, r 8, p 5: 16 MiB, what libcrypto agrees to decrypt without being asked for more. */
ald_status ald__pkcs8_encrypt(const uint8_t *plain, size_t size, const char *passphrase,
                              size_t passphrase_size, const uint8_t salt[16], const uint8_t iv[16],
                              uint8_t *out, size_t capacity, size_t *out_size, ald_error *err);

/* Whatever scheme libcrypto knows. A wrong passphrase is ALD_E_DECRYPTION_FAILED. */
ald_status ald__pkcs8_decrypt(const uint8_t *sealed, size_t size, const char *passphrase,
                              size_t passphrase_size, uint8_t *out, size_t capacity,
                              size_t *out_size, ald_error *err);

#endif
