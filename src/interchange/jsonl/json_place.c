/* SPDX-License-Identifier: MIT */
/* Trees of places live in blocks that are freed together. Fields are found by order, then by a seeded hash, so that
 * keys made to collide cost no more than others. */
#include "interchange/jsonl/json_place.h"

#include <string.h>

#include "interchange/jsonl/json_key.h"

#define FEW 8u /* fields that are searched one by one */

static ald__place *new_place(ald__place_tree *tree, const ald__place *parent, ald_error *err)
{
    ald__place *place = ald__json_blocks_alloc(&tree->blocks, 1, sizeof *place, err);
    if (!place)
        return NULL;
    place->parent = parent;
    for (int i = 0; i < ALD__JSON_KINDS; i++)
        place->first[i] = ALD__NEVER;
    return place;
}

ald_status ald__place_tree_init(ald__place_tree *tree, const ald_allocator *alloc, uint64_t seed,
                                ald_error *err)
{
    memset(tree, 0, sizeof *tree);
    ald__json_blocks_init(&tree->blocks, alloc);
    tree->seed = seed;
    tree->root = new_place(tree, NULL, err);
    return tree->root ? ALD_OK : ALD_E_NOMEM;
}

void ald__place_tree_clear(ald__place_tree *tree)
{
    ald__json_blocks_clear(&tree->blocks);
    tree->root = NULL;
}

ald_status ald__place_tree_reset(ald__place_tree *tree, ald_error *err)
{
    ald__json_blocks_reset(&tree->blocks);
    tree->field_count = 0;
    tree->root = new_place(tree, NULL, err);
    return tree->root ? ALD_OK : ALD_E_NOMEM;
}

uint32_t ald__json_hash(const char *data, size_t size, uint64_t seed)
{
    /* Eight bytes a step through a multiplication whose halves are folded; the seed is unknown to who wrote the file. */
    uint64_t h = seed ^ (size * UINT64_C(0x9E3779B97F4A7C15));
    while (size) {
        uint64_t v = 0;
        size_t n = size < 8 ? size : 8;
        memcpy(&v, data, n);
        v ^= h;
        h = v * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
        h *= UINT64_C(0xA0761D6478BD642F) ^ (seed | 1);
        h ^= h >> 29;
        data += n;
        size -= n;
    }
    return (uint32_t)(h ^ (h >> 32));
}

static int same_name(const ald__place *field, const char *name, size_t size)
{
    return field->name_size == size && ald__json_same(field->name, name, size);
}

uint32_t ald__place_find(const ald__place_tree *tree, const ald__place *place, const char *name,
                         size_t size)
{
    uint32_t hash, slot;
    if (!place->slots) {
        uint32_t i = 0;
        while (i < place->field_count && !same_name(place->fields[i], name, size))
            i++;
        return i;
    }
    hash = ald__json_hash(name, size, tree->seed);
    for (slot = hash & (place->slot_count - 1); place->slots[slot];
         slot = (slot + 1) & (place->slot_count - 1)) {
        const ald__place *field = place->fields[place->slots[slot] - 1];
        if (field->hash == hash && same_name(field, name, size))
            return place->slots[slot] - 1;
    }
    return place->field_count;
}

static void put_slot(ald__place *place, uint32_t index)
{
    uint32_t slot = place->fields[index]->hash & (place->slot_count - 1);
    while (place->slots[slot])
        slot = (slot + 1) & (place->slot_count - 1);
    place->slots[slot] = index + 1;
}

/* Room for one more field; what is outgrown stays in the tree's blocks, which at most doubles them. */
static ald_status grow_fields(ald__place_tree *tree, ald__place *place, ald_error *err)
{
    uint32_t capacity = place->field_capacity ? 2 * place->field_capacity : FEW;
    ald__place **fields;
    uint32_t *slots = NULL;
    if (place->field_count < place->field_capacity)
        return ALD_OK;
    fields = ald__json_blocks_alloc(&tree->blocks, capacity, sizeof *fields, err);
    if (fields && capacity > FEW)
        slots = ald__json_blocks_alloc(&tree->blocks, 2 * (size_t)capacity, sizeof *slots, err);
    if (!fields || (capacity > FEW && !slots))
        return ALD_E_NOMEM;
    if (place->field_count)
        memcpy(fields, place->fields, place->field_count * sizeof *fields);
    place->fields = fields;
    place->field_capacity = capacity;
    if (slots) {
        place->slots = slots;
        place->slot_count = 2 * capacity;
        for (uint32_t i = 0; i < place->field_count; i++) {
            fields[i]->hash = ald__json_hash(fields[i]->name, fields[i]->name_size, tree->seed);
            put_slot(place, i);
        }
    }
    return ALD_OK;
}

ald_status ald__place_add(ald__place_tree *tree, ald__place *place, const char *name, size_t size,
                          ald__place **out, ald_error *err)
{
    ald_status status = grow_fields(tree, place, err);
    ald__place *field;
    char *copy;
    if (status != ALD_OK)
        return status;
    if (tree->field_count >= ALD__JSON_MAX_FIELDS || size > UINT32_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "more than %zu different keys", ALD__JSON_MAX_FIELDS);
    field = new_place(tree, place, err);
    copy = field ? ald__json_blocks_alloc(&tree->blocks, 1, size + 1, err) : NULL;
    if (!copy)
        return ALD_E_NOMEM;
    if (size)
        memcpy(copy, name, size);
    field->name = copy;
    field->name_size = (uint32_t)size;
    tree->field_count++;
    place->fields[place->field_count++] = field;
    if (place->slots) {
        field->hash = ald__json_hash(name, size, tree->seed);
        put_slot(place, place->field_count - 1);
    }
    *out = field;
    return ALD_OK;
}

