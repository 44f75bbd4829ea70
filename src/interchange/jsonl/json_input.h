/* SPDX-License-Identifier: MIT */
/* The input as a whole: lines or one array, an index over it, and errors with their place. */
#ifndef INTERCHANGE_JSONL_JSON_INPUT_H
#define INTERCHANGE_JSONL_JSON_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/io.h"
#include "interchange/jsonl/json_fault.h"
#include "interchange/jsonl/json_records.h"

/* The index counts by cells of this many bytes. A record belongs to the cell in which it begins. */
#define ALD__JSON_CELL_BYTES ((uint64_t)1 << 20)

typedef struct ald__json_cell {
    uint64_t first; /* source offset of the first record, in arrays */
    uint64_t rows;
    uint64_t lines; /* that begin in the cell behind a newline, in lines */
} ald__json_cell;

/* What strings take, by records that were looked at. */
typedef struct ald__json_sampled {
    uint64_t records, text_bytes;
} ald__json_sampled;

typedef struct ald__json_input {
    ald_source source;
    ald_host host;
    uint64_t max_bytes; /* of a record */
    uint64_t begin;     /* behind the byte order mark, and behind an array's `[` */
    int is_array;
    ald__json_cell *cells;
    size_t cell_count, cells_known; /* lines are counted in the first cells_known */
    ald__json_sampled sampled;
} ald__json_input;

/* Looks at the first bytes and makes an index of empty cells; an array is searched for its elements. The source and the
 * host are copied. A fault of the array's form is left in *fault (with ALD_OK) when elements before it must be judged
 * first; clear it before. */
ALD_NODISCARD ald_status ald__json_input_init(ald__json_input *input, const ald_source *source,
                                              const ald_host *host, uint64_t max_bytes,
                                              ald__json_fault *fault, ald_error *err);
void ald__json_input_clear(ald__json_input *input);

/* Puts the search at the first record of a cell (behind its end, if none begins in it). */
ALD_NODISCARD ald_status ald__json_input_seek(const ald__json_input *input, size_t cell,
                                              ald__json_records *records, ald_error *err);
uint64_t ald__json_cell_end(const ald__json_input *input, size_t cell);

/* The number, from 1, of the line that holds this byte. */
ALD_NODISCARD ald_status ald__json_input_line(const ald__json_input *input, uint64_t offset,
                                              uint64_t *line, ald_error *err);
/* Fills err with the fault: name of the input, line, path, what, the text there, hint. Returns its status. */
ald_status ald__json_input_report(const ald__json_input *input, const ald__json_fault *fault,
                                  ald_error *err);

#endif
