/* SPDX-License-Identifier: MIT */
/* Marking values: a map from numbers to numbers, given by a plan. */
#ifndef CORE_WATERMARK_CELLS_H
#define CORE_WATERMARK_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "core/watermark/plan.h"

#define ALD__MARK_BATCH 256

/* Working memory of one thread, somewhere in so many bytes. They need no initial value. */
typedef struct ald__mark_scratch ald__mark_scratch;
size_t ald__mark_scratch_bytes(void);
ald__mark_scratch *ald__mark_scratch_at(void *memory);

/* Marks up to ALD__MARK_BATCH values; `out` may be `in`. planes[i]: how many bits value i carries now; 0: it is unchanged. */
void ald__mark_cells(const ald__mark_plan *plan, ald__mark_scratch *scratch, const double *in,
                     size_t count, double *out, uint8_t *planes);

/* Whether a magnitude has the column's decimals. A column may have a few values with more: to write one with the others'
 * decimals would change it by more than a mark does, and could make it equal to another, so it is left alone. */
int ald__mark_is_on_grid(const ald__mark_plan *plan, double v);

/* The same for one value, written for reading: what the batches are tested against. */
double ald__mark_cell(const ald__mark_plan *plan, double value, unsigned *planes);

#endif
