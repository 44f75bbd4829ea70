/* SPDX-License-Identifier: MIT */
/* Damage, chunk by chunk. */
#include "cli/damage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
        json_uint(j, "first_byte", d->bytes.begin);
        json_uint(j, "end_byte", d->bytes.end);
        json_text(j, "error", ald_status_name((ald_status)d->error.status));
        json_text(j, "message", d->error.msg);
        json_close(j, '}');
    }
    json_close(j, ']');
}
