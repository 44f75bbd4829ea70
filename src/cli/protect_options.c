/* SPDX-License-Identifier: MIT */
#include "cli/protect_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/file_format.h"
#include "native/keys/secret_pages.h"

#define KIB_OF_DEFAULT 19456u
#define RECIPIENTS_MAX 1024u

typedef struct protect_secrets {
    char password[ALD_PASSPHRASE_BYTES];
    uint8_t seed[ALD_KEY_BYTES];
} protect_secrets;

static const opt_spec sign_specs[] = {
    {.name = "key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(sign_options, key),
     .scope = SCOPE_ALD_OUT,
     .help = "sign the .ald with this private key"},
    {.name = "drop-signature",
     .kind = OPT_FLAG,
     .offset = offsetof(sign_options, drop_signature),
     .scope = SCOPE_ALD_OUT,
     .help = "give up the signature that the input has"},
};
const opt_group cli_group_sign = OPT_GROUP("Signing", sign_specs);

#define RECIPIENT_SPEC                                                                             \
    {.name = "recipient",                                                                          \
     .arg = "FILE.pub",                                                                            \
     .kind = OPT_LIST,                                                                             \
     .offset = offsetof(encrypt_options, recipients),                                              \
     .scope = SCOPE_ALD_OUT,                                                                       \
     .help = "the public key of somebody who can read it. May be repeated"}

static const opt_spec recipient_specs[] = {RECIPIENT_SPEC};
const opt_group cli_group_recipients = OPT_GROUP("Encryption", recipient_specs);

static const opt_spec encrypt_specs[] = {
    RECIPIENT_SPEC,
    {.name = "password",
     .kind = OPT_FLAG,
     .offset = offsetof(encrypt_options, ask_password),
     .help = "a password opens it; it is asked for on the terminal, twice, unless one of the next "
             "two or ALIMENTAR_PASSPHRASE gives it"},
    {.name = "passphrase-file",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(encrypt_options, password.file),
     .help = "the password is in FILE; one line end at its end is dropped"},
    {.name = "passphrase-fd",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 65535,
     .offset = offsetof(encrypt_options, password.fd),
     .help = "the password comes from the open file descriptor N"},
    {.name = "kdf-memory",
     .arg = "BYTES",
     .kind = OPT_BYTES,
     .min = (uint64_t)KIB_OF_DEFAULT << 10,
     .max = (uint64_t)1 << 30,
     .offset = offsetof(encrypt_options, kdf_memory),
     .help = "memory that each try of a password takes (Argon2id), in whole KiB; default: 19M. "
             "Readers need as much"},
    {.name = "kdf-passes",
     .arg = "N",
     .kind = OPT_COUNT,
     .min = 2,
     .max = 16,
     .offset = offsetof(encrypt_options, kdf_passes),
     .help = "passes over that memory; default: 2"},
};
const opt_group cli_group_encrypt = OPT_GROUP("Encryption", encrypt_specs);

ald_status cli_protection_open(cli_protection *out, ald_error *err)
{
    static const ald_protection none = ALD_PROTECTION_INIT;
    memset(out, 0, sizeof(*out));
    out->protection = none;
    out->secrets = ald__secret_pages_new(sizeof(*out->secrets));
    if (out->secrets == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for secrets");
    }
    return ALD_OK;
}

void cli_protection_close(cli_protection *protection)
{
    free(protection->recipients);
    ald__secret_pages_free(protection->secrets, sizeof(*protection->secrets));
    memset(protection, 0, sizeof(*protection));
}

ald_status cli_protection_sign(cli_env *env, cli_protection *out, const char *path,
                               const secret_options *key_passphrase, uint8_t *public_key,
                               ald_error *err)
{
    cli_key_passphrase from = {env, key_passphrase};
    ald_passphrase passphrase = cli_key_passphrase_source(&from);
    ald_keys *keys = NULL;
    const char *subject = env->subject;
    if (path == NULL) {
        return ALD_OK;
    }
    env->subject = path;
    ald_status status =
        ald_keys_open(path, ALD_KEYS_PRIVATE, ALD_KEY_SIGN, &passphrase, &env->host, &keys, err);
    const ald_key *key = status == ALD_OK ? ald_keys_find(keys, ALD_KEY_SIGN) : NULL;
    if (key != NULL) {
        memcpy(out->secrets->seed, key->private_key, ALD_KEY_BYTES);
        out->protection.signer_seed = out->secrets->seed;
        if (public_key != NULL) {
            memcpy(public_key, key->public_key, ALD_KEY_BYTES);
        }
        env->subject = subject;
    }
    ald_keys_free(keys);
    return status;
}

