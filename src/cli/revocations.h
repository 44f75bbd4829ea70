/* SPDX-License-Identifier: MIT */
/* Lists of revoked licenses: a .ald that their seller signs (F-285). */
#ifndef CLI_REVOCATIONS_H
#define CLI_REVOCATIONS_H

#include "ald/license.h"
#include "cli/cli.h"

typedef struct revoked_license {
    uint8_t id[ALD_LICENSE_ID_BYTES];
    int64_t at;   /* unix seconds */
    char *reason; /* or NULL */
} revoked_license;

typedef struct revocation_list {
    revoked_license *items;
    size_t count, capacity;
    uint8_t *ids; /* of all items, one behind the other: what `revocations` points to */
    ald_revocations revocations;
} revocation_list;

/* Loads a list and checks its signature; whether anybody trusts the signer is no matter here: it counts for what the same
 * signer signed. `out` is zeros; cli_revocations_clear in any case. */
ALD_NODISCARD ald_status cli_revocations_load(cli_env *env, const char *path, revocation_list *out,
                                              ald_error *err);

/* Adds one; *added 0: it is there already. ids are not. */
ALD_NODISCARD ald_status cli_revocations_add(revocation_list *list,
                                             const uint8_t id[ALD_LICENSE_ID_BYTES], int64_t at,
                                             const char *reason, size_t reason_size, int *added,
                                             ald_error *err);

/* Writes the items as a signed .ald. */
ALD_NODISCARD ald_status cli_revocations_save(cli_env *env, const revocation_list *list,
                                              const uint8_t seed[32], const ald_sink *sink,
                                              ald_error *err);

void cli_revocations_clear(revocation_list *list);

#endif
