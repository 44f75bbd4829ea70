/* SPDX-License-Identifier: MIT */
/* What the parts of the validator share. */
#ifndef CORE_ARROW_VALIDATE_VALUES_H
#define CORE_ARROW_VALIDATE_VALUES_H

#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/type.h"

/* The root of a table, and two for each level of types: one that is encoded has its dictionary's values below it. */
#define ALD__VALIDATE_LEVELS (2 * ALD__MAX_TYPE_DEPTH + 1)

typedef struct ald__validator {
    const ald_allocator *alloc;
    const uint64_t *sizes; /* of the next node's buffers; NULL: not known */
    const struct ArrowSchema *path[ALD__VALIDATE_LEVELS]; /* from the root to the node at hand */
    unsigned depth;                                       /* of path */
    ald_error *err;
} ald__validator;

/* One node whose form is known to be right: buffers, lengths and extents. */
typedef struct ald__node_view {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    const ald__type *type;
    const uint64_t *sizes;   /* of this node's buffers; NULL: not known */
    const uint8_t *validity; /* NULL: no nulls */
} ald__node_view;

/* ALD_E_INVALID_FORMAT that names the node at hand and, unless -1, the row. */
ALD_NODISCARD ald_status ald__validate_fail(const ald__validator *v, int64_t row, const char *fmt,
                                            ...) ALD_PRINTF(3, 4);

static inline int ald__slot_is_valid(const ald__node_view *n, int64_t i)
{
    uint64_t bit = (uint64_t)(n->array->offset + i);
    return n->validity == NULL || ((n->validity[bit >> 3] >> (bit & 7)) & 1);
}

/* Offsets rise and stay inside: `limit` is the size of the data or the child's length. */
ALD_NODISCARD ald_status ald__validate_offsets(const ald__validator *v, const ald__node_view *n,
                                               uint64_t limit);
/* Offsets and data of strings and binaries. */
ALD_NODISCARD ald_status ald__validate_strings(const ald__validator *v, const ald__node_view *n);
ALD_NODISCARD ald_status ald__validate_views(const ald__validator *v, const ald__node_view *n);
ALD_NODISCARD ald_status ald__validate_list_views(const ald__validator *v, const ald__node_view *n);
ALD_NODISCARD ald_status ald__validate_indices(const ald__validator *v, const ald__node_view *n);
ALD_NODISCARD ald_status ald__validate_union(const ald__validator *v, const ald__node_view *n);
ALD_NODISCARD ald_status ald__validate_runs(const ald__validator *v, const ald__node_view *n);

/* No null in a field that is not nullable; the tree is valid otherwise. */
ALD_NODISCARD ald_status ald__validate_nulls(ald__validator *v, const struct ArrowSchema *schema,
                                             const struct ArrowArray *array);

#endif
