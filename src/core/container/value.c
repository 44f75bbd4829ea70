/* SPDX-License-Identifier: MIT */
/* The value tree over one arena: what is replaced or removed stays in the arena until the root is freed. A map that grows
 * key by key gets a hash table of its entries, so that n keys take n steps and not n squared. */
#include "ald/value.h"

#include <string.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/container/value_list.h"

#define INDEX_FROM 16u /* entries: below, a look at each is as fast */

typedef struct entry {
    const char *key; /* maps; NUL-terminated */
    size_t key_size;
    ald_value *value;
} entry;

/* Open addressing, at most half full: 1 + the number of an entry, 0 in an empty slot. */
typedef struct key_index {
    size_t mask;    /* slots - 1 */
    size_t indexed; /* the first so many entries of the map are in it */
    uint32_t slots[];
} key_index;

struct ald_value {
    ald__arena *arena;
    ald_value_type type;
    int8_t ext_type;
    union {
        int boolean;
        int64_t i;
        uint64_t u;
        double f;
        struct {
            const char *data;
            size_t size;
        } bytes;
        struct {
            entry *entries;
            size_t count, cap;
            key_index *index; /* of a map, or NULL */
        } list;               /* arrays and maps */
    } as;
};

typedef struct root {
    ald_value value; /* first: the root is its value */
    ald__arena arena;
} root;

ald_status ald_value_new(const ald_allocator *alloc, ald_value **out, ald_error *err)
{
    root *r = ald__alloc_zero(alloc, sizeof *r, err);
    *out = NULL;
    if (r == NULL)
        return ALD_E_NOMEM;
    ald__arena_init(&r->arena, alloc);
    r->value.arena = &r->arena;
    *out = &r->value;
    return ALD_OK;
}

void ald_value_free(ald_value *v)
{
    root *r = (root *)v;
    ald_allocator alloc;
    if (r == NULL)
        return;
    alloc = r->arena.alloc;
    ald__arena_clear(&r->arena);
    ald__release(&alloc, r, sizeof *r);
}

ald_value_type ald_value_get_type(const ald_value *v)
{
    return v->type;
}

int ald_value_get_bool(const ald_value *v)
{
    return v->type == ALD_VALUE_BOOL && v->as.boolean;
}

int64_t ald_value_get_int(const ald_value *v)
{
    if (v->type == ALD_VALUE_INT)
        return v->as.i;
    return v->type == ALD_VALUE_UINT && v->as.u <= INT64_MAX ? (int64_t)v->as.u : 0;
}

uint64_t ald_value_get_uint(const ald_value *v)
{
    return v->type == ALD_VALUE_UINT ? v->as.u : 0;
}

double ald_value_get_float(const ald_value *v)
{
    if (v->type == ALD_VALUE_FLOAT)
        return v->as.f;
    return v->type == ALD_VALUE_UINT  ? (double)v->as.u
           : v->type == ALD_VALUE_INT ? (double)v->as.i
                                      : 0;
}

static int has_bytes(const ald_value *v)
{
    return v->type == ALD_VALUE_STRING || v->type == ALD_VALUE_BIN || v->type == ALD_VALUE_EXT;
}

const char *ald_value_get_bytes(const ald_value *v, size_t *size)
{
    *size = has_bytes(v) ? v->as.bytes.size : 0;
    return has_bytes(v) ? v->as.bytes.data : NULL;
}

int8_t ald_value_get_ext_type(const ald_value *v)
{
    return v->ext_type;
}

static int has_list(const ald_value *v)
{
    return v->type == ALD_VALUE_ARRAY || v->type == ALD_VALUE_MAP;
}

size_t ald_value_get_count(const ald_value *v)
{
    return has_list(v) ? v->as.list.count : 0;
}

const ald_value *ald_value_get_item(const ald_value *v, size_t index)
{
    return index < ald_value_get_count(v) ? v->as.list.entries[index].value : NULL;
}

const char *ald_value_get_key(const ald_value *map, size_t index, size_t *size)
{
    const entry *e;
    if (map->type != ALD_VALUE_MAP || index >= map->as.list.count) {
        *size = 0;
        return NULL;
    }
    e = &map->as.list.entries[index];
    *size = e->key_size;
    return e->key;
}

static int has_key(const entry *e, const char *key, size_t key_size)
{
    return e->key_size == key_size && memcmp(e->key, key, key_size) == 0;
}

