/* SPDX-License-Identifier: MIT */
/* Offsets from lengths, and text. Lengths are put at the end of the offsets' buffer first: offset i + 1 is written when
 * length i was read, and the lengths that are left always lie behind it, since a length is no wider than an offset. Where
 * some slots have no value the offsets are moved to their slots last, from the back. */
#include <string.h>

#include "core/base/endian.h"
#include "core/codec/packed/packed_lanes.h"
#include "core/codec/packed/rebuild.h"

static inline uint32_t length_at(const uint8_t *lengths, size_t k)
{
    uint32_t v;
    memcpy(&v, lengths + k * 4, 4);
    return v;
}

const uint8_t *ald__text_lengths(ald__rebuild *r, const ald__packed_ints *ints, ald_status *status)
{
    const uint8_t *planes = ald__rebuild_planes(r, r->valid, ints->bits, status);
    uint8_t *lengths = r->values + (r->n + 1) * r->node->width - r->valid * 4;
    if (planes == NULL)
        return NULL;
    ald__ints_restore(ints, planes, r->valid, lengths);
    return lengths;
}

/* Each slot's end from the back: that of the value before where it has none. */
#define SPREAD_OFFSETS(T)                                                                          \
    do {                                                                                           \
        T *v = (T *)(void *)r->values;                                                             \
        for (size_t i = r->n; i > k; i--) { /* the slots before have values, all of them */        \
            v[i] = v[k];                                                                           \
            k -= (size_t)ald__rebuild_is_valid(r, i - 1);                                          \
        }                                                                                          \
    } while (0)

static void spread_offsets(const ald__rebuild *r)
{
    size_t k = r->valid;
    if (r->node->width == 4)
        SPREAD_OFFSETS(uint32_t);
    else
        SPREAD_OFFSETS(uint64_t);
}

/* What all offsets need when they have been made. */
static ald_status settle_offsets(const ald__rebuild *r, uint64_t total)
{
    if (total != r->data_size)
        return ald__packed_bad(r->at, "not what the column has: sum of lengths", total);
    spread_offsets(r);
    return ALD_OK;
}

ald_status ald__rebuild_lens(ald__rebuild *r)
{
    ald_status st = ALD_OK;
    const uint8_t *lengths = ald__text_lengths(r, &r->entry->ints, &st);
    uint64_t total;
    if (lengths == NULL)
        return st;
    ald__text_offset_put(r, 0, 0);
    ald__lengths_sum(lengths, r->valid, r->values + r->node->width, r->node->width, &total);
    return settle_offsets(r, total);
}

ald_status ald__rebuild_str(ald__rebuild *r)
{
    ald_status st = ald__rebuild_lens(r);
    const uint8_t *text = st == ALD_OK ? ald__rebuild_bytes(r, r->data_size, &st) : NULL;
    if (text == NULL)
        return st;
    if (text != r->data && r->data_size > 0)
        memcpy(r->data, text, r->data_size);
    return ALD_OK;
}

ald_status ald__rebuild_strfix(ald__rebuild *r)
{
    size_t length = r->entry->small;
    ALD_TRY(ald__rebuild_planes_of_bytes(r));
    for (size_t i = 0; i <= r->valid; i++)
        ald__text_offset_put(r, i, i * length);
    spread_offsets(r);
    return ALD_OK;
}

/* ---- Text made string by string */

void ald__text_begin(ald__text_out *out, ald__rebuild *r)
{
    out->r = r;
    out->strings = 0;
    out->size = 0;
    ald__text_offset_put(r, 0, 0);
}

ald_status ald__text_finish(ald__text_out *out)
{
    return settle_offsets(out->r, out->size);
}

/* Whether so many bytes more, and ALD__TEXT_SLACK behind them, are inside of the column: later text covers what is written
 * too much. */
static int has_slack(const ald__text_out *out, size_t size)
{
    size_t left = out->r->data_size - out->size;
    return left >= ALD__TEXT_SLACK && size <= left - ALD__TEXT_SLACK;
}

ald_status ald__text_add(ald__text_out *out, const uint8_t *src, size_t size)
{
    uint8_t *to = out->r->data + out->size;
    if (size > out->r->data_size - out->size)
        return ald__packed_bad(out->r->at, "more than the column has: bytes of text",
                               (uint64_t)out->size + size);
    if (has_slack(out, size))
        ald__text_copy_roomy(to, src, size);
    else if (size > 0)
        memcpy(to, src, size);
    out->size += size;
    return ALD_OK;
}

/* ---- Dictionaries */

static ald_status find_words(ald__rebuild *r, size_t bytes, ald__words *w)
{
    uint64_t total = 0;
    for (size_t i = 0; i < w->count; i++) {
        uint32_t length = w->begins[i];
        w->begins[i] = (uint32_t)total;
        total += length;
        w->longest = length > w->longest ? length : w->longest;
        if (total > bytes)
            break;
    }
    if (total != bytes)
        return ald__packed_bad(r->at, "not the dictionary's bytes: sum of its lengths", total);
    w->begins[w->count] = (uint32_t)total;
    return ALD_OK;
}

