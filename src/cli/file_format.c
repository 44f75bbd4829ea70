/* SPDX-License-Identifier: MIT */
/* One row for each format; extensions are compared in any case. */
#include "cli/file_format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct format_row {
    const char *name;
    const char *text;
    const char *extensions[4];
    opt_scope in, out;
    uint8_t binary;
} format_row;

static const format_row rows[] = {
    [FORMAT_ALD] = {"ald", ".ald dataset", {"ald"}, SCOPE_ALD_IN, SCOPE_ALD_OUT, 1},
    [FORMAT_CSV] = {"csv", "CSV", {"csv"}, SCOPE_CSV_IN, SCOPE_CSV_OUT, 0},
    [FORMAT_TSV] = {"tsv", "CSV with tabs", {"tsv", "tab"}, SCOPE_CSV_IN, SCOPE_CSV_OUT, 0},
    [FORMAT_JSONL] = {"jsonl", "JSON lines", {"jsonl", "ndjson"}, SCOPE_JSON_IN, SCOPE_JSON_OUT, 0},
    [FORMAT_JSON] = {"json", "JSON array", {"json"}, SCOPE_JSON_IN, SCOPE_JSON_OUT, 0},
    [FORMAT_ARROW] =
        {"arrow", "Arrow IPC file", {"arrow", "feather", "ipc"}, SCOPE_IPC_IN, SCOPE_IPC_OUT, 1},
    [FORMAT_ARROWS] = {"arrows", "Arrow IPC stream", {"arrows"}, SCOPE_IPC_IN, SCOPE_IPC_OUT, 1},
    [FORMAT_PARQUET] = {"parquet",
                        "Apache Parquet file",
                        {"parquet", "pq"},
                        SCOPE_PARQUET_IN,
                        SCOPE_PARQUET_OUT,
                        1},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

const char *const file_format_names[] = {"ald",   "csv",    "tsv",     "jsonl", "json",
                                         "arrow", "arrows", "parquet", NULL};

static file_format by_extension(const char *extension)
{
    for (size_t i = 1; i < ROW_COUNT; i++) {
        for (size_t k = 0; k < 4 && rows[i].extensions[k] != NULL; k++) {
            if (strcasecmp(rows[i].extensions[k], extension) == 0) {
                return (file_format)i;
            }
        }
    }
    return FORMAT_UNKNOWN;
}

/* Text may be compressed: data.csv.gz is CSV. */
file_format file_format_of_path(const char *path)
{
    char name[256];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof(name), "%s", slash != NULL ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot != NULL && (strcasecmp(dot, ".gz") == 0 || strcasecmp(dot, ".zst") == 0)) {
        *dot = '\0';
        dot = strrchr(name, '.');
        file_format inner = dot != NULL ? by_extension(dot + 1) : FORMAT_UNKNOWN;
        return inner != FORMAT_UNKNOWN && !rows[inner].binary ? inner : FORMAT_UNKNOWN;
    }
    return dot != NULL ? by_extension(dot + 1) : FORMAT_UNKNOWN;
}

file_format file_format_of_name(const char *name)
{
    return by_extension(name[0] == '.' ? name + 1 : name);
}

const char *file_format_text(file_format format)
{
    return rows[format].text;
}

const char *file_format_name(file_format format)
{
    return rows[format].name;
}

int file_format_is_binary(file_format format)
{
    return rows[format].binary;
}

opt_scope file_format_scope_in(file_format format)
{
    return rows[format].in;
}

opt_scope file_format_scope_out(file_format format)
{
    return rows[format].out;
}

#define FORMAT_LIST                                                                                \
    "ald, csv, tsv, jsonl (ndjson), json, arrow (feather, ipc), arrows, parquet (pq)"

static ald_status unknown(cli_env *env, const char *path, const char *name, const char *option,
                          ald_error *err)
{
    if (name != NULL) {
        cli_hint(env, "the formats are %s", FORMAT_LIST);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s: unknown format '%s'",
                             option, name);
    }
    cli_hint(env, "name the format with %s; the formats are %s", option, FORMAT_LIST);
    if (strcmp(path, "-") == 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s needs %s",
                             strcmp(option, "--from") == 0 ? "standard input" : "standard output",
                             option);
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "%s: the name does not tell the format", path);
}

