/* SPDX-License-Identifier: MIT */
/* Files that hold envelopes of private queries, and the keys that seal and open them. */
#ifndef CLI_ENVELOPE_H
#define CLI_ENVELOPE_H

#include "ald/query.h"
#include "cli/output.h"
#include "cli/passphrase.h"

/* Where a command of queries writes. */
typedef struct envelope_place {
    const char *out;
    uint8_t force;
} envelope_place;

extern const opt_group cli_group_envelope; /* -o, --force */

/* Refuses what must not be written before anything is done; then writes it, whole or not at all. */
ALD_NODISCARD ald_status cli_envelope_check(cli_env *env, const envelope_place *place,
                                            const char *in_path, cli_output *out, ald_error *err);
ALD_NODISCARD ald_status cli_envelope_write(cli_output *out, const envelope_place *place,
                                            const ald_buffer *bytes, ald_error *err);

/* The key to receive with of a file. `keys` is the caller's to free; with `needs_private` a public file is refused. */
ALD_NODISCARD ald_status cli_receiver_key(cli_env *env, const char *path, int needs_private,
                                          const secret_options *passphrase, ald_keys **keys,
                                          const ald_key **key, ald_error *err);

#endif
