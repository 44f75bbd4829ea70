/* SPDX-License-Identifier: MIT */
/* From a path to a stream of batches, whatever the format. */
#include "cli/input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/csv.h"
#include "ald/ipc.h"
#include "ald/jsonl.h"
#include "ald/native.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/manifest_trust.h"
#include "cli/many_files.h"
#include "cli/media_folder.h"
#include "cli/parquet_input.h"
#include "cli/select.h"
#include "cli/sqlite_input.h"
#include "cli/tensor_input.h"

#define SMALL_FILE_BYTES ((uint64_t)64 << 20)

static const char *const ragged_names[] = {"error", "pad", "skip", NULL};
static const char *const mixed_names[] = {"error", "string", "json", NULL};
/* In the order of ald_encoding. */
static const char *const encoding_names[] = {
    "utf-8", "latin-1", "windows-1252", "utf-16", "utf-16le", "utf-16be", NULL};

#define AT(member) .offset = offsetof(read_options, member)
#define FROM_SPEC                                                                                  \
    {.name = "from",                                                                               \
     .arg = "FORMAT",                                                                              \
     .kind = OPT_TEXT,                                                                             \
     .choices = file_format_names,                                                                 \
     AT(from),                                                                                     \
     .help =                                                                                       \
         "format of the input, when its name does not tell: ald, csv, tsv, jsonl, json, arrow "    \
         "(IPC file), arrows (IPC stream), parquet, npy, npz, safetensors, sqlite, imagefolder, "  \
         "audiofolder"}

static const opt_spec from_specs[] = {FROM_SPEC};
const opt_group cli_group_from = OPT_GROUP("Input", from_specs);

static const opt_spec schema_specs[] = {
    {.name = "schema",
     .arg = "FILE|name:type,...",
     .kind = OPT_TEXT,
     AT(schema),
     .help =
         "all columns and their types, as `schema --json` prints them or as name:type,...; text is "
         "read as these types, a .ald, Arrow or Parquet input must have them"},
};
const opt_group cli_group_read_schema = OPT_GROUP("Schema", schema_specs);

