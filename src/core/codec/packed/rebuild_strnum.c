/* SPDX-License-Identifier: MIT */
/* Text with numbers (F-416): templates in which marker bytes stand for numbers, each from the series of its place in the
 * string. Numbers are restored some at a time, so that a series takes no memory of its length. */
#include <string.h>

#include "core/base/endian.h"
#include "core/codec/packed/rebuild.h"

#define BLOCK 256u
#define MARK_PLAIN 1u
#define MARK_PADDED 14u /* + digits */
#define MARK_LAST 31u
#define DIGITS_MAX 20u

static const uint64_t tens[] = {1ull,
                                10ull,
                                100ull,
                                1000ull,
                                10000ull,
                                100000ull,
                                1000000ull,
                                10000000ull,
                                100000000ull,
                                1000000000ull,
                                10000000000ull,
                                100000000000ull,
                                1000000000000ull,
                                10000000000000ull,
                                100000000000000ull,
                                1000000000000000ull,
                                10000000000000000ull,
                                100000000000000000ull,
                                1000000000000000000ull,
                                10000000000000000000ull};

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

typedef struct number_slot {
    ald__ints_run run;
    uint64_t *block; /* BLOCK numbers */
    size_t pos, count;
    size_t ring_bytes;
} number_slot;

typedef struct numbers {
    ald__rebuild *r;
    ald__text_out out;
    uint64_t *blocks;
    number_slot slots[ALD__PACKED_SLOT_MAX];
} numbers;

static void put_digits(uint8_t *p, uint64_t v, size_t count)
{
    while (v > UINT32_MAX && count >= 2) {
        count -= 2;
        memcpy(p + count, pairs + v % 100 * 2, 2);
        v /= 100;
    }
    for (uint32_t small = (uint32_t)v; count >= 2; small /= 100) {
        count -= 2;
        memcpy(p + count, pairs + small % 100 * 2, 2);
        v = small / 100;
    }
    if (count > 0)
        p[0] = (uint8_t)('0' + v % 10);
}

static size_t count_digits(uint64_t v)
{
    /* 1233 / 4096 is about log10(2) */
    size_t guess = (size_t)(64 - __builtin_clzll(v | 1)) * 1233 >> 12;
    return v >= tens[guess] || v == 0 ? guess + 1 : guess;
}

/* Eight digits of v < 10^8, the first in the lowest byte: halves, pairs and digits split side by side in one word. */
static uint64_t eight_digits(uint32_t v)
{
    uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32, q;
    q = ((x * 10486) >> 20) & 0x0000007F0000007Full;
    x = q | (x - q * 100) << 16;
    q = ((x * 103) >> 10) & 0x000F000F000F000Full;
    x = q | (x - q * 10) << 8;
    return x | 0x3030303030303030ull;
}

/* The same where at least ALD__TEXT_SLACK bytes may be written; most numbers are short. */
static inline void put_digits_fast(uint8_t *p, uint64_t v, size_t count)
{
    uint32_t four;
    if (count <= 4) {
        four = ald__load_le16(pairs + v / 100 * 2) | (uint32_t)ald__load_le16(pairs + v % 100 * 2)
                                                         << 16;
        ald__store_le32(p, four >> (8 * (4 - count)));
    } else if (count <= 8) {
        ald__store_le64(p, eight_digits((uint32_t)v) >> (8 * (8 - count)));
    } else {
        put_digits(p, v, count);
    }
}

/* The next block of a slot's numbers. */
static ald_status refill_slot(numbers *s, uint32_t slot)
{
    number_slot *n;
    size_t left;
    if (slot >= s->r->entry->small)
        return ald__packed_bad(s->r->at, "more than there are slots: markers of a string",
                               (uint64_t)slot + 1);
    n = &s->slots[slot];
    left = n->run.n - n->run.at;
    n->count = left < BLOCK ? left : BLOCK;
    n->pos = 0;
    if (n->count == 0)
        return ald__packed_bad(s->r->at, "without a value for a marker: a slot of numbers",
                               n->run.n);
    ald__ints_run_next(&n->run, n->count, n->block);
    return ALD_OK;
}

