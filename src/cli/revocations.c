/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700
#include "cli/revocations.h"

#include <stdlib.h>
#include <string.h>

#include "ald/native.h"
#include "ald/reader.h"
#include "ald/stream.h"
#include "ald/text.h"
#include "ald/writer.h"

enum { COLUMN_ID, COLUMN_AT, COLUMN_REASON, COLUMN_COUNT };

static const char list_schema[] =
    "{\"fields\":[{\"name\":\"license_id\",\"type\":\"fixed_size_binary[16]\",\"nullable\":false},"
    "{\"name\":\"revoked_at\",\"type\":\"timestamp[s, tz=UTC]\",\"nullable\":false},"
    "{\"name\":\"reason\",\"type\":\"string\"}]}";

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the revocation list");
}

void cli_revocations_clear(revocation_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].reason);
    }
    free(list->items);
    free(list->ids);
    memset(list, 0, sizeof(*list));
}

ald_status cli_revocations_add(revocation_list *list, const uint8_t id[ALD_LICENSE_ID_BYTES],
                               int64_t at, const char *reason, size_t reason_size, int *added,
                               ald_error *err)
{
    *added = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (memcmp(list->items[i].id, id, ALD_LICENSE_ID_BYTES) == 0) {
            return ALD_OK;
        }
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        revoked_license *items = realloc(list->items, capacity * sizeof(*items));
        if (items == NULL) {
            return no_memory(err);
        }
        list->items = items;
        list->capacity = capacity;
    }
    revoked_license *item = &list->items[list->count];
    memcpy(item->id, id, ALD_LICENSE_ID_BYTES);
    item->at = at;
    item->reason = reason != NULL ? strndup(reason, reason_size) : NULL;
    if (reason != NULL && item->reason == NULL) {
        return no_memory(err);
    }
    list->count++;
    *added = 1;
    return ALD_OK;
}

/* ---- reading */

static int is_valid(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *bits = column->buffers[0];
    int64_t at = row + column->offset;
    return bits == NULL || (bits[at / 8] >> (at % 8) & 1) != 0;
}

static ald_status add_batch(revocation_list *list, const struct ArrowArray *batch, ald_error *err)
{
    const struct ArrowArray *ids = batch->children[COLUMN_ID];
    const struct ArrowArray *times = batch->children[COLUMN_AT];
    const struct ArrowArray *reasons = batch->children[COLUMN_REASON];
    const uint8_t *id_bytes = ids->buffers[1];
    const int64_t *seconds = times->buffers[1];
    const int32_t *ends = reasons->buffers[1];
    const char *text = reasons->buffers[2];
    ald_status status = ALD_OK;
    int added = 0;
    for (int64_t i = 0; status == ALD_OK && i < batch->length; i++) {
        const uint8_t *id = id_bytes + ALD_LICENSE_ID_BYTES * (i + ids->offset);
        const int32_t *end = is_valid(reasons, i) ? ends + i + reasons->offset : NULL;
        status = cli_revocations_add(list, id, seconds[i + times->offset],
                                     end != NULL ? text + end[0] : NULL,
                                     end != NULL ? (size_t)(end[1] - end[0]) : 0, &added, err);
    }
    return status;
}

static ald_status add_dataset(revocation_list *list, const ald_dataset *dataset, ald_error *err)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < ald_dataset_batch_count(dataset); i++) {
        struct ArrowArray batch;
        status = ald_dataset_batch(dataset, i, &batch, err);
        if (status == ALD_OK) {
            status = add_batch(list, &batch, err);
            batch.release(&batch);
        }
    }
    return status;
}

static ald_status set_ids(revocation_list *list, const ald_info *info, ald_error *err)
{
    list->ids = malloc(list->count * ALD_LICENSE_ID_BYTES + 1);
    if (list->ids == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < list->count; i++) {
        memcpy(list->ids + i * ALD_LICENSE_ID_BYTES, list->items[i].id, ALD_LICENSE_ID_BYTES);
    }
    memcpy(list->revocations.signer, info->signer_public_key, sizeof(list->revocations.signer));
    list->revocations.ids = list->ids;
    list->revocations.count = list->count;
    return ALD_OK;
}

