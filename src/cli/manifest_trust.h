/* SPDX-License-Identifier: MIT */
/* Who vouches for a set of files: a signature over what its manifest says of them, so that none is missing, another one, or
 * in another place. */
#ifndef CLI_MANIFEST_TRUST_H
#define CLI_MANIFEST_TRUST_H

#include "cli/shard_manifest.h"
#include "cli/trust_options.h"

/* Signs what is in the manifest, with an Ed25519 seed of 32 bytes. */
ALD_NODISCARD ald_status manifest_sign(cli_env *env, shard_manifest *manifest, const uint8_t *seed,
                                       ald_error *err);

/* The rules for a signed .ald (F-258, F-259), with the options of whoever reads. `own` (or NULL) is a key that needs nobody's
 * trust. Who signed it goes to `why`, or, where that is NULL, into a note if nobody trusts them. */
#define MANIFEST_WHY_BYTES 256
ALD_NODISCARD ald_status manifest_check_signer(cli_env *env, const shard_manifest *manifest,
                                               const trust_options *options, const uint8_t *own,
                                               char *why, ald_error *err);

#endif
