/* SPDX-License-Identifier: MIT */
/* Checking files: of one all that can be checked, of several each, and that they belong together. */
#ifndef CLI_VERIFY_MANY_H
#define CLI_VERIFY_MANY_H

#include "cli/input.h"
#include "cli/json_print.h"

typedef struct verify_args {
    cli_common common;
    opt_list in;
    read_options read; /* --from and trust */
    uint8_t json, report;
} verify_args;

/* What becomes of a file's checks. */
typedef struct verify_page {
    json_print j; /* open around the files, where there are several */
    uint8_t json, is_one_of_several;
    uint8_t is_unchecked;  /* the payload of the file that was checked last, for want of a secret */
    uint64_t row_count;    /* of that file */
    const cli_trust *like; /* of another one of several; or NULL */
} verify_page;

/* Checks an input and prints what was checked, or, as one of several, keeps it to JSON (cli/cmd_verify.c). */
ALD_NODISCARD ald_status verify_one(cli_env *env, const verify_args *args, verify_page *page,
                                    cli_input *in, ald_error *err);

/* Checks each file of in->many, and prints a line for each; one that fails does not keep the others from being checked. The
 * error is that of the first one. */
ALD_NODISCARD ald_status verify_many(cli_env *env, const verify_args *args, cli_input *in,
                                     ald_error *err);

#endif