/* Seeded with an address, so that nobody can write a file whose keys all meet in one slot. */
static size_t hash_key(const ald_value *map, const char *key, size_t key_size)
{
    uint64_t h = (uint64_t)(uintptr_t)map->arena;
    for (size_t i = 0; i < key_size; i++) {
        h = (h ^ (uint8_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return (size_t)(h ^ h >> 32);
}

/* The slot of this key, or the empty one where it would be. */
static size_t find_slot(const ald_value *map, const char *key, size_t key_size)
{
    const key_index *x = map->as.list.index;
    size_t at = hash_key(map, key, key_size) & x->mask;
    while (x->slots[at] != 0 && !has_key(&map->as.list.entries[x->slots[at] - 1], key, key_size))
        at = (at + 1) & x->mask;
    return at;
}

static entry *find_entry(const ald_value *map, const char *key, size_t key_size)
{
    if (map == NULL || map->type != ALD_VALUE_MAP)
        return NULL;
    const key_index *x = map->as.list.index;
    size_t first = 0;
    if (x != NULL) {
        uint32_t found = x->slots[find_slot(map, key, key_size)];
        if (found != 0)
            return &map->as.list.entries[found - 1];
        first = x->indexed;
    }
    for (size_t i = first; i < map->as.list.count; i++) {
        if (has_key(&map->as.list.entries[i], key, key_size))
            return &map->as.list.entries[i];
    }
    return NULL;
}

/* Room for twice the entries that are there; the old table stays in the arena. Without memory, or of too many, the map does
 * without one. */
static void grow_index(ald_value *map)
{
    size_t slots = 4 * (size_t)INDEX_FROM, count = map->as.list.count;
    map->as.list.index = NULL;
    if (count > UINT32_MAX / 16)
        return;
    while (slots < 4 * count)
        slots *= 2;
    key_index *x =
        ald__arena_alloc(map->arena, sizeof *x + slots * sizeof x->slots[0], NULL); /* zeros */
    if (x == NULL)
        return;
    x->mask = slots - 1;
    map->as.list.index = x;
}

/* All entries into the index, of a map that is changed: ald_value_find changes nothing. */
static void update_index(ald_value *map)
{
    size_t count = map->as.list.count;
    if (count < INDEX_FROM)
        return;
    if (map->as.list.index == NULL || count > map->as.list.index->mask / 2)
        grow_index(map);
    key_index *x = map->as.list.index;
    for (; x != NULL && x->indexed < count; x->indexed++) {
        const entry *e = &map->as.list.entries[x->indexed];
        size_t at = find_slot(map, e->key, e->key_size);
        if (x->slots[at] == 0) /* the first one of a name is found */
            x->slots[at] = (uint32_t)x->indexed + 1;
    }
}

const ald_value *ald_value_find(const ald_value *map, const char *key)
{
    const entry *e = find_entry(map, key, strlen(key));
    return e != NULL ? e->value : NULL;
}

void ald_value_set_nil(ald_value *v)
{
    v->type = ALD_VALUE_NIL;
}

void ald_value_set_bool(ald_value *v, int value)
{
    v->type = ALD_VALUE_BOOL;
    v->as.boolean = value != 0;
}

void ald_value_set_int(ald_value *v, int64_t value)
{
    if (value >= 0) {
        ald_value_set_uint(v, (uint64_t)value);
        return;
    }
    v->type = ALD_VALUE_INT;
    v->as.i = value;
}

void ald_value_set_uint(ald_value *v, uint64_t value)
{
    v->type = ALD_VALUE_UINT;
    v->as.u = value;
}

void ald_value_set_float(ald_value *v, double value)
{
    v->type = ALD_VALUE_FLOAT;
    v->as.f = value;
}

static ald_status set_bytes(ald_value *v, ald_value_type type, const void *data, size_t size,
                            ald_error *err)
{
    char *copy = ald__arena_text(v->arena, data, size, err);
    if (copy == NULL)
        return ALD_E_NOMEM;
    v->type = type;
    v->as.bytes.data = copy;
    v->as.bytes.size = size;
    return ALD_OK;
}

ald_status ald_value_set_string(ald_value *v, const char *data, size_t size, ald_error *err)
{
    return set_bytes(v, ALD_VALUE_STRING, data, size, err);
}

ald_status ald_value_set_bin(ald_value *v, const void *data, size_t size, ald_error *err)
{
    return set_bytes(v, ALD_VALUE_BIN, data, size, err);
}

ald_status ald_value_set_ext(ald_value *v, int8_t type, const void *data, size_t size,
                             ald_error *err)
{
    v->ext_type = type;
    return set_bytes(v, ALD_VALUE_EXT, data, size, err);
}

static void set_list(ald_value *v, ald_value_type type)
{
    v->type = type;
    memset(&v->as.list, 0, sizeof v->as.list);
}

void ald_value_set_array(ald_value *v)
{
    set_list(v, ALD_VALUE_ARRAY);
}

void ald_value_set_map(ald_value *v)
{
    set_list(v, ALD_VALUE_MAP);
}

static entry *add_entry(ald_value *v)
{
    size_t count = v->as.list.count;
    if (count == v->as.list.cap) {
        size_t cap = count < 4 ? 4 : count * 2;
        entry *grown = cap > SIZE_MAX / sizeof *grown
                           ? NULL
                           : ald__arena_alloc(v->arena, cap * sizeof *grown, NULL);
        if (grown == NULL)
            return NULL;
        if (count > 0)
            memcpy(grown, v->as.list.entries, count * sizeof *grown);
        v->as.list.entries = grown;
        v->as.list.cap = cap;
    }
    entry *e = &v->as.list.entries[count];
    e->value = ald__arena_alloc(v->arena, sizeof *e->value, NULL);
    if (e->value == NULL)
        return NULL;
    e->value->arena = v->arena;
    v->as.list.count++;
    return e;
}

ald_value *ald_value_append(ald_value *array)
{
    entry *e = array->type == ALD_VALUE_ARRAY ? add_entry(array) : NULL;
    return e != NULL ? e->value : NULL;
}

ald_value *ald__value_add(ald_value *map, const char *key, size_t key_size)
{
    const char *copy = NULL;
    entry *e = NULL;
    if (map->type == ALD_VALUE_MAP)
        copy = ald__arena_text(map->arena, key, key_size, NULL);
    if (copy != NULL)
        e = add_entry(map);
    if (e == NULL)
        return NULL;
    e->key = copy;
    e->key_size = key_size;
    return e->value;
}

ald_value *ald_value_put(ald_value *map, const char *key, size_t key_size)
{
    if (map->type == ALD_VALUE_MAP)
        update_index(map);
    entry *e = find_entry(map, key, key_size);
    return e != NULL ? e->value : ald__value_add(map, key, key_size);
}

/* Bytes, then length. */
static int compare_keys(const entry *a, const entry *b)
{
    size_t n = a->key_size < b->key_size ? a->key_size : b->key_size;
    int order = memcmp(a->key, b->key, n);
    if (order != 0)
        return order;
    return a->key_size < b->key_size ? -1 : a->key_size > b->key_size;
}

static void sift_down(const entry **heap, size_t top, size_t count)
{
    for (size_t child; (child = 2 * top + 1) < count; top = child) {
        const entry *held = heap[top];
        if (child + 1 < count && compare_keys(heap[child], heap[child + 1]) < 0)
            child++;
        if (compare_keys(held, heap[child]) >= 0)
            return;
        heap[top] = heap[child];
        heap[child] = held;
    }
}

/* Heapsort: no recursion, no bad case. */
static void sort_entries(const entry **items, size_t count)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(items, i, count);
    for (size_t end = count; end-- > 1;) {
        const entry *largest = items[0];
        items[0] = items[end];
        items[end] = largest;
        sift_down(items, 0, end);
    }
}

ald_status ald__value_find_twice(const ald_value *map, const char **key, size_t *key_size,
                                 ald_error *err)
{
    size_t count = ald_value_get_count(map);
    const ald_allocator *alloc = &map->arena->alloc;
    const entry **items;
    *key = NULL;
    *key_size = 0;
    if (count < 2)
        return ALD_OK;
    items = ald__alloc(alloc, count * sizeof(entry *), err);
    if (items == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        items[i] = &map->as.list.entries[i];
    sort_entries(items, count);
    for (size_t i = 1; i < count && *key == NULL; i++) {
        if (compare_keys(items[i - 1], items[i]) == 0) {
            *key = items[i]->key;
            *key_size = items[i]->key_size;
        }
    }
    ald__release(alloc, items, count * sizeof(entry *));
    return ALD_OK;
}

void ald_value_remove(ald_value *map, const char *key)
{
    entry *e = find_entry(map, key, strlen(key));
    size_t behind;
    if (e == NULL)
        return;
    behind = map->as.list.count - (size_t)(e - map->as.list.entries) - 1;
    memmove(e, e + 1, behind * sizeof *e);
    map->as.list.count--;
    map->as.list.index = NULL; /* entries behind it have other numbers */
}

/* Depth is bounded: trees come from MessagePack or JSON of at most 32 levels; deeper ones are refused when written. */
static ald_status copy_into(ald_value *to, const ald_value *from, unsigned depth, ald_error *err)
{
    if (depth > 64)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a value nested too deep");
    if (has_bytes(from)) {
        to->ext_type = from->ext_type;
        return set_bytes(to, from->type, from->as.bytes.data, from->as.bytes.size, err);
    }
    if (!has_list(from)) {
        to->type = from->type;
        to->as = from->as;
        return ALD_OK;
    }
    set_list(to, from->type);
    for (size_t i = 0; i < from->as.list.count; i++) {
        const entry *e = &from->as.list.entries[i];
        entry *made = add_entry(to);
        if (made == NULL)
            return ald__no_memory(err, sizeof *made);
        if (from->type == ALD_VALUE_MAP) {
            made->key = ald__arena_text(to->arena, e->key, e->key_size, err);
            made->key_size = e->key_size;
            if (made->key == NULL)
                return ALD_E_NOMEM;
        }
        ALD_TRY(copy_into(made->value, e->value, depth + 1, err));
    }
    return ALD_OK;
}

ald_status ald_value_assign(ald_value *v, const ald_value *from, ald_error *err)
{
    return copy_into(v, from, 0, err);
}

ald_status ald_value_copy(const ald_allocator *alloc, const ald_value *from, ald_value **out,
                          ald_error *err)
{
    ald_status st = ald_value_new(alloc, out, err);
    if (st != ALD_OK)
        return st;
    st = copy_into(*out, from, 0, err);
    if (st != ALD_OK) {
        ald_value_free(*out);
        *out = NULL;
    }
    return st;
}
