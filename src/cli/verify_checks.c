/* SPDX-License-Identifier: MIT */
/* The library stops at the first check that fails. The order of its checks is fixed (F-320), so the error tells which have
 * passed and which were not reached. */
#include "cli/verify_checks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "cli/ald_facts.h"
#include "cli/escape.h"
#include "cli/trust_facts.h"

typedef enum step {
    STEP_STRUCTURE,
    STEP_CHECKSUM,
    STEP_SIGNER,
    STEP_SIGNATURE,
    STEP_SEAL,
    STEP_LICENSE,
    STEP_REVOCATION,
    STEP_EXPIRY,
    STEP_DECRYPTION,
    STEP_SHA256,
    STEP_PAYLOAD,
    STEP_COUNT
} step;

static const char *const step_names[STEP_COUNT] = {
    "structure",  "checksum", "signer",     "signature", "seal",   "license",
    "revocation", "expiry",   "decryption", "sha256",    "payload"};

void verify_add(verify_list *list, const char *name, const char *result, const char *why)
{
    verify_check *c = &list->items[list->count++];
    c->name = name;
    c->result = result;
    snprintf(c->why, sizeof(c->why), "%s", why);
}

/* ---- which check an error is of */

static int in_range(uint64_t offset, ald_range range)
{
    return offset >= range.begin && offset < range.end;
}

static step failed_signature(const ald_info *info, const ald_error *failure)
{
    if (in_range(failure->offset, info->sections.license)) {
        return STEP_LICENSE;
    }
    return in_range(failure->offset, info->sections.signature) ? STEP_SIGNATURE : STEP_SEAL;
}

static step failed_checksum(const ald_info *info, const ald_error *failure)
{
    if (strstr(failure->msg, "SHA-256") != NULL) {
        return STEP_SHA256;
    }
    return info == NULL || !in_range(failure->offset, info->sections.payload) ||
                   strstr(failure->msg, "CRC32 is") != NULL
               ? STEP_CHECKSUM
               : STEP_PAYLOAD;
}

/* What is wrong in the head is found when the head alone is read, too: then there is no info. */
static step failed_step(const ald_info *info, const ald_error *failure)
{
    switch ((ald_status)failure->status) {
    case ALD_E_OK:
        return STEP_COUNT;
    case ALD_E_CHECKSUM_MISMATCH:
        return failed_checksum(info, failure);
    case ALD_E_UNTRUSTED_SIGNER:
        return STEP_SIGNER;
    case ALD_E_SIGNATURE_INVALID:
        return info != NULL ? failed_signature(info, failure) : STEP_SIGNATURE;
    case ALD_E_LICENSE_REVOKED:
        return STEP_REVOCATION;
    case ALD_E_LICENSE_EXPIRED:
        return STEP_EXPIRY;
    case ALD_E_DECRYPTION_FAILED:
        return STEP_DECRYPTION;
    default:
        return info != NULL ? STEP_PAYLOAD : STEP_STRUCTURE;
    }
}

int verify_lacks_secret(const cli_trust *trust, const ald_info *info, ald_status status)
{
    if (status != ALD_E_DECRYPTION_FAILED || info->encryption_mode < 0) {
        return 0;
    }
    /* Files that no key opens: what makes the encryption safe is missing. */
    int has_commit = info->facts != NULL && ald_value_find(info->facts, "key_commit") != NULL;
    if (info->version_minor >= 3
            ? !has_commit
            : info->encryption_mode == 2 || (info->flags & ALD_FLAG_STREAMING) != 0) {
        return 0;
    }
    return info->encryption_mode == 0 ? trust->trust.password == NULL
                                      : trust->trust.private_count == 0;
}

/* ---- what is said of a check that passed, or that there was nothing to check for */

static void say_structure(const ald_info *info, char *why, size_t size)
{
    snprintf(why, size, "header, metadata and %" PRId64 " columns; the sections fill the file",
             info->schema != NULL ? info->schema->n_children : 0);
}

