/* SPDX-License-Identifier: MIT */
/* alimentar split FILE NAME=SHARE... */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/draw.h"
#include "cli/transfer.h"

#define WORD "{split}"

typedef struct split_options {
    uint64_t seed;
    const char *stratify;
} split_options;

typedef struct split_args {
    cli_common common;
    const char *in;
    opt_list shares;
    split_options split;
    choose_options choose;
    read_options read;
    write_options write;
    keep_options keep;
} split_args;

/* The parts as the operands say. */
typedef struct split_parts {
    char *names[DIVISION_PARTS_MAX];
    char *paths[DIVISION_PARTS_MAX];
    uint32_t count;
} split_parts;

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the names of parts");
}

static void clear(cli_env *env, split_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        cli_keep_subject(env, parts->paths[i]);
        free(parts->names[i]);
        free(parts->paths[i]);
    }
}

/* ---- shares */

static ald_status read_share(split_parts *parts, const char *operand, uint64_t *share,
                             ald_error *err)
{
    const char *equal = strrchr(operand, '=');
    if (equal == NULL || equal == operand || memchr(operand, '/', (size_t)(equal - operand)) ||
        !draw_parse_share(equal + 1, UINT32_MAX, share) || *share == 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "'%s' is not NAME=SHARE, as train=0.8\n"
                             "a share is a decimal (0.8) or a whole number (4) above 0; a name has "
                             "no slash",
                             operand);
    }
    char *name = strndup(operand, (size_t)(equal - operand));
    if (name == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        if (strcmp(parts->names[i], name) == 0) {
            free(name);
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "two parts are named '%s'",
                                 parts->names[i]);
        }
    }
    parts->names[parts->count++] = name;
    return ALD_OK;
}

/* Shares of one, or whole numbers, which say the proportion. */
static ald_status check_shares(cli_env *env, uint64_t *shares, uint32_t count, ald_error *err)
{
    uint64_t sum = 0;
    int whole = 1;
    for (uint32_t i = 0; i < count; i++) {
        whole = whole && shares[i] % DRAW_WHOLE == 0;
        sum = sum > UINT64_MAX - shares[i] ? UINT64_MAX : sum + shares[i];
    }
    if (sum == DRAW_WHOLE) {
        return ALD_OK;
    }
    if (!whole || sum / DRAW_WHOLE > UINT32_MAX) {
        cli_hint(env, "train=0.8 test=0.2, or, as whole numbers, train=4 test=1");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the shares do not add up to 1");
    }
    for (uint32_t i = 0; i < count; i++) {
        shares[i] /= DRAW_WHOLE;
    }
    return ALD_OK;
}

static ald_status read_shares(cli_env *env, const split_args *args, split_parts *parts, division *d,
                              ald_error *err)
{
    const opt_list *list = &args->shares;
    if (list->count < 2 || list->count > DIVISION_PARTS_MAX) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "split: give 2 to %u parts, as train=0.8 test=0.2",
                             DIVISION_PARTS_MAX);
    }
    for (size_t i = 0; i < list->count; i++) {
        ald_status status = read_share(parts, list->items[i], &d->shares[i], err);
        if (status != ALD_OK) {
            return status;
        }
    }
    d->part_count = parts->count;
    return check_shares(env, d->shares, parts->count, err);
}

/* ---- names of files */

/* data.csv gives data-{split}.ald beside it, or, with --to, the format's name as extension. The caller frees *out. */
static ald_status default_pattern(cli_env *env, const char *in, const char *to, char **out,
                                  ald_error *err)
{
    const file_format format = to != NULL ? file_format_of_name(to) : FORMAT_ALD;
    const char *ending = file_format_name(format != FORMAT_UNKNOWN ? format : FORMAT_ALD);
    const char *slash = strrchr(in, '/'), *name = slash != NULL ? slash + 1 : in;
    size_t stem = (size_t)(name - in) + strcspn(name, ".");
    *out = NULL;
    if (strcmp(in, "-") == 0 || stem == (size_t)(name - in) || strpbrk(in, "*?[:") != NULL) {
        cli_hint(env, "-o 'out-{split}.ald' names the files");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "split: --output is missing");
    }
    size_t room = stem + sizeof("-" WORD ".") + strlen(ending);
    *out = malloc(room);
    if (*out == NULL) {
        return no_memory(err);
    }
    (void)snprintf(*out, room, "%.*s-" WORD ".%s", (int)stem, in, ending);
    return ALD_OK;
}

