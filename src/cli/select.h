/* SPDX-License-Identifier: MIT */
/* Some rows and columns of a stream, without copying values. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "ald/arrow.h"
#include "cli/cli.h"

typedef struct cli_selection {
    const opt_list *columns; /* names, each item one name or several with commas; empty: all */
    uint64_t first_rows;     /* UINT64_MAX: all */
    uint64_t last_rows;      /* UINT64_MAX: all; only one of both limits */
} cli_selection;

/* `from` is moved into *out (also on failure it is released). `name` is the input's, for errors, and outlives *out. */
ALD_NODISCARD ald_status cli_select(cli_env *env, struct ArrowArrayStream *from, const char *name,
                                    const cli_selection *what, struct ArrowArrayStream *out,
                                    ald_error *err);

#endif
