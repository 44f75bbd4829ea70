/* SPDX-License-Identifier: MIT */
/* One pass instead of two: types are taken from samples, then checked by every value that is read. What the whole file
 * would have given is known at its end; where that is something else, the reading starts over with two passes. */
#ifndef INTERCHANGE_CSV_CSV_CHECKED_H
#define INTERCHANGE_CSV_CSV_CHECKED_H

#include "interchange/csv/infer.h"

/* What one batch says of the types. */
typedef struct ald__csv_look {
    ald__csv_infer infer;
    uint64_t *base; /* per column, texts before the block in hand */
    uint64_t *head; /* … in the first block */
    uint64_t first_block, block;
} ald__csv_look;

/* What all batches so far say. */
typedef struct ald__csv_checked {
    uint8_t *done;        /* as in ald__csv_infer */
    uint64_t *open_texts; /* per column, texts of the block in which the last batch ended */
    uint64_t open_block;
    uint8_t bare_seen;
    uint8_t surprised; /* a type of the samples does not hold */
} ald__csv_checked;

/* Instead of the survey and ald__csv_resolve: rows and marks of the whole file, types of samples. */
ALD_NODISCARD ald_status ald__csv_guess(ald__csv_reader *reader, ald_error *err);
void ald__csv_checked_free(ald__csv_reader *reader);

ALD_NODISCARD ald_status ald__csv_look_init(ald__csv_reader *reader, ald__csv_look *look,
                                            ald_error *err);
void ald__csv_look_clear(ald__csv_reader *reader, ald__csv_look *look);
/* Before the first row of a batch, which stands at `at`. */
void ald__csv_look_begin(const ald__csv_reader *reader, ald__csv_look *look, uint64_t at);
/* Before the rows at `at`: they may be looked at up to the offset that it returns. */
uint64_t ald__csv_look_block(const ald__csv_reader *reader, ald__csv_look *look, uint64_t at);
/* In the order of the batches. ALD_E_SCHEMA_MISMATCH (also with `surprised` set): start over. */
ALD_NODISCARD ald_status ald__csv_look_merge(ald__csv_reader *reader, const ald__csv_look *look,
                                             ald_error *err);
/* Behind the last batch: the types hold, and notes are told; or ALD_E_SCHEMA_MISMATCH. */
ALD_NODISCARD ald_status ald__csv_checked_end(ald__csv_reader *reader, ald_error *err);
ald_status ald__csv_surprise(ald__csv_reader *reader, ald_error *err);

#endif
