/* SPDX-License-Identifier: MIT */
/* Sorting in place, without recursion or memory: heap sort, as its worst case is its usual one. */
#ifndef CORE_ARROW_SORT_H
#define CORE_ARROW_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct ald__pair {
    uint64_t a, b;
} ald__pair;

/* By a, then b. */
void ald__pairs_sort(ald__pair *pairs, size_t count);

#endif
