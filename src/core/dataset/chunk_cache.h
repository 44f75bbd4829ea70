/* SPDX-License-Identifier: MIT */
/* Chunks kept in memory after they were loaded, up to a number of bytes. From any thread. */
#ifndef CORE_DATASET_CHUNK_CACHE_H
#define CORE_DATASET_CHUNK_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

/* A loaded chunk with counted references. */
typedef struct ald__cached ald__cached;

/* Takes the array, also on failure. `columns`: which columns were asked for, one byte each, or NULL: all. `bytes`: what
 * the chunk counts for. One reference. */
ALD_NODISCARD ald_status ald__cached_new(const ald_allocator *alloc, uint64_t chunk,
                                         const uint8_t *columns, size_t column_count,
                                         uint64_t bytes, struct ArrowArray *array,
                                         ald__cached **out, ald_error *err);
const struct ArrowArray *ald__cached_array(const ald__cached *cached);
/* NULL is fine. */
void ald__cached_unref(ald__cached *cached);

typedef struct ald__chunk_cache ald__chunk_cache;
ALD_NODISCARD ald_status ald__chunk_cache_new(const ald_allocator *alloc, uint64_t budget_bytes,
                                              ald__chunk_cache **out, ald_error *err);
void ald__chunk_cache_free(ald__chunk_cache *cache);

/* The chunk, loaded with these columns, with a reference of the caller's; or NULL. */
ald__cached *ald__chunk_cache_find(ald__chunk_cache *cache, uint64_t chunk, const uint8_t *columns,
                                   size_t column_count);
/* Keeps a reference of its own if the chunk fits, for which those used longest ago go. */
void ald__chunk_cache_add(ald__chunk_cache *cache, ald__cached *cached);
uint64_t ald__chunk_cache_budget(const ald__chunk_cache *cache);

#endif
