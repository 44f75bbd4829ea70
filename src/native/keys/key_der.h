/* SPDX-License-Identifier: MIT */
/* The two structures of RFC 8410 in DER: PKCS#8 private keys and SubjectPublicKeyInfo. */
#ifndef NATIVE_KEYS_KEY_DER_H
#define NATIVE_KEYS_KEY_DER_H

#include <stddef.h>
#include <stdint.h>

#include "ald/keys.h"

#define KEY_DER_PRIVATE_BYTES 48
#define KEY_DER_PUBLIC_BYTES 44

void ald__key_der_private(const ald_key *key, uint8_t out[KEY_DER_PRIVATE_BYTES]);
void ald__key_der_public(const ald_key *key, uint8_t out[KEY_DER_PUBLIC_BYTES]);

/* Kind and private key; the public one stays as it is. */
ald_status ald__key_der_read_private(const uint8_t *der, size_t size, ald_key *out, ald_error *err);
ald_status ald__key_der_read_public(const uint8_t *der, size_t size, ald_key *out, ald_error *err);

#endif
