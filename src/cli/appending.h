/* SPDX-License-Identifier: MIT */
/* Rows of other files behind those of a .ald. */
#ifndef CLI_APPENDING_H
#define CLI_APPENDING_H

#include "cli/input.h"

typedef struct appending {
    const opt_list *files; /* what is appended … */
    read_options read;     /* … and how it is read */
    cli_input in;          /* it, once open */
    uint8_t is_open;
    uint64_t row_count; /* of its rows, once read */
} appending;

/* Opens the files: text is read as `schema`, other files must have it. Options have to have an effect on them, or on `scopes`.
 * cli_appending_close in any case. */
ALD_NODISCARD ald_status cli_appending_open(cli_env *env, appending *a, opt_scope scopes,
                                            const struct ArrowSchema *schema, ald_error *err);
/* The rows, moved out; counted in a->row_count as they are read. */
ALD_NODISCARD ald_status cli_appending_rows(cli_env *env, appending *a,
                                            struct ArrowArrayStream *out, ald_error *err);
void cli_appending_close(appending *a);

/* A stream of the rows of both, with the schema of the first; both are moved in (also on failure they are released). */
ALD_NODISCARD ald_status cli_chain(cli_env *env, struct ArrowArrayStream *first,
                                   struct ArrowArrayStream *second, struct ArrowArrayStream *out,
                                   ald_error *err);

#endif
