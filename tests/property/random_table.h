/* SPDX-License-Identifier: MIT */
/* Random Arrow schemas and arrays of every type, seeded, and a plain rendering of values to compare them by.
 *
 * Two streams of numbers: `value` decides what the table says, `noise` what must not matter (offsets of slices, bytes
 * under nulls, rows that no list uses, spare room). Tables of one value seed and different noise seeds are equal. */
#ifndef RANDOM_TABLE_H
#define RANDOM_TABLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/type.h"

#define RT_MAX_DEPTH 4

typedef struct rt_random {
    uint64_t value, noise;
} rt_random;

/* splitmix64 */
static inline uint64_t rt_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline int64_t rt_below(uint64_t *state, int64_t n)
{
    return (int64_t)(rt_next(state) % (uint64_t)n);
}

static inline void *rt_calloc(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (p == NULL)
        abort();
    return p;
}

/* ---- Schemas. They come from an allocator that does not fail; a failure ends the test. */

static inline void rt_must(ald_status status)
{
    if (status != ALD_OK)
        abort();
}

static inline void rt_set(struct ArrowSchema *s, const char *format, const char *name,
                          int64_t flags)
{
    rt_must(ald__schema_set_format(s, format, strlen(format), NULL));
    rt_must(ald__schema_set_name(s, name, strlen(name), NULL));
    s->flags = flags;
}

static inline const char *rt_leaf_format(uint64_t *r)
{
    static const char *const formats[] = {
        "n",       "b",           "c",    "C",       "s",          "S",
        "i",       "I",           "l",    "L",       "e",          "f",
        "g",       "z",           "Z",    "vz",      "u",          "U",
        "vu",      "w:1",         "w:7",  "w:16",    "d:9,2,32",   "d:18,4,64",
        "d:38,-3", "d:76,20,256", "tdD",  "tdm",     "tts",        "ttm",
        "ttu",     "ttn",         "tss:", "tsm:UTC", "tsu:+05:30", "tsn:Europe/Berlin",
        "tDs",     "tDm",         "tDu",  "tDn",     "tiM",        "tiD",
        "tin",
    };
    return formats[rt_below(r, (int64_t)(sizeof formats / sizeof formats[0]))];
}

static inline void rt_field(uint64_t *r, const ald_allocator *alloc, const char *name, int nullable,
                            int depth, struct ArrowSchema *out);

static inline void rt_children(uint64_t *r, const ald_allocator *alloc, int depth,
                               struct ArrowSchema *out)
{
    static const char *const names[] = {"a", "b", "", "\xC3\xA9t\xC3\xA9", "a b: c>", "x"};
    for (int64_t i = 0; i < out->n_children; i++)
        rt_field(r, alloc, names[rt_below(r, 6)], (int)rt_below(r, 4) > 0, depth + 1,
                 out->children[i]);
}

static inline void rt_union_field(uint64_t *r, const ald_allocator *alloc, const char *name,
                                  int depth, struct ArrowSchema *out)
{
    size_t count = 1 + (size_t)rt_below(r, 3);
    int id = (int)rt_below(r, 20);
    char format[64] = "";
    size_t used = (size_t)snprintf(format, sizeof format, rt_below(r, 2) ? "+us:" : "+ud:");
    for (size_t i = 0; i < count; i++, id += 1 + (int)rt_below(r, 30))
        used += (size_t)snprintf(format + used, sizeof format - used, "%s%d", i > 0 ? "," : "", id);
    rt_must(ald__schema_new(alloc, count, 0, out, NULL));
    rt_set(out, format, name, ARROW_FLAG_NULLABLE);
    rt_children(r, alloc, depth, out);
}

static inline void rt_map_field(uint64_t *r, const ald_allocator *alloc, const char *name,
                                int64_t flags, int depth, struct ArrowSchema *out)
{
    int sorted = rt_below(r, 4) == 0;
    rt_must(ald__schema_new(alloc, 1, 0, out, NULL));
    rt_set(out, "+m", name, flags | (sorted ? ARROW_FLAG_MAP_KEYS_SORTED : 0));
    rt_must(ald__schema_new(alloc, 2, 0, out->children[0], NULL));
    rt_set(out->children[0], "+s", "entries", 0);
    rt_field(r, alloc, "key", 0, RT_MAX_DEPTH, out->children[0]->children[0]);
    rt_field(r, alloc, "value", 1, depth + 2, out->children[0]->children[1]);
}

