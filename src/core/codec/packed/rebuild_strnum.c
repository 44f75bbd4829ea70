/* SPDX-License-Identifier: MIT */
/* Text with numbers (F-416): templates in which marker bytes stand for numbers, each from the series of its place in the
 * string. Numbers are restored some at a time, so that a series takes no memory of its length. The words of a dictionary are
 * taken apart once, into pieces: text, and the marker behind it. */
#include <string.h>

#include "core/base/endian.h"
#include "core/codec/packed/packed_lanes.h"
#include "core/codec/packed/rebuild.h"
#include "core/codec/packed/rebuild_digits.h"

#define MARK_PLAIN 1u
#define MARK_PADDED 14u /* + digits */
#define MARK_LAST 31u
#define RINGS_BYTES (1u << 16) /* of strides, whatever the chunk has */
#define PIECES_MAX 16384u   /* of all words together; more of them are looked through each time */
#define TOO_MANY UINT32_MAX /* a word with more numbers than slots, which no value may have */
#define PIECE_END 0u        /* kinds of a piece: no number, … */
#define PIECE_PLAIN 255u    /* … as many digits as it has, or so many */

typedef struct number_slot {
    ald__ints_run run;
    ald__digits *block;
    size_t pos, count;
    size_t ring_bytes;
} number_slot;

/* Some text, then a number. */
typedef struct word_piece {
    const uint8_t *text;
    uint32_t size;
    uint32_t kind;
} word_piece;

typedef struct numbers {
    ald__rebuild *r;
    ald__text_out out;
    ald__digits *blocks;
    word_piece *pieces; /* of all words; or NULL */
    uint32_t *first;    /* of each word; or TOO_MANY */
    size_t piece_count;
    number_slot slots[ALD__PACKED_SLOT_MAX];
} numbers;

/* ---- Numbers */

/* The next block of a slot's numbers. */
static ald_status refill_slot(numbers *s, number_slot *n)
{
    size_t left = n->run.n - n->run.at;
    n->count = left < ALD__DIGITS_BLOCK ? left : ALD__DIGITS_BLOCK;
    n->pos = 0;
    if (n->count == 0)
        return ald__packed_bad(s->r->at, "without a value for a marker: a slot of numbers",
                               n->run.n);
    ald__ints_run_next(&n->run, n->count, n->block->text);
    ald__digits_format(n->block, n->count);
    return ALD_OK;
}

static ald_status too_many_marks(const numbers *s, uint64_t marks)
{
    return ald__packed_bad(s->r->at, "more than there are slots: markers of a string", marks);
}

/* The next number of a slot, as so many digits as `kind` says; returns the end of what it wrote, or NULL. */
static inline uint8_t *put_number(numbers *s, number_slot *n, uint32_t kind, uint8_t *to,
                                  ald_status *status)
{
    size_t i, count, digits;
    if (n->pos == n->count) {
        *status = refill_slot(s, n);
        if (*status != ALD_OK)
            return NULL;
    }
    i = n->pos++;
    count = n->block->count[i];
    digits = kind == PIECE_PLAIN ? count : kind;
    if (count > digits) {
        *status = ald__packed_bad(s->r->at, "too large for its marker: a number, of digits", count);
        return NULL;
    }
    ald__digits_put(to, n->block, i, digits);
    return to + digits;
}

/* ---- Templates */

static int is_mark(uint8_t c)
{
    return c == MARK_PLAIN || (c > MARK_PADDED && c <= MARK_LAST);
}

static uint32_t kind_of(uint8_t mark)
{
    return mark == MARK_PLAIN ? PIECE_PLAIN : (uint32_t)mark - MARK_PADDED;
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
    uint8_t made[ALD__DIGITS_ROOM + ALD__TEXT_SLACK];
    size_t begin = 0;
    uint32_t slot = 0;
    for (size_t i = find_mark(t, 0, size); i < size; i = find_mark(t, begin, size)) {
        ald_status st = ALD_OK;
        const uint8_t *end;
        ALD_TRY(ald__text_add(&s->out, t + begin, i - begin));
        if (slot >= s->r->entry->small)
            return too_many_marks(s, (uint64_t)slot + 1);
        end = put_number(s, &s->slots[slot++], kind_of(t[i]), made, &st);
        if (end == NULL)
            return st;
        ALD_TRY(ald__text_add(&s->out, made, (size_t)(end - made)));
        begin = i + 1;
    }
    return ald__text_add(&s->out, t + begin, size - begin);
}

