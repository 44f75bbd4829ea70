/* SPDX-License-Identifier: MIT */
/* Elements of one JSON array, found by strings, escapes and brackets alone; what is in them is yyjson's to judge. */
#ifndef INTERCHANGE_JSONL_JSON_ELEMENT_H
#define INTERCHANGE_JSONL_JSON_ELEMENT_H

#include "interchange/jsonl/json_records.h"

/* As ald__json_records_next, for arrays: the search begins at an element, or right behind the array's `[`. */
ALD_NODISCARD ald_status ald__json_element_next(ald__json_records *records, uint64_t limit,
                                                ald__json_record *out, ald_error *err);

#endif
