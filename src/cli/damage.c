/* SPDX-License-Identifier: MIT */
/* Damage, chunk by chunk. */
#include "cli/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/native.h"
#include "cli/cli.h"

static damaged_chunk *add(damage_list *list)
{
    if (list->count == list->cap) {
        size_t cap = list->cap < 16 ? 16 : list->cap * 2;
        damaged_chunk *grown = realloc(list->items, cap * sizeof(*grown));
        if (grown == NULL) {
            return NULL;
        }
        list->items = grown;
        list->cap = cap;
    }
    return &list->items[list->count++];
}

static ald_status note(damage_list *list, const ald_info *info, uint64_t index,
                       const ald_error *why, ald_error *err)
{
    const ald_chunk_entry *e = &info->chunks[index];
    damaged_chunk *d = add(list);
    if (d == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to note the damage");
    }
    d->index = index;
    d->first_row = e->row_offset;
    d->end_row = e->row_offset + e->num_rows;
    d->bytes.begin = info->sections.payload.begin + e->byte_offset;
    d->bytes.end = d->bytes.begin + e->compressed_size;
    d->error = *why;
    list->lost_rows += e->num_rows;
    return ALD_OK;
}

ald_status damage_load(damage_list *list, ald_streaming *file, uint64_t index,
                       struct ArrowArray *out, ald_error *err)
{
    ald_error why;
    ald_status status = ald_streaming_chunk(file, index, NULL, out, &why);
    list->chunk_count = ald_streaming_chunk_count(file);
    if (status == ALD_OK) {
        return ALD_OK;
    }
    if (status == ALD_E_NOMEM || status == ALD_E_IO) {
        if (err != NULL) {
            *err = why;
        }
        return status;
    }
    return note(list, ald_streaming_info(file), index, &why, err);
}

ald_status damage_open(cli_env *env, cli_input *in, ald_streaming **out, ald_error *err)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_status status;
    if (in->has_trust) {
        cli_trust_load(&in->trust, &options);
    }
    status = ald_streaming_salvage(&in->source, &options, &env->host, out, err);
    if (status == ALD_E_UNSUPPORTED && !cli_input_has_chunks(in)) {
        cli_hint(env, "`alimentar verify FILE` checks it; chunks come with --streaming, or by "
                      "themselves above 100 MB");
        status = ald_error_set(err, status, ALD_NO_OFFSET,
                               "the file has no chunks: it is whole, or lost as a whole");
    }
    return status;
}

/* ---- outside the chunks */

/* Failures that are not the file's are passed on. */
static ald_status note_part(damage_list *list, const char *name, ald_range bytes,
                            const ald_error *why, ald_error *err)
{
    ald_status status = (ald_status)why->status;
    damaged_part *part = &list->outside[list->outside_count];
    if (status == ALD_E_NOMEM || status == ALD_E_IO) {
        if (err != NULL) {
            *err = *why;
        }
        return status;
    }
    list->outside_count++;
    part->name = name;
    part->bytes = bytes;
    part->error = *why;
    return ALD_OK;
}

/* What the error of a whole file is about. Of its head, what a salvaged file does without; else what follows the payload. */
static ald_status note_rest(damage_list *list, const ald_info *info, const ald_error *why,
                            ald_error *err)
{
    const ald_sections *s = &info->sections;
    uint64_t size = info->file_size_bytes, end = s->payload.begin + info->payload_size;
    ald_range rest = {end < size ? end : size, size};
    if (why->offset < s->payload.begin) {
        int in_index = why->offset >= s->array_index.begin && why->offset < s->array_index.end;
        return in_index ? note_part(list, "array index", s->array_index, why, err)
                        : note_part(list, "head", (ald_range){0, s->payload.begin}, why, err);
    }
    if (why->offset > rest.begin && why->offset <= size) {
        rest.begin = why->offset;
    }
    return note_part(list, "end", rest, why, err);
}

/* The CRC32 is over everything: it tells something only where nothing else is known to be damaged. Frames have a few bytes
 * that change nothing, and that nothing else covers. */
static ald_status note_crc32(damage_list *list, const ald_info *info, const ald_error *why,
                             ald_error *err)
{
    int has_prefix_crc32 =
        info->facts != NULL && ald_value_find(info->facts, "prefix_crc32") != NULL;
    ald_range bytes = {has_prefix_crc32 ? info->sections.payload.begin + info->payload_size : 0,
                       info->file_size_bytes};
    ald_error text;
    if (why->status != ALD_E_CHECKSUM_MISMATCH) {
        return note_part(list, "end", bytes, why, err);
    }
    (void)ald_error_set(&text, ALD_E_CHECKSUM_MISMATCH, why->offset,
                        "%.100s; every row is whole: these bytes, or some that no row needs",
                        why->msg);
    return note_part(list, has_prefix_crc32 ? "end" : "any part", bytes, &text, err);
}

