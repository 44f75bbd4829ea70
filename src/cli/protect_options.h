/* SPDX-License-Identifier: MIT */
/* Who signs, and who can read: the options of commands that write .ald, and what they are for the library. */
#ifndef CLI_PROTECT_OPTIONS_H
#define CLI_PROTECT_OPTIONS_H

#include "ald/trust.h"
#include "cli/passphrase.h"

typedef struct sign_options {
    const char *key; /* --key */
    uint8_t drop_signature;
} sign_options;

extern const opt_group cli_group_sign; /* both; the key's passphrase is another group's */

typedef struct encrypt_options {
    secret_options password;
    opt_list recipients;
    uint64_t kdf_memory, kdf_passes;
    uint8_t ask_password;
} encrypt_options;

/* --password, --passphrase-file, --passphrase-fd, --recipient, --kdf-memory, --kdf-passes. The first three are those of a
 * password that does not exist yet: not for commands that read an encrypted file, whose group (cli_group_trust) has them. */
extern const opt_group cli_group_encrypt;
extern const opt_group cli_group_recipients; /* --recipient alone, at the same place */

/* `protection` is for ald_save_options and ald_rewrite_options. Zeroed, it may be closed. */
typedef struct cli_protection {
    ald_protection protection;
    struct protect_secrets *secrets; /* password and seed, in memory that is wiped */
    uint8_t *recipients;
    ald_license
        license; /* where the caller sets protection.license to it; its terms are the caller's */
} cli_protection;

/* An empty one. cli_protection_close in any case. */
ALD_NODISCARD ald_status cli_protection_open(cli_protection *out, ald_error *err);
void cli_protection_close(cli_protection *protection);

/* Reads the key to sign with, and gives its public key where `public_key` is not NULL. `path` NULL: nothing is done. */
ALD_NODISCARD ald_status cli_protection_sign(cli_env *env, cli_protection *out, const char *path,
                                             const secret_options *key_passphrase,
                                             uint8_t *public_key, ald_error *err);
/* Reads public keys of recipients, at least one. The mode is RECIPIENT for one, else SEVERAL. */
ALD_NODISCARD ald_status cli_protection_recipients(cli_env *env, cli_protection *out,
                                                   const opt_list *files, ald_error *err);
/* A password or recipients, exactly one of both. A password is asked for twice. `name` is the file's, for the question. */
ALD_NODISCARD ald_status cli_protection_encrypt(cli_env *env, cli_protection *out,
                                                const encrypt_options *options, const char *name,
                                                ald_error *err);

/* The public key to receive with of a file of public keys. */
ALD_NODISCARD ald_status cli_receiver_public(cli_env *env, const char *path, uint8_t out[32],
                                             ald_error *err);

#endif
