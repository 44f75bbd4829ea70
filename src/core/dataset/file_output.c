/* SPDX-License-Identifier: MIT */
/* Payload first, prefix last, or payload kept until the prefix is known. */
#include "core/dataset/file_output.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"

#define PIECE_BYTES ((size_t)1 << 20)

ald_status ald__output_begin(ald__output *o, const ald_sink *sink, uint64_t room, int crate_crc32,
                             const ald_host *host, ald_error *err)
{
    static const uint8_t zeros[4096];
    memset(o, 0, sizeof *o);
    o->host = host;
    o->sink = *sink;
    o->crate_crc32 = crate_crc32;
    o->memory.alloc = &host->alloc;
    if (sink->write_at != NULL && !crate_crc32)
        o->room = room;
    if (o->room == 0)
        return host->spool_open != NULL ? host->spool_open(host->ctx, &o->spool, err) : ALD_OK;
    for (uint64_t left = o->room; left > 0;) {
        size_t n = left < sizeof zeros ? (size_t)left : sizeof zeros;
        ALD_TRY(sink->write(sink->ctx, zeros, n, err));
        left -= n;
    }
    return ALD_OK;
}

ald_status ald__output_write(ald__output *o, const void *data, size_t size, ald_error *err)
{
    o->size += size;
    if (o->room != 0) {
        o->crc = ald__crc32(o->crc, data, size);
        return o->sink.write(o->sink.ctx, data, size, err);
    }
    if (o->spool.append != NULL)
        return o->spool.append(o->spool.ctx, data, size, err);
    return ald__buffer_append(&o->memory, data, size, err);
}

static ald_status put_crc(ald__output *o, uint32_t crc, ald_error *err)
{
    uint8_t bytes[4];
    ald__store_le32(bytes, crc);
    return o->sink.write(o->sink.ctx, bytes, sizeof bytes, err);
}

/* The CRC of the whole is the prefix's joined with the payload's. */
static ald_status finish_patched(ald__output *o, const ald_buffer *prefix, const void *tail,
                                 size_t tail_size, ald_error *err)
{
    uint32_t crc;
    if (prefix->size != o->room)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "a prefix of %zu bytes for %llu reserved", prefix->size,
                         (unsigned long long)o->room);
    crc = ald__crc32_combine(ald__crc32(0, prefix->data, prefix->size), o->crc, o->size);
    if (tail_size > 0)
        ALD_TRY(o->sink.write(o->sink.ctx, tail, tail_size, err));
    ALD_TRY(put_crc(o, ald__crc32(crc, tail, tail_size), err));
    return o->sink.write_at(o->sink.ctx, 0, prefix->data, prefix->size, err);
}

static ald_status put(ald__output *o, uint32_t *crc, const void *data, size_t size, ald_error *err)
{
    if (size == 0)
        return ALD_OK;
    *crc = o->crate_crc32 ? ald__crc32_crate(*crc, data, size) : ald__crc32(*crc, data, size);
    return o->sink.write(o->sink.ctx, data, size, err);
}

static ald_status put_waiting(ald__output *o, uint32_t *crc, ald_error *err)
{
    uint8_t *piece;
    ald_status st = ALD_OK;
    if (o->spool.append == NULL)
        return put(o, crc, o->memory.data, o->memory.size, err);
    piece = ald__alloc(&o->host->alloc, PIECE_BYTES, err);
    if (piece == NULL)
        return ALD_E_NOMEM;
    for (uint64_t at = 0; st == ALD_OK && at < o->size;) {
        size_t n = o->size - at < PIECE_BYTES ? (size_t)(o->size - at) : PIECE_BYTES;
        st = o->spool.read_at(o->spool.ctx, at, piece, n, err);
        if (st == ALD_OK)
            st = put(o, crc, piece, n, err);
        at += n;
    }
    ald__release(&o->host->alloc, piece, PIECE_BYTES);
    return st;
}

ald_status ald__output_finish(ald__output *o, const ald_buffer *prefix, const void *tail,
                              size_t tail_size, ald_error *err)
{
    uint32_t crc = 0;
    if (o->room != 0)
        return finish_patched(o, prefix, tail, tail_size, err);
    ALD_TRY(put(o, &crc, prefix->data, prefix->size, err));
    ALD_TRY(put_waiting(o, &crc, err));
    ALD_TRY(put(o, &crc, tail, tail_size, err));
    return put_crc(o, crc, err);
}

void ald__output_clear(ald__output *o)
{
    if (o->spool.close != NULL)
        o->spool.close(o->spool.ctx);
    if (o->memory.alloc != NULL)
        ald_buffer_clear(&o->memory);
    memset(o, 0, sizeof *o);
}