ald_status damage_look_outside(damage_list *list, const cli_env *env, const cli_input *in,
                               const ald_streaming *file, ald_error *err)
{
    static const char *const edges[] = {"prologue", "epilogue"};
    const ald_info *info = ald_streaming_info(file);
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_inspection *whole = NULL;
    ald_error why;
    ald_status status = ALD_OK;
    for (int i = 0; status == ALD_OK && i < 2; i++) {
        ald_range bytes;
        if (ald_streaming_check_edge(file, i, &bytes, &why) != ALD_OK) {
            status = note_part(list, edges[i], bytes, &why, err);
        }
    }
    if (status != ALD_OK) {
        return status;
    }
    if (ald_inspect(&in->source, &options, &env->host, &whole, &why) != ALD_OK) {
        return note_rest(list, info, &why, err);
    }
    ald_inspection_free(whole);
    options.check_all = 1;
    if (list->count > 0 || list->outside_count > 0) {
        return ALD_OK;
    }
    if (ald_inspect(&in->source, &options, &env->host, &whole, &why) != ALD_OK) {
        return note_crc32(list, info, &why, err);
    }
    ald_inspection_free(whole);
    return ALD_OK;
}

/* ---- */

/* Whether the chunks can be got at; of an encrypted file, by who has the key. */
static int is_repairable(const cli_env *env, const char *path)
{
    ald_streaming *file = NULL;
    ald_source source;
    if (ald_file_open(path, 0, &source, NULL) != ALD_OK) {
        return 0;
    }
    ald_status status = ald_streaming_salvage(&source, NULL, &env->host, &file, NULL);
    ald_streaming_close(file);
    ald_source_close(&source);
    return status == ALD_OK || status == ALD_E_DECRYPTION_FAILED;
}

/* Errors that are about bytes of a file tell where. */
void damage_hint(cli_env *env, const ald_error *err)
{
    int is_damage = err->status == ALD_E_CHECKSUM_MISMATCH || err->status == ALD_E_INVALID_FORMAT ||
                    err->status == ALD_E_TRUNCATED;
    if (is_damage && err->offset != ALD_NO_OFFSET && env->hint[0] == '\0' &&
        strchr(err->msg, '\n') == NULL && env->subject != NULL &&
        is_repairable(env, env->subject)) {
        cli_hint(env, "get a new copy; or `alimentar verify --report FILE` lists the damaged "
                      "chunks, and `alimentar repair IN OUT` saves the others");
    }
}

void damage_clear(damage_list *list)
{
    free(list->items);
    memset(list, 0, sizeof(*list));
}

void damage_print(const damage_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const damaged_chunk *d = &list->items[i];
        cli_printf("damaged    chunk %" PRIu64 ": rows %" PRIu64 " to %" PRIu64 ", bytes %" PRIu64
                   " to %" PRIu64 ": %s: %s\n",
                   d->index, d->first_row, d->end_row - 1, d->bytes.begin, d->bytes.end - 1,
                   ald_status_name((ald_status)d->error.status), d->error.msg);
    }
    for (size_t i = 0; i < list->outside_count; i++) {
        const damaged_part *p = &list->outside[i];
        char bytes[64];
        if (p->bytes.begin == p->bytes.end) {
            snprintf(bytes, sizeof(bytes), "from byte %" PRIu64 " on", p->bytes.begin);
        } else {
            snprintf(bytes, sizeof(bytes), "bytes %" PRIu64 " to %" PRIu64, p->bytes.begin,
                     p->bytes.end - 1);
        }
        cli_printf("damaged    %s: %s: %s: %.*s\n", p->name, bytes,
                   ald_status_name((ald_status)p->error.status), (int)strcspn(p->error.msg, "\n"),
                   p->error.msg);
    }
}

static void end_of_damage(json_print *j, ald_range bytes, const ald_error *error)
{
    json_uint(j, "first_byte", bytes.begin);
    json_uint(j, "end_byte", bytes.end);
    json_text(j, "error", ald_status_name((ald_status)error->status));
    json_text(j, "message", error->msg);
    json_close(j, '}');
}

void damage_json(json_print *j, const damage_list *list)
{
    json_uint(j, "chunks", list->chunk_count);
    json_uint(j, "lost_rows", list->lost_rows);
    json_open(j, "damaged", '[');
    for (size_t i = 0; i < list->count; i++) {
        const damaged_chunk *d = &list->items[i];
        json_open(j, NULL, '{');
        json_uint(j, "chunk", d->index);
        json_uint(j, "first_row", d->first_row);
        json_uint(j, "end_row", d->end_row);
        end_of_damage(j, d->bytes, &d->error);
    }
    json_close(j, ']');
    json_open(j, "outside", '[');
    for (size_t i = 0; i < list->outside_count; i++) {
        const damaged_part *p = &list->outside[i];
        json_open(j, NULL, '{');
        json_text(j, "part", p->name);
        end_of_damage(j, p->bytes, &p->error);
    }
    json_close(j, ']');
}
