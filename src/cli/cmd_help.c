/* SPDX-License-Identifier: MIT */
/* alimentar help [COMMAND], alimentar version */
#include <string.h>

#include "ald/version.h"
#include "cli/command.h"

typedef struct help_args {
    cli_common common;
    opt_list words;
} help_args;

static ald_status run_help(cli_env *env, void *raw, ald_error *err)
{
    const help_args *args = raw;
    int words = 0;
    if (args->words.count == 0) {
        cli_print_overview();
        return ALD_OK;
    }
    const cli_command *command =
        cli_command_find((int)args->words.count, (char **)args->words.items, &words);
    if (command == NULL && args->words.count == 1 &&
        cli_print_group(args->words.items[0], "Commands:\n") > 0) {
        return ALD_OK;
    }
    if (command == NULL) {
        cli_hint(env, "`alimentar help` lists the commands");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no command '%s'",
                             args->words.items[0]);
    }
    if ((size_t)words < args->words.count) {
        cli_hint(env, "`alimentar help %s` explains that one", command->verb);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no command '%s %s'",
                             command->verb, args->words.items[words]);
    }
    cli_print_help(command);
    return ALD_OK;
}

static const opt_operand help_operands[] = {
    {"COMMAND", "the command to explain; without one, all commands are listed",
     offsetof(help_args, words), OPT_OPERAND_OPTIONAL | OPT_OPERAND_MANY},
    {0},
};

static const opt_use help_options[] = {{&cli_group_common, 0}, {0}};

const cli_command cli_cmd_help = {
    .verb = "help",
    .brief = "explain a command",
    .operands = help_operands,
    .options = help_options,
    .args_size = sizeof(help_args),
    .run = run_help,
};

const char *cli_version(void)
{
    return ALD_VERSION_STRING;
}

static ald_status run_version(cli_env *env, void *raw, ald_error *err)
{
    (void)env;
    (void)raw;
    (void)err;
    cli_printf("alimentar %s\n", cli_version());
    return ALD_OK;
}

static const opt_operand no_operands[] = {{0}};

const cli_command cli_cmd_version = {
    .verb = "version",
    .brief = "print the version",
    .operands = no_operands,
    .options = help_options,
    .args_size = sizeof(cli_common),
    .run = run_version,
};
