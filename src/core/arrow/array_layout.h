/* SPDX-License-Identifier: MIT */
/* What each buffer of an Arrow layout holds: shared by those who read, check and join arrays. */
#ifndef CORE_ARROW_ARRAY_LAYOUT_H
#define CORE_ARROW_ARRAY_LAYOUT_H

#include <stdint.h>

#include "ald/arrow.h"
#include "core/arrow/type.h"

/* Buffer `index` of an array of `length` slots (from its start, so offset included). */
typedef struct ald__buffer_rule {
    uint64_t
        bytes; /* least size; UINT64_MAX: more than a size can say; 0 for data behind offsets or views */
    uint8_t width;   /* of one element, for alignment: 1, 2, 4, 8 or 16 */
    uint8_t bounded; /* whether `bytes` says all: 0 for data behind offsets or views */
} ald__buffer_rule;

/* Bytes of a bitmap of any claimed number of bits, also where size_t is small. */
static inline uint64_t ald__layout_bitmap(uint64_t bits)
{
    return bits / 8 + (bits % 8 != 0);
}

ald__buffer_rule ald__layout_buffer(const ald__type *type, int64_t index, int64_t length);

static inline int ald__type_is_view(const ald__type *type)
{
    return type->id == ALD__BINARY_VIEW || type->id == ALD__UTF8_VIEW;
}

static inline int ald__type_is_union(const ald__type *type)
{
    return type->id == ALD__SPARSE_UNION || type->id == ALD__DENSE_UNION;
}

/* Bytes of one offset (lists, maps, strings, binaries, list views), or 0. */
static inline uint8_t ald__type_offset_width(const ald__type *type)
{
    switch (type->id) {
    case ALD__BINARY:
    case ALD__UTF8:
    case ALD__LIST:
    case ALD__MAP:
    case ALD__LIST_VIEW:
        return 4;
    case ALD__LARGE_BINARY:
    case ALD__LARGE_UTF8:
    case ALD__LARGE_LIST:
    case ALD__LARGE_LIST_VIEW:
        return 8;
    default:
        return 0;
    }
}

/* Bytes of buffer `index` that the slots of a validated array use, from the buffer's begin; 0 for a validity buffer without
 * nulls. */
uint64_t ald__layout_used(const ald__type *type, const struct ArrowArray *array, int64_t index);

/* Bytes of all buffers of an array, children and dictionaries included, and of what describes them: about what it takes
 * in memory. */
uint64_t ald__layout_memory(const struct ArrowSchema *schema, const struct ArrowArray *array);

/* Element `i` of a buffer of little-endian integers of `width` bytes (1, 2, 4, 8) at any address. */
int64_t ald__layout_signed(const void *buffer, uint8_t width, int64_t i);
uint64_t ald__layout_unsigned(const void *buffer, uint8_t width, int64_t i);

/* The run of a run-end encoded array that holds its slot `row` < length: index of run_ends and values. */
int64_t ald__layout_run(const struct ArrowArray *array, uint8_t run_end_width, int64_t row);

#endif