static ald_status load_list(cli_env *env, const ald_source *source,
                            const struct ArrowSchema *schema, revocation_list *out, ald_error *err)
{
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = ALD_TRUST_INIT;
    ald_dataset *dataset = NULL;
    trust.allow_untrusted = 1;
    load.trust = &trust;
    load.expected_schema = schema;
    ald_status status = ald_load(source, &load, &env->host, &dataset, err);
    if (status == ALD_OK && ald_dataset_info(dataset)->signer_public_key == NULL) {
        status = ald_error_set(err, ALD_E_UNTRUSTED_SIGNER, ALD_NO_OFFSET,
                               "a list of revoked licenses has to be signed");
    }
    if (status == ALD_OK) {
        status = add_dataset(out, dataset, err);
    }
    if (status == ALD_OK) {
        status = set_ids(out, ald_dataset_info(dataset), err);
    }
    ald_dataset_free(dataset);
    return status;
}

ald_status cli_revocations_load(cli_env *env, const char *path, revocation_list *out,
                                ald_error *err)
{
    struct ArrowSchema schema;
    ald_source source;
    const char *subject = env->subject;
    memset(&source, 0, sizeof(source));
    ald_status status =
        ald_schema_from_json(list_schema, sizeof(list_schema) - 1, &env->host, &schema, err);
    if (status != ALD_OK) {
        return status;
    }
    env->subject = path;
    status = ald_file_open(path, 0, &source, err);
    if (status == ALD_OK) {
        status = load_list(env, &source, &schema, out, err);
    }
    env->subject = status == ALD_OK ? subject : path;
    if (status == ALD_E_SCHEMA_MISMATCH) {
        cli_hint(env, "this is no list of revoked licenses; `alimentar license revoke` writes one");
    }
    ald_source_close(&source);
    schema.release(&schema);
    return status;
}

/* ---- writing */

/* A whole table that is its own memory. */
typedef struct list_table {
    struct ArrowArray columns[COLUMN_COUNT];
    struct ArrowArray *children[COLUMN_COUNT];
    const void *id_buffers[2], *time_buffers[2], *reason_buffers[3], *no_buffers[1];
    uint8_t *ids, *valid;
    int64_t *times;
    int32_t *ends;
    char *text;
} list_table;

static void column_released(struct ArrowArray *column)
{
    column->release = NULL;
}

static void table_released(struct ArrowArray *array)
{
    list_table *t = array->private_data;
    free(t->ids);
    free(t->valid);
    free(t->times);
    free(t->ends);
    free(t->text);
    free(t);
    array->release = NULL;
}

static void table_column(list_table *t, int index, const void **buffers, int64_t buffer_count,
                         int64_t length)
{
    t->columns[index].length = length;
    t->columns[index].n_buffers = buffer_count;
    t->columns[index].buffers = buffers;
    t->columns[index].release = column_released;
    t->children[index] = &t->columns[index];
}

static ald_status table_alloc(const revocation_list *list, list_table *t, ald_error *err)
{
    size_t text_size = 0;
    for (size_t i = 0; i < list->count; i++) {
        text_size += list->items[i].reason != NULL ? strlen(list->items[i].reason) : 0;
    }
    if (text_size > INT32_MAX) {
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the reasons of the list are longer than 2 GiB");
    }
    t->ids = calloc(list->count + 1, ALD_LICENSE_ID_BYTES);
    t->valid = calloc(list->count / 8 + 1, 1);
    t->times = calloc(list->count + 1, sizeof(*t->times));
    t->ends = calloc(list->count + 1, sizeof(*t->ends));
    t->text = malloc(text_size + 1);
    return t->ids == NULL || t->valid == NULL || t->times == NULL || t->ends == NULL ||
                   t->text == NULL
               ? no_memory(err)
               : ALD_OK;
}