static inline ald_status next_number(numbers *s, uint32_t slot, uint64_t *out)
{
    if (slot >= s->r->entry->small || s->slots[slot].pos == s->slots[slot].count)
        ALD_TRY(refill_slot(s, slot));
    *out = s->slots[slot].block[s->slots[slot].pos++];
    return ALD_OK;
}

static ald_status write_number(numbers *s, uint8_t mark, uint64_t v)
{
    ald__text_out *out = &s->out;
    size_t digits = mark == MARK_PLAIN ? count_digits(v) : mark - MARK_PADDED;
    if (mark != MARK_PLAIN && v >= tens[digits])
        return ald__packed_bad(s->r->at, "too large for its digits: a number", v);
    if (digits > s->r->data_size - out->size)
        return ald__packed_bad(s->r->at, "more than the column has: bytes of text",
                               (uint64_t)out->size + digits);
    put_digits(s->r->data + out->size, v, digits);
    out->size += digits;
    return ALD_OK;
}

static int is_mark(uint8_t c)
{
    return c == MARK_PLAIN || (c > MARK_PADDED && c <= MARK_LAST);
}

/* The next marker from `at` on, or `size`; there are ALD__TEXT_SLACK readable bytes behind. Eight bytes are passed at once
 * when none of them is below 32. */
static size_t find_mark(const uint8_t *t, size_t at, size_t size)
{
    while (at < size) {
        uint64_t x = ald__load_le64(t + at), low;
        low = (x - 0x2020202020202020ull) & ~x & 0x8080808080808080ull;
        if (low == 0) {
            at += 8;
            continue;
        }
        at += (size_t)__builtin_ctzll(low) / 8;
        if (at >= size || is_mark(t[at]))
            break;
        at++;
    }
    return at < size ? at : size;
}

/* One string, wherever there may be room for it. */
static ald_status expand_tight(numbers *s, const uint8_t *t, size_t size)
{
    size_t begin = 0;
    uint32_t slot = 0;
    uint64_t v = 0;
    for (size_t i = find_mark(t, 0, size); i < size; i = find_mark(t, begin, size)) {
        ALD_TRY(ald__text_add(&s->out, t + begin, i - begin));
        ALD_TRY(next_number(s, slot++, &v));
        ALD_TRY(write_number(s, t[i], v));
        begin = i + 1;
    }
    return ald__text_add(&s->out, t + begin, size - begin);
}

/* Text of any size in steps of ALD__TEXT_SLACK: both sides have room for the last one. */
static inline uint8_t *copy_roomy(uint8_t *dst, const uint8_t *src, size_t size)
{
    for (size_t i = 0; i < size; i += ALD__TEXT_SLACK)
        memcpy(dst + i, src + i, ALD__TEXT_SLACK);
    return dst + size;
}

/* One string where there is room even if every byte of it were a number of the most digits. */
static ald_status expand_roomy(numbers *s, const uint8_t *t, size_t size)
{
    uint8_t *to = s->r->data + s->out.size;
    size_t begin = 0;
    uint32_t slot = 0;
    uint64_t v = 0;
    for (;;) {
        size_t i = find_mark(t, begin, size), digits;
        to = copy_roomy(to, t + begin, i - begin);
        if (i == size)
            break;
        ALD_TRY(next_number(s, slot++, &v));
        digits = t[i] == MARK_PLAIN ? count_digits(v) : t[i] - MARK_PADDED;
        if (t[i] != MARK_PLAIN && v >= tens[digits])
            return ald__packed_bad(s->r->at, "too large for its digits: a number", v);
        put_digits_fast(to, v, digits);
        to += digits;
        begin = i + 1;
    }
    s->out.size = (size_t)(to - s->r->data);
    return ALD_OK;
}

static ald_status expand_template(numbers *s, const uint8_t *t, size_t size)
{
    size_t room = s->r->data_size - s->out.size;
    ALD_TRY(room / DIGITS_MAX > size + ALD__TEXT_SLACK ? expand_roomy(s, t, size)
                                                       : expand_tight(s, t, size));
    ald__text_end(&s->out);
    return ALD_OK;
}

static ald_status bad_templates(const numbers *s, uint64_t bytes)
{
    return ald__packed_bad(s->r->at, "not what the table says: bytes of all templates", bytes);
}

