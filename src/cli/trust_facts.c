/* SPDX-License-Identifier: MIT */
#include "cli/trust_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "cli/ald_facts.h"
#include "cli/license_options.h"
#include "cli/signers.h"

static const struct {
    uint8_t flag;
    const char *name;
} license_flags[] = {
    {ALD_LICENSE_SEATS_ENFORCED, "seats enforced"},
    {ALD_LICENSE_EXPIRATION_ENFORCED, "expiration enforced"},
    {ALD_LICENSE_QUERY_LIMITED, "queries limited"},
    {ALD_LICENSE_WATERMARKED, "watermarked"},
    {ALD_LICENSE_REVOCABLE, "revocable"},
    {ALD_LICENSE_TRANSFERABLE, "transferable"},
};
#define LICENSE_FLAG_COUNT (sizeof(license_flags) / sizeof(license_flags[0]))

static const ald_value *fact(const ald_info *info, const char *name)
{
    return info->facts != NULL ? ald_value_find(info->facts, name) : NULL;
}

int trust_facts_is_bound(const ald_info *info)
{
    return info->license != NULL && info->signer_public_key != NULL &&
           fact(info, "license_sha256") != NULL;
}

int trust_facts_is_sealed(const ald_info *info)
{
    return fact(info, "seal") != NULL;
}

static int is_same(const void *a, const void *b, size_t size)
{
    return a == NULL || b == NULL ? a == b : memcmp(a, b, size) == 0;
}

static int is_same_license(const ald_license *a, const ald_license *b)
{
    return a == NULL || b == NULL ? a == b
                                  : a->flags == b->flags && memcmp(a->license_id, b->license_id,
                                                                   sizeof(a->license_id)) == 0;
}

int trust_facts_is_alike(const ald_info *a, const ald_info *b)
{
    return a->encryption_mode == b->encryption_mode && a->recipient_count == b->recipient_count &&
           is_same(a->recipient_hashes, b->recipient_hashes, 8 * (size_t)a->recipient_count) &&
           is_same(a->signer_public_key, b->signer_public_key, ALD_KEY_BYTES) &&
           is_same_license(a->license, b->license) &&
           trust_facts_is_bound(a) == trust_facts_is_bound(b);
}

ald_status trust_facts_compare(const ald_info *seen, const ald_info *checked, ald_error *err)
{
    if (seen->flags == checked->flags && trust_facts_is_alike(seen, checked)) {
        return ALD_OK;
    }
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the file changed while it was read");
}

int trust_facts_has_expired(const cli_env *env, const ald_license *license)
{
    int64_t now = env->host.now(env->host.ctx);
    return (license->flags & ALD_LICENSE_EXPIRATION_ENFORCED) != 0 && license->expires_at != 0 &&
           now >= 0 && (uint64_t)now > license->expires_at;
}

void trust_facts_recipient(const uint8_t hash[8], char out[RECIPIENT_NAME_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < 8; i++) {
        used += (size_t)snprintf(out + used, RECIPIENT_NAME_BYTES - used, "%s%02x",
                                 i == 4 ? ":" : "", hash[i]);
    }
}

trust_protection trust_facts_protection(const ald_info *info)
{
    uint8_t by_signature = info->signer_public_key != NULL ? PROTECTED_BY_SIGNATURE : 0;
    uint8_t by_encryption = info->encryption_mode >= 0 ? PROTECTED_BY_ENCRYPTION : 0;
    /* Files before version 1.3 do not bind the schema to the ciphertext. */
    uint8_t by_binding = info->version_minor >= 3 ? by_encryption : 0;
    trust_protection p;
    p.metadata = by_signature;
    p.schema = by_signature | by_binding;
    p.rows = by_signature | by_encryption;
    p.license = trust_facts_is_bound(info) ? PROTECTED_BY_SIGNATURE : 0;
    return p;
}

/* The signer's name in the trust store, in `name`; 0: not there. */
static int signer_is_trusted(cli_env *env, const ald_info *info, char *name, size_t size)
{
    signer_list store = {0};
    ald_error err;
    const known_signer *found = NULL;
    if (signers_add_store(env, &store, &err) == ALD_OK) {
        found = signers_find(&store, info->signer_public_key);
    }
    if (found != NULL) {
        snprintf(name, size, "%s", found->name);
    }
    signers_clear(&store);
    return found != NULL;
}

uint64_t trust_facts_kdf(const ald_info *info, const char *name, uint64_t otherwise)
{
    const ald_value *kdf = fact(info, "kdf");
    const ald_value *value = kdf != NULL ? ald_value_find(kdf, name) : NULL;
    return value != NULL && ald_value_get_type(value) == ALD_VALUE_UINT ? ald_value_get_uint(value)
                                                                        : otherwise;
}

/* ---- JSON */

