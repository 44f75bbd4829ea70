/* SPDX-License-Identifier: MIT */
/* Which chunks of a damaged .ald are whole, and what is lost. */
#ifndef CLI_DAMAGE_H
#define CLI_DAMAGE_H

#include "ald/arrow.h"
#include "ald/streaming.h"
#include "cli/input.h"
#include "cli/json_print.h"

/* One chunk that does not load. Ranges are half open. */
typedef struct damaged_chunk {
    uint64_t index, first_row, end_row;
    ald_range bytes; /* of the file */
    ald_error error;
} damaged_chunk;

/* What is damaged outside the chunks. bytes.begin = bytes.end: from there on bytes are missing. */
typedef struct damaged_part {
    const char *name;
    ald_range bytes;
    ald_error error;
} damaged_part;

typedef struct damage_list {
    damaged_chunk *items;
    size_t count, cap;
    uint64_t chunk_count, lost_rows;
    damaged_part outside[3]; /* prologue, epilogue, and one more */
    size_t outside_count;
} damage_list;

/* Loads chunk `index`; when it is damaged, notes why, returns ALD_OK and leaves out->release NULL. Other failures (memory) are
 * passed on. */
ALD_NODISCARD ald_status damage_load(damage_list *list, ald_streaming *file, uint64_t index,
                                     struct ArrowArray *out, ald_error *err);
/* Opens a damaged file in chunks; of one without chunks the error says what that means. */
ALD_NODISCARD ald_status damage_open(cli_env *env, cli_input *in, ald_streaming **out,
                                     ald_error *err);

/* Of a file from damage_open, when all its chunks were loaded: notes what else is damaged. Failures as above. */
ALD_NODISCARD ald_status damage_look_outside(damage_list *list, const cli_env *env,
                                             const cli_input *in, const ald_streaming *file,
                                             ald_error *err);

/* Of a command that failed with `err`: a hint, when the file that it is about is one that can be repaired. */
void damage_hint(cli_env *env, const ald_error *err);

void damage_clear(damage_list *list);

/* A line for each damaged chunk and part, on stdout. */
void damage_print(const damage_list *list);
/* "damaged": [{"chunk", "first_row", "end_row", "first_byte", "end_byte", "error", "message"}], …, "outside": [{"part", "first_byte", …}] */
void damage_json(json_print *j, const damage_list *list);

#endif
