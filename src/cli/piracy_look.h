/* SPDX-License-Identifier: MIT */
/* What the piracy commands share: a suspect file as a stream, and what was found in it. */
#ifndef CLI_PIRACY_LOOK_H
#define CLI_PIRACY_LOOK_H

#include "ald/piracy.h"
#include "cli/buyers.h"
#include "cli/input.h"
#include "cli/left_out.h"

#define PIRACY_AFFINE_MAX 64u
#define PIRACY_RANKS 8u

/* Options of every piracy command that has a key. */
typedef struct look_options {
    seller_options seller;
    const char *buyers; /* a registry */
    opt_list affine;    /* FACTOR,OFFSET */
} look_options;

extern const opt_group cli_group_look; /* --buyers, --affine */

/* What reading with a key needs. Zeroed, it may be closed. */
typedef struct piracy_key {
    cli_seller seller;
    buyer_list buyers;
    ald_watermark_affine affine[PIRACY_AFFINE_MAX];
    size_t affine_count;
} piracy_key;

ALD_NODISCARD ald_status piracy_key_open(cli_env *env, const look_options *options,
                                         const secret_options *passphrase, piracy_key *out,
                                         ald_error *err);
void piracy_key_close(piracy_key *key);

/* The exit codes of commands that answer with CLI_EXIT_FAILED when there is a mark; they set env->is_question. */
extern const char *const piracy_exit_codes[];
#define PIRACY_USAGE "2  the command line is wrong: InvalidArgument"
#define PIRACY_NO_ANSWER                                                                           \
    "3  no answer: data that cannot be read (damaged, encrypted, no numbers), or any other error"

/* Opens a file and its stream. cli_input_close and left_out_clear in any case. */
ALD_NODISCARD ald_status piracy_open(cli_env *env, const char *path, const read_options *read,
                                     cli_input *in, left_out *left, ald_error *err);

/* Where no column has numbers, "no mark" would say too much. */
#define PIRACY_NO_NUMBERS "no column has numbers: nothing could be looked at"

/* Everything a key finds in a file. */
typedef struct piracy_result {
    ald_watermark_finding finding;          /* read blind, else the best of the registry */
    ald_watermark_rank ranks[PIRACY_RANKS]; /* of the registry, those that are confirmed */
    size_t rank_count;
    int is_listed; /* the finding is the registry's, it could not be read blind */
} piracy_result;

ALD_NODISCARD ald_status piracy_look(cli_env *env, const piracy_key *key, cli_input *in,
                                     piracy_result *out, ald_error *err);

/* Writes text to a file that appears whole or not at all. NULL: standard output. */
ALD_NODISCARD ald_status piracy_write(cli_env *env, const char *path, int replace, const char *data,
                                      size_t size, ald_error *err);

#endif
