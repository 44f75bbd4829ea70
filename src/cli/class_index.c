/* SPDX-License-Identifier: MIT */
#include "cli/class_index.h"

#include <stdlib.h>
#include <string.h>

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the values of a column");
}

static uint64_t hash_of(const char *text, size_t size, int is_null)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325) + (uint64_t)is_null;
    for (size_t i = 0; i < size; i++) {
        h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001B3);
    }
    return h ^ h >> 32;
}

static const char *value_of(const class_index *x, size_t number, size_t *size)
{
    size_t begin = number > 0 ? x->ends[number - 1] : 0;
    *size = x->ends[number] - begin;
    return x->text + begin;
}

/* The slot of a value, or the free one where it belongs. */
static uint32_t *slot_of(const class_index *x, const char *text, size_t size, int is_null)
{
    size_t at = (size_t)hash_of(text, size, is_null) & (x->slot_count - 1);
    while (x->slots[at] != 0) {
        size_t number = x->slots[at] - 1, other_size;
        const char *other = value_of(x, number, &other_size);
        if (other_size == size && x->are_null[number] == is_null &&
            (size == 0 || memcmp(other, text, size) == 0)) {
            break;
        }
        at = (at + 1) & (x->slot_count - 1);
    }
    return &x->slots[at];
}

static int grow_slots(class_index *x)
{
    size_t count = x->slot_count == 0 ? 64 : 2 * x->slot_count;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (slots == NULL) {
        return 0;
    }
    free(x->slots);
    x->slots = slots;
    x->slot_count = count;
    for (size_t i = 0; i < x->count; i++) {
        size_t size;
        const char *text = value_of(x, i, &size);
        *slot_of(x, text, size, x->are_null[i]) = (uint32_t)i + 1;
    }
    return 1;
}

/* Room for one more value of `size` bytes. */
static int make_room(class_index *x, size_t size)
{
    if (x->count == x->capacity) {
        size_t capacity = x->capacity == 0 ? 32 : 2 * x->capacity;
        size_t *ends = realloc(x->ends, capacity * sizeof(*ends));
        x->ends = ends != NULL ? ends : x->ends;
        uint8_t *are_null = ends != NULL ? realloc(x->are_null, capacity) : NULL;
        if (are_null == NULL) {
            return 0;
        }
        x->are_null = are_null;
        x->capacity = capacity;
    }
    if (size > x->text_capacity - x->text_size) {
        size_t capacity = 2 * (x->text_size + size) + 256;
        char *text = realloc(x->text, capacity);
        if (text == NULL) {
            return 0;
        }
        x->text = text;
        x->text_capacity = capacity;
    }
    return 2 * (x->count + 1) <= x->slot_count || grow_slots(x);
}

ald_status class_index_find(class_index *x, const char *text, size_t size, int is_null, int add,
                            size_t *number, ald_error *err)
{
    uint32_t *slot = x->slot_count > 0 ? slot_of(x, text, size, is_null) : NULL;
    if (slot != NULL && *slot != 0) {
        *number = *slot - 1;
        return ALD_OK;
    }
    if (!add) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the input changed while it was read");
    }
    if (x->count == CLASS_COUNT_MAX) {
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the column has more than %u different values", CLASS_COUNT_MAX);
    }
    if (!make_room(x, size)) {
        return no_memory(err);
    }
    slot = slot_of(x, text, size, is_null);
    if (size > 0) {
        memcpy(x->text + x->text_size, text, size);
    }
    x->text_size += size;
    x->ends[x->count] = x->text_size;
    x->are_null[x->count] = (uint8_t)is_null;
    *number = x->count++;
    *slot = (uint32_t)x->count;
    return ALD_OK;
}

void class_index_clear(class_index *x)
{
    free(x->text);
    free(x->ends);
    free(x->are_null);
    free(x->slots);
    memset(x, 0, sizeof(*x));
}
