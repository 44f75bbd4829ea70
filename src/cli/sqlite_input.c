/* SPDX-License-Identifier: MIT */
#include "cli/sqlite_input.h"

#include <stdlib.h>
#include <string.h>

#include "ald/sqlite.h"
#include "cli/many_files.h"
#include "cli/select.h"

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* %20 and the like are what they stand for; other characters are themselves. */
static char *decode(const char *text)
{
    char *out = strdup(text), *to = out;
    for (const char *p = text; out != NULL && *p != '\0'; p++) {
        int high = *p == '%' ? hex_digit(p[1]) : -1, low = high >= 0 ? hex_digit(p[2]) : -1;
        if (low >= 0 && high + low > 0) {
            *to++ = (char)(high << 4 | low);
            p += 2;
        } else {
            *to++ = *p;
        }
    }
    if (out != NULL) {
        *to = '\0';
    }
    return out;
}

ald_status cli_sqlite_address(cli_input *in, const char **path, ald_error *err)
{
    static const char table[] = "?table=", query[] = "?query=";
    size_t prefix = strlen(CLI_SQLITE_PREFIX);
    if (strncmp(*path, CLI_SQLITE_PREFIX, prefix) != 0) {
        return ALD_OK;
    }
    const char *file = *path + prefix;
    const char *at = strstr(file, table);
    int is_query = at == NULL;
    at = is_query ? strstr(file, query) : at;
    in->sqlite_path = at != NULL ? strndup(file, (size_t)(at - file)) : strdup(file);
    char *what = at != NULL ? decode(at + strlen(table)) : NULL; /* both words are of one length */
    if (in->sqlite_path == NULL || (at != NULL && what == NULL)) {
        free(what);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a path");
    }
    if (is_query) {
        in->sqlite_query = what;
    } else {
        in->sqlite_table = what;
    }
    *path = in->sqlite_path;
    return ALD_OK;
}

static const char *path_of(const cli_input *in)
{
    return in->sqlite_path != NULL ? in->sqlite_path
           : in->many != NULL      ? in->many->paths[0]
                                   : in->name;
}

static ald_status fill_options(cli_input *in, const read_options *read, ald_sqlite_options *options,
                               ald_error *err)
{
    options->table = in->sqlite_table;
    options->query = in->sqlite_query;
    options->schema = in->text_schema;
    if (read == NULL) {
        return ALD_OK;
    }
    if ((read->table != NULL) + (read->query != NULL) + (in->sqlite_table != NULL) +
            (in->sqlite_query != NULL) >
        1) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "one table or one query, and said once");
    }
    options->table = read->table != NULL ? read->table : options->table;
    options->query = read->query != NULL ? read->query : options->query;
    options->max_value_bytes = read->max_field_bytes;
    options->mixed_text = read->mixed == 2; /* 1 + ALD_JSON_MIXED_STRING */
    if (read->mixed == 3) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--mixed json is for JSON input");
    }
    if (read->schema != NULL && in->schema.release != NULL) {
        options->schema = &in->schema; /* open_one has read it */
    }
    ald_status status = options->schema == NULL ? cli_input_types(in, read, err) : ALD_OK;
    options->types = in->types.release != NULL ? &in->types : NULL;
    return status;
}

/* Columns whose type is declared are needed, too, since the declaration is checked. */
static void keep_declared(const struct ArrowSchema *types, const struct ArrowSchema *schema,
                          uint8_t *keep)
{
    for (int64_t i = 0; types->release != NULL && i < types->n_children; i++) {
        for (int64_t k = 0; k < schema->n_children; k++) {
            keep[k] |= strcmp(types->children[i]->name, schema->children[k]->name) == 0;
        }
    }
}

/* Opens the database, of `schema` only what is needed for the columns that will be chosen. */
static ald_status open_some(cli_input *in, ald_sqlite_options *options,
                            const struct ArrowSchema *schema, ald_error *err)
{
    size_t all = (size_t)schema->n_children;
    uint8_t *keep = calloc(all + 1, 1);
    const char **names = calloc(all + 1, sizeof(*names));
    ald_status status = ALD_OK;
    if (keep == NULL || names == NULL) {
        status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    } else if (cli_select_needs(in->env, schema, in->columns, in->where, keep)) {
        keep_declared(&in->types, schema, keep);
        for (size_t i = 0; i < all; i++) {
            if (keep[i]) {
                names[options->column_count++] = schema->children[i]->name;
            }
        }
        options->columns = names;
    }
    if (status == ALD_OK) {
        status = ald_sqlite_open(path_of(in), options, &in->env->host, &in->stream, err);
    }
    free(names);
    free(keep);
    return status;
}

ald_status cli_sqlite_open(cli_input *in, const read_options *read, ald_error *err)
{
    ald_sqlite_options options = ALD_SQLITE_OPTIONS_INIT;
    struct ArrowSchema schema;
    ald_status status = fill_options(in, read, &options, err);
    if (status != ALD_OK) {
        return status;
    }
    if (in->columns == NULL || in->columns->count == 0 || options.query != NULL ||
        options.schema != NULL) {
        return ald_sqlite_open(path_of(in), &options, &in->env->host, &in->stream, err);
    }
    status = ald_sqlite_columns(path_of(in), &options, &in->env->host, &schema, err);
    if (status == ALD_OK) {
        status = open_some(in, &options, &schema, err);
        schema.release(&schema);
    }
    return status;
}

void cli_sqlite_close(cli_input *in)
{
    free(in->sqlite_path);
    free(in->sqlite_table);
    free(in->sqlite_query);
}
