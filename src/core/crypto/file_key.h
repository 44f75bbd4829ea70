/* SPDX-License-Identifier: MIT */
/* The file key: from an encryption block and a secret, and for a new file both at once (FORMAT.md, section 14).
 *
 * Keys that these functions give are the caller's to wipe. */
#ifndef CORE_CRYPTO_FILE_KEY_H
#define CORE_CRYPTO_FILE_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"
#include "ald/io.h"
#include "ald/trust.h"

#define ALD__KEY_BYTES 32u
#define ALD__COMMIT_BYTES 32u
#define ALD__RECIPIENT_HASH_BYTES 8u
#define ALD__BLOCK_PASSWORD_BYTES 29u
#define ALD__BLOCK_RECIPIENT_BYTES 53u
#define ALD__BLOCK_CRATE_BYTES 45u /* the crate's recipient block, without a hash */
#define ALD__BLOCK_SEVERAL_BYTES 47u
#define ALD__WRAPPED_BYTES 56u /* an entry of the block for several: hash and wrapped key */
#define ALD__RECIPIENTS_MAX 1024u
#define ALD__PASSWORD_MAX 1023u

/* Argon2id's settings, as `ald.kdf` has them. */
typedef struct ald__kdf {
    uint64_t m, t, p; /* m in KiB */
} ald__kdf;

#define ALD__KDF_DEFAULT {19456, 2, 1}

/* ---- reading */

/* Looks for the file key with what the caller has. Zero-initialise, fill in the first part, call next until a key
 * opens the payload, then clear. All pointers are borrowed. */
typedef struct ald__key_search {
    const ald_host *host;
    const uint8_t *block; /* the encryption section, its size checked with the layout */
    size_t block_size;
    ald__kdf kdf;
    const uint8_t *commit; /* ald.key_commit, or NULL */
    const void *password;  /* or NULL: none */
    size_t password_size;
    const uint8_t *private_keys; /* 32 bytes each */
    size_t private_count;

    size_t key, entry; /* where the search goes on */
} ald__key_search;

/* The next key that could be the file's: one that fits the commitment, if there is one. Without any, or after the last,
 * ALD_E_DECRYPTION_FAILED. Settings of Argon2id or a count of recipients beyond the limits are ALD_E_LIMIT_EXCEEDED. */
ALD_NODISCARD ald_status ald__key_search_next(ald__key_search *search, uint8_t key[ALD__KEY_BYTES],
                                              ald_error *err);
/* Whether next may have more than one answer: without a commitment, only the payload's tag tells which is right. */
int ald__key_search_is_open(const ald__key_search *search);

/* ---- writing */

/* A new file key for protection->encryption (1 to 3), and its block, appended to `block`: fresh salt, nonce, ephemeral
 * key. `crate` (recipient only): the block of the crate, without a hash. ALD_E_INVALID_ARG for an empty or overlong
 * password, settings outside the limits, no, too many, or low-order recipients. */
ALD_NODISCARD ald_status ald__file_key_new(const ald_host *host, const ald_protection *protection,
                                           int crate, uint8_t key[ALD__KEY_BYTES],
                                           ald_buffer *block, ald_error *err);
/* The block for several recipients of a key and a nonce that are already in use: fresh ephemeral key, wrapped for all. */
ALD_NODISCARD ald_status ald__file_key_wrap(const ald_host *host, const uint8_t key[ALD__KEY_BYTES],
                                            const uint8_t nonce[ALD_GCM_NONCE_BYTES],
                                            const uint8_t *recipients, size_t count,
                                            ald_buffer *block, ald_error *err);
/* The settings that protection asks for, defaults filled in. */
ald__kdf ald__protection_kdf(const ald_protection *protection);
int ald__kdf_is_default(const ald__kdf *kdf);

/* ---- both */

ALD_NODISCARD ald_status ald__key_commit(const ald_host *host, const uint8_t key[ALD__KEY_BYTES],
                                         uint8_t commit[ALD__COMMIT_BYTES], ald_error *err);
/* recipient_pub_hash. */
ALD_NODISCARD ald_status ald__recipient_hash(const ald_host *host,
                                             const uint8_t public_key[ALD_X25519_BYTES],
                                             uint8_t hash[ALD__RECIPIENT_HASH_BYTES],
                                             ald_error *err);
/* The nonce inside a block whose mode and size were checked. */
const uint8_t *ald__block_nonce(const uint8_t *block, size_t size);

#endif
