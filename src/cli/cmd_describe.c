/* SPDX-License-Identifier: MIT */
/* alimentar describe FILE [OUT] */
#include <string.h>

#include "cli/command.h"
#include "cli/transfer.h"

typedef struct describe_args {
    cli_common common;
    const char *in, *out;
    read_options read; /* what it is opened with; nothing else */
    write_options write;
    describe_options describe;
    keep_options keep;
} describe_args;

static ald_status run_describe(cli_env *env, void *raw, ald_error *err)
{
    const describe_args *args = raw;
    const describe_options *d = &args->describe;
    write_options write = args->write;
    read_options read = args->read;
    read.from = "ald";
    write.to = "ald";
    transfer t = {.in = args->in,
                  .read = &read,
                  .write = &write,
                  .describe = d,
                  .keep = &args->keep,
                  .keep_layout = 1};
    ald_status status = cli_output_path(args->out, args->write.out, &t.out, err);
    if (status == ALD_OK && d->metadata == NULL && d->column_docs == NULL &&
        d->dataset_type == NULL) {
        cli_hint(
            env,
            "give --metadata, --column-docs or --dataset-type; `alimentar convert FILE.ald` with "
            "--sha256, --compression, ... changes how a file is stored");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "describe: there is nothing to set");
    }
    if (status == ALD_OK && t.out == NULL && strcmp(args->in, "-") == 0) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "describe: OUT is missing");
    }
    return status != ALD_OK ? status : cli_transfer(env, &t, err);
}

static const opt_operand operands[] = {
    {"FILE", "the .ald to describe", offsetof(describe_args, in), 0},
    {"OUT", "the .ald to write; without it FILE is replaced, in one step",
     offsetof(describe_args, out), OPT_OPERAND_OPTIONAL},
    {0},
};

static const opt_use options[] = {
    {&cli_group_describe, offsetof(describe_args, describe)},
    {&cli_group_write_ald, offsetof(describe_args, write)},
    {&cli_group_sign, offsetof(describe_args, keep.sign)},
    {&cli_group_keep, offsetof(describe_args, keep)},
    {&cli_group_trust, offsetof(describe_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "set name, license and tags",
    "alimentar describe data.ald --metadata card.json",
    "say what the columns mean",
    "alimentar describe data.ald --column-docs columns.json",
    NULL,
};

const cli_command cli_cmd_describe = {
    .verb = "describe",
    .brief = "set metadata, column documentation and dataset type of a .ald",
    .details =
        "The rows stay as they are, and so do chunks and alignment unless options say otherwise. "
        "License and encryption stay; metadata alone are set without the key of an encrypted file. "
        "A signed file needs --key, which signs it anew, or --drop-signature. "
        "`alimentar card` shows the metadata and the documentation of columns, checks them, and "
        "sets "
        "single keys or what a README.md says.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(describe_args),
    .run = run_describe,
};
