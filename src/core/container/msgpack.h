/* SPDX-License-Identifier: MIT */
/* MessagePack, as strict as FORMAT.md §3 asks. */
#ifndef CORE_CONTAINER_MSGPACK_H
#define CORE_CONTAINER_MSGPACK_H

#include <stddef.h>
#include <stdint.h>

#include "ald/io.h"
#include "ald/value.h"

#define ALD__MSGPACK_DEPTH 32 /* levels; a scalar inside 32 containers is too deep */
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

/* Whether the value under `key` of the map at data[0 .. size) is a uint64 in its 9-byte form. The bytes were decoded
 * before; only the top level of `map_key`'s map is looked at. */
int ald__msgpack_is_wide(const uint8_t *data, size_t size, const char *map_key, const char *key);

#endif