static const opt_spec read_specs[] = {
    FROM_SPEC,
    {.name = "types",
     .arg = "name:type,...",
     .kind = OPT_LIST,
     AT(types),
     .scope = SCOPE_TEXT_IN | SCOPE_SQLITE_IN,
     .help = "types of some columns; the others are found out. May be repeated"},
    {.name = "null",
     .arg = "TEXT",
     .kind = OPT_LIST,
     AT(nulls),
     .scope = SCOPE_CSV_IN,
     .help = "a field that means null, in place of the empty one. May be repeated"},
    {.name = "delimiter",
     .arg = "CHAR",
     .kind = OPT_CHAR,
     AT(delimiter),
     .scope = SCOPE_CSV_IN | SCOPE_CSV_OUT,
     .help =
         "what separates fields (`tab` for a tab): of the CSV input, by default found out; of the "
         "CSV output when the input is no CSV"},
    {.name = "quote",
     .arg = "CHAR",
     .kind = OPT_CHAR,
     AT(quote),
     .scope = SCOPE_CSV_IN,
     .help = "what fields are quoted with; default: the double quote"},
    {.name = "no-header",
     .kind = OPT_FLAG,
     AT(no_header),
     .scope = SCOPE_CSV_IN | SCOPE_CSV_OUT,
     .help =
         "the first line of the CSV input is data; columns are named f0, f1, ... For CSV output "
         "from another format: write no header"},
    {.name = "comment",
     .arg = "CHAR",
     .kind = OPT_CHAR,
     AT(comment),
     .scope = SCOPE_CSV_IN,
     .help = "lines that begin with it are skipped"},
    {.name = "ragged",
     .kind = OPT_CHOICE,
     .choices = ragged_names,
     AT(ragged),
     .scope = SCOPE_CSV_IN,
     .help = "lines with too few or too many fields: refuse (default), fill with nulls and cut, "
             "or leave out; a note says how many"},
    {.name = "encoding",
     .kind = OPT_CHOICE,
     .choices = encoding_names,
     AT(encoding),
     .scope = SCOPE_TEXT_IN,
     .help = "encoding of the text; default: utf-8, and nothing else passes"},
    {.name = "max-field-bytes",
     .arg = "BYTES",
     .kind = OPT_BYTES,
     AT(max_field_bytes),
     .min = 1,
     .scope = SCOPE_TEXT_IN | SCOPE_SQLITE_IN,
     .help = "longest CSV field, JSON line or value of a database; default: 256M"},
    {.name = "infer-rows",
     .arg = "N",
     .kind = OPT_COUNT,
     AT(infer_rows),
     .min = 1,
     .scope = SCOPE_TEXT_IN,
     .help =
         "find the types from the first N rows; a later surprise is an error. Default: all rows"},
    {.name = "mixed",
     .kind = OPT_CHOICE,
     .choices = mixed_names,
     AT(mixed),
     .scope = SCOPE_JSON_IN | SCOPE_SQLITE_IN,
     .help = "a column of several kinds in JSON or a database: refuse (default), make it text, or "
             "(JSON) JSON text"},
    {.name = "table",
     .arg = "NAME",
     .kind = OPT_TEXT,
     AT(table),
     .scope = SCOPE_SQLITE_IN,
     .help = "the table or view of a SQLite database, when it has several; also as "
             "sqlite:FILE?table=NAME"},
    {.name = "query",
     .arg = "SQL",
     .kind = OPT_TEXT,
     AT(query),
     .scope = SCOPE_SQLITE_IN,
     .help = "what this SELECT gives, instead of a table of a SQLite database"},
    {.name = "tensor",
     .arg = "NAME",
     .kind = OPT_LIST,
     AT(tensors),
     .scope = SCOPE_TENSORS_IN,
     .help = "only this array of a .npz or safetensors file. May be repeated"},
    {.name = "one-row",
     .kind = OPT_FLAG,
     AT(one_row),
     .scope = SCOPE_NPY_IN | SCOPE_TENSORS_IN,
     .help = "each array is one value of a table with one row: for arrays of different lengths"},
    {.name = "unpack",
     .kind = OPT_FLAG,
     AT(unpack),
     .scope = SCOPE_NPY_IN | SCOPE_TENSORS_IN,
     .help = "an array of two dimensions gives a column for each of its columns"},
};
const opt_group cli_group_read = OPT_GROUP("Input", read_specs);

/* ---- sources */

static ald_status open_stdin(cli_env *env, ald_source *out, ald_error *err)
{
    if (isatty(STDIN_FILENO)) {
        cli_note(env, "reading standard input from the terminal; Ctrl-D ends it");
    }
    return ald_file_spool_fd(STDIN_FILENO, "standard input", out, err);
}

/* *path becomes that of the first file, where it stands for several. */
static ald_status find_many(cli_input *in, const opt_list *paths, const char *from,
                            const char **path, ald_error *err)
{
    in->env->subject = NULL; /* the message names the path */
    ald_status status = cli_many_find(in->env, paths, from, &in->many, err);
    if (status == ALD_OK && in->many != NULL) {
        *path = in->many->paths[0];
        in->name = in->many->name != NULL ? in->many->name : in->name;
    }
    return status;
}

/* What a manifest says of its files is said, if --from says nothing. */
static const char *from_manifest(const cli_input *in, const char *from)
{
    const char *format = in->many != NULL ? in->many->manifest.format : NULL;
    return from == NULL && format != NULL && file_format_of_name(format) != FORMAT_UNKNOWN ? format
                                                                                           : from;
}

