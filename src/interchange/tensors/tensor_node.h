/* SPDX-License-Identifier: MIT */
/* How the bytes of one element lie in a file, and which Arrow type it becomes. */
#ifndef INTERCHANGE_TENSORS_TENSOR_NODE_H
#define INTERCHANGE_TENSORS_TENSOR_NODE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"

/* Levels of lists and structs, so that no recursion here and no type elsewhere gets deeper. */
#define ALD__TENSOR_DEPTH 40
#define ALD__TENSOR_DIMENSIONS 32
#define ALD__TENSOR_COLUMNS 262144u

typedef enum ald__tensor_kind {
    ALD__TENSOR_COPY = 0, /* 1, 2, 4 or 8 bytes as they are, but for their order */
    ALD__TENSOR_BOOL,     /* a byte; not 0 is true */
    ALD__TENSOR_BFLOAT16, /* the upper half of a float32 */
    ALD__TENSOR_TIME,     /* int64 in multiples of `factor`; the least one is null */
    ALD__TENSOR_DAYS,     /* the same, as days in int32 */
    ALD__TENSOR_MONTHS,   /* the same, in months: the first day of one, as days in int32 */
    ALD__TENSOR_FIXED,    /* `width` bytes */
    ALD__TENSOR_BYTES,    /* the same, without the zeros at their end */
    ALD__TENSOR_UCS4,     /* the same in characters of 4 bytes, as UTF-8 */
    ALD__TENSOR_LIST,     /* children[0], `count` times */
    ALD__TENSOR_STRUCT
} ald__tensor_kind;

typedef struct ald__tensor_node {
    uint8_t kind;
    uint8_t swap;    /* the bytes of numbers are in the other order */
    char format[24]; /* Arrow's */
    size_t width;    /* bytes of the whole in the file */
    int64_t factor;
    uint64_t count;
    size_t offset; /* in the struct that it is in */
    const char *name;
    size_t name_size;
    const char
        *was; /* what safetensors calls its dtype, where the type does not say it; else NULL */
    const char *note; /* what a person should know of it; else NULL */
    struct ald__tensor_node *children;
    size_t child_count;
} ald__tensor_node;

/* Blocks that are freed together. */
typedef struct ald__tensor_memory {
    ald_allocator alloc;
    struct ald__tensor_block *last;
} ald__tensor_memory;

/* Zeroed; NULL with err set. */
void *ald__tensor_alloc(ald__tensor_memory *memory, size_t count, size_t size, ald_error *err);
/* The bytes with a NUL behind them. */
char *ald__tensor_text(ald__tensor_memory *memory, const char *text, size_t size, ald_error *err);
void ald__tensor_memory_clear(ald__tensor_memory *memory);

/* Makes *node a list of `count` of what it was. The name goes to the list. */
ALD_NODISCARD ald_status ald__tensor_node_repeat(ald__tensor_memory *memory, uint64_t count,
                                                 ald__tensor_node *node, ald_error *err);

/* Complex numbers are lists of two floats of `width` bytes: `format` is "f" or "g". */
ALD_NODISCARD ald_status ald__tensor_node_complex(ald__tensor_memory *memory, size_t width,
                                                  const char *format, int swap,
                                                  ald__tensor_node *node, ald_error *err);

/* Levels below and with this one. */
size_t ald__tensor_node_depth(const ald__tensor_node *node);

/* Bytes of Arrow memory that an element takes at most; UINT64_MAX: too many to count. */
uint64_t ald__tensor_node_memory(const ald__tensor_node *node);

/* The field, under a name that need not be the node's. */
ALD_NODISCARD ald_status ald__tensor_node_field(const ald__tensor_node *node, const char *name,
                                                size_t name_size, const ald_allocator *alloc,
                                                struct ArrowSchema *out, ald_error *err);

/* Decodes `rows` elements that lie `stride` bytes apart. Messages count rows from `first_row`. On failure *out is
 * released. */
ALD_NODISCARD ald_status ald__tensor_node_decode(const ald__tensor_node *node, const uint8_t *bytes,
                                                 size_t rows, size_t stride, uint64_t first_row,
                                                 const ald_allocator *alloc, struct ArrowArray *out,
                                                 ald_error *err);

#endif
