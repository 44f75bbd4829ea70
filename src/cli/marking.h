/* SPDX-License-Identifier: MIT */
/* Marking the rows of an output for one buyer: what watermark and package share. */
#ifndef CLI_MARKING_H
#define CLI_MARKING_H

#include "ald/commercial.h"
#include "cli/seller.h"

typedef struct mark_options {
    const char *buyer;
    const char *strength, *redundancy; /* numbers */
    const char *registry;              /* NULL: buyers.jsonl of ~/.alimentar */
    opt_list columns;
    uint8_t no_registry, hidden, strict, keys;
    seller_options seller;
} mark_options;

extern const opt_group cli_group_mark; /* all but seller, whose group is cli_group_seller */

/* One copy. Zeroed, it may be closed. */
typedef struct marking {
    cli_env *env;
    const mark_options *options;
    cli_seller seller;
    ald_watermark_options watermark;
    ald_watermark *mark; /* once rows were marked */
    ald_watermark_hook hook;
    const char *buyer;
    char *registry;   /* NULL: none */
    uint8_t is_noted; /* what a seller should know was told */
} marking;

/* Numbers in range, the seller's key. marking_close in any case. */
ALD_NODISCARD ald_status marking_open(cli_env *env, const mark_options *options,
                                      const secret_options *passphrase, marking *out,
                                      ald_error *err);
/* Sets the buyer; `out->hook` then marks one stream. May be called again for another copy. */
ALD_NODISCARD ald_status marking_begin(marking *m, const char *buyer, ald_error *err);
/* Behind the copy that was written to `path` ("-": standard output): notes it in the registry; tells of a low
 * capacity and of times that move. */
ALD_NODISCARD ald_status marking_note(marking *m, const char *path, ald_error *err);
void marking_close(marking *m);

#endif