/* One string in pieces, of which no more than there are slots have numbers, where there is room even if every byte of it were
 * a number of the most digits. */
static ald_status expand_pieces(numbers *s, const word_piece *piece)
{
    uint8_t *to = s->r->data + s->out.size;
    for (number_slot *n = s->slots;; n++, piece++) {
        ald_status st = ALD_OK;
        ald__text_copy_roomy(to, piece->text, piece->size);
        to += piece->size;
        if (piece->kind == PIECE_END)
            break;
        to = put_number(s, n, piece->kind, to, &st);
        if (to == NULL)
            return st;
    }
    s->out.size = (size_t)(to - s->r->data);
    ald__text_end(&s->out);
    return ALD_OK;
}

static int has_room(const numbers *s, size_t size)
{
    return s->r->data_size - s->out.size > (uint64_t)(size + ALD__DIGITS_ROOM) * ALD__DIGITS_MAX;
}

/* A template into `most` pieces at most; 0: it has more. */
static size_t cut_template(const uint8_t *t, size_t size, size_t most, word_piece *out)
{
    size_t begin = 0;
    for (size_t k = 0; k < most; k++) {
        size_t i = find_mark(t, begin, size);
        out[k] =
            (word_piece){t + begin, (uint32_t)(i - begin), i < size ? kind_of(t[i]) : PIECE_END};
        if (i == size)
            return k + 1;
        begin = i + 1;
    }
    return 0;
}

static ald_status expand_template(numbers *s, const uint8_t *t, size_t size)
{
    word_piece pieces[ALD__PACKED_SLOT_MAX + 1];
    size_t count = has_room(s, size) ? cut_template(t, size, ALD__PACKED_SLOT_MAX + 1, pieces) : 0;
    if (count > 0 && count <= s->r->entry->small + 1u)
        return expand_pieces(s, pieces);
    ALD_TRY(expand_tight(s, t, size)); /* a marker too many is found where it stands */
    ald__text_end(&s->out);
    return ALD_OK;
}

static ald_status expand_word(numbers *s, const ald__words *w, size_t word)
{
    size_t begin = w->begins[word], size = w->begins[word + 1] - begin;
    if (!ALD__FOR_SPEED || s->pieces == NULL || s->first[word] == TOO_MANY || !has_room(s, size))
        return expand_template(s, w->text + begin, size);
    return expand_pieces(s, s->pieces + s->first[word]);
}

/* ---- Words into pieces */

static size_t count_pieces(const ald__words *w)
{
    size_t pieces = w->count, size = w->begins[w->count];
    for (size_t i = 0; i < size; i++)
        pieces += (size_t)is_mark(w->text[i]);
    return pieces;
}

static ald_status cut_words(numbers *s, const ald__words *w)
{
    const ald__rebuild *r = s->r;
    word_piece *at;
    s->piece_count = count_pieces(w);
    if (s->piece_count > PIECES_MAX || w->count == 0)
        return ALD_OK;
    s->first = ald__alloc(r->alloc, w->count * sizeof *s->first, r->at->err);
    s->pieces = ald__alloc(r->alloc, s->piece_count * sizeof *s->pieces, r->at->err);
    if (s->first == NULL || s->pieces == NULL)
        return ALD_E_NOMEM;
    at = s->pieces;
    for (size_t i = 0; i < w->count; i++) {
        size_t count =
            cut_template(w->text + w->begins[i], w->begins[i + 1] - w->begins[i], SIZE_MAX, at);
        s->first[i] = count <= r->entry->small + 1u ? (uint32_t)(at - s->pieces) : TOO_MANY;
        at += count;
    }
    return ALD_OK;
}

