/* SPDX-License-Identifier: MIT */
/* MessagePack, as strict as FORMAT.md §3 asks. */
#ifndef CORE_CONTAINER_MSGPACK_H
#define CORE_CONTAINER_MSGPACK_H

#include <stddef.h>
#include <stdint.h>

#include "ald/io.h"
#include "ald/value.h"

#define ALD__MSGPACK_DEPTH 32         /* levels; a scalar inside 32 containers is too deep */
#define ALD__MSGPACK_VALUES (1 << 20) /* a tree takes about 100 bytes a value */

/* One value that fills the bytes exactly. Map keys are strings, each once in its map; strings are UTF-8. `offset` is the
 * file offset of data. ALD_E_INVALID_FORMAT, or ALD_E_LIMIT_EXCEEDED for the depth. *out is a new root. */
ALD_NODISCARD ald_status ald__msgpack_decode(const ald_allocator *alloc, const uint8_t *data,
                                             size_t size, uint64_t offset, ald_value **out,
                                             ald_error *err);
/* Appends the shortest form; an unsigned integer in a map under a key of `wide_keys` (a NULL-terminated list, may be NULL)
 * takes the 9-byte form. */
ALD_NODISCARD ald_status ald__msgpack_encode(const ald_value *value, const char *const *wide_keys,
                                             ald_buffer *out, ald_error *err);

/* Where a value stands in bytes that decoded well before: its first byte, and for a bin or string its contents. */
typedef struct ald__msgpack_place {
    uint8_t first;
    size_t content, content_size; /* position in the bytes; 0, 0 for other kinds */
} ald__msgpack_place;

/* Follows `depth` keys through nested maps. 0: no such key. */
int ald__msgpack_locate(const uint8_t *data, size_t size, const char *const *path, size_t depth,
                        ald__msgpack_place *out);

#endif
