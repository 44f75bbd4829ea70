/* SPDX-License-Identifier: MIT */
/* A file names its recipients by 8 bytes of a hash; to wrap its key for them again takes their public keys, so those who
 * stay have to be given. Nobody is dropped because a key was forgotten. */
#include "cli/recipients.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/crypto.h"
#include "cli/trust_facts.h"

#define NAME_BYTES 8u
#define RECIPIENTS_MAX 1024u

typedef enum known_kind { KNOWN_OWN, KNOWN_STAY, KNOWN_ADD, KNOWN_REMOVE } known_kind;

typedef struct known_recipient {
    uint8_t key[ALD_KEY_BYTES];
    uint8_t name[NAME_BYTES];
    known_kind kind;
    const char *argument; /* NULL: of a private key */
    int is_used;
} known_recipient;

typedef struct recipient_list {
    rewriting *r;
    known_recipient *items;
    size_t count, capacity;
} recipient_list;

static ald_status name_key(cli_env *env, known_recipient *k, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES];
    void *state = NULL;
    ald_status status = env->host.crypto->sha256_new(&env->host.alloc, &state, err);
    if (status == ALD_OK) {
        env->host.crypto->sha256_update(state, k->key, sizeof(k->key));
        env->host.crypto->sha256_finish(state, digest);
        memcpy(k->name, digest, NAME_BYTES);
    }
    return status;
}

static known_recipient *find_name(const recipient_list *list, const uint8_t *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (memcmp(list->items[i].name, name, NAME_BYTES) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

/* A name in place of a key: whoever lost a public key can still be removed. */
static int is_name_in_file(const ald_info *info, const char *argument, uint8_t *name)
{
    char text[RECIPIENT_NAME_BYTES];
    for (uint32_t i = 0; i < info->recipient_count; i++) {
        trust_facts_recipient(info->recipient_hashes + NAME_BYTES * i, text);
        if (strcmp(text, argument) == 0) {
            memcpy(name, info->recipient_hashes + NAME_BYTES * i, NAME_BYTES);
            return 1;
        }
    }
    return 0;
}

static ald_status add_known(recipient_list *list, known_kind kind, const char *argument,
                            const uint8_t *key, ald_error *err)
{
    cli_env *env = list->r->env;
    known_recipient *k = &list->items[list->count];
    ald_status status = ALD_OK;
    memset(k, 0, sizeof(*k));
    k->kind = kind;
    k->argument = argument;
    if (kind == KNOWN_REMOVE && access(argument, F_OK) != 0 &&
        is_name_in_file(list->r->info, argument, k->name)) {
        list->count++;
        return ALD_OK;
    }
    if (key != NULL) {
        memcpy(k->key, key, ALD_KEY_BYTES);
    } else {
        status = cli_receiver_public(env, argument, k->key, err);
    }
    if (status == ALD_OK) {
        status = name_key(env, k, err);
    }
    const known_recipient *other = status == ALD_OK ? find_name(list, k->name) : NULL;
    if (other == NULL) {
        list->count += status == ALD_OK;
        return status;
    }
    if (other->argument == NULL && kind == KNOWN_STAY) {
        return ALD_OK; /* one's own key, said twice */
    }
    if (other->argument == NULL && kind == KNOWN_REMOVE) {
        list->items[other - list->items] = *k;
        return ALD_OK;
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "'%s' and '%s' are the same key",
                         other->argument != NULL ? other->argument : "the private key", argument);
}

static ald_status add_files(recipient_list *list, known_kind kind, const opt_list *files,
                            ald_error *err)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < files->count; i++) {
        status = add_known(list, kind, files->items[i], NULL, err);
    }
    return status;
}

static ald_status add_own(recipient_list *list, ald_error *err)
{
    const ald_trust *trust = &list->r->in.trust.trust;
    const ald_crypto *crypto = list->r->env->host.crypto;
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < trust->private_count; i++) {
        uint8_t key[ALD_KEY_BYTES];
        status = crypto->x25519_public(trust->private_keys + i * ALD_KEY_BYTES, key, err);
        if (status == ALD_OK) {
            status = add_known(list, KNOWN_OWN, NULL, key, err);
        }
    }
    return status;
}

