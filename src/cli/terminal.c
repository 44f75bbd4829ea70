/* SPDX-License-Identifier: MIT */
/* Questions go to the controlling terminal, not to standard input, which may be a file that is being read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/passphrase.h"

static void write_text(int fd, const char *text)
{
    while (*text != '\0') {
        ssize_t n = write(fd, text, strlen(text));
        if (n < 0 && errno != EINTR) {
            return; /* the question is not seen; the answer still counts */
        }
        text += n > 0 ? n : 0;
    }
}

/* A line, cut off at `capacity`; what is longer is an error and is read to its end. */
static ald_status read_line(int fd, char *out, size_t capacity, size_t *size, ald_error *err)
{
    size_t used = 0;
    char c = '\0';
    for (;;) {
        ssize_t n = read(fd, &c, 1);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0 && used == 0) {
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no passphrase was given");
        }
        if (n <= 0 || c == '\n') {
            break;
        }
        if (used < capacity) {
            out[used] = c;
        }
        used++;
    }
    *size = used;
    if (used > capacity) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the passphrase is longer than %zu bytes", capacity);
    }
    return ALD_OK;
}

ald_status cli_terminal_ask(const char *prompt, char *out, size_t capacity, size_t *size,
                            ald_error *err)
{
    struct termios before, silent;
    /* A script that is started from a terminal, with its streams elsewhere, is not to wait for a person. */
    int fd =
        isatty(STDIN_FILENO) || isatty(STDERR_FILENO) ? open("/dev/tty", O_RDWR | O_CLOEXEC) : -1;
    *size = 0;
    if (fd < 0 || tcgetattr(fd, &before) != 0) {
        if (fd >= 0) {
            close(fd);
        }
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "there is no terminal");
    }
    silent = before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL);
    cli_cleanup_terminal(fd, &before);
    (void)tcsetattr(fd, TCSAFLUSH, &silent);
    write_text(fd, prompt);
    ald_status status = read_line(fd, out, capacity, size, err);
    write_text(fd, "\n");
    (void)tcsetattr(fd, TCSAFLUSH, &before);
    cli_cleanup_terminal(-1, NULL);
    close(fd);
    return status;
}
