/* SPDX-License-Identifier: MIT */
/* Fields of a slab into the profiles of their columns. */
#ifndef INTERCHANGE_CSV_INFER_H
#define INTERCHANGE_CSV_INFER_H

#include "interchange/csv/csv_tally.h"
#include "interchange/csv/reader.h"

/* A column with so many text values in one block needs no further look in that block: no note will speak of it. */
#define ALD__CSV_MANY_TEXT 100

typedef struct ald__csv_infer {
    const ald__csv_nulls *nulls;
    size_t columns;
    ald__profile *bare;
    ald__profile *quoted; /* NULL: quotes make text */
    uint8_t
        *done; /* per column: nonzero needs no look; set to ALD__CSV_DONE_TEXT when text abounds */
    uint8_t bare_seen; /* a field of this block is not quoted */
    uint8_t empties;   /* a column that needs no look has a field that is empty, and so null */
    const uint64_t
        *base; /* per column, the texts before this block; NULL: the profiles are of one block */
} ald__csv_infer;

#define ALD__CSV_DONE_DECLARED 1
#define ALD__CSV_DONE_TEXT 2

/* The first `rows` rows of the slab. */
void ald__csv_infer_slab(ald__csv_infer *infer, const ald__csv_walk *walk, size_t rows);

/* Its parts, for who parses the values on the way. While quotes may say nothing, the first bare field ends that wherever it
 * stands: */
void ald__csv_infer_quotes(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                           size_t rows);
void ald__csv_infer_column(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                           size_t rows);
/* Sets `empties`, for a column that needs no look. */
void ald__csv_infer_empties(ald__csv_infer *infer, const ald__csv_walk *walk, size_t column,
                            size_t rows);
/* Any field. 0: the column needs no further look. */
int ald__csv_infer_field(ald__csv_infer *infer, const ald__csv_walk *walk, size_t row,
                         size_t column, ald__csv_tally *tally);

/* Texts that the profiles have. */
static inline uint64_t ald__csv_infer_texts(const ald__csv_infer *infer, size_t column)
{
    return infer->bare[column].count[ALD__TOKEN_TEXT] +
           (infer->quoted != NULL ? infer->quoted[column].count[ALD__TOKEN_TEXT] : 0);
}

#endif
