/* SPDX-License-Identifier: MIT */
/* What each column of a .ald takes, for info --columns. */
#ifndef CLI_COLUMN_SIZES_H
#define CLI_COLUMN_SIZES_H

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/json_print.h"

#include "ald/streaming.h"

/* Sizes, ratio and (packed) filters of all columns: a member "column_sizes" of the JSON object that is open, or, with `json`
 * NULL, a table. Every chunk is read; a file without chunks is loaded, and checked, as by other commands. */
ALD_NODISCARD ald_status cli_column_sizes(cli_input *in, const read_options *read, json_print *json,
                                          ald_error *err);

/* The filters of a column: "INTS", or "INTS 12, DICT 3" where chunks differ; "" where nothing was packed. */
void cli_filters_text(const ald_column_storage *column, char *out, size_t size);
/* The same as members of a JSON object "filters", after "stored_bytes" and "plain_bytes". */
void cli_column_storage_json(json_print *json, const ald_column_storage *column);

#endif
