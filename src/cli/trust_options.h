/* SPDX-License-Identifier: MIT */
/* What somebody who reads a .ald trusts, and the secrets they bring: the options, and what they are for the library. */
#ifndef CLI_TRUST_OPTIONS_H
#define CLI_TRUST_OPTIONS_H

#include "ald/reader.h"
#include "cli/passphrase.h"
#include "cli/revocations.h"
#include "cli/signers.h"

/* The same for every command that reads. The key passphrase is also that of a key to sign with (--key). */
typedef struct trust_options {
    secret_options password;       /* of the dataset */
    secret_options key_passphrase; /* of the files of private keys */
    opt_list private_keys, trusted_keys;
    const char *revocations;
    uint8_t ask_password, allow_untrusted, allow_unsigned, allow_plain, ignore_expiry;
    uint8_t may_lack_password; /* the command does what it can without one: no option */
    const struct cli_trust
        *like; /* of another file of several, whose password will do; no option */
} trust_options;

extern const opt_group cli_group_trust;

/* Whether one of them was on the command line. */
int cli_trust_is_asked_for(const cli_env *env);

/* `trust` is for ald_load_options; cli_trust_load sets it there. Zeroed, it may be closed. */
typedef struct cli_trust {
    ald_trust trust;
    struct trust_secrets *secrets; /* password and private keys, in memory that is wiped */
    signer_list signers;           /* of --trusted-keys, else of the trust store */
    uint8_t *trusted;              /* their keys */
    revocation_list *revocations;  /* of --revocations; NULL: none */
    uint8_t ignore_expiry;
    uint8_t from_store; /* the signers are the store's */
    uint8_t is_own;     /* the signer is whoever runs this: no note is needed */
} cli_trust;

/* Gathers keys and secrets. `source` (or NULL) is the file that will be read: nobody is asked for a secret that it has no use
 * for, but for the password of one that is encrypted with a password when nothing was given and there is a terminal. `name` is
 * the file's, for the question; NULL: what is done needs no secret, so nothing is asked that was not asked for. What only the environment or the trust store gave does not count as asked for: with it come
 * allow_plain and allow_unsigned. cli_trust_close in any case. */
ALD_NODISCARD ald_status cli_trust_open(cli_env *env, const trust_options *options,
                                        const ald_source *source, const char *name, cli_trust *out,
                                        ald_error *err);
/* The signers alone, without a secret: of --trusted-keys, else of the trust store. cli_trust_close in any case. */
ALD_NODISCARD ald_status cli_trust_open_signers(cli_env *env, const trust_options *options,
                                                cli_trust *out, ald_error *err);
void cli_trust_close(cli_trust *trust);

/* Sets trust and ignore_expiry of `load`, which borrows. */
void cli_trust_load(const cli_trust *trust, ald_load_options *load);

/* After `status`: sets the hint to what the options can do about it. `source` is the file. Keeps a hint that is there. */
void cli_trust_explain(cli_env *env, const cli_trust *trust, const ald_source *source,
                       ald_status status);
/* The hint on a signer who is not trusted. */
void cli_trust_explain_signer(cli_env *env, const cli_trust *trust, const uint8_t *signer);
/* Notes on who signed `what` ("the"; "the manifest's") that was read though nobody trusts them; of several files by one signer
 * it is said once. */
void cli_trust_note_signer(cli_env *env, const cli_trust *trust, const uint8_t *signer,
                           const char *what);
/* The same of a file, and on a revocation list of somebody else. */
void cli_trust_note(cli_env *env, const cli_trust *trust, const ald_info *info);

#endif
