/* SPDX-License-Identifier: MIT */
/* Some rows and columns of a stream. Values are copied only where a condition leaves rows out. */
#ifndef CLI_SELECT_H
#define CLI_SELECT_H

#include "ald/arrow.h"
#include "cli/cli.h"

typedef struct cli_selection {
    const opt_list *columns; /* names, each item one name or several with commas; empty: all */
    uint64_t first_rows;     /* UINT64_MAX: all */
    uint64_t last_rows;      /* UINT64_MAX: all; only one of both limits */
    const char
        *where; /* a condition on all columns (ald/filter.h), before the limits; NULL: none */
} cli_selection;

/* Options of every command that takes some rows and columns of its input. */
typedef struct choose_options {
    const char *where;
    opt_list columns;
} choose_options;
extern const opt_group cli_group_choose; /* --where, --columns */

/* All rows that fit, of the columns that are named. An empty condition is ALD_E_INVALID_ARG. */
ALD_NODISCARD ald_status cli_choose(const choose_options *options, cli_selection *out,
                                    ald_error *err);

/* Which columns of `schema` are needed for `columns` (or NULL) and `where` (or NULL): keep[i], one for each, is 1 or 0. 0: all of
 * them, or something is wrong that whoever selects will say. */
int cli_select_needs(const cli_env *env, const struct ArrowSchema *schema, const opt_list *columns,
                     const char *where, uint8_t *keep);

/* `from` is moved into *out (also on failure it is released). `name` is the input's, for errors, and outlives *out. */
ALD_NODISCARD ald_status cli_select(cli_env *env, struct ArrowArrayStream *from, const char *name,
                                    const cli_selection *what, struct ArrowArrayStream *out,
                                    ald_error *err);

#endif
