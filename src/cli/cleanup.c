/* SPDX-License-Identifier: MIT */
/* SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU and SIGPIPE remove the temporary output and then end the process as they would
 * have. SIGXFSZ is ignored: the write that goes beyond the limit fails and is reported. SIGBUS means that a mapped input
 * shrank while it was read. */
#define _XOPEN_SOURCE 700 /* SIGXCPU, SIGXFSZ */
#include "cli/cleanup.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cli.h"

static char path_to_remove[PATH_MAX];
static volatile sig_atomic_t has_path;

/* Changed only while signals wait. */
static char **more_to_remove;
static volatile size_t more_count;

static struct termios settings_to_restore;
static volatile sig_atomic_t terminal_fd = -1;

static void restore_terminal(void)
{
    if (terminal_fd >= 0) {
        tcsetattr(terminal_fd, TCSANOW, &settings_to_restore);
    }
}

static void remove_file(void)
{
    if (has_path) {
        has_path = 0;
        unlink(path_to_remove);
    }
    for (size_t i = 0; i < more_count; i++) {
        unlink(more_to_remove[i]);
    }
}

static void on_end(int number)
{
    remove_file();
    restore_terminal();
    signal(number,
           SIG_DFL); /* the handler runs with the signal blocked: raised now, it comes on return */
    raise(number);
}

static void on_bus(int number)
{
    static const char text[] = "alimentar: error: IoError: an input file became shorter, or "
                               "unreadable, while it was read\n";
    (void)number;
    remove_file();
    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0) {
        /* nothing is left to tell it to */
    }
    _exit(CLI_EXIT_IO);
}

static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE};

void cli_cleanup_install(void)
{
    struct sigaction action;
    struct sigaction old;
    memset(&action, 0, sizeof(action));
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        action.sa_handler = on_end;
        /* A shell's `nohup` and `&` ignore signals for their children: leave that. A reader that goes away ends us
         * in any case. */
        if (sigaction(ends[i], NULL, &old) == 0 &&
            (old.sa_handler != SIG_IGN || ends[i] == SIGPIPE)) {
            sigaction(ends[i], &action, NULL);
        }
    }
    signal(SIGXFSZ, SIG_IGN);
    action.sa_handler = on_bus;
    sigaction(SIGBUS, &action, NULL);
}

static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        sigaddset(&set, ends[i]);
    }
    sigprocmask(how, &set, NULL);
}

static unsigned hold_count;

void cli_cleanup_hold(void)
{
    if (hold_count++ == 0) {
        mask(SIG_BLOCK);
    }
}

void cli_cleanup_resume(void)
{
    if (--hold_count == 0) {
        mask(SIG_UNBLOCK);
    }
}

void cli_cleanup_file(const char *path)
{
    has_path = 0;
    if (path != NULL && strlen(path) < sizeof(path_to_remove)) {
        memcpy(path_to_remove, path, strlen(path) + 1);
        has_path = 1;
    }
}

int cli_cleanup_add(const char *path)
{
    char **grown = realloc(more_to_remove, (more_count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return 0;
    }
    more_to_remove = grown;
    more_to_remove[more_count] = strdup(path);
    if (more_to_remove[more_count] == NULL) {
        return 0;
    }
    more_count++;
    return 1;
}

void cli_cleanup_clear(void)
{
    size_t count = more_count;
    more_count = 0;
    for (size_t i = 0; i < count; i++) {
        free(more_to_remove[i]);
    }
    free(more_to_remove);
    more_to_remove = NULL;
}

void cli_cleanup_terminal(int fd, const struct termios *settings)
{
    terminal_fd = -1;
    if (settings != NULL) {
        settings_to_restore = *settings;
        terminal_fd = fd;
    }
}
