/* SPDX-License-Identifier: MIT */
/* In the file a recipient is a name of 8 bytes; to encrypt for them again takes their public key. It comes from --recipient,
 * or from a private key that the input is read with. */
#include "cli/keep_trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "cli/file_format.h"
#include "cli/license_options.h"
#include "cli/trust_facts.h"

#define AT(member) .offset = offsetof(keep_options, member), .scope = SCOPE_ALD_OUT
static const opt_spec keep_specs[] = {
    {.name = "recipient",
     .arg = "FILE",
     .kind = OPT_LIST,
     AT(recipients),
     .help =
         "the public key of one of the input's recipients, for whom the output is encrypted "
         "again. May be repeated. A private key that the input is read with stands for its own"},
    {.name = "plain",
     .kind = OPT_FLAG,
     AT(plain),
     .help = "the input is encrypted, the .ald that is written is not"},
};
const opt_group cli_group_keep = OPT_GROUP("Encryption of the output", keep_specs);

/* ---- checks without secrets */

static ald_status check_encryption(cli_env *env, const keep_options *options, const ald_info *info,
                                   ald_error *err)
{
    if (options->plain && options->recipients.count > 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--plain and --recipient exclude each other");
    }
    if (options->recipients.count > 0 && (info == NULL || info->encryption_mode < 1)) {
        cli_hint(env, "`alimentar encrypt` encrypts a file; --recipient here only keeps the "
                      "recipients that the input has");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the input is not encrypted for recipients");
    }
    return ALD_OK;
}

ald_status cli_keep_check(cli_env *env, const keep_options *options, const ald_info *info,
                          ald_error *err)
{
    if (options->sign.key != NULL && options->sign.drop_signature) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--key and --drop-signature exclude each other");
    }
    if (info != NULL && info->signer_public_key != NULL && options->sign.key == NULL &&
        !options->sign.drop_signature) {
        cli_hint(env, "--key FILE signs the new file with your key; --drop-signature writes it "
                      "unsigned");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the input is signed, and its signature does not fit a changed file");
    }
    return check_encryption(env, options, info, err);
}

/* ---- recipients */

/* Public keys that may be those of recipients, with the names that files have for them. */
typedef struct candidate {
    uint8_t key[ALD_KEY_BYTES];
    char name[RECIPIENT_NAME_BYTES];
    const char *path; /* of --recipient; NULL: of a private key */
    uint8_t is_used;
} candidate;

typedef struct candidate_list {
    candidate *items;
    size_t count;
} candidate_list;

static ald_status add_candidate(cli_env *env, candidate_list *list,
                                const uint8_t key[ALD_KEY_BYTES], const char *path, ald_error *err)
{
    char print[ALD_FINGERPRINT_BYTES];
    ald_status status = ald_key_fingerprint(key, &env->host, print, err);
    if (status != ALD_OK) {
        return status;
    }
    candidate *grown = realloc(list->items, (list->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for recipients");
    }
    list->items = grown;
    candidate *c = &grown[list->count++];
    memcpy(c->key, key, ALD_KEY_BYTES);
    snprintf(c->name, sizeof(c->name), "%.*s", RECIPIENT_NAME_BYTES - 1, print);
    c->path = path;
    c->is_used = 0;
    return ALD_OK;
}

static ald_status add_public_file(cli_env *env, candidate_list *list, const char *path,
                                  ald_error *err)
{
    ald_keys *keys = NULL;
    const char *subject = env->subject;
    env->subject = path;
    ald_status status = ald_keys_open(path, ALD_KEYS_PUBLIC, 0, NULL, &env->host, &keys, err);
    if (status == ALD_OK && ald_keys_find(keys, ALD_KEY_RECEIVE) == NULL) {
        status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                               "it has no key to receive with (X25519)");
    }
    for (size_t i = 0; status == ALD_OK && i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        if (key->kind == ALD_KEY_RECEIVE) {
            status = add_candidate(env, list, key->public_key, path, err);
        }
    }
    env->subject = status == ALD_OK ? subject : path;
    ald_keys_free(keys);
    return status;
}

