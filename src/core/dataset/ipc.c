/* SPDX-License-Identifier: MIT */
/* Arrow IPC in: streams, read message by message, and the choice between stream and file. A body is read into memory of
 * its own, so that batches may outlive the source. */
#include "ald/ipc.h"

#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/codec/codec.h"
#include "core/dataset/ipc_input.h"

#define PREFIX_MARKER 0xFFFFFFFFu

static ald_status input_decode(void *ctx, int codec, const uint8_t *src, size_t src_size,
                               uint8_t *dst, size_t dst_size, ald_error *err)
{
    const ald__ipc_input *in = ctx;
    uint8_t id = codec == 0 ? ALD_COMPRESSION_LZ4 : ALD_COMPRESSION_ZSTD_L3;
    return ald__codec_decode(id, &in->host.alloc, src, src_size, dst, dst_size, ALD_NO_OFFSET, err);
}

/* Bytes of prefix and metadata, as the prefix says. A length that is none gets no more than the prefix: the parser then says
 * what is wrong. */
static ald_status head_size(const uint8_t *prefix, uint64_t offset, uint64_t left, size_t *out,
                            ald_error *err)
{
    size_t size = 4;
    uint32_t length;
    *out = (size_t)(left < 8 ? left : 8);
    if (left < 8)
        return ALD_OK;
    length = ald__load_le32(prefix);
    if (length == PREFIX_MARKER) {
        size = 8;
        length = ald__load_le32(prefix + 4);
    }
    if (length > INT32_MAX)
        return ALD_OK;
    if (length > left - size)
        return ald__fail(err, ALD_E_TRUNCATED, offset + size,
                         "the input ends inside a message's metadata: %u bytes expected, %llu "
                         "found",
                         length, (unsigned long long)(left - size));
    *out = size + length;
    return ALD_OK;
}

ald_status ald__ipc_input_head(ald__ipc_input *in, uint64_t offset, uint64_t end,
                               ald__ipc_message *out, ald_error *err)
{
    uint64_t left = end - offset;
    uint8_t prefix[8] = {0};
    ald__cursor cursor = {0};
    size_t size = 0;
    if (left > 0)
        ALD_TRY(
            in->source.read_at(in->source.ctx, offset, prefix, left < 8 ? (size_t)left : 8, err));
    ALD_TRY(head_size(prefix, offset, left, &size, err));
    in->head.size = 0;
    ALD_TRY(ald__buffer_reserve(&in->head, size, err));
    if (size > 0)
        ALD_TRY(in->source.read_at(in->source.ctx, offset, in->head.data, size, err));
    in->head.size = size;
    cursor.data = in->head.data;
    cursor.size = size;
    cursor.base = offset;
    return ald__ipc_read_head(&cursor, &in->rules, out, err);
}

ald_status ald__ipc_input_body(ald__ipc_input *in, uint64_t end, ald__ipc_message *message,
                               ald__shared **out, ald_error *err)
{
    ald__shared *body = NULL;
    ald_status status;
    size_t size;
    *out = NULL;
    if (message->body_size > end - message->body_offset)
        return ald__fail(err, ALD_E_TRUNCATED, message->body_offset,
                         "the input ends inside a message's body: %llu bytes expected, %llu found",
                         (unsigned long long)message->body_size,
                         (unsigned long long)(end - message->body_offset));
    if (!ald__to_size(message->body_size, &size))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__shared_alloc(&in->host.alloc, size, &body, err));
    status = size == 0 ? ALD_OK
                       : in->source.read_at(in->source.ctx, message->body_offset,
                                            ald__shared_data(body), size, err);
    if (status != ALD_OK) {
        ald__shared_unref(body);
        return status;
    }
    message->body = ald__shared_data(body);
    *out = body;
    return ALD_OK;
}

