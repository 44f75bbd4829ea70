/* SPDX-License-Identifier: MIT */
/* The different values of a column, numbered in the order in which they come. */
#ifndef CLI_CLASS_INDEX_H
#define CLI_CLASS_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

#define CLASS_COUNT_MAX 1000000u

/* Zero-initialise. */
typedef struct class_index {
    char *text; /* of all values, one behind the other */
    size_t text_size, text_capacity;
    size_t *ends;      /* of each value in `text` */
    uint8_t *are_null; /* 1: the value is null, not a text */
    size_t count, capacity;
    uint32_t *slots; /* 1 + number, or 0 */
    size_t slot_count;
} class_index;

/* The number of a value; a new one when it was not there, if `add`. ALD_E_LIMIT_EXCEEDED beyond CLASS_COUNT_MAX. Without `add`,
 * ALD_E_IO: the input changed between two readings. */
ALD_NODISCARD ald_status class_index_find(class_index *index, const char *text, size_t size,
                                          int is_null, int add, size_t *number, ald_error *err);
void class_index_clear(class_index *index);

#endif
