/* SPDX-License-Identifier: MIT */
/* Saving without STREAMING: one frame around the whole IPC stream. An encrypted one is sealed in one go, so it is in memory
 * first. */
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

static ald_status encode_payload(ald__saving *s, const ald_sink *sink, ald_error *err)
{
    ald__encoder *encoder = NULL;
    ald__emit emit;
    ald_status st = ald__encoder_new(s->options.compression, &s->host->alloc, s->uncompressed, sink,
                                     &encoder, err);
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

static ald_status seal_payload(const ald__saving *s, const ald__prefix *p, ald_buffer *payload,
                               ald_error *err)
{
    const ald__protecting *g = &s->protecting;
    ald__bound b = {s->options.dataset_type,
                    s->options.compression,
                    p->flags,
                    p->rows,
                    p->uncompressed,
                    p->section->data,
                    p->section->size,
                    NULL,
                    0,
                    g->block.data,
                    g->block.size};
    ald__piece piece = ald__piece_at(NULL, 0, 0);
    ald__piece_keys keys;
    uint8_t binding[ALD_SHA256_BYTES];
    ald_status st;
    ALD_TRY(ald__binding(s->host, &b, binding, err));
    ALD_TRY(ald__buffer_reserve(payload, ALD_GCM_TAG_BYTES, err));
    /* the crate's files have no commitment and bind nothing */
    ALD_TRY(ald__piece_keys_init(&keys, s->host, g->key,
                                 ald__block_nonce(g->block.data, g->block.size),
                                 g->has_commit ? binding : NULL, err));
    st = ald__piece_seal(&keys, s->host, &piece, payload->data, payload->size, payload->data, err);
    ald__piece_keys_clear(&keys);
    if (st == ALD_OK)
        payload->size += ALD_GCM_TAG_BYTES;
    return st;
}

static ald_status write_payload(ald__saving *s, const ald__prefix *p, ald__output *out,
                                ald_error *err)
{
    ald_sink direct = {output_bytes, NULL, out, NULL}, held;
    ald_buffer payload = {NULL, 0, 0, &s->host->alloc};
    ald_status st;
    if (!ald__protecting_encrypts(&s->protecting))
        return encode_payload(s, &direct, err);
    held = ald_buffer_sink(&payload);
    st = encode_payload(s, &held, err);
    if (st == ALD_OK)
        st = seal_payload(s, p, &payload, err);
    if (st == ALD_OK)
        st = ald__output_write(out, payload.data, payload.size, err);
    ald_buffer_clear(&payload);
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
    int room = payload_bound(s->uncompressed) < ALD__ONES_32 && s->protecting.seed == NULL;
    ALD_TRY(ald__prefix_build(p, bytes, err));
    ALD_TRY(ald__output_begin(out, sink, room ? bytes->size : 0, compat, s->host, err));
    ALD_TRY(write_payload(s, p, out, err));
    p->payload_size = out->size;
    bytes->size = 0;
    ALD_TRY(ald__prefix_build(p, bytes, err));
    return ald__protecting_finish(&s->protecting, out, bytes, err);
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
    p.protecting = &s->protecting;
    if (st == ALD_OK)
        st = write_file(s, &p, &out, sink, &bytes, err);
    ald__output_clear(&out);
    ald_buffer_clear(&section);
    ald_buffer_clear(&bytes);
    return st;
}
