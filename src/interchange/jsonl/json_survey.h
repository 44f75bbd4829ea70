/* SPDX-License-Identifier: MIT */
/* The first pass: every record counted, every value's kind learned. */
#ifndef INTERCHANGE_JSONL_JSON_SURVEY_H
#define INTERCHANGE_JSONL_JSON_SURVEY_H

#include <stdint.h>

#include "ald/jsonl.h"
#include "interchange/jsonl/json_input.h"
#include "interchange/jsonl/json_place.h"

typedef struct ald__survey {
    ald__json_input *input;
    const ald_jsonl_options *options;
    int count_only; /* all columns are declared */
    /* A fault of the array's form, behind all of its elements; `record` is ALD_NO_OFFSET when there is none. */
    ald__json_fault *pending;
} ald__survey;

/* Fills the input's cells and `tree`. With kinds that do not go together, and no `mixed` option, fails as for any other
 * fault: the first one in the input is told. */
ALD_NODISCARD ald_status ald__survey_run(const ald__survey *survey, ald__place_tree *tree,
                                         ald_error *err);

#endif
