/* SPDX-License-Identifier: MIT */
/* Completion scripts for bash, zsh and fish, from the command table. */
#include <string.h>

#include "cli/cli.h"

static int takes_file(const opt_spec *spec)
{
    return spec->arg != NULL && strstr(spec->arg, "FILE") != NULL;
}

/* Quotes inside single quotes: ' becomes '\''. */
static void put_quoted(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            cli_printf("'\\''");
        } else {
            cli_print(text, 1);
        }
    }
}

typedef void (*spec_visitor)(const cli_command *command, const opt_spec *spec);

static void each_spec(const cli_command *command, spec_visitor visit)
{
    for (const opt_use *use = command->options; use->group != NULL; use++) {
        for (size_t i = 0; i < use->group->count; i++) {
            visit(command, &use->group->specs[i]);
        }
    }
}

/* ---- verbs of two words: "key show" */

/* Its second word, or NULL. */
static const char *second_word(const char *verb)
{
    const char *space = strchr(verb, ' ');
    return space != NULL ? space + 1 : NULL;
}

static int first_size(const char *verb)
{
    return (int)strcspn(verb, " ");
}

/* Whether an earlier command begins with the same word. */
static int first_word_is_known(size_t index)
{
    const char *verb = cli_commands[index]->verb;
    int size = first_size(verb);
    for (size_t i = 0; i < index; i++) {
        if (first_size(cli_commands[i]->verb) == size &&
            memcmp(cli_commands[i]->verb, verb, (size_t)size) == 0) {
            return 1;
        }
    }
    return 0;
}

/* ---- bash */

static void bash_name(const cli_command *command, const opt_spec *spec)
{
    (void)command;
    cli_printf(" --%s", spec->name);
    if (spec->letter != 0) {
        cli_printf(" -%c", spec->letter);
    }
}

static void bash_value(const cli_command *command, const opt_spec *spec)
{
    if (spec->kind == OPT_FLAG) {
        return;
    }
    cli_printf("        '%s --%s')", command->verb, spec->name);
    if (spec->choices != NULL) {
        cli_printf(" COMPREPLY=($(compgen -W '");
        for (size_t i = 0; spec->choices[i] != NULL; i++) {
            cli_printf("%s%s", i > 0 ? " " : "", spec->choices[i]);
        }
        cli_printf("' -- \"$cur\")); return ;;\n");
    } else {
        cli_printf(takes_file(spec) ? " COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
                                    : " return ;;\n");
    }
}

/* The second word is completed, and from the third on both are the verb. */
static void bash_second_words(void)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const char *verb = cli_commands[i]->verb, *second = second_word(verb);
        if (second != NULL) {
            cli_printf(
                "    if [[ $verb == %.*s ]] && ((COMP_CWORD == 2)); then\n"
                "        COMPREPLY+=($(compgen -W '%s' -- \"$cur\"))\n    fi\n"
                "    if ((COMP_CWORD > 2)) && [[ \"$verb ${COMP_WORDS[2]}\" == '%s' ]]; then\n"
                "        verb='%s'\n    fi\n",
                first_size(verb), verb, second, verb, verb);
        }
    }
    cli_printf("    ((${#COMPREPLY[@]})) && return\n");
}

static void print_bash(void)
{
    cli_printf(
        "# bash completion for alimentar\n_alimentar() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
        "verb=${COMP_WORDS[1]}\n"
        "    COMPREPLY=()\n    if ((COMP_CWORD == 1)) || [[ COMP_CWORD -eq 2 && $verb == help ]]; "
        "then\n        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < cli_command_count; i++) {
        if (!first_word_is_known(i)) {
            cli_printf("%s%.*s", i > 0 ? " " : "", first_size(cli_commands[i]->verb),
                       cli_commands[i]->verb);
        }
    }
    cli_printf("' -- \"$cur\"))\n        return\n    fi\n");
    bash_second_words();
    cli_printf("    case \"$verb $prev\" in\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        each_spec(cli_commands[i], bash_value);
    }
    cli_printf("    esac\n    if [[ $cur == -* ]]; then\n        case \"$verb\" in\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        cli_printf("        '%s') COMPREPLY=($(compgen -W '", cli_commands[i]->verb);
        each_spec(cli_commands[i], bash_name);
        cli_printf("' -- \"$cur\")) ;;\n");
    }
    cli_printf("        esac\n        return\n    fi\n"
               "    if [[ $verb == 'trust remove' ]]; then\n        local IFS=$'\\n'\n"
               "        COMPREPLY=($(compgen -W \"$(alimentar trust list 2>/dev/null | sed 's/^[^ "
               "]*  //')\" "
               "-- \"$cur\"))\n        return\n    fi\n"
               "    COMPREPLY=($(compgen -f -- \"$cur\"))\n}\n"
               "complete -o filenames -F _alimentar alimentar\n");
}

/* ---- zsh */

/* In _arguments' descriptions `[`, `]` and `:` have a meaning. */
static void zsh_text(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            cli_printf("'\\''");
        } else if (*text == '[' || *text == ']' || *text == ':' || *text == '\\') {
            cli_printf("\\%c", *text);
        } else {
            cli_print(text, 1);
        }
    }
}

