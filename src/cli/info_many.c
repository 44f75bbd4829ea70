/* SPDX-License-Identifier: MIT */
/* Facts of the head of each file, one file open at a time. */
#include "cli/info_many.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/ald_facts.h"
#include "cli/many_files.h"
#include "cli/table_print.h"

typedef struct file_facts {
    uint64_t rows, size_bytes;
    uint8_t is_read, knows_rows, compression, flags;
    ald_error failure; /* status ALD_OK: none */
} file_facts;

typedef struct many_facts {
    cli_env *env;
    const cli_input *in;
    const read_options *read;
    struct ArrowSchema schema; /* of the first file; release NULL: not known */
    file_facts *files;
    uint64_t rows, size_bytes;
    int knows_rows;
    size_t failed_count;            /* of the files */
    const ald_error *first_failure; /* or NULL */
} many_facts;

static ald_status look_at_schema(many_facts *m, const struct ArrowSchema *schema, ald_error *err)
{
    return m->schema.release == NULL ? ald_schema_copy(&m->env->host, schema, &m->schema, err)
                                     : ald_schema_compare(&m->schema, schema, 0, err);
}

static ald_status look_at_ald(many_facts *m, cli_input *one, file_facts *out, ald_error *err)
{
    ald_inspection *inspection = NULL;
    ald_status status = ald_inspect(&one->source, NULL, &m->env->host, &inspection, err);
    if (status == ALD_OK) {
        const ald_info *info = ald_inspection_info(inspection);
        out->rows = info->num_rows;
        out->is_read = out->knows_rows = 1;
        out->compression = info->compression;
        out->flags = info->flags;
        status = look_at_schema(m, info->schema, err);
    }
    ald_inspection_free(inspection);
    return status;
}

