/* SPDX-License-Identifier: MIT */
/* Memory that several arrays point into: freed when the last one lets go. */
#ifndef CORE_BASE_SHARED_H
#define CORE_BASE_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"

typedef struct ald__shared ald__shared;

/* Over `size` bytes at `data`, which `release(ctx, data, size)` frees (NULL: borrowed, never freed). One reference. On
 * failure nothing is released. */
ALD_NODISCARD ald_status ald__shared_new(const ald_allocator *alloc, void *data, size_t size,
                                         void (*release)(void *ctx, void *data, size_t size),
                                         void *ctx, ald__shared **out, ald_error *err);
/* Fresh uninitialised bytes at a 64-byte boundary, with one reference. */
ALD_NODISCARD ald_status ald__shared_alloc(const ald_allocator *alloc, size_t size,
                                           ald__shared **out, ald_error *err);
uint8_t *ald__shared_data(const ald__shared *shared);
size_t ald__shared_size(const ald__shared *shared);
/* Both from any thread; NULL is fine for unref. ref returns its argument. */
ald__shared *ald__shared_ref(ald__shared *shared);
void ald__shared_unref(ald__shared *shared);

#endif
