/* SPDX-License-Identifier: MIT */
/* What protects a file that is being written: encryption block and key, license block, signer. */
#ifndef CORE_DATASET_PROTECT_H
#define CORE_DATASET_PROTECT_H

#include "ald/crypto.h"
#include "ald/io.h"
#include "ald/trust.h"
#include "core/container/binding.h"
#include "core/crypto/file_key.h"
#include "core/crypto/piece.h"
#include "core/dataset/file_output.h"

typedef struct ald__protecting {
    const ald_host *host;
    ald_buffer block;            /* the encryption block; empty: not encrypted */
    uint8_t key[ALD__KEY_BYTES]; /* the file key, where something is sealed with it */
    uint8_t commit[ALD__COMMIT_BYTES];
    uint8_t has_commit, has_kdf, has_license_hash;
    ald__kdf kdf;       /* written when has_kdf */
    ald_buffer license; /* the block; empty: none */
    uint8_t license_sha256[ALD_SHA256_BYTES];
    const uint8_t *seed; /* the signer's, borrowed; NULL: not signed */
    uint8_t signer[ALD_ED25519_PUBLIC_BYTES];
} ald__protecting;

/* The caller's protection with all members, checked as far as it can be without computing; `given` NULL: none.
 * `encryption`: what is meant where `given` does not say. */
ALD_NODISCARD ald_status ald__protection_take(const ald_protection *given, uint8_t encryption,
                                              ald_protection *out, ald_error *err);

/* The parts, each by itself. Begin with a zeroed struct and `begin`; clear wipes, also after a failure. `crate`: as the
 * crate reads it. */
void ald__protecting_begin(ald__protecting *out, const ald_host *host);
ALD_NODISCARD ald_status ald__protecting_encrypt(ald__protecting *p, const ald_protection *asked,
                                                 int crate, ald_error *err);
ALD_NODISCARD ald_status ald__protecting_sign(ald__protecting *p, const uint8_t *seed,
                                              ald_error *err);
/* The license block's hash goes under the signature: call when block and signer are there, and both stay. */
ALD_NODISCARD ald_status ald__protecting_bind_license(ald__protecting *p, ald_error *err);
void ald__protecting_clear(ald__protecting *p);

/* All that `asked` asks for. */
ALD_NODISCARD ald_status ald__protecting_new(ald__protecting *p, const ald_protection *asked,
                                             int crate, ald_error *err);

/* Flags of the header. */
uint8_t ald__protecting_flags(const ald__protecting *p);
int ald__protecting_encrypts(const ald__protecting *p);

/* Signs prefix and payload, then writes all of the file that is left: prefix, what waits, signature, license, CRC32. */
ALD_NODISCARD ald_status ald__protecting_finish(const ald__protecting *p, ald__output *output,
                                                const ald_buffer *prefix, ald_error *err);

/* BLAKE3 of a stored piece, for the seal. */
ALD_NODISCARD ald_status ald__seal_piece_hash(const ald_host *host, const void *stored, size_t size,
                                              uint8_t hash[ALD_BLAKE3_BYTES], ald_error *err);
/* Signs a prefix whose seal.sig and prefix_crc32 are zeros. */
ALD_NODISCARD ald_status ald__seal_sign(const ald__protecting *p, const uint8_t *prefix,
                                        size_t size, uint8_t sig[ALD_ED25519_SIGNATURE_BYTES],
                                        ald_error *err);

#endif
