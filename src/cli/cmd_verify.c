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

typedef struct verify_args {
    cli_common common;
    const char *in;
    const char *from;
    uint8_t json, report;
} verify_args;

/* The group --from stores into read_options. */
_Static_assert(offsetof(read_options, from) == 0, "verify_args.from stands for read_options");

typedef struct check {
    const char *name;
    const char *result; /* "ok", "unchecked", "absent" */
    char why[160];
} check;

typedef struct check_list {
    check items[8];
    size_t count;
} check_list;

static void add(check_list *list, const char *name, const char *result, const char *why)
{
    check *c = &list->items[list->count++];
    c->name = name;
    c->result = result;
    snprintf(c->why, sizeof(c->why), "%s", why);
}

/* The checks that a load has made: `status` is ALD_OK, or what it lacked a key for. */
static void list_checks(check_list *list, const ald_info *info, ald_status status)
{
    int payload_checked = status == ALD_OK;
    char why[160];
    snprintf(why, sizeof(why),
             "header, metadata and %" PRId64 " columns; the sections fill the file",
             info->schema != NULL ? info->schema->n_children : 0);
    add(list, "structure", "ok", why);
    add(list, "checksum", "ok",
        info->crc32_variant == ALD_CRC32_CRATE
            ? "the deviating CRC32 of the Rust crate alimentar (0.1 to 0.4)"
            : "CRC32");
    if (payload_checked) {
        snprintf(why, sizeof(why),
                 "%" PRIu64 " rows, %" PRIu64 " bytes: every offset, index and text",
                 info->num_rows, info->uncompressed_size);
        add(list, "payload", "ok", why);
    } else {
        add(list, "payload", "unchecked",
            status == ALD_E_DECRYPTION_FAILED
                ? "it is encrypted, and no key was given"
                : "the signer is not trusted, so it is not looked at");
    }
    int has_sha256 = ald_value_find(info->metadata, "sha256") != NULL;
    add(list, "sha256",
        !has_sha256       ? "absent"
        : payload_checked ? "ok"
                          : "unchecked",
        has_sha256 ? "SHA-256 of the uncompressed payload" : "the metadata have none");
    if (info->signer_public_key != NULL) {
        add(list, "signature", "unchecked", "no trusted key was given");
    } else {
        add(list, "signature", "absent", "anyone may have made this file");
    }
    if (info->license != NULL) {
        add(list, "license", status == ALD_E_UNTRUSTED_SIGNER ? "unchecked" : "ok", "of this file");
    } else {
        add(list, "license", "absent", "none is needed");
    }
}

static void print_text(const check_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const check *c = &list->items[i];
        cli_printf("%-10s %-10s %s\n", c->result, c->name, c->why);
    }
}

static void print_json(const cli_input *in, const check_list *list, const ald_info *info,
                       const ald_error *err)
{
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "file", in->name);
    json_bool(&j, "valid", err == NULL);
    if (info != NULL) {
        json_uint(&j, "num_rows", info->num_rows);
        json_text(&j, "crc32",
                  info->crc32_variant == ALD_CRC32_CRATE  ? "crate"
                  : info->crc32_variant == ALD_CRC32_IEEE ? "ieee"
                                                          : NULL);
    }
    json_open(&j, "checks", '[');
    for (size_t i = 0; i < list->count; i++) {
        json_open(&j, NULL, '{');
        json_text(&j, "name", list->items[i].name);
        json_text(&j, "result", list->items[i].result);
        json_text(&j, "why", list->items[i].why);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (err != NULL) {
        json_error(&j, err);
    }
    json_close(&j, '}');
    json_end(&j);
}

/* Whether a load failed for want of a key alone: all checks before it have passed. */
static int lacks_key(ald_status status, uint8_t flags)
{
    return (status == ALD_E_DECRYPTION_FAILED && (flags & ALD_FLAG_ENCRYPTED) != 0) ||
           (status == ALD_E_UNTRUSTED_SIGNER && (flags & ALD_FLAG_SIGNED) != 0);
}

/* Chunk after chunk, so that memory does not grow with the file. */
static ald_status check_chunks(cli_env *env, cli_input *in, ald_error *err)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    options.check_all = 1;
    ald_status status = ald_streaming_open(&in->source, &options, &env->host, &in->streaming, err);
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
    return cli_input_has_chunks(in) ? check_chunks(env, in, err)
                                    : ald_load(&in->source, NULL, &env->host, &in->dataset, err);
}

