/* SPDX-License-Identifier: MIT */
/* Numbers out of text: runs of digits become markers in templates, and series of their own. What a run becomes is learned
 * from the first rows: one value stays text, one length is padded, the rest are plain. */
#include <string.h>

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

/* The next run of at most DIGITS_MAX digits; longer ones are passed. */
static int next_run(run_scan *s)
{
    while (s->at < s->size) {
        uint64_t value = 0;
        size_t begin = s->at;
        if (!is_digit(s->text[begin])) {
            s->at++;
            continue;
        }
        while (s->at < s->size && is_digit(s->text[s->at]))
            value = value * 10 + (uint64_t)(s->text[s->at++] - '0');
        if (s->at - begin > DIGITS_MAX)
            continue;
        s->begin = begin;
        s->digits = s->at - begin;
        s->value = value;
        return 1;
    }
    return 0;
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

/* What a walk over all strings fills; with `values` NULL it only counts. */
typedef struct template_walk {
    const run_policy *policies;
    size_t counts[ALD__PACKED_SLOT_MAX];
    uint64_t *values[ALD__PACKED_SLOT_MAX];
    uint8_t *to; /* templates */
    size_t size;
} template_walk;

static void walk_string(template_walk *w, const uint8_t *text, size_t size, int fill)
{
    run_scan s = {text, size, 0, 0, 0, 0};
    size_t slot = 0, copied = 0;
    for (size_t r = 0; slot < ALD__PACKED_SLOT_MAX && next_run(&s); r++) {
        uint8_t mark = mark_of(w->policies, r, &s);
        if (mark == 0)
            continue;
        if (fill) {
            memcpy(w->to + w->size, text + copied, s.begin - copied);
            w->size += s.begin - copied;
            w->to[w->size++] = mark;
            copied = s.at;
            w->values[slot][w->counts[slot]] = s.value;
        }
        w->counts[slot++]++;
    }
    if (!fill || size == copied)
        return;
    memcpy(w->to + w->size, text + copied, size - copied);
    w->size += size - copied;
}

static void walk_strings(template_walk *w, const ald__strings *v, uint32_t *offsets)
{
    for (size_t i = 0; i < v->n; i++) {
        walk_string(w, v->data + v->offsets[i], v->offsets[i + 1] - v->offsets[i], offsets != NULL);
        if (offsets != NULL)
            offsets[i + 1] = (uint32_t)w->size;
    }
}

/* Templates into pack->templates, values into pack->slot_values; returns the number of slots. 0: none, or no memory. */
static size_t make_templates(ald__pack *pack, const ald__strings *v, template_walk *w,
                             ald__strings *templates)
{
    size_t total = 0, slots = 0;
    uint32_t *offsets;
    uint64_t *values;
    walk_strings(w, v, NULL);
    while (slots < ALD__PACKED_SLOT_MAX && w->counts[slots] > 0)
        total += w->counts[slots++];
    offsets = ald__pack_room(pack, &pack->template_offsets, (v->n + 1) * sizeof *offsets);
    values = ald__pack_room(pack, &pack->slot_values, total * sizeof *values);
    w->to = ald__pack_room(pack, &pack->templates, ald__strings_size(v));
    if (slots == 0 || offsets == NULL || values == NULL || w->to == NULL)
        return 0;
    for (size_t j = 0; j < slots; j++) {
        w->values[j] = values;
        values += w->counts[j];
        w->counts[j] = 0;
    }
    offsets[0] = 0;
    walk_strings(w, v, offsets);
    *templates = (ald__strings){w->to, offsets, v->n};
    return slots;
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
    slots = make_templates(pack, v, &w, &templates);
    if (slots == 0)
        return pack->failed ? ALD_E_NOMEM : ALD_OK;
    entry->small = (uint8_t)slots;
    entry->bytes = (uint32_t)w.size;
    ALD_TRY(put_templates(pack, &templates, entry, out));
    for (size_t j = 0; j < slots; j++) {
        ald__numbers series = {(const uint8_t *)w.values[j], w.counts[j], 8, 0};
        entry->slots[j].count = (uint32_t)w.counts[j];
        ALD_TRY(ald__ints_put_best(pack, &series, ALD__MODES_ALL, &entry->slots[j].ints, out));
    }
    *done = 1;
    return ALD_OK;
}
