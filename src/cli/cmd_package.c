/* SPDX-License-Identifier: MIT */
/* alimentar package IN OUT */
#include <string.h>

#include "cli/command.h"
#include "cli/license_options.h"
#include "cli/marking.h"
#include "cli/rewriting.h"
#include "cli/transfer.h"

typedef struct package_args {
    cli_common common;
    const char *in, *out, *key;
    read_options read; /* its trust: as for cli_group_input_trust */
    write_options write;
    describe_options describe;
    license_options license;
    encrypt_options encrypt;
    mark_options mark;
} package_args;

static ald_status check_args(cli_env *env, const package_args *args, const char **out,
                             ald_error *err)
{
    ald_status status = cli_output_path(args->out, args->write.out, out, err);
    const char *missing = *out == NULL                     ? "OUT"
                          : args->license.licensee == NULL ? "--licensee"
                          : args->key == NULL              ? "--key"
                                                           : NULL;
    if (status == ALD_OK && missing != NULL) {
        cli_hint(env, missing[2] == 'k' ? "`alimentar keygen -o FILE` makes one"
                                        : "`alimentar help package` shows how it is used");
        status =
            ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "package: %s is missing", missing);
    }
    if (status == ALD_OK && args->mark.buyer == NULL &&
        (args->mark.strength != NULL || args->mark.columns.count > 0 ||
         args->mark.seller.key != NULL || args->mark.seller.dataset_id != NULL)) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "package: without --buyer nothing is marked");
    }
    if (status == ALD_OK && args->write.compat != 0) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "--compat: what the crate reads cannot bind a license");
    }
    return status;
}

static ald_status prepare(cli_env *env, const package_args *args, cli_protection *protection,
                          ald_buffer *terms, ald_error *err)
{
    ald_status status = cli_protection_open(protection, err);
    if (status == ALD_OK) {
        status = cli_license_make(env, &args->license, &protection->license, terms, err);
        protection->protection.license = &protection->license;
    }
    if (status == ALD_OK) {
        status = cli_protection_sign(env, protection, args->key, &args->read.trust.key_passphrase,
                                     NULL, err);
    }
    return status == ALD_OK ? cli_protection_encrypt(env, protection, &args->encrypt, args->in, err)
                            : status;
}

/* The seller's key is the one that signs, unless another is named. */
static ald_status prepare_mark(cli_env *env, package_args *args, cli_protection *protection,
                               marking *m, ald_error *err)
{
    if (args->mark.buyer == NULL) {
        return ALD_OK;
    }
    if (args->mark.seller.key == NULL) {
        args->mark.seller.key = args->key;
    }
    ald_status status = marking_open(env, &args->mark, &args->read.trust.key_passphrase, m, err);
    if (status == ALD_OK) {
        status = marking_begin(m, args->mark.buyer, err);
    }
    protection->license.flags |= ALD_LICENSE_WATERMARKED;
    return status;
}

static ald_status run_package(cli_env *env, void *raw, ald_error *err)
{
    package_args *args = raw;
    cli_protection protection;
    keep_options keep;
    ald_buffer terms = {NULL, 0, 0, &env->host.alloc};
    const char *out = NULL;
    char id[LICENSE_ID_TEXT_BYTES];
    marking mark;
    memset(&mark, 0, sizeof(mark));
    memset(&protection, 0, sizeof(protection));
    memset(&keep, 0, sizeof(keep));
    args->write.to = "ald";
    keep.sign.key = args->key;
    ald_status status = check_args(env, args, &out, err);
    if (status == ALD_OK) {
        status = prepare(env, args, &protection, &terms, err);
    }
    if (status == ALD_OK) {
        status = prepare_mark(env, args, &protection, &mark, err);
    }
    if (status == ALD_OK) {
        transfer t = {.in = args->in,
                      .out = out,
                      .read = &args->read,
                      .write = &args->write,
                      .describe = &args->describe,
                      .keep = &keep,
                      .sale = &protection.protection,
                      .keep_layout = 1,
                      .mark = args->mark.buyer != NULL ? &mark.hook : NULL};
        status = cli_transfer(env, &t, err);
    }
    if (status == ALD_OK && args->mark.buyer != NULL) {
        status = marking_note(&mark, out, err);
    }
    if (status == ALD_OK) {
        cli_license_id_text(protection.license.license_id, id);
        if (strcmp(out, "-") == 0) {
            cli_note(env, "license id: %s", id);
        } else {
            cli_printf("%s\n", id);
        }
    }
    marking_close(&mark);
    cli_protection_close(&protection);
    ald_buffer_clear(&terms);
    return status;
}

static const opt_operand operands[] = {
    {"IN", "the data, in any format that `convert` reads; - is standard input (with --from)",
     offsetof(package_args, in), 0},
    {"OUT", "the .ald to sell; - is standard output", offsetof(package_args, out),
     OPT_OPERAND_OPTIONAL},
    {0},
};

static const opt_spec key_specs[] = {
    {.name = "key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(package_args, key),
     .help = "your private key: it signs, and so binds the license"},
};
static const opt_group group_key = OPT_GROUP("Signing", key_specs);

static const opt_use options[] = {
    {&cli_group_license, offsetof(package_args, license)},
    {&cli_group_encrypt, offsetof(package_args, encrypt)},
    {&group_key, 0},
    {&cli_group_mark, offsetof(package_args, mark)},
    {&cli_group_seller, offsetof(package_args, mark.seller)},
    {&cli_group_write_ald, offsetof(package_args, write)},
    {&cli_group_describe, offsetof(package_args, describe)},
    {&cli_group_card, offsetof(package_args, describe)},
    {&cli_group_read, offsetof(package_args, read)},
    {&cli_group_read_schema, offsetof(package_args, read)},
    {&cli_group_input_trust, offsetof(package_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "sell a table to ACME, who sent their public key",
    "alimentar package sales.csv acme.ald --licensee 'ACME Inc.' --expires 2027-12-31 --recipient "
    "acme.key.pub --key seller.key",
    "the same, marked for them: a leaked copy tells whose it is",
    "alimentar package sales.csv acme.ald --licensee 'ACME Inc.' --buyer 'ACME Inc.' --recipient "
    "acme.key.pub --key seller.key",
    "with a password instead, and terms",
    "alimentar package sales.ald acme.ald --licensee ACME --terms terms.txt --password --key "
    "seller.key",
    NULL,
};

const cli_command cli_cmd_package = {
    .verb = "package",
    .brief = "make a .ald that is sold: encrypted, licensed and signed, in one step",
    .details =
        "The same as watermark (with --buyer), encrypt, license and sign, in this order, which is "
        "the one that holds: the "
        "signature covers the license. Prints the new license's id. The buyer reads it with "
        "`alimentar open`, which needs your public key (to trust) and theirs or the password (to "
        "decrypt). Metadata, schema and the license can be read by anyone who has the file.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(package_args),
    .run = run_package,
};
