/* SPDX-License-Identifier: MIT */
/* Record batches of any size into chunks of the wanted size. */
#ifndef CORE_DATASET_CHUNKER_H
#define CORE_DATASET_CHUNKER_H

#include "ald/io.h"
#include "core/arrow/array.h"

#define ALD__CHUNK_ROWS_DEFAULT 65536u
#define ALD__CHUNK_BYTES_DEFAULT (16u << 20)
#define ALD__ALIGNED_ROWS_DEFAULT (1u << 20) /* nothing is inflated: fewer chunks open faster */

typedef struct ald__chunker {
    const ald_host *host;
    const struct ArrowSchema *schema; /* borrowed */
    uint64_t chunk_rows;
    uint64_t chunk_bytes;     /* about; 0: no limit */
    int joins;                /* batches may be joined: no column is dictionary-encoded */
    ald__array_holder *batch; /* in work */
    int64_t pos, batch_rows;  /* in it */
    uint64_t batch_limit;     /* rows of a chunk that this batch's rows allow */
    struct ArrowArray *parts; /* of the next chunk */
    size_t part_count, part_cap;
    uint64_t rows;   /* in the parts */
    uint64_t chunks; /* given out */
} ald__chunker;

void ald__chunker_init(ald__chunker *chunker, const ald_host *host,
                       const struct ArrowSchema *schema, uint64_t chunk_rows, uint64_t chunk_bytes);
void ald__chunker_clear(ald__chunker *chunker);
/* Moves a batch in, also on failure; `bytes` is what it takes as IPC. The one before must be used up. */
ALD_NODISCARD ald_status ald__chunker_put(ald__chunker *chunker, struct ArrowArray *batch,
                                          uint64_t bytes, ald_error *err);
/* The next chunk, or an array with `release` NULL: the batch is used up. With `at_end` also what is left, and one chunk of
 * no rows when there was none at all. */
ALD_NODISCARD ald_status ald__chunker_take(ald__chunker *chunker, int at_end,
                                           struct ArrowArray *out, ald_error *err);

#endif
