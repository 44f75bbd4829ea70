/* SPDX-License-Identifier: MIT */
/* Public keys of signers, by name: from files, folders and the trust store. */
#ifndef CLI_SIGNERS_H
#define CLI_SIGNERS_H

#include "ald/keys.h"
#include "cli/cli.h"

typedef struct known_signer {
    char *name; /* of the file without .pub */
    char *path;
    uint8_t key[ALD_KEY_BYTES]; /* Ed25519 */
} known_signer;

typedef struct signer_list {
    known_signer *items;
    size_t count, cap;
} signer_list;

/* A file under ~/.alimentar, or under ALIMENTAR_HOME where that is set. *out is freed by the caller. */
ALD_NODISCARD ald_status cli_home_path(const char *name, char **out, ald_error *err);

/* The Ed25519 keys of a file, or of all .pub and .pem files of a folder; none at all is an error. */
ALD_NODISCARD ald_status signers_add(cli_env *env, const char *path, signer_list *list,
                                     ald_error *err);
/* Those of the trust store; a store that is not there is empty. A file in it that cannot be used is left out, with a note. */
ALD_NODISCARD ald_status signers_add_store(cli_env *env, signer_list *list, ald_error *err);

/* NULL: not there. */
const known_signer *signers_find(const signer_list *list, const uint8_t key[ALD_KEY_BYTES]);

void signers_clear(signer_list *list);

#endif