static const char *say_signer(cli_env *env, const cli_trust *trust, const ald_info *info, char *why,
                              size_t size)
{
    char print[ALD_FINGERPRINT_BYTES] = "";
    if (info->signer_public_key == NULL) {
        snprintf(why, size, "anyone may have made this file");
        return "absent";
    }
    const known_signer *known = signers_find(&trust->signers, info->signer_public_key);
    if (ald_key_fingerprint(info->signer_public_key, &env->host, print, NULL) != ALD_OK) {
        print[0] = '\0';
    }
    if (known == NULL) {
        snprintf(why, size, "nobody here trusts %s", print);
        return "unchecked";
    }
    snprintf(why, size, "'%.80s', %s", known->name, print);
    return "ok";
}

static const char *say_signature(const ald_info *info, char *why, size_t size)
{
    int is_signed = info->signer_public_key != NULL;
    snprintf(why, size, "%s",
             is_signed ? "of everything up to it: head, metadata, schema and payload"
                       : "the file is not signed");
    return is_signed ? "ok" : "absent";
}

static const char *say_seal(const ald_info *info, char *why, size_t size)
{
    int is_sealed = trust_facts_is_sealed(info);
    snprintf(why, size, "%s",
             is_sealed ? "the signer's hashes of the chunks"
                       : "chunks cannot be trusted one by one");
    return is_sealed ? "ok" : "absent";
}

static const char *say_license(const ald_info *info, char *why, size_t size)
{
    if (info->license == NULL) {
        snprintf(why, size, "none is needed");
        return "absent";
    }
    snprintf(why, size, "%s",
             trust_facts_is_bound(info) ? "bound by the signature"
                                        : "no signature covers it: anyone may have written it");
    return trust_facts_is_bound(info) ? "ok" : "unchecked";
}

static const char *say_revocation(const cli_trust *trust, const ald_info *info, char *why,
                                  size_t size)
{
    if (info->license == NULL || (info->license->flags & ALD_LICENSE_REVOCABLE) == 0) {
        snprintf(why, size, "nothing that could be revoked");
        return "absent";
    }
    const ald_revocations *list = trust->trust.revocations;
    int counts = list != NULL && info->signer_public_key != NULL &&
                 memcmp(list->signer, info->signer_public_key, sizeof(list->signer)) == 0;
    snprintf(why, size, "%s",
             list == NULL ? "no list of revoked licenses was given"
             : counts     ? "not on the list"
                          : "the list is signed with another key than the file");
    return counts ? "ok" : "unchecked";
}

static const char *say_expiry(const cli_trust *trust, const ald_info *info, char *why, size_t size)
{
    const ald_license *license = info->license;
    char when[64];
    if (license == NULL || (license->flags & ALD_LICENSE_EXPIRATION_ENFORCED) == 0 ||
        license->expires_at == 0) {
        snprintf(why, size, "never");
        return "absent";
    }
    snprintf(why, size, "%s%s", ald_facts_time(license->expires_at, when, sizeof(when)),
             trust->ignore_expiry ? "; --ignore-expiry was given" : "");
    return trust->ignore_expiry ? "unchecked" : "ok";
}

static const char *say_decryption(const ald_info *info, char *why, size_t size)
{
    snprintf(why, size, "%s",
             info->encryption_mode < 0    ? "the file is not encrypted"
             : info->encryption_mode == 0 ? "the password is right"
                                          : "one of the private keys opens it");
    return info->encryption_mode < 0 ? "absent" : "ok";
}

static const char *say_sha256(const ald_info *info, char *why, size_t size)
{
    int has_sha256 = ald_value_find(info->metadata, "sha256") != NULL;
    snprintf(why, size, "%s",
             has_sha256 ? "SHA-256 of the uncompressed payload" : "the metadata have none");
    return has_sha256 ? "ok" : "absent";
}

