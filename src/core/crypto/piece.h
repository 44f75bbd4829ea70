/* SPDX-License-Identifier: MIT */
/* Pieces of an encrypted payload: which key, nonce and additional data each has (F-225, F-227). */
#ifndef CORE_CRYPTO_PIECE_H
#define CORE_CRYPTO_PIECE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"
#include "ald/io.h"
#include "ald/reader.h"

/* What every piece of a file needs. Wipe with ald__piece_keys_clear. It lies in the host's memory, as the plain rows do that
 * it opens: whoever can read a core dump of the process has both. The pages for secrets are the native keys', not the
 * allocator's. */
typedef struct ald__piece_keys {
    uint8_t key[32], last[32]; /* the file key; the epilogue's, made from it */
    uint8_t binding[32];
    uint8_t nonce[ALD_GCM_NONCE_BYTES];
    uint8_t is_bound; /* 0: minor version 2 or less, no additional data */
} ald__piece_keys;

typedef enum ald__piece_kind {
    ALD__PIECE_WHOLE, /* the payload of a file without STREAMING */
    ALD__PIECE_FIRST, /* prologue */
    ALD__PIECE_CHUNK,
    ALD__PIECE_LAST /* epilogue */
} ald__piece_kind;

typedef struct ald__piece {
    ald__piece_kind kind;
    uint64_t k; /* of a chunk: 1 … n, and its entry's facts */
    uint64_t row_offset;
    uint32_t num_rows, uncompressed_size;
} ald__piece;

/* Piece `k` (0 prologue, 1 … n chunks, n + 1 epilogue) of `count` (n) chunks with these entries; NULL: the whole payload. */
ald__piece ald__piece_at(const ald_chunk_entry *chunks, uint64_t count, uint64_t k);

/* `binding` NULL: none, as with minor version 2. */
ALD_NODISCARD ald_status ald__piece_keys_init(ald__piece_keys *out, const ald_host *host,
                                              const uint8_t key[32],
                                              const uint8_t nonce[ALD_GCM_NONCE_BYTES],
                                              const uint8_t *binding, ald_error *err);
void ald__piece_keys_clear(ald__piece_keys *keys);

/* `sealed` has size + ALD_GCM_TAG_BYTES bytes; it may be `text`. */
ALD_NODISCARD ald_status ald__piece_seal(const ald__piece_keys *keys, const ald_host *host,
                                         const ald__piece *piece, const uint8_t *text, size_t size,
                                         uint8_t *sealed, ald_error *err);
/* `text` has size - ALD_GCM_TAG_BYTES bytes; it may be `sealed`, and is zeros then when it does not open. */
ALD_NODISCARD ald_status ald__piece_open(const ald__piece_keys *keys, const ald_host *host,
                                         const ald__piece *piece, const uint8_t *sealed,
                                         size_t size, uint8_t *text, ald_error *err);

/* The pieces of a payload, which all lie in memory: piece k ends at ends(ctx, k), and is opened to the same place in `to`. The last
 * one and the first come first: they show that the chunks belong together (F-228). */
typedef struct ald__piece_list {
    const ald_chunk_entry *chunks; /* NULL: one piece, the whole */
    uint64_t chunk_count;
    uint64_t (*ends)(const void *ctx, uint64_t k);
    const void *ctx;
    const uint8_t *from;
    uint8_t *to; /* may be `from` */
} ald__piece_list;

ALD_NODISCARD ald_status ald__piece_open_list(const ald__piece_keys *keys, const ald_host *host,
                                              const ald__piece_list *list, ald_error *err);

#endif