static void zsh_option(const cli_command *command, const opt_spec *spec)
{
    (void)command;
    cli_printf("                '%s--%s%s[", spec->kind == OPT_LIST ? "*" : "", spec->name,
               spec->kind == OPT_FLAG ? "" : "=");
    zsh_text(spec->help);
    cli_printf("]");
    if (spec->kind != OPT_FLAG) {
        cli_printf(":%s:", spec->arg != NULL ? spec->arg : "value");
        if (spec->choices != NULL) {
            cli_printf("(");
            for (size_t i = 0; spec->choices[i] != NULL; i++) {
                cli_printf("%s%s", i > 0 ? " " : "", spec->choices[i]);
            }
            cli_printf(")");
        } else if (takes_file(spec)) {
            cli_printf("_files");
        }
    }
    cli_printf("' \\\n");
}

/* Both words become one. */
static void zsh_second_words(void)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const char *verb = cli_commands[i]->verb, *second = second_word(verb);
        if (second != NULL) {
            cli_printf("    if [[ $words[2] == %.*s ]] && ((CURRENT == 3)); then\n"
                       "        compadd -- %s\n    fi\n"
                       "    if [[ \"$words[2] $words[3]\" == '%s' ]] && ((CURRENT > 3)); then\n"
                       "        words[2,3]=('%s')\n        ((CURRENT--))\n    fi\n",
                       first_size(verb), verb, second, verb, verb);
        }
    }
}

static void print_zsh(void)
{
    cli_printf("#compdef alimentar\n_alimentar() {\n    local -a commands=(\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        if (!first_word_is_known(i)) {
            cli_printf("        '%.*s:", first_size(cli_commands[i]->verb), cli_commands[i]->verb);
            put_quoted(cli_commands[i]->brief);
            cli_printf("'\n");
        }
    }
    cli_printf(
        "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n"
        "    fi\n");
    zsh_second_words();
    cli_printf("    local verb=$words[2]\n    shift words\n    ((CURRENT--))\n    case $verb in\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        cli_printf("        '%s')\n            _arguments -s \\\n", cli_commands[i]->verb);
        each_spec(cli_commands[i], zsh_option);
        cli_printf("                '*:file:_files' ;;\n");
    }
    cli_printf("    esac\n}\n_alimentar \"$@\"\n");
}

/* ---- fish */

static void fish_option(const cli_command *command, const opt_spec *spec)
{
    const char *second = second_word(command->verb);
    cli_printf("complete -c alimentar -n '__fish_seen_subcommand_from %.*s%s%s' -l %s",
               first_size(command->verb), command->verb,
               second != NULL ? "; and __fish_seen_subcommand_from " : "",
               second != NULL ? second : "", spec->name);
    if (spec->letter != 0) {
        cli_printf(" -s %c", spec->letter);
    }
    if (spec->kind != OPT_FLAG) {
        cli_printf(takes_file(spec) ? " -r -F" : " -x");
    }
    if (spec->choices != NULL) {
        cli_printf(" -a '");
        for (size_t i = 0; spec->choices[i] != NULL; i++) {
            cli_printf("%s%s", i > 0 ? " " : "", spec->choices[i]);
        }
        cli_printf("'");
    }
    cli_printf(" -d '");
    for (const char *s = spec->help; *s != '\0'; s++) {
        if (*s == '\'' || *s == '\\') {
            cli_printf("\\");
        }
        cli_print(s, 1);
    }
    cli_printf("'\n");
}

static void print_fish(void)
{
    cli_printf("# fish completion for alimentar\n");
    for (size_t i = 0; i < cli_command_count; i++) {
        const char *second = second_word(cli_commands[i]->verb);
        int size = first_size(cli_commands[i]->verb);
        if (second != NULL) {
            cli_printf("complete -c alimentar -n __fish_use_subcommand -f -a %.*s\n"
                       "complete -c alimentar -n '__fish_seen_subcommand_from %.*s' -f -a %s -d '",
                       size, cli_commands[i]->verb, size, cli_commands[i]->verb, second);
        } else {
            cli_printf("complete -c alimentar -n __fish_use_subcommand -f -a '%s' -d '",
                       cli_commands[i]->verb);
        }
        for (const char *s = cli_commands[i]->brief; *s != '\0'; s++) {
            cli_printf("%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
        }
        cli_printf("'\n");
        each_spec(cli_commands[i], fish_option);
    }
}

ald_status cli_generate_completion(const char *shell, ald_error *err)
{
    if (strcmp(shell, "bash") == 0) {
        print_bash();
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh();
    } else if (strcmp(shell, "fish") == 0) {
        print_fish();
    } else {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--generate-completion: expected bash|zsh|fish, found '%s'", shell);
    }
    return ALD_OK;
}
