/* SPDX-License-Identifier: MIT */
/* Memory of chunks that were let go, for the chunks that come: fresh memory of their size comes from the system, page by page
 * and zeroed, which is a tenth of the time of a scan. */
#ifndef CORE_DATASET_BLOCK_POOL_H
#define CORE_DATASET_BLOCK_POOL_H

#include "ald/io.h"
#include "core/base/shared.h"

/* May be used by several threads at once; blocks may outlive it. In a build for one thread (ALD_ONE_THREAD), whose memory
 * hardly ever goes back to a system, there is none: NULL, which takes from `alloc`. */
typedef struct ald__block_pool ald__block_pool;

ALD_NODISCARD ald_status ald__block_pool_new(const ald_allocator *alloc, ald__block_pool **out,
                                             ald_error *err);
/* `size` bytes at a 64-byte boundary, not cleared; the last reference gives them back. */
ALD_NODISCARD ald_status ald__block_pool_take(ald__block_pool *pool, const ald_allocator *alloc,
                                              size_t size, ald__shared **out, ald_error *err);
/* The same memory as an allocator; what it gave out keeps the pool alive. Not in a build for one thread. */
ald_allocator ald__block_pool_allocator(ald__block_pool *pool);
/* Blocks that are out are freed when they come back. NULL is fine. */
void ald__block_pool_free(ald__block_pool *pool);

#endif
