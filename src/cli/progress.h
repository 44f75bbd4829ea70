/* SPDX-License-Identifier: MIT */
/* A line on a terminal's stderr for work that takes longer than a second. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

struct cli_env;

typedef struct cli_progress {
    const char *what; /* "reading"; NULL: never shown */
    const char *unit; /* NULL: bytes, as parts of the total */
    double start, last;
    uint8_t enabled, shown;
} cli_progress;

void cli_progress_start(cli_progress *p, const struct cli_env *env, const char *what,
                        const char *unit);
/* `total` 0: unknown. Cheap enough to be called for every batch. */
void cli_progress_update(cli_progress *p, uint64_t done, uint64_t total);
/* Clears the line. */
void cli_progress_end(cli_progress *p);

#endif
