/* SPDX-License-Identifier: MIT */
/* Pieces of a stream on their way into its hash. Room to gather them is there only while a batch is worked on: a table may have
 * thousands of streams. Without memory for it, pieces are hashed one by one. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/crypto/digest.h"
#include "core/dataset/content_node.h"

#define STAGE_BYTES ((size_t)16 << 10) /* as many chunks as BLAKE3 takes side by side */

static void hash_bytes(const ald__content_node *node, ald__content_stream *stream, const void *data,
                       size_t size)
{
    node->host->crypto->blake3_update(stream->state, data, size);
}

static void hash_staged(const ald__content_node *node, ald__content_stream *stream)
{
    if (stream->staged_size > 0)
        hash_bytes(node, stream, stream->staged, stream->staged_size);
    stream->staged_size = 0;
}

void ald__content_put(ald__content_node *node, ald__content_stream *stream, const void *data,
                      size_t size)
{
    if (size == 0)
        return;
    if (size > STAGE_BYTES - stream->staged_size)
        hash_staged(node, stream);
    if (stream->staged == NULL && size < STAGE_BYTES)
        stream->staged = ald__alloc(&node->host->alloc, STAGE_BYTES, NULL);
    if (stream->staged == NULL || size >= STAGE_BYTES) {
        hash_bytes(node, stream, data, size);
        return;
    }
    memcpy(stream->staged + stream->staged_size, data, size);
    stream->staged_size += size;
}

void ald__content_put_u64(ald__content_node *node, ald__content_stream *stream, uint64_t value)
{
    uint8_t bytes[8];
    ald__store_le64(bytes, value);
    ald__content_put(node, stream, bytes, sizeof bytes);
}

void ald__content_flush(ald__content_node *node, ald__content_stream *stream)
{
    hash_staged(node, stream);
    ald__release(&node->host->alloc, stream->staged, STAGE_BYTES);
    stream->staged = NULL;
}

static void put_null_run(ald__content_node *node)
{
    if (node->null_end == node->null_begin)
        return;
    ald__content_put_u64(node, &node->nulls, node->null_begin);
    ald__content_put_u64(node, &node->nulls, node->null_end - node->null_begin);
}

void ald__content_put_nulls(ald__content_node *node, uint64_t count)
{
    if (node->null_end != node->row_count) {
        put_null_run(node);
        node->null_begin = node->row_count;
    }
    node->row_count += count;
    node->null_end = node->row_count;
}

static ald_status finish_stream(ald__content_node *node, ald__content_stream *stream,
                                ald_buffer *out, ald_error *err)
{
    if (stream->state == NULL)
        return ALD_OK;
    ALD_TRY(ald__buffer_reserve(out, ALD_BLAKE3_BYTES, err));
    ald__content_flush(node, stream);
    node->host->crypto->blake3_finish(stream->state, out->data + out->size);
    out->size += ALD_BLAKE3_BYTES;
    stream->state = NULL;
    return ALD_OK;
}

ald_status ald__content_node_finish(ald__content_node *node, ald_buffer *out, ald_error *err)
{
    if (node->nulls.state != NULL)
        put_null_run(node);
    ALD_TRY(finish_stream(node, &node->nulls, out, err));
    ALD_TRY(finish_stream(node, &node->lengths, out, err));
    ALD_TRY(finish_stream(node, &node->data, out, err));
    for (uint32_t i = 0; i < node->child_count; i++)
        ALD_TRY(ald__content_node_finish(&node->children[i], out, err));
    return ALD_OK;
}
