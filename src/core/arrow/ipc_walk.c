/* SPDX-License-Identifier: MIT */
/* Before Arrow 1.0 (metadata V4) unions had a validity buffer. */
#include "core/arrow/ipc_walk.h"

#include "core/arrow/array_layout.h"
#include "core/arrow/ipc_format.h"
#include "core/arrow/schema_build.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

static ald_status walk_fail(const ald__ipc_walk *walk, const char *column, const char *what,
                            int64_t found, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT, walk->message->metadata_offset,
                     "column '%s': %s is %lld", column, what, (long long)found);
}

static ald_status open_compression(ald__ipc_walk *walk, const ald__flat_table *batch,
                                   const ald__ipc_rules *rules, ald_error *err)
{
    uint64_t at = walk->message->metadata_offset;
    ald__flat_table compression;
    uint8_t codec, method;
    int present;
    walk->codec = -1;
    ALD_TRY(
        ald__flat_child(&walk->flat, batch, FBS_BATCH_COMPRESSION, &compression, &present, err));
    if (!present)
        return ALD_OK;
    if (rules->strict)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "compressed buffers inside the payload");
    ALD_TRY(ald__flat_u8(&walk->flat, &compression, FBS_COMPRESSION_CODEC, 0, &codec, err));
    ALD_TRY(ald__flat_u8(&walk->flat, &compression, FBS_COMPRESSION_METHOD, 0, &method, err));
    if (codec > 1 || method != 0 || rules->codec == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, at, "buffers compressed with codec %u, method %u",
                         (unsigned)codec, (unsigned)method);
    walk->codec = codec;
    return ALD_OK;
}

static ald_status open_batch(ald__ipc_walk *walk, const ald__flat_table *batch,
                             const ald__ipc_rules *rules, ald_error *err)
{
    ALD_TRY(ald__flat_i64(&walk->flat, batch, FBS_BATCH_LENGTH, 0, &walk->length, err));
    ALD_TRY(
        ald__flat_items(&walk->flat, batch, FBS_BATCH_NODES, FBS_NODE_BYTES, &walk->nodes, err));
    ALD_TRY(ald__flat_items(&walk->flat, batch, FBS_BATCH_BUFFERS, FBS_BUFFER_BYTES, &walk->buffers,
                            err));
    ALD_TRY(ald__flat_items(&walk->flat, batch, FBS_BATCH_VARIADIC, 8, &walk->variadic, err));
    if (walk->length < 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, walk->message->metadata_offset,
                         "a batch of %lld rows", (long long)walk->length);
    return open_compression(walk, batch, rules, err);
}

ald_status ald__ipc_walk_open(ald__ipc_walk *walk, const ald__ipc_message *message,
                              const ald__ipc_rules *rules, ald_error *err)
{
    ald__flat_table root, table, batch;
    int present;
    uint8_t delta;
    memset(walk, 0, sizeof *walk);
    walk->message = message;
    walk->strict = rules->strict;
    ald__flat_init(&walk->flat, message->metadata, message->metadata_size,
                   message->metadata_offset);
    ALD_TRY(ald__flat_root(&walk->flat, &root, err));
    ALD_TRY(ald__flat_child(&walk->flat, &root, FBS_MESSAGE_HEADER, &table, &present, err));
    if (present && message->type == ALD__IPC_BATCH)
        return open_batch(walk, &table, rules, err);
    if (present && message->type == ALD__IPC_DICTIONARY) {
        ALD_TRY(
            ald__flat_i64(&walk->flat, &table, FBS_DICTIONARY_ID, 0, &walk->dictionary_id, err));
        ALD_TRY(ald__flat_u8(&walk->flat, &table, FBS_DICTIONARY_DELTA, 0, &delta, err));
        ALD_TRY(ald__flat_child(&walk->flat, &table, FBS_DICTIONARY_DATA, &batch, &present, err));
        walk->is_delta = delta != 0;
        if (present)
            return open_batch(walk, &batch, rules, err);
    }
    return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                     "a message without its record batch");
}

