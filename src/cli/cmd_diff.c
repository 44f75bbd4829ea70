/* SPDX-License-Identifier: MIT */
/* alimentar diff A B */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/command.h"
#include "cli/diff.h"
#include "cli/rows.h"

#define EXIT_TROUBLE 2 /* as diff(1): 0 the same, 1 different, 2 anything else */
#define EXAMPLES 10

typedef struct diff_args {
    cli_common common;
    const char *files[2];
    read_options read;
    diff_options options;
} diff_args;

static ald_status parse_tolerance(const char *name, const char *text, double *out, ald_error *err)
{
    char *end = NULL;
    if (text == NULL) {
        return ALD_OK;
    }
    *out = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*out) || *out < 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--%s: '%s' is not a number of 0 or above", name, text);
    }
    return ALD_OK;
}

static int is_text_format(file_format format)
{
    return (file_format_scope_in(format) & SCOPE_TEXT_IN) != 0;
}

/* --from is for a file whose name does not tell. */
static const char *format_for(const diff_args *args, const char *path)
{
    return file_format_of_path(path) == FORMAT_UNKNOWN ? args->read.from : NULL;
}

static ald_status open_files(diff_run *run, const diff_args *args, cli_input inputs[2],
                             ald_error *err)
{
    opt_scope scopes = 0;
    for (int k = 0; k < 2; k++) {
        const char *path = args->files[k];
        opt_list one = {&path, 1}; /* a pattern, a folder or a manifest is one table */
        ald_status status =
            cli_input_open_all(run->env, &one, format_for(args, path), &inputs[k], err);
        if (status != ALD_OK) {
            return status;
        }
        run->names[k] = inputs[k].name;
        run->is_text[k] = (uint8_t)is_text_format(inputs[k].format);
        scopes |= file_format_scope_in(inputs[k].format);
    }
    run->env->subject = NULL;
    return file_format_check_options(run->env, scopes, err);
}

static ald_status open_streams(diff_run *run, const diff_args *args, cli_input inputs[2],
                               ald_error *err)
{
    const cli_selection what = {
        .columns = &args->options.columns, .first_rows = UINT64_MAX, .last_rows = UINT64_MAX};
    for (int k = 0; k < 2; k++) {
        inputs[k].columns = what.columns;
        ald_status status = cli_input_stream(&inputs[k], &args->read, NULL, err);
        if (status == ALD_OK) {
            status = cli_select(run->env, &inputs[k].stream, inputs[k].name, &what,
                                &run->streams[k], err);
        }
        if (status == ALD_OK) {
            status = ald_stream_schema(&run->streams[k], &run->schemas[k], err);
        }
        if (status != ALD_OK) {
            return status;
        }
        cli_progress_end(&inputs[k].progress);
    }
    run->env->subject = NULL;
    return ALD_OK;
}

static ald_status compare(diff_run *run, ald_error *err)
{
    ald_status status = diff_schemas(run, err);
    if (status != ALD_OK) {
        return status;
    }
    cli_progress_start(&run->progress, run->env, "comparing", "rows");
    status = run->key_count > 0 ? diff_by_key(run, err) : diff_by_position(run, err);
    cli_progress_end(&run->progress);
    return status;
}

static ald_status run_diff(cli_env *env, void *raw, ald_error *err)
{
    const diff_args *args = raw;
    diff_run run = {.env = env, .options = &args->options};
    cli_input inputs[2];
    memset(inputs, 0, sizeof(inputs));
    env->trouble = EXIT_TROUBLE;
    run.limit = cli_option_given(env, "limit") ? (size_t)args->options.limit : EXAMPLES;
    run.is_tolerant = args->options.tolerance != NULL || args->options.relative != NULL;
    if (strcmp(args->files[0], "-") == 0 && strcmp(args->files[1], "-") == 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "standard input can be one of the files, not both");
    }
    ald_status status = parse_tolerance("tolerance", args->options.tolerance, &run.absolute, err);
    if (status == ALD_OK) {
        status = parse_tolerance("relative", args->options.relative, &run.relative, err);
    }
    if (status == ALD_OK) {
        status = open_files(&run, args, inputs, err);
    }
    if (status == ALD_OK) {
        status = open_streams(&run, args, inputs, err);
    }
    if (status == ALD_OK) {
        status = compare(&run, err);
    }
    if (status == ALD_OK) {
        env->answer = diff_is_same(&run) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
        if (args->options.json) {
            diff_print_json(&run);
        } else {
            diff_print(&run);
        }
    }
    diff_clear(&run);
    for (int k = 0; k < 2; k++) {
        if (inputs[k].env != NULL) {
            cli_input_close(&inputs[k]);
        }
    }
    return status;
}

