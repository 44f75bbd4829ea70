/* SPDX-License-Identifier: MIT */
/* Values that may not be there. */
#ifndef CARD_VALUE_H
#define CARD_VALUE_H

#include <string.h>

#include "ald/value.h"

static inline int card_is_string(const ald_value *value)
{
    return value != NULL && ald_value_get_type(value) == ALD_VALUE_STRING;
}

static inline int card_is_array(const ald_value *value)
{
    return value != NULL && ald_value_get_type(value) == ALD_VALUE_ARRAY;
}

static inline int card_is_map(const ald_value *value)
{
    return value != NULL && ald_value_get_type(value) == ALD_VALUE_MAP;
}

/* Items or entries; 0 for what is not there. */
static inline size_t card_count(const ald_value *value)
{
    return value != NULL ? ald_value_get_count(value) : 0;
}

/* The bytes of a string; NULL and 0 for all else. */
static inline const char *card_string(const ald_value *value, size_t *size)
{
    *size = 0;
    return card_is_string(value) ? ald_value_get_bytes(value, size) : NULL;
}

static inline const char *card_find_string(const ald_value *map, const char *key, size_t *size)
{
    return card_string(ald_value_find(map, key), size);
}

static inline int card_is_text(const char *data, size_t size, const char *text)
{
    return data != NULL && strlen(text) == size && memcmp(data, text, size) == 0;
}

#endif
