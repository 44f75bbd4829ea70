/* SPDX-License-Identifier: MIT */
/* An inner node names the first bit in which the keys below it differ; on the way down byte and bit only go forward. */
#include "core/arrow/key_index.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/fail.h"

#define KEY_LEAF 0x80000000u
#define KEY_MAX_ENTRIES 0x7FFFFFFFu

typedef struct key_entry {
    size_t at, size;
    uint32_t number;
} key_entry;

typedef struct key_node {
    size_t byte;
    uint32_t child[2]; /* of a node, or of an entry with KEY_LEAF */
    uint8_t mask;      /* the bit */
} key_node;

void ald__key_index_init(ald__key_index *index, const ald_allocator *alloc)
{
    memset(index, 0, sizeof *index);
    index->alloc = *alloc;
    index->bytes.alloc = &index->alloc;
    index->entries.alloc = &index->alloc;
    index->nodes.alloc = &index->alloc;
}

void ald__key_index_clear(ald__key_index *index)
{
    ald_buffer_clear(&index->bytes);
    ald_buffer_clear(&index->entries);
    ald_buffer_clear(&index->nodes);
}

static key_node *key_nodes(const ald__key_index *index)
{
    return (void *)index->nodes.data;
}

static const key_entry *key_entries(const ald__key_index *index)
{
    return (const void *)index->entries.data;
}

static unsigned key_side(const key_node *node, const uint8_t *key, size_t size)
{
    return node->byte < size && (key[node->byte] & node->mask) != 0;
}

/* The entry that the key's own bits lead to. */
static const key_entry *key_nearest(const ald__key_index *index, const uint8_t *key, size_t size)
{
    uint32_t at = index->root;
    while ((at & KEY_LEAF) == 0) {
        const key_node *node = &key_nodes(index)[at];
        at = node->child[key_side(node, key, size)];
    }
    return &key_entries(index)[at & ~KEY_LEAF];
}

/* First bit in which two keys differ; 0: they are the same. */
static uint8_t key_difference(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                              size_t *byte)
{
    size_t size = a_size < b_size ? a_size : b_size, i = 0;
    uint8_t bits, mask = 0x80;
    while (i < size && a[i] == b[i])
        i++;
    if (i == size)
        return 0;
    bits = a[i] ^ b[i];
    while ((bits & mask) == 0)
        mask >>= 1;
    *byte = i;
    return mask;
}

/* Hangs a new leaf where the difference belongs. Room for the node was reserved. */
static void key_insert(ald__key_index *index, const uint8_t *key, size_t size, uint32_t leaf,
                       size_t byte, uint8_t mask)
{
    uint32_t *link = &index->root;
    uint32_t number = (uint32_t)(index->nodes.size / sizeof(key_node));
    key_node added = {0};
    unsigned side;
    while ((*link & KEY_LEAF) == 0) {
        key_node *node = &key_nodes(index)[*link];
        if (node->byte > byte || (node->byte == byte && node->mask < mask))
            break;
        link = &node->child[key_side(node, key, size)];
    }
    added.byte = byte;
    added.mask = mask;
    side = key_side(&added, key, size);
    added.child[side] = leaf;
    added.child[1 - side] = *link;
    *link = number;
    memcpy(index->nodes.data + index->nodes.size, &added, sizeof added);
    index->nodes.size += sizeof added;
}

ald_status ald__key_index_put(ald__key_index *index, const uint8_t *key, size_t size,
                              uint32_t number, uint32_t *out, ald_error *err)
{
    size_t count = index->entries.size / sizeof(key_entry), byte = 0;
    key_entry entry = {index->bytes.size, size, number};
    uint8_t mask = 0;
    if (count > 0) {
        const key_entry *nearest = key_nearest(index, key, size);
        mask = key_difference(key, size, index->bytes.data + nearest->at, nearest->size, &byte);
        *out = nearest->number;
        if (mask == 0)
            return ALD_OK;
    }
    if (count >= KEY_MAX_ENTRIES)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a dictionary of 2,147,483,648 or more values");
    ALD_TRY(ald__buffer_reserve(&index->nodes, sizeof(key_node), err));
    ALD_TRY(ald__buffer_reserve(&index->entries, sizeof entry, err));
    ALD_TRY(ald__buffer_append(&index->bytes, key, size, err));
    ALD_TRY(ald__buffer_append(&index->entries, &entry, sizeof entry, err));
    if (count == 0)
        index->root = KEY_LEAF;
    else
        key_insert(index, key, size, KEY_LEAF | (uint32_t)count, byte, mask);
    *out = number;
    return ALD_OK;
}
