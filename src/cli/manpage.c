/* SPDX-License-Identifier: MIT */
/* Man pages from the command table: alimentar.1 and one alimentar-VERB.1 each. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ald/version.h"
#include "cli/cli.h"

/* Text as roff prints it: no macro at the start of a line, backslashes and hyphens literal. */
static void put(FILE *f, const char *text)
{
    int at_start = 1;
    for (; *text != '\0'; text++) {
        if (at_start && (*text == '.' || *text == '\'')) {
            fputs("\\&", f);
        }
        if (*text == '\\') {
            fputs("\\e", f);
        } else if (*text == '-') {
            fputs("\\-", f);
        } else if (*text == '\n') {
            fputs("\n.PP\n", f);
        } else {
            fputc(*text, f);
        }
        at_start = *text == '\n';
    }
}

static void put_option(FILE *f, const opt_spec *spec)
{
    char buf[160];
    const char *arg = opt_arg_text(spec, buf, sizeof(buf));
    fputs(".TP\n\\fB", f);
    if (spec->letter != 0) {
        fprintf(f, "\\-%c\\fR, \\fB", spec->letter);
    }
    fputs("\\-\\-", f);
    put(f, spec->name);
    fputs("\\fR", f);
    if (arg != NULL) {
        fputs(" \\fI", f);
        put(f, arg);
        fputs("\\fR", f);
    }
    fputs("\n", f);
    put(f, spec->help);
    fputs("\n", f);
}

static void put_synopsis(FILE *f, const cli_command *command)
{
    fputs(".SH SYNOPSIS\n\\fBalimentar ", f);
    put(f, command->verb);
    fputs("\\fR [options]", f);
    for (const opt_operand *operand = command->operands; operand->name != NULL; operand++) {
        int optional = (operand->flags & OPT_OPERAND_OPTIONAL) != 0;
        fprintf(f, " %s\\fI%s\\fR%s%s", optional ? "[" : "", operand->name,
                (operand->flags & OPT_OPERAND_MANY) != 0 ? "..." : "", optional ? "]" : "");
    }
    fputs("\n", f);
}

static void put_exit_codes(FILE *f, const cli_command *command)
{
    fputs(".SH EXIT STATUS\n", f);
    for (size_t i = 0; cli_exit_code_text(command, i) != NULL; i++) {
        const char *text = cli_exit_code_text(command, i);
        fprintf(f, ".TP\n\\fB%c\\fR\n", text[0]);
        put(f, text + 3);
        fputs("\n", f);
    }
    fputs(".SH ERRORS\nEvery error is one line on standard error, \\fBalimentar: error: "
          "\\fIName\\fB: \\fIfile\\fB: \\fImessage\\fR, and may be followed by a line that begins "
          "with \\fBhint:\\fR. The names:\n",
          f);
#define ALD_X(constant, value, name, text)                                                         \
    if ((value) != 0) {                                                                            \
        fprintf(f, ".TP\n\\fB%s\\fR", (name));                                                     \
        if (command == NULL || command->exit_codes == NULL) {                                      \
            fprintf(f, " (exit status %d)", cli_exit_code((ald_status)(value)));                   \
        }                                                                                          \
        fputs("\n", f);                                                                            \
        put(f, (text));                                                                            \
        fputs("\n", f);                                                                            \
    }
    ALD_STATUS_LIST(ALD_X)
#undef ALD_X
}

