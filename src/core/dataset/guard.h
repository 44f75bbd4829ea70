/* SPDX-License-Identifier: MIT */
/* What stands before a payload: signer, signature or seal, license (steps 9 to 11 of F-320), and what is kept of them. */
#ifndef CORE_DATASET_GUARD_H
#define CORE_DATASET_GUARD_H

#include "ald/crypto.h"
#include "core/dataset/settings.h"

#define ALD__HASH_BYTES ALD_BLAKE3_BYTES

/* BLAKE3 of every stored piece of a signed STREAMING file: the seal's, or, without a seal, taken while the signature was
 * verified. A piece that is read later is compared with them, so that nobody can put another one in its place meanwhile. */
typedef struct ald__hashes {
    const uint8_t *bytes; /* NULL: the file has none */
    uint8_t *owned;       /* or NULL: the metadata's */
    size_t size;
} ald__hashes;

void ald__hashes_clear(const ald_allocator *alloc, ald__hashes *hashes);
/* ALD_E_SIGNATURE_INVALID when the bytes of piece `piece` are others. Without hashes, ALD_OK. */
ALD_NODISCARD ald_status ald__hashes_check(const ald__hashes *hashes, const ald__file *file,
                                           const ald_host *host, uint64_t piece,
                                           const uint8_t *stored, size_t size, ald_error *err);

typedef enum ald__scope {
    ALD__SCOPE_ALL, /* signature, seal, frame_crc32 of every piece */
    ALD__SCOPE_LAZY /* the seal, or without one the signature; pieces are checked as they are read */
} ald__scope;

/* `hashes` NULL: pieces will not be read again. Else it is filled, also with ALD__SCOPE_ALL, and frame_crc32 is left to who
 * reads the pieces. */
ALD_NODISCARD ald_status ald__check_trust(const ald__file *file, const ald__settings *settings,
                                          ald__scope scope, const ald_host *host,
                                          ald__hashes *hashes, ald_error *err);

/* Its parts, a file each. */
ALD_NODISCARD ald_status ald__check_signer(const ald__file *file, const ald_trust *trust,
                                           ald_error *err); /* signer.c */
ALD_NODISCARD ald_status ald__check_signature(const ald__file *file, ald__scope scope,
                                              const ald_host *host, ald__hashes *hashes,
                                              ald_error *err); /* signer.c */
ALD_NODISCARD ald_status ald__check_seal(const ald__file *file, const ald_host *host,
                                         ald_error *err); /* seal_check.c: key and sig */
/* Of a file whose signature may be cut off: the seal by its own key, which is then the signer's as far as it is known. Without
 * a right seal the signer's key is zeros and *sealed 0. */
ALD_NODISCARD ald_status ald__check_seal_alone(ald__file *file, const ald_host *host, int *sealed,
                                               ald_error *err); /* seal_check.c */
ALD_NODISCARD ald_status ald__check_license(const ald__file *file, const ald__settings *settings,
                                            const ald_host *host,
                                            ald_error *err); /* license_check.c */
/* frame_crc32 of one stored piece (0 prologue, 1 … n chunks, n + 1 epilogue), where the file has it. */
ALD_NODISCARD ald_status ald__check_piece_crc32(const ald__file *file, uint64_t piece,
                                                const uint8_t *stored, size_t size, ald_error *err);

#endif
