/* SPDX-License-Identifier: MIT */
/* File after file, each opened, checked and closed before the next one. */
#include "cli/verify_many.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/manifest_trust.h"
#include "cli/many_files.h"
#include "cli/table_print.h"

typedef struct verify_set {
    cli_env *env;
    const verify_args *args;
    const cli_many *many;
    file_format format;
    verify_page page;
    cli_table table;
    struct ArrowSchema schema; /* of the first file that could be read; release NULL: of none yet */
    uint64_t row_count;
    size_t failed_count;     /* of the files */
    ald_error first_failure; /* status ALD_OK: none */
    ald_error signer;        /* what is wrong with the manifest's signer */
    char why[MANIFEST_WHY_BYTES];
} verify_set;

/* The schema that a file was read with, against the first one's. */
static ald_status check_schema(verify_set *s, cli_input *one, ald_error *err)
{
    struct ArrowSchema found;
    const struct ArrowSchema *schema = one->streaming != NULL ? ald_streaming_schema(one->streaming)
                                       : one->dataset != NULL ? ald_dataset_schema(one->dataset)
                                                              : NULL;
    ald_status status = ALD_OK;
    memset(&found, 0, sizeof(found));
    if (schema == NULL && one->stream.release != NULL) {
        status = ald_stream_schema(&one->stream, &found, err);
        schema = &found;
    }
    if (status == ALD_OK && schema != NULL) {
        status = s->schema.release == NULL ? ald_schema_copy(&s->env->host, schema, &s->schema, err)
                                           : ald_schema_compare(&s->schema, schema, 0, err);
    }
    if (found.release != NULL) {
        found.release(&found);
    }
    return status;
}

/* *is_told: 1 when its own checks passed, 2 when they failed, and were printed as JSON where that is wanted; else 0. */
static ald_status check_file(verify_set *s, size_t index, int *is_told, ald_error *err)
{
    const char *path = s->many->paths[index];
    cli_input one;
    s->page.is_unchecked = 0;
    *is_told = 0;
    ald_status status = cli_input_open(s->env, path, file_format_name(s->format), &one, err);
    s->env->subject = path;
    if (status == ALD_OK) {
        status = cli_many_check_size(s->many, index, one.file_size, err);
    }
    if (status == ALD_OK) {
        status = cli_many_check_hash(s->env, s->many, index, &one.source, err);
    }
    if (status == ALD_OK) {
        one.text_schema = s->schema.release != NULL ? &s->schema : NULL;
        status = verify_one(s->env, s->args, &s->page, &one, err);
        *is_told = status != ALD_OK ? 2 : 1;
    }
    if (status == ALD_OK) {
        s->row_count += s->page.row_count;
        status = cli_many_check_rows(s->many, index, s->page.row_count, err);
    }
    if (status == ALD_OK) {
        status = check_schema(s, &one, err);
    }
    cli_input_close(&one);
    return status;
}

/* A failure that the file's own checks did not find is one of the set. */
static void print_json(verify_set *s, size_t index, int is_told, const ald_error *failure)
{
    json_print *j = &s->page.j;
    if (failure == NULL || is_told == 2) {
        return;
    }
    json_open(j, NULL, '{');
    json_text(j, "file", s->many->paths[index]);
    json_bool(j, "valid", 0);
    json_error(j, failure);
    json_close(j, '}');
}

static void add_row(verify_set *s, size_t index, int is_told, const ald_error *failure)
{
    char rows[32] = "-", why[320] = "";
    if (is_told == 1) {
        snprintf(rows, sizeof(rows), "%" PRIu64, s->page.row_count);
    }
    if (failure != NULL) {
        snprintf(why, sizeof(why), "%s: %.*s", ald_status_name((ald_status)failure->status),
                 (int)strcspn(failure->msg, "\n"), failure->msg);
    } else if (s->page.is_unchecked) {
        snprintf(why, sizeof(why), "the payload is encrypted, and nothing that was given opens it");
    }
    cli_table_text(&s->table, s->many->paths[index]);
    cli_table_text(&s->table, failure != NULL        ? "failed"
                              : s->page.is_unchecked ? "unchecked"
                                                     : "ok");
    cli_table_text(&s->table, rows);
    cli_table_text(&s->table, why);
}

static ald_status check_all(verify_set *s, ald_error *err)
{
    for (size_t i = 0; i < s->many->count; i++) {
        ald_error failure = {0};
        int is_told;
        ald_status status = check_file(s, i, &is_told, &failure);
        if (status == ALD_E_NOMEM) {
            return ald_error_set(err, status, ALD_NO_OFFSET, "no memory to check a file");
        }
        failure.status = status;
        if (s->page.json) {
            print_json(s, i, is_told, status != ALD_OK ? &failure : NULL);
        } else {
            add_row(s, i, is_told, status != ALD_OK ? &failure : NULL);
        }
        s->failed_count += status != ALD_OK;
        if (status != ALD_OK && s->first_failure.status == ALD_OK) {
            s->first_failure = failure;
        }
    }
    return ALD_OK;
}

