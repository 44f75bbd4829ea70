/* SPDX-License-Identifier: MIT */
/* What a reader trusts and which secrets it brings; how a writer protects a file.
 *
 * All pointers are borrowed for the call that takes the struct. A handle that stays open (ald_streaming) keeps what it needs,
 * in memory that it wipes when it is closed. */
#ifndef ALD_TRUST_H
#define ALD_TRUST_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/license.h"

ALD_BEGIN_DECLS

/* ---- reading: `trust` of ald_load_options
 *
 * Whatever is given is expected: with trusted keys an unsigned file is ALD_E_UNTRUSTED_SIGNER, with a password or a private
 * key a plain one is ALD_E_DECRYPTION_FAILED. What comes from an environment or a default store, and not from this very
 * request, is given together with allow_unsigned and allow_plain. */
typedef struct ald_trust {
    uint32_t struct_size;
    uint8_t allow_untrusted; /* any signer; the signature must still be right */
    uint8_t allow_unsigned;  /* an unsigned file though trusted keys are given */
    uint8_t allow_plain;     /* a plain file though a secret is given */
    uint8_t require_commit;  /* an encrypted file without key_commit is ALD_E_DECRYPTION_FAILED */
    uint8_t commercial;      /* licensed, signed, and the license bound by the signature; else
                              * ALD_E_SIGNATURE_INVALID */
    uint8_t reserved[3];
    const uint8_t *trusted_keys; /* Ed25519 public keys, 32 bytes each */
    size_t trusted_count;
    const uint8_t *private_keys; /* X25519 private keys, 32 bytes each */
    size_t private_count;
    const void *password; /* NULL: none. As given, not normalised */
    size_t password_size;
    const ald_revocations *revocations; /* or NULL */
} ald_trust;

#define ALD_TRUST_INIT {sizeof(ald_trust), 0, 0, 0, 0, 0, {0}, NULL, 0, NULL, 0, NULL, 0, NULL}

/* ---- writing: `protection` of ald_save_options and ald_rewrite_options */

typedef enum ald_encryption {
    ALD_ENCRYPTION_NONE = 0,
    ALD_ENCRYPTION_PASSWORD = 1,  /* mode 0 of the encryption block */
    ALD_ENCRYPTION_RECIPIENT = 2, /* mode 1: exactly one recipient */
    ALD_ENCRYPTION_SEVERAL = 3    /* mode 2: 1 to 1,024 recipients */
} ald_encryption;

typedef struct ald_protection {
    uint32_t struct_size;
    uint8_t encryption; /* an ald_encryption */
    uint8_t reserved[3];
    const void *password; /* not empty; at most 1,023 bytes */
    size_t password_size;
    uint32_t kdf_m_kib;        /* Argon2id memory in KiB, 19,456 to 1,048,576; 0: 19,456 */
    uint32_t kdf_t;            /* passes, 2 to 16; 0: 2. m·t at most 4 GiB */
    const uint8_t *recipients; /* X25519 public keys, 32 bytes each; small-order ones are refused */
    size_t recipient_count;
    const ald_license *license; /* NULL: none */
    const uint8_t *signer_seed; /* Ed25519 seed, 32 bytes; NULL: not signed */
} ald_protection;

#define ALD_PROTECTION_INIT {sizeof(ald_protection), 0, {0}, NULL, 0, 0, 0, NULL, 0, NULL, NULL}

ALD_END_DECLS
#endif
