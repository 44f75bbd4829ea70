/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

#define FIRST_AFTER 1.0 /* seconds */
#define THEN_EVERY 0.1
#define BAR_CELLS 24

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void cli_progress_start(cli_progress *p, const cli_env *env, const char *what, const char *unit)
{
    memset(p, 0, sizeof(*p));
    p->what = what;
    p->unit = unit;
    p->enabled = !env->quiet && isatty(STDERR_FILENO);
    p->start = p->enabled ? seconds() : 0;
    p->last = p->start + FIRST_AFTER - THEN_EVERY;
}

static void show(cli_progress *p, uint64_t done, uint64_t total, double now)
{
    char bar[BAR_CELLS + 1];
    if (total == 0) {
        fprintf(stderr, "\r%s %" PRIu64 " %s\033[K", p->what, done,
                p->unit != NULL ? p->unit : "bytes");
    } else {
        double part = done < total ? (double)done / (double)total : 1.0;
        int filled = (int)(part * BAR_CELLS);
        double left = part > 0 ? (now - p->start) * (1 - part) / part : 0;
        memset(bar, '.', BAR_CELLS);
        memset(bar, '#', (size_t)filled);
        bar[BAR_CELLS] = '\0';
        fprintf(stderr, "\r%s [%s] %3d %%, %.0f s left\033[K", p->what, bar, (int)(part * 100),
                left);
    }
    fflush(stderr);
    p->shown = 1;
}

void cli_progress_update(cli_progress *p, uint64_t done, uint64_t total)
{
    if (!p->enabled || p->what == NULL) {
        return;
    }
    double now = seconds();
    if (now - p->last >= THEN_EVERY) {
        p->last = now;
        show(p, done, total, now);
    }
}

void cli_progress_end(cli_progress *p)
{
    if (p->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    p->shown = 0;
    p->enabled = 0;
}
