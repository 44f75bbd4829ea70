/* SPDX-License-Identifier: MIT */
/* Full validation of an array against its schema: lengths, offsets, UTF-8, indices, type ids, run ends, views, null
 * counts, no null where the field is not nullable (a slot under a null parent is no value). */
#ifndef CORE_ARROW_VALIDATE_H
#define CORE_ARROW_VALIDATE_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"

/* `sizes`: bytes behind each buffer of each node in depth-first order (node, children, no dictionary), NULL when they are
 * not known (an array from another producer: buffer extents are then trusted). ALD_E_INVALID_FORMAT with the column's
 * name and the row. Costs nothing per row that has no bytes. */
ALD_NODISCARD ald_status ald__array_validate(const struct ArrowSchema *schema,
                                             const struct ArrowArray *array, const uint64_t *sizes,
                                             ald_error *err);

#endif