static ald_status verify_ald(cli_env *env, const verify_args *args, cli_input *in, ald_error *err)
{
    check_list list = {.count = 0};
    ald_inspection *inspection = NULL;
    const ald_info *info = NULL;
    ald_error failure;
    ald_status status = check_ald(env, in, &failure);
    if (status == ALD_OK) {
        info = cli_input_info(in);
    } else if (ald_inspect(&in->source, NULL, &env->host, &inspection, NULL) == ALD_OK &&
               lacks_key(status, ald_inspection_info(inspection)->flags)) {
        info = ald_inspection_info(inspection);
    }
    if (info != NULL) {
        list_checks(&list, info, status);
    }
    /* A payload that nobody without the key can read is no fault of the file; a signature that is not trusted is
     * never passed over. */
    status = status == ALD_E_DECRYPTION_FAILED && info != NULL ? ALD_OK : status;
    if (args->json) {
        print_json(in, &list, info, status != ALD_OK ? &failure : NULL);
    } else {
        print_text(&list);
    }
    if (status != ALD_OK && info == NULL && cli_input_has_chunks(in)) {
        cli_hint(env, "get a new copy; or `alimentar verify --report FILE` lists the damaged "
                      "chunks, and `alimentar repair IN OUT` saves the others");
    }
    if (status != ALD_OK && err != NULL) {
        *err = failure;
    }
    ald_inspection_free(inspection);
    return status;
}

static ald_status verify_stream(cli_env *env, const verify_args *args, cli_input *in,
                                ald_error *err)
{
    check_list list = {.count = 0};
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
        add(&list, "content", "ok", why);
    } else if (err != NULL) {
        *err = failure;
    }
    if (args->json) {
        print_json(in, &list, NULL, status != ALD_OK ? &failure : NULL);
    } else {
        print_text(&list);
    }
    return status;
}

/* Every chunk by itself, whatever else is wrong with the file. */
static ald_status report_damage(cli_env *env, const verify_args *args, cli_input *in,
                                ald_error *err)
{
    damage_list damage = {0};
    ald_status status = damage_open(env, in, &in->streaming, err);
    for (uint64_t i = 0; status == ALD_OK && i < ald_streaming_chunk_count(in->streaming); i++) {
        struct ArrowArray batch;
        status = damage_load(&damage, in->streaming, i, &batch, err);
        if (status == ALD_OK && batch.release != NULL) {
            batch.release(&batch);
        }
    }
    if (status == ALD_OK && args->json) {
        json_print j = {0};
        json_open(&j, NULL, '{');
        json_text(&j, "file", in->name);
        damage_json(&j, &damage);
        json_close(&j, '}');
        json_end(&j);
    } else if (status == ALD_OK) {
        damage_print(&damage);
        cli_printf("%" PRIu64 " of %" PRIu64 " chunks are whole; %" PRIu64 " rows are in the "
                   "others\n",
                   damage.chunk_count - damage.count, damage.chunk_count, damage.lost_rows);
    }
    if (status == ALD_OK && damage.count > 0) {
        env->subject = in->name;
        cli_hint(env, "`alimentar repair IN OUT` saves the chunks that are whole");
        status = ald_error_set(err, (ald_status)damage.items[0].error.status, ALD_NO_OFFSET,
                               "%zu damaged chunk%s", damage.count, damage.count == 1 ? "" : "s");
    }
    damage_clear(&damage);
    return status;
}

static ald_status run_verify(cli_env *env, void *raw, ald_error *err)
{
    const verify_args *args = raw;
    cli_input in;
    ald_status status = cli_input_open(env, args->in, args->from, &in, err);
    if (status == ALD_OK && args->report) {
        status = report_damage(env, args, &in, err);
    } else if (status == ALD_OK) {
        status = in.format == FORMAT_ALD ? verify_ald(env, args, &in, err)
                                         : verify_stream(env, args, &in, err);
    }
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "the file to check; - is standard input (with --from)", offsetof(verify_args, in), 0},
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
     .help = "of a .ald with chunks: list the damaged ones, with their rows and bytes, and check "
             "nothing else"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&group_output, 0},
    {&cli_group_from, offsetof(verify_args, from)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "is the copy intact",
    "alimentar verify data.ald && echo intact",
    NULL,
};

const cli_command cli_cmd_verify = {
    .verb = "verify",
    .brief = "check everything in a file that can be checked",
    .details = "A .ald: structure, CRC32, decompression, every value's offsets, indices and text, "
               "SHA-256 where there is "
               "one. What needs a key that was not given is reported as unchecked. Other formats "
               "have no checksums: they "
               "are read to the end.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(verify_args),
    .run = run_verify,
};
