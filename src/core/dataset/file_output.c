/* SPDX-License-Identifier: MIT */
/* Payload first, prefix last, or payload kept until the prefix is known. Ed25519 takes its message twice, and a sink gives
 * nothing back: so what is signed waits, and is read once more when it is written. */
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

void ald__output_begin_stored(ald__output *o, const ald_sink *sink, const ald_source *source,
                              uint64_t begin, uint64_t size, const ald_host *host)
{
    memset(o, 0, sizeof *o);
    o->host = host;
    o->sink = *sink;
    o->memory.alloc = &host->alloc;
    o->stored = source;
    o->stored_begin = begin;
    o->size = size;
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

/* The payload that waits, piece by piece, to `take`. */
typedef ald_status (*output_taker)(void *to, const void *data, size_t size, ald_error *err);

static ald_status read_waiting(const ald__output *o, uint64_t at, void *buf, size_t size,
                               ald_error *err)
{
    if (o->stored != NULL)
        return o->stored->read_at(o->stored->ctx, o->stored_begin + at, buf, size, err);
    return o->spool.read_at(o->spool.ctx, at, buf, size, err);
}

static ald_status each_waiting(const ald__output *o, output_taker take, void *to, ald_error *err)
{
    uint8_t *piece;
    ald_status st = ALD_OK;
    if (o->stored == NULL && o->spool.append == NULL)
        return o->size > 0 ? take(to, o->memory.data, o->memory.size, err) : ALD_OK;
    piece = ald__alloc(&o->host->alloc, PIECE_BYTES, err);
    if (piece == NULL)
        return ALD_E_NOMEM;
    for (uint64_t at = 0; st == ALD_OK && at < o->size;) {
        size_t n = o->size - at < PIECE_BYTES ? (size_t)(o->size - at) : PIECE_BYTES;
        st = read_waiting(o, at, piece, n, err);
        if (st == ALD_OK)
            st = take(to, piece, n, err);
        at += n;
    }
    ald__release(&o->host->alloc, piece, PIECE_BYTES);
    return st;
}

/* ---- signing */

typedef struct output_message {
    const ald__output *output;
    const ald_buffer *prefix;
    void (*take)(void *to, const void *data, size_t size);
    void *to;
} output_message;

static ald_status take_signed(void *to, const void *data, size_t size, ald_error *err)
{
    const output_message *m = to;
    (void)err;
    m->take(m->to, data, size);
    return ALD_OK;
}

static ald_status feed_signed(void *ctx, void (*take)(void *to, const void *data, size_t size),
                              void *to, ald_error *err)
{
    output_message *m = ctx;
    m->take = take;
    m->to = to;
    take(to, m->prefix->data, m->prefix->size);
    return each_waiting(m->output, take_signed, m, err);
}

ald_status ald__output_sign(const ald__output *o, const ald_buffer *prefix,
                            const uint8_t seed[ALD_ED25519_SEED_BYTES],
                            uint8_t signature[ALD_ED25519_SIGNATURE_BYTES], ald_error *err)
{
    output_message m = {o, prefix, NULL, NULL};
    ald_message message = {feed_signed, &m};
    if (o->room != 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the payload is written and cannot be signed");
    return o->host->crypto->ed25519_sign_stream(&o->host->alloc, seed, &message, signature, err);
}

/* ---- the end */

typedef struct output_sum {
    ald__output *output;
    uint32_t crc;
} output_sum;

static ald_status put_summed(void *to, const void *data, size_t size, ald_error *err)
{
    output_sum *s = to;
    return put(s->output, &s->crc, data, size, err);
}

ald_status ald__output_finish(ald__output *o, const ald_buffer *prefix, const void *tail,
                              size_t tail_size, ald_error *err)
{
    output_sum sum = {o, 0};
    if (o->room != 0)
        return finish_patched(o, prefix, tail, tail_size, err);
    ALD_TRY(put(o, &sum.crc, prefix->data, prefix->size, err));
    ALD_TRY(each_waiting(o, put_summed, &sum, err));
    ALD_TRY(put(o, &sum.crc, tail, tail_size, err));
    return put_crc(o, sum.crc, err);
}

void ald__output_clear(ald__output *o)
{
    if (o->spool.close != NULL)
        o->spool.close(o->spool.ctx);
    if (o->memory.alloc != NULL)
        ald_buffer_clear(&o->memory);
    memset(o, 0, sizeof *o);
}
