/* SPDX-License-Identifier: MIT */
/* Which of 64 bytes are quotes, delimiters and line ends: the one part of the CSV reader that is written per processor. */
#ifndef INTERCHANGE_CSV_MASKS_H
#define INTERCHANGE_CSV_MASKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct ald__csv_chars {
    uint8_t quote, delimiter;
} ald__csv_chars;

/* Bit i says that byte i of the 64 is this character. */
typedef struct ald__csv_word {
    uint64_t quote, delimiter, cr, lf;
} ald__csv_word;

#define ALD__CSV_HIGH 1u /* a byte of 0x80 and above */
#define ALD__CSV_NUL 2u

/* Fills `words` from words × 64 bytes (all are read) and says what else was among them. */
typedef unsigned (*ald__csv_masks_fn)(const uint8_t *data, size_t words, ald__csv_chars chars,
                                      ald__csv_word *out);

/* The fastest that this processor has. */
ald__csv_masks_fn ald__csv_masks_best(void);
/* All that this build and processor have, fastest first, the portable one last; NULL behind the last. For tests. */
ald__csv_masks_fn ald__csv_masks_variant(size_t index);

#endif