ald_status ald__words_take(ald__rebuild *r, size_t bytes, ald__words *out)
{
    const ald__packed_entry *e = r->entry;
    ald_status st = ALD_OK;
    const uint8_t *planes = ald__rebuild_planes(r, e->count, e->ints.bits, &st);
    memset(out, 0, sizeof *out);
    out->count = e->count;
    out->total = r->valid;
    out->index_bits = e->index_bits;
    if (planes == NULL)
        return st;
    out->begins = ald__alloc(r->alloc, (out->count + 1) * sizeof *out->begins, r->at->err);
    if (out->begins == NULL)
        return ALD_E_NOMEM;
    ald__ints_restore(&e->ints, planes, out->count, out->begins);
    ALD_TRY(find_words(r, bytes, out));
    out->text = ald__rebuild_bytes(r, bytes, &st);
    if (out->text != NULL)
        out->indices = ald__rebuild_planes(r, r->valid, e->index_bits, &st);
    return st;
}

ald_status ald__words_block(ald__rebuild *r, ald__words *w, size_t *count)
{
    size_t left = w->total - w->at;
    uint16_t max;
    *count = left < ALD__INTS_BLOCK ? left : ALD__INTS_BLOCK;
    ald__indices_restore(w->indices, w->total, w->index_bits, w->at, *count, w->block, &max);
    w->at += *count;
    if (*count > 0 && max >= w->count)
        return ald__packed_bad(r->at, "past the dictionary: an index", max);
    return ALD_OK;
}

void ald__words_clear(ald__rebuild *r, ald__words *w)
{
    ald__release(r->alloc, w->begins, (w->count + 1) * sizeof *w->begins);
}

#define LONG_WORD 4096u /* bytes: a block of them is worth adding up */

/* Bytes of a block's strings together. */
static size_t block_bytes(const ald__words *w, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += w->begins[w->block[i] + 1u] - w->begins[w->block[i]];
    return bytes;
}

/* Whether a block's strings fit, with ALD__TEXT_SLACK behind them. */
static int has_room_for(const ald__text_out *out, const ald__words *w, size_t count)
{
    return ALD__FOR_SPEED && ((w->longest < LONG_WORD && has_slack(out, count * w->longest)) ||
                              has_slack(out, block_bytes(w, count)));
}

/* The strings of a block where there is room for all of them and ALD__TEXT_SLACK more. Inlined with a constant width. */
static inline void write_block(ald__text_out *out, const ald__words *w, size_t count, size_t width)
{
    const uint8_t *text = w->text;
    const uint32_t *begins = w->begins;
    uint8_t *to = out->r->data, *offset = out->r->values + (out->strings + 1) * width;
    size_t at = out->size;
    for (size_t i = 0; i < count; i++, offset += width) {
        uint32_t word = w->block[i], begin = begins[word], size = begins[word + 1] - begin;
        ald__text_copy_roomy(to + at, text + begin, size);
        at += size;
        memcpy(offset, &at, width); /* little-endian hosts */
    }
    out->strings += count;
    out->size = at;
}

static ald_status write_words(ald__rebuild *r, ald__words *w)
{
    ald__text_out out;
    size_t count;
    ald__text_begin(&out, r);
    while (w->at < w->total) {
        ALD_TRY(ald__words_block(r, w, &count));
        if (has_room_for(&out, w, count)) {
            if (r->node->width == 4)
                write_block(&out, w, count, 4);
            else
                write_block(&out, w, count, 8);
            continue;
        }
        for (size_t i = 0; i < count; i++) {
            const uint32_t *begin = &w->begins[w->block[i]];
            ALD_TRY(ald__text_add(&out, w->text + begin[0], begin[1] - begin[0]));
            ald__text_end(&out);
        }
    }
    return ald__text_finish(&out);
}

ald_status ald__rebuild_strdict(ald__rebuild *r)
{
    ald__words words;
    ald_status st = ald__words_take(r, r->entry->bytes, &words);
    if (st == ALD_OK)
        st = write_words(r, &words);
    ald__words_clear(r, &words);
    return st;
}

/* ---- Front coding */

static ald_status write_fronts(ald__rebuild *r, const uint8_t *rests, const uint32_t *shared,
                               const uint8_t *text)
{
    ald__text_out out;
    size_t used = 0, before_size = 0;
    ald__text_begin(&out, r);
    for (size_t k = 0; k < r->valid; k++) {
        size_t rest = length_at(rests, k);
        const uint8_t *before = r->data + (out.size - before_size);
        if (shared[k] > before_size)
            return ald__packed_bad(r->at, "more than the string before has: shared bytes",
                                   shared[k]);
        if (rest > r->entry->bytes - used)
            return ald__packed_bad(r->at, "more than the text has: bytes of a rest", rest);
        ALD_TRY(ald__text_add(&out, before, shared[k])); /* all of it lies before what is written */
        ALD_TRY(ald__text_add(&out, text + used, rest));
        ald__text_end(&out);
        used += rest;
        before_size = shared[k] + rest;
    }
    if (used != r->entry->bytes)
        return ald__packed_bad(r->at, "not all of the text: bytes of all rests", used);
    return ald__text_finish(&out);
}

ald_status ald__rebuild_strfront(ald__rebuild *r)
{
    ald_status st = ALD_OK;
    uint32_t *shared = ald__rebuild_numbers(r, r->valid, &r->entry->ints, &st);
    const uint8_t *rests = NULL, *text = NULL;
    if (shared != NULL)
        rests = ald__text_lengths(r, &r->entry->extra, &st);
    if (rests != NULL)
        text = ald__rebuild_bytes(r, r->entry->bytes, &st);
    if (text != NULL)
        st = write_fronts(r, rests, shared, text);
    ald__release(r->alloc, shared, r->valid * 4);
    return st;
}
