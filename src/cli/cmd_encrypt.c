/* SPDX-License-Identifier: MIT */
/* alimentar encrypt FILE */
#include <string.h>

#include "ald/schema.h"
#include "ald/writer.h"
#include "cli/command.h"
#include "cli/recipients.h"

typedef struct encrypt_args {
    cli_common common;
    place_options place;
    sign_options sign;
    encrypt_options encrypt;
    trust_options trust; /* but for its password: the one of this command is new */
    opt_list add, remove;
    uint8_t compat;
} encrypt_args;

static const char *const compat_versions[] = {"alimentar-0.2", NULL}; /* 1 + index: an ald_compat */

/* ---- for the crate: its layout is another, so rows are read and written */

typedef struct crate_file {
    rewriting *r;
    ald_save_options save;
} crate_file;

static ald_status save_for_crate(void *ctx, const ald_sink *sink, ald_error *err)
{
    crate_file *c = ctx;
    struct ArrowArrayStream batches = c->r->in.stream;
    c->r->in.stream.release = NULL;
    return ald_save(&batches, sink, &c->save, &c->r->env->host, err);
}

static ald_status encrypt_for_crate(rewriting *r, uint8_t compat, ald_error *err)
{
    static const ald_save_options defaults = ALD_SAVE_OPTIONS_INIT;
    crate_file c = {r, defaults};
    ald_protection protection = r->protection.protection;
    const char *path = r->place.out != NULL ? r->place.out : r->place.in;
    ald_status status = cli_input_stream(&r->in, NULL, NULL, err);
    if (status != ALD_OK) {
        return status;
    }
    const ald_info *info = cli_input_info(&r->in); /* as it was checked, just now */
    protection.license = info->license;
    c.save.dataset_type = info->dataset_type;
    c.save.compression =
        info->compression <= ALD_COMPRESSION_LZ4 ? info->compression : ALD_COMPRESSION_ZSTD_L3;
    c.save.compat = compat;
    c.save.metadata = info->metadata;
    c.save.protection = &protection;
    status = cli_output_fill(&r->out, path, save_for_crate, &c, err);
    if (status == ALD_OK) {
        cli_rewriting_note_license(r);
        cli_note_crate_encryption(r->env);
    }
    return status;
}

/* ---- */

static ald_status check_args(cli_env *env, const encrypt_args *args, int changes, ald_error *err)
{
    const encrypt_options *e = &args->encrypt;
    int has_password = e->ask_password || e->password.file != NULL ||
                       cli_option_given(env, cli_secret_password.fd_option) || e->kdf_memory != 0 ||
                       e->kdf_passes != 0;
    if (changes && (has_password || args->compat != 0)) {
        cli_hint(env, "a file has a password or recipients: `alimentar decrypt` it first, then "
                      "encrypt it anew");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--add-recipient and --remove-recipient exclude a password and "
                             "--compat");
    }
    return ALD_OK;
}

/* An encrypted file is encrypted anew when its key is there. The password of one would be called like the new one. */
static ald_status check_input(cli_env *env, const rewriting *r, ald_error *err)
{
    if (r->info->encryption_mode < 0 ||
        (r->info->encryption_mode > 0 && r->in.trust.trust.private_count > 0)) {
        return ALD_OK;
    }
    cli_hint(env,
             r->info->encryption_mode == 0
                 ? "to change the password: `alimentar decrypt FILE PLAIN.ald --password`, then "
                   "`alimentar encrypt PLAIN.ald FILE --password --force`, and remove PLAIN.ald"
                 : "--private-key FILE opens it, to be encrypted anew; --add-recipient and "
                   "--remove-recipient change who can read it");
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the file is encrypted already");
}