static void put_page(FILE *f, const cli_command *command, const char *page)
{
    fprintf(f, ".TH \"%s\" 1 \"\" \"alimentar %s\" \"alimentar\"\n.SH NAME\n", page,
            ALD_VERSION_STRING);
    put(f, page);
    fputs(" \\- ", f);
    put(f, command->brief);
    fputs("\n", f);
    put_synopsis(f, command);
    fputs(".SH DESCRIPTION\n", f);
    put(f, command->details != NULL ? command->details : command->brief);
    fputs("\n", f);
    for (const opt_operand *operand = command->operands; operand->name != NULL; operand++) {
        fprintf(f, ".TP\n\\fI%s\\fR\n", operand->name);
        put(f, operand->help);
        fputs("\n", f);
    }
    for (const opt_use *use = command->options; use->group != NULL; use++) {
        fputs(".SH ", f);
        for (const char *c = use->group->title; *c != '\0'; c++) {
            fputc(toupper((unsigned char)*c), f);
        }
        fputs(" OPTIONS\n", f);
        for (size_t i = 0; i < use->group->count; i++) {
            put_option(f, &use->group->specs[i]);
        }
    }
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i += 2) {
        fputs(i == 0 ? ".SH EXAMPLES\n" : "", f);
        put(f, command->examples[i]);
        fputs(":\n.PP\n.EX\n    ", f);
        put(f, command->examples[i + 1]);
        fputs("\n.EE\n.PP\n", f);
    }
    put_exit_codes(f, command);
    fputs(".SH SEE ALSO\n.BR alimentar (1)\n", f);
}

static void put_overview(FILE *f)
{
    fprintf(f,
            ".TH \"alimentar\" 1 \"\" \"alimentar %s\" \"alimentar\"\n.SH NAME\nalimentar \\- data "
            "sets in one checked file\n.SH SYNOPSIS\n\\fBalimentar\\fR \\fIcommand\\fR [options] "
            "...\n.SH COMMANDS\n",
            ALD_VERSION_STRING);
    for (size_t i = 0; i < cli_command_count; i++) {
        fputs(".TP\n\\fB", f);
        put(f, cli_commands[i]->verb);
        fputs("\\fR\n", f);
        put(f, cli_commands[i]->brief);
        fputs("\n", f);
    }
    put_exit_codes(f, NULL);
    fputs(".SH ENVIRONMENT\n.TP\n\\fBALIMENTAR_HOME\\fR\nthe folder of what is kept, in place of "
          "~/.alimentar\n.TP\n\\fBALIMENTAR_PASSPHRASE\\fR\nthe password of a dataset\n.TP\n"
          "\\fBALIMENTAR_KEY_PASSPHRASE\\fR\nthe passphrase of private keys\n.TP\n"
          "\\fBNO_COLOR\\fR\nno colours when it is set and not empty\n.TP\n"
          "\\fBTMPDIR\\fR\nwhere scratch files go; they have no name and vanish with the process\n"
          ".SH FILES\n.TP\n\\fI~/.alimentar/trusted\\fR\npublic keys of trusted signers "
          "(\\fBtrust add\\fR, \\fBtrust list\\fR, \\fBtrust remove\\fR)\n.TP\n"
          "\\fI~/.alimentar/licenses\\fR, \\fIlicenses.key\\fR\nseats and queries of licenses "
          "that were used on this machine\n",
          f);
}

static ald_status write_page(const char *folder, const cli_command *command, ald_error *err)
{
    char page[64] = "alimentar";
    char path[2048];
    if (command != NULL) {
        snprintf(page, sizeof(page), "alimentar-%s", command->verb);
        for (char *s = page; *s != '\0'; s++) {
            *s = *s == ' ' ? '-' : *s;
        }
    }
    snprintf(path, sizeof(path), "%s/%s.1", folder, page);
    FILE *f = fopen(path, "w");
    int failed = f == NULL;
    if (!failed) {
        if (command != NULL) {
            put_page(f, command, page);
        } else {
            put_overview(f);
        }
        failed = ferror(f);
        failed |= fclose(f) != 0;
    }
    if (failed) {
        ald_status status =
            ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s: %s", path, strerror(errno));
        if (err != NULL) {
            err->detail = errno;
        }
        return status;
    }
    return ALD_OK;
}

ald_status cli_generate_man(const char *folder, ald_error *err)
{
    ald_status status = write_page(folder, NULL, err);
    for (size_t i = 0; status == ALD_OK && i < cli_command_count; i++) {
        status = write_page(folder, cli_commands[i], err);
    }
    return status;
}
