/* SPDX-License-Identifier: MIT */
/* Memory of the library: one allocator per handle, given by the host. */
#ifndef ALD_ALLOC_H
#define ALD_ALLOC_H

#include <stddef.h>

#include "ald/export.h"

ALD_BEGIN_DECLS

/* All three are required. Blocks are aligned to 16 bytes or more. `size` is never 0. Objects made with an allocator
 * (datasets, arrays, streams) use it until they are released, so `ctx` must outlive them; threads that share such
 * objects call it concurrently. */
typedef struct ald_allocator {
    void *(*alloc)(void *ctx, size_t size); /* NULL: no memory */
    void *(*resize)(void *ctx, void *ptr, size_t old_size,
                    size_t new_size);                   /* NULL: ptr stays valid */
    void (*release)(void *ctx, void *ptr, size_t size); /* size as allocated */
    void *ctx;
} ald_allocator;

ALD_END_DECLS
#endif
