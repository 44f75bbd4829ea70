/* SPDX-License-Identifier: MIT */
/* alimentar hash FILE... */
#include <stdlib.h>
#include <string.h>

#include "ald/hash.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/command.h"
#include "cli/escape.h"
#include "cli/hash_list.h"
#include "cli/json_print.h"
#include "cli/rows.h"
#include "cli/shard_manifest.h"

typedef struct hash_args {
    cli_common common;
    opt_list files;
    read_options read;
    opt_list columns;
    const char *check;
    uint8_t json;
} hash_args;

/* The hash of one file. */
typedef struct file_hash {
    struct ArrowSchema schema;
    uint8_t *columns; /* the hashes of its columns, one behind the other */
    uint64_t row_count;
    uint8_t digest[ALD_CONTENT_HASH_BYTES];
} file_hash;

typedef struct hash_run {
    cli_env *env;
    const hash_args *args;
    json_print json;
    ald_status worst; /* of files that could not be hashed */
    size_t changed;   /* --check: files whose hash is another one */
} hash_run;

static void file_hash_clear(file_hash *h)
{
    if (h->schema.release != NULL) {
        h->schema.release(&h->schema);
    }
    free(h->columns);
    memset(h, 0, sizeof(*h));
}

/* ---- one file */

static ald_status hash_rows(ald_content_hash *hash, struct ArrowArrayStream *rows, file_hash *out,
                            ald_error *err)
{
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        ald_status status = ald_stream_next(rows, &batch, err);
        if (status != ALD_OK || batch.release == NULL) {
            return status;
        }
        out->row_count += (uint64_t)batch.length;
        status = ald_content_hash_update(hash, &batch, err);
        batch.release(&batch);
        if (status != ALD_OK) {
            return status;
        }
    }
}

static ald_status hash_stream(cli_env *env, struct ArrowArrayStream *rows, file_hash *out,
                              ald_error *err)
{
    ald_content_hash *hash = NULL;
    ald_status status = ald_stream_schema(rows, &out->schema, err);
    if (status == ALD_OK) {
        status = ald_content_hash_new(&out->schema, &env->host, &hash, err);
    }
    if (status == ALD_OK) {
        out->columns = calloc((size_t)out->schema.n_children + 1, ALD_CONTENT_HASH_BYTES);
        status = out->columns != NULL ? hash_rows(hash, rows, out, err)
                                      : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET,
                                                      "no memory for the columns' hashes");
    }
    if (status == ALD_OK) {
        status = ald_content_hash_finish(hash, out->digest, out->columns, err);
    }
    ald_content_hash_free(hash);
    return status;
}

static ald_status hash_file(cli_env *env, const hash_args *args, const char *path, file_hash *out,
                            ald_error *err)
{
    const cli_selection what = {&args->columns, UINT64_MAX, UINT64_MAX, NULL};
    struct ArrowArrayStream chosen;
    cli_input in;
    memset(&chosen, 0, sizeof(chosen));
    memset(out, 0, sizeof(*out));
    opt_list one = {&path, 1}; /* a pattern, a folder or a manifest is one table */
    ald_status status = cli_input_open_all(env, &one, args->read.from, &in, err);
    if (status == ALD_OK) {
        in.columns = what.columns;
        status = cli_input_stream(&in, &args->read, NULL, err);
    }
    if (status == ALD_OK) {
        status = cli_select(env, &in.stream, in.name, &what, &chosen, err);
    }
    if (status == ALD_OK) {
        status = hash_stream(env, &chosen, out, err);
        chosen.release(&chosen);
    }
    cli_input_close(&in);
    env->subject = status == ALD_OK ? NULL : env->subject;
    return status;
}

/* ---- what is printed */

static ald_status columns_json(hash_run *run, const file_hash *h, ald_error *err)
{
    ald_buffer type = {NULL, 0, 0, &run->env->host.alloc};
    ald_status status = ALD_OK;
    json_open(&run->json, "columns", '[');
    for (int64_t i = 0; status == ALD_OK && i < h->schema.n_children; i++) {
        type.size = 0;
        status = ald_type_format(h->schema.children[i], &type, err);
        json_open(&run->json, NULL, '{');
        json_text(&run->json, "name", h->schema.children[i]->name);
        json_bytes(&run->json, "type", (const char *)type.data, type.size);
        json_hex(&run->json, "hash", h->columns + (size_t)i * ALD_CONTENT_HASH_BYTES,
                 ALD_CONTENT_HASH_BYTES);
        json_close(&run->json, '}');
    }
    json_close(&run->json, ']');
    ald_buffer_clear(&type);
    return status;
}

/* `expected` NULL: nothing is. */
static ald_status print_hash(hash_run *run, const char *path, const file_hash *h,
                             const uint8_t *expected, ald_error *err)
{
    char shown[1024];
    int same = expected == NULL || memcmp(h->digest, expected, sizeof(h->digest)) == 0;
    ald_status status = ALD_OK;
    run->changed += !same;
    if (run->args->json) {
        json_open(&run->json, NULL, '{');
        json_text(&run->json, "file", path);
        json_hex(&run->json, "content_hash", h->digest, sizeof(h->digest));
        if (expected != NULL) {
            json_hex(&run->json, "expected", expected, sizeof(h->digest));
            json_bool(&run->json, "ok", same);
        }
        json_uint(&run->json, "num_rows", h->row_count);
        status = columns_json(run, h, err);
        json_close(&run->json, '}');
    } else if (expected == NULL) {
        hash_list_print(h->digest, path);
    } else {
        (void)cli_escape(shown, sizeof(shown), path, strlen(path));
        cli_printf("%s: %s\n", shown, same ? "OK" : "FAILED");
    }
    return status;
}

