/* SPDX-License-Identifier: MIT */
/* Options as data: one row says an option's name, argument, help, kind and where its value is stored. The parser, the
 * help, the man pages and the completions all read these rows; nothing else knows an option's spelling. */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

typedef enum opt_kind {
    OPT_FLAG,   /* uint8_t, set to 1 */
    OPT_TEXT,   /* const char * */
    OPT_LIST,   /* opt_list: may be repeated */
    OPT_CHOICE, /* uint8_t: 1 + the index in `choices`; 0 when not given */
    OPT_COUNT,  /* uint64_t between min and max */
    OPT_BYTES,  /* uint64_t between min and max; K, M and G are powers of 1,024 */
    OPT_CHAR    /* char: one ASCII character, or `tab` */
} opt_kind;

typedef struct opt_list {
    const char **items;
    size_t count;
} opt_list;

/* What an option has an effect on (cli/file_format.h), so that one without any is refused. 0: always. */
typedef uint32_t opt_scope;

typedef struct opt_spec {
    const char *name;
    const char
        *arg; /* what the help calls the value; "FILE" completes file names. NULL for flags */
    const char *help;
    const char *const *choices; /* ends with NULL; for OPT_TEXT: only suggestions */
    uint64_t min, max;          /* max 0: no limit */
    size_t offset;              /* in the group's struct */
    opt_scope scope;
    uint8_t kind;
    char letter; /* 0: none */
} opt_spec;

typedef struct opt_group {
    const char *title;
    const opt_spec *specs;
    size_t count;
} opt_group;

#define OPT_GROUP(title, specs) {title, specs, sizeof(specs) / sizeof((specs)[0])}

/* A group as a command uses it: its struct lies at `base` in the command's arguments. */
typedef struct opt_use {
    const opt_group *group; /* NULL ends a list */
    size_t base;
} opt_use;

/* An operand. OPT_OPERAND_MANY (an opt_list at `offset`) is the last one. */
#define OPT_OPERAND_OPTIONAL 1u
#define OPT_OPERAND_MANY 2u
typedef struct opt_operand {
    const char *name; /* NULL ends a list */
    const char *help;
    size_t offset; /* in the command's arguments: const char * */
    uint8_t flags;
} opt_operand;

/* Which options were given. */
typedef struct opt_seen {
    const opt_spec **items;
    size_t count;
} opt_seen;

struct cli_command;
struct cli_env;

/* Fills `args` (zeroed by the caller) from argv[0 .. argc). Errors are ALD_E_INVALID_ARG, with a hint in `env`. With
 * --help (or -h) missing operands are no error. Lists point into argv. */
ALD_NODISCARD ald_status opt_parse(struct cli_env *env, const struct cli_command *command, int argc,
                                   char **argv, void *args, ald_error *err);

/* The spec of an option that was given and has no effect on any of `scopes`, or NULL. */
const opt_spec *opt_without_effect(const opt_seen *seen, opt_scope scopes);

/* Frees what opt_parse allocated: the repeatable options of `args`. */
void opt_release(const struct cli_command *command, void *args);

/* The name of `names` (ends with NULL) that is nearest to `word`, or NULL when none is near. */
const char *opt_nearest(const char *word, const char *const *names);

/* "none|zstd-l3" or the argument's name: what the help prints after an option. NULL for a flag. Writes to `buf`. */
const char *opt_arg_text(const opt_spec *spec, char *buf, size_t size);

#endif
