/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/card_editor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/input.h"

extern char **environ;

static ald_status io_error(ald_error *err, const char *what, const char *name)
{
    int number = errno;
    ald_status status =
        ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s %s: %s", what, name, strerror(number));
    if (err != NULL) {
        err->detail = number;
    }
    return status;
}

static ald_status write_text(const char *path, const ald_buffer *text, ald_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t done = 0;
    if (fd < 0) {
        return io_error(err, "cannot make", path);
    }
    while (done < text->size) {
        ssize_t n = write(fd, text->data + done, text->size - done);
        if (n < 0 && errno != EINTR) {
            ald_status status = io_error(err, "cannot write", path);
            close(fd);
            return status;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return close(fd) == 0 ? ALD_OK : io_error(err, "cannot write", path);
}

static ald_status make_file(card_editor *editor, const ald_buffer *text, ald_error *err)
{
    const char *folder = getenv("TMPDIR");
    int n = snprintf(editor->folder, sizeof(editor->folder), "%s/alimentar-XXXXXX",
                     folder != NULL && folder[0] != '\0' ? folder : "/tmp");
    if (n < 0 || (size_t)n >= sizeof(editor->folder) || mkdtemp(editor->folder) == NULL) {
        editor->folder[0] = '\0';
        return io_error(err, "cannot make a folder in", folder != NULL ? folder : "/tmp");
    }
    snprintf(editor->path, sizeof(editor->path), "%s/README.md", editor->folder);
    return write_text(editor->path, text, err);
}

/* The variable may hold options, so a shell reads it; the file's name is never part of its text. */
static ald_status run_editor(const char *path, ald_error *err)
{
    static char shell[] = "sh";
    static char option[] = "-c";
    static char line[] = "exec ${VISUAL:-${EDITOR:-vi}} \"$1\"";
    char *name = strdup(path);
    char *const argv[] = {shell, option, line, shell, name, NULL};
    struct sigaction ignore;
    struct sigaction interrupt;
    struct sigaction quit;
    pid_t child = 0;
    int ended = 0;
    memset(&ignore, 0, sizeof(ignore));
    ignore.sa_handler = SIG_IGN;
    if (name == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the editor");
    }
    int failed = posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ);
    free(name);
    if (failed != 0) {
        errno = failed;
        return io_error(err, "cannot start", "the editor");
    }
    /* Keys that interrupt are meant for the editor. */
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
    }
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    if (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                             "the editor failed, so nothing was changed\nVISUAL or EDITOR names "
                             "another one");
    }
    return ALD_OK;
}

ald_status card_editor_run(cli_env *env, card_editor *editor, ald_buffer *text, ald_error *err)
{
    memset(editor, 0, sizeof(*editor));
    editor->env = env;
    ald_status status = make_file(editor, text, err);
    if (status == ALD_OK) {
        status = run_editor(editor->path, err);
    }
    if (status == ALD_OK) {
        ald_buffer_clear(text);
        status = cli_read_file(env, editor->path, text, err);
    }
    return status;
}

void card_editor_close(card_editor *editor, int keep)
{
    if (keep && editor->path[0] != '\0') {
        cli_note(editor->env, "your text is kept in %s; --from takes it", editor->path);
        return;
    }
    if (editor->path[0] != '\0') {
        unlink(editor->path);
    }
    if (editor->folder[0] != '\0') {
        rmdir(editor->folder); /* an editor may have left a file of its own there */
    }
}
