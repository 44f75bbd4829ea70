/* SPDX-License-Identifier: MIT */
/* Private queries: a question sealed to the owner of a dataset, an answer sealed to who asked. Who carries them sees
 * ciphertext alone. Protocol `x25519-aes256gcm-v1`. */
#ifndef ALD_QUERY_H
#define ALD_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

#define ALD_QUERY_PROTOCOL "x25519-aes256gcm-v1"
#define ALD_QUERY_OVERHEAD_BYTES 60u /* ephemeral key, nonce, tag */
#define ALD_QUERY_KEY_BYTES 32u

/* `request` (UTF-8 JSON) with the user's public key before it, sealed to the owner's: an envelope in *out, which the caller
 * clears. */
ALD_API ALD_NODISCARD ald_status ald_query_seal(const uint8_t owner_public[ALD_QUERY_KEY_BYTES],
                                                const uint8_t user_public[ALD_QUERY_KEY_BYTES],
                                                const void *request, size_t request_size,
                                                const ald_host *host, ald_buffer *out,
                                                ald_error *err);
/* The owner's side: the user's public key and the request. Whatever does not open is ALD_E_DECRYPTION_FAILED. */
ALD_API ALD_NODISCARD ald_status ald_query_unseal(const uint8_t owner_private[ALD_QUERY_KEY_BYTES],
                                                  const void *envelope, size_t envelope_size,
                                                  const ald_host *host,
                                                  uint8_t user_public[ALD_QUERY_KEY_BYTES],
                                                  ald_buffer *request, ald_error *err);
/* An answer (a whole .ald) to the request in `envelope`, sealed to the user. */
ALD_API ALD_NODISCARD ald_status ald_query_answer(const uint8_t user_public[ALD_QUERY_KEY_BYTES],
                                                  const void *envelope, size_t envelope_size,
                                                  const void *answer, size_t answer_size,
                                                  const ald_host *host, ald_buffer *out,
                                                  ald_error *err);
/* The user's side: `envelope` is the request as it was sent. */
ALD_API ALD_NODISCARD ald_status ald_query_open(const uint8_t user_private[ALD_QUERY_KEY_BYTES],
                                                const void *envelope, size_t envelope_size,
                                                const void *sealed_answer, size_t answer_size,
                                                const ald_host *host, ald_buffer *out,
                                                ald_error *err);

ALD_END_DECLS
#endif
