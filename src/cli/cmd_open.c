/* SPDX-License-Identifier: MIT */
/* alimentar open FILE [OUT] */
#include <string.h>

#include "cli/ald_facts.h"
#include "cli/command.h"
#include "cli/license_options.h"
#include "cli/license_use.h"
#include "cli/signers.h"
#include "cli/transfer.h"
#include "cli/trust_facts.h"

typedef struct open_args {
    cli_common common;
    const char *in, *out;
    read_options read;
    write_options write;
    describe_options describe; /* none */
    keep_options keep;
    uint8_t json; /* without OUT */
} open_args;

/* What an option took away is no check that passed. */
static void say_result(const cli_input *in, const ald_info *info)
{
    int is_known = signers_find(&in->trust.signers, info->signer_public_key) != NULL;
    const char *text = "It may be used here: every check passed.";
    if (!is_known) {
        text =
            in->trust.ignore_expiry
                ? "Not checked: whether its signer is a seller to trust, and whether the license "
                  "is in force."
                : "Not checked: whether its signer is a seller to trust.";
    } else if (in->trust.ignore_expiry) {
        text = "Not checked: whether the license is in force.";
    }
    cli_printf("\n%s `alimentar open FILE OUT` writes its rows.\n", text);
}

static void look_json(cli_env *env, const cli_input *in, const ald_info *info)
{
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "file", in->name);
    json_uint(&j, "num_rows", info->num_rows);
    json_uint(&j, "num_columns", (uint64_t)info->schema->n_children);
    trust_facts_license_json(&j, env, info);
    json_hex(&j, "signer", info->signer_public_key, ALD_KEY_BYTES);
    json_bool(&j, "signer_trusted",
              signers_find(&in->trust.signers, info->signer_public_key) != NULL);
    json_bool(&j, "expiry_checked", !in->trust.ignore_expiry);
    json_bool(&j, "revocation_checked", in->trust.trust.revocations != NULL);
    json_close(&j, '}');
    json_end(&j);
}

static void look_text(const cli_input *in, const ald_info *info)
{
    char text[64];
    char id[LICENSE_ID_TEXT_BYTES];
    cli_license_id_text(info->license->license_id, id);
    ald_facts_line("file", in->name);
    ald_facts_line("rows", ald_facts_grouped(info->num_rows, text, sizeof(text)));
    ald_facts_line("columns",
                   ald_facts_grouped((uint64_t)info->schema->n_children, text, sizeof(text)));
    ald_facts_line("license", id);
    ald_facts_line("expires", ald_facts_time(info->license->expires_at, text, sizeof(text)));
    say_result(in, info);
}

/* All that would be checked, and what there is; nothing is counted. */
static ald_status look(cli_env *env, const open_args *args, ald_error *err)
{
    cli_input in;
    ald_status status = cli_input_open(env, args->in, "ald", &in, err);
    if (status == ALD_OK) {
        status = cli_input_trust(&in, &args->read.trust, err);
    }
    if (status == ALD_OK) {
        in.trust.trust.commercial = 1;
        status = cli_input_stream(&in, &args->read, NULL, err);
    }
    const ald_info *info = status == ALD_OK ? cli_input_info(&in) : NULL;
    if (info != NULL) {
        status = cli_license_is_left(env, info->license, err);
    }
    if (status == ALD_OK && args->json) {
        look_json(env, &in, info);
    } else if (status == ALD_OK) {
        look_text(&in, info);
    }
    cli_input_close(&in);
    return status;
}

static ald_status run_open(cli_env *env, void *raw, ald_error *err)
{
    open_args *args = raw;
    const char *out = NULL;
    ald_status status = cli_output_path(args->out, args->write.out, &out, err);
    args->read.from = "ald";
    if (status == ALD_OK && out != NULL && args->json) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "open: --json describes the file; with OUT its rows are written");
    }
    if (status == ALD_OK && out == NULL) {
        status = look(env, args, err);
    } else if (status == ALD_OK) {
        transfer t = {.in = args->in,
                      .out = out,
                      .read = &args->read,
                      .write = &args->write,
                      .describe = &args->describe,
                      .keep = &args->keep,
                      .is_bought = 1};
        status = cli_transfer(env, &t, err);
    }
    if (status == ALD_E_SIGNATURE_INVALID &&
        err->offset == ALD_NO_OFFSET) { /* no or no bound license */
        cli_hint(env, "`open` reads what was sold with a license; `alimentar cat` and `alimentar "
                      "convert` read any .ald");
    }
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "the .ald that was bought; - is standard input", offsetof(open_args, in), 0},
    {"OUT",
     "where its rows go, in any format that `convert` writes; - is standard output (with "
     "--to). Without it the file is checked and described",
     offsetof(open_args, out), OPT_OPERAND_OPTIONAL},
    {0},
};

static const opt_spec look_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(open_args, json),
     .help = "without OUT: what is known of the file, as JSON"},
};
static const opt_group group_look = OPT_GROUP("Description", look_specs);

static const opt_use options[] = {
    {&group_look, 0},
    {&cli_group_trust, offsetof(open_args, read.trust)},
    {&cli_group_write, offsetof(open_args, write)},
    {&cli_group_sign, offsetof(open_args, keep.sign)},
    {&cli_group_keep, offsetof(open_args, keep)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "may it be used?",
    "alimentar open acme.ald --private-key acme.key --trusted-keys seller.key.pub",
    "its rows",
    "alimentar open acme.ald rows.csv --private-key acme.key --trusted-keys seller.key.pub",
    NULL,
};

const cli_command cli_cmd_open = {
    .verb = "open",
    .brief = "read a .ald that was bought: with its license, or not at all",
    .details =
        "Signed by a trusted seller, the signature right, the license bound by it, not expired "
        "and not revoked (--revocations), the file decrypted and every value checked. Where the "
        "license limits seats or queries, this user takes a seat and one query is counted, on "
        "this machine (under ~/.alimentar); without OUT nothing is counted. The count is advisory: "
        "it cannot hold against the owner of the machine.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(open_args),
    .run = run_open,
};
