/* SPDX-License-Identifier: MIT */
/* A card in a file: README.md as Hugging Face has it. */
#ifndef CLI_CARD_FILE_H
#define CLI_CARD_FILE_H

#include "ald/value.h"
#include "card/card_readme.h"
#include "cli/cli.h"

typedef struct cli_card cli_card;

/* Read once: it may be a pipe. `path` stays until the card is freed. */
ALD_NODISCARD ald_status cli_card_read(cli_env *env, const char *path, cli_card **out,
                                       ald_error *err);
void cli_card_free(cli_card *card); /* NULL is fine */

/* Sets what it says in `metadata`, a map. Notes are told the first time. An error is of the card's file. */
ALD_NODISCARD ald_status cli_card_apply(cli_card *card, ald_value *metadata, ald_error *err);

/* Notes on standard error. */
card_notes cli_card_notes(cli_env *env);

#endif
