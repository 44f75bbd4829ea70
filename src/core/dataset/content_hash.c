/* SPDX-License-Identifier: MIT */
/* F-450: columns are hashed apart, so that how rows are cut into batches does not show and columns can be worked on side by
 * side; what is left at the end is small. */
#include "ald/hash.h"

#include <string.h>

#include "ald/crypto.h"
#include "ald/stream.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/crypto/digest.h"
#include "core/dataset/content_node.h"

#define SIDE_BY_SIDE_VALUES 16384 /* below it, waking threads costs more than it gains */

static const char content_tag[] = "ald.content.1"; /* with their zero bytes */
static const char column_tag[] = "ald.column.1";

typedef struct content_column {
    ald__content_node node;
    ald_buffer name, type;
} content_column;

struct ald_content_hash {
    ald_host host;
    content_column *columns;
    size_t column_count;
    uint64_t row_count;
    const struct ArrowArray *batch; /* at hand */
    uint8_t is_over;
};

static ald_status make_column(ald_content_hash *hash, content_column *column,
                              const struct ArrowSchema *field, ald_error *err)
{
    column->name.alloc = column->type.alloc = &hash->host.alloc;
    if (field->name != NULL)
        ALD_TRY(ald__buffer_append_text(&column->name, field->name, err));
    return ald__content_node_init(&column->node, field, &hash->host, &column->type, err);
}

ald_status ald_content_hash_new(const struct ArrowSchema *schema, const ald_host *host,
                                ald_content_hash **out, ald_error *err)
{
    ald_content_hash *hash;
    ald_status status = ALD_OK;
    ald__type type;
    *out = NULL;
    if (!ALD__HAS_BLAKE3(host->crypto))
        return ald__no_crypto("BLAKE3", err);
    ALD_TRY(ald__type_of(schema, &type, err));
    if (type.id != ALD__STRUCT)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the schema is no struct of columns");
    hash = ald__alloc_zero(&host->alloc, sizeof *hash, err);
    if (hash == NULL)
        return ALD_E_NOMEM;
    hash->host = *host;
    hash->column_count = (size_t)schema->n_children;
    hash->columns = ald__alloc_zero(&host->alloc, hash->column_count * sizeof *hash->columns, err);
    if (hash->columns == NULL) {
        hash->column_count = 0;
        status = ALD_E_NOMEM;
    }
    for (size_t i = 0; status == ALD_OK && i < hash->column_count; i++)
        status = make_column(hash, &hash->columns[i], schema->children[i], err);
    if (status != ALD_OK) {
        ald_content_hash_free(hash);
        return status;
    }
    *out = hash;
    return ALD_OK;
}

void ald_content_hash_free(ald_content_hash *hash)
{
    ald_allocator alloc;
    if (hash == NULL)
        return;
    alloc = hash->host.alloc;
    for (size_t i = 0; i < hash->column_count; i++) {
        ald__content_node_clear(&hash->columns[i].node);
        ald_buffer_clear(&hash->columns[i].name);
        ald_buffer_clear(&hash->columns[i].type);
    }
    ald__release(&alloc, hash->columns, hash->column_count * sizeof *hash->columns);
    ald__release(&alloc, hash, sizeof *hash);
}

ald_status ald_content_type(const struct ArrowSchema *field, const ald_host *host, ald_buffer *out,
                            ald_error *err)
{
    ald__content_node node = {0};
    size_t before = out->size;
    ald_status status;
    if (!ALD__HAS_BLAKE3(host->crypto))
        return ald__no_crypto("BLAKE3", err);
    status = ald__content_node_init(&node, field, host, out, err);
    if (status != ALD_OK)
        out->size = before;
    ald__content_node_clear(&node);
    return status;
}

static void take_column(void *arg, uint32_t index)
{
    ald_content_hash *hash = arg;
    const struct ArrowArray *batch = hash->batch;
    ald__content_node_take(&hash->columns[index].node, batch->children[index], batch->offset,
                           batch->length);
}

