/* SPDX-License-Identifier: MIT */
/* alimentar piracy scan FOLDER */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/json_print.h"
#include "cli/piracy_look.h"
#include "cli/table_print.h"

typedef struct scan_args {
    cli_common common;
    const char *folder;
    const char *log; /* --resume */
    read_options read;
    look_options look;
    uint8_t json;
} scan_args;

/* ---- the files */

typedef struct path_list {
    char **items;
    size_t count, cap;
} path_list;

static path_list *found_paths; /* nftw has no argument to pass on */

static int note_path(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    path_list *list = found_paths;
    (void)at;
    if (kind != FTW_F || !S_ISREG(st->st_mode)) {
        return 0;
    }
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 256 : 2 * list->cap;
        char **items = realloc(list->items, cap * sizeof(*items));
        if (items == NULL) {
            return -1;
        }
        list->items = items;
        list->cap = cap;
    }
    list->items[list->count] = strdup(path);
    return list->items[list->count++] == NULL ? -1 : 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Regular files below a folder, sorted; links are not followed. */
static ald_status find_paths(const char *folder, path_list *out, ald_error *err)
{
    found_paths = out;
    if (nftw(folder, note_path, 32, FTW_PHYS) != 0) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read the folder: %s",
                             strerror(errno));
    }
    if (out->count > 1) {
        qsort(out->items, out->count, sizeof(*out->items), by_name);
    }
    return ALD_OK;
}

static void clear_paths(path_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i]);
    }
    free(list->items);
}

/* ---- one file */

typedef struct scan_row {
    const char *path;
    ald_error error; /* status ALD_OK: it was read */
    piracy_result result;
    uint8_t was_known; /* from the log */
} scan_row;

static void look_at(cli_env *env, const scan_args *args, const piracy_key *key, scan_row *row)
{
    cli_env quiet = *env; /* a file that cannot be read is not this command's error */
    cli_input in;
    memset(&in, 0, sizeof(in));
    quiet.quiet = 1;
    ald_status status = piracy_open(&quiet, row->path, &args->read, &in, &row->error);
    if (status == ALD_OK) {
        status = piracy_look(&quiet, key, &in, &row->result, &row->error);
    }
    row->error.status = (int32_t)status;
    cli_input_close(&in);
}

static const char *verdict_of(const scan_row *row)
{
    return row->error.status != ALD_OK     ? "unreadable"
           : row->result.finding.found     ? "found"
           : row->result.finding.is_marked ? "marked"
                                           : "clean";
}

static const char *buyer_of(const piracy_key *key, const scan_row *row, char text[65])
{
    const known_buyer *b;
    if (row->error.status != ALD_OK || !row->result.finding.found) {
        return NULL;
    }
    b = buyers_find(&key->buyers, row->result.finding.buyer_hash);
    cli_hash_text(row->result.finding.buyer_hash, text);
    return b != NULL ? b->name : text;
}

/* ---- the log: a line for each file that was looked at */

typedef struct scan_log {
    FILE *file;
    char **lines; /* of an earlier run, sorted */
    size_t count;
} scan_log;

/* What a file was when it was looked at: path, size, time of change. */
static char *log_key(const char *path)
{
    struct stat st;
    char *out = NULL;
    if (stat(path, &st) != 0 ||
        asprintf(&out, "%jd %jd.%09ld %s", (intmax_t)st.st_size, (intmax_t)st.st_mtim.tv_sec,
                 st.st_mtim.tv_nsec, path) < 0) {
        return NULL;
    }
    return out;
}

static ald_status log_failed(const char *path, ald_error *err)
{
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot use the log '%s': %s", path,
                         strerror(errno));
}

/* A log begins with the key it belongs to: for another one everything is looked at again. */
static ald_status take_line(scan_log *log, char *line, ssize_t size, const char *first,
                            const char *path, ald_error *err)
{
    char **lines = realloc(log->lines, (log->count + 1) * sizeof(*lines));
    while (size > 0 && line[size - 1] == '\n') {
        line[--size] = '\0';
    }
    if (lines == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the log");
    }
    log->lines = lines;
    if (log->count == 0 && strcmp(line, first) != 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the log '%s' is that of another key\nname another log", path);
    }
    log->lines[log->count] = strdup(line);
    if (log->lines[log->count] == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the log");
    }
    log->count++;
    return ALD_OK;
}

