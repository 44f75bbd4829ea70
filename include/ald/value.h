/* SPDX-License-Identifier: MIT */
/* A tree of values: what MessagePack metadata holds, with unknown keys kept.
 *
 * A tree belongs to its root: ald_value_free(root) frees every node, and pointers to nodes and strings are borrowed
 * until then. Setters copy their arguments. Not thread-safe while it is changed. */
#ifndef ALD_VALUE_H
#define ALD_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/export.h"

ALD_BEGIN_DECLS

typedef enum ald_value_type {
    ALD_VALUE_NIL = 0,
    ALD_VALUE_BOOL = 1,
    ALD_VALUE_INT = 2,  /* negative integers */
    ALD_VALUE_UINT = 3, /* zero and above */
    ALD_VALUE_FLOAT = 4,
    ALD_VALUE_STRING = 5, /* UTF-8 */
    ALD_VALUE_BIN = 6,
    ALD_VALUE_ARRAY = 7,
    ALD_VALUE_MAP = 8, /* string keys, each once, order kept */
    ALD_VALUE_EXT = 9  /* MessagePack extension: ext_type and bytes */
} ald_value_type;

typedef struct ald_value ald_value;

/* A new nil root. The allocator is copied. */
ALD_API ALD_NODISCARD ald_status ald_value_new(const ald_allocator *alloc, ald_value **out,
                                               ald_error *err);
/* `root` as ald_value_new made it, or NULL. */
ALD_API void ald_value_free(ald_value *root);
/* A deep copy as a new root. */
ALD_API ALD_NODISCARD ald_status ald_value_copy(const ald_allocator *alloc, const ald_value *from,
                                                ald_value **out, ald_error *err);

ALD_API ald_value_type ald_value_get_type(const ald_value *v);
ALD_API int ald_value_get_bool(const ald_value *v);
ALD_API int64_t ald_value_get_int(const ald_value *v);   /* INT, and UINT up to INT64_MAX; else 0 */
ALD_API uint64_t ald_value_get_uint(const ald_value *v); /* UINT; else 0 */
ALD_API double ald_value_get_float(const ald_value *v); /* FLOAT, or an integer converted; else 0 */
/* Bytes of a STRING (NUL-terminated behind its size), BIN or EXT; else NULL and 0. */
ALD_API const char *ald_value_get_bytes(const ald_value *v, size_t *size);
ALD_API int8_t ald_value_get_ext_type(const ald_value *v);
/* Items of an ARRAY or entries of a MAP; else 0. */
ALD_API size_t ald_value_get_count(const ald_value *v);
ALD_API const ald_value *ald_value_get_item(const ald_value *v, size_t index);
ALD_API const char *ald_value_get_key(const ald_value *map, size_t index, size_t *size);
/* The entry of a map, or NULL: no such key, or `map` is NULL or no map. */
ALD_API const ald_value *ald_value_find(const ald_value *map, const char *key);

/* Each makes `v`, a node of a tree, that value; what it held is dropped. */
ALD_API void ald_value_set_nil(ald_value *v);
ALD_API void ald_value_set_bool(ald_value *v, int value);
ALD_API void ald_value_set_int(ald_value *v, int64_t value);
ALD_API void ald_value_set_uint(ald_value *v, uint64_t value);
ALD_API void ald_value_set_float(ald_value *v, double value);
ALD_API ALD_NODISCARD ald_status ald_value_set_string(ald_value *v, const char *data, size_t size,
                                                      ald_error *err);
ALD_API ALD_NODISCARD ald_status ald_value_set_bin(ald_value *v, const void *data, size_t size,
                                                   ald_error *err);
ALD_API ALD_NODISCARD ald_status ald_value_set_ext(ald_value *v, int8_t type, const void *data,
                                                   size_t size, ald_error *err);
ALD_API void ald_value_set_array(ald_value *v);
ALD_API void ald_value_set_map(ald_value *v);
/* A deep copy of `from`, a node of another tree or another node of this one that does not hold `v`. */
ALD_API ALD_NODISCARD ald_status ald_value_assign(ald_value *v, const ald_value *from,
                                                  ald_error *err);
/* Appends a nil item and returns it; NULL: no memory, or not an array. Earlier pointers stay valid. */
ALD_API ald_value *ald_value_append(ald_value *array);
/* The entry under this key, made (nil) if need be; NULL: no memory, or not a map. */
ALD_API ald_value *ald_value_put(ald_value *map, const char *key, size_t key_size);
/* Drops an entry; no such key is fine. */
ALD_API void ald_value_remove(ald_value *map, const char *key);

ALD_END_DECLS
#endif