ald_status ald_content_hash_update(ald_content_hash *hash, const struct ArrowArray *batch,
                                   ald_error *err)
{
    const ald_host *host = &hash->host;
    uint32_t count = (uint32_t)hash->column_count;
    uint64_t rows;
    if (hash->is_over)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the content hash is finished");
    if (batch->release == NULL || batch->length < 0 ||
        batch->n_children != (int64_t)hash->column_count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the batch is not of the schema");
    if (batch->null_count != 0 && batch->n_buffers > 0 && batch->buffers[0] != NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the rows of a batch cannot be null");
    if (!ald__add_u64(hash->row_count, (uint64_t)batch->length, &rows))
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "more than 2^64 rows");
    hash->row_count = rows;
    hash->batch = batch;
    if (host->run_tasks != NULL && host->thread_count > 1 && count > 1 &&
        batch->length > SIDE_BY_SIDE_VALUES / count)
        host->run_tasks(host->ctx, count, take_column, hash);
    else
        for (uint32_t i = 0; i < count; i++)
            take_column(hash, i);
    hash->batch = NULL;
    return ALD_OK;
}

/* F-456 */
static ald_status finish_column(ald_content_hash *hash, content_column *column, uint8_t *digest,
                                ald_error *err)
{
    ald_buffer streams = {NULL, 0, 0, &hash->host.alloc};
    ald_status status = ald__content_node_finish(&column->node, &streams, err);
    if (status == ALD_OK) {
        const ald__part parts[] = {{column_tag, sizeof column_tag},
                                   {column->type.data, column->type.size},
                                   {streams.data, streams.size}};
        status = ald__blake3(&hash->host, parts, 3, digest, err);
    }
    ald_buffer_clear(&streams);
    return status;
}

static ald_status append_u64(ald_buffer *out, uint64_t value, ald_error *err)
{
    uint8_t bytes[8];
    ald__store_le64(bytes, value);
    return ald__buffer_append(out, bytes, sizeof bytes, err);
}

static ald_status gather_columns(ald_content_hash *hash, uint8_t *columns, ald_buffer *out,
                                 ald_error *err)
{
    uint8_t digest[ALD_BLAKE3_BYTES];
    ALD_TRY(append_u64(out, hash->row_count, err));
    ALD_TRY(append_u64(out, hash->column_count, err));
    for (size_t i = 0; i < hash->column_count; i++) {
        content_column *column = &hash->columns[i];
        ALD_TRY(finish_column(hash, column, digest, err));
        ALD_TRY(append_u64(out, column->name.size, err));
        ALD_TRY(ald__buffer_append(out, column->name.data, column->name.size, err));
        ALD_TRY(ald__buffer_append(out, digest, sizeof digest, err));
        if (columns != NULL)
            memcpy(columns + i * ALD_BLAKE3_BYTES, digest, sizeof digest);
    }
    return ALD_OK;
}

ald_status ald_content_hash_finish(ald_content_hash *hash, uint8_t digest[ALD_CONTENT_HASH_BYTES],
                                   uint8_t *columns, ald_error *err)
{
    ald_buffer table = {NULL, 0, 0, &hash->host.alloc};
    ald_status status;
    if (hash->is_over)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the content hash is finished");
    hash->is_over = 1;
    status = gather_columns(hash, columns, &table, err);
    if (status == ALD_OK) {
        const ald__part parts[] = {{content_tag, sizeof content_tag}, {table.data, table.size}};
        status = ald__blake3(&hash->host, parts, 2, digest, err);
    }
    ald_buffer_clear(&table);
    return status;
}

static ald_status hash_batches(ald_content_hash *hash, struct ArrowArrayStream *batches,
                               ald_error *err)
{
    for (;;) {
        struct ArrowArray batch = {0};
        ALD_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return ALD_OK;
        ald_status status = ald_content_hash_update(hash, &batch, err);
        batch.release(&batch);
        ALD_TRY(status);
    }
}

ald_status ald_content_hash_stream(struct ArrowArrayStream *batches, const ald_host *host,
                                   uint8_t digest[ALD_CONTENT_HASH_BYTES], uint64_t *row_count,
                                   ald_error *err)
{
    ald_content_hash *hash = NULL;
    struct ArrowSchema schema = {0};
    ald_status status = ald_stream_schema(batches, &schema, err);
    if (status == ALD_OK) {
        status = ald_content_hash_new(&schema, host, &hash, err);
        schema.release(&schema);
    }
    if (status == ALD_OK)
        status = hash_batches(hash, batches, err);
    if (status == ALD_OK && row_count != NULL)
        *row_count = hash->row_count;
    if (status == ALD_OK)
        status = ald_content_hash_finish(hash, digest, NULL, err);
    ald_content_hash_free(hash);
    batches->release(batches);
    return status;
}