static ald_status open_bytes(cli_env *env, const char *path, const char *from, cli_input *in,
                             ald_error *err)
{
    int is_stdin = in->many == NULL && strcmp(path, "-") == 0;
    env->subject = is_stdin || in->sqlite_path != NULL ? in->name : path;
    /* Not mapped: a file that shrinks while it is read is then an error, not the end of the process. */
    ald_status status =
        is_stdin ? open_stdin(env, &in->source, err) : ald_file_open(path, 0, &in->source, err);
    in->file_size = status == ALD_OK ? in->source.size_bytes : 0;
    if (status == ALD_OK && !file_format_is_binary(in->format)) {
        status = ald_file_inflate(&in->source, err);
    }
    if (status == ALD_OK) {
        status = file_format_check_beginning(env, in->format, &in->source, from != NULL, err);
    }
    return status;
}

/* It has no bytes of its own, but a size. */
static ald_status open_media(cli_input *in)
{
    in->format = in->media->kind == MEDIA_IMAGE ? FORMAT_IMAGES : FORMAT_AUDIO;
    in->dataset_type = cli_media_dataset_type(in->media);
    in->file_size = in->source.size_bytes = in->media->bytes;
    in->env->subject = in->name;
    return ALD_OK;
}

ald_status cli_input_open_all(cli_env *env, const opt_list *paths, const char *from, cli_input *in,
                              ald_error *err)
{
    const char *path = paths->items[0];
    memset(in, 0, sizeof(*in));
    in->env = env;
    int is_stdin = paths->count == 1 && strcmp(path, "-") == 0;
    in->name = is_stdin ? "standard input" : path;
    ald_status status = paths->count == 1 ? cli_sqlite_address(in, &path, err) : ALD_OK;
    if (status == ALD_OK && paths->count == 1 && in->sqlite_path == NULL) {
        status = cli_media_find(env, path, from, &in->media, err);
    }
    if (in->media != NULL) {
        return open_media(in);
    }
    if (status == ALD_OK && !is_stdin && in->sqlite_path == NULL) {
        status = find_many(in, paths, from, &path, err);
        from = from_manifest(in, from);
    }
    if (status == ALD_OK && in->sqlite_path != NULL) {
        in->format = FORMAT_SQLITE;
    } else if (status == ALD_OK) {
        status = file_format_find(env, path, from, "--from", &in->format, err);
    }
    if (status == ALD_OK && file_format_scope_in(in->format) == SCOPE_FOLDER_IN) {
        env->subject = NULL;
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s is not a folder", in->name);
    }
    if (status == ALD_OK && is_stdin && in->format == FORMAT_SQLITE) {
        env->subject = NULL;
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "a database is read from a file, not from standard input");
    }
    return status == ALD_OK ? open_bytes(env, path, from, in, err) : status;
}

ald_status cli_input_open(cli_env *env, const char *path, const char *from, cli_input *in,
                          ald_error *err)
{
    opt_list paths = {&path, 1};
    ald_status status = cli_input_open_all(env, &paths, from, in, err);
    if (status == ALD_OK && in->many != NULL && in->format == FORMAT_ALD) {
        env->subject = NULL;
        cli_hint(env, "`alimentar convert` makes one of them");
        status = ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                               "%s: several .ald files are not read as one here", in->name);
    }
    return status;
}

int cli_input_knows_rows(const cli_input *in)
{
    return file_format_has_row_count(in->format) &&
           (in->media == NULL || in->media->table_count == 0);
}

void cli_input_close(cli_input *in)
{
    cli_progress_end(&in->progress);
    if (in->stream.release != NULL) {
        in->stream.release(&in->stream);
    }
    if (in->restart.release != NULL) {
        in->restart.release(&in->restart);
    }
    ald_dataset_free(in->dataset);
    ald_streaming_close(in->streaming);
    cli_trust_close(&in->trust);
    if (in->schema.release != NULL) {
        in->schema.release(&in->schema);
    }
    if (in->types.release != NULL) {
        in->types.release(&in->types);
    }
    ald_source_close(&in->source);
    cli_sqlite_close(in);
    cli_media_free(in->media);
    cli_many_free(in->env, in->many);
}

