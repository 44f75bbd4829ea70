/* SPDX-License-Identifier: MIT */
/* The quote automaton run over a block from every state that it may be in at the block's beginning. With the exits of all
 * blocks the true states follow one from the other: blocks can then be read at the same time without a guess. */
#ifndef INTERCHANGE_CSV_STATES_H
#define INTERCHANGE_CSV_STATES_H

#include "interchange/csv/quotes.h"

typedef enum ald__csv_entry {
    ALD__CSV_ENTRY_OUTSIDE =
        0, /* not in quotes; the byte before the block tells whether a field begins */
    ALD__CSV_ENTRY_QUOTED,
    ALD__CSV_ENTRY_CLOSED, /* behind a quote that closes, or is the first of two */
    ALD__CSV_ENTRIES
} ald__csv_entry;

typedef struct ald__csv_exit {
    uint8_t entry; /* of the block that follows */
    uint8_t has_newline;
    uint64_t
        first_record; /* offset in the block behind its first line end that ends a record, if has_newline */
} ald__csv_exit;

/* The automaton at the beginning of a block, behind the byte `before`. */
ald__csv_state ald__csv_state_of_entry(ald__csv_entry entry, uint8_t before,
                                       const ald__csv_dialect *dialect);

/* `before` is the byte before the block ('\n' at the beginning of all), and ALD__CSV_PADDING bytes behind the block are
 * readable; data[size] is a byte of the input unless `last`. Comments are not known here. A block that begins between CR
 * and LF begins behind the LF as far as records are concerned. */
void ald__csv_states_run(const ald__csv_dialect *dialect, uint8_t before, const uint8_t *data,
                         size_t size, int last, ald__csv_exit out[ALD__CSV_ENTRIES]);

#endif
