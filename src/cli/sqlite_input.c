/* SPDX-License-Identifier: MIT */
#include "cli/sqlite_input.h"

#include <stdlib.h>
#include <string.h>

#include "ald/sqlite.h"
#include "cli/many_files.h"

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

ald_status cli_sqlite_open(cli_input *in, const read_options *read, ald_error *err)
{
    ald_sqlite_options options = ALD_SQLITE_OPTIONS_INIT;
    ald_status status = fill_options(in, read, &options, err);
    return status == ALD_OK
               ? ald_sqlite_open(path_of(in), &options, &in->env->host, &in->stream, err)
               : status;
}

void cli_sqlite_close(cli_input *in)
{
    free(in->sqlite_path);
    free(in->sqlite_table);
    free(in->sqlite_query);
}
