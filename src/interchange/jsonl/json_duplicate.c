/* SPDX-License-Identifier: MIT */
/* Few keys are compared each with each, many go through a table. */
#include "interchange/jsonl/json_duplicate.h"

#include <string.h>

#include "interchange/jsonl/json_key.h"
#include "interchange/text/mem.h"

#define FEW 12u

static ald_status twice(yyjson_val *key, ald__json_fault *fault)
{
    (void)ald_error_set(&fault->error, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                        "the same key twice in one object");
    ald__json_fault_step(fault, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
    return ALD_E_INVALID_FORMAT;
}

static int same_key(yyjson_val *a, yyjson_val *b)
{
    size_t size = unsafe_yyjson_get_len(a);
    return size == unsafe_yyjson_get_len(b) &&
           ald__json_same(unsafe_yyjson_get_str(a), unsafe_yyjson_get_str(b), size);
}

static ald_status check_few(yyjson_val *object, ald__json_fault *fault)
{
    size_t count = unsafe_yyjson_get_len(object);
    yyjson_val *keys[FEW], *key = unsafe_yyjson_get_first(object);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (same_key(keys[j], key))
                return twice(key, fault);
        }
        keys[i] = key;
        key = unsafe_yyjson_get_next(key + 1);
    }
    return ALD_OK;
}

ald_status ald__json_check_keys(const ald_allocator *alloc, uint64_t seed, yyjson_val *object,
                                ald__json_fault *fault)
{
    size_t count = unsafe_yyjson_get_len(object), slots = 32;
    yyjson_val **table, *key = unsafe_yyjson_get_first(object);
    ald_status status = ALD_OK;
    if (count <= FEW)
        return check_few(object, fault);
    while (slots < 2 * count)
        slots *= 2;
    table = ald__text_alloc(alloc, slots, sizeof *table, &fault->error);
    if (!table)
        return ALD_E_NOMEM;
    for (; count > 0 && status == ALD_OK; count--) {
        size_t at = ald__json_hash(unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key), seed);
        for (at &= slots - 1; table[at] && !same_key(table[at], key); at = (at + 1) & (slots - 1))
            ;
        if (table[at])
            status = twice(key, fault);
        table[at] = key;
        key = unsafe_yyjson_get_next(key + 1);
    }
    ald__text_free(alloc, table, slots, sizeof *table);
    return status;
}

static ald_status check(const ald_allocator *alloc, uint64_t seed, yyjson_val *value,
                        unsigned depth, ald__json_fault *fault)
{
    int is_object = unsafe_yyjson_is_obj(value);
    yyjson_val *item;
    ald_status status = ALD_OK;
    if (!unsafe_yyjson_is_ctn(value))
        return ALD_OK;
    if (depth >= ALD__JSON_MAX_DEPTH)
        return ald_error_set(&fault->error, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "nested deeper than %d levels", ALD__JSON_MAX_DEPTH);
    if (is_object)
        status = ald__json_check_keys(alloc, seed, value, fault);
    item = unsafe_yyjson_get_first(value);
    for (size_t count = unsafe_yyjson_get_len(value); count > 0 && status == ALD_OK; count--) {
        yyjson_val *last = is_object ? item + 1 : item;
        status = check(alloc, seed, last, depth + 1, fault);
        item = unsafe_yyjson_get_next(last);
    }
    return status;
}

ald_status ald__json_check_value(const ald_allocator *alloc, uint64_t seed, yyjson_val *value,
                                 ald__json_fault *fault)
{
    return check(alloc, seed, value, 1, fault);
}
