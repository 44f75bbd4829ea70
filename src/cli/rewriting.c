/* SPDX-License-Identifier: MIT */
#include "cli/rewriting.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ald/schema.h"
#include "cli/keep_trust.h"
#include "cli/trust_facts.h"

static const opt_spec place_specs[] = {
    {.name = "output",
     .letter = 'o',
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(place_options, out),
     .help = "the same as OUT"},
    {.name = "force",
     .letter = 'f',
     .kind = OPT_FLAG,
     .offset = offsetof(place_options, force),
     .help = "replace the output if it exists"},
};
const opt_group cli_group_place = OPT_GROUP("Output", place_specs);

#define TRUST(member) .offset = offsetof(trust_options, member)
/* The private key is first: a command that needs none takes the rest. */
static const opt_spec input_specs[] = {
    {.name = "private-key",
     .arg = "FILE",
     .kind = OPT_LIST,
     TRUST(private_keys),
     .help = "opens an input that is encrypted for recipients. May be repeated"},
    {.name = "key-passphrase-file",
     .arg = "FILE",
     .kind = OPT_TEXT,
     TRUST(key_passphrase.file),
     .help = "the passphrase of private keys is in FILE; else it comes from --key-passphrase-fd, "
             "ALIMENTAR_KEY_PASSPHRASE or the terminal"},
    {.name = "key-passphrase-fd",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 65535,
     TRUST(key_passphrase.fd),
     .help = "it comes from the open file descriptor N"},
    {.name = "trusted-keys",
     .arg = "FILE|FOLDER",
     .kind = OPT_LIST,
     TRUST(trusted_keys),
     .help = "public keys of the signers of the input to trust, in place of the trust store. May "
             "be repeated"},
    {.name = "allow-untrusted",
     .kind = OPT_FLAG,
     TRUST(allow_untrusted),
     .help = "read the input whoever signed it"},
};
const opt_group cli_group_input_trust = OPT_GROUP("Input", input_specs);
const opt_group cli_group_input_signers = {"Input", input_specs + 1,
                                           sizeof(input_specs) / sizeof(input_specs[0]) - 1};

static ald_status open_output(cli_env *env, rewriting *r, ald_error *err)
{
    place_options *place = &r->place;
    write_options write;
    ald_status status = cli_output_path(place->to, place->out, &place->out, err);
    if (status != ALD_OK) {
        return status;
    }
    memset(&write, 0, sizeof(write));
    write.to = "ald";
    write.force = place->force;
    if (place->out == NULL && strcmp(place->in, "-") == 0) {
        cli_hint(env, "name it; - is standard output");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the output is missing");
    }
    return cli_output_init(env, place->out != NULL ? place->out : place->in, &write,
                           place->out != NULL ? place->in : NULL, &r->out, err);
}

static int has_magic(const ald_source *source)
{
    char magic[4];
    return source->size_bytes >= sizeof(magic) &&
           source->read_at(source->ctx, 0, magic, sizeof(magic), NULL) == ALD_OK &&
           memcmp(magic, "ALDF", sizeof(magic)) == 0;
}

ald_status cli_rewriting_open(cli_env *env, const place_options *place, const trust_options *trust,
                              int needs_key, rewriting *out, ald_error *err)
{
    static const trust_options no_trust;
    static const ald_rewrite_options none = ALD_REWRITE_OPTIONS_INIT;
    memset(out, 0, sizeof(*out));
    out->env = env;
    out->place = *place;
    out->options = none;
    ald_status status = open_output(env, out, err);
    if (status == ALD_OK) {
        status = cli_input_open(env, place->in, "ald", &out->in, err);
    }
    if (status == ALD_OK) {
        status = ald_inspect(&out->in.source, NULL, &env->host, &out->inspection, err);
        out->info = status == ALD_OK ? ald_inspection_info(out->inspection) : NULL;
        if (status == ALD_E_INVALID_FORMAT && !has_magic(&out->in.source)) {
            cli_hint(env, "`alimentar convert FILE OUT.ald` makes a .ald of other formats");
        }
    }
    if (status == ALD_OK && needs_key) {
        status = cli_input_trust(&out->in, trust, err);
    } else if (status == ALD_OK) {
        out->in.has_trust = 1; /* without a name nobody is asked for a password */
        status =
            cli_trust_open(env, trust != NULL ? trust : &no_trust, NULL, NULL, &out->in.trust, err);
    }
    return status == ALD_OK ? cli_protection_open(&out->protection, err) : status;
}

ald_status cli_rewriting_sign(rewriting *r, const sign_options *sign,
                              const secret_options *key_passphrase, ald_error *err)
{
    keep_options keep;
    uint8_t own[ALD_KEY_BYTES];
    memset(&keep, 0, sizeof(keep));
    keep.sign = *sign;
    ald_status status = cli_keep_check(r->env, &keep, r->info, err);
    if (status == ALD_OK) {
        status = cli_protection_sign(r->env, &r->protection, sign->key, key_passphrase, own, err);
    }
    r->options.signing = sign->key != NULL      ? ALD_SIGNING_SIGN
                         : sign->drop_signature ? ALD_SIGNING_STRIP
                                                : ALD_SIGNING_REFUSE;
    if (status == ALD_OK && sign->key != NULL && r->info->signer_public_key != NULL &&
        memcmp(own, r->info->signer_public_key, sizeof(own)) == 0) {
        r->in.trust.trust.allow_untrusted = 1; /* one's own signature needs nobody's trust */
    } else {
        r->replaces_signer = sign->key != NULL;
    }
    return status;
}

static ald_status edit_checked(void *ctx, const ald_info *checked, ald_value *metadata,
                               ald_error *err)
{
    const rewriting *r = ctx;
    ald_status status = trust_facts_compare(r->info, checked, err);
    return status == ALD_OK && r->edit != NULL ? r->edit(r->edit_ctx, metadata, err) : status;
}

static ald_status rewrite_into(void *ctx, const ald_sink *sink, ald_error *err)
{
    rewriting *r = ctx;
    r->env->subject = r->in.name;
    ald_status status = ald_rewrite(&r->in.source, sink, &r->options, &r->env->host, err);
    if (status != ALD_OK) {
        cli_trust_explain(r->env, &r->in.trust, &r->in.source, status);
    }
    return status;
}

void cli_rewriting_note_license(const rewriting *r)
{
    if (trust_facts_is_bound(r->info) && r->options.signing == ALD_SIGNING_STRIP &&
        r->options.licensing == ALD_LICENSING_KEEP) {
        cli_note(r->env, "the license is kept, but no signature binds it any more");
    }
}

ald_status cli_rewriting_run(rewriting *r, ald_error *err)
{
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    const char *path = r->place.out != NULL ? r->place.out : r->place.in;
    cli_trust_load(&r->in.trust, &load);
    r->options.load = &load;
    r->options.edit = edit_checked;
    r->options.edit_ctx = r;
    r->options.protection = r->protection.protection;
    ald_status status = cli_output_fill(&r->out, path, rewrite_into, r, err);
    r->options.load = NULL;
    if (status == ALD_OK) {
        cli_rewriting_note_license(r);
        if (r->replaces_signer) {
            cli_keep_note_signer(r->env, r->info);
        }
    }
    if (status == ALD_OK && isatty(STDERR_FILENO)) {
        cli_note(r->env, "%s: %" PRIu64 " bytes", r->out.name, r->out.byte_count);
    }
    return status;
}

void cli_rewriting_close(rewriting *r)
{
    cli_protection_close(&r->protection);
    ald_inspection_free(r->inspection);
    cli_input_close(&r->in);
}
