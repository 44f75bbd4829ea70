/* SPDX-License-Identifier: MIT */
/* Numbers out of text: runs of digits become markers in templates, and series of their own. What a run becomes is learned
 * from the first rows: one value stays text, one length is padded, the rest are plain. */
#include <string.h>

#include "core/base/endian.h"
#include "core/codec/packed/pack.h"

#define LEARN_ROWS 1024u
#define RUNS_MAX 16u /* digit runs of a string that are told apart */
#define DIGITS_MAX 17u
#define MARK_PLAIN 1u
#define MARK_PADDED 14u
#define MARK_LAST 31u

typedef enum run_kind { RUN_UNSEEN, RUN_FIXED, RUN_PADDED, RUN_PLAIN } run_kind;

typedef struct run_policy {
    run_kind kind;
    uint32_t length;
    uint64_t value;
} run_policy;

/* One string's digit runs, one after the other. */
typedef struct run_scan {
    const uint8_t *text;
    size_t size, at;      /* at: where to look on */
    size_t begin, digits; /* the run */
    uint64_t value;
} run_scan;

static int is_digit(uint8_t c)
{
    return (uint8_t)(c - '0') < 10;
}

/* The first digit from `at` on, or `size`. Eight bytes at a time: exclusive or turns digits into 0 to 9, and 0x76 more keeps
 * just these below 0x80. */
static size_t find_digit(const uint8_t *text, size_t at, size_t size)
{
    while (at + 8 <= size) {
        uint64_t x = ald__load_le64(text + at) ^ 0x3030303030303030ull, other;
        other = ((x & 0x7F7F7F7F7F7F7F7Full) + 0x7676767676767676ull) | x;
        other = ~other & 0x8080808080808080ull;
        if (other != 0)
            return at + (size_t)__builtin_ctzll(other) / 8;
        at += 8;
    }
    while (at < size && !is_digit(text[at]))
        at++;
    return at;
}

/* The next run of at most DIGITS_MAX digits; longer ones are passed. */
static int next_run(run_scan *s)
{
    for (;;) {
        uint64_t value = 0;
        size_t begin = find_digit(s->text, s->at, s->size), at = begin;
        while (at < s->size && is_digit(s->text[at]))
            value = value * 10 + (uint64_t)(s->text[at++] - '0');
        s->at = at;
        if (at == begin)
            return 0;
        if (at - begin > DIGITS_MAX)
            continue;
        s->begin = begin;
        s->digits = at - begin;
        s->value = value;
        return 1;
    }
}

static void learn_run(run_policy *p, const run_scan *s)
{
    if (p->kind == RUN_UNSEEN) {
        p->kind = RUN_FIXED;
        p->length = (uint32_t)s->digits;
        p->value = s->value;
    } else if (p->length != s->digits) {
        p->kind = RUN_PLAIN;
    } else if (p->kind == RUN_FIXED && p->value != s->value) {
        p->kind = RUN_PADDED;
    }
}

static void learn(const ald__strings *v, run_policy policies[RUNS_MAX])
{
    size_t step = v->n > LEARN_ROWS ? v->n / LEARN_ROWS : 1;
    memset(policies, 0, RUNS_MAX * sizeof policies[0]);
    for (size_t i = 0; i < v->n; i += step) {
        run_scan s = {v->data + v->offsets[i], v->offsets[i + 1] - v->offsets[i], 0, 0, 0, 0};
        for (size_t r = 0; r < RUNS_MAX && next_run(&s); r++)
            learn_run(&policies[r], &s);
    }
}

/* The marker for a run, or 0: it stays text. */
static uint8_t mark_of(const run_policy policies[RUNS_MAX], size_t run, const run_scan *s)
{
    run_kind kind = run < RUNS_MAX ? policies[run].kind : RUN_PLAIN;
    if (kind == RUN_FIXED)
        return 0;
    if (kind == RUN_PADDED || (s->text[s->begin] == '0' && s->digits > 1))
        return (uint8_t)(MARK_PADDED + s->digits);
    return MARK_PLAIN;
}

static int has_marks(const ald__strings *v)
{
    size_t size = ald__strings_size(v), found = 0;
    for (size_t i = 0; i < size; i++)
        found += v->data[i] == MARK_PLAIN || (v->data[i] > MARK_PADDED && v->data[i] <= MARK_LAST);
    return found > 0;
}

/* What a walk over all strings fills: templates, how many markers each has, and the values as they come. */
typedef struct template_walk {
    const run_policy *policies;
    uint8_t *to;
    size_t size;
    uint8_t *marks; /* of each string */
    ald_buffer *values;
    size_t counts[ALD__PACKED_SLOT_MAX];
    uint64_t *slots[ALD__PACKED_SLOT_MAX]; /* once they are told apart */
} template_walk;

