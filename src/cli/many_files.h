/* SPDX-License-Identifier: MIT */
/* Several files of one schema, named by a pattern or in a folder, read as one table. */
#ifndef CLI_MANY_FILES_H
#define CLI_MANY_FILES_H

#include <stddef.h>

#include "cli/folder_columns.h"
#include "cli/input.h"
#include "cli/shard_manifest.h"

typedef struct cli_many {
    char **paths; /* in the order of their names, or of the manifest */
    size_t count;
    cli_folder_columns columns; /* of folders named key=value */
    char *name;                 /* of several operands; NULL: that of the only one */
    shard_manifest manifest;    /* of the paths; count 0: none */
    char *manifest_path;        /* or NULL; while files are looked for, the one seen last */
    size_t manifest_count;      /* seen in folders */
} cli_many;

/* The files that `operands` stand for: of one those that fit it when it has *, ? or [ and is no file itself, those of known
 * formats in it and below when it is a folder, those that it lists when it is a manifest. *out is NULL for one file and for
 * a folder without data. They are of one format, by their names or `from` (--from, or NULL). A pattern that fits nothing is
 * ALD_E_IO. A folder whose one manifest lists other files than there are is ALD_E_INVALID_FORMAT. */
ALD_NODISCARD ald_status cli_many_find(cli_env *env, const opt_list *operands, const char *from,
                                       cli_many **out, ald_error *err);
/* What env->subject names is kept. */
void cli_many_free(cli_env *env, cli_many *many);

/* What the manifest says, where there is one. ALD_E_CHECKSUM_MISMATCH when file `index` has another size, another hash, or
 * so many rows; of a set that somebody signed a hash that differs is ALD_E_SIGNATURE_INVALID. */
ALD_NODISCARD ald_status cli_many_check_size(const cli_many *many, size_t index,
                                             uint64_t size_bytes, ald_error *err);
ALD_NODISCARD ald_status cli_many_check_hash(cli_env *env, const cli_many *many, size_t index,
                                             const ald_source *source, ald_error *err);
/* Before rows are read: the size, and of a set that somebody signed the hash. */
ALD_NODISCARD ald_status cli_many_check_file(const cli_many *many, size_t index,
                                             const cli_input *file, ald_error *err);
ALD_NODISCARD ald_status cli_many_check_rows(const cli_many *many, size_t index, uint64_t row_count,
                                             ald_error *err);

/* Replaces in->stream, which is that of the first file, by one that goes on with the others. Each must have the schema of the
 * first, which text is read as. Errors name the file. in->many, in->trust and what `read` points to must outlive the
 * stream. */
ALD_NODISCARD ald_status cli_many_join(cli_input *in, const read_options *read, ald_error *err);

#endif