ald_status cli_read_file(cli_env *env, const char *path, ald_buffer *out, ald_error *err)
{
    return cli_read_up_to(env, path, SMALL_FILE_BYTES, out, err);
}

ald_status cli_read_up_to(cli_env *env, const char *path, uint64_t limit_bytes, ald_buffer *out,
                          ald_error *err)
{
    ald_source source;
    memset(&source, 0, sizeof(source));
    env->subject = path;
    ald_status status = ald_file_open(path, 0, &source, err);
    if (status != ALD_OK) {
        return status;
    }
    if (source.size_bytes > limit_bytes) {
        status = ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                               "more than %llu MiB is too much here",
                               (unsigned long long)(limit_bytes >> 20));
    } else if (source.size_bytes > 0) {
        size_t size = (size_t)source.size_bytes;
        out->data = out->alloc->alloc(out->alloc->ctx, size);
        out->capacity = out->data != NULL ? size : 0;
        out->size = out->capacity;
        status = out->data != NULL
                     ? source.read_at(source.ctx, 0, out->data, size, err)
                     : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the file");
    }
    ald_source_close(&source);
    return status;
}

/* ---- schemas from the command line */

ald_status cli_schema_from_argument(cli_env *env, const char *value, struct ArrowSchema *out,
                                    ald_error *err)
{
    const char *subject = env->subject;
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    if (access(value, F_OK) != 0 && strchr(value, ':') != NULL) {
        env->subject = "--schema";
        ald_status status = ald_schema_from_json(value, strlen(value), &env->host, out, err);
        env->subject = status == ALD_OK ? subject : env->subject;
        return status;
    }
    ald_status status = cli_read_file(env, value, &text, err);
    if (status == ALD_OK) {
        status = ald_schema_from_json((const char *)text.data, text.size, &env->host, out, err);
    }
    env->subject = status == ALD_OK ? subject : value;
    ald_buffer_clear(&text);
    return status;
}

/* All --types as one list. */
static ald_status schema_from_types(cli_env *env, const opt_list *list, struct ArrowSchema *out,
                                    ald_error *err)
{
    size_t size = 1;
    for (size_t i = 0; i < list->count; i++) {
        size += strlen(list->items[i]) + 1;
    }
    char *text = malloc(size);
    if (text == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for --types");
    }
    size_t used = 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t part = strlen(list->items[i]);
        if (i > 0) {
            text[used++] = ',';
        }
        memcpy(text + used, list->items[i], part);
        used += part;
    }
    const char *subject = env->subject;
    env->subject = "--types";
    ald_status status = ald_schema_from_json(text, used, &env->host, out, err);
    env->subject = status == ALD_OK ? subject : env->subject;
    free(text);
    return status;
}

/* ---- streams */

void cli_input_note(void *ctx, const char *text)
{
    cli_input *in = ctx;
    in->has_notes = 1;
    if (in->is_again) {
        return;
    }
    cli_note(in->env, "%s: %s", in->name, text);
}

ald_status cli_input_types(cli_input *in, const read_options *read, ald_error *err)
{
    return read != NULL && read->types.count > 0
               ? schema_from_types(in->env, &read->types, &in->types, err)
               : ALD_OK;
}

static int text_progress(void *ctx, uint64_t done, uint64_t total)
{
    cli_input *in = ctx;
    cli_progress_update(&in->progress, done, total);
    return 0;
}

static ald_status text_options(cli_input *in, const read_options *read, ald_text_options *text,
                               ald_error *err)
{
    cli_progress_start(&in->progress, in->env, "reading", NULL);
    text->note = cli_input_note;
    text->progress = text_progress;
    text->note_ctx = in;
    text->restart = in->may_restart && in->many == NULL ? &in->restart : NULL;
    text->schema = in->text_schema;
    if (read == NULL) {
        return ALD_OK;
    }
    text->infer_rows = read->infer_rows;
    text->encoding = read->encoding > 0 ? (uint8_t)(read->encoding - 1) : 0;
    if (read->schema != NULL) {
        ald_status status = cli_schema_from_argument(in->env, read->schema, &in->schema, err);
        if (status != ALD_OK) {
            return status;
        }
        text->schema = &in->schema;
    }
    if (read->types.count > 0 && in->text_schema == NULL) {
        ald_status status = schema_from_types(in->env, &read->types, &in->types, err);
        if (status != ALD_OK) {
            return status;
        }
        text->types = &in->types;
    }
    return ALD_OK;
}