static void recipients_json(json_print *j, const ald_info *info)
{
    json_text(j, "encryption", ald_facts_encryption(info));
    json_uint(j, "recipient_count", info->recipient_count);
    json_open(j, "recipients", '[');
    for (uint32_t i = 0; info->recipient_hashes != NULL && i < info->recipient_count; i++) {
        char name[RECIPIENT_NAME_BYTES];
        trust_facts_recipient(info->recipient_hashes + 8 * (size_t)i, name);
        json_text(j, NULL, name);
    }
    json_close(j, ']');
    if (info->encryption_mode == 0) {
        json_open(j, "kdf", '{');
        json_text(j, "name", "argon2id");
        json_uint(j, "m_kib", trust_facts_kdf(info, "m", 19456));
        json_uint(j, "t", trust_facts_kdf(info, "t", 2));
        json_uint(j, "p", trust_facts_kdf(info, "p", 1));
        json_close(j, '}');
    } else {
        json_null(j, "kdf");
    }
    json_bool(j, "key_commitment", info->encryption_mode >= 0 && fact(info, "key_commit") != NULL);
}

static void signer_json(json_print *j, cli_env *env, const ald_info *info)
{
    char print[ALD_FINGERPRINT_BYTES];
    char name[256];
    if (info->signer_public_key == NULL) {
        json_null(j, "signer");
        json_null(j, "signer_fingerprint");
        json_null(j, "signer_name");
        json_bool(j, "signer_trusted", 0);
    } else {
        int has_print =
            ald_key_fingerprint(info->signer_public_key, &env->host, print, NULL) == ALD_OK;
        int trusted = signer_is_trusted(env, info, name, sizeof(name));
        json_hex(j, "signer", info->signer_public_key, 32);
        json_text(j, "signer_fingerprint", has_print ? print : NULL);
        json_text(j, "signer_name", trusted ? name : NULL);
        json_bool(j, "signer_trusted", trusted);
        json_bool(j, "signature_checked", 0); /* trusted or not, it may be forged */
    }
    json_bool(j, "sealed", trust_facts_is_sealed(info));
}

void trust_facts_license_json(json_print *j, const cli_env *env, const ald_info *info)
{
    const ald_license *license = info->license;
    char when[64];
    char id[LICENSE_ID_TEXT_BYTES];
    if (license == NULL) {
        json_null(j, "license");
        return;
    }
    json_open(j, "license", '{');
    cli_license_id_text(license->license_id, id);
    json_text(j, "license_id", id);
    json_hex(j, "licensee_hash", license->licensee_hash, sizeof(license->licensee_hash));
    json_text(j, "issued_at", ald_facts_time(license->issued_at, when, sizeof(when)));
    json_text(j, "expires_at",
              license->expires_at == 0 ? NULL
                                       : ald_facts_time(license->expires_at, when, sizeof(when)));
    json_bool(j, "expired", trust_facts_has_expired(env, license));
    json_uint(j, "query_limit", license->query_limit);
    json_uint(j, "seat_limit", license->seat_limit);
    json_uint(j, "flags", license->flags);
    json_open(j, "flag_names", '[');
    for (size_t i = 0; i < LICENSE_FLAG_COUNT; i++) {
        if ((license->flags & license_flags[i].flag) != 0) {
            json_text(j, NULL, license_flags[i].name);
        }
    }
    json_close(j, ']');
    json_uint(j, "terms_size", license->terms_size);
    json_bytes(j, "terms", license->terms != NULL ? license->terms : "", license->terms_size);
    json_bool(j, "bound", trust_facts_is_bound(info));
    json_close(j, '}');
}

static void part_json(json_print *j, const char *name, uint8_t by)
{
    json_open(j, name, '[');
    if ((by & PROTECTED_BY_SIGNATURE) != 0) {
        json_text(j, NULL, "signature");
    }
    if ((by & PROTECTED_BY_ENCRYPTION) != 0) {
        json_text(j, NULL, "encryption");
    }
    json_close(j, ']');
}

static void protection_json(json_print *j, const ald_info *info)
{
    trust_protection p = trust_facts_protection(info);
    json_open(j, "protected_by", '{');
    part_json(j, "metadata", p.metadata);
    part_json(j, "schema", p.schema);
    part_json(j, "rows", p.rows);
    if (info->license != NULL) {
        part_json(j, "license", p.license);
    }
    json_close(j, '}');
}

void trust_facts_json(json_print *j, cli_env *env, const ald_info *info)
{
    recipients_json(j, info);
    signer_json(j, env, info);
    trust_facts_license_json(j, env, info);
    protection_json(j, info);
}

/* ---- text */

static void encryption_text(const ald_info *info)
{
    char text[200];
    char name[RECIPIENT_NAME_BYTES];
    if (info->encryption_mode < 0) {
        return;
    }
    if (info->encryption_mode == 0) {
        snprintf(text, sizeof(text),
                 "with a password (Argon2id, %" PRIu64 " KiB, %" PRIu64 " passes)",
                 trust_facts_kdf(info, "m", 19456), trust_facts_kdf(info, "t", 2));
        ald_facts_line("encrypted", text);
        return;
    }
    snprintf(text, sizeof(text), "for %" PRIu32 " recipient%s", info->recipient_count,
             info->recipient_count == 1 ? "" : "s");
    ald_facts_line("encrypted", text);
    for (uint32_t i = 0; info->recipient_hashes != NULL && i < info->recipient_count; i++) {
        trust_facts_recipient(info->recipient_hashes + 8 * (size_t)i, name);
        ald_facts_line(i == 0 ? "recipients" : "", name);
    }
}

