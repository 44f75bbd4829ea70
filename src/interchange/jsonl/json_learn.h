/* SPDX-License-Identifier: MIT */
/* One pass: a record is looked at and stored in one walk. */
#ifndef INTERCHANGE_JSONL_JSON_LEARN_H
#define INTERCHANGE_JSONL_JSON_LEARN_H

#include "interchange/jsonl/json_build.h"
#include "interchange/jsonl/json_infer.h"

/* Before the first record that goes into another tree of places than the one before. */
void ald__learn_begin(ald__build *build);
/* What ald__infer_record and then ald__build_add would do, and the same faults though not in that order. `record` was parsed
 * with numbers as raw text. */
ALD_NODISCARD ald_status ald__learn_record(ald__build *build, ald__infer *infer,
                                           yyjson_val *record);

#endif