static ald_status open_csv(cli_input *in, const read_options *read, ald_error *err)
{
    ald_csv_options options = ALD_CSV_OPTIONS_INIT;
    options.delimiter = in->format == FORMAT_TSV ? '\t' : 0;
    if (read != NULL) {
        options.delimiter = read->delimiter != 0 ? read->delimiter : options.delimiter;
        options.quote = read->quote;
        options.comment = read->comment;
        options.no_header = read->no_header;
        options.ragged = read->ragged > 0 ? (uint8_t)(read->ragged - 1) : 0;
        options.null_count = (uint32_t)read->nulls.count;
        options.nulls = read->nulls.items;
        options.max_field_bytes = read->max_field_bytes;
    }
    ald_status status = text_options(in, read, &options.text, err);
    return status != ALD_OK ? status
                            : ald_csv_open(&in->source, &options, &in->env->host, &in->stream, err);
}

static ald_status open_json(cli_input *in, const read_options *read, ald_error *err)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    if (read != NULL) {
        options.mixed = read->mixed > 0 ? (uint8_t)(read->mixed - 1) : 0;
        options.max_line_bytes = read->max_field_bytes;
    }
    ald_status status = text_options(in, read, &options.text, err);
    return status != ALD_OK
               ? status
               : ald_jsonl_open(&in->source, &options, &in->env->host, &in->stream, err);
}

/* `expected` may be NULL. */
static ald_status compare_schema(cli_input *in, const struct ArrowSchema *expected, ald_error *err)
{
    struct ArrowSchema found;
    if (expected == NULL) {
        return ALD_OK;
    }
    memset(&found, 0, sizeof(found));
    ald_status status = ald_stream_schema(&in->stream, &found, err);
    if (status == ALD_OK) {
        status = ald_schema_compare(expected, &found, 0, err);
        found.release(&found);
    }
    return status;
}

static ald_status open_ipc(cli_input *in, const struct ArrowSchema *expected, ald_error *err)
{
    ald_ipc_kind kind = in->format == FORMAT_ARROW ? ALD_IPC_FILE : ALD_IPC_STREAM;
    ald_status status = ald_ipc_open(&in->source, kind, &in->env->host, &in->stream, err);
    return status != ALD_OK ? status : compare_schema(in, expected, err);
}

int cli_input_has_chunks(const cli_input *in)
{
    return in->format == FORMAT_ALD &&
           (file_format_ald_flags(&in->source) & ALD_FLAG_STREAMING) != 0;
}

/* ---- the last chunks of a file */

typedef struct last_chunks {
    ald_streaming *streaming; /* the input's */
    uint64_t next;
} last_chunks;

static ald_status last_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const last_chunks *l = ctx;
    ald_host host = ald_native_host(1);
    return ald_schema_copy(&host, ald_streaming_schema(l->streaming), out, err);
}

static ald_status last_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    last_chunks *l = ctx;
    if (l->next == ald_streaming_chunk_count(l->streaming)) {
        return ALD_OK;
    }
    return ald_streaming_chunk(l->streaming, l->next++, NULL, out, err);
}

static ald_status open_last(cli_input *in, ald_error *err)
{
    uint64_t rows = ald_streaming_row_count(in->streaming), first = 0;
    last_chunks *l = malloc(sizeof(*l));
    ald_stream_impl impl = {last_schema, last_next, free, l, 0};
    if (l == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to read the last rows");
    }
    l->streaming = in->streaming;
    l->next = 0;
    if (rows > in->last_rows) {
        ald_status status =
            ald_streaming_find_chunk(in->streaming, rows - in->last_rows, &first, err);
        l->next = first;
        if (status != ALD_OK) {
            free(l);
            return status;
        }
    }
    return ald_stream_new(&impl, &in->env->host.alloc, &in->stream, err);
}

