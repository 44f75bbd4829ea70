/* SPDX-License-Identifier: MIT */
/* The choice of a codec, and what holds for all of them. */
#include "core/codec/codec.h"

#include <string.h>

#include "ald/schema.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/frame.h"

#define SKIPPABLE_MAGIC 0x184D2A50u
#define SKIPPABLE_MASK 0xFFFFFFF0u
#define SKIPPABLE_HEAD 8u

uint64_t ald__frame_skippable(const uint8_t *src, size_t size)
{
    if (size < 4 || (ald__load_le32(src) & SKIPPABLE_MASK) != SKIPPABLE_MAGIC)
        return 0;
    return size < SKIPPABLE_HEAD ? SKIPPABLE_HEAD
                                 : SKIPPABLE_HEAD + (uint64_t)ald__load_le32(src + 4);
}

/* The frames of packed chunks' prologue and epilogue are ordinary ones. */
static int is_lz4(uint8_t id)
{
    return id == ALD_COMPRESSION_LZ4 || id == ALD_COMPRESSION_PACKED_LZ4;
}

static int is_zstd(uint8_t id)
{
    return id == ALD_COMPRESSION_ZSTD_L3 || id == ALD_COMPRESSION_ZSTD_L19 ||
           id == ALD_COMPRESSION_PACKED;
}

#define LZ4_EXPANSION 255u /* a byte of an LZ4 match length stands for 255 at most */

uint64_t ald__codec_bound(uint8_t id, const uint8_t *src, size_t src_size)
{
    if (is_zstd(id))
        return ald__zstd_bound(src, src_size);
    return is_lz4(id) ? (uint64_t)src_size * LZ4_EXPANSION : src_size;
}

static ald_status decode_stored(const uint8_t *src, size_t src_size, uint8_t *dst, size_t dst_size,
                                uint64_t offset, ald_error *err)
{
    if (src_size != dst_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "%zu bytes stored without compression, expected %zu", src_size, dst_size);
    if (src_size > 0)
        memcpy(dst, src, src_size);
    return ALD_OK;
}

struct ald__decoder {
    ald_allocator alloc;
    const ald__decoder_ops *ops; /* NULL: bytes are copied */
    void *state;
};

ald_status ald__decoder_new(uint8_t id, const ald_allocator *alloc, ald__decoder **out,
                            ald_error *err)
{
    ald__decoder *d;
    ald_status st = ALD_OK;
    *out = NULL;
    if (id != ALD_COMPRESSION_NONE && !is_lz4(id) && !is_zstd(id))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "compression id %u is not supported", id);
    d = ald__alloc_zero(alloc, sizeof *d, err);
    if (d == NULL)
        return ALD_E_NOMEM;
    d->alloc = *alloc;
    if (id != ALD_COMPRESSION_NONE) {
        d->ops = is_lz4(id) ? &ald__lz4_decoder : &ald__zstd_decoder;
        st = d->ops->open(&d->alloc, &d->state, err);
    }
    if (st == ALD_OK)
        *out = d;
    else
        ald__decoder_free(d);
    return st;
}

void ald__decoder_free(ald__decoder *decoder)
{
    ald_allocator alloc;
    if (decoder == NULL)
        return;
    if (decoder->state != NULL)
        decoder->ops->free(decoder->state);
    alloc = decoder->alloc;
    ald__release(&alloc, decoder, sizeof *decoder);
}

/* Real frames are decoded, skippable ones passed, until the bytes end. */
static ald_status decode_frames(const ald__decoder *d, ald__frame_io *io, ald_error *err)
{
    size_t pos = 0;
    while (pos < io->src_size) {
        uint64_t skip = ald__frame_skippable(io->src + pos, io->src_size - pos);
        if (skip > io->src_size - pos)
            return ald__fail(err, ALD_E_INVALID_FORMAT, io->offset + pos,
                             "skippable frame cut short");
        if (skip > 0)
            pos += (size_t)skip;
        else
            ALD_TRY(d->ops->frame(d->state, io, &pos, err));
    }
    return ALD_OK;
}

ald_status ald__decoder_run(ald__decoder *decoder, const uint8_t *src, size_t src_size,
                            uint8_t *dst, size_t dst_size, uint64_t offset, ald_error *err)
{
    ald__frame_io io = {&decoder->alloc, src, src_size, dst, dst_size, 0, offset, 0};
    if (decoder->ops == NULL)
        return decode_stored(src, src_size, dst, dst_size, offset, err);
    ALD_TRY(decode_frames(decoder, &io, err));
    if (io.frames == 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "no compressed frame");
    if (io.dst_pos != dst_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "the frames hold %zu bytes, expected %zu", io.dst_pos, dst_size);
    return ALD_OK;
}

