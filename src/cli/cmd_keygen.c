/* SPDX-License-Identifier: MIT */
/* alimentar keygen -o FILE */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/command.h"
#include "cli/passphrase.h"

typedef struct keygen_args {
    cli_common common;
    const char *out;
    secret_options passphrase;
    uint8_t only; /* 1 + index in only_names; 0: both */
    uint8_t no_passphrase;
} keygen_args;

static const char *const only_names[] = {"sign", "receive", NULL};

/* A lost key cannot be had back, so none is ever overwritten. */
static ald_status check_free(cli_env *env, const char *path, ald_error *err)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        return ALD_OK;
    }
    cli_hint(env, "-o names another file; what is encrypted to a key is lost with it");
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                         "'%s' is there already; keys are not overwritten", path);
}

static ald_status save_pair(cli_env *env, const keygen_args *args, const ald_keys *keys,
                            const char *public_path, ald_error *err)
{
    char passphrase[ALD_PASSPHRASE_BYTES];
    size_t size = 0;
    ald_status status = ALD_OK;
    if (!args->no_passphrase) {
        status = cli_secret_read(env, &cli_secret_key, &args->passphrase, args->out, 1, passphrase,
                                 sizeof(passphrase), &size, err);
    }
    if (status == ALD_OK) {
        cli_cleanup_hold(); /* both files or none */
        status = ald_keys_save_private(keys, args->out, args->no_passphrase ? NULL : passphrase,
                                       size, &env->host, err);
        if (status == ALD_OK) {
            status = ald_keys_save_public(keys, public_path, err);
            if (status != ALD_OK) {
                unlink(args->out);
            }
        }
        cli_cleanup_resume();
    }
    explicit_bzero(passphrase, sizeof(passphrase));
    return status;
}

static ald_status print_keys(cli_env *env, const ald_keys *keys, ald_error *err)
{
    for (size_t i = 0; i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        char print[ALD_FINGERPRINT_BYTES];
        ald_status status = ald_key_fingerprint(key->public_key, &env->host, print, err);
        if (status != ALD_OK) {
            return status;
        }
        cli_printf("%-8s %-8s %s\n", only_names[key->kind == ALD_KEY_RECEIVE],
                   ald_key_algorithm(key), print);
    }
    return ALD_OK;
}

static ald_status check_args(cli_env *env, const keygen_args *args, const char *public_path,
                             ald_error *err)
{
    if (args->no_passphrase &&
        (args->passphrase.file != NULL || cli_option_given(env, cli_secret_key.fd_option))) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--no-passphrase and a passphrase exclude each other");
    }
    ald_status status = check_free(env, args->out, err);
    return status == ALD_OK ? check_free(env, public_path, err) : status;
}

static ald_status run_keygen(cli_env *env, void *raw, ald_error *err)
{
    const keygen_args *args = raw;
    ald_keys *keys = NULL;
    if (args->out == NULL) {
        cli_hint(env, "write -o FILE; FILE.pub gets the public keys");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "keygen: -o is missing");
    }
    if (strcmp(args->out, "-") == 0) {
        cli_hint(env, "write -o FILE; FILE.pub gets the public keys");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "keygen: keys are not written to standard output");
    }
    size_t size = strlen(args->out) + sizeof(".pub");
    char *public_path = malloc(size);
    if (public_path == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a name");
    }
    snprintf(public_path, size, "%s.pub", args->out);
    uint32_t kinds = args->only == 0 ? ALD_KEY_ALL : 1u << (args->only - 1);
    ald_status status = check_args(env, args, public_path, err);
    if (status == ALD_OK) {
        status = ald_keys_generate(kinds, &env->host, &keys, err);
    }
    if (status == ALD_OK) {
        status = save_pair(env, args, keys, public_path, err);
    }
    if (status == ALD_OK) {
        status = print_keys(env, keys, err);
    }
    if (status == ALD_OK) {
        cli_note(env, "'%s' is private, keep it; '%s' is public, give it to others", args->out,
                 public_path);
        if (ald_keys_find(keys, ALD_KEY_SIGN) != NULL) {
            cli_note(env, "to read on this machine what it signs: `alimentar trust add %s`",
                     public_path);
        }
    }
    if (status == ALD_E_INVALID_ARG && !args->no_passphrase && env->hint[0] != '\0') {
        cli_hint_add(env, "; or write --no-passphrase, and keep the file safe");
    }
    ald_keys_free(keys);
    free(public_path);
    return status;
}

static const opt_operand operands[] = {{0}};

static const opt_spec keygen_specs[] = {
    {.name = "output",
     .arg = "FILE",
     .letter = 'o',
     .kind = OPT_TEXT,
     .offset = offsetof(keygen_args, out),
     .help = "the file of the private keys, which only its owner can read; FILE.pub gets the "
             "public keys"},
    {.name = "only",
     .kind = OPT_CHOICE,
     .choices = only_names,
     .offset = offsetof(keygen_args, only),
     .help = "one key: to sign (Ed25519) or to receive (X25519). Without it both are made"},
    {.name = "no-passphrase",
     .kind = OPT_FLAG,
     .offset = offsetof(keygen_args, no_passphrase),
     .help = "do not encrypt the private keys"},
};
static const opt_group group_keygen = OPT_GROUP("Keys", keygen_specs);

static const opt_use options[] = {
    {&group_keygen, 0},
    {&cli_group_key_passphrase, offsetof(keygen_args, passphrase)},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "a pair to sign and to receive with",
    "alimentar keygen -o alice.key",
    "a key for a machine that signs alone",
    "alimentar keygen -o build.key --only sign --no-passphrase",
    NULL,
};

const cli_command cli_cmd_keygen = {
    .verb = "keygen",
    .brief = "make keys to sign and to receive datasets with",
    .details =
        "The passphrase is asked for on the terminal, twice, or comes from an option or from "
        "ALIMENTAR_KEY_PASSPHRASE. Private keys are encrypted PKCS#8 and public ones "
        "SubjectPublicKeyInfo, both PEM, which `openssl pkey` reads, too.\n"
        "Files that exist are not overwritten.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(keygen_args),
    .run = run_keygen,
};
