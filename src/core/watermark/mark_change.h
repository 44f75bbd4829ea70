/* SPDX-License-Identifier: MIT */
#ifndef CORE_WATERMARK_MARK_CHANGE_H
#define CORE_WATERMARK_MARK_CHANGE_H

#include "ald/io.h"
#include "ald/watermark.h"
#include "core/watermark/mark_tally.h"
#include "core/watermark/plan.h"

/* Fills in what the report tells of the change of a sorted tally, which is not empty. With the threads of `host`; NULL: in this
 * one. What comes out does not depend on them. The plan is changed meanwhile. */
ALD_NODISCARD ald_status ald__mark_measure_change(ald__mark_plan *plan,
                                                  const ald__mark_tally *tally,
                                                  const ald_host *host,
                                                  ald_watermark_column *report, ald_error *err);

/* Whether mean or deviation would move too far. `slack` is what the report may be wrong by. */
int ald__mark_is_distorted(const ald_watermark_column *report, double slack);

#endif
