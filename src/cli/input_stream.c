/* SPDX-License-Identifier: MIT */
/* From an input that is open to a stream of its batches, once or again, with the schema and the trust that were asked for. */
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
