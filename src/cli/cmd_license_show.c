/* SPDX-License-Identifier: MIT */
/* alimentar license show FILE, alimentar license check FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ald_facts.h"
#include "cli/command.h"
#include "cli/escape.h"
#include "cli/input.h"
#include "cli/license_options.h"
#include "cli/license_use.h"
#include "cli/trust_facts.h"

typedef struct show_args {
    cli_common common;
    const char *in;
    uint8_t json;
} show_args;

typedef struct check_args {
    cli_common common;
    const char *in;
    const char *licensee;
    trust_options trust;
    uint8_t json;
} check_args;

static ald_status no_license(ald_error *err)
{
    return ald_error_set(err, ALD_E_SIGNATURE_INVALID, ALD_NO_OFFSET, "the file has no license");
}

/* ---- show */

static void show_limit(const char *name, int is_limited, uint64_t limit, uint64_t used)
{
    char text[96];
    snprintf(text, sizeof(text), "%" PRIu64 ", of which %" PRIu64 " were used on this machine",
             limit, used);
    ald_facts_line(name, is_limited ? text : "not limited");
}

/* Line by line: what is not printable is told, not sent to the terminal. */
static void show_terms(const char *text, size_t size)
{
    char *line = malloc(10 * size + 1); /* a byte becomes \xNN, two \u{NNNN} */
    for (size_t at = 0; line != NULL && at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        cli_print(line, cli_escape(line, 10 * size + 1, text + at, length));
        cli_printf("\n");
        at += length + 1;
    }
    free(line);
}

static void show_text(const cli_env *env, const ald_info *info, const ald_license_usage *usage)
{
    const ald_license *l = info->license;
    char id[LICENSE_ID_TEXT_BYTES];
    char when[64];
    char text[96];
    char hash[65];
    cli_license_id_text(l->license_id, id);
    for (size_t i = 0; i < sizeof(l->licensee_hash); i++) {
        snprintf(hash + 2 * i, 3, "%02x", l->licensee_hash[i]);
    }
    ald_facts_line("license", id);
    ald_facts_line("licensee", hash);
    ald_facts_line("issued", ald_facts_time(l->issued_at, when, sizeof(when)));
    snprintf(text, sizeof(text), "%s%s", ald_facts_time(l->expires_at, when, sizeof(when)),
             trust_facts_has_expired(env, l) ? " (it has expired)"
             : l->expires_at != 0 && (l->flags & ALD_LICENSE_EXPIRATION_ENFORCED) == 0
                 ? " (not enforced)"
                 : "");
    ald_facts_line("expires", text);
    show_limit("seats", l->flags & ALD_LICENSE_SEATS_ENFORCED, l->seat_limit, usage->seat_count);
    show_limit("queries", l->flags & ALD_LICENSE_QUERY_LIMITED, l->query_limit, usage->query_count);
    ald_facts_line("revocable", l->flags & ALD_LICENSE_REVOCABLE ? "yes" : "no");
    ald_facts_line("transferable", l->flags & ALD_LICENSE_TRANSFERABLE ? "yes" : "no");
    ald_facts_line("watermarked", l->flags & ALD_LICENSE_WATERMARKED ? "yes" : "no");
    ald_facts_line("bound", trust_facts_is_bound(info)
                                ? "yes, the signature covers it (`license check` checks it)"
                                : "no: anybody could have written it");
    if (l->terms_size > 0) {
        cli_printf("\n");
        show_terms(l->terms, l->terms_size);
    }
}

static void show_json(cli_env *env, const ald_info *info, const ald_license_usage *usage)
{
    json_print j = {0};
    json_open(&j, NULL, '{');
    trust_facts_license_json(&j, env, info);
    json_open(&j, "used_here", '{');
    json_uint(&j, "seats", usage->seat_count);
    json_uint(&j, "queries", usage->query_count);
    json_close(&j, '}');
    json_close(&j, '}');
    json_end(&j);
}

