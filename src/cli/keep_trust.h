/* SPDX-License-Identifier: MIT */
/* Trust is not lost in silence: how a .ald made from a .ald is encrypted, licensed and signed. */
#ifndef CLI_KEEP_TRUST_H
#define CLI_KEEP_TRUST_H

#include "ald/reader.h"
#include "cli/protect_options.h"
#include "cli/trust_options.h"

/* The same for every command that makes a .ald from another. */
typedef struct keep_options {
    sign_options sign; /* its group is cli_group_sign */
    opt_list recipients;
    uint8_t plain;
} keep_options;

extern const opt_group cli_group_keep; /* --recipient, --plain */

/* What can be refused without a secret: a signature that would be lost, options that make no sense for this input. `info` is
 * NULL when the input is no .ald. */
ALD_NODISCARD ald_status cli_keep_check(cli_env *env, const keep_options *options,
                                        const ald_info *info, ald_error *err);

/* The protection of the new file: encrypted like the old one, for the same recipients or with the same password; licensed
 * like it; signed with --key. A secret that is missing is no error here: the input will not be read without it. `info` (or
 * NULL) and `trust` stay until `out` is closed, which it is in any case. */
ALD_NODISCARD ald_status cli_keep_open(cli_env *env, const keep_options *options,
                                       const secret_options *key_passphrase, const ald_info *info,
                                       cli_trust *trust, cli_protection *out, ald_error *err);

/* That somebody else's signature gives way to one's own; nothing when `info` is NULL or has none. */
void cli_keep_note_signer(cli_env *env, const ald_info *info);
/* The same of a license. */
void cli_keep_note_license(cli_env *env, const ald_info *info);

/* --key alone, which cli_keep_open does, too. Whoever signs a file anew that they have signed needs nobody's trust in them:
 * the input is then read with allow_untrusted. `info` may be NULL. */
ALD_NODISCARD ald_status cli_keep_sign(cli_env *env, const keep_options *options,
                                       const secret_options *key_passphrase, const ald_info *info,
                                       cli_trust *trust, cli_protection *out, ald_error *err);

#endif
