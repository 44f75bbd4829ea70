/* SPDX-License-Identifier: MIT */
/* A stream that passes another one on: it notes whose fault an error is, counts rows, shows progress, and may put another
 * schema in front (the same types, other metadata). */
#ifndef CLI_TRACKED_H
#define CLI_TRACKED_H

#include "ald/arrow.h"
#include "cli/cli.h"
#include "cli/progress.h"

typedef struct cli_tracked {
    cli_env *env;
    const char *name;             /* the input's, for errors */
    struct ArrowArrayStream from; /* moved in */
    struct ArrowSchema *schema;   /* borrowed; NULL: the stream's own */
    cli_progress *progress;       /* or NULL */
    uint64_t row_count;
    uint64_t total_rows; /* 0: unknown */
    size_t column_count; /* of the schema; known once it was asked for */
    uint8_t is_over;     /* the stream has ended or failed */
} cli_tracked;

/* `tracked` is the caller's and outlives `out`. */
ALD_NODISCARD ald_status cli_tracked_open(cli_tracked *tracked, struct ArrowArrayStream *out,
                                          ald_error *err);

#endif