static inline void rt_dictionary_field(uint64_t *r, const ald_allocator *alloc, const char *name,
                                       int64_t flags, int depth, struct ArrowSchema *out)
{
    static const char *const indices[] = {"c", "C", "s", "S", "i", "I", "l", "L"};
    int nullable = (flags & ARROW_FLAG_NULLABLE) != 0;
    rt_must(ald__schema_new(alloc, 0, 1, out, NULL));
    rt_set(out, indices[rt_below(r, 8)], name,
           flags | (rt_below(r, 3) == 0 ? ARROW_FLAG_DICTIONARY_ORDERED : 0));
    do {
        if (out->dictionary->release != NULL)
            out->dictionary->release(out->dictionary);
        /* Runs and unions are nullable always, which values of a field that is not may not be. */
        rt_field(r, alloc, "", nullable, nullable ? depth + 1 : RT_MAX_DEPTH, out->dictionary);
    } while (out->dictionary->dictionary != NULL);
    rt_must(ald__schema_set_metadata(out->dictionary, NULL, 0, NULL));
}

static inline void rt_metadata(uint64_t *r, const ald_allocator *alloc, struct ArrowSchema *out)
{
    ald_buffer b = {NULL, 0, 0, alloc};
    if (rt_below(r, 5) != 0)
        return;
    rt_must(ald__metadata_append(&b, "key", 3, "value", (size_t)rt_below(r, 6), NULL));
    rt_must(ald__metadata_append(&b, "ARROW:extension:name", 20, "my.type", 7, NULL));
    rt_must(ald__schema_set_metadata(out, b.data, b.size, NULL));
    ald_buffer_clear(&b);
}

static inline void rt_field(uint64_t *r, const ald_allocator *alloc, const char *name, int nullable,
                            int depth, struct ArrowSchema *out)
{
    static const char *const lists[] = {"+l", "+L", "+vl", "+vL", "+w:0", "+w:1", "+w:3"};
    int64_t flags = nullable ? ARROW_FLAG_NULLABLE : 0;
    int64_t kind = depth >= RT_MAX_DEPTH ? 0 : rt_below(r, 14);
    switch (kind) {
    case 7:
    case 8:
        rt_must(ald__schema_new(alloc, 1, 0, out, NULL));
        rt_set(out, lists[rt_below(r, 7)], name, flags);
        rt_children(r, alloc, depth, out);
        break;
    case 9:
        rt_must(ald__schema_new(alloc, (size_t)rt_below(r, 4), 0, out, NULL));
        rt_set(out, "+s", name, flags);
        rt_children(r, alloc, depth, out);
        break;
    case 10:
        rt_union_field(r, alloc, name, depth, out);
        break;
    case 11:
        rt_map_field(r, alloc, name, flags, depth, out);
        break;
    case 12:
        rt_must(ald__schema_new(alloc, 2, 0, out, NULL));
        rt_set(out, "+r", name, ARROW_FLAG_NULLABLE);
        rt_must(ald__schema_new(alloc, 0, 0, out->children[0], NULL));
        rt_set(out->children[0], rt_below(r, 2) ? "s" : rt_below(r, 2) ? "i" : "l", "run_ends", 0);
        rt_field(r, alloc, "values", 1, depth + 1, out->children[1]);
        break;
    case 13:
        rt_dictionary_field(r, alloc, name, flags, depth, out);
        break;
    default: {
        const char *format = rt_leaf_format(r);
        if (format[0] == 'n' && !nullable)
            format = "b";
        rt_must(ald__schema_new(alloc, 0, 0, out, NULL));
        rt_set(out, format, name, flags);
    }
    }
    rt_metadata(r, alloc, out);
}

/* A table's schema of 0 to 5 columns; the caller releases it. */
static inline void rt_schema(uint64_t seed, const ald_allocator *alloc, struct ArrowSchema *out)
{
    uint64_t r = seed;
    rt_must(ald__schema_new(alloc, (size_t)rt_below(&r, 6), 0, out, NULL));
    rt_set(out, "+s", "", 0);
    rt_children(&r, alloc, 0, out);
    rt_metadata(&r, alloc, out);
}

