/* SPDX-License-Identifier: MIT */
/* Columns that JSON cannot tell apart. */
#ifndef CLI_SAME_NAMES_H
#define CLI_SAME_NAMES_H

#include "ald/arrow.h"
#include "cli/cli.h"

/* A note when two columns of the stream have one name: as JSON most readers keep only the last of them. */
void cli_note_same_names(const cli_env *env, struct ArrowArrayStream *batches);

#endif