static ald_status gather(cli_env *env, const keep_options *options, const ald_trust *trust,
                         candidate_list *list, ald_error *err)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < options->recipients.count; i++) {
        status = add_public_file(env, list, options->recipients.items[i], err);
    }
    for (size_t i = 0; status == ALD_OK && i < trust->private_count; i++) {
        uint8_t key[ALD_KEY_BYTES];
        status = env->host.crypto->x25519_public(trust->private_keys + i * ALD_KEY_BYTES, key, err);
        if (status == ALD_OK) {
            status = add_candidate(env, list, key, NULL, err);
        }
    }
    return status;
}

static const candidate *find_candidate(candidate_list *list, const uint8_t hash[8])
{
    char name[RECIPIENT_NAME_BYTES];
    trust_facts_recipient(hash, name);
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0) {
            list->items[i].is_used = 1;
            return &list->items[i];
        }
    }
    return NULL;
}

static ald_status missing_recipients(cli_env *env, candidate_list *list, const ald_info *info,
                                     ald_error *err)
{
    char name[RECIPIENT_NAME_BYTES];
    size_t count = 0;
    cli_hint(env, "--recipient FILE.pub gives the public key of each: the file only names them, "
                  "and these are missing:");
    for (uint32_t i = 0; i < info->recipient_count; i++) {
        const uint8_t *hash = info->recipient_hashes + 8 * (size_t)i;
        if (find_candidate(list, hash) != NULL) {
            continue;
        }
        if (count++ < 8) {
            trust_facts_recipient(hash, name);
            cli_hint_add(env, count > 1 ? ", " : " ");
            cli_hint_add(env, name);
        }
    }
    cli_hint_add(env, count > 8 ? ", ...\n--plain writes the file unencrypted"
                                : "\n--plain writes the file unencrypted");
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the new file would be lost to %zu of its %u recipients", count,
                         (unsigned)info->recipient_count);
}

/* One that the file does not name is a mistake, or a wish that `encrypt` fulfils. */
static ald_status check_strangers(cli_env *env, const candidate_list *list, ald_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].path != NULL && !list->items[i].is_used) {
            cli_hint(env, "`alimentar encrypt --add-recipient` adds a recipient to a file");
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "'%s' is none of the input's recipients", list->items[i].path);
        }
    }
    return ALD_OK;
}

