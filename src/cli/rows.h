/* SPDX-License-Identifier: MIT */
/* What head, tail and cat share. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli/division.h"
#include "cli/input.h"
#include "cli/select.h"

typedef struct rows_options {
    choose_options choose;
    uint64_t rows;
    uint8_t json;
} rows_options;

typedef struct rows_args {
    cli_common common;
    opt_list in;
    read_options read;
    rows_options show;
} rows_args;

extern const opt_operand cli_rows_operands[];
extern const opt_use cli_rows_options[];     /* with --rows */
extern const opt_use cli_rows_all_options[]; /* without */

/* Whether a column's values are plain numbers. */
int cli_field_is_number(const struct ArrowSchema *field);

/* Prints the chosen rows: JSON lines, or a table (cut to the terminal unless `whole`). */
ALD_NODISCARD ald_status cli_rows_print(cli_env *env, const rows_args *args,
                                        const cli_selection *what, int whole, ald_error *err);
/* The same of the first part of a division alone; `what` has no limits. */
ALD_NODISCARD ald_status cli_rows_print_part(cli_env *env, const rows_args *args,
                                             const cli_selection *what, division *division,
                                             ald_error *err);

#endif