ald_status ald__codec_decode(uint8_t id, const ald_allocator *alloc, const uint8_t *src,
                             size_t src_size, uint8_t *dst, size_t dst_size, uint64_t offset,
                             ald_error *err)
{
    ald__decoder *d = NULL;
    ald_status st = ald__decoder_new(id, alloc, &d, err);
    if (st == ALD_OK)
        st = ald__decoder_run(d, src, src_size, dst, dst_size, offset, err);
    ald__decoder_free(d);
    return st;
}

struct ald__encoder {
    ald_allocator alloc;
    const ald__encoder_ops *ops; /* NULL: bytes pass through */
    void *state;
    ald_sink sink;
    uint8_t id;
    unsigned tuning;
};

/* A build that only reads (ALD_DECODE_ONLY) stores bytes as they are, and has no encoder linked in. */
#ifdef ALD_DECODE_ONLY
#define ENCODER_MAX ALD_COMPRESSION_NONE

static const ald__encoder_ops *encoder_ops(uint8_t id)
{
    (void)id;
    return NULL;
}
#else
#define ENCODER_MAX ALD_COMPRESSION_PACKED_LZ4

static const ald__encoder_ops *encoder_ops(uint8_t id)
{
    if (id == ALD_COMPRESSION_NONE)
        return NULL;
    return is_lz4(id) ? &ald__lz4_encoder : &ald__zstd_encoder;
}
#endif

ald_status ald__encoder_new(uint8_t id, const ald_allocator *alloc, uint64_t content_size,
                            const ald_sink *sink, ald__encoder **out, ald_error *err)
{
    ald__encoder *e;
    ald_status st = ALD_OK;
    *out = NULL;
    if (id > ENCODER_MAX)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "writing compression id %u is not supported", id);
    e = ald__alloc_zero(alloc, sizeof *e, err);
    if (e == NULL)
        return ALD_E_NOMEM;
    e->alloc = *alloc;
    e->sink = *sink;
    e->id = id;
    e->ops = encoder_ops(id);
    if (e->ops != NULL)
        st = e->ops->open(&e->alloc, id == ALD_COMPRESSION_ZSTD_L19 ? 19 : 3, content_size,
                          &e->state, err);
    if (st != ALD_OK)
        ald__encoder_free(e);
    else
        *out = e;
    return st;
}

ald_status ald__encoder_write(ald__encoder *encoder, const void *data, size_t size, ald_error *err)
{
    if (encoder->ops != NULL)
        return encoder->ops->write(encoder->state, data, size, &encoder->sink, err);
    return encoder->sink.write(encoder->sink.ctx, data, size, err);
}

ald_status ald__encoder_restart(ald__encoder *encoder, uint64_t content_size, const ald_sink *sink,
                                ald_error *err)
{
    encoder->sink = *sink;
    if (encoder->ops == NULL)
        return ALD_OK;
    return encoder->ops->restart(encoder->state, content_size, err);
}

ald_status ald__encoder_frame(ald__encoder *encoder, const void *data, size_t size, ald_buffer *out,
                              ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    if (encoder->ops != NULL && encoder->ops->once != NULL)
        return encoder->ops->once(encoder->state, data, size, out, err);
    ALD_TRY(ald__encoder_restart(encoder, size, &sink, err));
    ALD_TRY(ald__encoder_write(encoder, data, size, err));
    return ald__encoder_finish(encoder, err);
}

ald_status ald__encoder_tune(ald__encoder *encoder, unsigned choice, ald_error *err)
{
    if (choice == encoder->tuning)
        return ALD_OK;
    if (choice >= ALD__TUNINGS || encoder->id != ALD_COMPRESSION_ZSTD_L3 || encoder->ops == NULL ||
        encoder->ops->tune == NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "an encoder without tuning %u",
                         choice);
    encoder->tuning = choice;
    return encoder->ops->tune(encoder->state, choice, err);
}

ald_status ald__encoder_finish(ald__encoder *encoder, ald_error *err)
{
    if (encoder->ops == NULL)
        return ALD_OK;
    return encoder->ops->finish(encoder->state, &encoder->sink, err);
}

void ald__encoder_free(ald__encoder *encoder)
{
    ald_allocator alloc;
    if (encoder == NULL)
        return;
    if (encoder->ops != NULL && encoder->state != NULL)
        encoder->ops->free(encoder->state);
    alloc = encoder->alloc;
    ald__release(&alloc, encoder, sizeof *encoder);
}

ald_status ald__codec_encode(uint8_t id, const ald_allocator *alloc, const uint8_t *src,
                             size_t size, ald_buffer *out, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    ald__encoder *e = NULL;
    ald_status st = ald__encoder_new(id, alloc, size, &sink, &e, err);
    if (st == ALD_OK)
        st = ald__encoder_write(e, src, size, err);
    if (st == ALD_OK)
        st = ald__encoder_finish(e, err);
    ald__encoder_free(e);
    return st;
}
