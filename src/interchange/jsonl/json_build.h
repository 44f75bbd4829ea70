/* SPDX-License-Identifier: MIT */
/* Records into one batch of Arrow arrays. */
#ifndef INTERCHANGE_JSONL_JSON_BUILD_H
#define INTERCHANGE_JSONL_JSON_BUILD_H

#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "interchange/jsonl/json_fault.h"
#include "interchange/jsonl/json_key.h"
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
    ald__place *met; /* in one pass: what the batch has at this place; NULL: nothing yet */
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
/* The child of a key that is not the one after the last; NULL: there is none. *next is then where the next one is expected. */
ald__builder *ald__builder_find(const ald__build *build, const ald__builder *b,
                                const yyjson_val *key, uint32_t *next);
/* The child of a key, expected at *next. */
static inline ald__builder *ald__builder_child(const ald__build *build, const ald__builder *b,
                                               const yyjson_val *key, uint32_t *next)
{
    size_t size = unsafe_yyjson_get_len(key);
    if (*next < b->plan->child_count) {
        ald__builder *child = &b->children[*next];
        if (child->plan->name_size == size &&
            ald__json_same(child->plan->name, unsafe_yyjson_get_str(key), size)) {
            ++*next;
            return child;
        }
    }
    return ald__builder_find(build, b, key, next);
}
/* Makes the child ready for the value of the row that is being made; fails if it has one. */
ALD_NODISCARD ald_status ald__builder_turn(ald__build *build, const ald__builder *b,
                                           ald__builder *child);
/* A value of a struct into its child, which may be NULL: an error. */
ALD_NODISCARD ald_status ald__builder_member(ald__build *build, const ald__builder *b,
                                             ald__builder *child, yyjson_val *value);
/* Ends a row of a struct whose members are in place. */
ALD_NODISCARD ald_status ald__builder_end(ald__build *build, ald__builder *b);
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
