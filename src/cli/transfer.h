/* SPDX-License-Identifier: MIT */
/* One file into another: what convert and describe share. */
#ifndef CLI_TRANSFER_H
#define CLI_TRANSFER_H

#include "ald/commercial.h"
#include "cli/appending.h"
#include "cli/division.h"
#include "cli/input.h"
#include "cli/json_args.h"
#include "cli/keep_trust.h"
#include "cli/output.h"
#include "cli/select.h"
#include "cli/shards.h"

typedef struct transfer {
    const char *in;
    const opt_list *
        inputs; /* the first one is `in`: they are read as one table, .ald files too; NULL: `in` alone */
    const char *out; /* NULL: a .ald that is replaced */
    const read_options *read;
    const write_options *write;
    const describe_options *describe;
    const keep_options *keep;
    const ald_protection *sale; /* the output is sold: so, whatever `keep` says; NULL: it is not */
    uint8_t is_bought;          /* a .ald input is loaded commercially, and its use counted */
    uint8_t keep_layout; /* a .ald input in chunks, or aligned, gives such an output; new metadata
                          * alone leave the bytes of the rows as they are where trust depends on
                          * them */
    const ald_watermark_hook *mark; /* marks the rows on their way; NULL: nobody does */
    const cli_selection *choice;    /* of the rows and columns; NULL: all */
    appending *append;              /* more rows behind those of a .ald; NULL: none */
    division *division;             /* the rows are dealt out to `parts`; NULL: they are not */
    const char *const *parts;       /* a path for each part; NULL: part 0 alone goes to `out` */
    const shard_options *shards;    /* `out` is a pattern, if they say so; NULL: it is not */
} transfer;

/* Reads `t->in` and writes `t->out`. A .ald made from a .ald keeps its metadata, dataset type, compression, license and
 * encryption unless the options say otherwise; one that is signed is not replaced by an unsigned one in silence. */
ALD_NODISCARD ald_status cli_transfer(cli_env *env, const transfer *t, ald_error *err);

#endif
