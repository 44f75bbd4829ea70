/* SPDX-License-Identifier: MIT */
/* Offsets from lengths, and text. Lengths are put at the end of the offsets' buffer first: offset i + 1 is written when the
 * length of slot i was read, and the lengths that are left always lie behind it, since a slot has at most one length and a
 * length is no wider than an offset. */
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

static ald_status check_total(const ald__rebuild *r, uint64_t total)
{
    if (total == r->data_size)
        return ALD_OK;
    return ald__packed_bad(r->at, "not what the column has: sum of lengths", total);
}

/* Inlined with a constant width. */
static inline uint64_t sum_all(uint8_t *offsets, size_t width, const uint8_t *lengths, size_t n)
{
    uint64_t total = 0;
    memset(offsets, 0, width);
    for (size_t i = 0; i < n; i++) {
        total += length_at(lengths, i);
        memcpy(offsets + (i + 1) * width, &total, width); /* little-endian hosts */
    }
    return total;
}

/* Without a branch at what cannot be guessed. */
static uint64_t sum_valid(const ald__rebuild *r, const uint8_t *lengths)
{
    uint64_t total = 0;
    size_t k = 0;
    ald__text_offset_put(r, 0, 0);
    for (size_t i = 0; i < r->n; i++) {
        size_t has = (size_t)ald__rebuild_is_valid(r, i);
        if (r->valid > 0)
            total += length_at(lengths, k < r->valid ? k : r->valid - 1) & (0u - (uint32_t)has);
        k += has;
        ald__text_offset_put(r, i + 1, (size_t)total);
    }
    return total;
}

ald_status ald__rebuild_lens(ald__rebuild *r)
{
    ald_status st = ALD_OK;
    const uint8_t *lengths = ald__text_lengths(r, &r->entry->ints, &st);
    uint64_t total;
    if (lengths == NULL)
        return st;
    if (r->valid < r->n)
        total = sum_valid(r, lengths);
    else
        total = r->node->width == 4 ? sum_all(r->values, 4, lengths, r->n)
                                    : sum_all(r->values, 8, lengths, r->n);
    return check_total(r, total);
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
    size_t total = 0, length = r->entry->small;
    ALD_TRY(ald__rebuild_planes_of_bytes(r));
    ald__text_offset_put(r, 0, 0);
    for (size_t i = 0; i < r->n; i++) {
        total += ald__rebuild_is_valid(r, i) ? length : 0;
        ald__text_offset_put(r, i + 1, total);
    }
    return ALD_OK;
}

/* ---- Text made string by string */

void ald__text_begin(ald__text_out *out, ald__rebuild *r)
{
    out->r = r;
    out->slot = 0;
    out->size = 0;
    ald__text_offset_put(r, 0, 0);
}

ald_status ald__text_finish(ald__text_out *out)
{
    (void)ald__text_next(out);
    return check_total(out->r, out->size);
}

ald_status ald__text_add(ald__text_out *out, const uint8_t *src, size_t size)
{
    if (size > out->r->data_size - out->size)
        return ald__packed_bad(out->r->at, "more than the column has: bytes of text",
                               (uint64_t)out->size + size);
    /* Short ones in one piece where there is room behind: later text covers what is too much. */
    if (size <= ALD__TEXT_SLACK && out->r->data_size - out->size >= ALD__TEXT_SLACK)
        memcpy(out->r->data + out->size, src, ALD__TEXT_SLACK);
    else if (size > 0)
        memmove(out->r->data + out->size, src, size);
    out->size += size;
    return ALD_OK;
}

ald_status ald__text_copy(ald__text_out *out, size_t from, size_t size)
{
    uint8_t *data = out->r->data;
    if (size > out->r->data_size - out->size)
        return ald__packed_bad(out->r->at, "more than the column has: bytes of text",
                               (uint64_t)out->size + size);
    if (size > 0)
        memcpy(data + out->size, data + from, size); /* both inside of what is written */
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
    uint16_t max = 0;
    *count = left < ALD__INTS_BLOCK ? left : ALD__INTS_BLOCK;
    ald__indices_restore(w->indices, w->total, w->index_bits, w->at, *count, w->block);
    for (size_t i = 0; i < *count; i++)
        max = w->block[i] > max ? w->block[i] : max;
    w->at += *count;
    if (*count > 0 && max >= w->count)
        return ald__packed_bad(r->at, "past the dictionary: an index", max);
    return ALD_OK;
}

void ald__words_clear(ald__rebuild *r, ald__words *w)
{
    ald__release(r->alloc, w->begins, (w->count + 1) * sizeof *w->begins);
}

/* Bytes of a block's strings together. */
static size_t block_bytes(const ald__words *w, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += w->begins[w->block[i] + 1u] - w->begins[w->block[i]];
    return bytes;
}

/* The strings of a block where there is room for all of them and ALD__TEXT_SLACK more. */
static void write_block(ald__text_out *out, const ald__words *w, size_t count)
{
    uint8_t *data = out->r->data;
    size_t at = out->size;
    for (size_t i = 0; i < count; i++) {
        size_t begin = w->begins[w->block[i]], size = w->begins[w->block[i] + 1u] - begin;
        memcpy(data + at, w->text + begin, ALD__TEXT_SLACK);
        if (size > ALD__TEXT_SLACK)
            memcpy(data + at + ALD__TEXT_SLACK, w->text + begin + ALD__TEXT_SLACK,
                   size - ALD__TEXT_SLACK);
        (void)ald__text_next(out); /* there is one for each value */
        at += size;
        out->size = at;
        ald__text_end(out);
    }
}

static ald_status write_words(ald__rebuild *r, ald__words *w)
{
    ald__text_out out;
    size_t count;
    ald__text_begin(&out, r);
    while (w->at < w->total) {
        ALD_TRY(ald__words_block(r, w, &count));
        if (ALD__FOR_SPEED && block_bytes(w, count) + ALD__TEXT_SLACK <= r->data_size - out.size) {
            write_block(&out, w, count);
            continue;
        }
        for (size_t i = 0; i < count && ald__text_next(&out); i++) {
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
    size_t used = 0, before = 0, before_size = 0;
    ald__text_begin(&out, r);
    for (size_t k = 0; ald__text_next(&out); k++) {
        size_t rest = length_at(rests, k), begin = out.size;
        if (shared[k] > before_size)
            return ald__packed_bad(r->at, "more than the string before has: shared bytes",
                                   shared[k]);
        if (rest > r->entry->bytes - used)
            return ald__packed_bad(r->at, "more than the text has: bytes of a rest", rest);
        ALD_TRY(ald__text_copy(&out, before, shared[k]));
        ALD_TRY(ald__text_add(&out, text + used, rest));
        ald__text_end(&out);
        used += rest;
        before = begin;
        before_size = out.size - begin;
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
