/* SPDX-License-Identifier: MIT */
/* One file is open at a time: the first one is the input's own, the others are inputs of their own, each closed before the
 * next one is opened. */
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/many_files.h"
#include "cli/trust_facts.h"

typedef struct joined {
    cli_input *in;
    const read_options *read;
    struct ArrowArrayStream first;
    struct ArrowSchema schema; /* of every file */
    struct ArrowSchema table;  /* with the columns of folders */
    cli_input next;            /* the file that is open, but for the first */
    size_t index;              /* of the file that is read */
    uint64_t row_count;        /* of it, so far */
    read_options own; /* `read`, but that the first file's password will do for the others */
} joined;

static struct ArrowArrayStream *stream_of(joined *j)
{
    return j->index == 0 ? &j->first : &j->next.stream;
}

static void close_current(joined *j)
{
    if (j->index > 0) {
        cli_input_close(&j->next);
        memset(&j->next, 0, sizeof(j->next));
    } else if (j->first.release != NULL) {
        j->first.release(&j->first);
        cli_input_drop_rows(j->in); /* it stays open for what it says of itself */
    }
}

/* The file goes in front of what is wrong with it, unless it is there; a hint stays behind. */
static ald_status name_file(const joined *j, ald_status status, ald_error *err)
{
    const char *path = j->in->many->paths[j->index];
    size_t length = strlen(path);
    if (status == ALD_OK || err == NULL ||
        (strncmp(err->msg, path, length) == 0 && err->msg[length] == ':')) {
        return status;
    }
    ald_error why = *err;
    size_t line = strcspn(why.msg, "\n");
    const char *hint = why.msg[line] == '\n' ? why.msg + line + 1 : "";
    (void)ald_error_set(err, status, why.offset, hint[0] != '\0' ? "%s: %.*s\n%s" : "%s: %.*s%s",
                        path, (int)line, why.msg, hint);
    err->detail = why.detail;
    return status;
}

/* What becomes of trust was decided by the first file. */
static ald_status check_alike(joined *j, ald_error *err)
{
    const ald_info *info = cli_input_info(&j->next);
    if (info == NULL || trust_facts_is_alike(j->in->like, info)) {
        return ALD_OK;
    }
    cli_hint(j->in->env, "convert them one by one to unsigned, unencrypted files first (`alimentar "
                         "sign --drop-signature`, `alimentar decrypt`), or to another format");
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "it is not signed, encrypted and licensed like %s", j->in->many->paths[0]);
}

/* The first file was signed by whoever signs the output; check_alike sees to it that this one was, too. */
static ald_status trust_own(joined *j, ald_error *err)
{
    ald_status status = cli_input_trust(&j->next, &j->read->trust, err);
    j->next.trust.trust.allow_untrusted = 1;
    j->next.trust.is_own = 1;
    return status;
}

static ald_status open_next(joined *j, ald_error *err)
{
    cli_env *env = j->in->env;
    const char *from = file_format_name(j->in->format);
    close_current(j);
    j->index++;
    j->row_count = 0;
    ald_status status = cli_input_open(env, j->in->many->paths[j->index], from, &j->next, err);
    if (status == ALD_OK) {
        status = cli_many_check_file(j->in->many, j->index, &j->next, err);
    }
    if (status == ALD_OK && j->in->trust.is_own && j->in->like != NULL) {
        status = trust_own(j, err);
    }
    if (status == ALD_OK) {
        j->next.some_rows = j->in->some_rows;
        j->next.is_again = j->in->is_again;
        j->next.columns = j->in->columns;
        j->next.where = j->in->where;
        j->next.text_schema = &j->schema;
        status = cli_input_stream(&j->next, j->read, NULL, err);
    }
    if (status == ALD_OK) {
        struct ArrowSchema found;
        memset(&found, 0, sizeof(found));
        status = ald_stream_schema(&j->next.stream, &found, err);
        if (status == ALD_OK) {
            status = ald_schema_compare(&j->schema, &found, 0, err);
            found.release(&found);
        }
    }
    if (status == ALD_OK && j->in->like != NULL) {
        status = check_alike(j, err);
    }
    return name_file(j, status, err);
}

static ald_status joined_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    joined *j = ctx;
    return ald_schema_copy(&j->in->env->host, &j->table, out, err);
}

static ald_status joined_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    joined *j = ctx;
    for (;;) {
        ald_status status = name_file(j, ald_stream_next(stream_of(j), out, err), err);
        if (status == ALD_OK && out->release != NULL) {
            j->row_count += (uint64_t)out->length;
        } else if (status == ALD_OK) {
            status =
                name_file(j, cli_many_check_rows(j->in->many, j->index, j->row_count, err), err);
        }
        if (status == ALD_OK && out->release != NULL && j->in->many->columns.count > 0) {
            return cli_folder_columns_add(&j->in->many->columns, j->index, out, err);
        }
        if (status != ALD_OK || out->release != NULL || j->index + 1 == j->in->many->count) {
            return status;
        }
        status = open_next(j, err);
        if (status != ALD_OK) {
            return status;
        }
    }
}

static void joined_free(void *ctx)
{
    joined *j = ctx;
    close_current(j);
    if (j->schema.release != NULL) {
        j->schema.release(&j->schema);
    }
    if (j->table.release != NULL) {
        j->table.release(&j->table);
    }
    free(j);
}

ald_status cli_many_join(cli_input *in, const read_options *read, ald_error *err)
{
    joined *j = calloc(1, sizeof(*j));
    if (j == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to read several files");
    }
    j->in = in;
    if (read != NULL) {
        j->own = *read;
    }
    j->own.trust.like = in->has_trust ? &in->trust : NULL;
    j->read = &j->own;
    j->first = in->stream;
    in->stream.release = NULL;
    ald_status status = name_file(j, ald_stream_schema(&j->first, &j->schema, err), err);
    if (status == ALD_OK) {
        status = ald_schema_copy(&in->env->host, &j->schema, &j->table, err);
    }
    if (status == ALD_OK && in->many->columns.count > 0) {
        status = cli_folder_columns_schema(&in->many->columns, &j->table, err);
    }
    if (status != ALD_OK) {
        joined_free(j);
        return status;
    }
    ald_stream_impl impl = {joined_schema, joined_next, joined_free, j, 0};
    return ald_stream_new(&impl, &in->env->host.alloc, &in->stream, err);
}