/* ---- Arrays. */

typedef struct rt_private {
    void *blocks[16];
    size_t block_count;
} rt_private;

static inline void rt_release(struct ArrowArray *a)
{
    rt_private *p = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release != NULL)
            a->children[i]->release(a->children[i]);
    }
    if (a->dictionary != NULL && a->dictionary->release != NULL)
        a->dictionary->release(a->dictionary);
    for (size_t i = 0; i < p->block_count; i++)
        free(p->blocks[i]);
    free(p);
    a->release = NULL;
}

static inline void *rt_block(struct ArrowArray *a, size_t count, size_t size)
{
    rt_private *p = a->private_data;
    void *block = rt_calloc(count, size);
    p->blocks[p->block_count++] = block;
    return block;
}

static inline void rt_array_init(struct ArrowArray *a, size_t buffers, size_t children,
                                 int has_dictionary)
{
    struct ArrowArray *list;
    memset(a, 0, sizeof *a);
    a->private_data = rt_calloc(1, sizeof(rt_private));
    a->release = rt_release;
    a->n_buffers = (int64_t)buffers;
    a->buffers = rt_block(a, buffers, sizeof(void *));
    a->n_children = (int64_t)children;
    if (children > 0) {
        list = rt_block(a, children, sizeof *list);
        a->children = rt_block(a, children, sizeof *a->children);
        for (size_t i = 0; i < children; i++)
            a->children[i] = &list[i];
    }
    if (has_dictionary)
        a->dictionary = rt_block(a, 1, sizeof *a->dictionary);
}

/* The slots of one array: `count` of them behind `offset` others; real[i] tells whether slot i is a value of the table,
 * valid[i] whether it is not null. */
typedef struct rt_slots {
    int64_t count;
    uint8_t *real, *valid;
} rt_slots;

static inline void rt_array(rt_random *r, const struct ArrowSchema *s, int64_t length,
                            const uint8_t *real, struct ArrowArray *out);

static inline uint64_t *rt_source(rt_random *r, int real)
{
    return real ? &r->value : &r->noise;
}

static inline void rt_bit(uint8_t *bits, int64_t i)
{
    bits[i / 8] |= (uint8_t)(1u << (i % 8));
}

/* Chooses offset and spare slots, then nulls; fills the validity buffer. */
static inline void rt_begin(rt_random *r, const struct ArrowSchema *s, const ald__type *t,
                            int64_t length, const uint8_t *real, struct ArrowArray *a,
                            rt_slots *slots)
{
    int64_t nulls = 0, odds = rt_below(&r->value, 3) * 3, spare = rt_below(&r->noise, 4);
    uint8_t *bits;
    a->length = length;
    a->offset = rt_below(&r->noise, 3) ? rt_below(&r->noise, 12) : 0;
    slots->count = a->offset + length + spare;
    slots->real = rt_block(a, (size_t)slots->count, 1);
    slots->valid = rt_block(a, (size_t)slots->count, 1);
    memcpy(slots->real + a->offset, real, (size_t)length);
    memset(slots->valid, 1, (size_t)slots->count);
    if (!t->has_validity || (s->flags & ARROW_FLAG_NULLABLE) == 0)
        return;
    bits = rt_block(a, (size_t)slots->count / 8 + 1, 1);
    for (int64_t i = 0; i < slots->count; i++) {
        slots->valid[i] = rt_below(rt_source(r, slots->real[i]), 10) >= odds;
        if (slots->valid[i])
            rt_bit(bits, i);
        else if (i >= a->offset && i < a->offset + length)
            nulls++;
    }
    a->buffers[0] = nulls > 0 || rt_below(&r->noise, 2) ? bits : NULL;
    if (a->buffers[0] == NULL)
        memset(slots->valid, 1, (size_t)slots->count);
    a->null_count = rt_below(&r->noise, 2) ? -1 : nulls;
}