static ald_status missing_recipient(recipient_list *list, const uint8_t *name, ald_error *err)
{
    char text[RECIPIENT_NAME_BYTES];
    trust_facts_recipient(name, text);
    cli_hint(
        list->r->env,
        "--recipient FILE.pub gives the key of somebody who stays, --remove-recipient FILE.pub "
        "(or --remove-recipient %s) removes them",
        text);
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the public key of the recipient %s is needed", text);
}

/* Those of the file that stay, in its order. */
static ald_status keep_old(recipient_list *list, uint8_t *keys, size_t *count, ald_error *err)
{
    const ald_info *info = list->r->info;
    for (uint32_t i = 0; i < info->recipient_count; i++) {
        const uint8_t *name = info->recipient_hashes + NAME_BYTES * i;
        known_recipient *k = find_name(list, name);
        if (k == NULL) {
            return missing_recipient(list, name, err);
        }
        if (k->kind == KNOWN_ADD) {
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "--add-recipient: '%s' is a recipient already", k->argument);
        }
        if (k->kind != KNOWN_REMOVE && !k->is_used) {
            memcpy(keys + ALD_KEY_BYTES * (*count)++, k->key, ALD_KEY_BYTES);
        }
        k->is_used = 1;
    }
    return ALD_OK;
}

static ald_status add_new(recipient_list *list, uint8_t *keys, size_t *count, ald_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        known_recipient *k = &list->items[i];
        if (k->kind == KNOWN_ADD) {
            memcpy(keys + ALD_KEY_BYTES * (*count)++, k->key, ALD_KEY_BYTES);
        } else if (!k->is_used && k->kind != KNOWN_OWN) {
            cli_hint(list->r->env,
                     "`alimentar info` shows the recipients; --add-recipient adds one");
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "'%s' is no recipient of the file", k->argument);
        }
    }
    if (*count == 0 || *count > RECIPIENTS_MAX) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             *count == 0 ? "nobody could read the file any more"
                                         : "more than 1,024 recipients");
    }
    return ALD_OK;
}

static ald_status check_file(rewriting *r, ald_error *err)
{
    if (r->info->encryption_mode < 1) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             r->info->encryption_mode < 0
                                 ? "the file is not encrypted"
                                 : "the file is encrypted with a password; it has no recipients");
    }
    if (r->info->recipient_hashes == NULL) {
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "the file does not say who its recipient is\nencrypt it anew: "
                             "alimentar encrypt FILE --private-key KEY --recipient ...");
    }
    return ALD_OK;
}

ald_status cli_recipients_change(rewriting *r, const recipient_change *change, ald_error *err)
{
    recipient_list list = {r, NULL, 0, 0};
    ald_status status = check_file(r, err);
    if (status != ALD_OK) {
        return status;
    }
    list.capacity = change->stay->count + change->add->count + change->remove->count +
                    r->in.trust.trust.private_count;
    size_t most = r->info->recipient_count + change->add->count;
    list.items = calloc(list.capacity + 1, sizeof(*list.items));
    r->protection.recipients = calloc(most + 1, ALD_KEY_BYTES);
    if (list.items == NULL || r->protection.recipients == NULL) {
        free(list.items);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for public keys");
    }
    status = add_own(&list, err);
    if (status == ALD_OK) {
        status = add_files(&list, KNOWN_STAY, change->stay, err);
    }
    if (status == ALD_OK) {
        status = add_files(&list, KNOWN_REMOVE, change->remove, err);
    }
    if (status == ALD_OK) {
        status = add_files(&list, KNOWN_ADD, change->add, err);
    }
    ald_protection *p = &r->protection.protection;
    if (status == ALD_OK) {
        status = keep_old(&list, r->protection.recipients, &p->recipient_count, err);
    }
    if (status == ALD_OK) {
        status = add_new(&list, r->protection.recipients, &p->recipient_count, err);
    }
    free(list.items);
    p->recipients = r->protection.recipients;
    p->encryption = ALD_ENCRYPTION_SEVERAL;
    r->options.encrypting = ALD_ENCRYPTING_RECIPIENTS;
    return status;
}
