/* SPDX-License-Identifier: MIT */
/* Record batches as the packed codec sees them, made from random numbers, packed, and rebuilt. */
#ifndef PACKED_FIXTURE_H
#define PACKED_FIXTURE_H

#include "core/base/buf.h"
#include "core/codec/packed/packed.h"

#include "check.h"
#include "check_alloc.h"

#define FIXTURE_NODES 24
#define FIXTURE_PLACES 72

typedef struct fixture {
    uint64_t random;
    ald__packed_node nodes[FIXTURE_NODES];
    ald__packed_place places[FIXTURE_PLACES];
    ald__packed_layout layout;
    uint8_t *body;
    size_t body_size, body_room;
} fixture;

static inline uint64_t fixture_next(fixture *f)
{
    uint64_t z = (f->random += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline uint64_t fixture_below(fixture *f, uint64_t n)
{
    return n == 0 ? 0 : fixture_next(f) % n;
}

static inline void fixture_init(fixture *f, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->random = seed * 2654435761u + 17;
}

static inline void fixture_clear(fixture *f)
{
    free(f->body);
    memset(f, 0, sizeof *f);
}

/* Zeroed bytes of the next buffer. The pointer is good until the next call. */
static inline uint8_t *fixture_place(fixture *f, size_t size)
{
    size_t padded = (size + 7) & ~(size_t)7;
    ald__packed_place *p = &f->places[f->layout.place_count++];
    if (f->body_size + padded + 8 > f->body_room) {
        f->body_room = (f->body_size + padded) * 2 + 64;
        f->body = realloc(f->body, f->body_room);
    }
    p->begin = f->body_size;
    p->size = size;
    memset(f->body + f->body_size, 0, padded + 8);
    f->body_size += padded;
    f->nodes[f->layout.node_count - 1].place_count++;
    return f->body + p->begin;
}

/* A node with its validity: about one slot in `nulls` has no value; 0: no validity buffer. Returns a copy of the bits, or
 * NULL, that the caller frees. */
static inline uint8_t *fixture_node(fixture *f, uint8_t type, uint32_t width, size_t n,
                                    uint64_t nulls, int top)
{
    ald__packed_node *node = &f->nodes[f->layout.node_count++];
    uint8_t *bits, *copy;
    memset(node, 0, sizeof *node);
    node->column = "c";
    node->type = type;
    node->width = width;
    node->has_validity = 1;
    node->top = (uint8_t)top;
    node->first_place = f->layout.place_count;
    node->length = n;
    f->layout.column_count += (uint32_t)top;
    if (nulls == 0) {
        (void)fixture_place(f, 0);
        return NULL;
    }
    bits = fixture_place(f, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        if (fixture_below(f, nulls) != 0)
            bits[i / 8] = (uint8_t)(bits[i / 8] | (1u << (i % 8)));
        else
            node->null_count++;
    }
    copy = malloc((n + 7) / 8 + 1);
    memcpy(copy, bits, (n + 7) / 8);
    return copy;
}

static inline int fixture_valid(const uint8_t *bits, size_t i)
{
    return bits == NULL || ((bits[i / 8] >> (i % 8)) & 1) != 0;
}

static inline void fixture_seal(fixture *f)
{
    f->layout.nodes = f->nodes;
    f->layout.places = f->places;
    f->layout.body_size = f->body_size;
}

/* Rebuilds what a stored chunk says of the layout; the head must be `head`. */
static inline ald_status fixture_rebuild(const ald__packed_layout *layout, uint8_t compression,
                                         const uint8_t *stored, size_t size, const uint8_t *head,
                                         size_t head_size, uint8_t *body,
                                         const ald_allocator *alloc, ald_error *err)
{
    ald__packed_at at = {7, 0, NULL, err};
    ald__packed_directory directory;
    ald__packed_frames frames;
    ald__packed_frame frame;
    ald__unpacker *unpacker = NULL;
    const uint8_t *bytes, *inflated;
    uint8_t *table = NULL;
    size_t table_size = 0, directory_size;
    uint32_t first;
    ald_status st =
        ald__packed_directory_size(&at, stored, size < 16 ? size : 16, size, &directory_size);
    if (st == ALD_OK)
        st = ald__packed_directory_read(&at, stored, directory_size, size,
                                        layout->body_size + head_size, &directory);
    if (st == ALD_OK)
        st = ald__unpacker_new(compression, alloc, &unpacker, err);
    if (st != ALD_OK)
        return st;
    first = ald__packed_inflated_size(&directory, 0);
    bytes = stored + directory_size;
    st = ald__unpacker_inflate(unpacker, &at, bytes, ald__packed_stored_size(&directory, 0), first,
                               &inflated);
    if (st == ALD_OK && first < 4)
        st = ald__packed_bad(&at, "head", first);
    if (st == ALD_OK) {
        memcpy(&first, inflated, 4);
        table_size = first;
        if (4 + (uint64_t)table_size + head_size != ald__packed_inflated_size(&directory, 0) ||
            memcmp(inflated + 4 + table_size, head, head_size) != 0)
            st = ald__packed_bad(&at, "table size", table_size);
    }
    if (st == ALD_OK) {
        table = malloc(table_size + 1);
        memcpy(table, inflated + 4, table_size);
        bytes += ald__packed_stored_size(&directory, 0);
    }
    memset(&frames, 0, sizeof frames);
    frames.layout = layout;
    frames.directory = &directory;
    frames.table = table;
    frames.table_size = table_size;
    while (st == ALD_OK) {
        st = ald__packed_frames_next(&frames, &at, &frame);
        if (st != ALD_OK || frame.index == 0)
            break;
        st = ald__packed_frame_rebuild(unpacker, &frames, &frame, &at, bytes,
                                       ald__packed_stored_size(&directory, frame.index), body);
        bytes += ald__packed_stored_size(&directory, frame.index);
    }
    free(table);
    ald__unpacker_free(unpacker);
    return st;
}

#endif
