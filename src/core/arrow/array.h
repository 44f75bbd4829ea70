/* SPDX-License-Identifier: MIT */
/* Arrow arrays whose buffers point into shared memory. Every node owns its own reference, so children may be moved out. */
#ifndef CORE_ARROW_ARRAY_H
#define CORE_ARROW_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"
#include "core/base/shared.h"

/* An array of `buffer_count` NULL buffers, `child_count` released children and, if asked, a released dictionary. Its release
 * frees the node, releases its children and dictionary and lets go of the backings. */
ALD_NODISCARD ald_status ald__array_new(const ald_allocator *alloc, size_t buffer_count,
                                        size_t child_count, int has_dictionary,
                                        struct ArrowArray *out, ald_error *err);
/* Adds a reference to what the buffers point into; up to three for a node. `array` must come from ald__array_new. */
void ald__array_hold(struct ArrowArray *array, ald__shared *backing);

/* The same array again, with references of its own to what the first one holds. `from` must come from ald__array_new or
 * ald__array_holder_share. */
ALD_NODISCARD ald_status ald__array_clone(const struct ArrowArray *from, struct ArrowArray *out,
                                          ald_error *err);

/* A second owner of the same arrays: *out keeps `from` (of any producer, moved into a shared holder) alive. After the
 * call *from is a released array and `holder` may be shared again and again. */
typedef struct ald__array_holder ald__array_holder;
ALD_NODISCARD ald_status ald__array_holder_new(const ald_allocator *alloc, struct ArrowArray *from,
                                               ald__array_holder **out, ald_error *err);
ALD_NODISCARD ald_status ald__array_holder_share(ald__array_holder *holder, struct ArrowArray *out,
                                                 ald_error *err);
const struct ArrowArray *ald__array_holder_get(const ald__array_holder *holder);
void ald__array_holder_free(ald__array_holder *holder);

#endif