ald_status ald__place_item(ald__place_tree *tree, ald__place *place, ald__place **out,
                           ald_error *err)
{
    if (!place->item)
        place->item = new_place(tree, place, err);
    *out = place->item;
    return place->item ? ALD_OK : ALD_E_NOMEM;
}

ald_status ald__place_numbers(ald__place_tree *tree, ald__place *place, ald_error *err)
{
    if (place->numbers)
        return ALD_OK;
    place->numbers = ald__json_blocks_alloc(&tree->blocks, 1, sizeof *place->numbers, err);
    if (!place->numbers)
        return ALD_E_NOMEM;
    ald__profile_init(place->numbers);
    return ALD_OK;
}

int ald__place_kind_count(const ald__place *place)
{
    int count = 0;
    for (int i = 0; i < ALD__JSON_KINDS; i++)
        count += place->first[i] != ALD__NEVER;
    return count;
}

static ald_status merge_one(ald__place_tree *tree, ald__place *into, const ald__place *from,
                            int stop_at_clash, ald_error *err);

static ald_status merge_fields(ald__place_tree *tree, ald__place *into, const ald__place *from,
                               int stop_at_clash, ald_error *err)
{
    for (uint32_t i = 0; i < from->field_count; i++) {
        const ald__place *source = from->fields[i];
        ald__place *field = NULL;
        ald_status status = ALD_OK;
        uint32_t at = i;
        if (i >= into->field_count || !same_name(into->fields[i], source->name, source->name_size))
            at = ald__place_find(tree, into, source->name, source->name_size);
        if (at < into->field_count)
            field = into->fields[at];
        else
            status = ald__place_add(tree, into, source->name, source->name_size, &field, err);
        if (status == ALD_OK)
            status = merge_one(tree, field, source, stop_at_clash, err);
        if (status != ALD_OK)
            return status;
    }
    return ALD_OK;
}

static ald_status merge_one(ald__place_tree *tree, ald__place *into, const ald__place *from,
                            int stop_at_clash, ald_error *err)
{
    ald_status status = ALD_OK;
    ald__place *item;
    if (from->declared)
        into->declared = from->declared;
    for (int i = 0; i < ALD__JSON_KINDS; i++) {
        if (from->first[i] < into->first[i])
            into->first[i] = from->first[i];
    }
    if (stop_at_clash && ald__place_kind_count(into) > 1)
        return ALD_OK;
    if (from->numbers) {
        status = ald__place_numbers(tree, into, err);
        if (status != ALD_OK)
            return status;
        ald__profile_merge(into->numbers, from->numbers);
    }
    if (from->item) {
        status = ald__place_item(tree, into, &item, err);
        if (status == ALD_OK)
            status = merge_one(tree, item, from->item, stop_at_clash, err);
    }
    if (status == ALD_OK)
        status = merge_fields(tree, into, from, stop_at_clash, err);
    return status;
}

ald_status ald__place_merge(ald__place_tree *into, const ald__place_tree *from, int stop_at_clash,
                            ald_error *err)
{
    return merge_one(into, into->root, from->root, stop_at_clash, err);
}

/* The second smallest of the offsets where kinds first stood. Kinds of one record are told apart by their numbers. */
void ald__place_second_kind(const ald__place *place, uint64_t *where, ald__json_kind *kind)
{
    int first = 0, second = -1;
    for (int i = 1; i < ALD__JSON_KINDS; i++) {
        if (place->first[i] < place->first[first])
            first = i;
    }
    for (int i = 0; i < ALD__JSON_KINDS; i++) {
        if (i != first && (second < 0 || place->first[i] < place->first[second]))
            second = i;
    }
    *where = place->first[second];
    *kind = (ald__json_kind)second;
}

const ald__place *ald__place_clash(const ald__place *place, uint64_t *where, ald__json_kind *kind)
{
    const ald__place *found = NULL, *below;
    uint64_t at;
    ald__json_kind what;
    *where = ALD__NEVER;
    ald__place_second_kind(place, &at, &what);
    if (at != ALD__NEVER) {
        *where = at;
        *kind = what;
        found = place;
    }
    if (place->item && (below = ald__place_clash(place->item, &at, &what)) != NULL && at < *where) {
        *where = at;
        *kind = what;
        found = below;
    }
    for (uint32_t i = 0; i < place->field_count; i++) {
        below = ald__place_clash(place->fields[i], &at, &what);
        if (below && at < *where) {
            *where = at;
            *kind = what;
            found = below;
        }
    }
    return found;
}

const char *ald__json_kind_name(ald__json_kind kind)
{
    static const char *const names[ALD__JSON_KINDS] = {"true or false", "a number", "a string",
                                                       "a list", "an object"};
    return names[kind];
}
