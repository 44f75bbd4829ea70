/* SPDX-License-Identifier: MIT */
/* ArrowSchema nodes on an ald_allocator, and the C data interface's metadata bytes. */
#ifndef CORE_ARROW_SCHEMA_BUILD_H
#define CORE_ARROW_SCHEMA_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"

/* Types nest to this many levels; a top-level column is level 1, a dictionary's values are on the level of their field. */
#define ALD__MAX_TYPE_DEPTH 64

/* A node with `child_count` released children and, if asked, a released dictionary, to be filled in place with
 * ald__schema_new. Format and name are "", flags 0, no metadata. Its release frees the node and what it holds, so
 * releasing the root is all that a failure needs. The allocator is copied. */
ALD_NODISCARD ald_status ald__schema_new(const ald_allocator *alloc, size_t child_count,
                                         int has_dictionary, struct ArrowSchema *out,
                                         ald_error *err);
/* Copies of the texts, which need no NUL; a NUL inside a text is ALD_E_INVALID_ARG. The node must come from
 * ald__schema_new. */
ALD_NODISCARD ald_status ald__schema_set_format(struct ArrowSchema *schema, const char *format,
                                                size_t size, ald_error *err);
ALD_NODISCARD ald_status ald__schema_set_name(struct ArrowSchema *schema, const char *name,
                                              size_t size, ald_error *err);
/* A copy of encoded metadata (ald__metadata_append); size 0 drops it. */
ALD_NODISCARD ald_status ald__schema_set_metadata(struct ArrowSchema *schema, const void *metadata,
                                                  size_t size, ald_error *err);
/* Whether the node came from ald__schema_new. */
int ald__schema_is_own(const struct ArrowSchema *schema);

/* Name for messages: never NULL. */
static inline const char *ald__schema_name(const struct ArrowSchema *schema)
{
    return schema->name != NULL ? schema->name : "";
}

/* The pairs of encoded metadata (NULL: none), in order. Lengths are trusted, as the C data interface asks. */
typedef struct ald__metadata_iter {
    const uint8_t *next;
    int32_t left; /* pairs */
    const char *key, *value;
    size_t key_size, value_size;
} ald__metadata_iter;

ald__metadata_iter ald__metadata_begin(const char *metadata);
/* Nonzero when there was another pair, now in key and value. */
int ald__metadata_next(ald__metadata_iter *iter);
/* Bytes of encoded metadata; 0 for NULL. */
size_t ald__metadata_size(const char *metadata);
/* Adds a pair to a buffer that holds encoded metadata alone, or is empty. */
ALD_NODISCARD ald_status ald__metadata_append(ald_buffer *out, const char *key, size_t key_size,
                                              const char *value, size_t value_size, ald_error *err);

#endif