static ald_status run_show(cli_env *env, void *raw, ald_error *err)
{
    const show_args *args = raw;
    cli_input in;
    ald_inspection *inspection = NULL;
    ald_license_usage usage;
    ald_status status = cli_input_open(env, args->in, "ald", &in, err);
    if (status == ALD_OK) {
        status = ald_inspect(&in.source, NULL, &env->host, &inspection, err);
    }
    const ald_info *info = status == ALD_OK ? ald_inspection_info(inspection) : NULL;
    if (info != NULL && info->license == NULL) {
        status = no_license(err);
    } else if (info != NULL) {
        env->subject = NULL;
        status = cli_license_usage(env, info->license, &usage, err);
    }
    if (status == ALD_OK && args->json) {
        show_json(env, info, &usage);
    } else if (status == ALD_OK) {
        show_text(env, info, &usage);
    }
    ald_inspection_free(inspection);
    cli_input_close(&in);
    return status;
}

/* ---- check */

static ald_status check_licensee(cli_env *env, const char *name, const ald_license *l,
                                 ald_error *err)
{
    uint8_t hash[32];
    if (name == NULL) {
        return ALD_OK;
    }
    ald_status status = ald_license_hash_licensee(name, strlen(name), &env->host, hash, err);
    if (status == ALD_OK && memcmp(hash, l->licensee_hash, sizeof(hash)) != 0) {
        status = ald_error_set(err, ALD_E_SIGNATURE_INVALID, ALD_NO_OFFSET,
                               "the license is for somebody else than '%s'", name);
    }
    return status;
}

/* The reader goes through signer, signature, binding, revocation and expiry before it looks for a key: what is encrypted and
 * fails for want of one has passed them. */
static ald_status check_by_reading(cli_input *in, const trust_options *trust, ald_error *err)
{
    read_options read;
    memset(&read, 0, sizeof(read));
    read.trust = *trust;
    in->some_rows = 1;
    ald_status status = cli_input_stream(in, &read, NULL, err);
    const ald_trust *used = &in->trust.trust;
    if (status == ALD_E_DECRYPTION_FAILED && used->password == NULL && used->private_count == 0) {
        in->env->hint[0] = '\0';
        return ALD_OK;
    }
    return status;
}

static const char *revocation_result(const ald_info *info, const ald_revocations *list)
{
    if ((info->license->flags & ALD_LICENSE_REVOCABLE) == 0) {
        return "it cannot be revoked";
    }
    if (list == NULL) {
        return "not checked: no list was given (--revocations)";
    }
    return memcmp(list->signer, info->signer_public_key, sizeof(list->signer)) == 0
               ? "not in the list"
               : "not checked: the list is signed with another key than the file";
}

static void print_checks(const cli_env *env, const ald_info *info, const cli_trust *trust,
                         int has_name)
{
    const ald_license *l = info->license;
    char when[64];
    char text[128];
    ald_facts_line("signature", signers_find(&trust->signers, info->signer_public_key) != NULL
                                    ? "right, of a trusted signer"
                                    : "right, of a signer whom nobody here trusts");
    ald_facts_line("binding", "the signature covers this license");
    snprintf(text, sizeof(text), "%s%s", ald_facts_time(l->expires_at, when, sizeof(when)),
             trust_facts_has_expired(env, l) ? " (it has expired; --ignore-expiry was given)"
             : l->expires_at != 0 && (l->flags & ALD_LICENSE_EXPIRATION_ENFORCED) == 0
                 ? " (not enforced)"
                 : "");
    ald_facts_line("expires", text);
    ald_facts_line("revocation", revocation_result(info, trust->trust.revocations));
    ald_facts_line("licensee",
                   has_name ? "as named" : "not checked: no name was given (--licensee)");
    ald_facts_line("seats", l->flags & ALD_LICENSE_SEATS_ENFORCED ? "there is one for this user"
                                                                  : "not limited");
    ald_facts_line("queries",
                   l->flags & ALD_LICENSE_QUERY_LIMITED ? "some are left" : "not limited");
}

/* What was not checked is null. */
static void print_checks_json(cli_env *env, const ald_info *info, const cli_trust *trust,
                              int has_name)
{
    const ald_revocations *list = trust->trust.revocations;
    json_print j = {0};
    json_open(&j, NULL, '{');
    trust_facts_license_json(&j, env, info);
    json_hex(&j, "signer", info->signer_public_key, ALD_KEY_BYTES);
    json_bool(&j, "signer_trusted", signers_find(&trust->signers, info->signer_public_key) != NULL);
    if (list != NULL && memcmp(list->signer, info->signer_public_key, sizeof(list->signer)) == 0) {
        json_bool(&j, "revoked", 0);
    } else {
        json_null(&j, "revoked");
    }
    json_text(&j, "licensee", has_name ? "as named" : NULL);
    json_close(&j, '}');
    json_end(&j);
}

