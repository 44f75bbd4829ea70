/* SPDX-License-Identifier: MIT */
/* The key of an encrypted file, and its pieces opened (steps 12 and 13 of F-320). */
#ifndef CORE_DATASET_UNLOCK_H
#define CORE_DATASET_UNLOCK_H

#include "core/base/shared.h"
#include "core/crypto/file_key.h"
#include "core/crypto/piece.h"
#include "core/dataset/settings.h"

/* The keys to all pieces. For files with STREAMING, whose key is committed to, so that there is one. In a plain file *keys
 * is left as it is, and ALD_E_DECRYPTION_FAILED when the caller brought a secret and does not take plain files. Wipe with
 * ald__piece_keys_clear. */
ALD_NODISCARD ald_status ald__unlock(const ald__file *file, const ald__settings *settings,
                                     const ald_host *host, ald__piece_keys *keys, ald_error *err);

/* Key and payload of a whole file at once: without STREAMING, the payload's tag may be what tells the right key. Plain
 * files: the check above. *stored becomes memory in which the opened pieces stand, at *at, where they stood in the payload,
 * each ald__file_tag bytes shorter; one reference is the caller's. `whole` has all bytes of the file; when they are the
 * library's own (`ours`), they may be overwritten. */
ALD_NODISCARD ald_status ald__payload_open(const ald__file *file, const ald__settings *settings,
                                           const ald_host *host, ald__shared *whole, int ours,
                                           ald__shared **stored, size_t *at, ald_error *err);

#endif
