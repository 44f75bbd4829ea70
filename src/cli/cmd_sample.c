/* SPDX-License-Identifier: MIT */
/* alimentar sample FILE [OUT] */
#include "cli/command.h"
#include "cli/draw.h"
#include "cli/rows.h"
#include "cli/transfer.h"

typedef struct sample_options {
    uint64_t rows, seed;
    const char *fraction;
    const char *stratify;
} sample_options;

typedef struct sample_args {
    cli_common common;
    const char *in, *out;
    sample_options sample;
    choose_options choose;
    uint8_t json;
    read_options read;
    write_options write;
    keep_options keep;
} sample_args;

static ald_status plan(cli_env *env, const sample_options *o, division *d, ald_error *err)
{
    int has_rows = cli_option_given(env, "rows");
    *d = (division){.kind = has_rows ? DIVISION_ROWS : DIVISION_FRACTION,
                    .part_count = 2,
                    .seed = o->seed,
                    .rows = o->rows,
                    .stratify = o->stratify};
    if (has_rows == (o->fraction != NULL)) {
        cli_hint(env, "-n 1000 takes a thousand rows, --fraction 0.1 a tenth of them");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "sample: give either --rows or --fraction");
    }
    if (!has_rows &&
        (!draw_parse_share(o->fraction, 2, &d->shares[0]) || d->shares[0] > DRAW_WHOLE)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--fraction: '%s' is no number from 0 to 1 of up to nine places",
                             o->fraction);
    }
    return ALD_OK;
}

static ald_status print_sample(cli_env *env, const sample_args *args, const cli_selection *what,
                               division *d, ald_error *err)
{
    const char *in = args->in;
    rows_args rows = {.in = {&in, 1}, .read = args->read, .show = {.json = args->json}};
    if (args->write.to != NULL) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "sample: --to needs an output");
    }
    return cli_rows_print_part(env, &rows, what, d, err);
}

static ald_status write_sample(cli_env *env, const sample_args *args, const char *out,
                               const cli_selection *what, division *d, ald_error *err)
{
    static const describe_options nothing;
    const char *in = args->in;
    opt_list inputs = {&in, 1};
    transfer t = {.in = in,
                  .inputs = &inputs,
                  .out = out,
                  .read = &args->read,
                  .write = &args->write,
                  .describe = &nothing,
                  .keep = &args->keep,
                  .choice = what,
                  .division = d};
    if (args->json) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "sample: --json prints the rows; with an output they are written");
    }
    return cli_transfer(env, &t, err);
}

static ald_status run_sample(cli_env *env, void *raw, ald_error *err)
{
    const sample_args *args = raw;
    cli_selection what;
    division d = {0};
    const char *out = NULL;
    ald_status status = plan(env, &args->sample, &d, err);
    if (status == ALD_OK) {
        status = cli_choose(&args->choose, &what, err);
    }
    if (status == ALD_OK) {
        status = cli_output_path(args->out, args->write.out, &out, err);
    }
    if (status == ALD_OK) {
        status = out != NULL ? write_sample(env, args, out, &what, &d, err)
                             : print_sample(env, args, &what, &d, err);
    }
    division_clear(&d);
    return status;
}

static const opt_operand operands[] = {
    {"FILE",
     "the file to read; - is standard input (with --from). A quoted pattern, a folder or a "
     "manifest are read as one table",
     offsetof(sample_args, in), 0},
    {"OUT", "where the rows go; without it they are printed", offsetof(sample_args, out),
     OPT_OPERAND_OPTIONAL},
    {0},
};

#define AT(member) .offset = offsetof(sample_options, member)
static const opt_spec sample_specs[] = {
    {.name = "rows",
     .letter = 'n',
     .arg = "N",
     .kind = OPT_COUNT,
     AT(rows),
     .help = "so many rows"},
    {.name = "fraction",
     .arg = "F",
     .kind = OPT_TEXT,
     AT(fraction),
     .help = "a part of the rows, from 0 to 1, rounded to the nearest row"},
    {.name = "seed",
     .arg = "S",
     .kind = OPT_COUNT,
     AT(seed),
     .help = "another number gives another sample, the same one the same; default: 0"},
    {.name = "stratify",
     .arg = "COLUMN",
     .kind = OPT_TEXT,
     AT(stratify),
     .help = "take the same part of the rows of each value of this column"},
};
static const opt_group group_sample = OPT_GROUP("Sample", sample_specs);

static const opt_spec json_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(sample_args, json),
     .help = "print one JSON object a line"},
};
static const opt_group group_json = OPT_GROUP("Printing", json_specs);

static const opt_use options[] = {
    {&group_sample, offsetof(sample_args, sample)},
    {&cli_group_choose, offsetof(sample_args, choose)},
    {&group_json, 0},
    {&cli_group_read, offsetof(sample_args, read)},
    {&cli_group_read_schema, offsetof(sample_args, read)},
    {&cli_group_write, offsetof(sample_args, write)},
    {&cli_group_sign, offsetof(sample_args, keep.sign)},
    {&cli_group_keep, offsetof(sample_args, keep)},
    {&cli_group_trust, offsetof(sample_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "a look at some rows",
    "alimentar sample data.ald -n 10",
    "a tenth of each class, into a file",
    "alimentar sample data.ald tenth.ald --fraction 0.1 --stratify label --seed 7",
    NULL,
};

const cli_command cli_cmd_sample = {
    .verb = "sample",
    .brief = "take some rows by chance, the same ones for the same seed",
    .details =
        "Exactly as many rows as were asked for, each at most once, in their order; each set of "
        "rows is as likely as any other. --where leaves rows out first, and --columns chooses "
        "what is shown of the others. Rows whose number cannot be told beforehand (text, a "
        "condition) are counted in a reading of its own.\n"
        "The rows depend on the seed, on how many rows there are, and, with --stratify, on that "
        "column; not on formats, chunks or threads. How they are drawn is written in "
        "docs/DATASETS.md.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(sample_args),
    .run = run_sample,
};
