/* SPDX-License-Identifier: MIT */
/* Limits that this machine keeps count of: the license state under ~/.alimentar (ald/license_state.h). */
#ifndef CLI_LICENSE_USE_H
#define CLI_LICENSE_USE_H

#include "ald/license_state.h"
#include "ald/reader.h"
#include "cli/cli.h"

/* Before rows of a file are given out: the calling user takes a seat, and `query_count` queries are counted, where its
 * license limits them. `info` is that of a file whose signature was checked. A file without such a license: nothing. */
ALD_NODISCARD ald_status cli_license_use(cli_env *env, const ald_info *info, uint64_t query_count,
                                         ald_error *err);

/* What was counted. */
ALD_NODISCARD ald_status cli_license_usage(cli_env *env, const ald_license *license,
                                           ald_license_usage *out, ald_error *err);

/* Whether a seat (the user's own, or a free one) and a query are left; ALD_E_LICENSE_EXHAUSTED. Nothing is noted. */
ALD_NODISCARD ald_status cli_license_is_left(cli_env *env, const ald_license *license,
                                             ald_error *err);

#endif