static ald_status name_files(cli_env *env, const char *pattern, split_parts *parts, ald_error *err)
{
    const char *word = strstr(pattern, WORD);
    if (word == NULL || strstr(word + 1, WORD) != NULL) {
        cli_hint(env, "as in 'out-{split}.ald'");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--output: {split} has to stand in '%s' once", pattern);
    }
    size_t before = (size_t)(word - pattern);
    const char *behind = word + sizeof(WORD) - 1;
    for (uint32_t i = 0; i < parts->count; i++) {
        size_t size = strlen(parts->names[i]);
        char *path = malloc(before + size + strlen(behind) + 1);
        if (path == NULL) {
            return no_memory(err);
        }
        memcpy(path, pattern, before);
        memcpy(path + before, parts->names[i], size);
        memcpy(path + before + size, behind, strlen(behind) + 1);
        parts->paths[i] = path;
    }
    return ALD_OK;
}

/* ---- the command */

static ald_status run_split(cli_env *env, void *raw, ald_error *err)
{
    static const describe_options nothing;
    const split_args *args = raw;
    cli_selection what;
    split_parts parts = {0};
    char *pattern = NULL;
    const char *in = args->in;
    opt_list inputs = {&in, 1};
    division d = {
        .kind = DIVISION_SHARES, .seed = args->split.seed, .stratify = args->split.stratify};
    transfer t = {.in = in,
                  .inputs = &inputs,
                  .read = &args->read,
                  .write = &args->write,
                  .describe = &nothing,
                  .keep = &args->keep,
                  .choice = &what,
                  .division = &d};
    ald_status status = cli_choose(&args->choose, &what, err);
    if (status == ALD_OK) {
        status = read_shares(env, args, &parts, &d, err);
    }
    if (status == ALD_OK && args->write.out == NULL) {
        status = default_pattern(env, in, args->write.to, &pattern, err);
    }
    if (status == ALD_OK) {
        status = name_files(env, pattern != NULL ? pattern : args->write.out, &parts, err);
    }
    free(pattern);
    if (status == ALD_OK) {
        t.out = parts.paths[0]; /* what is wrong with one is wrong with all */
        t.parts = (const char *const *)parts.paths;
        status = cli_transfer(env, &t, err);
    }
    division_clear(&d);
    clear(env, &parts);
    return status;
}

static const opt_operand operands[] = {
    {"FILE",
     "the file to read; - is standard input (with --from). A quoted pattern, a folder or a "
     "manifest are read as one table",
     offsetof(split_args, in), 0},
    {"NAME=SHARE",
     "a part: its name, and its share of the rows. Shares add up to 1; or they are whole numbers, "
     "which say the proportion",
     offsetof(split_args, shares), OPT_OPERAND_MANY},
    {0},
};

#define AT(member) .offset = offsetof(split_options, member)
static const opt_spec split_specs[] = {
    {.name = "seed",
     .arg = "S",
     .kind = OPT_COUNT,
     AT(seed),
     .help = "another number gives another split, the same one the same; default: 0"},
    {.name = "stratify",
     .arg = "COLUMN",
     .kind = OPT_TEXT,
     AT(stratify),
     .help = "split the rows of each value of this column in the same proportion"},
};
static const opt_group group_split = OPT_GROUP("Split", split_specs);

static const opt_use options[] = {
    {&group_split, offsetof(split_args, split)},
    {&cli_group_choose, offsetof(split_args, choose)},
    {&cli_group_read, offsetof(split_args, read)},
    {&cli_group_read_schema, offsetof(split_args, read)},
    {&cli_group_write, offsetof(split_args, write)},
    {&cli_group_sign, offsetof(split_args, keep.sign)},
    {&cli_group_keep, offsetof(split_args, keep)},
    {&cli_group_trust, offsetof(split_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "for training and for tests",
    "alimentar split data.ald train=0.8 test=0.2",
    "three parts with the same mix of labels, as Parquet",
    "alimentar split data.csv train=8 valid=1 test=1 --stratify label -o 'out-{split}.parquet'",
    NULL,
};

const cli_command cli_cmd_split = {
    .verb = "split",
    .brief = "deal the rows out to several files, the same way for the same seed",
    .details =
        "Each row goes to exactly one part; in a part the rows are in their order. The counts are "
        "exact: the shares of all rows, rounded so that they add up. With --stratify, so are those "
        "of each value of the column, to within one row for two parts. --output names the "
        "files, with {split} for the name of the part; default: FILE's name, as in "
        "data-{split}.ald, or what --to says. All files appear when the last one is whole, or "
        "none.\n"
        "Who goes where depends on the seed, on how many rows there are, on the shares, and, with "
        "--stratify, on that column; not on formats, chunks or threads. How the rows are drawn is "
        "written in docs/DATASETS.md. FILE is read once for each part, and once more where "
        "rows have to be counted.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(split_args),
    .run = run_split,
};
