/* SPDX-License-Identifier: MIT */
/* What a person should know about the types that were found. */
#ifndef INTERCHANGE_JSONL_JSON_NOTES_H
#define INTERCHANGE_JSONL_JSON_NOTES_H

#include "ald/text.h"
#include "interchange/jsonl/json_input.h"
#include "interchange/jsonl/json_place.h"

/* A line for each place that became decimal or text because of few of its numbers, or text because its kinds are mixed,
 * and for declared columns that no record has. */
ALD_NODISCARD ald_status ald__json_notes(const ald__json_input *input, const ald__place_tree *tree,
                                         const ald_text_options *options, ald_error *err);

#endif