static inline size_t rt_text(uint64_t *r, uint8_t out[64], int is_text)
{
    size_t size = (size_t)rt_below(r, rt_below(r, 3) ? 13 : 40), i = 0;
    while (i < size) {
        if (is_text && rt_below(r, 10) == 0) {
            memcpy(out + i, "\xE2\x82\xAC", 3);
            i += 3;
        } else {
            out[i++] = (uint8_t)(is_text ? 'a' + rt_below(r, 26) : rt_below(r, 256));
        }
    }
    return i;
}

static inline void rt_fixed(rt_random *r, const ald__type *t, const rt_slots *slots,
                            struct ArrowArray *a)
{
    size_t width = t->bit_width / 8;
    uint8_t *values;
    if (t->id == ALD__BOOL) {
        values = rt_block(a, (size_t)slots->count / 8 + 1, 1);
        for (int64_t i = 0; i < slots->count; i++) {
            if (rt_below(rt_source(r, slots->real[i] && slots->valid[i]), 2))
                rt_bit(values, i);
        }
    } else {
        values = rt_block(a, (size_t)slots->count + 1, width);
        for (int64_t i = 0; i < slots->count; i++) {
            for (size_t k = 0; k < width; k++)
                values[(size_t)i * width + k] =
                    (uint8_t)rt_next(rt_source(r, slots->real[i] && slots->valid[i]));
        }
    }
    a->buffers[1] = values;
}

static inline void rt_put_offset(void *offsets, int large, int64_t i, int64_t value)
{
    if (large)
        ((int64_t *)offsets)[i] = value;
    else
        ((int32_t *)offsets)[i] = (int32_t)value;
}

static inline void rt_binary(rt_random *r, const ald__type *t, const rt_slots *slots,
                             struct ArrowArray *a)
{
    int large = t->id == ALD__LARGE_BINARY || t->id == ALD__LARGE_UTF8;
    int is_text = t->id == ALD__UTF8 || t->id == ALD__LARGE_UTF8;
    void *offsets = rt_block(a, (size_t)slots->count + 1, 8);
    uint8_t *data = rt_block(a, (size_t)slots->count + 1, 64), text[64];
    int64_t at = rt_below(&r->noise, 8);
    rt_put_offset(offsets, large, 0, at);
    for (int64_t i = 0; i < slots->count; i++) {
        size_t size = rt_text(rt_source(r, slots->real[i] && slots->valid[i]), text,
                              is_text && slots->valid[i]);
        memcpy(data + at, text, size);
        at += (int64_t)size;
        rt_put_offset(offsets, large, i + 1, at);
    }
    a->buffers[1] = offsets;
    a->buffers[2] = data;
}

static inline void rt_views(rt_random *r, const ald__type *t, const rt_slots *slots,
                            struct ArrowArray *a)
{
    uint8_t *views = rt_block(a, (size_t)slots->count + 1, 16), *data[3], text[64];
    int64_t *sizes = rt_block(a, 3, sizeof *sizes), count = a->n_buffers - 3;
    for (int64_t i = 0; i < count; i++)
        data[i] = rt_block(a, (size_t)slots->count + 1, 64);
    for (int64_t i = 0; i < slots->count; i++) {
        uint8_t *view = views + 16 * i;
        int32_t size = (int32_t)rt_text(rt_source(r, slots->real[i] && slots->valid[i]), text,
                                        t->id == ALD__UTF8_VIEW);
        int32_t number = (int32_t)rt_below(&r->noise, count), offset;
        if (!slots->valid[i]) {
            for (int k = 0; k < 16; k++)
                view[k] = (uint8_t)rt_next(&r->noise);
            continue;
        }
        memcpy(view, &size, 4);
        memcpy(view + 4, text, size <= 12 ? (size_t)size : 4);
        if (size <= 12)
            continue;
        offset = (int32_t)sizes[number];
        memcpy(view + 8, &number, 4);
        memcpy(view + 12, &offset, 4);
        memcpy(data[number] + offset, text, (size_t)size);
        sizes[number] += size + (slots->real[i] ? 0 : rt_below(&r->noise, 3));
    }
    a->buffers[1] = views;
    for (int64_t i = 0; i < count; i++)
        a->buffers[2 + i] = data[i];
    a->buffers[2 + count] = sizes;
}

