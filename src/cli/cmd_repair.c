/* SPDX-License-Identifier: MIT */
/* alimentar repair IN OUT: what is whole of a damaged file, and exactly what is not. */
#include <inttypes.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/command.h"
#include "cli/damage.h"
#include "cli/input.h"
#include "cli/keep_trust.h"
#include "cli/output.h"

typedef struct repair_args {
    cli_common common;
    const char *in, *out;
    trust_options trust;
    keep_options keep;
    write_options write;
    uint8_t json;
} repair_args;

/* The whole chunks of a file as a stream. */
typedef struct salvage {
    cli_env *env;
    ald_streaming *file;
    damage_list *damage;
    uint64_t next, kept_rows;
} salvage;

static ald_status salvage_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const salvage *s = ctx;
    return ald_schema_copy(&s->env->host, ald_streaming_schema(s->file), out, err);
}

static ald_status salvage_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    salvage *s = ctx;
    ald_status status = ALD_OK;
    out->release = NULL;
    while (status == ALD_OK && out->release == NULL &&
           s->next < ald_streaming_chunk_count(s->file)) {
        status = damage_load(s->damage, s->file, s->next++, out, err);
    }
    if (status == ALD_OK && out->release != NULL) {
        s->kept_rows += (uint64_t)out->length;
    }
    return status;
}

static void salvage_free(void *ctx)
{
    (void)ctx; /* on the caller's stack */
}

static void report(const repair_args *args, const salvage *s)
{
    const damage_list *d = s->damage;
    if (args->json) {
        json_print j = {0};
        json_open(&j, NULL, '{');
        json_text(&j, "file", args->in);
        json_text(&j, "output", args->out);
        json_uint(&j, "kept_rows", s->kept_rows);
        json_bool(&j, "signed_chunks", ald_streaming_info(s->file)->signer_public_key != NULL);
        damage_json(&j, d);
        json_close(&j, '}');
        json_end(&j);
        return;
    }
    damage_print(d);
    cli_printf("%" PRIu64 " of %" PRIu64 " chunks kept, %" PRIu64 " rows; %" PRIu64 " rows lost\n",
               d->chunk_count - d->count, d->chunk_count, s->kept_rows, d->lost_rows);
}

static ald_status write_kept(cli_env *env, const repair_args *args, salvage *s,
                             const ald_protection *protection, ald_error *err)
{
    const ald_info *info = ald_streaming_info(s->file);
    ald_stream_impl impl = {salvage_schema, salvage_next, salvage_free, s, 0};
    ald_extras extras = {
        info->dataset_type, info->compression, info->metadata, protection, 0, NULL};
    write_options write = args->write;
    struct ArrowArrayStream batches;
    cli_output out;
    write.streaming = 1;
    write.to = "ald";
    ald_status status = cli_output_init(env, args->out, &write, args->in, &out, err);
    if (status == ALD_OK) {
        status = ald_stream_new(&impl, &env->host.alloc, &batches, err);
    }
    return status != ALD_OK ? status
                            : cli_output_write(&out, args->out, &batches, &write, &extras, err);
}

/* What the output is without, said aloud: the rows are not those that were signed. */
static void note_loss(const cli_env *env, const repair_args *args, uint8_t flags,
                      const uint8_t *sealed_by, int has_license)
{
    char print[ALD_FINGERPRINT_BYTES];
    if (sealed_by != NULL && ald_key_fingerprint(sealed_by, &env->host, print, NULL) == ALD_OK) {
        cli_note(env,
                 "what is kept was checked against the hashes that %s signed; whether to "
                 "trust this key, and whether rows are missing, was not",
                 print);
        if (args->keep.sign.key == NULL) {
            cli_note(env, "the output is not signed; --key signs it");
        }
    } else if ((flags & ALD_FLAG_SIGNED) != 0) {
        cli_note(env,
                 args->keep.sign.key != NULL
                     ? "the signature of the damaged file was not checked; yours says that the "
                       "rows that are left are the right ones"
                     : "the output is not signed; --key signs it");
    }
    if ((flags & ALD_FLAG_LICENSED) != 0) {
        cli_note(env, has_license ? "the license is kept as it is in the damaged file"
                                  : "the license cannot be read, the output has none");
    }
}

