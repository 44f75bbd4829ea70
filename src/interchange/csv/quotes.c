/* SPDX-License-Identifier: MIT */
/* Knows the quote automaton byte by byte. */
#include "interchange/csv/quotes.h"

typedef enum quote_place {
    PLACE_START,
    PLACE_BARE,
    PLACE_QUOTED,
    PLACE_CLOSED,
    PLACE_COMMENT
} quote_place;

static quote_place place_of(const ald__csv_state *s)
{
    if (s->comment)
        return PLACE_COMMENT;
    if (s->in_quote)
        return PLACE_QUOTED;
    if (s->closed)
        return PLACE_CLOSED;
    return s->field_start ? PLACE_START : PLACE_BARE;
}

/* The place behind a byte that is no break, or that stands inside quotes or a comment. */
static quote_place place_after(quote_place place, int is_quote, int is_comment)
{
    if (place == PLACE_QUOTED)
        return is_quote ? PLACE_CLOSED : PLACE_QUOTED;
    if (place == PLACE_CLOSED && is_quote)
        return PLACE_QUOTED;
    if (place == PLACE_START && is_quote)
        return PLACE_QUOTED;
    if (place == PLACE_START && is_comment)
        return PLACE_COMMENT;
    return place == PLACE_COMMENT ? PLACE_COMMENT : PLACE_BARE;
}

ald__csv_cut ald__csv_step_slow(ald__csv_state *state, const ald__csv_word *word,
                                const uint8_t *data, unsigned count,
                                const ald__csv_dialect *dialect)
{
    quote_place place = place_of(state);
    ald__csv_cut cut = {0, 0, -1};
    unsigned cr = state->cr, record = state->record_start;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t bit = 1ull << i;
        int is_newline = ((word->cr | word->lf) & bit) != 0;
        int is_quote = (word->quote & bit) != 0;
        int is_break = is_newline || (word->delimiter & bit) != 0;
        if ((word->lf & bit) && cr) { /* of a CRLF */
            cr = 0;
            continue;
        }
        cr = 0;
        if (is_break && place != PLACE_QUOTED && (place != PLACE_COMMENT || is_newline)) {
            cut.structural |= bit;
            cut.newline |= is_newline ? bit : 0;
            cr = (word->cr & bit) != 0;
            record = (unsigned)is_newline;
            place = PLACE_START;
            continue;
        }
        if (place == PLACE_CLOSED && !is_quote) {
            cut.fault = (int)i;
            break;
        }
        place = place_after(place, is_quote,
                            record && dialect->comment != 0 && data[i] == dialect->comment);
        record = 0;
    }
    state->in_quote = place == PLACE_QUOTED ? ~0ull : 0;
    state->closed = place == PLACE_CLOSED;
    state->field_start = place == PLACE_START;
    state->comment = place == PLACE_COMMENT;
    state->record_start = (uint8_t)record;
    state->cr = (uint8_t)cr;
    return cut;
}