/* Whether one of the private keys is a recipient's: without one the input cannot be read, and reading it will say so. */
static int can_read(const candidate_list *list, const ald_info *info)
{
    for (size_t i = 0; i < list->count; i++) {
        for (uint32_t k = 0; list->items[i].path == NULL && k < info->recipient_count; k++) {
            char name[RECIPIENT_NAME_BYTES];
            trust_facts_recipient(info->recipient_hashes + 8 * (size_t)k, name);
            if (strcmp(list->items[i].name, name) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static ald_status choose(cli_env *env, candidate_list *list, const ald_info *info,
                         cli_protection *out, ald_error *err)
{
    out->recipients = malloc((size_t)info->recipient_count * ALD_KEY_BYTES);
    if (out->recipients == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for recipients");
    }
    for (uint32_t i = 0; i < info->recipient_count; i++) {
        const candidate *found = find_candidate(list, info->recipient_hashes + 8 * (size_t)i);
        if (found == NULL) {
            return missing_recipients(env, list, info, err);
        }
        memcpy(out->recipients + (size_t)i * ALD_KEY_BYTES, found->key, ALD_KEY_BYTES);
    }
    out->protection.recipients = out->recipients;
    out->protection.recipient_count = info->recipient_count;
    return check_strangers(env, list, err);
}

/* A file of the crate does not name its recipient: it can only be the one whose private key was given. */
static ald_status choose_unnamed(cli_env *env, const candidate_list *list, cli_protection *out,
                                 ald_error *err)
{
    if (list->count != 1) {
        cli_hint(env, "give the one private key that reads it, or one that reads it and --plain");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the input does not name its recipient, and several keys were given");
    }
    out->recipients = malloc(ALD_KEY_BYTES);
    if (out->recipients == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for recipients");
    }
    memcpy(out->recipients, list->items[0].key, ALD_KEY_BYTES);
    out->protection.recipients = out->recipients;
    out->protection.recipient_count = 1;
    return ALD_OK;
}

static ald_status keep_recipients(cli_env *env, const keep_options *options, const ald_info *info,
                                  const ald_trust *trust, cli_protection *out, ald_error *err)
{
    candidate_list list = {NULL, 0};
    ald_status status = gather(env, options, trust, &list, err);
    if (status == ALD_OK && trust->private_count > 0) {
        if (info->recipient_hashes == NULL) {
            status = choose_unnamed(env, &list, out, err);
        } else if (can_read(&list, info)) {
            status = choose(env, &list, info, out, err);
        }
    }
    free(list.items);
    return status;
}

/* ---- */

static void keep_password(const ald_info *info, const ald_trust *trust, ald_protection *protection)
{
    protection->encryption = ALD_ENCRYPTION_PASSWORD;
    protection->password = trust->password;
    protection->password_size = trust->password_size;
    uint64_t m = trust_facts_kdf(info, "m", 0);
    uint64_t t = trust_facts_kdf(info, "t", 0);
    /* A writer goes not below the default; what is beyond the limits is never read. */
    protection->kdf_m_kib = m >= 19456 && m <= UINT32_MAX ? (uint32_t)m : 0;
    protection->kdf_t = t >= 2 && t <= UINT32_MAX ? (uint32_t)t : 0;
}

void cli_keep_note_signer(cli_env *env, const ald_info *info)
{
    char print[ALD_FINGERPRINT_BYTES];
    if (info != NULL && info->signer_public_key != NULL &&
        ald_key_fingerprint(info->signer_public_key, &env->host, print, NULL) == ALD_OK) {
        cli_note(env, "--key replaces the signature of %s", print);
    }
}

void cli_keep_note_license(cli_env *env, const ald_info *info)
{
    char id[LICENSE_ID_TEXT_BYTES];
    if (info != NULL && info->license != NULL) {
        cli_license_id_text(info->license->license_id, id);
        cli_note(env, "the new license replaces %s", id);
    }
}

ald_status cli_keep_sign(cli_env *env, const keep_options *options,
                         const secret_options *key_passphrase, const ald_info *info,
                         cli_trust *trust, cli_protection *out, ald_error *err)
{
    uint8_t own[ALD_KEY_BYTES];
    ald_status status = cli_protection_sign(env, out, options->sign.key, key_passphrase, own, err);
    if (status == ALD_OK && options->sign.key != NULL && info != NULL &&
        info->signer_public_key != NULL && memcmp(own, info->signer_public_key, sizeof(own)) == 0) {
        trust->trust.allow_untrusted = 1;
        trust->is_own = 1;
    }
    return status;
}

ald_status cli_keep_open(cli_env *env, const keep_options *options,
                         const secret_options *key_passphrase, const ald_info *info,
                         cli_trust *trust, cli_protection *out, ald_error *err)
{
    ald_status status = cli_protection_open(out, err);
    if (status == ALD_OK && info != NULL) {
        out->protection.license = info->license;
    }
    if (status == ALD_OK && info != NULL && info->encryption_mode == 0 && !options->plain) {
        keep_password(info, &trust->trust, &out->protection);
    } else if (status == ALD_OK && info != NULL && info->encryption_mode > 0 && !options->plain) {
        out->protection.encryption =
            info->encryption_mode == 1 ? ALD_ENCRYPTION_RECIPIENT : ALD_ENCRYPTION_SEVERAL;
        status = keep_recipients(env, options, info, &trust->trust, out, err);
    }
    return status != ALD_OK ? status
                            : cli_keep_sign(env, options, key_passphrase, info, trust, out, err);
}