ald_status cli_input_trust(cli_input *in, const trust_options *options, ald_error *err)
{
    static const trust_options none;
    if (in->has_trust) {
        return ALD_OK;
    }
    in->has_trust = 1;
    return cli_trust_open(in->env, options != NULL ? options : &none, &in->source, in->name,
                          &in->trust, err);
}

/* The chunks in order, of the columns that are needed. */
static ald_status open_chunks(cli_input *in, ald_error *err)
{
    const struct ArrowSchema *schema = ald_streaming_schema(in->streaming);
    uint8_t *keep = malloc((size_t)schema->n_children + 1);
    if (keep == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    }
    int some = cli_select_needs(in->env, schema, in->columns, in->where, keep);
    ald_status status = ald_streaming_stream(in->streaming, some ? keep : NULL, &in->stream, err);
    free(keep);
    return status;
}

/* A file with chunks is checked as a whole first (unless some_rows), then read chunk by chunk; another one is loaded. */
static ald_status load_ald(cli_input *in, const struct ArrowSchema *expected, ald_error *err)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_status status;
    options.expected_schema = expected;
    options.check_all = !in->some_rows;
    cli_trust_load(&in->trust, &options);
    if (cli_input_has_chunks(in)) {
        status = ald_streaming_open(&in->source, &options, &in->env->host, &in->streaming, err);
        if (status == ALD_OK && in->last_rows > 0) {
            return open_last(in, err);
        }
        return status != ALD_OK ? status : open_chunks(in, err);
    }
    status = ald_load(&in->source, &options, &in->env->host, &in->dataset, err);
    return status != ALD_OK ? status : ald_dataset_stream(in->dataset, &in->stream, err);
}

static ald_status open_ald(cli_input *in, const trust_options *trust,
                           const struct ArrowSchema *expected, ald_error *err)
{
    ald_status status = cli_input_trust(in, trust, err);
    if (status != ALD_OK) {
        return status;
    }
    status = load_ald(in, expected, err);
    if (status != ALD_OK) {
        cli_trust_explain(in->env, &in->trust, &in->source, status);
        return status;
    }
    if (!in->is_again) {
        cli_trust_note(in->env, &in->trust, cli_input_info(in));
    }
    return ALD_OK;
}

void cli_input_drop_rows(cli_input *in)
{
    if (in->dataset != NULL) {
        ald_dataset_drop_rows(in->dataset);
        in->is_dropped = 1;
    }
}

/* What is known of the first load stays where it is: others point to it. */
static ald_status load_again(cli_input *in, ald_error *err)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_dataset *dataset = NULL;
    options.check_all = !in->some_rows;
    cli_trust_load(&in->trust, &options);
    ald_status status = ald_load(&in->source, &options, &in->env->host, &dataset, err);
    if (status == ALD_OK) {
        status = ald_dataset_stream(dataset, &in->stream, err);
    }
    ald_dataset_free(dataset);
    return status;
}

const ald_info *cli_input_info(const cli_input *in)
{
    if (in->streaming != NULL) {
        return ald_streaming_info(in->streaming);
    }
    return in->dataset != NULL ? ald_dataset_info(in->dataset) : NULL;
}

static ald_status open_text(cli_input *in, const read_options *read,
                            const struct ArrowSchema *expected, ald_error *err)
{
    ald_status status = file_format_scope_in(in->format) == SCOPE_CSV_IN ? open_csv(in, read, err)
                                                                         : open_json(in, read, err);
    return status != ALD_OK ? status : compare_schema(in, expected, err);
}

