/* SPDX-License-Identifier: MIT */
/* Rules for values that are not taken apart: no key twice in an object, no nesting beyond the limit. */
#ifndef INTERCHANGE_JSONL_JSON_DUPLICATE_H
#define INTERCHANGE_JSONL_JSON_DUPLICATE_H

#include <stdint.h>
#include <yyjson.h>

#include "interchange/jsonl/json_fault.h"

/* The keys of one object. On failure *fault has the message and the key's step of the path. */
ALD_NODISCARD ald_status ald__json_check_keys(const ald_allocator *alloc, uint64_t seed,
                                              yyjson_val *object, ald__json_fault *fault);
/* All objects in a value. */
ALD_NODISCARD ald_status ald__json_check_value(const ald_allocator *alloc, uint64_t seed,
                                               yyjson_val *value, ald__json_fault *fault);

#endif
