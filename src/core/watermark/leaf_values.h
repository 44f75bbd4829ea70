/* SPDX-License-Identifier: MIT */
/* Numbers of every Arrow type as doubles, and back. */
#ifndef CORE_WATERMARK_LEAF_VALUES_H
#define CORE_WATERMARK_LEAF_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "core/watermark/leaves.h"
#include "core/watermark/mark_tally.h"
#include "core/watermark/plan.h"

#define ALD__MARK_CHUNK 256

/* What the numbers of this type may become. */
ald__mark_type ald__mark_leaf_type(const ald__mark_leaf *leaf);

/* Adds the values of one batch, in row order. A *reason other than NONE says that the column has values that cannot be marked;
 * nothing more is added then. */
ALD_NODISCARD ald_status ald__mark_leaf_add(const ald__mark_leaf *leaf,
                                            const ald__mark_slots *slots, ald__mark_tally *tally,
                                            uint8_t *reason, ald_error *err);

/* Calls take(ctx, values, count) with up to ALD__MARK_CHUNK values of rows at a time, in row order, nulls left out; runs are not
 * joined. For columns without a reason so far. */
ALD_NODISCARD ald_status ald__mark_leaf_rows(const ald__mark_leaf *leaf,
                                             const ald__mark_slots *slots,
                                             ald_status (*take)(void *ctx, const double *values,
                                                                size_t count, ald_error *err),
                                             void *ctx, ald_error *err);

/* Marks slots of a plain array (or of a dictionary's, or runs' values): `to` is a buffer of such values, where the slot `begin` of
 * `slots` is number `to_at`. */
void ald__mark_leaf_mark(const ald__mark_leaf *leaf, const ald__mark_slots *slots,
                         const ald__mark_plan *plan, void *scratch, uint8_t *to, int64_t to_at);

#endif
