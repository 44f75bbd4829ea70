/* SPDX-License-Identifier: MIT */
/* The second pass: batches cut by the index, several built side by side, handed out in order. */
#ifndef INTERCHANGE_JSONL_JSON_BATCHES_H
#define INTERCHANGE_JSONL_JSON_BATCHES_H

#include <stdint.h>

#include "ald/text.h"
#include "interchange/jsonl/json_checked.h"
#include "interchange/jsonl/json_input.h"
#include "interchange/jsonl/json_plan.h"

typedef struct ald__batches ald__batches;

/* All but `options` is borrowed and must stay where it is. `checked`: in one pass, else NULL. */
ALD_NODISCARD ald_status ald__batches_new(const ald__json_input *input, const ald__plans *plans,
                                          const ald_text_options *options,
                                          ald__json_checked *checked, ald__batches **out,
                                          ald_error *err);
void ald__batches_free(ald__batches *batches);
/* The next batch; `release` NULL: there are no more. */
ALD_NODISCARD ald_status ald__batches_next(ald__batches *batches, struct ArrowArray *out,
                                           ald_error *err);

#endif