static ald_status prepare(cli_env *env, const encrypt_args *args, int changes, rewriting *r,
                          ald_error *err)
{
    recipient_change change = {&args->encrypt.recipients, &args->add, &args->remove};
    r->in.trust.trust.allow_plain = 1; /* a private key that is not needed here is no demand */
    ald_status status = changes ? ALD_OK : check_input(env, r, err); /* before anybody is asked */
    if (status == ALD_OK) {
        status = cli_rewriting_sign(r, &args->sign, &args->trust.key_passphrase, err);
    }
    if (status == ALD_OK && changes) {
        return cli_recipients_change(r, &change, err);
    }
    if (status == ALD_OK) {
        r->options.encrypting = ALD_ENCRYPTING_ENCRYPT;
        status = cli_protection_encrypt(env, &r->protection, &args->encrypt, r->in.name, err);
    }
    return status;
}

static ald_status run_encrypt(cli_env *env, void *raw, ald_error *err)
{
    const encrypt_args *args = raw;
    rewriting r;
    int changes = args->add.count > 0 || args->remove.count > 0;
    ald_status status = check_args(env, args, changes, err);
    if (status != ALD_OK) {
        return status;
    }
    status = cli_rewriting_open(env, &args->place, &args->trust, args->trust.private_keys.count > 0,
                                &r, err);
    if (status == ALD_OK) {
        status = prepare(env, args, changes, &r, err);
    }
    if (status == ALD_OK) {
        status = args->compat != 0 ? encrypt_for_crate(&r, args->compat, err)
                                   : cli_rewriting_run(&r, err);
    }
    cli_rewriting_close(&r);
    return status;
}

static const opt_operand operands[] = {
    CLI_PLACE_OPERANDS(encrypt_args, place, "the .ald to encrypt; - is standard input (with OUT)"),
    {0},
};

static const opt_spec change_specs[] = {
    {.name = "add-recipient",
     .arg = "FILE.pub",
     .kind = OPT_LIST,
     .offset = offsetof(encrypt_args, add),
     .help = "somebody more who can read an encrypted file. The others have to be given with "
             "--recipient. May be repeated"},
    {.name = "remove-recipient",
     .arg = "FILE.pub",
     .kind = OPT_LIST,
     .offset = offsetof(encrypt_args, remove),
     .help = "somebody who cannot read the new file: a public key, or the name that `info` shows. "
             "May be repeated"},
};
static const opt_group group_change = OPT_GROUP("Change of recipients", change_specs);

static const opt_spec compat_specs[] = {
    {.name = "compat",
     .kind = OPT_CHOICE,
     .choices = compat_versions,
     .offset = offsetof(encrypt_args, compat),
     .help = "write what the Rust crate alimentar 0.2 reads: a password, or one recipient"},
};
static const opt_group group_compat = OPT_GROUP("Other readers", compat_specs);

static const opt_use options[] = {
    {&cli_group_place, offsetof(encrypt_args, place)},
    {&cli_group_encrypt, offsetof(encrypt_args, encrypt)},
    {&group_change, 0},
    {&cli_group_sign, offsetof(encrypt_args, sign)},
    {&cli_group_input_trust, offsetof(encrypt_args, trust)},
    {&group_compat, 0},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "with a password, asked for twice",
    "alimentar encrypt data.ald --password",
    "for two people, signed",
    "alimentar encrypt data.ald --recipient alice.key.pub --recipient bob.key.pub --key me.key",
    "for Carol, too: Alice, who does it, and Bob stay",
    "alimentar encrypt data.ald --private-key alice.key --recipient bob.key.pub --add-recipient "
    "carol.key.pub",
    NULL,
};

const cli_command cli_cmd_encrypt = {
    .verb = "encrypt",
    .brief = "encrypt a .ald with a password or for recipients",
    .details =
        "The rows are encrypted (AES-256-GCM), in a file in chunks each chunk alone. Metadata, "
        "schema and license stay readable by anyone; what was not signed of them can be changed by "
        "anyone, too. Encryption does not show who made a file: sign it with --key.\n"
        "A file names its recipients by the beginning of their fingerprints. To change them, all "
        "keys of those who stay have to be given, as the file's key is wrapped for everybody "
        "anew; a private key that opens the file stands for its own. Whoever is removed can still "
        "read the copies that they have.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(encrypt_args),
    .run = run_encrypt,
};
