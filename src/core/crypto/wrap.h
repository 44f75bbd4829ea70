/* SPDX-License-Identifier: MIT */
/* Steps that file_key.c and file_key_new.c share. */
#ifndef CORE_CRYPTO_WRAP_H
#define CORE_CRYPTO_WRAP_H

#include "core/crypto/file_key.h"

#define ALD__WRAP_BYTES (ALD__KEY_BYTES + ALD_GCM_TAG_BYTES)

/* ALD_E_LIMIT_EXCEEDED beyond what a reader agrees to do. */
ALD_NODISCARD ald_status ald__kdf_check(const ald__kdf *kdf, ald_error *err);
/* Argon2id with settings that are checked first. */
ALD_NODISCARD ald_status ald__key_of_password(const ald_host *host, const void *password,
                                              size_t size, const uint8_t *salt, const ald__kdf *kdf,
                                              uint8_t key[ALD__KEY_BYTES], ald_error *err);
/* One entry of the block for several recipients, from the sender's and from the recipient's side. */
ALD_NODISCARD ald_status ald__wrap(const ald_host *host, const uint8_t ephemeral_private[32],
                                   const uint8_t ephemeral[32], const uint8_t recipient[32],
                                   const uint8_t key[ALD__KEY_BYTES],
                                   uint8_t wrapped[ALD__WRAP_BYTES], ald_error *err);
ALD_NODISCARD ald_status ald__unwrap(const ald_host *host, const uint8_t private_key[32],
                                     const uint8_t recipient[32], const uint8_t ephemeral[32],
                                     const uint8_t wrapped[ALD__WRAP_BYTES],
                                     uint8_t key[ALD__KEY_BYTES], ald_error *err);

#endif