static ald_status expand_text(numbers *s, const uint8_t *lengths, const uint8_t *text)
{
    size_t used = 0, bytes = s->r->entry->bytes;
    for (size_t k = 0; ald__text_next(&s->out); k++) {
        uint32_t length;
        memcpy(&length, lengths + k * 4, 4);
        if (length > bytes - used)
            return bad_templates(s, (uint64_t)used + length);
        ALD_TRY(expand_template(s, text + used, length));
        used += length;
    }
    return used == bytes ? ALD_OK : bad_templates(s, used);
}

static ald_status expand_words(numbers *s, ald__words *w)
{
    size_t used = 0, bytes = s->r->entry->bytes, count;
    while (w->at < w->total) {
        ALD_TRY(ald__words_block(s->r, w, &count));
        for (size_t i = 0; i < count && ald__text_next(&s->out); i++) {
            const uint32_t *begin = &w->begins[w->block[i]];
            size_t length = begin[1] - begin[0];
            if (length > bytes - used)
                return bad_templates(s, (uint64_t)used + length);
            ALD_TRY(expand_template(s, w->text + begin[0], length));
            used += length;
        }
    }
    return used == bytes ? ALD_OK : bad_templates(s, used);
}

static ald_status open_slots(numbers *s)
{
    ald__rebuild *r = s->r;
    ald_status st = ALD_OK;
    s->blocks = ald__alloc(r->alloc, r->entry->small * BLOCK * sizeof *s->blocks, r->at->err);
    if (s->blocks == NULL)
        return ALD_E_NOMEM;
    for (uint32_t j = 0; j < r->entry->small; j++) {
        number_slot *n = &s->slots[j];
        const ald__packed_slot *from = &r->entry->slots[j];
        size_t room = from->ints.stride < from->count ? from->ints.stride : from->count;
        n->block = s->blocks + j * BLOCK;
        n->run.p = &from->ints;
        n->run.n = from->count;
        n->run.carry = from->ints.start;
        n->run.planes = ald__rebuild_planes(r, from->count, from->ints.bits, &st);
        if (n->run.planes == NULL)
            return st;
        if (!(from->ints.flags & ALD__INTS_STRIDE) || room == 0)
            continue;
        n->run.ring = ald__alloc(r->alloc, room * sizeof *n->run.ring, r->at->err);
        if (n->run.ring == NULL)
            return ALD_E_NOMEM;
        n->ring_bytes = room * sizeof *n->run.ring;
    }
    return ALD_OK;
}

static ald_status finish_slots(numbers *s)
{
    for (uint32_t j = 0; j < s->r->entry->small; j++) {
        const number_slot *n = &s->slots[j];
        if (n->run.at != n->run.n || n->pos != n->count)
            return ald__packed_bad(s->r->at, "not all used: values of a slot", n->run.n);
    }
    return ald__text_finish(&s->out);
}

static void clear_slots(numbers *s)
{
    for (uint32_t j = 0; j < s->r->entry->small; j++)
        ald__release(s->r->alloc, s->slots[j].run.ring, s->slots[j].ring_bytes);
    ald__release(s->r->alloc, s->blocks, s->r->entry->small * BLOCK * sizeof *s->blocks);
}

/* Templates come first in the frame, the slots behind them. */
static ald_status rebuild_numbers(numbers *s, ald__words *words)
{
    ald__rebuild *r = s->r;
    ald_status st = ALD_OK;
    const uint8_t *lengths = NULL, *text = NULL;
    if (r->entry->words) {
        ALD_TRY(ald__words_take(r, r->entry->word_bytes, words));
    } else {
        lengths = ald__text_lengths(r, &r->entry->ints, &st);
        text = lengths != NULL ? ald__rebuild_bytes(r, r->entry->bytes, &st) : NULL;
        if (text == NULL)
            return st;
    }
    ALD_TRY(open_slots(s));
    ald__text_begin(&s->out, r);
    ALD_TRY(r->entry->words ? expand_words(s, words) : expand_text(s, lengths, text));
    return finish_slots(s);
}

ald_status ald__rebuild_strnum(ald__rebuild *r)
{
    numbers s;
    ald__words words;
    ald_status st;
    memset(&s, 0, sizeof s);
    memset(&words, 0, sizeof words);
    s.r = r;
    st = rebuild_numbers(&s, &words);
    clear_slots(&s);
    ald__words_clear(r, &words);
    return st;
}
