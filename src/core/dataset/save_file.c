/* SPDX-License-Identifier: MIT */
/* Saving: the file. Where the sink can go back, the payload goes straight into it and the header is put right at the end;
 * elsewhere the compressed payload waits in a spool. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/container/header.h"
#include "core/container/metadata.h"
#include "core/container/msgpack.h"
#include "core/dataset/save.h"

#define SPOOL_PIECE_BYTES ((size_t)1 << 20)

/* Bytes into the sink, counted and summed. */
typedef struct output {
    ald_sink sink;
    uint32_t (*crc_function)(uint32_t crc, const void *data, size_t size);
    uint32_t crc;
    uint64_t size;
} output;

typedef struct writing {
    ald__saving *s;
    ald_buffer metadata, section; /* the sections' bytes */
    uint64_t payload_size;
    int has_ald; /* the metadata has facts: version 1.3 */
} writing;

static ald_status put(output *o, const void *data, size_t size, ald_error *err)
{
    o->crc = o->crc_function(o->crc, data, size);
    o->size += size;
    return o->sink.write(o->sink.ctx, data, size, err);
}

static ald_status output_write(void *ctx, const void *data, size_t size, ald_error *err)
{
    return put(ctx, data, size, err);
}

/* ---- sections */

static ald_status put_text(ald_value *map, const char *key, const char *text, size_t size,
                           ald_error *err)
{
    ald_value *v = ald_value_put(map, key, strlen(key));
    return v == NULL ? ald__no_memory(err, size) : ald_value_set_string(v, text, size, err);
}

static ald_status put_sha256(const ald__saving *s, ald_value *map, ald_error *err)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * ALD_SHA256_BYTES];
    if (!s->options.write_sha256)
        return ALD_OK;
    for (size_t i = 0; i < ALD_SHA256_BYTES; i++) {
        hex[2 * i] = digits[s->sha256[i] >> 4];
        hex[2 * i + 1] = digits[s->sha256[i] & 15];
    }
    return put_text(map, "sha256", hex, sizeof hex, err);
}

static ald_status put_size(writing *w, ald_value *map, const char *key, uint64_t size,
                           uint64_t ones, ald_error *err)
{
    ald_value *ald, *v;
    if (size < ones)
        return ALD_OK;
    ald = ald_value_put(map, "ald", 3);
    if (ald != NULL && ald_value_get_type(ald) != ALD_VALUE_MAP)
        ald_value_set_map(ald);
    v = ald != NULL ? ald_value_put(ald, key, strlen(key)) : NULL;
    if (v == NULL)
        return ald__no_memory(err, 0);
    ald_value_set_uint(v, size);
    w->has_ald = 1;
    return ALD_OK;
}

/* Values that the header's fields cannot hold. */
static ald_status put_sizes(writing *w, ald_value *map, ald_error *err)
{
    ALD_TRY(put_size(w, map, "payload_size", w->payload_size, ALD__ONES_32, err));
    ALD_TRY(put_size(w, map, "uncompressed_size", w->s->uncompressed, ALD__ONES_32, err));
    return put_size(w, map, "schema_size", w->section.size, ALD__ONES_16, err);
}

static ald_status fill_map(writing *w, ald_value *map, ald_error *err)
{
    ald_value_remove(map, "ald");
    ald_value_remove(map, "sha256");
    ALD_TRY(ald__metadata_check(map, ALD_NO_OFFSET, err));
    ALD_TRY(put_sha256(w->s, map, err));
    return put_sizes(w, map, err);
}

static ald_status encode_map(writing *w, const ald_value *map, ald_error *err)
{
    static const char *const wide[] = {"payload_size", "uncompressed_size", "schema_size", NULL};
    ald_value *array = NULL;
    ald_status st;
    if (w->s->options.compat == ALD_COMPAT_NONE)
        return ald__msgpack_encode(map, wide, &w->metadata, err);
    if (w->has_ald)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 reads no file of this size: schema %zu bytes, %llu "
                         "uncompressed",
                         w->section.size, (unsigned long long)w->s->uncompressed);
    ALD_TRY(ald__metadata_to_array(&w->s->host->alloc, map, &array, err));
    st = ald__msgpack_encode(array, NULL, &w->metadata, err);
    ald_value_free(array);
    return st;
}

