/* SPDX-License-Identifier: MIT */
/* Nodes of a body frame being rebuilt: what the families of filters share. */
#ifndef CORE_CODEC_PACKED_REBUILD_H
#define CORE_CODEC_PACKED_REBUILD_H

#include <string.h>

#include "core/codec/packed/packed_table.h"

/* One node at work. Streams are taken from `in`, in order; their sizes add up to it, as frames_next found. */
typedef struct ald__rebuild {
    const ald_allocator *alloc;
    const ald__packed_node *node;
    const ald__packed_entry *entry;
    const ald__packed_at *at;
    ald__cursor *in;
    const uint8_t *tail; /* the frame's last stream, where it belongs already; or NULL */
    size_t tail_size;
    const uint8_t *validity; /* or NULL: every slot has a value */
    size_t n, valid;         /* slots; those with a value */
    uint8_t *values;         /* fixed width: the values; else the offsets */
    uint8_t *data;           /* text: the bytes */
    size_t data_size;        /* text: bytes; lists: the child's slots */
    uint64_t body_size;      /* of the whole chunk: what memory may be used in proportion to */
} ald__rebuild;

/* The next stream: planes of n numbers, spare bits checked; or `size` bytes. NULL: *status says why. */
const uint8_t *ald__rebuild_planes(ald__rebuild *r, size_t n, uint32_t bits, ald_status *status);
const uint8_t *ald__rebuild_bytes(ald__rebuild *r, size_t size, ald_status *status);
/* n numbers into fresh memory of n × ints->width bytes (1 for none), which the caller releases. NULL as above. */
void *ald__rebuild_numbers(ald__rebuild *r, size_t n, const ald__packed_ints *ints,
                           ald_status *status);

/* Slot i of a bitmap, or 1 without one. */
static inline int ald__rebuild_is_valid(const ald__rebuild *r, size_t i)
{
    return r->validity == NULL || ((r->validity[i / 8] >> (i % 8)) & 1) != 0;
}

/* Values, packed at the front of n × width bytes, to their slots; zeros to the others. */
void ald__rebuild_spread(const ald__rebuild *r, size_t width);

/* The families. */
ALD_NODISCARD ald_status ald__rebuild_ints(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_dict(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_planes_of_bytes(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_decimal(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_lens(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_str(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_strfix(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_strdict(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_strnum(ald__rebuild *r);
ALD_NODISCARD ald_status ald__rebuild_strfront(ald__rebuild *r);

#define ALD__TEXT_SLACK 32u /* readable bytes behind an inflated frame */

/* Text: what is written so far. The offsets of strings lie side by side until text_finish gives slots without a value theirs. */
typedef struct ald__text_out {
    ald__rebuild *r;
    size_t strings, size; /* size: bytes */
} ald__text_out;
void ald__text_begin(ald__text_out *out, ald__rebuild *r);
static inline void ald__text_offset_put(const ald__rebuild *r, size_t i, size_t v)
{
    uint32_t narrow = (uint32_t)v;
    uint64_t wide = v;
    if (r->node->width == 4)
        memcpy(r->values + i * 4, &narrow, 4);
    else
        memcpy(r->values + i * 8, &wide, 8);
}
/* The next string is what was added since the last. */
static inline void ald__text_end(ald__text_out *out)
{
    ald__text_offset_put(out->r, ++out->strings, out->size);
}
/* All strings are there; the bytes are all that the column has. */
ALD_NODISCARD ald_status ald__text_finish(ald__text_out *out);
/* Adds bytes: there are ALD__TEXT_SLACK readable ones behind src + size. */
ALD_NODISCARD ald_status ald__text_add(ald__text_out *out, const uint8_t *src, size_t size);
/* Copies in steps of half of ALD__TEXT_SLACK: both sides have that much room behind, where they may meet. */
static inline void ald__text_copy_roomy(uint8_t *dst, const uint8_t *src, size_t size)
{
    uint8_t step[ALD__TEXT_SLACK / 2];
    size_t i = 0;
    do {
        memcpy(step, src + i, sizeof step);
        memcpy(dst + i, step, sizeof step);
        i += sizeof step;
    } while (i < size);
}
/* Lengths of the strings, 4 bytes each at any address; they may be read while offsets are written, each before its text_end.
 * NULL: *status says why. */
const uint8_t *ald__text_lengths(ald__rebuild *r, const ald__packed_ints *ints, ald_status *status);

/* The words of a dictionary: word i is text[begins[i] .. begins[i + 1]). */
typedef struct ald__words {
    const uint8_t *text, *indices;
    uint32_t *begins; /* D + 1 */
    size_t count;
    uint32_t index_bits, longest;
    uint16_t block[ALD__INTS_BLOCK]; /* indices of values at … */
    size_t at, total;
} ald__words;
ALD_NODISCARD ald_status ald__words_take(ald__rebuild *r, size_t bytes, ald__words *out);
/* Loads the indices of the next block, checked. */
ALD_NODISCARD ald_status ald__words_block(ald__rebuild *r, ald__words *words, size_t *count);
void ald__words_clear(ald__rebuild *r, ald__words *words);

#endif