static inline void rt_list(rt_random *r, const struct ArrowSchema *s, const ald__type *t,
                           const rt_slots *slots, struct ArrowArray *a)
{
    int large = t->id == ALD__LARGE_LIST;
    void *offsets = rt_block(a, (size_t)slots->count + 1, 8);
    uint8_t *child = rt_block(a, 4 * (size_t)slots->count + 8, 1);
    int64_t at = rt_below(&r->noise, 5);
    rt_put_offset(offsets, large, 0, at);
    for (int64_t i = 0; i < slots->count; i++) {
        int real = slots->real[i] && slots->valid[i];
        int64_t size = rt_below(rt_source(r, real), 4);
        memset(child + at, real, (size_t)size);
        at += size;
        rt_put_offset(offsets, large, i + 1, at);
    }
    a->buffers[1] = offsets;
    rt_array(r, s->children[0], at + rt_below(&r->noise, 3), child, a->children[0]);
}

/* Slots in any order; noise ones may share rows. */
static inline void rt_list_view(rt_random *r, const struct ArrowSchema *s, const ald__type *t,
                                const rt_slots *slots, struct ArrowArray *a)
{
    int large = t->id == ALD__LARGE_LIST_VIEW;
    void *offsets = rt_block(a, (size_t)slots->count + 1, 8);
    void *sizes = rt_block(a, (size_t)slots->count + 1, 8);
    uint8_t *child = rt_block(a, 4 * (size_t)slots->count + 8, 1);
    int64_t at = rt_below(&r->noise, 5);
    for (int64_t i = 0; i < slots->count; i++) {
        int real = slots->real[i] && slots->valid[i];
        int64_t size = rt_below(rt_source(r, real), 4);
        memset(child + at, real, (size_t)size);
        rt_put_offset(offsets, large, i, slots->valid[i] ? at : -7);
        rt_put_offset(sizes, large, i, slots->valid[i] ? size : 1 << 30);
        at += size;
    }
    a->buffers[1] = offsets;
    a->buffers[2] = sizes;
    rt_array(r, s->children[0], at + rt_below(&r->noise, 3), child, a->children[0]);
}

static inline void rt_fixed_list(rt_random *r, const struct ArrowSchema *s, const ald__type *t,
                                 const rt_slots *slots, struct ArrowArray *a)
{
    int64_t size = t->list_size;
    uint8_t *child = rt_block(a, (size_t)(slots->count * size) + 4, 1);
    for (int64_t i = 0; i < slots->count * size; i++)
        child[i] = slots->real[i / size] && slots->valid[i / size];
    rt_array(r, s->children[0], slots->count * size, child, a->children[0]);
}

static inline void rt_struct(rt_random *r, const struct ArrowSchema *s, const rt_slots *slots,
                             struct ArrowArray *a)
{
    uint8_t *child = rt_block(a, (size_t)slots->count, 1);
    for (int64_t i = 0; i < slots->count; i++)
        child[i] = slots->real[i] && slots->valid[i];
    for (int64_t i = 0; i < s->n_children; i++)
        rt_array(r, s->children[i], slots->count, child, a->children[i]);
}

static inline void rt_union(rt_random *r, const struct ArrowSchema *s, const ald__type *t,
                            const rt_slots *slots, struct ArrowArray *a)
{
    int dense = t->id == ALD__DENSE_UNION;
    int8_t *types = rt_block(a, (size_t)slots->count, 1), ids[128];
    int32_t *offsets = rt_block(a, (size_t)slots->count, sizeof *offsets);
    uint8_t *chosen[3] = {NULL};
    int64_t counts[3] = {0};
    rt_must(ald__type_union_ids(s, ids, NULL));
    for (int64_t i = 0; i < s->n_children; i++)
        chosen[i] = rt_block(a, (size_t)slots->count, 1);
    for (int64_t i = 0; i < slots->count; i++) {
        int64_t which = rt_below(rt_source(r, slots->real[i]), s->n_children);
        types[i] = ids[which];
        offsets[i] = (int32_t)counts[which];
        chosen[which][dense ? counts[which] : i] = slots->real[i];
        counts[which]++;
    }
    a->buffers[0] = types;
    if (dense)
        a->buffers[1] = offsets;
    for (int64_t i = 0; i < s->n_children; i++)
        rt_array(r, s->children[i], dense ? counts[i] : slots->count, chosen[i], a->children[i]);
}