ald_status file_format_find(cli_env *env, const char *path, const char *name, const char *option,
                            file_format *out, ald_error *err)
{
    *out = FORMAT_UNKNOWN;
    env->subject = NULL; /* the message names the path */
    if (name != NULL) {
        *out = file_format_of_name(name);
    } else if (strcmp(path, "-") != 0) {
        *out = file_format_of_path(path);
    }
    if (*out == FORMAT_UNKNOWN) {
        return unknown(env, path, name, option, err);
    }
    return ALD_OK;
}

/* The format of a file that begins so, where its first bytes tell: text has no control characters there. */
static file_format by_beginning(const uint8_t *head, size_t size)
{
    static const struct {
        const char *magic;
        uint8_t size;
        file_format format;
    } magics[] = {{"ALDF", 4, FORMAT_ALD},
                  {"ARROW1", 6, FORMAT_ARROW},
                  {"\xFF\xFF\xFF\xFF", 4, FORMAT_ARROWS},
                  {"PAR1", 4, FORMAT_PARQUET}};
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        size_t n = magics[i].size;
        uint8_t next = size > n ? head[n] : '\n';
        int is_binary = next < '\t' || (next > '\r' && next < ' ');
        if (magics[i].format == FORMAT_ARROWS) {
            is_binary = size > 7 && head[7] == 0; /* the highest byte of a length */
        }
        if (is_binary && memcmp(head, magics[i].magic, n) == 0) {
            return magics[i].format;
        }
    }
    return FORMAT_UNKNOWN;
}

ald_status file_format_check_beginning(cli_env *env, file_format format, const ald_source *source,
                                       int is_chosen, ald_error *err)
{
    uint8_t head[8];
    size_t size = source->size_bytes < sizeof(head) ? (size_t)source->size_bytes : sizeof(head);
    ald_status status = size > 0 ? source->read_at(source->ctx, 0, head, size, err) : ALD_E_OK;
    file_format found = status == ALD_OK ? by_beginning(head, size) : FORMAT_UNKNOWN;
    if (found == FORMAT_UNKNOWN || found == format) {
        return status;
    }
    if (!is_chosen) {
        cli_hint(env, "pass --from %s, or rename the file", rows[found].name);
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, 0, "this is an %s, not %s%s", rows[found].text,
                         rows[format].binary ? "an " : "", rows[format].text);
}

uint8_t file_format_ald_flags(const ald_source *source)
{
    uint8_t header[22];
    return source->size_bytes >= sizeof(header) &&
                   source->read_at(source->ctx, 0, header, sizeof(header), NULL) == ALD_OK &&
                   memcmp(header, "ALDF", 4) == 0
               ? header[21]
               : 0;
}

ald_status file_format_check_options(cli_env *env, opt_scope scopes, ald_error *err)
{
    static const struct {
        opt_scope scope;
        const char *text;
    } names[] = {
        {SCOPE_CSV_IN, "CSV input"},           {SCOPE_JSON_IN, "JSON input"},
        {SCOPE_IPC_IN, "Arrow input"},         {SCOPE_ALD_IN, ".ald input"},
        {SCOPE_PARQUET_IN, "Parquet input"},   {SCOPE_CSV_OUT, "CSV output"},
        {SCOPE_JSON_OUT, "JSON output"},       {SCOPE_IPC_OUT, "Arrow output"},
        {SCOPE_PARQUET_OUT, "Parquet output"}, {SCOPE_ALD_OUT, ".ald output"},
    };
    char text[200] = "";
    const opt_spec *spec = opt_without_effect(&env->seen, scopes);
    if (spec == NULL) {
        return ALD_OK;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((spec->scope & names[i].scope) != 0) {
            strncat(text, text[0] != '\0' ? ", " : "", sizeof(text) - strlen(text) - 1);
            strncat(text, names[i].text, sizeof(text) - strlen(text) - 1);
        }
    }
    cli_hint(env, "leave it out, or say the formats with --from and --to");
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "--%s has no effect here: it is for %s", spec->name, text);
}