/* Encrypted like the damaged file. Blocks at the end, a license among them, can be read where the file was not cut. */
static ald_status write_protected(cli_env *env, const repair_args *args, cli_input *in, salvage *s,
                                  ald_error *err)
{
    ald_info info = *ald_streaming_info(s->file);
    ald_inspection *whole = NULL;
    cli_protection protection = {0};
    const uint8_t *sealed_by = info.signer_public_key;
    info.signer_public_key = NULL; /* its signature is lost in any case: nobody has to say so */
    if ((info.flags & ALD_FLAG_LICENSED) != 0 &&
        ald_inspect(&in->source, NULL, &env->host, &whole, NULL) == ALD_OK) {
        info.license = ald_inspection_info(whole)->license;
    }
    ald_status status = cli_keep_check(env, &args->keep, &info, err);
    if (status == ALD_OK) {
        status = cli_keep_open(env, &args->keep, &args->trust.key_passphrase, &info, &in->trust,
                               &protection, err);
    }
    if (status == ALD_OK) {
        note_loss(env, args, info.flags, sealed_by, info.license != NULL);
        status = write_kept(env, args, s, &protection.protection, err);
    }
    cli_protection_close(&protection);
    ald_inspection_free(whole);
    return status;
}

/* A signature is over the whole file: of a damaged one it tells nothing. Who asks for it is not answered with rows. */
static ald_status check_demands(cli_env *env, const trust_options *trust, ald_error *err)
{
    const char *option = trust->trusted_keys.count > 0 ? "--trusted-keys"
                         : trust->revocations != NULL  ? "--revocations"
                                                       : NULL;
    if (option == NULL) {
        return ALD_OK;
    }
    cli_hint(env, "without %s what is left is saved, whoever made it", option);
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "%s: no signature and no license is checked in a damaged file", option);
}

static ald_status run_repair(cli_env *env, void *raw, ald_error *err)
{
    repair_args *args = raw;
    damage_list damage = {0};
    salvage s = {env, NULL, &damage, 0, 0};
    cli_input in;
    ald_status status = check_demands(env, &args->trust, err);
    if (status != ALD_OK) {
        return status;
    }
    status = cli_input_open(env, args->in, "ald", &in, err);
    if (status == ALD_OK) {
        status = cli_input_trust(&in, &args->trust, err);
    }
    if (status == ALD_OK) {
        status = damage_open(env, &in, &s.file, err);
        cli_trust_explain(env, &in.trust, &in.source, status);
    }
    if (status == ALD_OK) {
        status = write_protected(env, args, &in, &s, err);
    }
    if (status == ALD_OK) {
        report(args, &s);
    }
    ald_streaming_close(s.file);
    damage_clear(&damage);
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"IN", "the damaged .ald, written in chunks", offsetof(repair_args, in), 0},
    {"OUT", "the .ald to write", offsetof(repair_args, out), 0},
    {0},
};

static const opt_spec specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(repair_args, json),
     .help = "print what was kept and lost as JSON"},
};
static const opt_group group = OPT_GROUP("Report", specs);

static const opt_use options[] = {
    {&group, 0},
    {&cli_group_write_ald, offsetof(repair_args, write)},
    {&cli_group_sign, offsetof(repair_args, keep.sign)},
    {&cli_group_keep, offsetof(repair_args, keep)},
    {&cli_group_trust, offsetof(repair_args, trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "save what can be saved of a download that was cut",
    "alimentar repair cut.ald whole.ald",
    NULL,
};

const cli_command cli_cmd_repair = {
    .verb = "repair",
    .brief = "save the whole chunks of a damaged .ald",
    .details =
        "Every chunk that still passes its checks goes into a new file, encrypted like the damaged "
        "one and not signed without --key; for "
        "each other one the lost rows, their bytes in the file and the reason are printed. Rows "
        "are counted from 0. Where the signer sealed the chunks, one that is not as it was signed "
        "counts as lost; whose key that is nobody checks. Exit code 0 says that the output is "
        "written, also where rows are lost: the last line, or lost_rows of --json, says how many. "
        "The file "
        "must have been written in "
        "chunks (as files above 100 MB "
        "are), and its beginning, up to the chunk index, must be whole.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(repair_args),
    .run = run_repair,
};
