/* SPDX-License-Identifier: MIT */
/* alimentar convert IN [OUT] */
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/transfer.h"

typedef struct convert_args {
    cli_common common;
    opt_list files;  /* IN ..., and OUT as the last one */
    const char *out; /* never set: it names the operand */
    read_options read;
    write_options write;
    describe_options describe;
    keep_options keep;
    choose_options choose;
    shard_options shards;
} convert_args;

/* Without OUT a .ald is replaced by itself: one of several is not. */
static ald_status check_in_place(cli_env *env, const convert_args *args, ald_error *err)
{
    const char *in = args->files.items[0];
    file_format format = FORMAT_UNKNOWN;
    ald_status status = file_format_find(env, in, args->read.from, "--from", &format, err);
    if (status == ALD_OK && (format != FORMAT_ALD || strcmp(in, "-") == 0)) {
        cli_hint(env, "name the output; only a .ald can be replaced by itself");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "convert: OUT is missing");
    }
    if (status == ALD_OK && args->write.to != NULL) {
        cli_hint(env, "name the output");
        status =
            ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "convert: --to needs an output");
    }
    return status;
}

static ald_status run_convert(cli_env *env, void *raw, ald_error *err)
{
    const convert_args *args = raw;
    cli_selection what;
    opt_list inputs = args->files;
    transfer t = {.in = inputs.items[0],
                  .inputs = &inputs,
                  .out = args->write.out,
                  .read = &args->read,
                  .write = &args->write,
                  .describe = &args->describe,
                  .keep = &args->keep,
                  .choice = &what,
                  .shards = &args->shards};
    ald_status status = cli_choose(&args->choose, &what, err);
    if (t.out == NULL && inputs.count > 1) {
        t.out = inputs.items[--inputs.count];
    } else if (status == ALD_OK && inputs.count > 1) {
        const char *last = inputs.items[inputs.count - 1];
        status = access(last, F_OK) != 0 && strpbrk(last, "*?[") == NULL
                     ? cli_output_path(last, t.out, &t.out, err)
                     : ALD_OK;
    }
    if (status == ALD_OK && t.out == NULL) {
        status = check_in_place(env, args, err);
    }
    return status != ALD_OK ? status : cli_transfer(env, &t, err);
}

static const opt_operand operands[] = {
    {"IN",
     "the file to read; - is standard input (with --from). Several files, a quoted pattern "
     "('data/*.csv'), a folder or a manifest are read as one table: all files in the order of "
     "their names, with the first one's types; folders named key=value become columns",
     offsetof(convert_args, files), OPT_OPERAND_MANY},
    {"OUT",
     "the file to write; - is standard output (with --to). Without it, or -o, a .ald is replaced "
     "by itself, in one step",
     offsetof(convert_args, out), OPT_OPERAND_OPTIONAL},
    {0},
};

static const opt_use options[] = {
    {&cli_group_read, offsetof(convert_args, read)},
    {&cli_group_read_schema, offsetof(convert_args, read)},
    {&cli_group_choose, offsetof(convert_args, choose)},
    {&cli_group_write, offsetof(convert_args, write)},
    {&cli_group_shards, offsetof(convert_args, shards)},
    {&cli_group_describe, offsetof(convert_args, describe)},
    {&cli_group_card, offsetof(convert_args, describe)},
    {&cli_group_sign, offsetof(convert_args, keep.sign)},
    {&cli_group_keep, offsetof(convert_args, keep)},
    {&cli_group_trust, offsetof(convert_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "CSV to a dataset file",
    "alimentar convert data.csv data.ald",
    "with a column of zip codes kept as text",
    "alimentar convert data.csv data.ald --types zip:string",
    "to an Arrow file with compressed buffers",
    "alimentar convert data.ald data.arrow --buffer-compression zstd",
    "from Parquet and back",
    "alimentar convert data.parquet data.ald && alimentar convert data.ald again.parquet",
    "a table of a database; a folder of images, whose folders are the classes",
    "alimentar convert 'sqlite:app.db?table=users' users.ald && alimentar convert photos/ "
    "photos.ald",
    "some rows and columns",
    "alimentar convert data.ald some.csv --where \"town = 'New York' and price < 20\" --columns "
    "id,price",
    "many files into one",
    "alimentar convert 'data/*.parquet' all.ald",
    "one into many, of a million rows each",
    "alimentar convert big.csv 'out-{shard:05}.ald' --rows-per-shard 1000000",
    "through pipes",
    "ssh host cat data.csv.gz | alimentar convert - data.ald --from csv",
    "compress harder, in place",
    "alimentar convert data.ald --compression zstd-l19",
    NULL,
};

const cli_command cli_cmd_convert = {
    .verb = "convert",
    .brief = "convert between .ald, CSV, JSON, Arrow and Parquet files",
    .details =
        "The formats are known by the extensions .ald, .csv, .tsv, .jsonl, .ndjson, .json (one "
        "array), .arrow, .feather and .ipc (Arrow IPC file), .arrows (Arrow IPC stream), .parquet "
        "and .pq, or by --from and --to. CSV and JSON are also read when gzip or zstd has "
        "compressed them (data.csv.gz, data.jsonl.zst). Read, not written, are .npy and .npz "
        "(NumPy), "
        ".safetensors, SQLite databases (--table, --query) and folders of images or audio files. "
        "Parquet needs a module of its own, which "
        "is installed with the command where Arrow's C++ library could be had.\n"
        "With --where, a value is read as text of its column's type: 2024-05-01, 12.50, true, or "
        "'New York' in quotes. A null fits `is null` alone, a NaN `!=` alone. A note says how many "
        "rows fit.\n"
        "OUT appears when all is written, or not at all. It is not replaced without --force. A "
        ".ald made from a .ald keeps metadata, dataset type and compression unless options say "
        "otherwise; chunks and alignment are asked for anew.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(convert_args),
    .run = run_convert,
};
