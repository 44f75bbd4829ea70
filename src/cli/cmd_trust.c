/* SPDX-License-Identifier: MIT */
/* alimentar trust add | list | remove: the signers whose files are read without further options. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/escape.h"
#include "cli/json_print.h"
#include "cli/signers.h"

#define NAME_MAX_BYTES 100u

typedef struct trust_args {
    cli_common common;
    const char *in; /* a file, or a name */
    const char *name;
    uint8_t json;
} trust_args;

static ald_status io_failed(const char *what, const char *path, ald_error *err)
{
    int number = errno;
    ald_status status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot %s '%s': %s", what,
                                      path, strerror(number));
    err->detail = number;
    return status;
}

/* ---- add */

static ald_status check_name(cli_env *env, const char *name, ald_error *err)
{
    int fine = name[0] != '\0' && name[0] != '.' && strlen(name) <= NAME_MAX_BYTES;
    for (const char *s = name; fine && *s != '\0'; s++) {
        fine = *s != '/' && (unsigned char)*s >= ' ' && *s != 0x7F;
    }
    if (fine) {
        return ALD_OK;
    }
    cli_hint(env,
             "--name NAME gives another: 1 to %u bytes without a slash, not beginning with a "
             "dot",
             NAME_MAX_BYTES);
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "'%s' cannot name a signer", name);
}

/* "folder/alice.key.pub" is alice.key. *out is freed by the caller. */
static ald_status name_of(cli_env *env, const trust_args *args, char **out, ald_error *err)
{
    const char *slash = strrchr(args->in, '/');
    const char *name = args->name != NULL ? args->name : slash != NULL ? slash + 1 : args->in;
    *out = strdup(name);
    if (*out == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a name");
    }
    size_t size = strlen(*out);
    if (args->name == NULL && size > 4 &&
        (strcmp(*out + size - 4, ".pub") == 0 || strcmp(*out + size - 4, ".pem") == 0)) {
        (*out)[size - 4] = '\0';
    }
    return check_name(env, *out, err);
}

/* The store's folder and the one above; both for their owner alone. */
static ald_status make_store(char **out, ald_error *err)
{
    ald_status status = cli_home_path("trusted", out, err);
    if (status != ALD_OK) {
        return status;
    }
    char *slash = strrchr(*out, '/');
    *slash = '\0';
    int made = mkdir(*out, 0700) == 0 || errno == EEXIST;
    if (made) {
        *slash = '/';
        made = mkdir(*out, 0700) == 0 || errno == EEXIST;
    }
    return made ? ALD_OK : io_failed("make the folder", *out, err);
}

static ald_status print_signer(cli_env *env, const char *name, const uint8_t key[ALD_KEY_BYTES],
                               ald_error *err)
{
    char print[ALD_FINGERPRINT_BYTES];
    char text[256];
    ald_status status = ald_key_fingerprint(key, &env->host, print, err);
    if (status == ALD_OK) {
        cli_escape(text, sizeof(text), name, strlen(name));
        cli_printf("%s  %s\n", print, text);
    }
    return status;
}

static ald_status save(cli_env *env, const ald_keys *keys, const char *name, ald_error *err)
{
    char *folder = NULL;
    char *path = NULL;
    ald_status status = make_store(&folder, err);
    if (status == ALD_OK && asprintf(&path, "%s/%s.pub", folder, name) < 0) {
        path = NULL;
        status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a path");
    }
    if (status == ALD_OK) {
        status = ald_keys_save_public(keys, path, err);
        if (status == ALD_E_IO && err->detail == EEXIST) {
            cli_hint(env, "--name NAME gives another name; `alimentar trust remove` drops the old "
                          "signer");
            status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                   "another signer is named '%s' already", name);
        }
    }
    free(path);
    free(folder);
    return status;
}

/* Those of the keys to sign with that the store has already. */
static size_t count_known(const ald_keys *keys, const signer_list *store, size_t *signer_count,
                          const known_signer **known)
{
    size_t count = 0;
    *signer_count = 0;
    for (size_t i = 0; i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        const known_signer *found = NULL;
        if (key->kind == ALD_KEY_SIGN) {
            found = signers_find(store, key->public_key);
            (*signer_count)++;
        }
        if (found != NULL) {
            *known = found;
            count++;
        }
    }
    return count;
}

