/* SPDX-License-Identifier: MIT */
/* alimentar sign FILE */
#include <string.h>

#include "cli/command.h"
#include "cli/rewriting.h"

typedef struct sign_args {
    cli_common common;
    place_options place;
    sign_options sign;
    secret_options key_passphrase;
    uint8_t strip;
} sign_args;

/* Somebody else's signature is not replaced by accident. */
static ald_status check_signer(cli_env *env, const sign_args *args, const rewriting *r,
                               const uint8_t own[ALD_KEY_BYTES], ald_error *err)
{
    char print[ALD_FINGERPRINT_BYTES];
    const uint8_t *other = r->info->signer_public_key;
    if (other == NULL || memcmp(other, own, ALD_KEY_BYTES) == 0 || args->sign.drop_signature) {
        return ALD_OK;
    }
    if (ald_key_fingerprint(other, &env->host, print, NULL) == ALD_OK) {
        cli_hint(env, "the signer's fingerprint is %s\n--drop-signature puts yours in its place",
                 print);
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the file is signed with another key");
}

static ald_status sign_with_key(cli_env *env, const sign_args *args, rewriting *r, ald_error *err)
{
    uint8_t own[ALD_KEY_BYTES];
    ald_status status =
        cli_protection_sign(env, &r->protection, args->sign.key, &args->key_passphrase, own, err);
    if (status == ALD_OK) {
        status = check_signer(env, args, r, own, err);
    }
    r->options.signing = ALD_SIGNING_SIGN;
    return status;
}

static ald_status check_args(cli_env *env, const sign_args *args, ald_error *err)
{
    if (args->strip && (args->sign.key != NULL || args->sign.drop_signature)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--strip excludes --key and --drop-signature");
    }
    if (!args->strip && args->sign.key == NULL) {
        cli_hint(env, "`alimentar keygen -o FILE` makes one");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "sign: --key is missing");
    }
    return ALD_OK;
}

static ald_status run_sign(cli_env *env, void *raw, ald_error *err)
{
    const sign_args *args = raw;
    rewriting r;
    ald_status status = check_args(env, args, err);
    if (status != ALD_OK) {
        return status;
    }
    status = cli_rewriting_open(env, &args->place, NULL, 0, &r, err);
    if (status == ALD_OK && args->strip && r.info->signer_public_key == NULL) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the file is not signed");
    } else if (status == ALD_OK && args->strip) {
        r.options.signing = ALD_SIGNING_STRIP;
    } else if (status == ALD_OK) {
        status = sign_with_key(env, args, &r, err);
    }
    if (status == ALD_OK) {
        r.in.trust.trust.allow_untrusted = 1; /* what goes needs no trust, but has to be right */
        status = cli_rewriting_run(&r, err);
    }
    cli_rewriting_close(&r);
    return status;
}

static const opt_operand operands[] = {
    CLI_PLACE_OPERANDS(sign_args, place, "the .ald to sign; - is standard input (with OUT)"),
    {0},
};

static const opt_spec strip_specs[] = {
    {.name = "strip",
     .kind = OPT_FLAG,
     .offset = offsetof(sign_args, strip),
     .help = "take the signature off"},
};
static const opt_group group_strip = OPT_GROUP("Stripping", strip_specs);

static const opt_use options[] = {
    {&cli_group_place, offsetof(sign_args, place)},
    {&cli_group_sign, offsetof(sign_args, sign)},
    {&group_strip, 0},
    {&cli_group_key_passphrase, offsetof(sign_args, key_passphrase)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "sign, in place",
    "alimentar sign data.ald --key alice.key",
    "leave the file and write a signed one",
    "alimentar sign data.ald --key alice.key -o signed.ald",
    "take a signature off",
    "alimentar sign data.ald --strip -o unsigned.ald",
    NULL,
};

const cli_command cli_cmd_sign = {
    .verb = "sign",
    .brief = "sign a .ald, or take its signature off",
    .details =
        "Everything before the signature is covered: metadata, schema, rows, and, by its hash, "
        "the license. A file in chunks gets a seal too, so that one chunk can be trusted without "
        "reading the others. An encrypted file is signed without its key: rows are never "
        "decompressed or decrypted here.\n"
        "A file that is signed with the same key is signed again; somebody else's signature is "
        "replaced with --drop-signature only.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(sign_args),
    .run = run_sign,
};