/* Whether a run begins at each slot. A run of real slots goes on through the noise between them, or noise would decide how
 * many runs there are. */
static inline void rt_run_starts(rt_random *r, const rt_slots *slots, uint8_t *starts)
{
    int seen = 0, go_on = 0;
    for (int64_t i = 0; i < slots->count; i++) {
        starts[i] = !slots->real[i] || !seen || rt_below(&r->value, 2);
        seen |= slots->real[i];
    }
    for (int64_t i = slots->count - 1; i >= 0; i--) {
        if (slots->real[i])
            go_on = !starts[i];
        else
            starts[i] = !go_on;
    }
}

static inline void rt_run_end(rt_random *r, const struct ArrowSchema *s, const rt_slots *slots,
                              struct ArrowArray *a)
{
    struct ArrowArray *ends = a->children[0];
    uint8_t *child = rt_block(a, (size_t)slots->count + 1, 1), *values, *starts;
    size_t width = s->children[0]->format[0] == 's' ? 2 : s->children[0]->format[0] == 'i' ? 4 : 8;
    int64_t runs = 0;
    rt_array_init(ends, 2, 0, 0);
    ends->offset = rt_below(&r->noise, 3);
    values = rt_block(ends, (size_t)slots->count + 4, 8);
    starts = rt_block(ends, (size_t)slots->count, 1);
    rt_run_starts(r, slots, starts);
    for (int64_t i = 0; i < slots->count; i++) {
        int64_t end = i + 1;
        if (starts[i])
            child[runs++] = slots->real[i];
        memcpy(values + (size_t)(ends->offset + runs - 1) * width, &end, width);
    }
    ends->length = runs;
    ends->buffers[1] = values;
    rt_array(r, s->children[1], runs, child, a->children[1]);
}

static inline void rt_indices(rt_random *r, const struct ArrowSchema *s, const ald__type *t,
                              const rt_slots *slots, struct ArrowArray *a)
{
    int64_t size = 1 + rt_below(&r->value, 9);
    size_t width = t->bit_width / 8;
    uint8_t *indices = rt_block(a, (size_t)slots->count + 1, width), all[16];
    memset(all, 1, sizeof all);
    for (int64_t i = 0; i < slots->count; i++) {
        uint64_t index = slots->valid[i] ? (uint64_t)rt_below(rt_source(r, slots->real[i]), size)
                                         : rt_next(&r->noise);
        memcpy(indices + (size_t)i * width, &index, width);
    }
    a->buffers[1] = indices;
    rt_array(r, s->dictionary, size, all, a->dictionary);
}

static inline size_t rt_buffer_count(rt_random *r, const ald__type *t)
{
    if (t->id == ALD__UTF8_VIEW || t->id == ALD__BINARY_VIEW)
        return 4 + (size_t)rt_below(&r->noise, 3);
    return t->buffer_count;
}

/* An array of `length` rows; real[i] tells whether row i is a value of the table or noise. */
static inline void rt_array(rt_random *r, const struct ArrowSchema *s, int64_t length,
                            const uint8_t *real, struct ArrowArray *out)
{
    rt_slots slots;
    ald__type t;
    rt_must(ald__type_of(s, &t, NULL));
    rt_array_init(out, rt_buffer_count(r, &t), (size_t)s->n_children, s->dictionary != NULL);
    rt_begin(r, s, &t, length, real, out, &slots);
    switch (t.id) {
    case ALD__NULL:
        out->null_count = length;
        return;
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        rt_binary(r, &t, &slots, out);
        return;
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        rt_views(r, &t, &slots, out);
        return;
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        rt_list(r, s, &t, &slots, out);
        return;
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        rt_list_view(r, s, &t, &slots, out);
        return;
    case ALD__FIXED_LIST:
        rt_fixed_list(r, s, &t, &slots, out);
        return;
    case ALD__STRUCT:
        rt_struct(r, s, &slots, out);
        return;
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        rt_union(r, s, &t, &slots, out);
        return;
    case ALD__RUN_END:
        rt_run_end(r, s, &slots, out);
        return;
    default:
        if (s->dictionary != NULL)
            rt_indices(r, s, &t, &slots, out);
        else
            rt_fixed(r, &t, &slots, out);
    }
}