static ald_status open_log(const char *path, const piracy_key *key, scan_log *out, ald_error *err)
{
    char first[80], text[65], *line = NULL;
    size_t room = 0;
    ssize_t size;
    ald_status status = ALD_OK;
    FILE *old = fopen(path, "re");
    cli_hash_text(key->seller.keys->public_key, text);
    snprintf(first, sizeof(first), "key %s", text);
    while (old != NULL && status == ALD_OK && (size = getline(&line, &room, old)) >= 0) {
        status = take_line(out, line, size, first, path, err);
    }
    free(line);
    if (old != NULL) {
        (void)fclose(old);
    }
    if (status != ALD_OK) {
        return status;
    }
    out->file = fopen(path, "ae");
    if (out->file == NULL) {
        return log_failed(path, err);
    }
    if (out->count == 0) {
        return fprintf(out->file, "%s\n", first) < 0 ? log_failed(path, err) : ALD_OK;
    }
    qsort(out->lines, out->count, sizeof(*out->lines), by_name);
    return ALD_OK;
}

static int is_logged(const scan_log *log, const char *key)
{
    return log->count > 0 && key != NULL &&
           bsearch(&key, log->lines, log->count, sizeof(*log->lines), by_name) != NULL;
}

/* Only what was clean need not be looked at again. */
static void write_log(const scan_log *log, const scan_row *row, const char *key)
{
    if (log->file != NULL && key != NULL && strcmp(verdict_of(row), "clean") == 0) {
        (void)fprintf(log->file, "%s\n", key); /* an error is seen when it is closed */
        (void)fflush(log->file);
    }
}

static ald_status close_log(scan_log *log, ald_error *err)
{
    int failed = log->file != NULL && (ferror(log->file) | fclose(log->file)) != 0;
    for (size_t i = 0; i < log->count; i++) {
        free(log->lines[i]);
    }
    free(log->lines);
    return failed ? ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot write the log") : ALD_OK;
}

/* ---- what was found */

typedef struct scan_sums {
    uint64_t found, marked, clean, unreadable, known;
} scan_sums;

static void add_sum(scan_sums *sums, const scan_row *row)
{
    const char *verdict = verdict_of(row);
    sums->known += row->was_known;
    sums->found += verdict[0] == 'f';
    sums->marked += verdict[0] == 'm';
    sums->clean += verdict[0] == 'c';
    sums->unreadable += verdict[0] == 'u';
}

static void json_row(json_print *j, const piracy_key *key, const scan_row *row)
{
    char text[65];
    json_open(j, NULL, '{');
    json_text(j, "file", row->path);
    json_text(j, "verdict", verdict_of(row));
    json_text(j, "buyer", buyer_of(key, row, text));
    json_double(j, "evidence_bits", row->result.finding.evidence_bits);
    if (row->error.status != ALD_OK) {
        json_error(j, &row->error);
    }
    json_close(j, '}');
}

static void table_row(cli_table *table, const piracy_key *key, const scan_row *row)
{
    char text[65], bits[24] = "", why[sizeof(row->error.msg)];
    const char *buyer = buyer_of(key, row, text);
    snprintf(why, sizeof(why), "%.*s", (int)strcspn(row->error.msg, "\n"), row->error.msg);
    if (row->result.finding.found) {
        snprintf(bits, sizeof(bits), "%.0f", row->result.finding.evidence_bits);
    }
    cli_table_text(table, row->path);
    cli_table_text(table, verdict_of(row));
    cli_table_text(table, buyer != NULL ? buyer : row->error.status != ALD_OK ? why : "");
    cli_table_text(table, bits);
}

typedef struct scan_run {
    cli_env *env;
    const scan_args *args;
    const piracy_key *key;
    scan_log log;
    scan_sums sums;
    json_print json;
    cli_table table;
} scan_run;

/* Whether a file's name says that it has data; the others are not mentioned. */
static int is_data(const cli_env *env, const char *path)
{
    cli_env quiet = *env;
    file_format format = FORMAT_UNKNOWN;
    ald_error err;
    return file_format_find(&quiet, path, NULL, "--from", &format, &err) == ALD_OK;
}

static void scan_one(scan_run *run, const char *path)
{
    scan_row row;
    if (!is_data(run->env, path)) {
        return;
    }
    char *key = log_key(path);
    memset(&row, 0, sizeof(row));
    row.path = path;
    if (is_logged(&run->log, key)) {
        row.was_known = 1;
    } else {
        look_at(run->env, run->args, run->key, &row);
        write_log(&run->log, &row, key);
    }
    free(key);
    add_sum(&run->sums, &row);
    if (run->args->json) {
        json_row(&run->json, run->key, &row);
    } else if (strcmp(verdict_of(&row), "clean") != 0) {
        table_row(&run->table, run->key, &row);
    }
}

