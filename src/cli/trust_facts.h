/* SPDX-License-Identifier: MIT */
/* Whom a .ald is for, who signed it, what its license says, and what of it is protected by what. Nothing is proved here. */
#ifndef CLI_TRUST_FACTS_H
#define CLI_TRUST_FACTS_H

#include "ald/reader.h"
#include "cli/cli.h"
#include "cli/json_print.h"

/* What whoever changes a part would have to break. */
#define PROTECTED_BY_SIGNATURE 1u
#define PROTECTED_BY_ENCRYPTION 2u

typedef struct trust_protection {
    uint8_t metadata, schema, rows, license; /* bits of the above */
} trust_protection;

trust_protection trust_facts_protection(const ald_info *info);

/* "1234abcd:5678ef00": how the key's fingerprint begins. */
#define RECIPIENT_NAME_BYTES 18
void trust_facts_recipient(const uint8_t hash[8], char out[RECIPIENT_NAME_BYTES]);

/* Argon2id's "m" (KiB), "t" or "p", where the file says it. */
uint64_t trust_facts_kdf(const ald_info *info, const char *name, uint64_t otherwise);

/* Whether the signature covers the license; whether the file has a seal. */
int trust_facts_is_bound(const ald_info *info);
int trust_facts_is_sealed(const ald_info *info);
/* What was decided on `seen`, when nothing had been checked, has to hold for what was checked: who signed it, for whom it is
 * encrypted, what it is licensed for. ALD_E_IO when it does not. */
ALD_NODISCARD ald_status trust_facts_compare(const ald_info *seen, const ald_info *checked,
                                             ald_error *err);
/* Whether two files are protected alike: the same signer, recipients (or a password each) and license. */
int trust_facts_is_alike(const ald_info *a, const ald_info *b);
/* Whether the license has expired by the host's clock. */
int trust_facts_has_expired(const cli_env *env, const ald_license *license);

/* Members of one JSON object that is open; lines of `name value`. */
void trust_facts_json(json_print *j, cli_env *env, const ald_info *info);
void trust_facts_text(cli_env *env, const ald_info *info);
/* "license": {…} */
void trust_facts_license_json(json_print *j, const cli_env *env, const ald_info *info);
/* What is secret and what could be changed unseen, in sentences. */
void trust_facts_sentences(const ald_info *info);

#endif