/* One of several files failed: it is told, and the others are still read. */
static void tell_failure(hash_run *run, const char *path, const ald_error *failure, int checking)
{
    char shown[1024];
    if (run->args->json) {
        json_open(&run->json, NULL, '{');
        json_text(&run->json, "file", path);
        json_error(&run->json, failure);
        json_close(&run->json, '}');
    } else if (checking) {
        (void)cli_escape(shown, sizeof(shown), path, strlen(path));
        cli_printf("%s: FAILED to read\n", shown);
    }
    cli_report(run->env, failure);
    run->env->hint[0] = '\0';
    if (run->worst == ALD_OK) {
        run->worst = (ald_status)failure->status;
    }
}

static ald_status run_one(hash_run *run, const char *path, const uint8_t *expected, int alone,
                          ald_error *err)
{
    ald_error failure;
    file_hash h;
    memset(&failure, 0, sizeof(failure));
    ald_status status = hash_file(run->env, run->args, path, &h, &failure);
    if (status == ALD_OK) {
        status = print_hash(run, path, &h, expected, err);
    } else if (alone) {
        *err = failure;
    } else {
        tell_failure(run, path, &failure, expected != NULL);
        status = ALD_OK;
    }
    file_hash_clear(&h);
    return status;
}

/* ---- the command */

static ald_status check_list(hash_run *run, ald_error *err)
{
    hash_list list;
    ald_status status = hash_list_read(run->env, run->args->check, &list, err);
    run->env->subject = status == ALD_OK ? NULL : run->env->subject;
    for (size_t i = 0; status == ALD_OK && i < list.count; i++) {
        status = run_one(run, list.items[i].path, list.items[i].digest, 0, err);
    }
    if (status == ALD_OK && run->changed > 0) {
        cli_note(run->env, "%zu of %zu files %s other content", run->changed, list.count,
                 run->changed == 1 ? "has" : "have");
    }
    hash_list_clear(&list);
    return status;
}

static ald_status check_use(cli_env *env, const hash_args *args, ald_error *err)
{
    opt_scope scopes = 0;
    if ((args->check != NULL) == (args->files.count > 0)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "give either files or --check with a list of them");
    }
    for (size_t i = 0; i < args->files.count; i++) {
        file_format format = args->read.from != NULL ? file_format_of_name(args->read.from)
                                                     : file_format_of_path(args->files.items[i]);
        int is_open = format == FORMAT_UNKNOWN || shard_manifest_is(args->files.items[i]);
        scopes |= is_open ? ~(opt_scope)0 : file_format_scope_in(format);
    }
    return file_format_check_options(env, args->check != NULL ? ~(opt_scope)0 : scopes, err);
}

static ald_status run_hash(cli_env *env, void *raw, ald_error *err)
{
    const hash_args *args = raw;
    hash_run run = {.env = env, .args = args};
    ald_status status = check_use(env, args, err);
    if (status != ALD_OK) {
        return status;
    }
    if (args->json) {
        json_open(&run.json, NULL, '{');
        json_open(&run.json, "files", '[');
    }
    if (args->check != NULL) {
        status = check_list(&run, err);
    }
    for (size_t i = 0; status == ALD_OK && i < args->files.count; i++) {
        status = run_one(&run, args->files.items[i], NULL, args->files.count == 1, err);
    }
    if (args->json) {
        json_close(&run.json, ']');
        json_close(&run.json, '}');
        json_end(&run.json);
    }
    env->answer = run.worst != ALD_OK ? cli_exit_code(run.worst)
                  : run.changed > 0   ? CLI_EXIT_FAILED
                                      : CLI_EXIT_OK;
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "what to hash; - is standard input (with --from)", offsetof(hash_args, files),
     OPT_OPERAND_OPTIONAL | OPT_OPERAND_MANY},
    {0},
};

static const opt_spec hash_specs[] = {
    {.name = "check",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(hash_args, check),
     .help = "a list that this command printed: hash its files again, and say which have other "
             "content"},
    {.name = "columns",
     .letter = 'c',
     .arg = "A,B,...",
     .kind = OPT_LIST,
     .offset = offsetof(hash_args, columns),
     .help = "the hash of these columns alone, in this order. May be repeated"},
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(hash_args, json),
     .help = "rows, types and a hash of each column too, as JSON"},
};
static const opt_group group_hash = OPT_GROUP("Hash", hash_specs);

static const opt_use options[] = {
    {&group_hash, 0},
    {&cli_group_read, offsetof(hash_args, read)},
    {&cli_group_read_schema, offsetof(hash_args, read)},
    {&cli_group_trust, offsetof(hash_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "do both hold the same data?",
    "alimentar hash data.ald data.parquet",
    "note what is there, and look again later",
    "alimentar hash *.ald > data.hashes && alimentar hash --check data.hashes",
    NULL,
};

const cli_command cli_cmd_hash = {
    .verb = "hash",
    .brief = "a hash of the data themselves: names, types and values",
    .details =
        "Files with the same columns and rows have the same hash, in whatever format and however "
        "compressed, chunked, encrypted or dictionary-encoded. Metadata, column documentation and "
        "nullability do not count; order does. A line is printed for each file, as sha256sum does. "
        "docs/FORMAT.md defines the hash (rules F-450 to F-459).\n"
        "With --check, exits with 1 when a file has other content.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(hash_args),
    .run = run_hash,
};
