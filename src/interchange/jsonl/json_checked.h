/* SPDX-License-Identifier: MIT */
/* One pass instead of two: plans are made from samples, then checked by every value that is read. What the whole input would
 * have given is known at its end; where that is something else, the reading starts over with two passes. */
#ifndef INTERCHANGE_JSONL_JSON_CHECKED_H
#define INTERCHANGE_JSONL_JSON_CHECKED_H

#include "interchange/jsonl/json_input.h"
#include "interchange/jsonl/json_place.h"
#include "interchange/jsonl/json_plan.h"

typedef struct ald__json_checked {
    const ald__json_input *input;
    const ald__plans *plans; /* of the samples */
    ald__plan_rules rules;
    ald__place_tree expected; /* samples and all batches so far */
    ald__place_tree actual;   /* all batches so far */
    int surprised;            /* the plans do not hold */
    ald__json_sampled sampled;
} ald__json_checked;

/* `seed` as of all trees. */
ALD_NODISCARD ald_status ald__json_checked_init(ald__json_checked *checked,
                                                const ald__json_input *input,
                                                const ald__plan_rules *rules, uint64_t seed,
                                                ald_error *err);
void ald__json_checked_clear(ald__json_checked *checked);

/* Up to `records` records of the first cell and of others along the input into `expected`. A fault in them is a reason for
 * two passes: *found is then 0. */
ALD_NODISCARD ald_status ald__json_checked_sample(ald__json_checked *checked, size_t records,
                                                  int *found, ald_error *err);

/* What a batch met, in the order of the batches. ALD_E_SCHEMA_MISMATCH, with `surprised` set: start over. */
ALD_NODISCARD ald_status ald__json_checked_merge(ald__json_checked *checked,
                                                 const ald__place_tree *met, ald_error *err);
/* Behind the last batch: whether the plans are those of the whole input. */
ALD_NODISCARD ald_status ald__json_checked_end(ald__json_checked *checked, ald_error *err);
ald_status ald__json_surprise(ald__json_checked *checked, ald_error *err);

#endif
