/* SPDX-License-Identifier: MIT */
/* --set KEY=TEXT and --unset KEY: single keys of the metadata. */
#ifndef CLI_CARD_SET_H
#define CLI_CARD_SET_H

#include "ald/value.h"
#include "cli/cli.h"

/* Each of `set` in turn, then those of `unset` are dropped. What cannot be is ALD_E_INVALID_ARG. */
ALD_NODISCARD ald_status cli_card_set(cli_env *env, const opt_list *set, const opt_list *unset,
                                      ald_value *metadata, ald_error *err);

#endif
