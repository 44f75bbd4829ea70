/* SPDX-License-Identifier: MIT */
/* One table written as files of so many rows, with a manifest. */
#ifndef CLI_SHARDS_H
#define CLI_SHARDS_H

#include "cli/output.h"

typedef struct shard_options {
    uint64_t rows_per_shard; /* 0: one file, and its name is a name */
} shard_options;

extern const opt_group cli_group_shards; /* --rows-per-shard */

/* A path with a number in it: "out-{shard:05}.ald". */
typedef struct shard_pattern {
    const char *path;
    size_t begin, end; /* of the braces */
    int width;         /* digits at least */
} shard_pattern;

/* Whether `path` has {shard} or {shard:0N} in its last part, and what around it; ALD_E_INVALID_ARG when it is malformed. */
ALD_NODISCARD ald_status shard_pattern_parse(const char *path, shard_pattern *out, int *found,
                                             ald_error *err);

/* --rows-per-shard and {shard} belong together. */
ALD_NODISCARD ald_status cli_shards_check(cli_env *env, const shard_options *options,
                                          const char *path, ald_error *err);

/* Writes `batches` (released in any case) to shards, counted from 0, and the manifest: with out-{shard}.ald,
 * out-manifest.json. `like` has the format. All files appear when the last one is whole. Files of an earlier set of the same
 * names that are none of this one go, if --force replaces it. */
ALD_NODISCARD ald_status cli_shards_write(cli_env *env, const cli_output *like,
                                          const shard_options *shards, const char *path,
                                          const char *in_path, struct ArrowArrayStream *batches,
                                          const write_options *options, const ald_extras *extras,
                                          ald_error *err);

#endif
