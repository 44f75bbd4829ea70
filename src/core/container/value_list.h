/* SPDX-License-Identifier: MIT */
/* Maps of many keys, filled without a look-up for each. */
#ifndef CORE_CONTAINER_VALUE_LIST_H
#define CORE_CONTAINER_VALUE_LIST_H

#include <stddef.h>

#include "ald/value.h"

/* Appends an entry without looking whether the key is there already. NULL: no memory, or not a map. */
ald_value *ald__value_add(ald_value *map, const char *key, size_t key_size);
/* A key that occurs more than once, or NULL. n log n in the number of keys. */
ALD_NODISCARD ald_status ald__value_find_twice(const ald_value *map, const char **key,
                                               size_t *key_size, ald_error *err);

#endif
