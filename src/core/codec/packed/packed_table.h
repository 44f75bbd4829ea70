/* SPDX-License-Identifier: MIT */
/* The filter table: one entry a node (F-410). */
#ifndef CORE_CODEC_PACKED_PACKED_TABLE_H
#define CORE_CODEC_PACKED_PACKED_TABLE_H

#include "core/base/buf.h"
#include "core/codec/packed/packed.h"
#include "core/codec/packed/packed_ints.h"

typedef enum ald__packed_filter {
    ALD__FILTER_RAW,
    ALD__FILTER_INTS,
    ALD__FILTER_DICT,
    ALD__FILTER_DECIMAL,
    ALD__FILTER_PLANES,
    ALD__FILTER_LENS,
    ALD__FILTER_STR,
    ALD__FILTER_STRFIX,
    ALD__FILTER_STRDICT,
    ALD__FILTER_STRNUM,
    ALD__FILTER_STRFRONT,
    ALD__FILTER_COUNT
} ald__packed_filter;

#define ALD__PACKED_SLOT_MAX 12u     /* number slots of STRNUM */
#define ALD__PACKED_WORDS_MAX 65536u /* values of a dictionary */
#define ALD__PACKED_INDEX_BITS 16u
#define ALD__PACKED_E_MAX 22u

typedef struct ald__packed_slot {
    uint32_t count;
    ald__packed_ints ints;
} ald__packed_slot;

typedef struct ald__packed_entry {
    uint8_t filter;
    uint8_t small;      /* DECIMAL e, STRFIX L, STRNUM J */
    uint8_t words;      /* STRNUM: its templates are a dictionary's */
    uint8_t index_bits; /* DICT, STRDICT, STRNUM by words */
    uint32_t count;     /* distinct values; DECIMAL: exceptions */
    uint32_t bytes; /* STRDICT: of its words; STRNUM: of all templates; STRFRONT: of all rests */
    uint32_t word_bytes;    /* STRNUM by words: of the dictionary's */
    ald__packed_ints ints;  /* values, DECIMAL's k, lengths, STRFRONT's shared */
    ald__packed_ints extra; /* DECIMAL's positions, STRFRONT's rests */
    ald__packed_ints raw;   /* DECIMAL's exceptions */
    ald__packed_slot slots[ALD__PACKED_SLOT_MAX];
} ald__packed_entry;

/* Slots with a value: those that a filter codes. */
static inline uint64_t ald__packed_valid(const ald__packed_layout *layout,
                                         const ald__packed_node *node)
{
    return node->has_validity && layout->places[node->first_place].size > 0
               ? node->length - node->null_count
               : node->length;
}

/* The next entry, checked against its node. */
ALD_NODISCARD ald_status ald__packed_entry_read(ald__cursor *table,
                                                const ald__packed_layout *layout,
                                                const ald__packed_node *node,
                                                const ald__packed_at *at, ald__packed_entry *out);
/* Bytes of all streams of a node. */
uint64_t ald__packed_entry_streams(const ald__packed_layout *layout, const ald__packed_node *node,
                                   const ald__packed_entry *entry);
/* The place of buffer `index` behind the validity, if any. */
static inline const ald__packed_place *
ald__packed_buffer(const ald__packed_layout *layout, const ald__packed_node *node, uint32_t index)
{
    return &layout->places[node->first_place + (node->has_validity ? 1u : 0u) + index];
}
/* Appends an entry, as a reader wants it. */
ALD_NODISCARD ald_status ald__packed_entry_write(const ald__packed_entry *entry, ald_buffer *out,
                                                 ald_error *err);

#endif