static ald_status look_at_stream(many_facts *m, cli_input *one, file_facts *out, ald_error *err)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof(schema));
    ald_status status = cli_input_stream(one, m->read, NULL, err);
    if (status == ALD_OK) {
        status = ald_stream_schema(&one->stream, &schema, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    cli_progress_end(&one->progress);
    out->is_read = 1;
    out->knows_rows = cli_input_knows_rows(one) != 0;
    out->rows = ald_stream_row_count(&one->stream);
    status = look_at_schema(m, &schema, err);
    schema.release(&schema);
    return status;
}

static ald_status look_at(many_facts *m, size_t index, ald_error *err)
{
    cli_env *env = m->env;
    const cli_many *many = m->in->many;
    file_facts *out = &m->files[index];
    cli_input one;
    ald_status status =
        cli_input_open(env, many->paths[index], file_format_name(m->in->format), &one, err);
    if (status == ALD_OK) {
        env->subject = many->paths[index];
        out->size_bytes = one.file_size;
        status = cli_many_check_size(many, index, one.file_size, err);
    }
    if (status == ALD_OK && one.format == FORMAT_ALD) {
        status = look_at_ald(m, &one, out, err);
    } else if (status == ALD_OK && (index == 0 || file_format_is_binary(one.format))) {
        status = look_at_stream(m, &one, out, err);
    } else if (status == ALD_OK) {
        out->is_read = 1;
    }
    if (status == ALD_OK && out->knows_rows) {
        status = cli_many_check_rows(many, index, out->rows, err);
    }
    cli_input_close(&one);
    m->size_bytes += out->size_bytes;
    m->rows += out->rows;
    m->knows_rows = m->knows_rows && (out->knows_rows || !out->is_read);
    return status;
}

/* A file that fails is one line, and the others are looked at all the same. */
static ald_status look_at_all(many_facts *m, ald_error *err)
{
    for (size_t i = 0; i < m->in->many->count; i++) {
        ald_error *failure = &m->files[i].failure;
        ald_status status = look_at(m, i, failure);
        failure->status = status;
        if (status == ALD_E_NOMEM) {
            return ald_error_set(err, status, ALD_NO_OFFSET, "no memory to look at a file");
        }
        if (status != ALD_OK) {
            m->env->hint[0] = '\0';
            m->failed_count++;
            m->first_failure = m->first_failure != NULL ? m->first_failure : failure;
        }
    }
    return ALD_OK;
}

static int64_t column_count(const many_facts *m)
{
    return m->schema.n_children + (int64_t)m->in->many->columns.count;
}

static void print_json(const many_facts *m)
{
    json_print j = {0};
    const cli_many *many = m->in->many;
    json_open(&j, NULL, '{');
    json_text(&j, "file", m->in->name);
    json_text(&j, "format", file_format_name(m->in->format));
    json_uint(&j, "num_files", many->count);
    json_uint(&j, "num_columns", (uint64_t)column_count(m));
    if (m->knows_rows) {
        json_uint(&j, "num_rows", m->rows);
    }
    json_uint(&j, "file_size", m->size_bytes);
    if (many->manifest_path != NULL && many->manifest.count > 0) {
        json_text(&j, "manifest", many->manifest_path);
        if (many->manifest.is_signed) {
            json_hex(&j, "manifest_signer", many->manifest.signer, sizeof(many->manifest.signer));
        } else {
            json_null(&j, "manifest_signer");
        }
    }
    json_open(&j, "files", '[');
    for (size_t i = 0; i < many->count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "file", many->paths[i]);
        if (m->files[i].knows_rows) {
            json_uint(&j, "num_rows", m->files[i].rows);
        }
        json_uint(&j, "file_size", m->files[i].size_bytes);
        if (m->in->format == FORMAT_ALD && m->files[i].is_read) {
            json_text(&j, "compression", ald_compression_name(m->files[i].compression));
            ald_facts_flags_json(&j, m->files[i].flags);
        }
        if (m->files[i].failure.status != ALD_OK) {
            json_error(&j, &m->files[i].failure);
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

static void add_row(const many_facts *m, cli_table *table, size_t index)
{
    const file_facts *f = &m->files[index];
    char text[320];
    cli_table_text(table, m->in->many->paths[index]);
    cli_table_text(table, f->knows_rows ? ald_facts_grouped(f->rows, text, sizeof(text)) : "-");
    cli_table_text(table, ald_facts_grouped(f->size_bytes, text, sizeof(text)));
    if (m->in->format == FORMAT_ALD) {
        cli_table_text(table, f->is_read ? ald_compression_name(f->compression) : "-");
        cli_table_text(table, f->is_read ? ald_facts_flags(f->flags, text, sizeof(text)) : "-");
    }
    if (m->failed_count > 0) {
        text[0] = '\0';
        if (f->failure.status != ALD_OK) {
            snprintf(text, sizeof(text), "%s: %.*s", ald_status_name((ald_status)f->failure.status),
                     (int)strcspn(f->failure.msg, "\n"), f->failure.msg);
        }
        cli_table_text(table, text);
    }
}

static ald_status print_table(const many_facts *m, ald_error *err)
{
    cli_table table;
    char rows[32], bytes[32];
    memset(&table, 0, sizeof(table));
    cli_table_column(&table, "file", 0);
    cli_table_column(&table, "rows", 1);
    cli_table_column(&table, "bytes", 1);
    if (m->in->format == FORMAT_ALD) {
        cli_table_column(&table, "compression", 0);
        cli_table_column(&table, "flags", 0);
    }
    if (m->failed_count > 0) {
        cli_table_column(&table, "error", 0);
    }
    for (size_t i = 0; i < m->in->many->count; i++) {
        add_row(m, &table, i);
    }
    cli_table_print(&table, 0);
    ald_status status = cli_table_check(&table, err);
    cli_table_clear(&table);
    cli_printf("\n%s, %zu %s: %s%s%" PRId64 " columns, %s bytes\n", file_format_text(m->in->format),
               m->in->many->count, m->in->many->count == 1 ? "file" : "files",
               m->knows_rows ? ald_facts_grouped(m->rows, rows, sizeof(rows)) : "",
               m->knows_rows ? " rows, " : "", column_count(m),
               ald_facts_grouped(m->size_bytes, bytes, sizeof(bytes)));
    const shard_manifest *manifest = &m->in->many->manifest;
    char print[ALD_FINGERPRINT_BYTES];
    if (manifest->is_signed &&
        ald_key_fingerprint(manifest->signer, &m->env->host, print, NULL) == ALD_OK) {
        cli_printf("The manifest is signed by %s.\n", print);
    }
    if (m->in->format == FORMAT_ALD) {
        cli_printf("Not checked: payloads, checksums, signatures. `alimentar verify` checks what "
                   "can be checked.\n");
    }
    return status;
}

ald_status cli_info_many(cli_env *env, cli_input *in, const read_options *read, int json,
                         ald_error *err)
{
    many_facts m = {.env = env, .in = in, .read = read, .knows_rows = 1};
    ald_status status;
    m.files = calloc(in->many->count, sizeof(*m.files));
    if (m.files == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for facts of files");
    }
    status = look_at_all(&m, err);
    if (status == ALD_OK && json) {
        print_json(&m);
    } else if (status == ALD_OK) {
        status = print_table(&m, err);
    }
    env->subject = in->name;
    if (status == ALD_OK && m.first_failure != NULL) {
        status = ald_error_set(err, (ald_status)m.first_failure->status, ALD_NO_OFFSET,
                               "%zu of %zu files failed", m.failed_count, in->many->count);
    }
    if (m.schema.release != NULL) {
        m.schema.release(&m.schema);
    }
    free(m.files);
    return status;
}