/* A record batch of 0 to 70 rows; the caller releases it. */
static inline void rt_batch(uint64_t value_seed, uint64_t noise_seed, const struct ArrowSchema *s,
                            struct ArrowArray *out)
{
    rt_random r = {value_seed, noise_seed};
    uint8_t real[80];
    memset(real, 1, sizeof real);
    rt_array(&r, s, rt_below(&r.value, 71), real, out);
}

/* ---- Rendering. Dictionaries and run ends give plain values. */

typedef struct rt_out {
    char *data;
    size_t size, capacity;
} rt_out;

static inline void rt_put(rt_out *o, const void *data, size_t size)
{
    if (o->size + size + 1 > o->capacity) {
        o->capacity = 2 * (o->size + size) + 64;
        o->data = realloc(o->data, o->capacity);
        if (o->data == NULL)
            abort();
    }
    if (size > 0)
        memcpy(o->data + o->size, data, size);
    o->size += size;
    o->data[o->size] = '\0';
}

static inline void rt_put_hex(rt_out *o, const uint8_t *data, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        char pair[2] = {digits[data[i] >> 4], digits[data[i] & 15]};
        rt_put(o, pair, 2);
    }
}

static inline int64_t rt_load(const void *base, int64_t i, size_t width, int is_signed)
{
    const uint8_t *p = (const uint8_t *)base + (size_t)i * width;
    uint64_t v = 0;
    memcpy(&v, p, width);
    if (is_signed && width < 8 && (v >> (8 * width - 1)) != 0)
        v |= UINT64_MAX << (8 * width);
    return (int64_t)v;
}

static inline void rt_render(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row,
                             rt_out *o);

static inline void rt_render_rows(const struct ArrowSchema *s, const struct ArrowArray *a,
                                  int64_t first, int64_t count, rt_out *o)
{
    rt_put(o, "[", 1);
    for (int64_t i = 0; i < count; i++) {
        rt_render(s, a, first + i, o);
        rt_put(o, ",", 1);
    }
    rt_put(o, "]", 1);
}

static inline void rt_render_union(const struct ArrowSchema *s, const ald__type *t,
                                   const struct ArrowArray *a, int64_t at, rt_out *o)
{
    int8_t ids[128];
    char text[16];
    int64_t id = rt_load(a->buffers[0], at, 1, 1);
    int64_t row = t->id == ALD__DENSE_UNION ? rt_load(a->buffers[1], at, 4, 1) : at;
    rt_must(ald__type_union_ids(s, ids, NULL));
    for (int64_t i = 0; i < s->n_children; i++) {
        if (ids[i] != id)
            continue;
        rt_put(o, text, (size_t)snprintf(text, sizeof text, "%d=", (int)id));
        rt_render(s->children[i], a->children[i], row, o);
        return;
    }
    rt_put(o, "!", 1);
}

static inline void rt_render_nested(const struct ArrowSchema *s, const ald__type *t,
                                    const struct ArrowArray *a, int64_t at, rt_out *o)
{
    int large = t->id == ALD__LARGE_LIST || t->id == ALD__LARGE_LIST_VIEW;
    size_t width = large ? 8 : 4;
    int64_t first, run = 0;
    switch (t->id) {
    case ALD__STRUCT:
        rt_put(o, "{", 1);
        for (int64_t i = 0; i < s->n_children; i++) {
            rt_render(s->children[i], a->children[i], at, o);
            rt_put(o, ";", 1);
        }
        rt_put(o, "}", 1);
        return;
    case ALD__FIXED_LIST:
        rt_render_rows(s->children[0], a->children[0], at * t->list_size, t->list_size, o);
        return;
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        rt_render_rows(s->children[0], a->children[0], rt_load(a->buffers[1], at, width, 1),
                       rt_load(a->buffers[2], at, width, 1), o);
        return;
    case ALD__RUN_END:
        width = s->children[0]->format[0] == 's' ? 2 : s->children[0]->format[0] == 'i' ? 4 : 8;
        while (rt_load(a->children[0]->buffers[1], a->children[0]->offset + run, width, 1) <= at)
            run++;
        rt_render(s->children[1], a->children[1], run, o);
        return;
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        rt_render_union(s, t, a, at, o);
        return;
    default:
        first = rt_load(a->buffers[1], at, width, 1);
        rt_render_rows(s->children[0], a->children[0], first,
                       rt_load(a->buffers[1], at + 1, width, 1) - first, o);
    }
}

