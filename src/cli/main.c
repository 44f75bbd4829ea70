/* SPDX-License-Identifier: MIT */
/* From argv to a command and from its status to an exit code. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#ifdef __GLIBC__ /* a header tells */
#include <malloc.h>
#endif

#include "ald/native.h"
#include "cli/cleanup.h"
#include "cli/cli.h"
#include "cli/damage.h"
#include "cli/passphrase.h"

static ald_status unknown_verb(cli_env *env, const char *word, ald_error *err)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < cli_command_count && count < 63; i++) {
        names[count++] = cli_commands[i]->verb;
    }
    names[count] = NULL;
    const char *nearest = opt_nearest(word, names);
    size_t size = strlen(word);
    for (size_t i = 0; i < count; i++) { /* the first of two words */
        if (strncmp(names[i], word, size) == 0 && names[i][size] == ' ') {
            cli_hint_add(env, env->hint[0] == '\0' ? "there is `alimentar " : ", `alimentar ");
            cli_hint_add(env, names[i]);
            cli_hint_add(env, "`");
        }
    }
    if (env->hint[0] != '\0') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "'%s' is not a whole command",
                             word);
    }
    if (nearest != NULL) {
        cli_hint(env, "did you mean `alimentar %s`?", nearest);
    } else {
        cli_hint(env, "`alimentar help` lists the commands");
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "unknown %s '%s'",
                         word[0] == '-' ? "option" : "command", word);
}

static ald_status run_command(cli_env *env, const cli_command *command, int argc, char **argv,
                              ald_error *err)
{
    void *args = calloc(1, command->args_size);
    if (args == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the arguments");
    }
    env->command = command;
    ald_status status = opt_parse(env, command, argc, argv, args, err);
    if (status == ALD_OK) {
        const cli_common *common = args;
        env->quiet = common->quiet;
        env->host = ald_native_host((uint32_t)common->threads);
        if (common->help) {
            cli_print_help(command);
        } else {
            status = command->run(env, args, err);
        }
    }
    opt_release(command, args);
    free(args);
    return status;
}

/* Generators for packagers, and the usual spellings of help and version. 1: it was one of them. */
static int run_special(int argc, char **argv, ald_status *status, ald_error *err)
{
    const char *word = argv[0];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        cli_print_overview();
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        cli_printf("alimentar %s\n", cli_version());
    } else if (strcmp(word, "--generate-man") == 0 && argc == 2) {
        *status = cli_generate_man(argv[1], err);
    } else if (strcmp(word, "--generate-completion") == 0 && argc == 2) {
        *status = cli_generate_completion(argv[1], err);
    } else {
        return 0;
    }
    return 1;
}

static ald_status dispatch(cli_env *env, int argc, char **argv, ald_error *err)
{
    int words = 0;
    ald_status status = ALD_OK;
    if (argc == 0) {
        cli_hint(env, "`alimentar help` lists the commands");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "a command is missing");
    }
    if (run_special(argc, argv, &status, err)) {
        return status;
    }
    const cli_command *command = cli_command_find(argc, argv, &words);
    if (command == NULL && argc == 2 &&
        (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) &&
        cli_print_group(argv[0], "Commands:\n") > 0) {
        return ALD_OK;
    }
    if (command == NULL) {
        return unknown_verb(env, argv[0], err);
    }
    return run_command(env, command, argc - words, argv + words, err);
}

/* The keys of open files, and the rows that they decrypt, lie in ordinary memory. */
static void forbid_core_dumps(void)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
}

/* Left alone, glibc keeps blocks of up to 32 MiB on heaps of its threads once some were freed, where they leave holes: with
 * long rows a third of the memory. Columns of usual rows are smaller than this, and are kept. */
static void give_large_blocks_back(void)
{
#ifdef __GLIBC__
    enum { large = 16 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, large);
    (void)mallopt(M_TRIM_THRESHOLD, large);
#endif
}

static int exit_code_of(const cli_env *env, ald_status status)
{
    const int code = env->trouble != 0 ? env->trouble : cli_exit_code(status);
    return env->is_question && code == CLI_EXIT_FAILED ? CLI_EXIT_IO : code;
}

int main(int argc, char **argv)
{
    cli_env env;
    ald_error err;
    memset(&env, 0, sizeof(env));
    memset(&err, 0, sizeof(err));
    forbid_core_dumps();
    give_large_blocks_back();
    cli_cleanup_install();
    ald_status status = dispatch(&env, argc > 0 ? argc - 1 : 0, argv + 1, &err);
    if (status != ALD_OK) {
        damage_hint(&env, &err);
        cli_report(&env, &err);
    }
    free(env.seen.items);
    cli_secret_forget();
    ald_status flushed = cli_print_flush(&err);
    if (flushed != ALD_OK && status == ALD_OK) {
        env.subject = NULL;
        env.hint[0] = '\0';
        cli_report(&env, &err);
        status = flushed;
    }
    return status == ALD_OK ? env.answer : exit_code_of(&env, status);
}
