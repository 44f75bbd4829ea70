/* SPDX-License-Identifier: MIT */
/* alimentar validate FILE --schema F */
#include <inttypes.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/json_print.h"

typedef struct validate_args {
    cli_common common;
    const char *in;
    const char *schema;
    read_options read;
    uint8_t json;
} validate_args;

/* Reads everything, so that a file that passes is whole. */
static ald_status drain(cli_env *env, cli_input *in, uint64_t *rows, ald_error *err)
{
    ald_status status = ALD_OK;
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        status = ald_stream_next(&in->stream, &batch, err);
        if (status != ALD_OK || batch.release == NULL) {
            break;
        }
        *rows += (uint64_t)batch.length;
        batch.release(&batch);
    }
    env->subject = in->name;
    return status;
}

static void print_json(const cli_input *in, uint64_t rows, int64_t columns, const ald_error *err)
{
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "file", in->name);
    json_bool(&j, "valid", err == NULL);
    if (err == NULL) {
        json_uint(&j, "num_rows", rows);
        json_uint(&j, "num_columns", (uint64_t)columns);
    } else {
        json_error(&j, err);
    }
    json_close(&j, '}');
    json_end(&j);
}

/* A CSV has no types that could be compared: its header must be the expected one, and its values must be of the types. */
static ald_status open_expecting(const validate_args *args, cli_input *in,
                                 const struct ArrowSchema *expected, ald_error *err)
{
    read_options read = args->read;
    if (file_format_scope_in(in->format) != SCOPE_CSV_IN || read.types.count > 0) {
        return cli_input_stream(in, &read, expected, err);
    }
    read.schema = args->schema;
    return cli_input_stream(in, &read, NULL, err);
}

static ald_status validate(cli_env *env, const validate_args *args, cli_input *in, ald_error *err)
{
    struct ArrowSchema expected;
    ald_error failure;
    uint64_t rows = 0;
    memset(&expected, 0, sizeof(expected));
    ald_status status = cli_schema_from_argument(env, args->schema, &expected, err);
    if (status != ALD_OK) {
        return status;
    }
    status = open_expecting(args, in, &expected, &failure);
    if (status == ALD_OK) {
        status = drain(env, in, &rows, &failure);
    }
    cli_progress_end(&in->progress);
    if (args->json) {
        print_json(in, rows, expected.n_children, status != ALD_OK ? &failure : NULL);
    } else if (status == ALD_OK) {
        cli_printf("valid: %" PRIu64 " rows, %" PRId64 " columns as expected\n", rows,
                   expected.n_children);
    }
    if (status != ALD_OK && err != NULL) {
        *err = failure;
        err->msg[strcspn(err->msg, "\n")] = '\0'; /* hints at other types, which are no help here */
    }
    expected.release(&expected);
    return status;
}

static ald_status run_validate(cli_env *env, void *raw, ald_error *err)
{
    const validate_args *args = raw;
    cli_input in;
    memset(&in, 0, sizeof(in));
    if (args->schema == NULL) {
        cli_hint(
            env,
            "--schema FILE, as `alimentar schema --json` prints it, or --schema name:type,...");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "validate: --schema is missing");
    }
    const char *path = args->in;
    opt_list one = {&path, 1}; /* a pattern, a folder or a manifest is one table */
    ald_status status = cli_input_open_all(env, &one, args->read.from, &in, err);
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in.format), err);
    }
    if (status == ALD_OK) {
        status = validate(env, args, &in, err);
    }
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "the file to check; - is standard input (with --from)", offsetof(validate_args, in),
     0},
    {0},
};

static const opt_spec expect_specs[] = {
    {.name = "schema",
     .arg = "FILE|name:type,...",
     .kind = OPT_TEXT,
     .offset = offsetof(validate_args, schema),
     .help = "the columns and types that the file must have, as `schema --json` prints them or as "
             "name:type,..."},
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(validate_args, json),
     .help = "print the result as JSON"},
};
static const opt_group group_expect = OPT_GROUP("Expectation", expect_specs);

static const opt_use options[] = {
    {&group_expect, 0},
    {&cli_group_read, offsetof(validate_args, read)},
    {&cli_group_trust, offsetof(validate_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "check a delivery",
    "alimentar validate feb.csv --schema types.json",
    NULL,
};

const cli_command cli_cmd_validate = {
    .verb = "validate",
    .brief = "check that a file has the expected columns and types",
    .details = "Names, order, types and nullability must be equal; else the error is "
               "SchemaMismatch, with what was expected and what was found. A CSV has no types: its "
               "header must have these names in this order, and each value must be of its column's "
               "type. The whole file is read, so its rows are checked too.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(validate_args),
    .run = run_validate,
};