/* ---- Whole columns */

static ald_status bad_templates(const numbers *s, uint64_t bytes)
{
    return ald__packed_bad(s->r->at, "not what the table says: bytes of all templates", bytes);
}

static ald_status expand_text(numbers *s, const uint8_t *lengths, const uint8_t *text)
{
    size_t used = 0, bytes = s->r->entry->bytes;
    for (size_t k = 0; k < s->r->valid; k++) {
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
    if (ALD__FOR_SPEED)
        ALD_TRY(cut_words(s, w));
    while (w->at < w->total) {
        ALD_TRY(ald__words_block(s->r, w, &count));
        for (size_t i = 0; i < count; i++) {
            size_t word = w->block[i], length = w->begins[word + 1] - w->begins[word];
            if (length > bytes - used)
                return bad_templates(s, (uint64_t)used + length);
            ALD_TRY(expand_word(s, w, word));
            used += length;
        }
    }
    return used == bytes ? ALD_OK : bad_templates(s, used);
}

static size_t ring_values(const ald__packed_slot *slot)
{
    if (!(slot->ints.flags & ALD__INTS_STRIDE))
        return 0;
    return slot->ints.stride < slot->count ? slot->ints.stride : slot->count;
}

/* Planes of 0 bits take no bytes, so that a few can ask for the values of 2^27 markers to be remembered: no more memory than
 * the chunk itself has. */
static ald_status check_rings(const ald__rebuild *r)
{
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < r->entry->small; j++)
        bytes += (uint64_t)ring_values(&r->entry->slots[j]) * sizeof(uint64_t);
    if (bytes <= RINGS_BYTES || bytes <= r->body_size)
        return ALD_OK;
    return ald__fail(r->at->err, ALD_E_LIMIT_EXCEEDED, r->at->offset,
                     "chunk %llu, column '%s': strides over numbers in text, of %llu bytes, more "
                     "than the chunk has",
                     (unsigned long long)r->at->chunk, r->at->column, (unsigned long long)bytes);
}

static ald_status open_slot(numbers *s, const ald__packed_slot *from, number_slot *n)
{
    ald__rebuild *r = s->r;
    size_t room = ring_values(from);
    ald_status st = ALD_OK;
    n->run.p = &from->ints;
    n->run.n = from->count;
    n->run.carry = from->ints.start;
    n->run.planes = ald__rebuild_planes(r, from->count, from->ints.bits, &st);
    if (n->run.planes == NULL || room == 0)
        return st;
    n->run.ring = ald__alloc(r->alloc, room * sizeof *n->run.ring, r->at->err);
    if (n->run.ring == NULL)
        return ALD_E_NOMEM;
    n->ring_bytes = room * sizeof *n->run.ring;
    return ALD_OK;
}

static ald_status open_slots(numbers *s)
{
    ald__rebuild *r = s->r;
    ALD_TRY(check_rings(r));
    s->blocks = ald__alloc(r->alloc, r->entry->small * sizeof *s->blocks, r->at->err);
    if (s->blocks == NULL)
        return ALD_E_NOMEM;
    for (uint32_t j = 0; j < r->entry->small; j++) {
        s->slots[j].block = s->blocks + j;
        ALD_TRY(open_slot(s, &r->entry->slots[j], &s->slots[j]));
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

static void clear_numbers(numbers *s, const ald__words *w)
{
    for (uint32_t j = 0; j < s->r->entry->small; j++)
        ald__release(s->r->alloc, s->slots[j].run.ring, s->slots[j].ring_bytes);
    ald__release(s->r->alloc, s->blocks, s->r->entry->small * sizeof *s->blocks);
    ald__release(s->r->alloc, s->first, w->count * sizeof *s->first);
    ald__release(s->r->alloc, s->pieces, s->piece_count * sizeof *s->pieces);
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
    clear_numbers(&s, &words);
    ald__words_clear(r, &words);
    return st;
}
