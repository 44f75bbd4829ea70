/* SPDX-License-Identifier: MIT */
/* What several files are: a line for each, and their sums. */
#ifndef CLI_INFO_MANY_H
#define CLI_INFO_MANY_H

#include "cli/input.h"

/* Of each file of in->many: rows (where they can be told without reading them), columns, bytes; of .ald files also how they
 * are compressed and protected. All must have the schema of the first; text is not read for that. */
ALD_NODISCARD ald_status cli_info_many(cli_env *env, cli_input *in, const read_options *read,
                                       int json, ald_error *err);

#endif
