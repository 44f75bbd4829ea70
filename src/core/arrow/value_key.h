/* SPDX-License-Identifier: MIT */
/* A value of any type as bytes: equal values of one type have equal bytes, and none is the start of another's. */
#ifndef CORE_ARROW_VALUE_KEY_H
#define CORE_ARROW_VALUE_KEY_H

#include "core/arrow/ipc_encode.h"

/* Appends the key of row `row` (without the array's offset) of a node's array, which must have passed ald__ipc_encode. Nested
 * dictionary indices count as their remapped number. */
ALD_NODISCARD ald_status ald__value_key(const ald__ipc_tree *tree, const ald__ipc_remap *remaps,
                                        uint32_t node, const struct ArrowArray *array, int64_t row,
                                        ald_buffer *out, ald_error *err);

#endif
