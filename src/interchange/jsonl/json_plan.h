/* SPDX-License-Identifier: MIT */
/* What each place becomes: decided once, then only read, by all threads. */
#ifndef INTERCHANGE_JSONL_JSON_PLAN_H
#define INTERCHANGE_JSONL_JSON_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"
#include "interchange/jsonl/json_blocks.h"
#include "interchange/jsonl/json_place.h"

typedef enum ald__plan_op {
    ALD__PLAN_NULL,
    ALD__PLAN_BOOL,
    ALD__PLAN_INT64,
    ALD__PLAN_UINT64,
    ALD__PLAN_FLOAT64,
    ALD__PLAN_STRING,  /* JSON strings alone */
    ALD__PLAN_NUMBER,  /* numbers by their text: decimals, and what is too much for them */
    ALD__PLAN_TEXT,    /* any value: strings without quotes, all else as JSON */
    ALD__PLAN_JSON,    /* any value as JSON */
    ALD__PLAN_CONVERT, /* a declared scalar type: from strings, numbers, true and false */
    ALD__PLAN_LIST,    /* of 32-bit or 64-bit offsets */
    ALD__PLAN_FIXED_LIST,
    ALD__PLAN_STRUCT,
    ALD__PLAN_MAP,
    ALD__PLAN_DICTIONARY
} ald__plan_op;

typedef struct ald__plan ald__plan;
struct ald__plan {
    uint8_t op;
    uint8_t nullable;
    uint8_t is_large;     /* LIST: 64-bit offsets */
    uint8_t has_required; /* STRUCT: a field that is not nullable */
    uint8_t is_checked;   /* FLOAT64 after `infer_rows`: each number must be faithful */
    const char *format;   /* of the Arrow type */
    const char *name;     /* of a field, else NULL */
    uint32_t name_size, hash;
    int32_t list_size; /* FIXED_LIST */
    const ald__plan *parent;
    ald__plan *
        *children; /* fields; the items; keys' and values' struct of a map; a dictionary's values */
    uint32_t child_count, slot_count;
    uint32_t *slots; /* as in a place */
};

typedef struct ald__plans {
    ald__json_blocks blocks;
    uint64_t seed;
    ald__plan *root;
    size_t leaf_count;
    int raw_numbers; /* numbers are needed as text */
} ald__plans;

typedef struct ald__plan_rules {
    const struct ArrowSchema *schema; /* all columns declared, or NULL */
    const struct ArrowSchema *types;  /* some columns declared, or NULL */
    int mixed;                        /* an ald_json_mixed */
    int is_checked;                   /* later rows were not looked at */
} ald__plan_rules;

/* From a tree of places (with rules->schema: from that alone). Clear after failure too. */
ALD_NODISCARD ald_status ald__plans_make(ald__plans *plans, const ald_allocator *alloc,
                                         const ald__place_tree *tree, const ald__plan_rules *rules,
                                         ald_error *err);
void ald__plans_clear(ald__plans *plans);

/* The Arrow schema of the whole. */
ALD_NODISCARD ald_status ald__plans_schema(const ald__plans *plans, const ald__plan_rules *rules,
                                           const ald_host *host, struct ArrowSchema *out,
                                           ald_error *err);

/* The index of a field; child_count: none. */
uint32_t ald__plan_find(const ald__plans *plans, const ald__plan *plan, const char *name,
                        size_t size);

#endif
