/* SPDX-License-Identifier: MIT */
/* alimentar verify FILE: every check there is, and what could not be checked. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/ald_facts.h"
#include "cli/command.h"
#include "cli/damage.h"
#include "cli/input.h"
#include "cli/verify_checks.h"
#include "cli/verify_many.h"

static void print_json(verify_page *page, const cli_input *in, const verify_list *list,
                       const ald_info *info, const ald_error *err)
{
    json_print *j = &page->j;
    json_open(j, NULL, '{');
    json_text(j, "file", in->name);
    json_bool(j, "valid", err == NULL);
    if (info != NULL) {
        json_uint(j, "num_rows", info->num_rows);
        json_text(j, "crc32",
                  info->crc32_variant == ALD_CRC32_CRATE  ? "crate"
                  : info->crc32_variant == ALD_CRC32_IEEE ? "ieee"
                                                          : NULL);
    }
    verify_json(j, list);
    if (err != NULL) {
        json_error(j, err);
    }
    json_close(j, '}');
    if (!page->is_one_of_several) {
        json_end(j);
    }
}

/* Chunk after chunk, so that memory does not grow with the file. */
static ald_status check_chunks(cli_env *env, cli_input *in, const ald_load_options *options,
                               ald_error *err)
{
    ald_status status = ald_streaming_open(&in->source, options, &env->host, &in->streaming, err);
    for (uint64_t i = 0; status == ALD_OK && i < ald_streaming_chunk_count(in->streaming); i++) {
        struct ArrowArray batch;
        status = ald_streaming_chunk(in->streaming, i, NULL, &batch, err);
        if (status == ALD_OK) {
            batch.release(&batch);
        }
    }
    return status;
}

static ald_status check_ald(cli_env *env, cli_input *in, ald_error *err)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    options.check_all = 1;
    cli_trust_load(&in->trust, &options);
    return cli_input_has_chunks(in)
               ? check_chunks(env, in, &options, err)
               : ald_load(&in->source, &options, &env->host, &in->dataset, err);
}

static void print_checks(verify_page *page, const cli_input *in, const verify_list *list,
                         const ald_info *info, const ald_error *failure)
{
    if (page->json) {
        print_json(page, in, list, info, failure);
    } else if (!page->is_one_of_several) {
        verify_print(list);
    }
}

/* What is known of a file that failed, with its checksum where that is right. */
static ald_inspection *inspect_failed(cli_env *env, const cli_input *in)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_inspection *out = NULL;
    options.check_all = 1;
    if (ald_inspect(&in->source, &options, &env->host, &out, NULL) == ALD_OK ||
        ald_inspect(&in->source, NULL, &env->host, &out, NULL) == ALD_OK) {
        return out;
    }
    return NULL;
}

static ald_status verify_ald(cli_env *env, const verify_args *args, verify_page *page,
                             cli_input *in, ald_error *err)
{
    verify_list list = {.count = 0};
    ald_inspection *inspection = NULL;
    const ald_info *info = NULL;
    ald_error failure = {0};
    trust_options trust = args->read.trust;
    trust.may_lack_password = 1;
    trust.like = page->like;
    ald_status status = cli_input_trust(in, &trust, err);
    if (status != ALD_OK) {
        return status;
    }
    status = check_ald(env, in, &failure);
    if (status == ALD_OK) {
        info = cli_input_info(in);
    } else {
        inspection = inspect_failed(env, in);
        info = inspection != NULL ? ald_inspection_info(inspection) : NULL;
    }
    if (status != ALD_E_IO && status != ALD_E_NOMEM) {
        verify_list_checks(env, &list, &in->trust, info, status != ALD_OK ? &failure : NULL);
    }
    /* A payload that nobody without the key can read is no fault of the file; a signature that is not trusted is
     * never passed over. */
    if (info != NULL && verify_lacks_secret(&in->trust, info, status)) {
        status = ALD_OK;
        page->is_unchecked = 1;
    }
    page->row_count = info != NULL ? info->num_rows : 0;
    print_checks(page, in, &list, info, status != ALD_OK ? &failure : NULL);
    cli_trust_explain(env, &in->trust, &in->source, status);
    if (status != ALD_OK && err != NULL) {
        *err = failure;
    }
    ald_inspection_free(inspection);
    return status;
}

static ald_status verify_stream(cli_env *env, verify_page *page, cli_input *in, ald_error *err)
{
    verify_list list = {.count = 0};
    ald_error failure;
    char why[160];
    uint64_t rows = 0;
    ald_status status = cli_input_stream(in, NULL, NULL, &failure);
    while (status == ALD_OK) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        status = ald_stream_next(&in->stream, &batch, &failure);
        if (status != ALD_OK || batch.release == NULL) {
            break;
        }
        rows += (uint64_t)batch.length;
        batch.release(&batch);
    }
    cli_progress_end(&in->progress);
    env->subject = in->name;
    if (status == ALD_OK) {
        snprintf(why, sizeof(why), "%" PRIu64 " rows read to the end; the format has no checksum",
                 rows);
        verify_add(&list, "content", "ok", why);
    } else if (err != NULL) {
        *err = failure;
    }
    page->row_count = rows;
    print_checks(page, in, &list, NULL, status != ALD_OK ? &failure : NULL);
    return status;
}