ald_status ald__ipc_walk_node(ald__ipc_walk *walk, const char *column, int64_t *length,
                              int64_t *null_count, ald_error *err)
{
    const uint8_t *p;
    if (walk->next_node >= walk->nodes.count)
        return walk_fail(walk, column, "not in the batch, whose number of field nodes",
                         (int64_t)walk->nodes.count, err);
    p = walk->flat.data + walk->nodes.pos + FBS_NODE_BYTES * walk->next_node++;
    *length = (int64_t)ald__load_le64(p);
    *null_count = (int64_t)ald__load_le64(p + 8);
    if (*length < 0)
        return walk_fail(walk, column, "length", *length, err);
    if (*null_count < (walk->strict ? 0 : -1) || *null_count > *length)
        return walk_fail(walk, column, "null count", *null_count, err);
    return ALD_OK;
}

ald_status ald__ipc_walk_buffer(ald__ipc_walk *walk, const char *column, ald__ipc_place *out,
                                ald_error *err)
{
    uint64_t body = walk->message->body_size;
    const uint8_t *p;
    if (walk->next_buffer >= walk->buffers.count)
        return walk_fail(walk, column, "a buffer is not in the batch, whose number of buffers",
                         (int64_t)walk->buffers.count, err);
    p = walk->flat.data + walk->buffers.pos + FBS_BUFFER_BYTES * walk->next_buffer++;
    out->offset = ald__load_le64(p);
    out->size = ald__load_le64(p + 8);
    if (!walk->strict && out->size == 0)
        out->offset = 0;
    if (out->offset > body || out->size > body - out->offset)
        return ald__fail(err, ALD_E_INVALID_FORMAT, walk->message->metadata_offset,
                         "column '%s': buffer at %lld of %lld bytes in a body of %llu bytes",
                         column, (long long)out->offset, (long long)out->size,
                         (unsigned long long)body);
    if (walk->strict && out->offset % 8 != 0)
        return walk_fail(walk, column, "a buffer's offset, expected a multiple of 8,",
                         (int64_t)out->offset, err);
    return ALD_OK;
}

ald_status ald__ipc_walk_variadic(ald__ipc_walk *walk, const char *column, size_t *count,
                                  ald_error *err)
{
    uint64_t claimed;
    if (walk->next_variadic >= walk->variadic.count)
        return walk_fail(walk, column, "views are not in the batch, whose number of view columns",
                         (int64_t)walk->variadic.count, err);
    claimed = ald__load_le64(walk->flat.data + walk->variadic.pos + 8 * walk->next_variadic++);
    if (claimed > walk->buffers.count - walk->next_buffer)
        return walk_fail(walk, column, "number of view buffers", (int64_t)claimed, err);
    *count = (size_t)claimed;
    return ALD_OK;
}

size_t ald__ipc_walk_buffer_count(const ald__ipc_walk *walk, const ald__ipc_node *node)
{
    size_t count = node->type.buffer_count;
    if (walk->message->version == FBS_VERSION_V4 && ald__type_is_union(&node->type))
        count++;
    return count;
}

ald_status ald__ipc_walk_skip(ald__ipc_walk *walk, const ald__ipc_tree *tree, uint32_t node,
                              ald_error *err)
{
    const ald__ipc_node *top = &tree->nodes[node];
    for (uint32_t i = node; i < top->next;) {
        const ald__ipc_node *n = &tree->nodes[i];
        const char *column = ald__schema_name(n->schema);
        size_t buffers = ald__ipc_walk_buffer_count(walk, n), variadic = 0;
        int64_t length, null_count;
        ALD_TRY(ald__ipc_walk_node(walk, column, &length, &null_count, err));
        if (buffers > walk->buffers.count - walk->next_buffer)
            return walk_fail(walk, column, "a buffer is not in the batch, whose number of buffers",
                             (int64_t)walk->buffers.count, err);
        walk->next_buffer += buffers;
        if (ald__type_is_view(&n->type))
            ALD_TRY(ald__ipc_walk_variadic(walk, column, &variadic, err));
        walk->next_buffer += variadic;
        i = n->dictionary != ALD__NO_DICTIONARY ? n->next : i + 1;
    }
    return ALD_OK;
}

ald_status ald__ipc_walk_close(const ald__ipc_walk *walk, ald_error *err)
{
    if (walk->next_node == walk->nodes.count && walk->next_buffer == walk->buffers.count &&
        walk->next_variadic == walk->variadic.count)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT, walk->message->metadata_offset,
                     "a batch of %zu field nodes, %zu buffers and %zu view columns; its schema has "
                     "%zu, %zu and %zu",
                     walk->nodes.count, walk->buffers.count, walk->variadic.count, walk->next_node,
                     walk->next_buffer, walk->next_variadic);
}
