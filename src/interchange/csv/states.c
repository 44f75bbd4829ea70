/* SPDX-License-Identifier: MIT */
/* Knows how a block is entered and left. */
#include "interchange/csv/states.h"

#define RUN_WORDS 32

typedef struct state_run {
    ald__csv_state state;
    ald__csv_exit *out;
    int live;
} state_run;

ald__csv_state ald__csv_state_of_entry(ald__csv_entry entry, uint8_t before,
                                       const ald__csv_dialect *dialect)
{
    ald__csv_state s = {0, 0, 0, 0, 0, 0};
    if (entry == ALD__CSV_ENTRY_QUOTED)
        s.in_quote = ~0ull;
    else if (entry == ALD__CSV_ENTRY_CLOSED)
        s.closed = 1;
    else {
        s.field_start = before == dialect->delimiter || before == '\n' || before == '\r';
        s.cr = before == '\r';
    }
    return s;
}

static void note_newline(state_run *run, const uint8_t *data, size_t base, uint64_t newline,
                         size_t size, int last)
{
    size_t next = base + (size_t)__builtin_ctzll(newline) + 1;
    if (data[next - 1] == '\r' && (next < size || !last) && data[next] == '\n')
        next++;
    run->out->has_newline = 1;
    run->out->first_record = next;
}

/* Behind a fault the state does not matter any more: the record with the fault begins earlier and is reported. */
static ald__csv_cut run_step(state_run *run, const ald__csv_word *word, const uint8_t *data,
                             unsigned count, const ald__csv_dialect *dialect)
{
    ald__csv_cut cut = count == 64 ? ald__csv_step(&run->state, word, data, dialect)
                                   : ald__csv_step_slow(&run->state, word, data, count, dialect);
    if (cut.fault >= 0)
        run->live = 0;
    return cut;
}

/* A word without quotes moves little: nothing inside quotes, and outside only what its last byte says, once the first line
 * end is known. 0: it must be stepped through. */
static inline int run_quickly(state_run *run, const ald__csv_word *word)
{
    ald__csv_state *s = &run->state;
    if (word->quote != 0 || s->closed)
        return 0;
    if (s->in_quote)
        return 1;
    if (!run->out->has_newline)
        return 0;
    s->field_start = (uint8_t)((word->delimiter | word->cr | word->lf) >> 63);
    s->cr = (uint8_t)(word->cr >> 63);
    return 1;
}

static void run_word(state_run *runs, const ald__csv_word *word, const uint8_t *data, size_t base,
                     size_t size, int last, const ald__csv_dialect *dialect)
{
    unsigned count = size - base >= 64 ? 64 : (unsigned)(size - base);
    for (int e = 0; e < ALD__CSV_ENTRIES; e++) {
        ald__csv_cut cut;
        if (!runs[e].live || (count == 64 && run_quickly(&runs[e], word)))
            continue;
        cut = run_step(&runs[e], word, data + base, count, dialect);
        if (cut.newline != 0 && !runs[e].out->has_newline)
            note_newline(&runs[e], data, base, cut.newline, size, last);
    }
}

void ald__csv_states_run(const ald__csv_dialect *dialect, uint8_t before, const uint8_t *data,
                         size_t size, int last, ald__csv_exit out[ALD__CSV_ENTRIES])
{
    const ald__csv_chars chars = {dialect->quote, dialect->delimiter};
    ald__csv_word words[RUN_WORDS];
    state_run runs[ALD__CSV_ENTRIES];
    size_t total = size / 64 + (size % 64 != 0);
    for (int e = 0; e < ALD__CSV_ENTRIES; e++) {
        out[e] = (ald__csv_exit){ALD__CSV_ENTRY_OUTSIDE, 0, 0};
        runs[e] =
            (state_run){ald__csv_state_of_entry((ald__csv_entry)e, before, dialect), &out[e], 1};
    }
    runs[ALD__CSV_ENTRY_CLOSED].live = before == dialect->quote;
    for (size_t w = 0; w < total; w += RUN_WORDS) {
        size_t count = total - w < RUN_WORDS ? total - w : RUN_WORDS;
        (void)dialect->masks(data + w * 64, count, chars, words);
        for (size_t i = 0; i < count; i++)
            run_word(runs, &words[i], data, (w + i) * 64, size, last, dialect);
    }
    for (int e = 0; e < ALD__CSV_ENTRIES; e++) {
        out[e].entry = runs[e].state.in_quote ? ALD__CSV_ENTRY_QUOTED
                       : runs[e].state.closed ? ALD__CSV_ENTRY_CLOSED
                                              : ALD__CSV_ENTRY_OUTSIDE;
    }
}