static ald_status build_metadata(writing *w, ald_error *err)
{
    const ald_allocator *alloc = &w->s->host->alloc;
    ald_value *map = NULL;
    ald_status st;
    if (w->s->options.metadata != NULL) {
        st = ald_value_copy(alloc, w->s->options.metadata, &map, err);
    } else {
        st = ald_value_new(alloc, &map, err);
        if (st == ALD_OK)
            ald_value_set_map(map);
    }
    if (st == ALD_OK)
        st = fill_map(w, map, err);
    if (st == ALD_OK)
        st = encode_map(w, map, err);
    ald_value_free(map);
    if (st == ALD_OK && w->metadata.size > UINT32_MAX)
        st = ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the metadata is too large");
    return st;
}

static uint32_t low32(uint64_t v)
{
    return v < ALD__ONES_32 ? (uint32_t)v : ALD__ONES_32;
}

static void build_header(const writing *w, uint8_t bytes[ALD__HEADER_BYTES])
{
    ald__header h;
    memset(&h, 0, sizeof h);
    h.version_major = ALD__VERSION_MAJOR;
    h.version_minor = w->has_ald ? 3 : 2;
    h.dataset_type = w->s->options.dataset_type;
    h.metadata_size = (uint32_t)w->metadata.size;
    h.payload_size = low32(w->payload_size);
    h.uncompressed_size = low32(w->s->uncompressed);
    h.compression = w->s->options.compression;
    h.schema_size = (uint16_t)(w->section.size < ALD__ONES_16 ? w->section.size : ALD__ONES_16);
    h.num_rows = w->s->rows;
    ald__header_encode(&h, bytes);
}

/* ---- payload */

static ald_status encoder_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    return ald__encoder_write(ctx, data, size, err);
}

static ald_status write_payload(writing *w, const ald_sink *sink, ald_error *err)
{
    ald__encoder *encoder = NULL;
    ald__emit emit;
    ald_status st = ald__encoder_new(w->s->options.compression, &w->s->host->alloc,
                                     w->s->uncompressed, sink, &encoder, err);
    if (st != ALD_OK)
        return st;
    emit.bytes = encoder_bytes;
    emit.ctx = encoder;
    st = ald__saving_emit(w->s, &emit, err);
    if (st == ALD_OK)
        st = ald__encoder_finish(encoder, err);
    ald__encoder_free(encoder);
    return st;
}

static ald_status put_crc(output *o, uint32_t crc, ald_error *err)
{
    uint8_t bytes[4];
    ald__store_le32(bytes, crc);
    return o->sink.write(o->sink.ctx, bytes, sizeof bytes, err);
}

/* The CRC of the whole is the header's, which is known last, joined with that of the rest. */
static ald_status write_patched(writing *w, output *o, ald_error *err)
{
    ald_sink summed = {output_write, NULL, o, o->sink.name};
    uint8_t header[ALD__HEADER_BYTES];
    uint64_t before;
    build_header(w, header);
    ALD_TRY(o->sink.write(o->sink.ctx, header, sizeof header, err));
    ALD_TRY(put(o, w->metadata.data, w->metadata.size, err));
    ALD_TRY(put(o, w->section.data, w->section.size, err));
    before = o->size;
    ALD_TRY(write_payload(w, &summed, err));
    w->payload_size = o->size - before;
    build_header(w, header);
    ALD_TRY(
        put_crc(o, ald__crc32_combine(ald__crc32(0, header, sizeof header), o->crc, o->size), err));
    return o->sink.write_at(o->sink.ctx, 0, header, sizeof header, err);
}

/* ---- payload first, for sinks that cannot go back */

