/* SPDX-License-Identifier: MIT */
/* alimentar key show FILE */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/json_print.h"
#include "cli/passphrase.h"

typedef struct key_show_args {
    cli_common common;
    const char *in;
    secret_options passphrase;
    uint8_t json;
} key_show_args;

static const char *use_of(const ald_key *key)
{
    return key->kind == ALD_KEY_SIGN ? "sign" : "receive";
}

static void print_text(const ald_key *key, const char *fingerprint)
{
    cli_printf("%-8s %s, %s key\n", use_of(key), ald_key_algorithm(key),
               key->is_private ? "private" : "public");
    cli_printf("  fingerprint  %s\n  public key   ", fingerprint);
    for (size_t i = 0; i < sizeof(key->public_key); i++) {
        cli_printf("%02x", key->public_key[i]);
    }
    cli_printf("\n");
}

static void print_json(json_print *j, const ald_key *key, const char *fingerprint)
{
    json_open(j, NULL, '{');
    json_text(j, "use", use_of(key));
    json_text(j, "algorithm", ald_key_algorithm(key));
    json_bool(j, "private", key->is_private);
    json_hex(j, "public_key", key->public_key, sizeof(key->public_key));
    json_text(j, "fingerprint", fingerprint);
    json_close(j, '}');
}

static ald_status print_keys(cli_env *env, const key_show_args *args, const ald_keys *keys,
                             ald_error *err)
{
    json_print j;
    memset(&j, 0, sizeof(j));
    if (args->json) {
        json_open(&j, NULL, '[');
    }
    for (size_t i = 0; i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        char fingerprint[ALD_FINGERPRINT_BYTES];
        ald_status status = ald_key_fingerprint(key->public_key, &env->host, fingerprint, err);
        if (status != ALD_OK) {
            return status;
        }
        if (args->json) {
            print_json(&j, key, fingerprint);
        } else {
            print_text(key, fingerprint);
        }
    }
    if (args->json) {
        json_close(&j, ']');
        json_end(&j);
    }
    return ALD_OK;
}

/* The public file beside a private one says the same without a passphrase. */
static void hint_public_file(cli_env *env, const char *path)
{
    char text[512];
    int size = snprintf(text, sizeof(text), "%.400s.pub", path);
    if (size > 0 && access(text, R_OK) == 0 && env->hint[0] != '\0') {
        cli_hint_add(env, "; '");
        cli_hint_add(env, text);
        cli_hint_add(env, "' needs none");
    }
}

static ald_status run_key_show(cli_env *env, void *raw, ald_error *err)
{
    const key_show_args *args = raw;
    cli_key_passphrase from = {env, &args->passphrase};
    ald_passphrase passphrase = cli_key_passphrase_source(&from);
    ald_keys *keys = NULL;
    ald_status status =
        ald_keys_open(args->in, ALD_KEYS_ANY, 0, &passphrase, &env->host, &keys, err);
    if (status == ALD_OK) {
        status = print_keys(env, args, keys, err);
    } else if (status != ALD_E_IO) { /* those name the file */
        env->subject = args->in;
        hint_public_file(env, args->in);
    }
    ald_keys_free(keys);
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "a key file, private or public", offsetof(key_show_args, in), 0},
    {0},
};

static const opt_spec output_specs[] = {
    {.name = "json", .kind = OPT_FLAG, .offset = offsetof(key_show_args, json), .help = "as JSON"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&group_output, 0},
    {&cli_group_key_passphrase, offsetof(key_show_args, passphrase)},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "what to read to somebody over the telephone",
    "alimentar key show alice.key.pub",
    NULL,
};

const cli_command cli_cmd_key_show = {
    .verb = "key show",
    .brief = "print what is in a key file, without what is private",
    .details =
        "The fingerprint is SHA-256 of the public key's 32 bytes. An encrypted file asks for "
        "its passphrase.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(key_show_args),
    .run = run_key_show,
};
