/* SPDX-License-Identifier: MIT */
/* alimentar license FILE --licensee NAME */
#include <string.h>

#include "cli/command.h"
#include "cli/keep_trust.h"
#include "cli/license_options.h"
#include "cli/rewriting.h"

typedef struct license_args {
    cli_common common;
    place_options place;
    license_options license;
    sign_options sign;
    trust_options trust;
    uint8_t strip;
} license_args;

static ald_status check_args(cli_env *env, const license_args *args, ald_error *err)
{
    if (args->strip && (args->license.licensee != NULL || cli_license_is_described(env))) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--strip excludes what describes a license");
    }
    if (!args->strip && args->license.licensee == NULL) {
        cli_hint(env, "--licensee NAME says whom it is for; `alimentar license show FILE` prints "
                      "the license of a file");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "license: --licensee is missing");
    }
    return ALD_OK;
}

/* The id is what revoking needs. */
static void say_license(cli_env *env, const rewriting *r)
{
    char id[LICENSE_ID_TEXT_BYTES];
    cli_license_id_text(r->protection.license.license_id, id);
    if (strcmp(r->out.name, "standard output") == 0) {
        cli_note(env, "license id: %s", id);
    } else {
        cli_printf("%s\n", id);
    }
    cli_keep_note_license(env, r->info);
    if (r->options.signing != ALD_SIGNING_SIGN) {
        cli_note(env,
                 "the license is not bound: without a signature (--key) anybody can change it");
    }
}

static ald_status set_license(cli_env *env, const license_args *args, rewriting *r,
                              ald_buffer *terms, ald_error *err)
{
    if (args->strip) {
        r->options.licensing = ALD_LICENSING_STRIP;
        return r->info->license != NULL ? ALD_OK
                                        : ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                                        "the file has no license");
    }
    r->options.licensing = ALD_LICENSING_SET;
    ald_status status = cli_license_make(env, &args->license, &r->protection.license, terms, err);
    r->protection.protection.license = &r->protection.license;
    return status;
}

static ald_status run_license(cli_env *env, void *raw, ald_error *err)
{
    const license_args *args = raw;
    rewriting r;
    ald_buffer terms = {NULL, 0, 0, &env->host.alloc};
    ald_status status = check_args(env, args, err);
    if (status != ALD_OK) {
        return status;
    }
    status = cli_rewriting_open(env, &args->place, &args->trust, 0, &r, err);
    if (status == ALD_OK) {
        status = set_license(env, args, &r, &terms, err);
    }
    if (status == ALD_OK) {
        status = cli_rewriting_sign(&r, &args->sign, &args->trust.key_passphrase, err);
    }
    if (status == ALD_OK) {
        status = cli_rewriting_run(&r, err);
    }
    if (status == ALD_OK && !args->strip) {
        say_license(env, &r);
    }
    cli_rewriting_close(&r);
    ald_buffer_clear(&terms);
    return status;
}

static const opt_operand operands[] = {
    CLI_PLACE_OPERANDS(license_args, place, "the .ald to license; - is standard input (with OUT)"),
    {0},
};

static const opt_spec strip_specs[] = {
    {.name = "strip",
     .kind = OPT_FLAG,
     .offset = offsetof(license_args, strip),
     .help = "take the license off"},
};
static const opt_group group_strip = OPT_GROUP("Stripping", strip_specs);

static const opt_use options[] = {
    {&cli_group_license, offsetof(license_args, license)},
    {&cli_group_place, offsetof(license_args, place)},
    {&cli_group_sign, offsetof(license_args, sign)},
    {&group_strip, 0},
    {&cli_group_input_signers, offsetof(license_args, trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "for a year, signed, so that nobody can prolong it",
    "alimentar license data.ald --licensee 'ACME Inc.' --expires 2027-12-31 --key seller.key -o "
    "acme.ald",
    "five users, a thousand queries, revocable",
    "alimentar license data.ald --licensee ACME --seats 5 --queries 1000 --revocable --key "
    "seller.key -o acme.ald",
    NULL,
};

const cli_command cli_cmd_license = {
    .verb = "license",
    .brief = "give a .ald a license",
    .details =
        "Prints the new license's id, which `alimentar license revoke` needs. A signature (--key) "
        "binds the license: without one, anybody can write another in its place. Readers hold to "
        "the end of the license always, and to revocation when they are given the list; seats and "
        "queries are counted on the licensee's machine by `open` and `query answer`, where its "
        "owner could change the count. An encrypted file is licensed without its key.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(license_args),
    .run = run_license,
};
