/* SPDX-License-Identifier: MIT */
/* Where a passphrase comes from: a file, a descriptor, the environment, or the terminal. Never the command line, which
 * everybody on the machine can read. */
#ifndef CLI_PASSPHRASE_H
#define CLI_PASSPHRASE_H

#include "ald/keys.h"
#include "cli/cli.h"

typedef struct secret_options {
    const char *file;
    uint64_t fd;
} secret_options;

/* What a passphrase is for, and the names of its sources. */
typedef struct cli_secret_kind {
    const char *what; /* "passphrase of the key" */
    const char *word; /* "passphrase" */
    const char *file_option, *fd_option, *variable;
} cli_secret_kind;

extern const cli_secret_kind cli_secret_key;      /* of a private key's file */
extern const cli_secret_kind cli_secret_password; /* of a dataset */
extern const opt_group cli_group_key_passphrase;  /* cli_group_trust has these options, too */

/* One line end at its end is dropped. `twice`: a terminal asks again, and an empty one is refused. Without any source the
 * error's hint names them. A descriptor gives again what it gave before, and nobody is asked twice for one file. `out` is the caller's to wipe. */
ALD_NODISCARD ald_status cli_secret_read(cli_env *env, const cli_secret_kind *kind,
                                         const secret_options *options, const char *subject,
                                         int twice, char *out, size_t capacity, size_t *size,
                                         ald_error *err);

/* Whether an option or the environment gives one, so that nobody has to be asked. */
int cli_secret_has_source(const cli_env *env, const cli_secret_kind *kind,
                          const secret_options *options);

/* Wipes what descriptors and the terminal gave. */
void cli_secret_forget(void);

/* The passphrase of key files that are read, as the library asks for it. */
typedef struct cli_key_passphrase {
    cli_env *env;
    const secret_options *options;
} cli_key_passphrase;
ald_passphrase cli_key_passphrase_source(cli_key_passphrase *from);

/* A line from the terminal, without echo; *size is its length without the line end. ALD_E_UNSUPPORTED: there is no terminal
 * (cli/terminal.c). */
ALD_NODISCARD ald_status cli_terminal_ask(const char *prompt, char *out, size_t capacity,
                                          size_t *size, ald_error *err);

#endif
