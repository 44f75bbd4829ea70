/* SPDX-License-Identifier: MIT */
/* alimentar piracy scan FOLDER */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/json_print.h"
#include "cli/piracy_look.h"
#include "cli/scan_log.h"
#include "cli/table_print.h"

#define FILES_AT_ONCE 256u

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
    uint8_t is_data;   /* else it is not mentioned */
    uint8_t was_known; /* from the log */
} scan_row;

static void look_at(const cli_env *env, const scan_args *args, const piracy_key *key, scan_row *row)
{
    cli_env quiet = *env; /* a file that cannot be read is not this command's error */
    cli_input in;
    left_out left;
    memset(&in, 0, sizeof(in));
    memset(&left, 0, sizeof(left));
    quiet.quiet = 1;
    ald_status status = piracy_open(&quiet, row->path, &args->read, &in, &left, &row->error);
    if (status == ALD_OK) {
        status = piracy_look(&quiet, key, &in, &row->result, &row->error);
    }
    if (status == ALD_OK && left.number_count == 0 && left_out_has_numbers(&left)) {
        status = ald_error_set(&row->error, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                               "its numbers were read as text; `piracy extract` says more");
    }
    row->error.status = (int32_t)status;
    cli_input_close(&in);
    left_out_clear(&left);
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

/* The first line of the message, without the path that stands in the row already. */
static void why_unreadable(const scan_row *row, char out[sizeof(row->error.msg)])
{
    ald_error spelled; /* a message is shortened and escaped */
    const char *message = row->error.msg;
    if (row->error.status == ALD_OK) {
        return;
    }
    (void)ald_error_set(&spelled, ALD_E_IO, ALD_NO_OFFSET, "%s", row->path);
    const size_t size = strlen(spelled.msg);
    if (strncmp(message, spelled.msg, size) == 0 && strncmp(message + size, ": ", 2) == 0) {
        message += size + 2;
    }
    snprintf(out, sizeof(row->error.msg), "%s: %.*s",
             ald_status_name((ald_status)row->error.status), (int)strcspn(message, "\n"), message);
}

static void table_row(cli_table *table, const piracy_key *key, const scan_row *row)
{
    char text[65], bits[24] = "", why[sizeof(row->error.msg)] = "";
    const char *buyer = buyer_of(key, row, text);
    why_unreadable(row, why);
    if (row->result.finding.found) {
        snprintf(bits, sizeof(bits), "%.0f", row->result.finding.evidence_bits);
    }
    cli_table_text(table, row->path);
    cli_table_text(table, verdict_of(row));
    cli_table_text(table, buyer != NULL ? buyer : "");
    cli_table_text(table, bits);
    cli_table_text(table, why);
}

typedef struct scan_run {
    cli_env *env; /* of the command */
    cli_env file; /* of each file */
    const scan_args *args;
    const piracy_key *key;
    scan_log log;
    scan_sums sums;
    json_print json;
    cli_table table;
    cli_progress progress;
    pthread_mutex_t lock; /* of log, progress and done */
    const path_list *paths;
    scan_row *rows; /* of the files being looked at: from paths[first] on */
    size_t first, done;
} scan_run;

/* Whether a file's name says that it has data; the others are not mentioned. */
static int is_data(const cli_env *env, const char *path)
{
    cli_env quiet = *env;
    file_format format = FORMAT_UNKNOWN;
    ald_error err;
    return file_format_find(&quiet, path, NULL, "--from", &format, &err) == ALD_OK;
}

/* Only what was clean need not be looked at again. */
static void scan_one(void *arg, uint32_t index)
{
    scan_run *run = arg;
    scan_row *row = &run->rows[index];
    memset(row, 0, sizeof(*row));
    row->path = run->paths->items[run->first + index];
    row->is_data = (uint8_t)is_data(&run->file, row->path);
    char *key = row->is_data ? scan_log_key(row->path) : NULL;
    row->was_known = (uint8_t)scan_log_has(&run->log, key);
    if (row->is_data && !row->was_known) {
        look_at(&run->file, run->args, run->key, row);
    }
    (void)pthread_mutex_lock(&run->lock);
    if (row->is_data && !row->was_known && strcmp(verdict_of(row), "clean") == 0) {
        scan_log_add(&run->log, key);
    }
    cli_progress_update(&run->progress, ++run->done, run->paths->count);
    (void)pthread_mutex_unlock(&run->lock);
    free(key);
}

static void show_row(scan_run *run, const scan_row *row)
{
    if (!row->is_data) {
        return;
    }
    add_sum(&run->sums, row);
    if (run->args->json) {
        json_row(&run->json, run->key, row);
    } else if (strcmp(verdict_of(row), "clean") != 0) {
        table_row(&run->table, run->key, row);
    }
}

/* A thread for each file, where there are more files than threads; else all threads for a file. What is shown is in the
 * order of names. */
static ald_status scan_files(scan_run *run, ald_error *err)
{
    const ald_host *host = &run->env->host;
    const size_t count = run->paths->count;
    const int side_by_side = host->run_tasks != NULL && count > host->thread_count;
    run->file = *run->env;
    run->rows = calloc(FILES_AT_ONCE, sizeof(*run->rows));
    if (run->rows == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the files");
    }
    if (side_by_side) {
        run->file.host.thread_count = 1;
        run->file.host.run_tasks = NULL;
    }
    for (run->first = 0; run->first < count; run->first += FILES_AT_ONCE) {
        size_t left = count - run->first;
        uint32_t some = left < FILES_AT_ONCE ? (uint32_t)left : FILES_AT_ONCE;
        if (side_by_side) {
            host->run_tasks(host->ctx, some, scan_one, run);
        }
        for (uint32_t i = 0; i < some; i++) {
            if (!side_by_side) {
                scan_one(run, i);
            }
            show_row(run, &run->rows[i]);
        }
    }
    free(run->rows);
    return ALD_OK;
}

static void print_sums(scan_run *run)
{
    const scan_sums *sums = &run->sums;
    if (run->args->json) {
        json_close(&run->json, ']');
        json_uint(&run->json, "found", sums->found);
        json_uint(&run->json, "marked", sums->marked);
        json_uint(&run->json, "clean", sums->clean);
        json_uint(&run->json, "unreadable", sums->unreadable);
        json_close(&run->json, '}');
        json_end(&run->json);
        return;
    }
    if (sums->found + sums->marked + sums->unreadable > 0) {
        cli_table_print(&run->table, 0);
    }
    cli_printf("%" PRIu64 " found, %" PRIu64 " marked, %" PRIu64 " clean, %" PRIu64 " unreadable\n",
               sums->found, sums->marked, sums->clean, sums->unreadable);
}

static ald_status scan_all(scan_run *run, ald_error *err)
{
    cli_progress_start(&run->progress, run->env, "scanning", "files");
    if (run->args->json) {
        json_open(&run->json, NULL, '{');
        json_open(&run->json, "files", '[');
    } else {
        cli_table_column(&run->table, "file", 0);
        cli_table_column(&run->table, "verdict", 0);
        cli_table_column(&run->table, "buyer", 0);
        cli_table_column(&run->table, "bits", 1);
        cli_table_column(&run->table, "error", 0);
    }
    ald_status status = scan_files(run, err);
    cli_progress_end(&run->progress);
    if (status == ALD_OK && !run->args->json) {
        status = cli_table_check(&run->table, err);
    }
    if (status == ALD_OK) {
        print_sums(run);
    }
    return status;
}

/* What a log is for: the key, and everything else that decides whether a file is clean. To be freed. */
static char *log_head(const scan_args *args, const piracy_key *key)
{
    char text[65], *out = NULL;
    const char *id = args->look.seller.dataset_id;
    cli_hash_text(key->seller.keys->public_key, text);
    if (asprintf(&out, "key %s, %zu buyers, %zu conversions, dataset %s", text, key->buyers.count,
                 key->affine_count, id != NULL ? id : "-") < 0) {
        return NULL;
    }
    return out;
}

static ald_status start_log(scan_run *run, ald_error *err)
{
    char *head = run->args->log != NULL ? log_head(run->args, run->key) : NULL;
    ald_status status = ALD_OK;
    if (head != NULL) {
        status = scan_log_open(run->args->log, head, &run->log, err);
    } else if (run->args->log != NULL) {
        status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the log");
    }
    free(head);
    return status;
}

static ald_status run_scan(cli_env *env, void *raw, ald_error *err)
{
    const scan_args *args = raw;
    path_list paths;
    piracy_key key;
    scan_run run;
    ald_error ignored;
    env->is_question = 1;
    memset(&paths, 0, sizeof(paths));
    memset(&key, 0, sizeof(key));
    memset(&run, 0, sizeof(run));
    run.env = env;
    run.args = args;
    run.key = &key;
    (void)pthread_mutex_init(&run.lock, NULL);
    ald_status status =
        piracy_key_open(env, &args->look, &args->read.trust.key_passphrase, &key, err);
    if (status == ALD_OK) {
        env->subject = args->folder;
        status = find_paths(args->folder, &paths, err);
    }
    if (status == ALD_OK) {
        env->subject = NULL;
        run.paths = &paths;
        status = start_log(&run, err);
    }
    if (status == ALD_OK) {
        status = scan_all(&run, err);
        env->answer = run.sums.found + run.sums.marked > 0 ? CLI_EXIT_FAILED
                      : run.sums.unreadable > 0            ? CLI_EXIT_IO
                                                           : CLI_EXIT_OK;
    }
    ald_status closed = scan_log_close(&run.log, status == ALD_OK ? err : &ignored);
    (void)pthread_mutex_destroy(&run.lock);
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

static const char *const scan_exit_codes[] = {
    "0  nothing was found, and every file of data was read",
    "1  there is a mark of yours, whether or not all files could be read",
    PIRACY_USAGE,
    "3  nothing was found, but some files could not be read; or the scan failed: any other error",
    NULL,
};

const cli_command cli_cmd_piracy_scan = {
    .verb = "piracy scan",
    .brief = "looks for your marks in all files of a folder",
    .details = "Files in every format that `convert` reads, told by their names. What cannot be "
               "read is listed and does not stop the scan. Files are looked at side by side, one "
               "on each thread. A file without any column of numbers, whose texts look like "
               "numbers (with decimal commas, say), counts as one that cannot be read.",
    .examples = examples,
    .exit_codes = scan_exit_codes,
    .operands = operands,
    .options = options,
    .args_size = sizeof(scan_args),
    .run = run_scan,
};
