/* SPDX-License-Identifier: MIT */
/* Full validation of an array against its schema: lengths, offsets, UTF-8, indices, type ids, run ends, views, null
 * counts, no null where the field is not nullable.
 *
 * What counts as a null in a field that is not nullable: an own null, and, as dictionaries and runs are only a way to
 * store values, a valid dictionary index of a null dictionary value and a run of a null. A union has no nulls of its own;
 * its children have, by their own nullability. A slot that no row reaches (under a null parent, between lists, in the other
 * children of a union) is no value and does not count. Every slot of a dictionary does. Entries of a map and their keys
 * are never nullable. */
#ifndef CORE_ARROW_VALIDATE_H
#define CORE_ARROW_VALIDATE_H

#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

/* `alloc`: scratch, used only when a field that is not nullable has nulls in its slots. `sizes`: bytes behind each buffer of each node in depth-first order (node, children, no dictionary; all
 * n_buffers of a node), NULL when they are not known (an array from another producer: buffer extents are then trusted).
 * Dictionaries are validated too when sizes are not known; otherwise they must have been.
 * A null_count of -1 is unknown and not compared. ALD_E_INVALID_FORMAT with the column's name and the row (without file
 * offset). Costs nothing per row that has no bytes. */
ALD_NODISCARD ald_status ald__array_validate(const ald_allocator *alloc,
                                             const struct ArrowSchema *schema,
                                             const struct ArrowArray *array, const uint64_t *sizes,
                                             ald_error *err);

#endif
