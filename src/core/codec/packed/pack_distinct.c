/* SPDX-License-Identifier: MIT */
/* Distinct values, numbered as they first come. The tables give up after a number of collisions in a row, so that made-up
 * values cost no more than others. */
#include <string.h>

#include "core/codec/packed/pack.h"

#define HASH_BITS 17u
#define PROBES_MAX 64u
#define EARLY 8192u /* so many values in, and … */
#define EARLY_DISTINCT 7800u

static uint32_t hash_number(uint64_t v)
{
    v ^= v >> 32;
    v *= 0x9E3779B97F4A7C15ull;
    return (uint32_t)(v >> (64 - HASH_BITS));
}

static uint64_t distinct_value(const ald__numbers *v, size_t i)
{
    uint64_t value = 0;
    switch (v->width) {
    case 1:
        return v->values[i];
    case 2:
        memcpy(&value, v->values + i * 2, 2);
        return value;
    case 4:
        memcpy(&value, v->values + i * 4, 4);
        return value;
    default:
        memcpy(&value, v->values + i * 8, 8);
        return value;
    }
}

/* Slots hold the value's number + 1. */
typedef struct number_table {
    uint32_t *slots;
    uint64_t *values;
    size_t count, limit;
} number_table;

/* The value's number, or SIZE_MAX: too many, or too many like it. */
static size_t number_of_value(number_table *t, uint64_t v)
{
    uint32_t at = hash_number(v), mask = (1u << HASH_BITS) - 1;
    for (uint32_t probes = 0; probes < PROBES_MAX; probes++, at = (at + 1) & mask) {
        if (t->slots[at] == 0) {
            if (t->count >= t->limit)
                return SIZE_MAX;
            t->values[t->count++] = v;
            t->slots[at] = (uint32_t)t->count;
            return t->count - 1;
        }
        if (t->values[t->slots[at] - 1] == v)
            return t->slots[at] - 1;
    }
    return SIZE_MAX;
}

static int open_table(ald__pack *pack, size_t n, size_t item, size_t limit, uint32_t **slots,
                      void **values)
{
    size_t bytes = sizeof(uint32_t) << HASH_BITS;
    if (ald__pack_room(pack, &pack->indices, n * sizeof(uint16_t)) == NULL)
        return 0;
    *slots = ald__pack_room(pack, &pack->hash, bytes);
    *values = *slots != NULL ? ald__pack_room(pack, &pack->words, (limit + 1) * item) : NULL;
    if (*values == NULL)
        return 0;
    memset(*slots, 0, bytes);
    return 1;
}

ald_status ald__pack_distinct(ald__pack *pack, const ald__numbers *v, size_t limit, size_t *count)
{
    number_table t = {NULL, NULL, 0, limit};
    uint16_t *indices;
    void *values;
    *count = 0;
    if (!open_table(pack, v->n, sizeof(uint64_t), limit, &t.slots, &values))
        return ALD_E_NOMEM;
    t.values = values;
    indices = (uint16_t *)(void *)pack->indices.data;
    for (size_t i = 0; i < v->n; i++) {
        size_t number = number_of_value(&t, distinct_value(v, i));
        if (number == SIZE_MAX || (i == EARLY && t.count > EARLY_DISTINCT))
            return ALD_OK;
        indices[i] = (uint16_t)number;
    }
    *count = t.count;
    return ALD_OK;
}

/* ---- Words */

static uint64_t hash_text(const uint8_t *p, size_t size)
{
    uint64_t h = size * 0x9E3779B97F4A7C15ull, v;
    for (; size >= 8; p += 8, size -= 8) {
        memcpy(&v, p, 8);
        h = (h ^ v) * 0xD6E8FEB86659FD93ull;
        h ^= h >> 32;
    }
    v = 0;
    memcpy(&v, p, size);
    h = (h ^ v) * 0xD6E8FEB86659FD93ull;
    return (h ^ (h >> 29)) * 0x9E3779B97F4A7C15ull;
}

/* Words are the numbers of the strings that came first; marks are bits of their hashes, which spare comparisons. */
static size_t find_word(const ald__strings *v, uint32_t *slots, uint32_t *words, size_t *count,
                        size_t limit, uint32_t string)
{
    const uint8_t *text = v->data + v->offsets[string];
    size_t size = v->offsets[string + 1] - v->offsets[string];
    uint64_t hash = hash_text(text, size);
    uint32_t at = (uint32_t)(hash >> (64 - HASH_BITS)), mask = (1u << HASH_BITS) - 1;
    uint32_t mark = (uint32_t)hash & 0x7FFFu; /* 15 bits above the 17 of a number + 1 */
    for (uint32_t probes = 0; probes < PROBES_MAX; probes++, at = (at + 1) & mask) {
        uint32_t slot = slots[at], word;
        if (slot == 0) {
            if (*count >= limit)
                return SIZE_MAX;
            words[(*count)++] = string;
            slots[at] = (uint32_t)*count | mark << 17;
            return *count - 1;
        }
        if (slot >> 17 != mark)
            continue;
        word = words[(slot & 0x1FFFFu) - 1];
        if (v->offsets[word + 1] - v->offsets[word] == size &&
            memcmp(v->data + v->offsets[word], text, size) == 0)
            return (slot & 0x1FFFFu) - 1;
    }
    return SIZE_MAX;
}

ald_status ald__pack_words(ald__pack *pack, const ald__strings *v, size_t limit, size_t *count)
{
    uint32_t *slots;
    uint16_t *indices;
    void *words;
    size_t found = 0;
    *count = 0;
    if (!open_table(pack, v->n, sizeof(uint32_t), limit, &slots, &words))
        return ALD_E_NOMEM;
    indices = (uint16_t *)(void *)pack->indices.data;
    for (size_t i = 0; i < v->n; i++) {
        size_t number = find_word(v, slots, words, &found, limit, (uint32_t)i);
        if (number == SIZE_MAX || (i == EARLY && found > EARLY_DISTINCT))
            return ALD_OK;
        indices[i] = (uint16_t)number;
    }
    *count = found;
    return ALD_OK;
}
