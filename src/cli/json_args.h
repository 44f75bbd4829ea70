/* SPDX-License-Identifier: MIT */
/* JSON files that options name: metadata and column documentation. */
#ifndef CLI_JSON_ARGS_H
#define CLI_JSON_ARGS_H

#include "ald/arrow.h"
#include "ald/value.h"
#include "cli/cli.h"

/* Options that describe a .ald. */
typedef struct describe_options {
    const char *metadata;     /* a file */
    const char *card;         /* a file; its group is cli_group_card */
    const char *column_docs;  /* a file */
    const char *dataset_type; /* a name */
} describe_options;

extern const opt_group cli_group_describe;
extern const opt_group cli_group_card; /* --card, in a describe_options */

/* The card and the JSON object that options name, read once: they may be pipes. NULL: neither was given. */
typedef struct metadata_patch metadata_patch;
ALD_NODISCARD ald_status cli_metadata_read(cli_env *env, const describe_options *options,
                                           metadata_patch **out, ald_error *err);
void cli_metadata_free(metadata_patch *patch); /* NULL is fine */
/* Every key of it is set in `map`; null drops the key. The other keys stay. What the JSON says goes before the card. Licenses
 * that are set must be SPDX expressions, and are spelled so. */
ALD_NODISCARD ald_status cli_metadata_merge(metadata_patch *patch, ald_value *map, ald_error *err);

/* {"column": {"description", "dtype", "values", "missing"}} of `path` into the fields' metadata; null drops an entry. */
ALD_NODISCARD ald_status cli_column_docs_apply(cli_env *env, const char *path,
                                               struct ArrowSchema *schema, ald_error *err);

/* The number of --dataset-type; 0 when it was not given. */
ALD_NODISCARD ald_status cli_dataset_type(cli_env *env, const char *name, uint16_t *out,
                                          ald_error *err);

#endif
