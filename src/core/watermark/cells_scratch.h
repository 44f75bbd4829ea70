/* SPDX-License-Identifier: MIT */
/* Working memory of the loops over values, and the steps of them that have variants: for marking and for reading. */
#ifndef CORE_WATERMARK_CELLS_SCRATCH_H
#define CORE_WATERMARK_CELLS_SCRATCH_H

#include "core/watermark/cells.h"

#define ALD__MARK_LINE 64 /* vectors are loaded from multiples of their size */
#define ALD__MARK_COLUMN(type, name) _Alignas(ALD__MARK_LINE) type name[ALD__MARK_BATCH]

struct ald__mark_scratch {
    ALD__MARK_COLUMN(double, v); /* magnitudes; in the decimal domain, units of the last digit */
    ALD__MARK_COLUMN(double, scale); /* 2^-e */
    ALD__MARK_COLUMN(double, low);   /* 2^e: the class goes from here */
    ALD__MARK_COLUMN(double, high);  /* to here */
    ALD__MARK_COLUMN(double, origin);
    ALD__MARK_COLUMN(double, finest); /* the last plane */
    ALD__MARK_COLUMN(double, t);
    ALD__MARK_COLUMN(double, cell);
    ALD__MARK_COLUMN(double, target);
    ALD__MARK_COLUMN(double, wave);
    ALD__MARK_COLUMN(int64_t, side); /* the neighbour that may be nearer: -1, 1; 0: none */
    ALD__MARK_COLUMN(uint64_t, head);
    ALD__MARK_COLUMN(uint64_t, message);
    ALD__MARK_COLUMN(uint64_t, number);
    ALD__MARK_COLUMN(uint64_t, hash);
    ALD__MARK_COLUMN(int64_t, planes);
    ALD__MARK_COLUMN(int64_t, slow);
    uint16_t row[ALD__MARK_BATCH], near[ALD__MARK_BATCH];
};

typedef struct ald__mark_steps {
    void (*classify)(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n);
    void (*locate)(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n, int k);
    void (*look_aside)(ald__mark_scratch *s, size_t n);
    void (*move)(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n, int k);
    /* wave: the sine of the phase, or with `twice` minus the cosine of twice the phase */
    void (*wave)(ald__mark_scratch *s, size_t n, int twice);
    void (*divide)(ald__mark_scratch *s, size_t n, double power, int rounds);
} ald__mark_steps;

const ald__mark_steps *ald__mark_steps_of(int level);

/* Exponent-dependent columns of s, from its head: scale, low, high, origin; planes and slow are 0. */
void ald__mark_set_classes(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n);

#endif
