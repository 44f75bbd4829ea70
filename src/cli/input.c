/* SPDX-License-Identifier: MIT */
/* From a path to an input that is open, whatever the format; the options that reading has. */
#include "cli/input.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/native.h"
#include "cli/many_files.h"
#include "cli/media_folder.h"
#include "cli/sqlite_input.h"

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
