/* SPDX-License-Identifier: MIT */
/* alimentar license revoke ID… -o LIST */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/license_options.h"
#include "cli/output.h"
#include "cli/protect_options.h"
#include "cli/revocations.h"

typedef struct revoke_args {
    cli_common common;
    opt_list ids;
    const char *out, *key, *reason;
    secret_options key_passphrase;
} revoke_args;

/* What is gathered while the list is made. */
typedef struct revoke_state {
    cli_env *env;
    const revoke_args *args;
    cli_protection protection;
    uint8_t own[ALD_KEY_BYTES];
    revocation_list list;
    size_t added;
} revoke_state;

static ald_status check_args(cli_env *env, const revoke_args *args, ald_error *err)
{
    const char *missing = args->out == NULL ? "-o" : args->key == NULL ? "--key" : NULL;
    if (missing == NULL) {
        return ALD_OK;
    }
    if (args->out == NULL) {
        cli_hint(env, "-o LIST names the list; one that is there is extended");
    } else {
        cli_hint(env, "the list counts for files that are signed with the same key");
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "license revoke: %s is missing",
                         missing);
}

/* The list that is there, if it is one's own: somebody else's would not be extended but taken over. */
static ald_status load_old(revoke_state *s, ald_error *err)
{
    struct stat info;
    if (stat(s->args->out, &info) != 0) {
        return ALD_OK;
    }
    ald_status status = cli_revocations_load(s->env, s->args->out, &s->list, err);
    if (status == ALD_OK && memcmp(s->list.revocations.signer, s->own, sizeof(s->own)) != 0) {
        cli_hint(s->env, "each signer has a list of their own: -o names another one");
        status = ald_error_set(err, ALD_E_UNTRUSTED_SIGNER, ALD_NO_OFFSET,
                               "the list '%s' is signed with another key", s->args->out);
    }
    return status;
}

static ald_status add_ids(revoke_state *s, ald_error *err)
{
    const char *reason = s->args->reason;
    int64_t now = s->env->host.now(s->env->host.ctx);
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < s->args->ids.count; i++) {
        uint8_t id[ALD_LICENSE_ID_BYTES];
        int added = 0;
        status = cli_parse_license_id(s->args->ids.items[i], id, err);
        if (status == ALD_OK) {
            status = cli_revocations_add(&s->list, id, now, reason,
                                         reason != NULL ? strlen(reason) : 0, &added, err);
        }
        if (status == ALD_OK && !added) {
            cli_note(s->env, "'%s' is in the list already", s->args->ids.items[i]);
        }
        s->added += (size_t)added;
    }
    return status;
}

static ald_status fill_list(void *ctx, const ald_sink *sink, ald_error *err)
{
    revoke_state *s = ctx;
    return cli_revocations_save(s->env, &s->list, s->protection.protection.signer_seed, sink, err);
}

static ald_status write_list(revoke_state *s, ald_error *err)
{
    cli_output out;
    write_options write;
    memset(&write, 0, sizeof(write));
    write.to = "ald";
    ald_status status = cli_output_init(s->env, s->args->out, &write, NULL, &out, err);
    if (status == ALD_OK) {
        status = cli_output_fill(&out, s->args->out, fill_list, s, err);
    }
    if (status == ALD_OK) {
        cli_note(s->env, "revoked licenses in '%s': %zu, new: %zu", s->args->out, s->list.count,
                 s->added);
    }
    return status;
}

static ald_status run_revoke(cli_env *env, void *raw, ald_error *err)
{
    const revoke_args *args = raw;
    revoke_state s;
    memset(&s, 0, sizeof(s));
    s.env = env;
    s.args = args;
    ald_status status = check_args(env, args, err);
    if (status == ALD_OK) {
        status = cli_protection_open(&s.protection, err);
    }
    if (status == ALD_OK) {
        status =
            cli_protection_sign(env, &s.protection, args->key, &args->key_passphrase, s.own, err);
    }
    if (status == ALD_OK) {
        status = load_old(&s, err);
    }
    if (status == ALD_OK) {
        status = add_ids(&s, err);
    }
    if (status == ALD_OK && s.added > 0) {
        status = write_list(&s, err);
    }
    cli_revocations_clear(&s.list);
    cli_protection_close(&s.protection);
    return status;
}

static const opt_operand operands[] = {
    {"ID", "a license's id, as `license` and `license show` print it; may be repeated",
     offsetof(revoke_args, ids), OPT_OPERAND_MANY},
    {0},
};

static const opt_spec revoke_specs[] = {
    {.name = "output",
     .letter = 'o',
     .arg = "LIST",
     .kind = OPT_TEXT,
     .offset = offsetof(revoke_args, out),
     .help = "the list, a .ald; one that is there is extended, in one step"},
    {.name = "key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(revoke_args, key),
     .help = "the private key that signed the files, and now the list"},
    {.name = "reason",
     .arg = "TEXT",
     .kind = OPT_TEXT,
     .offset = offsetof(revoke_args, reason),
     .help = "why; everybody who has the list can read it"},
};
static const opt_group group_revoke = OPT_GROUP("List", revoke_specs);

static const opt_use options[] = {
    {&group_revoke, 0},
    {&cli_group_key_passphrase, offsetof(revoke_args, key_passphrase)},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "revoke one license, and give the list to everybody",
    "alimentar license revoke 0a6f9c3e-5a0b-4d3c-9a55-3f3f6f1f7f10 -o revoked.ald --key seller.key "
    "--reason 'not paid'",
    NULL,
};

const cli_command cli_cmd_license_revoke = {
    .verb = "license revoke",
    .brief = "add licenses to a signed list of revoked ones",
    .details =
        "The list is a .ald of its own with the columns license_id, revoked_at and reason. It "
        "counts for files with a revocable license that are signed with the same key, wherever "
        "it is given (--revocations). Whoever never gets the list, or keeps an old one, is not "
        "stopped. `alimentar convert LIST - --to csv --binary hex` prints it.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(revoke_args),
    .run = run_revoke,
};
