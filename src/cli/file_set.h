/* SPDX-License-Identifier: MIT */
/* Files that appear together: each is written under a temporary name, and all are renamed when the last one is whole. */
#ifndef CLI_FILE_SET_H
#define CLI_FILE_SET_H

#include "cli/output.h"

typedef struct set_file {
    char *path;
    ald_file_sink *file; /* settled; NULL once it is in its place */
    uint64_t size_bytes;
    uint8_t blake3[32];
    uint8_t replaces; /* there was one before */
} set_file;

/* Zero-initialise, but for `env`. */
typedef struct file_set {
    cli_env *env;
    set_file *files;
    size_t count;
    size_t
        replaced_count; /* by file_set_commit: of those that were there before, how many are gone */
} file_set;

/* Writes `batches` (released in any case) to `path`, in the format and with the options of `like`, and adds the file. An
 * existing file is refused without --force. `in_path` is the input, which is not to be replaced. */
ALD_NODISCARD ald_status file_set_write(file_set *set, const cli_output *like, const char *path,
                                        const char *in_path, struct ArrowArrayStream *batches,
                                        const write_options *options, const ald_extras *extras,
                                        ald_error *err);
/* Adds a file of bytes that `fill` writes. */
ALD_NODISCARD ald_status file_set_fill(file_set *set, const cli_output *like, const char *path,
                                       cli_output_filler fill, void *ctx, ald_error *err);

/* Puts all files in their places, in order. When one fails, those of them that replaced nothing are removed. */
ALD_NODISCARD ald_status file_set_commit(file_set *set, ald_error *err);
/* Removes what was not committed. */
void file_set_clear(file_set *set);

#endif
