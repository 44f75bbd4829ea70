/* SPDX-License-Identifier: MIT */
/* The columns of numbers in a table, also those inside of others, and where in a batch their values are. */
#ifndef CORE_WATERMARK_LEAVES_H
#define CORE_WATERMARK_LEAVES_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"
#include "core/arrow/type.h"
#include "core/base/arena.h"

/* A column as it is reported: of numbers, or one that is left alone (`reason`). */
typedef struct ald__mark_leaf {
    const char *name;
    uint32_t column;     /* top-level */
    uint8_t reason;      /* an ald_watermark_reason: what is known from the type */
    uint8_t has_runs;    /* run-end encoded; ends of this many bytes */
    uint8_t index_width; /* of dictionary indices; 0: no dictionary */
    uint8_t index_is_signed;
    uint8_t is_suspect; /* values are read only: decimals of any size are fine */
    ald__type type;     /* of the numbers */
} ald__mark_leaf;

typedef struct ald__mark_leaves {
    ald__arena arena;
    ald__mark_leaf *list;
    size_t count;
} ald__mark_leaves;

/* The leaves of a schema in depth-first order. ALD_E_INVALID_ARG when the root is no struct. */
ALD_NODISCARD ald_status ald__mark_leaves_init(ald__mark_leaves *leaves, const ald_allocator *alloc,
                                               const struct ArrowSchema *schema, ald_error *err);
/* Of a copy that is only read. */
void ald__mark_leaf_suspect(ald__mark_leaf *leaf);
void ald__mark_leaves_clear(ald__mark_leaves *leaves);

/* Slots [begin, begin + count) of an array, its offset not counted, as far as rows reach them: where `mask` (NULL: everywhere)
 * has a bit for slot begin + i. Whether they are null is told by the array itself. */
typedef struct ald__mark_slots {
    const struct ArrowArray *array;
    struct ArrowArray *twin; /* the same place in another array of the same shape; or NULL */
    int64_t begin, count;
    const uint8_t *mask;
} ald__mark_slots;

/* Calls visit for every leaf without a reason, in order. `twin` may be NULL. Masks live in `arena`. `array` is validated. */
ALD_NODISCARD ald_status ald__mark_walk(
    const ald__mark_leaves *leaves, const struct ArrowSchema *schema,
    const struct ArrowArray *array, struct ArrowArray *twin, ald__arena *arena,
    ald_status (*visit)(void *ctx, size_t leaf, const ald__mark_slots *slots, ald_error *err),
    void *ctx, ald_error *err);

#endif