static ald_status check_file(cli_env *env, const check_args *args, cli_input *in,
                             const ald_info *info, ald_error *err)
{
    if (info->license == NULL) {
        return no_license(err);
    }
    in->has_trust =
        1; /* without a name nobody is asked for a password: the license is checked before it is needed */
    ald_status status = cli_trust_open(env, &args->trust, &in->source,
                                       args->trust.ask_password ? in->name : NULL, &in->trust, err);
    if (status == ALD_OK) {
        in->trust.trust.commercial = 1;
        status = check_by_reading(in, &args->trust, err);
    }
    if (status == ALD_OK) {
        status = check_licensee(env, args->licensee, info->license, err);
    }
    if (status == ALD_OK) {
        status = cli_license_is_left(env, info->license, err);
    }
    if (status == ALD_OK && args->json) {
        print_checks_json(env, info, &in->trust, args->licensee != NULL);
    } else if (status == ALD_OK) {
        print_checks(env, info, &in->trust, args->licensee != NULL);
    }
    return status;
}

static ald_status run_check(cli_env *env, void *raw, ald_error *err)
{
    const check_args *args = raw;
    cli_input in;
    ald_inspection *inspection = NULL;
    ald_status status = cli_input_open(env, args->in, "ald", &in, err);
    if (status == ALD_OK) {
        status = ald_inspect(&in.source, NULL, &env->host, &inspection, err);
    }
    if (status == ALD_OK) {
        status = check_file(env, args, &in, ald_inspection_info(inspection), err);
    }
    ald_inspection_free(inspection);
    cli_input_close(&in);
    return status;
}

/* ---- rows */

static const opt_operand show_operands[] = {
    {"FILE", "the .ald; - is standard input", offsetof(show_args, in), 0},
    {0},
};
static const opt_operand check_operands[] = {
    {"FILE", "the .ald; - is standard input", offsetof(check_args, in), 0},
    {0},
};

static const opt_spec show_specs[] = {
    {.name = "json", .kind = OPT_FLAG, .offset = offsetof(show_args, json), .help = "as JSON"},
};
static const opt_group group_show = OPT_GROUP("Output", show_specs);

static const opt_spec check_specs[] = {
    {.name = "licensee",
     .arg = "NAME",
     .kind = OPT_TEXT,
     .offset = offsetof(check_args, licensee),
     .help = "whom the license is for: the name as the seller wrote it"},
};
static const opt_group group_check = OPT_GROUP("License", check_specs);

static const opt_spec result_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(check_args, json),
     .help = "print the result as JSON"},
};
static const opt_group group_result = OPT_GROUP("Output", result_specs);

static const opt_use show_options[] = {{&group_show, 0}, {&cli_group_common, 0}, {0}};
static const opt_use check_options[] = {
    {&group_check, 0},
    {&group_result, 0},
    {&cli_group_trust, offsetof(check_args, trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const show_examples[] = {
    "what the license says",
    "alimentar license show acme.ald",
    NULL,
};
static const char *const check_examples[] = {
    "whether the file may be used here and now",
    "alimentar license check acme.ald --trusted-keys seller.key.pub --revocations revoked.ald",
    NULL,
};

const cli_command cli_cmd_license_show = {
    .verb = "license show",
    .brief = "print what the license of a .ald says",
    .details = "Nothing is proved: `alimentar license check` does that. The licensee is shown as "
               "the SHA-256 of their name.",
    .examples = show_examples,
    .operands = show_operands,
    .options = show_options,
    .args_size = sizeof(show_args),
    .run = run_show,
};

const cli_command cli_cmd_license_check = {
    .verb = "license check",
    .brief = "check everything about a license that can be enforced",
    .details =
        "The signer is trusted, the signature right, the license bound by it, not expired, not "
        "revoked, and a seat and a query are left on this machine. Each has its own error: "
        "UntrustedSigner, SignatureInvalid (also: not bound), LicenseExpired, LicenseRevoked, "
        "LicenseExhausted. An encrypted file is checked without its key, and nothing is counted.",
    .examples = check_examples,
    .operands = check_operands,
    .options = check_options,
    .args_size = sizeof(check_args),
    .run = run_check,
};
