/* SPDX-License-Identifier: MIT */
/* The quote automaton, 64 bytes at a time: which delimiters and line ends are outside quotes.
 *
 * A quote opens a field only where a field begins; inside quotes two quotes are one; behind a closing quote only a
 * delimiter or line end may stand. Any other quote is a character. So quotes do not simply alternate, and the fast path
 * (parity by exclusive-or) is taken only where it is proven to be right: every quote that it takes for an opening one
 * stands at the beginning of a field or directly behind a closing one, and every closing one before a delimiter, line end
 * or quote. Otherwise the word is gone through byte by byte. */
#ifndef INTERCHANGE_CSV_QUOTES_H
#define INTERCHANGE_CSV_QUOTES_H

#include "interchange/csv/dialect.h"

typedef struct ald__csv_state {
    uint64_t in_quote; /* all bits or none */
    uint8_t field_start;
    uint8_t record_start; /* kept only with comments */
    uint8_t closed;       /* the last byte was a closing quote, or the first of a doubled one */
    uint8_t cr;           /* the last byte was a CR that ended a record */
    uint8_t comment;      /* inside a comment line */
} ald__csv_state;

#define ALD__CSV_STATE_RECORD {0, 1, 1, 0, 0, 0}

typedef struct ald__csv_cut {
    uint64_t structural; /* delimiters and line ends (of CRLF the CR) */
    uint64_t newline;    /* the line ends of them */
    int fault;           /* the bit of a byte that stands behind a closing quote; -1: none */
} ald__csv_cut;

/* For words that the fast path does not take. `count` bytes of the word count. */
ald__csv_cut ald__csv_step_slow(ald__csv_state *state, const ald__csv_word *word,
                                const uint8_t *data, unsigned count,
                                const ald__csv_dialect *dialect);

static inline uint64_t ald__csv_prefix_xor(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    return x ^ (x << 32);
}

/* All 64 bytes count. */
static inline ald__csv_cut ald__csv_step(ald__csv_state *state, const ald__csv_word *word,
                                         const uint8_t *data, const ald__csv_dialect *dialect)
{
    const uint64_t breaks = word->delimiter | word->cr | word->lf;
    uint64_t inside, opening, closing, outside, may_open, may_close;
    ald__csv_cut cut = {0, 0, -1};
    if (dialect->comment != 0)
        return ald__csv_step_slow(state, word, data, 64, dialect);
    if (word->quote == 0 && state->in_quote)
        return cut;
    inside = ald__csv_prefix_xor(word->quote) ^ state->in_quote;
    opening = word->quote & inside;
    closing = word->quote & ~inside;
    outside = breaks & ~inside;
    may_open = (outside | closing) << 1 | state->field_start | state->closed;
    may_close = (breaks | word->quote) >> 1 | 1ull << 63;
    if ((opening & ~may_open) | (closing & ~may_close) |
        (uint64_t)(state->closed & (unsigned)~(breaks | word->quote)))
        return ald__csv_step_slow(state, word, data, 64, dialect);
    cut.newline = (word->cr | (word->lf & ~(word->cr << 1 | state->cr))) & outside;
    cut.structural = (word->delimiter & outside) | cut.newline;
    state->in_quote = 0 - (inside >> 63);
    state->field_start = (uint8_t)(outside >> 63);
    state->closed = (uint8_t)(closing >> 63);
    state->cr = (uint8_t)((word->cr & outside) >> 63);
    return cut;
}

#endif
