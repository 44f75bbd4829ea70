/* SPDX-License-Identifier: MIT */
/* Arrow schema nodes put together by hand, one allocation for each node. */
#ifndef INTERCHANGE_TEXT_SCHEMA_NODE_H
#define INTERCHANGE_TEXT_SCHEMA_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

/* A nullable field of this format and name (no NUL inside; both copied) with `child_count` children that are zeroed: the
 * caller fills them, or leaves `release` NULL. Releasing the node releases what was filled. */
ALD_NODISCARD ald_status ald__schema_node_new(const ald_allocator *alloc, const char *format,
                                              const char *name, size_t name_size,
                                              size_t child_count, struct ArrowSchema *out,
                                              ald_error *err);

#endif
