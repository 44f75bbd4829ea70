/* SPDX-License-Identifier: MIT */
/* A new array from rows of several arrays of one schema, of every type, in fresh memory. */
#ifndef CORE_ARROW_GATHER_H
#define CORE_ARROW_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

/* Rows [begin, begin + count) of sources[source], counted without the array's offset; count is above 0. */
typedef struct ald__run {
    int64_t begin, count;
    size_t source;
} ald__run;

/* Dictionaries are copied too. Without it the result may share a source's dictionary, and the memory behind that. */
#define ALD__GATHER_OWN 0x1u

/* The rows of all runs, one run behind the other; rows may come in any order and more than once. Sources are validated, of
 * this schema, and made by ald__array_new (or shared from a holder).
 * Dictionaries: where all sources have the same one (the same buffers, or the same bytes), that is kept; else they are put
 * one behind the other and indices shifted, so that values may then occur twice and an order among them is lost.
 * ALD_E_LIMIT_EXCEEDED with the column's name when 32-bit offsets, run ends, union slots or dictionary indices do not
 * suffice. Time and memory are those of the rows that were asked for: values that several slots of a source share (list
 * views, views, dense unions) are taken once where taking them for each slot would need more. */
ALD_NODISCARD ald_status ald__array_gather(const ald_allocator *alloc,
                                           const struct ArrowSchema *schema,
                                           const struct ArrowArray *const *sources,
                                           size_t source_count, const ald__run *runs,
                                           size_t run_count, uint32_t flags, struct ArrowArray *out,
                                           ald_error *err);

#endif