static ald_status add_keys(cli_env *env, const ald_keys *keys, const char *file, const char *name,
                           const signer_list *store, ald_error *err)
{
    const known_signer *known = NULL;
    size_t signer_count = 0;
    size_t known_count = count_known(keys, store, &signer_count, &known);
    if (signer_count == 0) {
        cli_hint(env, "only a key to sign with (Ed25519) can be trusted; `alimentar key show` says "
                      "what a file has");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "'%s' has no key to sign with",
                             file);
    }
    if (known_count == signer_count) {
        cli_note(env, "the key is trusted already, as '%s'", known->name);
        return print_signer(env, known->name, known->key, err);
    }
    ald_status status = save(env, keys, name, err);
    for (size_t i = 0; status == ALD_OK && i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        if (key->kind == ALD_KEY_SIGN) {
            status = print_signer(env, name, key->public_key, err);
        }
    }
    return status;
}

static ald_status run_add(cli_env *env, void *raw, ald_error *err)
{
    const trust_args *args = raw;
    ald_keys *keys = NULL;
    signer_list store = {0};
    char *name = NULL;
    ald_status status = name_of(env, args, &name, err);
    if (status == ALD_OK) {
        env->subject = args->in;
        status = ald_keys_open(args->in, ALD_KEYS_PUBLIC, 0, NULL, &env->host, &keys, err);
    }
    if (status == ALD_OK) {
        env->subject = NULL;
        status = signers_add_store(env, &store, err);
    }
    if (status == ALD_OK) {
        status = add_keys(env, keys, args->in, name, &store, err);
    }
    signers_clear(&store);
    ald_keys_free(keys);
    free(name);
    return status;
}

/* ---- list */

static ald_status print_json(cli_env *env, const signer_list *store, ald_error *err)
{
    json_print j = {0};
    json_open(&j, NULL, '[');
    for (size_t i = 0; i < store->count; i++) {
        const known_signer *s = &store->items[i];
        char print[ALD_FINGERPRINT_BYTES];
        ald_status status = ald_key_fingerprint(s->key, &env->host, print, err);
        if (status != ALD_OK) {
            return status;
        }
        json_open(&j, NULL, '{');
        json_text(&j, "name", s->name);
        json_text(&j, "fingerprint", print);
        json_hex(&j, "public_key", s->key, sizeof(s->key));
        json_text(&j, "file", s->path);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_end(&j);
    return ALD_OK;
}

static ald_status run_list(cli_env *env, void *raw, ald_error *err)
{
    const trust_args *args = raw;
    signer_list store = {0};
    ald_status status = signers_add_store(env, &store, err);
    if (status == ALD_OK && args->json) {
        status = print_json(env, &store, err);
    }
    for (size_t i = 0; status == ALD_OK && !args->json && i < store.count; i++) {
        status = print_signer(env, store.items[i].name, store.items[i].key, err);
    }
    if (status == ALD_OK && store.count == 0) {
        cli_note(env, "nobody is trusted; `alimentar trust add FILE.pub` adds a signer");
    }
    signers_clear(&store);
    return status;
}

/* ---- remove */

/* Whether `word` is the beginning of a fingerprint: 16 digits or more, with or without colons. */
static int is_fingerprint(const char *word, const char *print)
{
    size_t digits = 0;
    for (; *word != '\0'; word++) {
        if (*word == ':') {
            continue;
        }
        print += *print == ':';
        char lower = *word >= 'A' && *word <= 'F' ? (char)(*word + ('a' - 'A')) : *word;
        if (lower != *print++) {
            return 0;
        }
        digits++;
    }
    return digits >= 16;
}

static ald_status find_signer(cli_env *env, const signer_list *store, const char *word,
                              const known_signer **out, ald_error *err)
{
    char print[ALD_FINGERPRINT_BYTES];
    *out = NULL;
    for (size_t i = 0; i < store->count && *out == NULL; i++) {
        *out = strcmp(store->items[i].name, word) == 0 ? &store->items[i] : NULL;
    }
    for (size_t i = 0; i < store->count && *out == NULL; i++) {
        ald_status status = ald_key_fingerprint(store->items[i].key, &env->host, print, err);
        if (status != ALD_OK) {
            return status;
        }
        *out = is_fingerprint(word, print) ? &store->items[i] : NULL;
    }
    if (*out == NULL) {
        cli_hint(env, "`alimentar trust list` shows names and fingerprints, of which the first 16 "
                      "digits are needed");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "no trusted signer has this name or fingerprint: '%s'", word);
    }
    return ALD_OK;
}

