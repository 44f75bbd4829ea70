/* SPDX-License-Identifier: MIT */
/* alimentar append FILE MORE... */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/appending.h"
#include "cli/command.h"
#include "cli/transfer.h"

typedef struct append_args {
    cli_common common;
    const char *in;
    opt_list more;
    read_options read;
    write_options write;
    keep_options keep;
} append_args;

/* Two that add to one file wait for each other: each must begin with what the other one left. The file that is locked has to
 * be the one that the name means by then. -1: it is not there, or cannot be locked; opening it says why. */
static int lock_file(const char *path)
{
    for (;;) {
        struct stat locked, named;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX) != 0 || fstat(fd, &locked) != 0) {
            return fd;
        }
        if (stat(path, &named) != 0 ||
            (locked.st_dev == named.st_dev && locked.st_ino == named.st_ino)) {
            return fd;
        }
        (void)close(fd);
    }
}

/* Other types are no help here: of the hint only what may be null is left. */
static void without_types(char *msg)
{
    static const char end[] = "as null";
    char *hint = msg + strcspn(msg, "\n"), *null = strstr(hint, "--null");
    size_t size = strlen(msg);
    if (strstr(hint, "--types") == NULL) {
        return;
    }
    if (null == NULL || strcmp(msg + size - (sizeof end - 1), end) != 0) {
        *hint = '\0';
        return;
    }
    memmove(hint + sizeof "\npass " - 1, null, strlen(null) + 1);
}

static ald_status run_append(cli_env *env, void *raw, ald_error *err)
{
    static const describe_options nothing;
    const append_args *args = raw;
    read_options read = args->read;
    write_options write = args->write;
    appending more = {.files = &args->more, .read = args->read};
    transfer t = {.in = args->in,
                  .out = write.out,
                  .read = &read,
                  .write = &write,
                  .describe = &nothing,
                  .keep = &args->keep,
                  .keep_layout = 1,
                  .append = &more};
    read.from = "ald";
    write.to = "ald";
    if (args->read.types.count > 0) {
        cli_hint(env, "`alimentar schema %s` prints them", args->in);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "append: the types are those of FILE");
    }
    if (t.out == NULL && strcmp(args->in, "-") == 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "append: -o is missing");
    }
    int lock = t.out == NULL ? lock_file(args->in) : -1;
    ald_status status = cli_transfer(env, &t, err);
    cli_appending_close(&more);
    if (lock >= 0) {
        (void)close(lock);
    }
    if (status != ALD_OK && err != NULL) {
        without_types(err->msg);
    }
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "the .ald that gets more rows; it is replaced in one step, unless -o names another",
     offsetof(append_args, in), 0},
    {"MORE",
     "the rows to add, of any format; - is standard input (with --from). Several files, a quoted "
     "pattern, a folder or a manifest are added one after the other",
     offsetof(append_args, more), OPT_OPERAND_MANY},
    {0},
};

static const opt_use options[] = {
    {&cli_group_read, offsetof(append_args, read)},
    {&cli_group_write_ald, offsetof(append_args, write)},
    {&cli_group_sign, offsetof(append_args, keep.sign)},
    {&cli_group_keep, offsetof(append_args, keep)},
    {&cli_group_trust, offsetof(append_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "a day's rows",
    "alimentar append log.ald 2026-11-30.csv",
    "into a new file, which is signed",
    "alimentar append data.ald 'more/*.parquet' -o all.ald --key my.key",
    NULL,
};

const cli_command cli_cmd_append = {
    .verb = "append",
    .brief = "add rows to a .ald",
    .details =
        "MORE has the columns of FILE: text is read as their types, other files must have the "
        "same schema. Metadata, license, encryption and compression of FILE are kept; a signature "
        "has to be made anew (--key) or given up (--drop-signature).\n"
        "The chunks of a FILE in chunks are copied as they are stored, without being decompressed, "
        "unless --compression changes, the file is aligned, or its metadata have a SHA-256. Its "
        "last chunk is not filled up: after many small additions `alimentar convert FILE "
        "--streaming` makes chunks of full size.\n"
        "FILE is replaced when the new one is whole; whatever happens before leaves it as it was.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(append_args),
    .run = run_append,
};
