/* SPDX-License-Identifier: MIT */
#include "cli/card_export.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ald/crypto.h"
#include "ald/stats.h"
#include "card/card_check.h"
#include "card/card_value.h"
#include "card/croissant.h"
#include "card/datasheet.h"
#include "cli/card_file.h"
#include "cli/output.h"

typedef enum card_kind { KIND_README, KIND_CROISSANT, KIND_DATASHEET } card_kind;
const char *const card_export_kinds[] = {"readme", "croissant", "datasheet", NULL};

/* ---- which */

static int ends_in(const char *name, const char *end)
{
    size_t size = strlen(name);
    size_t end_size = strlen(end);
    return size >= end_size && strcasecmp(name + size - end_size, end) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static ald_status find_kind(cli_env *env, const card_export_options *options, card_kind *out,
                            ald_error *err)
{
    const char *name = base_name(options->path);
    *out = KIND_README;
    if (options->kind != 0) {
        *out = (card_kind)(options->kind - 1);
    } else if (ends_in(name, ".json") || ends_in(name, ".jsonld")) {
        *out = KIND_CROISSANT;
    } else if (ends_in(name, ".md") || ends_in(name, ".markdown")) {
        *out = strncasecmp(name, "datasheet", 9) == 0 ? KIND_DATASHEET : KIND_README;
    } else {
        cli_hint(env, "--as readme, croissant or datasheet says it; so do README.md, "
                      "croissant.json and datasheet.md");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--export %s: the name does not tell what to write", options->path);
    }
    if (options->url != NULL && *out == KIND_README) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--url has no effect on a README.md");
    }
    return ALD_OK;
}

/* ---- facts of the file */

static ald_status hash_file(cli_env *env, const ald_source *source, char out[65], ald_error *err)
{
    uint8_t digest[32];
    uint8_t part[16384];
    void *state = NULL;
    const ald_crypto *crypto = env->host.crypto;
    ald_status status = crypto->sha256_new(&env->host.alloc, &state, err);
    if (status != ALD_OK) {
        return status;
    }
    for (uint64_t at = 0; at < source->size_bytes && status == ALD_OK;) {
        uint64_t left = source->size_bytes - at;
        size_t size = left < sizeof(part) ? (size_t)left : sizeof(part);
        status = source->read_at(source->ctx, at, part, size, err);
        if (status == ALD_OK) {
            crypto->sha256_update(state, part, size);
        }
        at += size;
    }
    crypto->sha256_finish(state, digest);
    for (size_t i = 0; i < sizeof(digest); i++) {
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    }
    return status;
}

static ald_status describe_file(cli_env *env, const card_export_options *options,
                                const cli_input *in, const ald_info *info, card_file *out,
                                ald_error *err)
{
    memset(out, 0, sizeof(*out));
    out->name = strcmp(in->name, "standard input") == 0 ? "data.ald" : base_name(in->name);
    out->url = options->url;
    out->size_bytes = info->file_size_bytes;
    out->row_count = info->num_rows;
    out->dataset_type = info->dataset_type;
    out->schema = info->schema;
    return hash_file(env, &in->source, out->sha256, err);
}

/* ---- statistics */

/* Without a key an encrypted file has none. */
static ald_status read_stats(cli_env *env, cli_input *in, const ald_info *info,
                             const read_options *read, ald_stats **out, ald_error *err)
{
    *out = NULL;
    if (info->encryption_mode >= 0 && !cli_trust_is_asked_for(env)) {
        cli_note(env, "the file is encrypted: without its key there are no statistics in it");
        return ALD_OK;
    }
    ald_status status = cli_input_stream(in, read, NULL, err);
    if (status == ALD_OK) {
        struct ArrowArrayStream stream = in->stream;
        in->stream.release = NULL;
        status = ald_stats_compute(&stream, NULL, &env->host, out, err);
        cli_progress_end(&in->progress);
    }
    return status;
}

/* ---- notes */

static void note_finding(void *ctx, card_level level, const char *key, const char *text)
{
    if (level == CARD_WRONG) {
        cli_note(ctx, "%s: %s", key, text);
    }
}

/* What the standard asks for; the other things that it asks for are always there. */
static void note_croissant(cli_env *env, const ald_value *metadata, const card_file *file)
{
    static const struct {
        const char *key, *text;
    } wanted[] = {{"description", "description"},
                  {"license", "license"},
                  {"created_at", "datePublished (created_at)"},
                  {"creator", "creator"}};
    char text[200] = "";
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (ald_value_find(metadata, wanted[i].key) == NULL) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? ", " : "",
                     wanted[i].text);
        }
    }
    if (file->url == NULL) {
        cli_note(env, "contentUrl is the name of the file alone; --url says where it is");
    }
    if (text[0] != '\0') {
        cli_note(env, "Croissant also asks for: %s", text);
    }
}

/* ---- writing */

static ald_status make_text(cli_env *env, const card_export_options *options, card_kind kind,
                            cli_input *in, const ald_info *info, const read_options *read,
                            ald_buffer *out, ald_error *err)
{
    card_file file;
    ald_stats *stats = NULL;
    const card_notes notes = cli_card_notes(env);
    const card_facts facts = {info->num_rows, info->schema};
    card_check(info->metadata, &facts, note_finding, env);
    if (kind == KIND_README) {
        return card_readme_write(info->metadata, &env->host, &notes, out, err);
    }
    ald_status status = describe_file(env, options, in, info, &file, err);
    if (status == ALD_OK && kind == KIND_CROISSANT) {
        status = card_croissant_write(info->metadata, &file, out, err);
        note_croissant(env, info->metadata, &file);
        return status;
    }
    if (status == ALD_OK) {
        status = read_stats(env, in, info, read, &stats, err);
    }
    if (status == ALD_OK) {
        status = card_datasheet_write(info->metadata, &file, stats, out, err);
    }
    ald_stats_free(stats);
    return status;
}

static ald_status fill_text(void *ctx, const ald_sink *sink, ald_error *err)
{
    const ald_buffer *text = ctx;
    return sink->write(sink->ctx, text->data, text->size, err);
}

ald_status cli_card_export(cli_env *env, const card_export_options *options, cli_input *in,
                           const ald_info *info, const read_options *read, ald_error *err)
{
    cli_output out;
    card_kind kind = KIND_README;
    write_options write;
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    memset(&write, 0, sizeof(write));
    write.to = "json"; /* text, as that */
    write.force = options->force;
    env->subject = NULL;
    ald_status status = find_kind(env, options, &kind, err);
    if (status == ALD_OK) {
        status = cli_output_init(env, options->path, &write, in->name, &out, err);
    }
    if (status == ALD_OK) {
        env->subject = in->name;
        status = make_text(env, options, kind, in, info, read, &text, err);
    }
    if (status == ALD_OK) {
        status = cli_output_fill(&out, options->path, fill_text, &text, err);
    }
    ald_buffer_clear(&text);
    return status;
}
