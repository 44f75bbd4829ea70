/* SPDX-License-Identifier: MIT */
/* alimentar head FILE */
#include "cli/command.h"
#include "cli/rows.h"

static ald_status run_head(cli_env *env, void *raw, ald_error *err)
{
    const rows_args *args = raw;
    cli_selection what;
    ald_status status = cli_choose(&args->show.choose, &what, err);
    what.first_rows = cli_option_given(env, "rows") ? args->show.rows : 10;
    return status != ALD_OK ? status : cli_rows_print(env, args, &what, 0, err);
}

static const char *const examples[] = {
    "the first rows of two columns",
    "alimentar head data.ald --rows 5 --columns name,age",
    NULL,
};

const cli_command cli_cmd_head = {
    .verb = "head",
    .brief = "print the first rows",
    .details =
        "A .ald is checked as a whole before anything is printed; of one in chunks only those "
        "that are printed are read and checked. The table is cut to the width of the terminal; "
        "--json is not.",
    .examples = examples,
    .operands = cli_rows_operands,
    .options = cli_rows_options,
    .args_size = sizeof(rows_args),
    .run = run_head,
};