ald_status cli_receiver_public(cli_env *env, const char *path, uint8_t out[32], ald_error *err)
{
    ald_keys *keys = NULL;
    const char *subject = env->subject;
    env->subject = path;
    ald_status status =
        ald_keys_open(path, ALD_KEYS_PUBLIC, ALD_KEY_RECEIVE, NULL, &env->host, &keys, err);
    const ald_key *key = status == ALD_OK ? ald_keys_find(keys, ALD_KEY_RECEIVE) : NULL;
    if (key != NULL) {
        memcpy(out, key->public_key, ALD_KEY_BYTES);
        env->subject = subject;
    }
    ald_keys_free(keys);
    return status;
}

ald_status cli_protection_recipients(cli_env *env, cli_protection *out, const opt_list *files,
                                     ald_error *err)
{
    ald_status status = ALD_OK;
    if (files->count == 0 || files->count > RECIPIENTS_MAX) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             files->count == 0 ? "--recipient is missing"
                                               : "more than 1,024 recipients");
    }
    out->recipients = malloc(files->count * ALD_KEY_BYTES);
    if (out->recipients == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for public keys");
    }
    for (size_t i = 0; status == ALD_OK && i < files->count; i++) {
        uint8_t *key = out->recipients + i * ALD_KEY_BYTES;
        status = cli_receiver_public(env, files->items[i], key, err);
        for (size_t k = 0; status == ALD_OK && k < i; k++) {
            if (memcmp(out->recipients + k * ALD_KEY_BYTES, key, ALD_KEY_BYTES) == 0) {
                status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                       "'%s' and '%s' are the same recipient", files->items[k],
                                       files->items[i]);
            }
        }
    }
    out->protection.recipients = out->recipients;
    out->protection.recipient_count = files->count;
    out->protection.encryption =
        files->count == 1 ? ALD_ENCRYPTION_RECIPIENT : ALD_ENCRYPTION_SEVERAL;
    return status;
}

static ald_status new_password(cli_env *env, cli_protection *out, const encrypt_options *options,
                               const char *name, ald_error *err)
{
    size_t size = 0;
    if (options->kdf_memory % 1024 != 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--kdf-memory: not a whole number of KiB");
    }
    ald_status status =
        cli_secret_read(env, &cli_secret_password, &options->password, name, 1,
                        out->secrets->password, ALD_PASSPHRASE_BYTES - 1, &size, err);
    out->protection.encryption = ALD_ENCRYPTION_PASSWORD;
    out->protection.password = out->secrets->password;
    out->protection.password_size = size;
    out->protection.kdf_m_kib = (uint32_t)(options->kdf_memory >> 10);
    out->protection.kdf_t = (uint32_t)options->kdf_passes;
    return status;
}

ald_status cli_protection_encrypt(cli_env *env, cli_protection *out, const encrypt_options *options,
                                  const char *name, ald_error *err)
{
    int by_option = options->ask_password || options->password.file != NULL ||
                    cli_option_given(env, cli_secret_password.fd_option);
    int by_kdf = options->kdf_memory != 0 || options->kdf_passes != 0;
    if (options->recipients.count > 0 && by_kdf && !by_option) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--kdf-memory and --kdf-passes are for a password");
    }
    if (options->recipients.count > 0 && by_option) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a password and --recipient exclude each other");
    }
    if (options->recipients.count > 0) {
        return cli_protection_recipients(env, out, &options->recipients, err);
    }
    if (!by_option && !cli_secret_has_source(env, &cli_secret_password, &options->password)) {
        cli_hint(env, "--password asks for one on the terminal, --recipient FILE.pub names who can "
                      "read it");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a password or a recipient is needed");
    }
    return new_password(env, out, options, name, err);
}
