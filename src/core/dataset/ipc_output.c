/* SPDX-License-Identifier: MIT */
/* Arrow IPC out. A stream may replace a dictionary, a file holds one that grows; the writer below knows how. */
#include <string.h>

#include "ald/ipc.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "core/arrow/ipc_write.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/codec/codec.h"

typedef struct ipc_output {
    ald_ipc_options options;
    const ald_host *host;
    const ald_sink *sink;
    ald__ipc_compress compress;
    ald__emit emit;
    ald__ipc_writer *writer;
} ipc_output;

static const uint8_t output_magic[8] = {'A', 'R', 'R', 'O', 'W', '1', 0, 0};

static ald_status output_encode(void *ctx, const uint8_t *src, size_t size, ald_buffer *out,
                                ald_error *err)
{
    const ipc_output *o = ctx;
    size_t before = out->size;
    ALD_TRY(ald__codec_encode(o->options.compression, &o->host->alloc, src, size, out, err));
    if (out->size - before >= size)
        out->size = before;
    return ALD_OK;
}

static ald_status output_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    const ipc_output *o = ctx;
    return o->sink->write(o->sink->ctx, data, size, err);
}

/* Any size from the first version's up; what a newer caller appended must be unset. */
static ald_status take_options(ipc_output *o, const ald_ipc_options *options, ald_error *err)
{
    static const ald_ipc_options defaults = ALD_IPC_OPTIONS_INIT;
    o->options = defaults;
    if (options == NULL)
        return ALD_OK;
    if (options->struct_size < sizeof defaults)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "options of %u bytes",
                         options->struct_size);
    for (uint32_t i = sizeof defaults; i < options->struct_size; i++) {
        if (((const uint8_t *)options)[i] != 0)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "an option that this version does not know");
    }
    o->options = *options;
    if (options->kind != ALD_IPC_FILE && options->kind != ALD_IPC_STREAM)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "kind %u is no file or stream",
                         options->kind);
    if (options->compression != ALD_COMPRESSION_NONE &&
        options->compression != ALD_COMPRESSION_ZSTD_L3 &&
        options->compression != ALD_COMPRESSION_LZ4)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "Arrow IPC buffers are compressed with none, zstd-l3 or lz4");
    return ALD_OK;
}

static ald_status output_begin(ipc_output *o, const struct ArrowSchema *schema, ald_error *err)
{
    int is_file = o->options.kind == ALD_IPC_FILE;
    ald__ipc_write_options options = {8, ALD__DICTIONARY_STREAM, NULL};
    if (is_file)
        options.dictionary_mode = ALD__DICTIONARY_DELTA;
    if (o->options.compression != ALD_COMPRESSION_NONE)
        options.compress = &o->compress;
    o->compress.codec = o->options.compression == ALD_COMPRESSION_LZ4 ? 0 : 1;
    ALD_TRY(ald__ipc_writer_new(&o->host->alloc, schema, &options, &o->writer, err));
    if (is_file) {
        ALD_TRY(output_bytes(o, output_magic, sizeof output_magic, err));
        ald__ipc_writer_set_position(o->writer, sizeof output_magic);
    }
    return ald__ipc_write_schema(o->writer, &o->emit, err);
}

static ald_status output_batches(ipc_output *o, struct ArrowArrayStream *batches, ald_error *err)
{
    for (;;) {
        struct ArrowArray batch = {0};
        ald_status status;
        ALD_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return ALD_OK;
        status = ald__ipc_write_batch(o->writer, &batch, &o->emit, err);
        batch.release(&batch);
        if (status != ALD_OK)
            return status;
    }
}

/* End-of-stream marker and, in a file, footer, its length, magic. */
static ald_status output_end(ipc_output *o, ald_buffer *footer, ald_error *err)
{
    uint8_t length[4];
    ALD_TRY(ald__ipc_write_end(o->writer, &o->emit, err));
    if (o->options.kind != ALD_IPC_FILE)
        return ALD_OK;
    ALD_TRY(ald__ipc_write_footer(o->writer, footer, err));
    ald__store_le32(length, (uint32_t)footer->size);
    ALD_TRY(ald__buffer_append(footer, length, sizeof length, err));
    ALD_TRY(ald__buffer_append(footer, output_magic, 6, err));
    return output_bytes(o, footer->data, footer->size, err);
}

ald_status ald_ipc_write(struct ArrowArrayStream *batches, const ald_sink *sink,
                         const ald_ipc_options *options, const ald_host *host, ald_error *err)
{
    ipc_output o = {0};
    ald_buffer footer = {NULL, 0, 0, &host->alloc};
    struct ArrowSchema schema = {0};
    ald_status status = take_options(&o, options, err);
    o.host = host;
    o.sink = sink;
    o.compress.encode = output_encode;
    o.compress.ctx = &o;
    o.emit.bytes = output_bytes;
    o.emit.ctx = &o;
    if (status == ALD_OK)
        status = ald_stream_schema(batches, &schema, err);
    if (status == ALD_OK)
        status = output_begin(&o, &schema, err);
    if (status == ALD_OK)
        status = output_batches(&o, batches, err);
    if (status == ALD_OK)
        status = output_end(&o, &footer, err);
    ald__ipc_writer_free(o.writer);
    ald_buffer_clear(&footer);
    if (schema.release != NULL)
        schema.release(&schema);
    batches->release(batches);
    return status;
}
