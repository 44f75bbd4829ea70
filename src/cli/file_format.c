/* SPDX-License-Identifier: MIT */
/* One row for each format; extensions are compared in any case. */
#include "cli/file_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES 16

typedef struct format_row {
    const char *name;
    const char *text;
    const char *extensions[4];
    opt_scope in, out;
    uint8_t binary;
    uint8_t counted;
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
                        1,
                        1},
    [FORMAT_NPY] = {"npy", "NumPy array (.npy)", {"npy"}, SCOPE_NPY_IN, 0, 1, 1},
    [FORMAT_NPZ] = {"npz", "NumPy archive (.npz)", {"npz"}, SCOPE_TENSORS_IN, 0, 1, 1},
    [FORMAT_SAFETENSORS] =
        {"safetensors", "safetensors file", {"safetensors"}, SCOPE_TENSORS_IN, 0, 1, 1},
    /* The extension .db is for others, too: that one is found by its beginning. */
    [FORMAT_SQLITE] =
        {"sqlite", "SQLite database", {"sqlite", "sqlite3"}, SCOPE_SQLITE_IN, 0, 1, 0},
    [FORMAT_IMAGES] = {"imagefolder", "folder of images", {NULL}, SCOPE_FOLDER_IN, 0, 1, 1},
    [FORMAT_AUDIO] = {"audiofolder", "folder of audio files", {NULL}, SCOPE_FOLDER_IN, 0, 1, 1},
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

const char *const file_format_names[] = {
    "ald", "csv", "tsv",         "jsonl",  "json",        "arrow",       "arrows", "parquet",
    "npy", "npz", "safetensors", "sqlite", "imagefolder", "audiofolder", NULL};
const char *const file_format_written_names[] = {"ald",   "csv",    "tsv",     "jsonl", "json",
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
    if (strncmp(path, CLI_SQLITE_PREFIX, strlen(CLI_SQLITE_PREFIX)) == 0) {
        return FORMAT_SQLITE;
    }
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
    for (size_t i = 1; i < ROW_COUNT; i++) {
        if (strcasecmp(rows[i].name, name) == 0) {
            return (file_format)i;
        }
    }
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

int file_format_has_row_count(file_format format)
{
    return rows[format].counted;
}

opt_scope file_format_scope_in(file_format format)
{
    return rows[format].in;
}

opt_scope file_format_scope_out(file_format format)
{
    return rows[format].out;
}

static const char *article(file_format format)
{
    return strchr("Nsf", rows[format].text[0]) != NULL ? "a" : "an";
}

#define WRITTEN_LIST                                                                               \
    "ald, csv, tsv, jsonl (ndjson), json, arrow (feather, ipc), arrows, parquet (pq)"
#define READ_LIST WRITTEN_LIST ", npy, npz, safetensors, sqlite, imagefolder, audiofolder"

static ald_status unknown(cli_env *env, const char *path, const char *name, const char *option,
                          ald_error *err)
{
    const char *list = strcmp(option, "--from") == 0 ? READ_LIST : WRITTEN_LIST;
    if (name != NULL) {
        cli_hint(env, "the formats are %s", list);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s: unknown format '%s'",
                             option, name);
    }
    cli_hint(env, "name the format with %s; the formats are %s", option, list);
    if (strcmp(path, "-") == 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s needs %s",
                             strcmp(option, "--from") == 0 ? "standard input" : "standard output",
                             option);
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "%s: the name does not tell the format", path);
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
                  {"PAR1", 4, FORMAT_PARQUET},
                  {"\x93NUMPY", 6, FORMAT_NPY},
                  {"SQLite format 3", 15, FORMAT_SQLITE}};
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

/* Of a file whose name says nothing, where what it begins with is of one format only. */
static file_format by_content(const char *path)
{
    uint8_t head[MAGIC_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
    file_format found = size > 0 ? by_beginning(head, (size_t)size) : FORMAT_UNKNOWN;
    if (fd >= 0) {
        (void)close(fd);
    }
    return found == FORMAT_SQLITE || found == FORMAT_NPY ? found : FORMAT_UNKNOWN;
}

/* Why an input whose name and beginning say nothing cannot be read, where that is not for want of --from. */
static ald_status look_at_input(cli_env *env, const char *path, ald_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot open '%s': %s", path,
                             strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        cli_hint(env, "names that begin with a dot or an underscore are passed over; --from names "
                      "the format of files whose names do not tell");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "%s: the folder holds no file of a known format", path);
    }
    return ALD_OK;
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
    if (*out == FORMAT_UNKNOWN && name == NULL && strcmp(option, "--from") == 0) {
        *out = by_content(path);
        if (*out == FORMAT_UNKNOWN && strcmp(path, "-") != 0) {
            ald_status status = look_at_input(env, path, err);
            if (status != ALD_OK) {
                return status;
            }
        }
    }
    if (*out == FORMAT_UNKNOWN) {
        return unknown(env, path, name, option, err);
    }
    if (strcmp(option, "--to") == 0 && rows[*out].out == 0) {
        cli_hint(env, "what is written: %s", WRITTEN_LIST);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s: %s %s is only read",
                             name != NULL ? option : path, article(*out), rows[*out].text);
    }
    return ALD_OK;
}

ald_status file_format_check_beginning(cli_env *env, file_format format, const ald_source *source,
                                       int is_chosen, ald_error *err)
{
    uint8_t head[MAGIC_BYTES];
    size_t size = source->size_bytes < sizeof(head) ? (size_t)source->size_bytes : sizeof(head);
    ald_status status = size > 0 ? source->read_at(source->ctx, 0, head, size, err) : ALD_E_OK;
    file_format found = status == ALD_OK ? by_beginning(head, size) : FORMAT_UNKNOWN;
    if (found == FORMAT_UNKNOWN || found == format) {
        return status;
    }
    if (!is_chosen) {
        cli_hint(env, "pass --from %s, or rename the file", rows[found].name);
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, 0, "this is %s %s, not %s%s%s", article(found),
                         rows[found].text, rows[format].binary ? article(format) : "",
                         rows[format].binary ? " " : "", rows[format].text);
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
        {SCOPE_CSV_IN, "CSV input"},
        {SCOPE_JSON_IN, "JSON input"},
        {SCOPE_IPC_IN, "Arrow input"},
        {SCOPE_ALD_IN, ".ald input"},
        {SCOPE_PARQUET_IN, "Parquet input"},
        {SCOPE_NPY_IN, ".npy input"},
        {SCOPE_TENSORS_IN, ".npz and safetensors input"},
        {SCOPE_SQLITE_IN, "SQLite input"},
        {SCOPE_FOLDER_IN, "image and audio folders"},
        {SCOPE_CSV_OUT, "CSV output"},
        {SCOPE_JSON_OUT, "JSON output"},
        {SCOPE_IPC_OUT, "Arrow output"},
        {SCOPE_PARQUET_OUT, "Parquet output"},
        {SCOPE_ALD_OUT, ".ald output"},
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
