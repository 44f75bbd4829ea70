/* SPDX-License-Identifier: MIT */
/* The log of a scan: a line for each file that was looked at and was clean, so that a later run leaves it out. */
#ifndef CLI_SCAN_LOG_H
#define CLI_SCAN_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "ald/error.h"

/* Zeroed, nothing is in it and nothing is written. */
typedef struct scan_log {
    FILE *file;
    char **lines; /* of an earlier run, sorted */
    size_t count;
} scan_log;

/* `first` is a line that says what is looked for; a log that begins otherwise is refused. scan_log_close in any case. */
ALD_NODISCARD ald_status scan_log_open(const char *path, const char *first, scan_log *out,
                                       ald_error *err);

/* What a file is now: path, size, time of change. To be freed; NULL: not known. */
char *scan_log_key(const char *path);
/* Whether a file that was looked at is still the same. */
int scan_log_has(const scan_log *log, const char *key);
/* Each line is on its way to the disk at once, for the run that is killed. */
void scan_log_add(const scan_log *log, const char *key);

/* Says when a line could not be written. */
ALD_NODISCARD ald_status scan_log_close(scan_log *log, ald_error *err);

#endif