/* Of a set that is signed, or should be. */
static ald_status check_signer(verify_set *s, ald_error *err)
{
    const shard_manifest *manifest = &s->many->manifest;
    if (manifest->count == 0 || (s->format != FORMAT_ALD && !manifest->is_signed)) {
        return ALD_OK;
    }
    ald_status status =
        manifest_check_signer(s->env, manifest, &s->args->read.trust, NULL, s->why, &s->signer);
    if (status == ALD_E_NOMEM) {
        return ald_error_set(err, status, ALD_NO_OFFSET, "no memory to check a signature");
    }
    s->signer.status = status;
    s->first_failure = s->signer;
    return ALD_OK;
}

static void signer_json(verify_set *s)
{
    json_print *j = &s->page.j;
    const shard_manifest *manifest = &s->many->manifest;
    if (manifest->count == 0) {
        return;
    }
    json_open(j, "manifest", '{');
    json_text(j, "file", s->many->manifest_path);
    json_bool(j, "signed", manifest->is_signed);
    if (manifest->is_signed) {
        json_hex(j, "signer", manifest->signer, sizeof(manifest->signer));
    }
    json_bool(j, "valid", s->signer.status == ALD_OK);
    if (s->signer.status != ALD_OK) {
        json_error(j, &s->signer);
    }
    json_close(j, '}');
}

/* A line above those of the files, where there is something to say. */
static void signer_row(verify_set *s)
{
    char why[320];
    if (s->signer.status == ALD_OK && s->why[0] == '\0') {
        return;
    }
    snprintf(why, sizeof(why), "%s: %.*s", ald_status_name((ald_status)s->signer.status),
             (int)strcspn(s->signer.msg, "\n"), s->signer.msg);
    cli_table_text(&s->table, s->many->manifest_path);
    cli_table_text(&s->table, s->signer.status != ALD_OK ? "failed" : "ok");
    cli_table_text(&s->table, "-");
    cli_table_text(&s->table, s->signer.status != ALD_OK ? why : s->why);
}

static void begin(verify_set *s, const cli_input *in)
{
    s->page.json = s->args->json;
    s->page.is_one_of_several = 1;
    if (s->page.json) {
        json_open(&s->page.j, NULL, '{');
        json_text(&s->page.j, "file", in->name);
        signer_json(s);
        json_open(&s->page.j, "files", '[');
        return;
    }
    cli_table_column(&s->table, "file", 0);
    cli_table_column(&s->table, "result", 0);
    cli_table_column(&s->table, "rows", 1);
    cli_table_column(&s->table, "", 0);
    signer_row(s);
}

static ald_status end(verify_set *s, ald_error *err)
{
    ald_status status = ALD_OK;
    if (s->page.json) {
        json_close(&s->page.j, ']');
        json_uint(&s->page.j, "num_rows", s->row_count);
        json_bool(&s->page.j, "valid", s->first_failure.status == ALD_OK);
        json_close(&s->page.j, '}');
        json_end(&s->page.j);
        return ALD_OK;
    }
    cli_table_print(&s->table, 0);
    status = cli_table_check(&s->table, err);
    cli_printf("\n%zu of %zu files are intact: %" PRIu64 " rows\n",
               s->many->count - s->failed_count, s->many->count, s->row_count);
    return status;
}

ald_status verify_many(cli_env *env, const verify_args *args, cli_input *in, ald_error *err)
{
    verify_set s = {.env = env, .args = args, .many = in->many, .format = in->format};
    ald_status status = ALD_OK;
    if (in->format == FORMAT_ALD) {
        /* Who is asked for a password is asked once, for the first file. */
        trust_options trust = args->read.trust;
        trust.may_lack_password = 1;
        status = cli_input_trust(in, &trust, err);
        s.page.like = &in->trust;
    }
    if (status != ALD_OK) {
        return status;
    }
    status = check_signer(&s, err);
    if (status == ALD_OK) {
        begin(&s, in);
        status = check_all(&s, err);
    }
    if (status == ALD_OK) {
        status = end(&s, err);
    }
    env->subject = in->name;
    if (status == ALD_OK && s.signer.status != ALD_OK) {
        env->subject = in->many->manifest_path;
        *err = s.signer;
        status = (ald_status)s.signer.status;
    } else if (status == ALD_OK && s.failed_count > 0) {
        status = ald_error_set(err, (ald_status)s.first_failure.status, ALD_NO_OFFSET,
                               "%zu of %zu files failed", s.failed_count, s.many->count);
    }
    if (s.schema.release != NULL) {
        s.schema.release(&s.schema);
    }
    cli_table_clear(&s.table);
    return status;
}
