/* SPDX-License-Identifier: MIT */
/* Help on a terminal, from the command table. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define TEXT_WIDTH 80
#define OPTION_INDENT 24

/* Words of `text` filled to TEXT_WIDTH, each line after the first indented; the first begins at `column`. */
static void print_filled(const char *text, size_t indent, size_t column)
{
    while (*text != '\0') {
        size_t size = strcspn(text, " \n");
        if (column > indent && column + 1 + size > TEXT_WIDTH) {
            cli_printf("\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            cli_printf(" ");
            column++;
        }
        cli_printf("%.*s", (int)size, text);
        column += size;
        text += size;
        if (*text == '\n') {
            cli_printf("\n%*s", (int)indent, "");
            column = indent;
        }
        text += *text != '\0';
    }
    cli_printf("\n");
}

static void print_usage(const cli_command *command)
{
    cli_printf("Usage: alimentar %s%s", command->verb,
               command->options->group != NULL ? " [options]" : "");
    for (const opt_operand *operand = command->operands; operand->name != NULL; operand++) {
        int optional = (operand->flags & OPT_OPERAND_OPTIONAL) != 0;
        cli_printf(" %s%s%s%s", optional ? "[" : "", operand->name,
                   (operand->flags & OPT_OPERAND_MANY) != 0 ? "..." : "", optional ? "]" : "");
    }
    cli_printf("\n");
}

static void print_entry(const char *left, const char *help)
{
    size_t size = strlen(left);
    cli_printf("%s", left);
    if (size + 2 > OPTION_INDENT) {
        cli_printf("\n%*s", OPTION_INDENT, "");
    } else {
        cli_printf("%*s", (int)(OPTION_INDENT - size), "");
    }
    print_filled(help, OPTION_INDENT, OPTION_INDENT);
}

static void print_option(const opt_spec *spec)
{
    char left[256];
    char arg_buf[160];
    const char *arg = opt_arg_text(spec, arg_buf, sizeof(arg_buf));
    int n =
        snprintf(left, sizeof(left), "  %c%c%c --%s", spec->letter != 0 ? '-' : ' ',
                 spec->letter != 0 ? spec->letter : ' ', spec->letter != 0 ? ',' : ' ', spec->name);
    if (arg != NULL && n > 0) {
        snprintf(left + n, sizeof(left) - (size_t)n, " %s", arg);
    }
    print_entry(left, spec->help);
}

size_t cli_print_group(const char *word, const char *title)
{
    size_t size = strlen(word);
    size_t count = 0;
    for (size_t i = 0; i < cli_command_count; i++) {
        const char *verb = cli_commands[i]->verb;
        if (strncmp(verb, word, size) == 0 && verb[size] == ' ') {
            cli_printf("%s  %-22s%s\n", count == 0 ? title : "", verb, cli_commands[i]->brief);
            count++;
        }
    }
    return count;
}

void cli_print_help(const cli_command *command)
{
    print_usage(command);
    cli_printf("\n");
    print_filled(command->brief, 0, 0);
    if (command->details != NULL) {
        cli_printf("\n");
        print_filled(command->details, 0, 0);
    }
    if (command->operands->name != NULL) {
        cli_printf("\nArguments:\n");
    }
    for (const opt_operand *operand = command->operands; operand->name != NULL; operand++) {
        char left[64];
        snprintf(left, sizeof(left), "  %s", operand->name);
        print_entry(left, operand->help);
    }
    for (const opt_use *use = command->options; use->group != NULL; use++) {
        cli_printf("\n%s:\n", use->group->title);
        for (size_t i = 0; i < use->group->count; i++) {
            print_option(&use->group->specs[i]);
        }
    }
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i += 2) {
        cli_printf("%s  %s:\n    %s\n", i == 0 ? "\nExamples:\n" : "", command->examples[i],
                   command->examples[i + 1]);
    }
    (void)cli_print_group(command->verb, "\nSee also:\n");
    cli_printf("\nExit codes:\n");
    for (size_t i = 0; cli_exit_code_text(command, i) != NULL; i++) {
        cli_printf("  %.3s", cli_exit_code_text(command, i));
        print_filled(cli_exit_code_text(command, i) + 3, 5, 5);
    }
}

void cli_print_overview(void)
{
    int width = 0;
    for (size_t i = 0; i < cli_command_count; i++) {
        int size = (int)strlen(cli_commands[i]->verb);
        width = size > width ? size : width;
    }
    cli_printf(
        "Usage: alimentar COMMAND [options] ...\n\n"
        "Datasets in one checked file: converts, shows and verifies .ald, CSV, JSON, Arrow and "
        "Parquet.\n\n"
        "Commands:\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        cli_printf("  %-*s  %s\n", width, cli_commands[i]->verb, cli_commands[i]->brief);
    }
    cli_printf(
        "\n`alimentar help COMMAND` explains one command. Exit codes: 0 success, 1 a failed check "
        "or\n"
        "invalid data, 2 a wrong command line, 3 a failure of reading, writing or memory.\n");
}
