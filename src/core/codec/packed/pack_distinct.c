/* SPDX-License-Identifier: MIT */
/* Distinct values, numbered as they first come. The tables give up after a number of collisions in a row, so that made-up
 * values cost no more than others. */
#include <string.h>

#include "core/codec/packed/pack.h"

#define HASH_BITS_MIN 8u
#define HASH_BITS_MAX 17u
#define PROBES_MAX 64u
#define EARLY 8192u /* so many values in, and … */
#define EARLY_DISTINCT 7800u

static uint32_t hash_number(uint64_t v, uint32_t bits)
{
    v ^= v >> 32;
    v *= 0x9E3779B97F4A7C15ull;
    return (uint32_t)(v >> (64 - bits));
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
    uint32_t bits;
    size_t count, limit;
} number_table;

/* The value's number, or SIZE_MAX: too many, or too many like it. */
static size_t number_of_value(number_table *t, uint64_t v)
{
    uint32_t at = hash_number(v, t->bits), mask = (1u << t->bits) - 1;
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

/* Twice as many slots as there may be values, cleared; 0 bits: no memory. */
static uint32_t open_table(ald__pack *pack, size_t n, size_t item, size_t limit, uint32_t **slots,
                           void **values)
{
    size_t most = n < limit ? n : limit, bytes;
    uint32_t bits = HASH_BITS_MIN;
    while (bits < HASH_BITS_MAX && (1u << bits) < 2 * most)
        bits++;
    bytes = sizeof(uint32_t) << bits;
    if (ald__pack_room(pack, &pack->indices, n * sizeof(uint16_t)) == NULL)
        return 0;
    *slots = ald__pack_room(pack, &pack->hash, bytes);
    *values = *slots != NULL ? ald__pack_room(pack, &pack->words, (limit + 1) * item) : NULL;
    if (*values == NULL)
        return 0;
    memset(*slots, 0, bytes);
    return bits;
}

ald_status ald__pack_distinct(ald__pack *pack, const ald__numbers *v, size_t limit, size_t *count)
{
    number_table t = {.limit = limit};
    uint16_t *indices;
    void *values;
    *count = 0;
    t.bits = open_table(pack, v->n, sizeof(uint64_t), limit, &t.slots, &values);
    if (t.bits == 0)
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

/* What a word is compared by first: its bytes if they are at most eight, else a hash of them. */
static uint64_t key_of_text(const uint8_t *p, size_t size)
{
    uint64_t h = size * 0x9E3779B97F4A7C15ull, v = 0;
    if (size <= 8) {
        memcpy(&v, p, size);
        return v;
    }
    for (; size > 8; p += 8, size -= 8) {
        memcpy(&v, p, 8);
        h = (h ^ v) * 0xD6E8FEB86659FD93ull;
        h ^= h >> 32;
    }
    memcpy(&v, p + size - 8, 8);
    h = (h ^ v) * 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 29);
}

/* The same where eight bytes may be read at p. */
static inline uint64_t key_of_text_inside(const uint8_t *p, size_t size)
{
    uint64_t v;
    if (size > 8)
        return key_of_text(p, size);
    memcpy(&v, p, 8);
    return size > 0 ? v & (UINT64_MAX >> (64 - 8 * size)) : 0;
}

/* Words are the numbers of the strings that came first; slots hold a word's number + 1. */
typedef struct word_table {
    const ald__strings *v;
    uint32_t *slots, *words;
    uint64_t *keys; /* of words */
    uint32_t bits;
    size_t count, limit;
} word_table;

static size_t find_word(word_table *t, uint32_t string)
{
    const uint32_t *offsets = t->v->offsets;
    const uint8_t *text = t->v->data + offsets[string];
    size_t size = offsets[string + 1] - offsets[string];
    uint64_t key = offsets[string] + 8u <= ald__strings_size(t->v) ? key_of_text_inside(text, size)
                                                                   : key_of_text(text, size);
    uint32_t at = hash_number(key + size * 0x9E3779B97F4A7C15ull, t->bits);
    for (uint32_t probes = 0; probes < PROBES_MAX; probes++) {
        uint32_t slot = t->slots[at], word;
        if (slot == 0) {
            if (t->count >= t->limit)
                return SIZE_MAX;
            t->keys[t->count] = key;
            t->words[t->count++] = string;
            t->slots[at] = (uint32_t)t->count;
            return t->count - 1;
        }
        word = t->words[slot - 1];
        if (t->keys[slot - 1] == key && offsets[word + 1] - offsets[word] == size &&
            (size <= 8 || memcmp(t->v->data + offsets[word], text, size) == 0))
            return slot - 1;
        at = (at + 1) & ((1u << t->bits) - 1);
    }
    return SIZE_MAX;
}

ald_status ald__pack_words(ald__pack *pack, const ald__strings *v, size_t limit, size_t *count)
{
    word_table t = {.v = v, .limit = limit};
    uint16_t *indices;
    void *words;
    *count = 0;
    /* keys first: they want the alignment */
    t.bits = open_table(pack, v->n, sizeof(uint64_t) + sizeof(uint32_t), limit, &t.slots, &words);
    if (t.bits == 0)
        return ALD_E_NOMEM;
    t.keys = words;
    t.words = (uint32_t *)(void *)(t.keys + limit + 1);
    indices = (uint16_t *)(void *)pack->indices.data;
    for (size_t i = 0; i < v->n; i++) {
        size_t number = find_word(&t, (uint32_t)i);
        if (number == SIZE_MAX || (i == EARLY && t.count > EARLY_DISTINCT))
            return ALD_OK;
        indices[i] = (uint16_t)number;
    }
    *count = t.count;
    memmove(words, t.words, t.count * sizeof *t.words);
    return ALD_OK;
}
