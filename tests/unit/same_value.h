/* SPDX-License-Identifier: MIT */
/* Whether two trees of values are the same; the order of a map's entries does not matter, the type of a number does. */
#ifndef SAME_VALUE_H
#define SAME_VALUE_H

#include <string.h>

#include "ald/value.h"

static inline int same_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static inline const ald_value *same_value_entry(const ald_value *map, const char *key, size_t size)
{
    for (size_t i = 0; i < ald_value_get_count(map); i++) {
        size_t found_size = 0;
        const char *found = ald_value_get_key(map, i, &found_size);
        if (same_bytes(found, found_size, key, size))
            return ald_value_get_item(map, i);
    }
    return NULL;
}

static inline int same_value(const ald_value *a, const ald_value *b)
{
    size_t a_size = 0, b_size = 0;
    if (a == NULL || b == NULL)
        return 0;
    const char *a_bytes = ald_value_get_bytes(a, &a_size),
               *b_bytes = ald_value_get_bytes(b, &b_size);
    double x = ald_value_get_float(a), y = ald_value_get_float(b);
    if (ald_value_get_type(a) != ald_value_get_type(b) ||
        ald_value_get_count(a) != ald_value_get_count(b) ||
        !same_bytes(a_bytes, a_size, b_bytes, b_size))
        return 0;
    if (ald_value_get_bool(a) != ald_value_get_bool(b) ||
        ald_value_get_int(a) != ald_value_get_int(b) ||
        ald_value_get_uint(a) != ald_value_get_uint(b) || (x != y && (x == x || y == y)))
        return 0;
    for (size_t i = 0; i < ald_value_get_count(a); i++) {
        size_t size = 0;
        const char *key = ald_value_get_key(a, i, &size);
        const ald_value *other = ald_value_get_type(a) == ALD_VALUE_MAP
                                     ? same_value_entry(b, key, size)
                                     : ald_value_get_item(b, i);
        if (!same_value(ald_value_get_item(a, i), other))
            return 0;
    }
    return 1;
}

#endif