static const opt_operand operands[] = {
    {"A", "the first file; - is standard input (with --from)", offsetof(diff_args, files[0]), 0},
    {"B", "the second file; a quoted pattern or a folder stands for several, as for convert",
     offsetof(diff_args, files[1]), 0},
    {0},
};

#define AT(member) .offset = offsetof(diff_options, member)
static const opt_spec diff_specs[] = {
    {.name = "key",
     .letter = 'k',
     .arg = "A,B,...",
     .kind = OPT_LIST,
     AT(key),
     .help = "rows are the same row when these columns are the same; default: row 1 is compared "
             "with row 1, and so on. Two rows of one file with one key are an error"},
    {.name = "columns",
     .letter = 'c',
     .arg = "A,B,...",
     .kind = OPT_LIST,
     AT(columns),
     .help = "compare these columns alone (those of --key must be among them). May be repeated"},
    {.name = "limit",
     .letter = 'n',
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 1000000,
     AT(limit),
     .help = "so many examples for each column, and of rows that only one file has; default: 10"},
    {.name = "tolerance",
     .arg = "X",
     .kind = OPT_TEXT,
     AT(tolerance),
     .help = "floats that differ by at most X are the same"},
    {.name = "relative",
     .arg = "X",
     .kind = OPT_TEXT,
     AT(relative),
     .help = "floats that differ by at most X times the larger of both are the same. With either, "
             "zeros of both signs are the same, and so are all NaNs"},
    {.name = "values-only",
     .kind = OPT_FLAG,
     AT(values_only),
     .help = "other types, nullability and order of columns are no difference while the values are "
             "the same"},
    {.name = "metadata",
     .kind = OPT_FLAG,
     AT(metadata),
     .help = "compare column documentation and other metadata of the schema too"},
    {.name = "json", .kind = OPT_FLAG, AT(json), .help = "what was found as JSON"},
};
static const opt_group group_diff = OPT_GROUP("Comparison", diff_specs);

static const opt_use options[] = {
    {&group_diff, offsetof(diff_args, options)},
    {&cli_group_read, offsetof(diff_args, read)},
    {&cli_group_read_schema, offsetof(diff_args, read)},
    {&cli_group_trust, offsetof(diff_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "is the copy the same?",
    "alimentar diff data.ald data.parquet",
    "what changed since yesterday, whatever the order of the rows?",
    "alimentar diff yesterday.csv today.csv --key id",
    "two runs of a computation",
    "alimentar diff a.ald b.ald --relative 1e-9",
    NULL,
};

static const char *const exit_codes[] = {
    "0  the tables are the same",
    "1  they differ",
    "2  something went wrong, whatever it was",
    NULL,
};

const cli_command cli_cmd_diff = {
    .verb = "diff",
    .brief = "compare two tables: columns, rows, values",
    .details =
        "Any two files that can be read. How values are stored (dictionaries, runs, chunks, "
        "compression, encryption) is no difference. Values of one type are the same when `hash` "
        "takes them for the same; floats then differ by their bits, unless a tolerance is given. "
        "Values of two types are compared as numbers where both are, else by their text. CSV and "
        "JSON have no types of their own, so theirs are no difference.\n"
        "Without --key, a batch of each file is in memory at a time. With it, rows go to a "
        "temporary file ($TMPDIR, else /tmp) where they need more than 32 MB a table, and up to "
        "about 64 MB of them are compared at a time.\n"
        "Rows count from 0.",
    .examples = examples,
    .exit_codes = exit_codes,
    .operands = operands,
    .options = options,
    .args_size = sizeof(diff_args),
    .run = run_diff,
};