typedef struct waiting {
    const ald_host *host;
    ald_spool spool; /* where the host has one */
    ald_buffer memory;
    uint64_t size;
} waiting;

static ald_status waiting_write(void *ctx, const void *data, size_t size, ald_error *err)
{
    waiting *p = ctx;
    p->size += size;
    if (p->spool.append != NULL)
        return p->spool.append(p->spool.ctx, data, size, err);
    return ald__buffer_append(&p->memory, data, size, err);
}

static ald_status copy_waiting(const waiting *p, output *o, ald_error *err)
{
    uint8_t *piece;
    ald_status st = ALD_OK;
    if (p->spool.append == NULL)
        return put(o, p->memory.data, p->memory.size, err);
    piece = ald__alloc(&p->host->alloc, SPOOL_PIECE_BYTES, err);
    if (piece == NULL)
        return ALD_E_NOMEM;
    for (uint64_t at = 0; st == ALD_OK && at < p->size;) {
        size_t n = p->size - at < SPOOL_PIECE_BYTES ? (size_t)(p->size - at) : SPOOL_PIECE_BYTES;
        st = p->spool.read_at(p->spool.ctx, at, piece, n, err);
        if (st == ALD_OK)
            st = put(o, piece, n, err);
        at += n;
    }
    ald__release(&p->host->alloc, piece, SPOOL_PIECE_BYTES);
    return st;
}

static ald_status put_in_order(writing *w, const waiting *p, output *o, ald_error *err)
{
    uint8_t header[ALD__HEADER_BYTES];
    w->payload_size = p->size;
    w->metadata.size = 0;
    w->has_ald = 0;
    ALD_TRY(build_metadata(w, err));
    build_header(w, header);
    ALD_TRY(put(o, header, sizeof header, err));
    ALD_TRY(put(o, w->metadata.data, w->metadata.size, err));
    ALD_TRY(put(o, w->section.data, w->section.size, err));
    ALD_TRY(copy_waiting(p, o, err));
    return put_crc(o, o->crc, err);
}

static ald_status write_in_order(writing *w, output *o, ald_error *err)
{
    waiting p = {w->s->host, {0}, {NULL, 0, 0, &w->s->host->alloc}, 0};
    ald_sink sink = {waiting_write, NULL, &p, o->sink.name};
    ald_status st = ALD_OK;
    if (w->s->host->spool_open != NULL)
        st = w->s->host->spool_open(w->s->host->ctx, &p.spool, err);
    if (st == ALD_OK)
        st = write_payload(w, &sink, err);
    if (st == ALD_OK)
        st = put_in_order(w, &p, o, err);
    if (p.spool.close != NULL)
        p.spool.close(p.spool.ctx);
    ald_buffer_clear(&p.memory);
    return st;
}

/* What no codec exceeds: zstd and LZ4 add less than 1/128 and a few headers. */
static uint64_t payload_bound(uint64_t uncompressed)
{
    return uncompressed < UINT64_MAX / 2 ? uncompressed + uncompressed / 128 + 4096 : UINT64_MAX;
}

ald_status ald__saving_write(ald__saving *s, const ald_sink *sink, ald_error *err)
{
    const ald_allocator *alloc = &s->host->alloc;
    int compat = s->options.compat != ALD_COMPAT_NONE;
    writing w = {s, {NULL, 0, 0, alloc}, {NULL, 0, 0, alloc}, 0, 0};
    output o = {*sink, compat ? ald__crc32_crate : ald__crc32, 0, 0};
    ald_status st = ald__ipc_schema_section(alloc, &s->schema, &w.section, err);
    if (st == ALD_OK)
        st = build_metadata(&w, err);
    if (st == ALD_OK && sink->write_at != NULL && !compat &&
        payload_bound(s->uncompressed) < ALD__ONES_32)
        st = write_patched(&w, &o, err);
    else if (st == ALD_OK)
        st = write_in_order(&w, &o, err);
    ald_buffer_clear(&w.metadata);
    ald_buffer_clear(&w.section);
    return st;
}
