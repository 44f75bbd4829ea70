/* SPDX-License-Identifier: MIT */
/* alimentar decrypt FILE */
#include <string.h>

#include "cli/command.h"
#include "cli/rewriting.h"

typedef struct decrypt_args {
    cli_common common;
    place_options place;
    sign_options sign;
    trust_options trust;
} decrypt_args;

static ald_status run_decrypt(cli_env *env, void *raw, ald_error *err)
{
    const decrypt_args *args = raw;
    rewriting r;
    ald_status status = cli_rewriting_open(env, &args->place, &args->trust, 1, &r, err);
    if (status == ALD_OK && r.info->encryption_mode < 0) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the file is not encrypted");
    }
    if (status == ALD_OK) {
        r.options.encrypting = ALD_ENCRYPTING_DECRYPT;
        status = cli_rewriting_sign(&r, &args->sign, &args->trust.key_passphrase, err);
    }
    if (status == ALD_OK) {
        status = cli_rewriting_run(&r, err);
    }
    cli_rewriting_close(&r);
    return status;
}

static const opt_operand operands[] = {
    CLI_PLACE_OPERANDS(decrypt_args, place, "the .ald to decrypt; - is standard input (with OUT)"),
    {0},
};

static const opt_use options[] = {
    {&cli_group_place, offsetof(decrypt_args, place)},
    {&cli_group_sign, offsetof(decrypt_args, sign)},
    {&cli_group_trust, offsetof(decrypt_args, trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "with the password, asked for on the terminal",
    "alimentar decrypt secret.ald --password -o plain.ald",
    "with the key of a recipient; the new file is signed anew",
    "alimentar decrypt secret.ald --private-key alice.key --key alice.key -o plain.ald",
    NULL,
};

const cli_command cli_cmd_decrypt = {
    .verb = "decrypt",
    .brief = "write an encrypted .ald without encryption",
    .details =
        "Only this makes a plain .ald of an encrypted one in place; most often it is not needed: "
        "every command that reads rows takes --password and --private-key. Metadata and license "
        "stay. A signature does not fit the new file: --key signs it anew, --drop-signature "
        "leaves it unsigned.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(decrypt_args),
    .run = run_decrypt,
};
