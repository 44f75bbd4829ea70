/* SPDX-License-Identifier: MIT */
/* An array of no rows for any schema. */
#ifndef CORE_ARROW_ARRAY_EMPTY_H
#define CORE_ARROW_ARRAY_EMPTY_H

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

/* Buffers are NULL, children and dictionaries empty too. The caller releases it. */
ALD_NODISCARD ald_status ald__array_empty(const ald_allocator *alloc,
                                          const struct ArrowSchema *schema, struct ArrowArray *out,
                                          ald_error *err);

#endif
