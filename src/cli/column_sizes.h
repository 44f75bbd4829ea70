/* SPDX-License-Identifier: MIT */
/* What each column of a .ald takes, for info --columns. */
#ifndef CLI_COLUMN_SIZES_H
#define CLI_COLUMN_SIZES_H

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/json_print.h"

/* Sizes, ratio and (packed) filters of all columns: a member "column_sizes" of the JSON object that is open, or, with `json`
 * NULL, a table. Every chunk is read. */
ALD_NODISCARD ald_status cli_column_sizes(cli_env *env, cli_input *in, json_print *json,
                                          ald_error *err);

#endif
