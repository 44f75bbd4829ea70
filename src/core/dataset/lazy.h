/* SPDX-License-Identifier: MIT */
/* The inside of an ald_streaming. */
#ifndef CORE_DATASET_LAZY_H
#define CORE_DATASET_LAZY_H

#include "ald/streaming.h"
#include "core/arrow/ipc_read.h"
#include "core/base/shared.h"
#include "core/container/file.h"
#include "core/crypto/piece.h"
#include "core/dataset/block_pool.h"
#include "core/dataset/chunk_cache.h"
#include "core/dataset/guard.h"
#include "core/dataset/inflaters.h"

struct ald_streaming {
    ald_host host;
    ald__file file;
    ald__ipc_schema *schema;
    ald_info info;
    ald__chunk_cache *cache;
    ald__block_pool *pool; /* of chunks' bytes */
    ald__inflater_pool *inflaters;
    ald__hashes hashes;   /* of all pieces, when the file is signed */
    ald__piece_keys keys; /* when it is encrypted; wiped on close */
    int salvage;          /* the array index was not read: a damaged one costs no rows */
};

/* Chunk `index` read and decoded, not from the cache. */
ALD_NODISCARD ald_status ald__chunk_load(const ald_streaming *streaming, uint64_t index,
                                         const uint8_t *columns, struct ArrowArray *out,
                                         ald_error *err);

/* Stored bytes [begin, end) of the payload: where they are, or in fresh memory. */
typedef struct ald__stored {
    const uint8_t *data;
    size_t size;
    uint8_t *owned; /* or NULL */
    size_t owned_size;
} ald__stored;

ALD_NODISCARD ald_status ald__stored_read(const ald_streaming *streaming, uint64_t begin,
                                          uint64_t end, ald__stored *out, ald_error *err);
void ald__stored_clear(const ald_streaming *streaming, ald__stored *stored);

/* A whole piece (0 prologue, 1 … n chunks, n + 1 epilogue): its hash and its frame_crc32 checked, then opened, so that it
 * is ald__file_tag bytes shorter than it is stored. */
ALD_NODISCARD ald_status ald__piece_read(const ald_streaming *streaming, uint64_t piece,
                                         ald__stored *out, ald_error *err);

/* Whether a piece means something only as a whole: it has a hash or a tag. */
int ald__piece_is_whole(const ald_streaming *streaming);

/* Some columns of a chunk through its column frames. *done = 0: the chunk has none, nothing was read but its start. `piece`:
 * the chunk as ald__piece_read gave it, borrowed; NULL: what is needed is read. */
ALD_NODISCARD ald_status ald__columns_read(const ald_streaming *streaming, uint64_t index,
                                           const uint8_t *columns, const ald__stored *piece,
                                           int *done, struct ArrowArray *out, ald_error *err);

/* The schema with the wanted columns only, over the children of the whole one. */
typedef struct ald__projection {
    struct ArrowSchema schema;
    struct ArrowSchema **children; /* NULL: those of the whole schema */
    size_t size;
} ald__projection;
ALD_NODISCARD ald_status ald__projection_init(const ald_streaming *streaming,
                                              const uint8_t *columns, ald__projection *out,
                                              ald_error *err);
void ald__projection_clear(const ald_streaming *streaming, ald__projection *projection);

#endif
