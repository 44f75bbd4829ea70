/* SPDX-License-Identifier: MIT */
/* A card on standard output. */
#ifndef CLI_CARD_SHOW_H
#define CLI_CARD_SHOW_H

#include "ald/reader.h"
#include "cli/cli.h"

/* For people, or as JSON. */
ALD_NODISCARD ald_status cli_card_show(cli_env *env, const char *name, const ald_info *info,
                                       int json, ald_error *err);

/* What is wrong, what is missing, and what would help. *failed: something is wrong or missing. */
void cli_card_check(const char *name, const ald_info *info, int json, int *failed);

#endif