static void table_fill(const revocation_list *list, list_table *t)
{
    int32_t used = 0;
    for (size_t i = 0; i < list->count; i++) {
        const revoked_license *item = &list->items[i];
        size_t size = item->reason != NULL ? strlen(item->reason) : 0;
        memcpy(t->ids + i * ALD_LICENSE_ID_BYTES, item->id, ALD_LICENSE_ID_BYTES);
        t->times[i] = item->at;
        if (item->reason != NULL) {
            memcpy(t->text + used, item->reason, size);
            t->valid[i / 8] = (uint8_t)(t->valid[i / 8] | 1u << (i % 8));
        } else {
            t->columns[COLUMN_REASON].null_count++;
        }
        used += (int32_t)size;
        t->ends[i + 1] = used;
    }
}

static ald_status make_table(const revocation_list *list, struct ArrowArray *out, ald_error *err)
{
    list_table *t = calloc(1, sizeof(*t));
    int64_t length = (int64_t)list->count;
    memset(out, 0, sizeof(*out));
    if (t == NULL) {
        return no_memory(err);
    }
    out->private_data = t;
    out->release = table_released;
    ald_status status = table_alloc(list, t, err);
    if (status != ALD_OK) {
        out->release(out);
        return status;
    }
    t->id_buffers[1] = t->ids;
    t->time_buffers[1] = t->times;
    t->reason_buffers[0] = t->valid;
    t->reason_buffers[1] = t->ends;
    t->reason_buffers[2] = t->text;
    table_column(t, COLUMN_ID, t->id_buffers, 2, length);
    table_column(t, COLUMN_AT, t->time_buffers, 2, length);
    table_column(t, COLUMN_REASON, t->reason_buffers, 3, length);
    table_fill(list, t);
    out->length = length;
    out->n_buffers = 1;
    out->buffers = t->no_buffers;
    out->n_children = COLUMN_COUNT;
    out->children = t->children;
    return ALD_OK;
}

static ald_status save_stream(cli_env *env, struct ArrowArrayStream *batches,
                              const uint8_t seed[32], const ald_sink *sink, ald_error *err)
{
    static const char description[] = "Revoked licenses. What the same key signed and one of these "
                                      "licenses belongs to is not to be used.";
    ald_save_options save = ALD_SAVE_OPTIONS_INIT;
    ald_protection protection = ALD_PROTECTION_INIT;
    ald_value *metadata = NULL;
    ald_status status = ald_value_new(&env->host.alloc, &metadata, err);
    if (status == ALD_OK) {
        ald_value_set_map(metadata);
        ald_value *entry = ald_value_put(metadata, "description", strlen("description"));
        status = entry == NULL
                     ? no_memory(err)
                     : ald_value_set_string(entry, description, sizeof(description) - 1, err);
    }
    if (status != ALD_OK) {
        batches->release(batches);
        ald_value_free(metadata);
        return status;
    }
    protection.signer_seed = seed;
    save.protection = &protection;
    save.metadata = metadata;
    save.layout = ALD_LAYOUT_WHOLE;
    status = ald_save(batches, sink, &save, &env->host, err);
    ald_value_free(metadata);
    return status;
}

ald_status cli_revocations_save(cli_env *env, const revocation_list *list, const uint8_t seed[32],
                                const ald_sink *sink, ald_error *err)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct ArrowArrayStream batches;
    ald_status status =
        ald_schema_from_json(list_schema, sizeof(list_schema) - 1, &env->host, &schema, err);
    if (status != ALD_OK) {
        return status;
    }
    status = make_table(list, &batch, err);
    if (status != ALD_OK) {
        schema.release(&schema);
        return status;
    }
    status = ald_stream_from_batches(&schema, &batch, 1, &env->host, &batches, err);
    return status == ALD_OK ? save_stream(env, &batches, seed, sink, err) : status;
}
