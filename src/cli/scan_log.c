/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/scan_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *scan_log_key(const char *path)
{
    struct stat st;
    char *out = NULL;
    if (strchr(path, '\n') != NULL || stat(path, &st) != 0 || /* a line is one file's */
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

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first line says what was looked for. */
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
        return ald_error_set(
            err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
            "the log '%s' is that of another key or of other options\nname another log", path);
    }
    log->lines[log->count] = strdup(line);
    if (log->lines[log->count] == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the log");
    }
    log->count++;
    return ALD_OK;
}

ald_status scan_log_open(const char *path, const char *first, scan_log *out, ald_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    ald_status status = ALD_OK;
    FILE *old = fopen(path, "re");
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
    qsort(out->lines, out->count, sizeof(*out->lines), by_line);
    return ALD_OK;
}

int scan_log_has(const scan_log *log, const char *key)
{
    return log->count > 0 && key != NULL &&
           bsearch(&key, log->lines, log->count, sizeof(*log->lines), by_line) != NULL;
}

void scan_log_add(const scan_log *log, const char *key)
{
    if (log->file != NULL && key != NULL) {
        (void)fprintf(log->file, "%s\n", key); /* an error is seen when it is closed */
        (void)fflush(log->file);
    }
}

ald_status scan_log_close(scan_log *log, ald_error *err)
{
    int failed = log->file != NULL && (ferror(log->file) | fclose(log->file)) != 0;
    for (size_t i = 0; i < log->count; i++) {
        free(log->lines[i]);
    }
    free(log->lines);
    return failed ? ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot write the log") : ALD_OK;
}
