/* SPDX-License-Identifier: MIT */
#include "cli/piracy_look.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/native.h"
#include "cli/signers.h"

static const opt_spec look_specs[] = {
    {.name = "buyers",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(look_options, buyers),
     .help =
         "a registry of buyers, as `watermark` writes it: names for hashes, and each of them is "
         "tried, which needs far less data than reading one blind; default: buyers.jsonl in "
         "~/.alimentar, where it is there"},
    {.name = "affine",
     .arg = "FACTOR,OFFSET",
     .kind = OPT_LIST,
     .offset = offsetof(look_options, affine),
     .help = "a unit conversion that the file may have gone through: its numbers are FACTOR times "
             "yours, plus OFFSET. May be repeated"},
};
const opt_group cli_group_look = OPT_GROUP("What is known", look_specs);

const char *const piracy_exit_codes[] = {
    "0  no mark was found", "1  a mark was found", PIRACY_USAGE, PIRACY_NO_ANSWER, NULL,
};

static ald_status parse_affine(const char *text, ald_watermark_affine *out, ald_error *err)
{
    char *end = NULL;
    out->factor = strtod(text, &end);
    out->offset = 0;
    if (end != text && *end == ',') {
        const char *rest = end + 1;
        out->offset = strtod(rest, &end);
        end = end == rest ? NULL : end;
    } else if (end == text) {
        end = NULL;
    }
    if (end == NULL || *end != '\0') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--affine: expected FACTOR or FACTOR,OFFSET, found '%s'", text);
    }
    return ALD_OK;
}

/* Without a name the seller's own registry, where there is one. */
static ald_status read_buyers(cli_env *env, const char *path, buyer_list *out, ald_error *err)
{
    char *own = NULL;
    ald_status status = ALD_OK;
    if (path != NULL) {
        return buyers_read(env, path, out, err);
    }
    if (cli_home_path("buyers.jsonl", &own, err) == ALD_OK && access(own, F_OK) == 0) {
        status = buyers_read(env, own, out, err);
        cli_keep_subject(env, own);
    }
    free(own);
    return status;
}

ald_status piracy_key_open(cli_env *env, const look_options *options,
                           const secret_options *passphrase, piracy_key *out, ald_error *err)
{
    ald_status status = ALD_OK;
    if (options->affine.count > PIRACY_AFFINE_MAX) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--affine: at most %u",
                             PIRACY_AFFINE_MAX);
    }
    for (size_t i = 0; i < options->affine.count && status == ALD_OK; i++) {
        status = parse_affine(options->affine.items[i], &out->affine[out->affine_count++], err);
    }
    if (status == ALD_OK) {
        status = read_buyers(env, options->buyers, &out->buyers, err);
    }
    return status == ALD_OK ? cli_seller_open(env, &options->seller, passphrase, &out->seller, err)
                            : status;
}

void piracy_key_close(piracy_key *key)
{
    buyers_clear(&key->buyers);
    cli_seller_close(&key->seller);
}

ald_status piracy_open(cli_env *env, const char *path, const read_options *read, cli_input *in,
                       left_out *left, ald_error *err)
{
    ald_status status = cli_input_open(env, path, read->from, in, err);
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in->format), err);
    }
    if (status == ALD_OK) {
        status = cli_input_stream(in, read, NULL, err);
    }
    return status == ALD_OK ? left_out_watch(left, &env->host, &in->stream, err) : status;
}

/* The buyers of the registry that are confirmed; the best one is the finding where none was read blind. */
static ald_status look_up(const piracy_key *key, ald_watermark_reading *reading, piracy_result *out,
                          ald_error *err)
{
    size_t count = 0;
    ald_status status = ald_watermark_list(reading, key->buyers.hashes, key->buyers.count,
                                           out->ranks, PIRACY_RANKS, &count, err);
    for (size_t i = 0; status == ALD_OK && i < count; i++) {
        if (out->ranks[i].log2_p <= ALD_WATERMARK_VERIFIED_LOG2_P) {
            out->rank_count = i + 1;
        }
    }
    if (status == ALD_OK && out->rank_count > 0 && !out->finding.found) {
        status = ald_watermark_verify(reading, key->buyers.items[out->ranks[0].buyer].hash,
                                      &out->finding, err);
        out->finding.log2_p = out->ranks[0].log2_p; /* of so many buyers */
        out->finding.evidence_bits = -out->ranks[0].log2_p;
        out->finding.found = 1;
        out->finding.is_marked = 1;
        out->is_listed = 1;
    }
    return status;
}

ald_status piracy_look(cli_env *env, const piracy_key *key, cli_input *in, piracy_result *out,
                       ald_error *err)
{
    ald_watermark_read_options options = ALD_WATERMARK_READ_OPTIONS_INIT;
    ald_watermark_reading *reading = NULL;
    struct ArrowArrayStream stream = in->stream;
    memset(out, 0, sizeof(*out));
    memset(&in->stream, 0, sizeof(in->stream));
    options.affine = key->affine;
    options.affine_count = key->affine_count;
    ald_status status =
        ald_watermark_read(&stream, key->seller.keys->mark, &options, &env->host, &reading, err);
    if (status == ALD_OK) {
        status = ald_watermark_extract(reading, &out->finding, err);
    }
    if (status == ALD_OK && key->buyers.count > 0) {
        status = look_up(key, reading, out, err);
    }
    ald_watermark_reading_free(reading);
    return status;
}

ald_status piracy_write(cli_env *env, const char *path, int replace, const char *data, size_t size,
                        ald_error *err)
{
    ald_file_sink *file = NULL;
    if (path == NULL || strcmp(path, "-") == 0) {
        cli_print(data, size);
        return ALD_OK;
    }
    env->subject = path;
    ald_status status = ald_file_create(path, replace ? ALD_FILE_REPLACE : 0, &file, err);
    if (status != ALD_OK) {
        cli_hint(env, "--force replaces a file that is there");
        return status;
    }
    const ald_sink *sink = ald_file_sink_get(file);
    status = sink->write(sink->ctx, data, size, err);
    if (status != ALD_OK) {
        ald_file_abort(file);
        return status;
    }
    return ald_file_commit(file, err);
}