/* There is room for the values of one string. */
static uint8_t walk_string(template_walk *w, const uint8_t *text, size_t size)
{
    run_scan s = {text, size, 0, 0, 0, 0};
    uint64_t *values = (uint64_t *)(void *)(w->values->data + w->values->size);
    size_t slot = 0, copied = 0;
    for (size_t r = 0; slot < ALD__PACKED_SLOT_MAX && next_run(&s); r++) {
        uint8_t mark = mark_of(w->policies, r, &s);
        if (mark == 0)
            continue;
        memcpy(w->to + w->size, text + copied, s.begin - copied);
        w->size += s.begin - copied;
        w->to[w->size++] = mark;
        copied = s.at;
        values[slot] = s.value;
        w->counts[slot++]++;
    }
    if (size > copied)
        memcpy(w->to + w->size, text + copied, size - copied);
    w->size += size - copied;
    w->values->size += slot * sizeof *values;
    return (uint8_t)slot;
}

static ald_status walk_strings(ald__pack *pack, template_walk *w, const ald__strings *v,
                               uint32_t *offsets)
{
    offsets[0] = 0;
    for (size_t i = 0; i < v->n; i++) {
        ALD_TRY(ald__buffer_reserve(w->values, ALD__PACKED_SLOT_MAX * sizeof(uint64_t), pack->err));
        w->marks[i] = walk_string(w, v->data + v->offsets[i], v->offsets[i + 1] - v->offsets[i]);
        offsets[i + 1] = (uint32_t)w->size;
    }
    return ALD_OK;
}

/* Values in the order of strings into a series for each slot. */
static ald_status sort_slots(ald__pack *pack, template_walk *w, const ald__strings *v)
{
    const uint64_t *from = (const uint64_t *)(const void *)w->values->data;
    uint64_t *to = ald__pack_room(pack, &pack->slot_values, w->values->size);
    if (to == NULL)
        return ALD_E_NOMEM;
    for (size_t j = 0; j < ALD__PACKED_SLOT_MAX; j++) {
        w->slots[j] = to;
        to += w->counts[j];
        w->counts[j] = 0;
    }
    for (size_t i = 0; i < v->n; i++) {
        for (size_t j = 0; j < w->marks[i]; j++)
            w->slots[j][w->counts[j]++] = *from++;
    }
    return ALD_OK;
}

/* Templates and slots; *slots = 0: there are no numbers. */
static ald_status make_templates(ald__pack *pack, const ald__strings *v, template_walk *w,
                                 ald__strings *templates, size_t *slots)
{
    uint32_t *offsets = ald__pack_room(pack, &pack->template_offsets, (v->n + 1) * sizeof *offsets);
    *slots = 0;
    w->values = &pack->walked;
    w->values->size = 0;
    w->to = ald__pack_room(pack, &pack->templates, ald__strings_size(v));
    w->marks = ald__pack_room(pack, &pack->marks, v->n);
    if (offsets == NULL || w->to == NULL || w->marks == NULL)
        return ALD_E_NOMEM;
    ALD_TRY(walk_strings(pack, w, v, offsets));
    while (*slots < ALD__PACKED_SLOT_MAX && w->counts[*slots] > 0)
        ++*slots;
    *templates = (ald__strings){w->to, offsets, v->n};
    return sort_slots(pack, w, v);
}

/* A dictionary where templates repeat, else text. */
static ald_status put_templates(ald__pack *pack, const ald__strings *templates,
                                ald__packed_entry *entry, ald__streams *out)
{
    size_t bytes = out->bytes.size, ends = out->ends.size;
    int done;
    ALD_TRY(ald__pack_strdict(pack, templates, entry, out, &done));
    entry->words = (uint8_t)done;
    if (done)
        return ALD_OK;
    out->bytes.size = bytes;
    out->ends.size = ends;
    entry->count = entry->word_bytes = entry->index_bits = 0;
    return ald__pack_str(pack, templates, entry, out, &done);
}

ald_status ald__pack_strnum(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                            ald__streams *out, int *done)
{
    run_policy policies[RUNS_MAX];
    template_walk w;
    ald__strings templates;
    size_t slots;
    *done = 0;
    if (has_marks(v))
        return ALD_OK;
    learn(v, policies);
    memset(&w, 0, sizeof w);
    w.policies = policies;
    ALD_TRY(make_templates(pack, v, &w, &templates, &slots));
    if (slots == 0)
        return ALD_OK;
    entry->small = (uint8_t)slots;
    entry->bytes = (uint32_t)w.size;
    ALD_TRY(put_templates(pack, &templates, entry, out));
    for (size_t j = 0; j < slots; j++) {
        ald__numbers series = {(const uint8_t *)w.slots[j], w.counts[j], 8, 0};
        entry->slots[j].count = (uint32_t)w.counts[j];
        ALD_TRY(ald__ints_put_best(pack, &series, ALD__MODES_ALL, &entry->slots[j].ints, out));
    }
    *done = 1;
    return ALD_OK;
}
