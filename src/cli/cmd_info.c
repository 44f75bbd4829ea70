/* SPDX-License-Identifier: MIT */
/* alimentar info FILE: facts, not proofs. */
#include <inttypes.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/ald_facts.h"
#include "cli/column_sizes.h"
#include "cli/command.h"
#include "cli/escape.h"
#include "cli/info_many.h"
#include "cli/input.h"
#include "cli/many_files.h"
#include "cli/trust_facts.h"

typedef struct info_args {
    cli_common common;
    opt_list in;
    read_options read;
    uint8_t json;
    uint8_t columns;
} info_args;

static void print_name(const cli_input *in)
{
    char name[4096 - 512];
    cli_escape(name, sizeof(name), in->name, strlen(in->name));
    cli_printf("%-15s%s\n", "file", name);
}

/* Facts need no key; what columns take, of an encrypted file, does. */
static ald_status check_options(cli_env *env, const info_args *args, ald_error *err)
{
    if (args->columns || !cli_trust_is_asked_for(env)) {
        return ALD_OK;
    }
    cli_hint(env, "`alimentar info --columns` reads the payload; `alimentar verify` checks it");
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "options of keys and trust go with --columns: other facts need none");
}

static ald_status info_of_ald(cli_env *env, const info_args *args, cli_input *in, ald_error *err)
{
    ald_inspection *inspection = NULL;
    ald_status status = check_options(env, args, err);
    if (status != ALD_OK) {
        return status;
    }
    status = ald_inspect(&in->source, NULL, &env->host, &inspection, err);
    if (status != ALD_OK) {
        return status;
    }
    const ald_info *info = ald_inspection_info(inspection);
    if (args->columns && info->encryption_mode >= 0) {
        status = cli_input_trust(in, &args->read.trust, err);
    }
    if (status != ALD_OK) {
        ald_inspection_free(inspection);
        return status;
    }
    if (args->json) {
        json_print j = {0};
        json_open(&j, NULL, '{');
        json_text(&j, "file", in->name);
        json_text(&j, "format", "ald");
        json_bool(&j, "payload_checked", 0);
        ald_facts_json(&j, env, info);
        if (args->columns) {
            status = cli_column_sizes(in, &args->read, &j, err);
        }
        json_close(&j, '}');
        json_end(&j);
    } else {
        print_name(in);
        ald_facts_text(env, info);
        if (args->columns) {
            status = cli_column_sizes(in, &args->read, NULL, err);
        }
        cli_printf("\n");
        if (info->encryption_mode >= 0 || info->signer_public_key != NULL ||
            info->license != NULL) {
            trust_facts_sentences(info);
        }
        cli_printf(
            "Not checked: the payload, the checksum%s. `alimentar verify` checks what can be "
            "checked.\n",
            info->signer_public_key != NULL ? ", the signature" : "");
    }
    ald_inspection_free(inspection);
    return status;
}

static ald_status info_of_stream(const info_args *args, cli_input *in, ald_error *err)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof(schema));
    ald_status status = cli_input_stream(in, &args->read, NULL, err);
    if (status == ALD_OK) {
        status = ald_stream_schema(&in->stream, &schema, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    cli_progress_end(&in->progress);
    if (args->json) {
        json_print j = {0};
        json_open(&j, NULL, '{');
        json_text(&j, "file", in->name);
        json_text(&j, "format", file_format_name(in->format));
        json_uint(&j, "num_columns", (uint64_t)schema.n_children);
        if (cli_input_knows_rows(in)) {
            json_uint(&j, "num_rows", ald_stream_row_count(&in->stream));
        }
        json_uint(&j, "file_size", in->file_size);
        if (in->file_size != in->source.size_bytes) {
            json_uint(&j, "uncompressed_size", in->source.size_bytes);
        }
        json_close(&j, '}');
        json_end(&j);
    } else {
        print_name(in);
        char size[32];
        cli_printf("%-15s%s\n", "format", file_format_text(in->format));
        if (cli_input_knows_rows(in)) {
            cli_printf("%-15s%s\n", "rows",
                       ald_facts_grouped(ald_stream_row_count(&in->stream), size, sizeof(size)));
        }
        cli_printf("%-15s%" PRId64 "\n%-15s%s bytes", "columns", schema.n_children, "size",
                   ald_facts_grouped(in->file_size, size, sizeof(size)));
        if (in->file_size != in->source.size_bytes) {
            cli_printf(", %s decompressed",
                       ald_facts_grouped(in->source.size_bytes, size, sizeof(size)));
        }
        cli_printf("\n");
    }
    schema.release(&schema);
    return ALD_OK;
}

static ald_status info_of_many(cli_env *env, const info_args *args, cli_input *in, ald_error *err)
{
    if (args->columns) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--columns looks at one file alone");
    }
    return cli_info_many(env, in, &args->read, args->json, err);
}

/* Whether nothing is wrong but the first file of several. */
static int has_other_files(const cli_env *env, const cli_input *in)
{
    return in->many != NULL && in->many->count > 1 && in->format != FORMAT_UNKNOWN &&
           env->subject == in->many->paths[0];
}

static ald_status run_info(cli_env *env, void *raw, ald_error *err)
{
    const info_args *args = raw;
    cli_input in;
    ald_status status = cli_input_open_all(env, &args->in, args->read.from, &in, err);
    if (status != ALD_OK && has_other_files(env, &in)) {
        status = ALD_OK;
    }
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in.format), err);
    }
    if (status == ALD_OK) {
        env->subject = in.name;
        status = in.many != NULL           ? info_of_many(env, args, &in, err)
                 : in.format == FORMAT_ALD ? info_of_ald(env, args, &in, err)
                                           : info_of_stream(args, &in, err);
    }
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"FILE",
     "the file to look at; - is standard input (with --from). Of several files, a quoted pattern, "
     "a folder or a manifest there is a line for each, with what is wrong with it, and their sums",
     offsetof(info_args, in), OPT_OPERAND_MANY},
    {0},
};

static const opt_spec output_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(info_args, json),
     .help = "everything that is known, as JSON; of long binary values in `ald` only the size"},
    {.name = "columns",
     .kind = OPT_FLAG,
     .offset = offsetof(info_args, columns),
     .scope = SCOPE_ALD_IN,
     .help = "what each column of a .ald takes, and how it is packed; reads all chunks, and of an "
             "encrypted file needs the key"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&group_output, 0},
    {&cli_group_read, offsetof(info_args, read)},
    {&cli_group_trust, offsetof(info_args, read.trust)},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "what is in a file",
    "alimentar info data.ald",
    "one fact for a script",
    "alimentar info --json data.ald | jq .num_rows",
    "which columns take the space",
    "alimentar info --columns data.ald",
    NULL,
};

const cli_command cli_cmd_info = {
    .verb = "info",
    .brief = "say what a file is: size, rows, columns, metadata, signer, license",
    .details = "Of a .ald only the head and the blocks at the end are read, whatever its size: "
               "payload and "
               "checksum are not checked, and no key is needed. Of other formats only a short "
               "summary is printed.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(info_args),
    .run = run_info,
};
