/* SPDX-License-Identifier: MIT */
/* The keyless statistics of one column. */
#ifndef CORE_WATERMARK_ENTROPY_H
#define CORE_WATERMARK_ENTROPY_H

#include "ald/piracy.h"
#include "core/watermark/mark_tally.h"
#include "core/watermark/row_bits.h"

/* `tally` is sorted; `is_float`: the column's type is. Fills in everything of `out` but name and column. */
ALD_NODISCARD ald_status ald__entropy_column(const ald__mark_tally *tally,
                                             const ald__row_bits *rows, int is_float,
                                             ald_column_entropy *out, ald_error *err);

/* The entropy of lowest bits alone, and the class of the column. */
ALD_NODISCARD ald_status ald__entropy_lsb(const ald__mark_tally *tally, int is_float,
                                          double *lsb_entropy, uint8_t *entropy_class,
                                          ald_error *err);

/* Fills in phase_p and phase_strength, and returns the sign and, in *p, its chance. */
uint8_t ald__entropy_phase(const ald__mark_tally *tally, int is_f32, int decimals,
                           ald_column_entropy *out, double *p);

#endif