static inline void rt_render_text(const ald__type *t, const struct ArrowArray *a, int64_t at,
                                  rt_out *o)
{
    int large = t->id == ALD__LARGE_BINARY || t->id == ALD__LARGE_UTF8;
    size_t width = large ? 8 : 4;
    int64_t first;
    rt_put(o, "'", 1);
    if (t->id == ALD__UTF8_VIEW || t->id == ALD__BINARY_VIEW) {
        const uint8_t *view = (const uint8_t *)a->buffers[1] + 16 * at;
        int64_t size = rt_load(view, 0, 4, 1);
        const uint8_t *data = view + 4;
        if (size > 12)
            data = (const uint8_t *)a->buffers[2 + rt_load(view, 2, 4, 1)] + rt_load(view, 3, 4, 1);
        rt_put_hex(o, data, (size_t)size);
        return;
    }
    first = rt_load(a->buffers[1], at, width, 1);
    rt_put_hex(o, (const uint8_t *)a->buffers[2] + first,
               (size_t)(rt_load(a->buffers[1], at + 1, width, 1) - first));
}

/* Row `row`, without the array's own offset. */
static inline void rt_render(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row,
                             rt_out *o)
{
    int64_t at = a->offset + row;
    ald__type t;
    rt_must(ald__type_of(s, &t, NULL));
    if (t.id == ALD__NULL || (t.has_validity && a->null_count != 0 && a->buffers[0] != NULL &&
                              (((const uint8_t *)a->buffers[0])[at / 8] >> (at % 8) & 1) == 0)) {
        rt_put(o, "~", 1);
        return;
    }
    if (s->dictionary != NULL) {
        int64_t index = rt_load(a->buffers[1], at, t.bit_width / 8, t.id <= ALD__INT64);
        rt_render(s->dictionary, a->dictionary, index, o);
    } else if (t.id >= ALD__LIST) {
        rt_render_nested(s, &t, a, at, o);
    } else if (t.id >= ALD__BINARY && t.id != ALD__FIXED_BINARY) {
        rt_render_text(&t, a, at, o);
    } else if (t.id == ALD__BOOL) {
        rt_put(o, (((const uint8_t *)a->buffers[1])[at / 8] >> (at % 8) & 1) ? "T" : "F", 1);
    } else {
        size_t width = t.bit_width / 8;
        rt_put_hex(o, (const uint8_t *)a->buffers[1] + (size_t)at * width, width);
    }
}

/* All rows of a batch, a line each. */
static inline void rt_render_batch(const struct ArrowSchema *s, const struct ArrowArray *a,
                                   rt_out *o)
{
    for (int64_t i = 0; i < a->length; i++) {
        rt_render(s, a, i, o);
        rt_put(o, "\n", 1);
    }
}

/* Whether the written bytes may differ though the values are equal: layouts whose children are not in step with their
 * rows keep some of the noise. */
static inline int rt_keeps_noise(const struct ArrowSchema *s)
{
    ald__type t;
    rt_must(ald__type_of(s, &t, NULL));
    if (t.id == ALD__BINARY_VIEW || t.id == ALD__UTF8_VIEW || t.id == ALD__LIST_VIEW ||
        t.id == ALD__LARGE_LIST_VIEW || t.id == ALD__SPARSE_UNION || t.id == ALD__DENSE_UNION ||
        t.id == ALD__RUN_END)
        return 1;
    for (int64_t i = 0; i < s->n_children; i++) {
        if (rt_keeps_noise(s->children[i]))
            return 1;
    }
    return s->dictionary != NULL && rt_keeps_noise(s->dictionary);
}

#endif
