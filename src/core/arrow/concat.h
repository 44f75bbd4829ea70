/* SPDX-License-Identifier: MIT */
#ifndef CORE_ARROW_CONCAT_H
#define CORE_ARROW_CONCAT_H

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

/* The slots of `a` and then those of `b` as one array in fresh memory. Both are validated, of this schema, and made by
 * ald__array_new. Of dictionary-encoded parts b's dictionary is taken: it must begin with a's. ALD_E_LIMIT_EXCEEDED when
 * 32-bit offsets, run ends or union slots do not suffice. */
ALD_NODISCARD ald_status ald__array_concat(const ald_allocator *alloc,
                                           const struct ArrowSchema *schema,
                                           const struct ArrowArray *a, const struct ArrowArray *b,
                                           struct ArrowArray *out, ald_error *err);

#endif
