/* SPDX-License-Identifier: MIT */
/* alimentar cat FILE */
#include "cli/command.h"
#include "cli/rows.h"

static ald_status run_cat(cli_env *env, void *raw, ald_error *err)
{
    const rows_args *args = raw;
    cli_selection what;
    ald_status status = cli_choose(&args->show.choose, &what, err);
    return status != ALD_OK ? status : cli_rows_print(env, args, &what, 1, err);
}

static const char *const examples[] = {
    "all rows as JSON lines",
    "alimentar cat --json data.ald | jq .name",
    NULL,
};

const cli_command cli_cmd_cat = {
    .verb = "cat",
    .brief = "print all rows",
    .details =
        "A .ald is checked as a whole before anything is printed. In JSON, 64-bit integers and "
        "decimals have "
        "all their digits; NaN and infinities are the strings \"NaN\", \"Infinity\" and "
        "\"-Infinity\"; dates, "
        "times and timestamps are ISO 8601; binary values are base64. Nothing of the table is cut.",
    .examples = examples,
    .operands = cli_rows_operands,
    .options = cli_rows_all_options,
    .args_size = sizeof(rows_args),
    .run = run_cat,
};
