/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/signers.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the trusted keys");
}

static ald_status join(const char *folder, const char *name, char **out, ald_error *err)
{
    return asprintf(out, "%s/%s", folder, name) < 0 ? no_memory(err) : ALD_OK;
}

ald_status cli_home_path(const char *name, char **out, ald_error *err)
{
    const char *own = getenv("ALIMENTAR_HOME");
    const char *home = getenv("HOME");
    char *folder = NULL;
    *out = NULL;
    if (own != NULL && own[0] != '\0') {
        return join(own, name, out, err);
    }
    if (home == NULL || home[0] == '\0') {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                             "neither HOME nor ALIMENTAR_HOME is set");
    }
    ald_status status = join(home, ".alimentar", &folder, err);
    if (status == ALD_OK) {
        status = join(folder, name, out, err);
    }
    free(folder);
    return status;
}

void signers_clear(signer_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].path);
    }
    free(list->items);
    memset(list, 0, sizeof(*list));
}

const known_signer *signers_find(const signer_list *list, const uint8_t key[ALD_KEY_BYTES])
{
    for (size_t i = 0; i < list->count; i++) {
        if (memcmp(list->items[i].key, key, ALD_KEY_BYTES) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

static ald_status add(signer_list *list, const char *path, const uint8_t key[ALD_KEY_BYTES],
                      ald_error *err)
{
    if (list->count == list->cap) {
        size_t cap = list->cap < 16 ? 16 : 2 * list->cap;
        known_signer *grown = realloc(list->items, cap * sizeof(*grown));
        if (grown == NULL) {
            return no_memory(err);
        }
        list->items = grown;
        list->cap = cap;
    }
    const char *slash = strrchr(path, '/');
    known_signer *s = &list->items[list->count];
    s->path = strdup(path);
    s->name = strdup(slash != NULL ? slash + 1 : path);
    if (s->path == NULL || s->name == NULL) {
        free(s->path);
        free(s->name);
        return no_memory(err);
    }
    char *dot = strrchr(s->name, '.');
    if (dot != NULL && dot != s->name && strcmp(dot, ".pub") == 0) {
        *dot = '\0';
    }
    memcpy(s->key, key, ALD_KEY_BYTES);
    list->count++;
    return ALD_OK;
}

static ald_status add_file(cli_env *env, const char *path, signer_list *list, ald_error *err)
{
    ald_keys *keys = NULL;
    size_t before = list->count;
    ald_status status = ald_keys_open(path, ALD_KEYS_PUBLIC, 0, NULL, &env->host, &keys, err);
    for (size_t i = 0; status == ALD_OK && i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        if (key->kind == ALD_KEY_SIGN) {
            status = add(list, path, key->public_key, err);
        }
    }
    if (status == ALD_OK && list->count == before) {
        status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                               "'%s' has no key to sign with (Ed25519)", path);
    }
    ald_keys_free(keys);
    return status;
}

static int is_key_name(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && dot != entry->d_name &&
           (strcmp(dot, ".pub") == 0 || strcmp(dot, ".pem") == 0);
}

/* In the order of the names. `is_store`: what is no key file is passed over. */
static ald_status add_folder(cli_env *env, const char *folder, int is_store, signer_list *list,
                             ald_error *err)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_key_name, alphasort);
    ald_status status = ALD_OK;
    if (count < 0) {
        int number = errno;
        status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read the folder '%s': %s",
                               folder, strerror(number));
        err->detail = number;
    }
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (status == ALD_OK) {
            status = join(folder, entries[i]->d_name, &path, err);
        }
        if (status == ALD_OK) {
            status = add_file(env, path, list, err);
        }
        if (is_store && status != ALD_OK && status != ALD_E_NOMEM) {
            cli_note(env, "the trust store's '%s' is left out: %.*s", path,
                     (int)strcspn(err->msg, "\n"), err->msg);
            status = ALD_OK;
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

ald_status signers_add(cli_env *env, const char *path, signer_list *list, ald_error *err)
{
    struct stat info;
    size_t before = list->count;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return add_file(env, path, list, err);
    }
    ald_status status = add_folder(env, path, 0, list, err);
    if (status == ALD_OK && list->count == before) {
        cli_hint(env, "keys are the files *.pub and *.pem of a folder");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the folder '%s' has no keys",
                               path);
    }
    return status;
}

ald_status signers_add_store(cli_env *env, signer_list *list, ald_error *err)
{
    char *folder = NULL;
    struct stat info;
    if (cli_home_path("trusted", &folder, err) == ALD_E_NOMEM) {
        return ALD_E_NOMEM;
    }
    ald_status status = ALD_OK;
    if (folder != NULL && stat(folder, &info) == 0) {
        status = add_folder(env, folder, 1, list, err);
    }
    free(folder);
    return status;
}
