/* SPDX-License-Identifier: MIT */
/* Several files of one schema, named by a pattern or in a folder, read as one table. */
#ifndef CLI_MANY_FILES_H
#define CLI_MANY_FILES_H

#include <stddef.h>

#include "cli/folder_columns.h"
#include "cli/input.h"

typedef struct cli_many {
    char **paths; /* in the order of their names */
    size_t count;
    cli_folder_columns columns; /* of folders named key=value */
} cli_many;

/* The files that `path` stands for: those that fit it when it has *, ? or [ and is no file itself, those of known formats in
 * it and below when it is a folder. Else, and for a folder without data, *out is NULL. They are of one format, by their names
 * or `from` (--from, or NULL). A pattern that fits nothing is ALD_E_IO. */
ALD_NODISCARD ald_status cli_many_find(cli_env *env, const char *path, const char *from,
                                       cli_many **out, ald_error *err);
void cli_many_free(cli_many *many);

/* Replaces in->stream, which is that of the first file, by one that goes on with the others. Each must have the schema of the
 * first, which text is read as. Errors name the file. in->many and `read` must outlive the stream. */
ALD_NODISCARD ald_status cli_many_join(cli_input *in, const read_options *read, ald_error *err);

#endif
