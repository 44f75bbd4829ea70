/* SPDX-License-Identifier: MIT */
/* Records into one batch of Arrow arrays. */
#ifndef INTERCHANGE_JSONL_JSON_BUILD_H
#define INTERCHANGE_JSONL_JSON_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "interchange/jsonl/json_fault.h"
#include "interchange/jsonl/json_plan.h"
#include "interchange/jsonl/json_pool.h"
#include "interchange/text/column.h"

/* One place of a batch. `column` holds the values of scalars; of nested places the validity bits and, in `values`, the
 * offsets. Children may be shorter than their parent: what is missing at the end is null. */
typedef struct ald__builder ald__builder;
struct ald__builder {
    const ald__plan *plan;
    ald__column column;
    ald__builder *children;
    uint32_t *slots; /* DICTIONARY: 1 + index of a value, by hash */
    size_t slot_count;
};

typedef struct ald__build {
    const ald__plans *plans;
    const ald_allocator *alloc;
    ald__json_pool *pool; /* of the record in hand */
    ald__json_fault *fault;
    ald__builder root;
} ald__build;

/* Empty builders for all places; `pool` and `fault` are set by the caller. Clear after failure too. */
ALD_NODISCARD ald_status ald__build_init(ald__build *build, const ald__plans *plans,
                                         const ald_allocator *alloc, ald_error *err);
void ald__build_clear(ald__build *build);
/* Room for so many rows in the columns. */
ALD_NODISCARD ald_status ald__build_reserve(ald__build *build, size_t rows, ald_error *err);

/* Adds a row. On failure build->fault tells all but the record's offset, and the batch is of no use. */
ALD_NODISCARD ald_status ald__build_add(ald__build *build, yyjson_val *record);
/* Moves the rows into *out; the builders are empty again. */
ALD_NODISCARD ald_status ald__build_finish(ald__build *build, struct ArrowArray *out,
                                           ald_error *err);

/* Between the files of this folder. */

/* Nulls until the builder has `length` rows. */
ALD_NODISCARD ald_status ald__builder_pad(ald__builder *b, int64_t length, ald_error *err);
/* Any value but null. */
ALD_NODISCARD ald_status ald__builder_add(ald__build *build, ald__builder *b, yyjson_val *value);
/* A value or null. */
ALD_NODISCARD ald_status ald__builder_value(ald__build *build, ald__builder *b, yyjson_val *value);
/* Ends a row of a nested place whose children are in place. */
ALD_NODISCARD ald_status ald__builder_row(ald__builder *b, int is_valid, ald_error *err);
ALD_NODISCARD ald_status ald__builder_map(ald__build *build, ald__builder *b, yyjson_val *value);
/* Scalars that are not stored as they come. */
ALD_NODISCARD ald_status ald__builder_convert(ald__build *build, ald__builder *b,
                                              yyjson_val *value);
/* Says that the value does not fit the place. */
ald_status ald__builder_mismatch(ald__build *build, const ald__builder *b, yyjson_val *value);

#endif
