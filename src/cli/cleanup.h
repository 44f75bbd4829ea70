/* SPDX-License-Identifier: MIT */
/* Signals: a killed run leaves no temporary file. */
#ifndef CLI_CLEANUP_H
#define CLI_CLEANUP_H

/* Sets the handlers; once, at start. */
void cli_cleanup_install(void);

/* Signals wait between both: a file is made and named below without a gap. */
void cli_cleanup_hold(void);
void cli_cleanup_resume(void);

struct termios;
/* The settings that a signal gives back to a terminal; NULL: none. Copied. */
void cli_cleanup_terminal(int fd, const struct termios *settings);

/* The file that a signal removes before the process ends; NULL: none. Copied. */
void cli_cleanup_file(const char *path);
/* More of them, until clear; between hold and resume. 0: no memory. Copied. */
int cli_cleanup_add(const char *path);
void cli_cleanup_clear(void);

#endif