static ald_status scan_all(scan_run *run, const path_list *paths, ald_error *err)
{
    cli_progress progress;
    ald_status status = ALD_OK;
    memset(&progress, 0, sizeof(progress));
    cli_progress_start(&progress, run->env, "scanning", "files");
    if (run->args->json) {
        json_open(&run->json, NULL, '{');
        json_open(&run->json, "files", '[');
    } else {
        cli_table_column(&run->table, "file", 0);
        cli_table_column(&run->table, "verdict", 0);
        cli_table_column(&run->table, "buyer", 0);
        cli_table_column(&run->table, "bits", 1);
    }
    for (size_t i = 0; i < paths->count; i++) {
        scan_one(run, paths->items[i]);
        cli_progress_update(&progress, i + 1, paths->count);
    }
    cli_progress_end(&progress);
    if (run->args->json) {
        json_close(&run->json, ']');
        json_uint(&run->json, "found", run->sums.found);
        json_uint(&run->json, "marked", run->sums.marked);
        json_uint(&run->json, "clean", run->sums.clean);
        json_uint(&run->json, "unreadable", run->sums.unreadable);
        json_close(&run->json, '}');
        json_end(&run->json);
        return ALD_OK;
    }
    if (run->sums.found + run->sums.marked + run->sums.unreadable > 0) {
        cli_table_print(&run->table, 0);
    }
    status = cli_table_check(&run->table, err);
    cli_printf("%" PRIu64 " found, %" PRIu64 " marked, %" PRIu64 " clean, %" PRIu64 " unreadable\n",
               run->sums.found, run->sums.marked, run->sums.clean, run->sums.unreadable);
    return status;
}

static ald_status run_scan(cli_env *env, void *raw, ald_error *err)
{
    const scan_args *args = raw;
    path_list paths;
    piracy_key key;
    scan_run run;
    ald_error ignored;
    memset(&paths, 0, sizeof(paths));
    memset(&key, 0, sizeof(key));
    memset(&run, 0, sizeof(run));
    run.env = env;
    run.args = args;
    run.key = &key;
    ald_status status =
        piracy_key_open(env, &args->look, &args->read.trust.key_passphrase, &key, err);
    if (status == ALD_OK) {
        env->subject = args->folder;
        status = find_paths(args->folder, &paths, err);
    }
    if (status == ALD_OK) {
        env->subject = NULL;
        status = args->log != NULL ? open_log(args->log, &key, &run.log, err) : ALD_OK;
    }
    if (status == ALD_OK) {
        status = scan_all(&run, &paths, err);
        env->answer = run.sums.found + run.sums.marked > 0 ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    }
    ald_status closed = close_log(&run.log, status == ALD_OK ? err : &ignored);
    cli_table_clear(&run.table);
    clear_paths(&paths);
    piracy_key_close(&key);
    return status != ALD_OK ? status : closed;
}

static const opt_operand operands[] = {
    {"FOLDER", "where to look, with all folders below", offsetof(scan_args, folder), 0},
    {0},
};

static const opt_spec scan_specs[] = {
    {.name = "resume",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(scan_args, log),
     .help = "note files that are clean in FILE, and leave out those that it has and that have not "
             "changed since"},
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(scan_args, json),
     .help = "every file as JSON, the clean ones too"},
};
static const opt_group group_scan = OPT_GROUP("Scan", scan_specs);

static const opt_use options[] = {
    {&cli_group_seller, offsetof(scan_args, look.seller)},
    {&cli_group_look, offsetof(scan_args, look)},
    {&group_scan, 0},
    {&cli_group_trust, offsetof(scan_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "which of these files are yours?",
    "alimentar piracy scan ./suspects --seller-key seller.key --buyers ~/.alimentar/buyers.jsonl",
    "in parts",
    "alimentar piracy scan ./suspects --seller-key seller.key --resume scan.log",
    NULL,
};

const cli_command cli_cmd_piracy_scan = {
    .verb = "piracy scan",
    .brief = "looks for your marks in all files of a folder",
    .details = "Files in every format that `convert` reads, told by their names. What cannot be "
               "read is listed and does not stop the scan. Exits with 0 when nothing was found, "
               "with 1 when there is a mark of yours.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(scan_args),
    .run = run_scan,
};
