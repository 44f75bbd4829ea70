/* SPDX-License-Identifier: MIT */
/* One record through yyjson, in place. */
#ifndef INTERCHANGE_JSONL_JSON_PARSE_H
#define INTERCHANGE_JSONL_JSON_PARSE_H

#include <yyjson.h>

#include "interchange/jsonl/json_fault.h"
#include "interchange/jsonl/json_pool.h"
#include "interchange/jsonl/json_records.h"

/* *out is the record's object; it and its strings live until the next record is asked for. `raw_numbers`: numbers stay
 * text. On failure *fault tells all. */
ALD_NODISCARD ald_status ald__json_parse(ald__json_pool *pool, const ald__json_record *record,
                                         int raw_numbers, yyjson_val **out, ald__json_fault *fault);

#endif