static ald_status open_one(cli_input *in, const read_options *read,
                           const struct ArrowSchema *expected, ald_error *err)
{
    ald_status status = ALD_OK;
    in->env->subject = in->name;
    if ((file_format_scope_in(in->format) & SCOPE_TEXT_IN) != 0) {
        return open_text(in, read, expected, err);
    }
    if (expected == NULL && read != NULL && read->schema != NULL) {
        status = cli_schema_from_argument(in->env, read->schema, &in->schema, err);
        if (status != ALD_OK) {
            return status;
        }
        expected = &in->schema;
    }
    switch (in->format) {
    case FORMAT_ALD:
        return open_ald(in, read != NULL ? &read->trust : NULL, expected, err);
    case FORMAT_NPY:
    case FORMAT_NPZ:
    case FORMAT_SAFETENSORS:
        in->columns = expected == NULL ? in->columns : NULL; /* else there is less to compare */
        status = cli_tensors_open(in, read, err);
        return status != ALD_OK ? status : compare_schema(in, expected, err);
    case FORMAT_IMAGES:
    case FORMAT_AUDIO:
        status = cli_media_open(in, err);
        return status != ALD_OK ? status : compare_schema(in, expected, err);
    case FORMAT_SQLITE:
        status = cli_sqlite_open(in, read, err);
        return status != ALD_OK ? status : compare_schema(in, expected, err);
    case FORMAT_PARQUET:
        in->columns = expected == NULL ? in->columns : NULL; /* else there is less to compare */
        status = cli_parquet_open(in, err);
        return status != ALD_OK ? status : compare_schema(in, expected, err);
    default:
        return open_ipc(in, expected, err);
    }
}

/* Of several files: who vouches for them, and that the first one is what the manifest says. */
static ald_status check_set(cli_input *in, const read_options *read, ald_error *err)
{
    const cli_many *many = in->many;
    const uint8_t *own = in->trust.is_own && in->like != NULL ? in->like->signer_public_key : NULL;
    ald_status status = ALD_OK;
    if (many->manifest.count > 0 && (in->format == FORMAT_ALD || many->manifest.is_signed)) {
        in->env->subject = many->manifest_path;
        status = manifest_check_signer(in->env, &many->manifest, read != NULL ? &read->trust : NULL,
                                       own, NULL, err);
    }
    if (status == ALD_OK) {
        in->env->subject = many->paths[0];
        status = cli_many_check_file(many, 0, in, err);
    }
    return status;
}

ald_status cli_input_stream(cli_input *in, const read_options *read,
                            const struct ArrowSchema *expected, ald_error *err)
{
    ald_status status = ALD_OK;
    if (in->many != NULL) {
        in->last_rows = 0;
        status = check_set(in, read, err);
    }
    status = status == ALD_OK ? open_one(in, read, expected, err) : status;
    return status == ALD_OK && in->many != NULL ? cli_many_join(in, read, err) : status;
}

ald_status cli_input_again(cli_input *in, const read_options *read, ald_error *err)
{
    if (in->stream.release != NULL) {
        in->stream.release(&in->stream);
    }
    if (in->schema.release != NULL) {
        in->schema.release(&in->schema);
    }
    if (in->types.release != NULL) {
        in->types.release(&in->types);
    }
    in->may_restart = 0;
    return cli_input_stream(in, read, NULL, err);
}

ald_status cli_input_rewind(cli_input *in, const read_options *read, ald_error *err)
{
    ald_status status;
    in->is_again = 1;
    cli_progress_end(&in->progress);
    if (in->streaming == NULL && in->dataset == NULL) {
        return cli_input_again(in, read, err);
    }
    if (in->stream.release != NULL) {
        in->stream.release(&in->stream);
    }
    status = in->streaming != NULL ? open_chunks(in, err)
             : in->is_dropped      ? load_again(in, err)
                                   : ald_dataset_stream(in->dataset, &in->stream, err);
    return status == ALD_OK && in->many != NULL ? cli_many_join(in, read, err) : status;
}
