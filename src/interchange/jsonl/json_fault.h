/* SPDX-License-Identifier: MIT */
/* What went wrong in a record. The line is not known where it is found, since blocks are read side by side. */
#ifndef INTERCHANGE_JSONL_JSON_FAULT_H
#define INTERCHANGE_JSONL_JSON_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "interchange/jsonl/json_place.h"

/* Deepest nesting of lists and objects, the record's own object counted: with the values in them, the 64 levels that
 * Arrow types may have here. */
#define ALD__JSON_MAX_DEPTH 63

typedef struct ald__json_fault {
    ald_error error; /* status, and the message without its line */
    uint64_t record; /* source offset of the record; ALD_NO_OFFSET: not in a record */
    uint64_t byte;   /* of the record, from 0; ALD_NO_OFFSET: unknown */
    char path[96];   /* "$.a[].b", or empty */
    char hint[96];   /* or empty */
} ald__json_fault;

void ald__json_fault_clear(ald__json_fault *fault);
/* One step of a path is put in front of what is there: a key, or with NULL the items of a list. */
void ald__json_fault_step(ald__json_fault *fault, const char *name, size_t size);
/* The whole path of a place. */
void ald__json_fault_place(ald__json_fault *fault, const ald__place *place);

#endif