static void signer_text(cli_env *env, const ald_info *info)
{
    char text[400];
    char print[ALD_FINGERPRINT_BYTES];
    char name[256];
    if (info->signer_public_key == NULL ||
        ald_key_fingerprint(info->signer_public_key, &env->host, print, NULL) != ALD_OK) {
        return;
    }
    ald_facts_line("signed by", print);
    if (signer_is_trusted(env, info, name, sizeof(name))) {
        snprintf(text, sizeof(text), "as '%s', if the signature is right (verify checks it)", name);
        ald_facts_line("trusted", text);
    } else {
        ald_facts_line("trusted", "no, the trust store does not have the signer");
    }
    if (trust_facts_is_sealed(info)) {
        ald_facts_line("sealed", "each chunk can be checked alone");
    }
}

/* A number that its flag does not enforce is told of; "expiration enforced" stands beside the date. */
static size_t put_limit(char *text, size_t size, const char *comma, uint32_t limit,
                        const char *what, int is_enforced)
{
    if (limit == 0 && !is_enforced) {
        return 0;
    }
    return (size_t)snprintf(text, size, "%s%" PRIu32 " %s%s", comma, limit, what,
                            is_enforced ? "" : " (not enforced)");
}

static void license_limits(const ald_license *license, char *text, size_t size)
{
    const uint8_t shown =
        ALD_LICENSE_SEATS_ENFORCED | ALD_LICENSE_EXPIRATION_ENFORCED | ALD_LICENSE_QUERY_LIMITED;
    text[0] = '\0';
    size_t used =
        put_limit(text, size, "", license->seat_limit, license->seat_limit == 1 ? "seat" : "seats",
                  (license->flags & ALD_LICENSE_SEATS_ENFORCED) != 0);
    used += put_limit(text + used, size - used, used > 0 ? ", " : "", license->query_limit,
                      license->query_limit == 1 ? "query" : "queries",
                      (license->flags & ALD_LICENSE_QUERY_LIMITED) != 0);
    for (size_t i = 0; i < LICENSE_FLAG_COUNT; i++) {
        if ((license->flags & ~shown & license_flags[i].flag) != 0) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     license_flags[i].name);
        }
    }
}

static void license_text(const cli_env *env, const ald_info *info)
{
    const ald_license *license = info->license;
    char text[256];
    char id[LICENSE_ID_TEXT_BYTES];
    char from[64];
    char to[64];
    if (license == NULL) {
        return;
    }
    cli_license_id_text(license->license_id, id);
    ald_facts_line("licensed", id);
    int is_enforced = (license->flags & ALD_LICENSE_EXPIRATION_ENFORCED) != 0;
    snprintf(text, sizeof(text), "%s, expires %s%s",
             ald_facts_time(license->issued_at, from, sizeof(from)),
             ald_facts_time(license->expires_at, to, sizeof(to)),
             trust_facts_has_expired(env, license)      ? ": EXPIRED"
             : license->expires_at != 0 && !is_enforced ? " (not enforced)"
                                                        : "");
    ald_facts_line("  issued", text);
    license_limits(license, text, sizeof(text));
    if (text[0] != '\0') {
        ald_facts_line("  limits", text);
    }
    if (license->terms_size > 0) {
        snprintf(text, sizeof(text), "%zu bytes, printed by `alimentar license show`",
                 license->terms_size);
        ald_facts_line("  terms", text);
    }
}

void trust_facts_text(cli_env *env, const ald_info *info)
{
    encryption_text(info);
    signer_text(env, info);
    license_text(env, info);
}

/* "rows, schema", of the parts whose bits meet `by`, or of those with none when `by` is 0. */
static const char *parts(const ald_info *info, uint8_t by, char *buf, size_t size)
{
    trust_protection p = trust_facts_protection(info);
    const struct {
        const char *name;
        uint8_t by;
    } all[] = {{"rows", p.rows},
               {"schema", p.schema},
               {"metadata", p.metadata},
               {"license", info->license != NULL ? p.license : 0xFF}};
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int is_in = all[i].by != 0xFF && (by == 0 ? all[i].by == 0 : (all[i].by & by) != 0);
        if (is_in && used + 16 < size) {
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     all[i].name);
        }
    }
    return used > 0 ? buf : NULL;
}

void trust_facts_sentences(const ald_info *info)
{
    char text[80];
    if (info->encryption_mode >= 0) {
        cli_printf(
            "Secret: the rows. Readable by everyone: metadata, schema, numbers and sizes.\n");
    }
    if (parts(info, PROTECTED_BY_SIGNATURE, text, sizeof(text)) != NULL) {
        cli_printf("The signature protects: %s.\n", text);
    }
    if (parts(info, PROTECTED_BY_ENCRYPTION, text, sizeof(text)) != NULL) {
        cli_printf("The encryption protects: %s; it does not tell who made the file.\n", text);
    }
    if (parts(info, 0, text, sizeof(text)) != NULL) {
        cli_printf("Anyone can change, unnoticed: %s.\n", text);
    }
}
