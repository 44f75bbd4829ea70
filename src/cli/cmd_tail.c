/* SPDX-License-Identifier: MIT */
/* alimentar tail FILE */
#include "cli/command.h"
#include "cli/rows.h"

static ald_status run_tail(cli_env *env, void *raw, ald_error *err)
{
    const rows_args *args = raw;
    cli_selection what;
    ald_status status = cli_choose(&args->show.choose, &what, err);
    what.last_rows = cli_option_given(env, "rows") ? args->show.rows : 10;
    return status != ALD_OK ? status : cli_rows_print(env, args, &what, 0, err);
}

static const char *const examples[] = {
    "the last three rows as JSON",
    "alimentar tail data.ald -n 3 --json",
    NULL,
};

const cli_command cli_cmd_tail = {
    .verb = "tail",
    .brief = "print the last rows",
    .details = "The rows are printed in their order. Of a .ald in chunks only the last ones are "
               "read and checked. The table is cut to the width of the terminal; --json is not.",
    .examples = examples,
    .operands = cli_rows_operands,
    .options = cli_rows_options,
    .args_size = sizeof(rows_args),
    .run = run_tail,
};
