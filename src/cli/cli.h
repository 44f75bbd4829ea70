/* SPDX-License-Identifier: MIT */
/* What every part of the command line shares: the command's row, the run's state, exit codes. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"
#include "cli/opt.h"

/* Exit codes. Which error has which code: cli_exit_code. */
#define CLI_EXIT_OK 0
#define CLI_EXIT_FAILED 1 /* a check failed, or the data are invalid */
#define CLI_EXIT_USAGE 2
#define CLI_EXIT_IO 3 /* reading, writing or memory failed */

#define CLI_HINT_BYTES 1024
#define CLI_SUBJECT_BYTES 1024

/* Every command's arguments begin with these. */
typedef struct cli_common {
    uint64_t threads; /* 0: one per processor */
    uint8_t help;
    uint8_t quiet;
} cli_common;

extern const opt_group cli_group_common;  /* --help --quiet */
extern const opt_group cli_group_threads; /* --threads: stores into cli_common too */

typedef struct cli_env {
    const struct cli_command *command;
    ald_host host;
    uint8_t quiet;
    const char *subject;                  /* the file that an error is about, or NULL */
    char subject_text[CLI_SUBJECT_BYTES]; /* what cli_keep_subject copied */
    char hint[CLI_HINT_BYTES];            /* printed below an error; empty: none */
    opt_seen seen;
    int answer;  /* the exit code when nothing failed: 0, or CLI_EXIT_FAILED for a "yes, found" */
    int trouble; /* the exit code of any failure; 0: by its kind */
    uint8_t
        is_question; /* CLI_EXIT_FAILED is an answer: no failure exits with it, but with CLI_EXIT_IO */
    uint8_t noted_signer[32]; /* of whom it was said last that nobody here trusts them */
    uint8_t has_noted_signer, has_noted_revocations;
} cli_env;

typedef struct cli_command {
    const char *verb;              /* one or two words: "convert", "key show" */
    const char *brief;             /* one line */
    const char *details;           /* paragraphs, split by newlines */
    const char *const *examples;   /* pairs of what it does and the command line; ends with NULL */
    const char *const *exit_codes; /* in place of the usual ones; ends with NULL. NULL: the usual */
    const opt_operand *operands;
    const opt_use *options;
    size_t args_size;
    ald_status (*run)(cli_env *env, void *args, ald_error *err);
} cli_command;

/* All commands, in the order of the help. */
extern const cli_command *const cli_commands[];
extern const size_t cli_command_count;

/* The command that argv begins with, and how many words name it; NULL: none. */
const cli_command *cli_command_find(int argc, char **argv, int *word_count);

/* Whether an option was on the command line. */
int cli_option_given(const cli_env *env, const char *name);

/* For functions that own nothing. */
#define CLI_TRY(expr)                                                                              \
    do {                                                                                           \
        ald_status cli_try_ = (expr);                                                              \
        if (cli_try_ != ALD_OK) {                                                                  \
            return cli_try_;                                                                       \
        }                                                                                          \
    } while (0)

int cli_exit_code(ald_status status);

/* `alimentar: error: Name: subject: message (at byte N)` and, where there is one, `hint: …` on stderr. */
void cli_report(const cli_env *env, const ald_error *err);
/* `alimentar: note: …` on stderr, unless --quiet. */
void cli_note(const cli_env *env, const char *fmt, ...) ALD_PRINTF(2, 3);
/* Sets the hint of the next error. */
void cli_hint(cli_env *env, const char *fmt, ...) ALD_PRINTF(2, 3);
/* `name` is about to be freed: an error that is about it keeps a copy, cut to fit. */
void cli_keep_subject(cli_env *env, const char *name);
/* Appends to it, cut to fit. */
void cli_hint_add(cli_env *env, const char *text);

struct ArrowSchema;
/* Sets the hint to the names of a table's columns. */
void cli_hint_columns(cli_env *env, const struct ArrowSchema *schema);

/* Prints to stdout, checked: an error is kept and reported when the run ends. */
void cli_print(const char *data, size_t size);
void cli_printf(const char *fmt, ...) ALD_PRINTF(1, 2);
/* Writes out what is buffered. Says why when it, or an earlier print, failed. */
ALD_NODISCARD ald_status cli_print_flush(ald_error *err);

const char *cli_version(void);

/* Help, man pages and completions (cli/help.c, cli/manpage.c, cli/completion.c). */
void cli_print_overview(void);
/* The commands whose first word is `word`, under `title`; how many there are. */
size_t cli_print_group(const char *word, const char *title);
void cli_print_help(const cli_command *command);
ALD_NODISCARD ald_status cli_generate_man(const char *folder, ald_error *err);
ALD_NODISCARD ald_status cli_generate_completion(const char *shell, ald_error *err);

/* What an exit code and each error mean, for the help and the man pages: one line for each index, NULL at the end.
 * `command` may be NULL. */
const char *cli_exit_code_text(const cli_command *command, size_t index);

#endif
