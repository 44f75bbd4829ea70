/* SPDX-License-Identifier: MIT */
/* alimentar schema FILE */
#include <string.h>

#include "ald/reader.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/many_files.h"
#include "cli/table_print.h"

typedef struct schema_args {
    cli_common common;
    opt_list in;
    read_options read;
    uint8_t json;
} schema_args;

static ald_status print_json(cli_env *env, const struct ArrowSchema *schema, ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    ald_status status = ald_schema_to_json(schema, &text, err);
    if (status == ALD_OK) {
        cli_print((const char *)text.data, text.size);
        if (text.size > 0 && text.data[text.size - 1] != '\n') {
            cli_print("\n", 1);
        }
    }
    ald_buffer_clear(&text);
    return status;
}

static void add_doc(cli_table *table, const struct ArrowSchema *field, const char *key)
{
    size_t size = 0;
    const char *text = ald_schema_get_metadata(field, key, &size);
    cli_table_cell(table, text != NULL ? text : "", text != NULL ? size : 0);
}

static int has_docs(const struct ArrowSchema *schema)
{
    size_t size;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (ald_schema_get_metadata(schema->children[i], ALD_COLUMN_DOC_DESCRIPTION, &size) !=
            NULL) {
            return 1;
        }
    }
    return 0;
}

static ald_status print_table(cli_env *env, const struct ArrowSchema *schema, ald_error *err)
{
    cli_table table;
    ald_buffer type = {NULL, 0, 0, &env->host.alloc};
    int docs = has_docs(schema);
    ald_status status = ALD_OK;
    memset(&table, 0, sizeof(table));
    cli_table_column(&table, "column", 0);
    cli_table_column(&table, "type", 0);
    cli_table_column(&table, "nullable", 0);
    if (docs) {
        cli_table_column(&table, "description", 0);
    }
    for (int64_t i = 0; i < schema->n_children && status == ALD_OK; i++) {
        const struct ArrowSchema *field = schema->children[i];
        type.size = 0;
        status = ald_type_format(field, &type, err);
        if (status == ALD_OK) {
            cli_table_text(&table, field->name != NULL ? field->name : "");
            cli_table_cell(&table, (const char *)type.data, type.size);
            cli_table_text(&table, (field->flags & ARROW_FLAG_NULLABLE) != 0 ? "yes" : "no");
        }
        if (status == ALD_OK && docs) {
            add_doc(&table, field, ALD_COLUMN_DOC_DESCRIPTION);
        }
    }
    if (status == ALD_OK) {
        cli_table_print(&table, 0);
        status = cli_table_check(&table, err);
    }
    cli_table_clear(&table);
    ald_buffer_clear(&type);
    return status;
}

static ald_status print_schema(cli_env *env, const schema_args *args,
                               const struct ArrowSchema *schema, ald_error *err)
{
    return args->json ? print_json(env, schema, err) : print_table(env, schema, err);
}

/* The columns of folders, and whether the other files have these too. */
static ald_status schema_of_many(cli_env *env, const schema_args *args, cli_input *in,
                                 const struct ArrowSchema *first, ald_error *err)
{
    struct ArrowSchema table;
    ald_status status = ALD_OK;
    for (size_t i = 1; status == ALD_OK && i < in->many->count; i++) {
        ald_inspection *other = NULL;
        cli_input one;
        status = cli_input_open(env, in->many->paths[i], "ald", &one, err);
        env->subject = in->many->paths[i];
        if (status == ALD_OK) {
            status = ald_inspect(&one.source, NULL, &env->host, &other, err);
        }
        if (status == ALD_OK) {
            status = ald_schema_compare(first, ald_inspection_info(other)->schema, 0, err);
        }
        ald_inspection_free(other);
        cli_input_close(&one);
    }
    if (status != ALD_OK) {
        return status;
    }
    env->subject = in->name;
    status = ald_schema_copy(&env->host, first, &table, err);
    if (status == ALD_OK) {
        status = cli_folder_columns_schema(&in->many->columns, &table, err);
        if (status == ALD_OK) {
            status = print_schema(env, args, &table, err);
        }
        table.release(&table);
    }
    return status;
}

/* A .ald tells its schema without its rows. */
static ald_status schema_of_ald(cli_env *env, const schema_args *args, cli_input *in,
                                ald_error *err)
{
    ald_inspection *inspection = NULL;
    ald_status status = ald_inspect(&in->source, NULL, &env->host, &inspection, err);
    if (status == ALD_OK) {
        const struct ArrowSchema *schema = ald_inspection_info(inspection)->schema;
        status = in->many != NULL ? schema_of_many(env, args, in, schema, err)
                                  : print_schema(env, args, schema, err);
    }
    ald_inspection_free(inspection);
    return status;
}

static ald_status schema_of_stream(cli_env *env, const schema_args *args, cli_input *in,
                                   ald_error *err)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof(schema));
    ald_status status = cli_input_stream(in, &args->read, NULL, err);
    if (status == ALD_OK) {
        status = ald_stream_schema(&in->stream, &schema, err);
    }
    if (status == ALD_OK) {
        cli_progress_end(&in->progress);
        status = print_schema(env, args, &schema, err);
        schema.release(&schema);
    }
    return status;
}

static ald_status run_schema(cli_env *env, void *raw, ald_error *err)
{
    const schema_args *args = raw;
    cli_input in;
    ald_status status = cli_input_open_all(env, &args->in, args->read.from, &in, err);
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in.format), err);
    }
    if (status == ALD_OK) {
        env->subject = in.name;
        in.some_rows = 1;
        status = in.format == FORMAT_ALD && !cli_trust_is_asked_for(env)
                     ? schema_of_ald(env, args, &in, err)
                     : schema_of_stream(env, args, &in, err);
    }
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"FILE", CLI_FILES_TEXT, offsetof(schema_args, in), OPT_OPERAND_MANY},
    {0},
};

static const opt_spec output_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(schema_args, json),
     .help = "as JSON, with metadata; --schema of other commands takes it"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&group_output, 0},
    {&cli_group_read, offsetof(schema_args, read)},
    {&cli_group_trust, offsetof(schema_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "keep the types of one file for others",
    "alimentar schema --json jan.csv > types.json && alimentar convert feb.csv feb.ald --schema "
    "types.json",
    NULL,
};

const cli_command cli_cmd_schema = {
    .verb = "schema",
    .brief = "print the columns and their types",
    .details =
        "Of a .ald only the head is read, which needs no key and is not checked; with one of the "
        "trust "
        "options it is opened and checked first. The types of text are found from the whole file.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(schema_args),
    .run = run_schema,
};
