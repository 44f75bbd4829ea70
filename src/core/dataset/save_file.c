/* SPDX-License-Identifier: MIT */
/* Saving without STREAMING: one frame around the whole IPC stream. */
#include <string.h>

#include "core/base/buf.h"
#include "core/codec/codec.h"
#include "core/container/header.h"
#include "core/dataset/file_output.h"
#include "core/dataset/prefix.h"
#include "core/dataset/save.h"

static ald_status output_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    return ald__output_write(ctx, data, size, err);
}

static ald_status encoder_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    return ald__encoder_write(ctx, data, size, err);
}

static ald_status write_payload(ald__saving *s, ald__output *out, ald_error *err)
{
    ald_sink sink = {output_bytes, NULL, out, NULL};
    ald__encoder *encoder = NULL;
    ald__emit emit;
    ald_status st = ald__encoder_new(s->options.compression, &s->host->alloc, s->uncompressed,
                                     &sink, &encoder, err);
    if (st != ALD_OK)
        return st;
    emit.bytes = encoder_bytes;
    emit.ctx = encoder;
    st = ald__saving_emit(s, &emit, err);
    if (st == ALD_OK)
        st = ald__encoder_finish(encoder, err);
    ald__encoder_free(encoder);
    return st;
}

/* What no codec exceeds: zstd and LZ4 add less than 1/128 and a few headers. */
static uint64_t payload_bound(uint64_t uncompressed)
{
    return uncompressed < UINT64_MAX / 2 ? uncompressed + uncompressed / 128 + 4096 : UINT64_MAX;
}

/* The prefix is built twice: its size is the same as long as the payload's fits the header. */
static ald_status write_file(ald__saving *s, ald__prefix *p, ald__output *out, const ald_sink *sink,
                             ald_buffer *bytes, ald_error *err)
{
    int compat = s->options.compat != ALD_COMPAT_NONE;
    int room = payload_bound(s->uncompressed) < ALD__ONES_32;
    ALD_TRY(ald__prefix_build(p, bytes, err));
    ALD_TRY(ald__output_begin(out, sink, room ? bytes->size : 0, compat, s->host, err));
    ALD_TRY(write_payload(s, out, err));
    p->payload_size = out->size;
    bytes->size = 0;
    ALD_TRY(ald__prefix_build(p, bytes, err));
    return ald__output_finish(out, bytes, NULL, 0, err);
}

ald_status ald__saving_write(ald__saving *s, const ald_sink *sink, ald_error *err)
{
    const ald_allocator *alloc = &s->host->alloc;
    ald_buffer section = {NULL, 0, 0, alloc}, bytes = {NULL, 0, 0, alloc};
    ald__output out;
    ald__prefix p;
    ald_status st = ald__ipc_schema_section(alloc, &s->schema, &section, err);
    memset(&out, 0, sizeof out);
    memset(&p, 0, sizeof p);
    p.alloc = alloc;
    p.options = &s->options;
    p.rows = s->rows;
    p.uncompressed = s->uncompressed;
    p.sha256 = s->options.write_sha256 ? s->sha256 : NULL;
    p.section = &section;
    if (st == ALD_OK)
        st = write_file(s, &p, &out, sink, &bytes, err);
    ald__output_clear(&out);
    ald_buffer_clear(&section);
    ald_buffer_clear(&bytes);
    return st;
}
