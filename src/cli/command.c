/* SPDX-License-Identifier: MIT */
/* The list of commands, and the options that all of them have. A new command is its file and one line here. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */ /* a line each */
const cli_command *const cli_commands[] = {
    &cli_cmd_convert,
    &cli_cmd_info,
    &cli_cmd_head,
    &cli_cmd_tail,
    &cli_cmd_cat,
    &cli_cmd_schema,
    &cli_cmd_verify,
    &cli_cmd_validate,
    &cli_cmd_stats,
    &cli_cmd_hash,
    &cli_cmd_diff,
    &cli_cmd_append,
    &cli_cmd_sample,
    &cli_cmd_split,
    &cli_cmd_describe,
    &cli_cmd_card,
    &cli_cmd_repair,
    &cli_cmd_keygen,
    &cli_cmd_key_show,
    &cli_cmd_trust_add,
    &cli_cmd_trust_list,
    &cli_cmd_trust_remove,
    &cli_cmd_sign,
    &cli_cmd_encrypt,
    &cli_cmd_decrypt,
    &cli_cmd_license,
    &cli_cmd_license_show,
    &cli_cmd_license_check,
    &cli_cmd_license_revoke,
    &cli_cmd_package,
    &cli_cmd_open,
    &cli_cmd_query_publish,
    &cli_cmd_query_seal,
    &cli_cmd_query_answer,
    &cli_cmd_query_open,
    &cli_cmd_watermark,
    &cli_cmd_piracy_detect,
    &cli_cmd_piracy_entropy,
    &cli_cmd_piracy_extract,
    &cli_cmd_piracy_prove,
    &cli_cmd_piracy_check_evidence,
    &cli_cmd_piracy_scan,
    &cli_cmd_help,
    &cli_cmd_version,
};
/* clang-format on */
const size_t cli_command_count = sizeof(cli_commands) / sizeof(cli_commands[0]);

static const opt_spec common_specs[] = {
    {.name = "help",
     .letter = 'h',
     .kind = OPT_FLAG,
     .offset = offsetof(cli_common, help),
     .help = "show this help and end"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPT_FLAG,
     .offset = offsetof(cli_common, quiet),
     .help = "no notes and no progress on standard error; errors stay"},
};
const opt_group cli_group_common = OPT_GROUP("General", common_specs);

static const opt_spec threads_specs[] = {
    {.name = "threads",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 1024,
     .offset = offsetof(cli_common, threads),
     .help = "threads for work that can be shared; 0 (default): one per processor. The result does "
             "not depend on it"},
};
const opt_group cli_group_threads = OPT_GROUP("Speed", threads_specs);

/* Whether the words of `verb` are argv[0 ..]; how many they are. */
static int match(const char *verb, int argc, char **argv)
{
    int words = 0;
    while (*verb != '\0') {
        size_t size = strcspn(verb, " ");
        if (words >= argc || strlen(argv[words]) != size || memcmp(argv[words], verb, size) != 0) {
            return 0;
        }
        words++;
        verb += size + (verb[size] == ' ');
    }
    return words;
}

const cli_command *cli_command_find(int argc, char **argv, int *word_count)
{
    const cli_command *best = NULL;
    *word_count = 0;
    for (size_t i = 0; i < cli_command_count; i++) {
        int words = match(cli_commands[i]->verb, argc, argv);
        if (words > *word_count) {
            best = cli_commands[i];
            *word_count = words;
        }
    }
    return best;
}

int cli_option_given(const cli_env *env, const char *name)
{
    for (size_t i = 0; i < env->seen.count; i++) {
        if (strcmp(env->seen.items[i]->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}
