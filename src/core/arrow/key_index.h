/* SPDX-License-Identifier: MIT */
/* Numbers by byte strings of which none is the start of another: a crit-bit tree. Unlike a hash table it has no input that
 * makes it slow. */
#ifndef CORE_ARROW_KEY_INDEX_H
#define CORE_ARROW_KEY_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/io.h"

typedef struct ald__key_index {
    ald_allocator alloc;
    ald_buffer bytes; /* all keys */
    ald_buffer entries;
    ald_buffer nodes;
    uint32_t root;
} ald__key_index;

/* The index must stay where it is. */
void ald__key_index_init(ald__key_index *index, const ald_allocator *alloc);
void ald__key_index_clear(ald__key_index *index);
/* The number of a key, which becomes `number` when it is new. */
ALD_NODISCARD ald_status ald__key_index_put(ald__key_index *index, const uint8_t *key, size_t size,
                                            uint32_t number, uint32_t *out, ald_error *err);

#endif