static void print_damage(const verify_args *args, const cli_input *in, const damage_list *damage)
{
    if (args->json) {
        json_print j = {0};
        json_open(&j, NULL, '{');
        json_text(&j, "file", in->name);
        damage_json(&j, damage);
        json_close(&j, '}');
        json_end(&j);
        return;
    }
    damage_print(damage);
    cli_printf("%" PRIu64 " of %" PRIu64 " chunks are whole; %" PRIu64
               " rows are in the others%s\n",
               damage->chunk_count - damage->count, damage->chunk_count, damage->lost_rows,
               damage->outside_count > 0 ? "; there is damage outside the chunks" : "");
}

static ald_status tell_damage(cli_env *env, const damage_list *damage, ald_error *err)
{
    const ald_error *first = damage->count > 0           ? &damage->items[0].error
                             : damage->outside_count > 0 ? &damage->outside[0].error
                                                         : NULL;
    if (first == NULL) {
        return ALD_OK;
    }
    cli_hint(env, "`alimentar repair IN OUT` saves the chunks that are whole");
    if (damage->count == 0) {
        return ald_error_set(err, (ald_status)first->status, ALD_NO_OFFSET,
                             "damage outside the chunks");
    }
    return ald_error_set(err, (ald_status)first->status, ALD_NO_OFFSET, "%zu damaged chunk%s%s",
                         damage->count, damage->count == 1 ? "" : "s",
                         damage->outside_count > 0 ? ", and damage outside them" : "");
}

/* Every chunk by itself, whatever else is wrong with the file; then what else that is. */
static ald_status report_damage(cli_env *env, const verify_args *args, cli_input *in,
                                ald_error *err)
{
    damage_list damage = {0};
    ald_status status = cli_input_trust(in, &args->read.trust, err);
    if (status == ALD_OK) {
        status = damage_open(env, in, &in->streaming, err);
        cli_trust_explain(env, &in->trust, &in->source, status);
    }
    for (uint64_t i = 0; status == ALD_OK && i < ald_streaming_chunk_count(in->streaming); i++) {
        struct ArrowArray batch;
        status = damage_load(&damage, in->streaming, i, &batch, err);
        if (status == ALD_OK && batch.release != NULL) {
            batch.release(&batch);
        }
    }
    if (status == ALD_OK) {
        status = damage_look_outside(&damage, env, in, in->streaming, err);
    }
    if (status == ALD_OK) {
        print_damage(args, in, &damage);
        env->subject = in->name;
        status = tell_damage(env, &damage, err);
    }
    damage_clear(&damage);
    return status;
}

ald_status verify_one(cli_env *env, const verify_args *args, verify_page *page, cli_input *in,
                      ald_error *err)
{
    page->is_unchecked = 0;
    return in->format == FORMAT_ALD ? verify_ald(env, args, page, in, err)
                                    : verify_stream(env, page, in, err);
}

/* ---- */

static ald_status run_verify(cli_env *env, void *raw, ald_error *err)
{
    const verify_args *args = raw;
    verify_page page = {.json = args->json};
    cli_input in;
    ald_status status = cli_input_open_all(env, &args->in, args->read.from, &in, err);
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in.format), err);
    }
    if (status == ALD_OK && args->report && in.many != NULL) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "--report looks at one file alone");
    }
    env->subject = status == ALD_OK ? in.name : env->subject;
    if (status == ALD_OK && args->report) {
        status = report_damage(env, args, &in, err);
    } else if (status == ALD_OK) {
        status = in.many != NULL ? verify_many(env, args, &in, err)
                                 : verify_one(env, args, &page, &in, err);
    }
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"FILE",
     "the file to check; - is standard input (with --from). Several files, a quoted pattern, a "
     "folder or a manifest are checked one by one, and that their columns are the same",
     offsetof(verify_args, in), OPT_OPERAND_MANY},
    {0},
};

static const opt_spec output_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(verify_args, json),
     .help = "print the checks as JSON"},
    {.name = "report",
     .kind = OPT_FLAG,
     .offset = offsetof(verify_args, report),
     .help = "of one .ald with chunks: list what is damaged, chunks with their rows and bytes, and "
             "parts outside them; signer and license are not looked at"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&group_output, 0},
    {&cli_group_from, offsetof(verify_args, read)},
    {&cli_group_trust, offsetof(verify_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "is the copy intact",
    "alimentar verify data.ald && echo intact",
    "a dataset in shards, against its manifest",
    "alimentar verify out-manifest.json",
    NULL,
};

const cli_command cli_cmd_verify = {
    .verb = "verify",
    .brief = "check everything in a file that can be checked",
    .details =
        "A .ald: structure, CRC32, signer and signature, seal, license, decryption, decompression, "
        "every value's offsets, indices and text, SHA-256 where there is one. Each check is ok, "
        "failed, unchecked or absent (there is nothing to check). A password or private key that "
        "was not given leaves the payload unchecked, which is no failure; a signer whom nobody "
        "trusts is one. Other formats have no checksums: they are read to the end. With a "
        "manifest, the size, BLAKE3 hash and rows of each file are "
        "compared with what it says; its signature, where it has one, says that none of them is "
        "missing, another one or in another place.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(verify_args),
    .run = run_verify,
};