/* A file may hold several keys: all of them are trusted no more. */
static ald_status remove_signer(cli_env *env, const signer_list *store, const known_signer *gone,
                                ald_error *err)
{
    ald_status status = unlink(gone->path) == 0 ? ALD_OK : io_failed("remove", gone->path, err);
    for (size_t i = 0; status == ALD_OK && i < store->count; i++) {
        if (strcmp(store->items[i].path, gone->path) == 0) {
            status = print_signer(env, store->items[i].name, store->items[i].key, err);
        }
    }
    for (size_t i = 0; status == ALD_OK && i < store->count; i++) {
        if (strcmp(store->items[i].path, gone->path) != 0 &&
            memcmp(store->items[i].key, gone->key, ALD_KEY_BYTES) == 0) {
            cli_note(env, "the same key stays trusted as '%s'", store->items[i].name);
        }
    }
    return status;
}

static ald_status run_remove(cli_env *env, void *raw, ald_error *err)
{
    const trust_args *args = raw;
    signer_list store = {0};
    const known_signer *gone = NULL;
    ald_status status = signers_add_store(env, &store, err);
    if (status == ALD_OK) {
        status = find_signer(env, &store, args->in, &gone, err);
    }
    if (status == ALD_OK) {
        status = remove_signer(env, &store, gone, err);
    }
    signers_clear(&store);
    return status;
}

/* ---- rows */

static const opt_operand add_operands[] = {
    {"FILE", "the signer's public key", offsetof(trust_args, in), 0},
    {0},
};
static const opt_operand list_operands[] = {{0}};
static const opt_operand remove_operands[] = {
    {"NAME", "its name, or its fingerprint (at least the first 16 digits)",
     offsetof(trust_args, in), 0},
    {0},
};

static const opt_spec add_specs[] = {
    {.name = "name",
     .arg = "NAME",
     .kind = OPT_TEXT,
     .offset = offsetof(trust_args, name),
     .help = "what to call the signer; default: the file's name without .pub"},
};
static const opt_group group_add = OPT_GROUP("Signer", add_specs);

static const opt_spec list_specs[] = {
    {.name = "json", .kind = OPT_FLAG, .offset = offsetof(trust_args, json), .help = "as JSON"},
};
static const opt_group group_list = OPT_GROUP("Output", list_specs);

static const opt_use add_options[] = {{&group_add, 0}, {&cli_group_common, 0}, {0}};
static const opt_use list_options[] = {{&group_list, 0}, {&cli_group_common, 0}, {0}};
static const opt_use remove_options[] = {{&cli_group_common, 0}, {0}};

static const char *const add_examples[] = {
    "trust what Alice signs, after the fingerprint was compared with her",
    "alimentar trust add alice.key.pub --name alice",
    NULL,
};
static const char *const list_examples[] = {
    "whom this machine's user trusts",
    "alimentar trust list",
    NULL,
};
static const char *const remove_examples[] = {
    "trust her no more",
    "alimentar trust remove alice",
    NULL,
};

const cli_command cli_cmd_trust_add = {
    .verb = "trust add",
    .brief = "trust a signer: add a public key to the trust store",
    .details =
        "The trust store is the folder ~/.alimentar/trusted, or trusted in the folder that "
        "ALIMENTAR_HOME names. Every command that reads a signed .ald takes its signers from "
        "there, unless --trusted-keys names others. The fingerprint is printed: compare it with "
        "the signer's, over another way than the key came.",
    .examples = add_examples,
    .operands = add_operands,
    .options = add_options,
    .args_size = sizeof(trust_args),
    .run = run_add,
};

const cli_command cli_cmd_trust_list = {
    .verb = "trust list",
    .brief = "print the trusted signers: fingerprint and name",
    .details = "A file in the trust store that is no public key is left out, with a note.",
    .examples = list_examples,
    .operands = list_operands,
    .options = list_options,
    .args_size = sizeof(trust_args),
    .run = run_list,
};

const cli_command cli_cmd_trust_remove = {
    .verb = "trust remove",
    .brief = "trust a signer no more",
    .details = "The key's file is removed from the trust store; what was removed is printed.",
    .examples = remove_examples,
    .operands = remove_operands,
    .options = remove_options,
    .args_size = sizeof(trust_args),
    .run = run_remove,
};