static const char *say(cli_env *env, step which, const cli_trust *trust, const ald_info *info,
                       char *why, size_t size)
{
    switch (which) {
    case STEP_STRUCTURE:
        say_structure(info, why, size);
        return "ok";
    case STEP_CHECKSUM:
        snprintf(why, size, "%s",
                 info->crc32_variant == ALD_CRC32_CRATE
                     ? "the deviating CRC32 of the Rust crate alimentar (0.1 to 0.4)"
                     : "CRC32");
        return "ok";
    case STEP_SIGNER:
        return say_signer(env, trust, info, why, size);
    case STEP_SIGNATURE:
        return say_signature(info, why, size);
    case STEP_SEAL:
        return say_seal(info, why, size);
    case STEP_LICENSE:
        return say_license(info, why, size);
    case STEP_REVOCATION:
        return say_revocation(trust, info, why, size);
    case STEP_EXPIRY:
        return say_expiry(trust, info, why, size);
    case STEP_DECRYPTION:
        return say_decryption(info, why, size);
    case STEP_SHA256:
        return say_sha256(info, why, size);
    default:
        snprintf(why, size, "%" PRIu64 " rows, %" PRIu64 " bytes: every offset, index and text",
                 info->num_rows, info->uncompressed_size);
        return "ok";
    }
}

/* ---- */

/* The checks before `failed` have passed, those behind it were not reached. */
static void list_with_info(cli_env *env, verify_list *list, const cli_trust *trust,
                           const ald_info *info, const ald_error *failure, step failed)
{
    char why[240];
    int lacks = verify_lacks_secret(trust, info, (ald_status)failure->status);
    for (int i = 0; i < STEP_COUNT; i++) {
        const char *result = say(env, (step)i, trust, info, why, sizeof(why));
        if (i == (int)failed && lacks) {
            result = "unchecked";
            snprintf(why, sizeof(why), "it is encrypted, and no %s was given",
                     info->encryption_mode == 0 ? "password" : "private key");
        } else if (i == (int)failed) {
            result = "failed";
            snprintf(why, sizeof(why), "%.*s", (int)strcspn(failure->msg, "\n"), failure->msg);
        } else if (i > (int)failed && strcmp(result, "absent") != 0) {
            result = "unchecked";
            snprintf(why, sizeof(why), "not reached");
        }
        verify_add(list, step_names[i], result, why);
    }
}

void verify_list_checks(cli_env *env, verify_list *list, const cli_trust *trust,
                        const ald_info *info, const ald_error *failure)
{
    static const ald_error none = {0};
    const ald_error *why = failure != NULL ? failure : &none;
    step failed = failed_step(info, why);
    if (info != NULL) {
        list_with_info(env, list, trust, info, why, failed);
        return;
    }
    char text[240];
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(why->msg, "\n"), why->msg);
    verify_add(list, step_names[failed], "failed", text);
}

/* What only some files have is not missed in the others. */
static int is_beside_the_point(const verify_check *c)
{
    static const int rare[] = {STEP_SIGNATURE, STEP_SEAL, STEP_REVOCATION, STEP_EXPIRY};
    for (size_t i = 0; i < sizeof(rare) / sizeof(rare[0]); i++) {
        if (c->name == step_names[rare[i]] && strcmp(c->result, "absent") == 0) {
            return 1;
        }
    }
    return 0;
}

void verify_print(const verify_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const verify_check *c = &list->items[i];
        char why[2 * sizeof(c->why)];
        if (is_beside_the_point(c)) {
            continue;
        }
        cli_escape(why, sizeof(why), c->why, strlen(c->why));
        cli_printf("%-9s  %-10s  %s\n", c->result, c->name, why);
    }
}

void verify_json(json_print *j, const verify_list *list)
{
    json_open(j, "checks", '[');
    for (size_t i = 0; i < list->count; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", list->items[i].name);
        json_text(j, "result", list->items[i].result);
        json_text(j, "why", list->items[i].why);
        json_close(j, '}');
    }
    json_close(j, ']');
}