static ald_status stream_begin(ald__ipc_input *in, ald_error *err)
{
    ald__ipc_message message;
    ALD_TRY(ald__ipc_input_head(in, 0, in->source.size_bytes, &message, err));
    if (message.type != ALD__IPC_SCHEMA)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 0,
                         "an Arrow stream begins with a schema message, and here is none");
    ALD_TRY(ald__ipc_schema_new(&in->host.alloc, &message, &in->rules, &in->schema, err));
    if (message.body_size > in->source.size_bytes - message.body_offset)
        return ald__fail(err, ALD_E_TRUNCATED, message.body_offset,
                         "the input ends inside the schema message");
    in->position = message.body_offset + message.body_size;
    return ALD_OK;
}

static ald_status stream_next_batch(ald__ipc_input *in, struct ArrowArray *out, ald_error *err)
{
    uint64_t end = in->source.size_bytes;
    ald__ipc_message message;
    ald__shared *body = NULL;
    ald_status status = ALD_OK;
    while (!in->ended && status == ALD_OK && out->release == NULL) {
        ALD_TRY(ald__ipc_input_head(in, in->position, end, &message, err));
        in->ended = message.type == ALD__IPC_END;
        if (in->ended)
            break;
        if (message.type == ALD__IPC_SCHEMA)
            return ald__fail(err, ALD_E_INVALID_FORMAT, in->position,
                             "a second schema message in one stream");
        ALD_TRY(ald__ipc_input_body(in, end, &message, &body, err));
        in->position = message.body_offset + message.body_size;
        status =
            message.type == ALD__IPC_DICTIONARY
                ? ald__ipc_read_dictionary(in->dictionaries, &message, &in->rules, body, err)
                : ald__ipc_read_batch(in->dictionaries, &message, &in->rules, body, NULL, out, err);
        ald__shared_unref(body);
    }
    return status;
}

static ald_status input_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    ald__ipc_input *in = ctx;
    return ald_schema_copy(&in->host, ald__ipc_schema_get(in->schema), out, err);
}

static ald_status input_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    ald__ipc_input *in = ctx;
    memset(out, 0, sizeof *out);
    return in->batch_places != NULL ? ald__ipc_file_next(in, out, err)
                                    : stream_next_batch(in, out, err);
}

static void input_free(void *ctx)
{
    ald__ipc_input *in = ctx;
    ald_allocator alloc = in->host.alloc;
    ald__ipc_dictionaries_free(in->dictionaries);
    ald__ipc_schema_free(in->schema);
    ald__ipc_file_clear(in);
    ald_buffer_clear(&in->head);
    ald__release(&alloc, in, sizeof *in);
}

static ald_status input_begin(ald__ipc_input *in, ald_ipc_kind kind, ald_error *err)
{
    int is_file = 0;
    ALD_TRY(ald__ipc_file_looks(&in->source, &is_file, err));
    if (kind == ALD_IPC_FILE && !is_file)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 0,
                         "not an Arrow IPC file: it does not begin with ARROW1");
    if (kind == ALD_IPC_STREAM && is_file)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 0,
                         "not an Arrow stream: it begins with ARROW1, as an Arrow IPC file does");
    ALD_TRY(is_file ? ald__ipc_file_begin(in, err) : stream_begin(in, err));
    return ald__ipc_dictionaries_new(&in->host.alloc, in->schema, &in->dictionaries, err);
}

ald_status ald_ipc_open(const ald_source *source, ald_ipc_kind kind, const ald_host *host,
                        struct ArrowArrayStream *out, ald_error *err)
{
    ald_stream_impl impl = {input_schema, input_next, input_free, NULL, 0};
    ald__ipc_input *in;
    ald_status status;
    memset(out, 0, sizeof *out);
    in = ald__alloc_zero(&host->alloc, sizeof *in, err);
    if (in == NULL)
        return ALD_E_NOMEM;
    in->host = *host;
    in->source = *source;
    in->head.alloc = &in->host.alloc;
    in->codec.decode = input_decode;
    in->codec.ctx = in;
    in->rules.allow_delta = 1;
    in->rules.codec = &in->codec;
    status = input_begin(in, kind, err);
    if (status != ALD_OK) {
        input_free(in);
        return status;
    }
    impl.ctx = in;
    return ald_stream_new(&impl, &host->alloc, out, err);
}
