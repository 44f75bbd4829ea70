/* SPDX-License-Identifier: MIT */
/* LZ4 frames through liblz4. */
#define LZ4F_STATIC_LINKING_ONLY /* error codes */
#include <string.h>

#include <lz4frame.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/frame.h"

#define FRAME_MAGIC 0x184D2204u
#define PIECE_BYTES (1u << 20) /* source bytes given to the compressor at once */

static ald_status lz4_error(size_t code, uint64_t offset, ald_error *err)
{
    switch (LZ4F_getErrorCode(code)) {
    case LZ4F_ERROR_contentChecksum_invalid:
    case LZ4F_ERROR_blockChecksum_invalid:
        return ald__fail(err, ALD_E_CHECKSUM_MISMATCH, offset,
                         "a checksum of the LZ4 frame does not fit");
    case LZ4F_ERROR_allocation_failed:
        return ald__no_memory(err, 0);
    default:
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "broken LZ4 frame: %s",
                         LZ4F_getErrorName(code));
    }
}

/* FLG of the frame descriptor: bit 0 says that a dictionary id follows. */
static ald_status lz4_check_frame(const uint8_t *src, size_t size, uint64_t offset, ald_error *err)
{
    if (size < 7)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "LZ4 frame cut inside its header");
    if (ald__load_le32(src) != FRAME_MAGIC)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "no LZ4 frame: magic %08x, expected 184d2204", ald__load_le32(src));
    if (src[4] & 1u)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "LZ4 frame with a dictionary id");
    return ALD_OK;
}

/* A frame that is not done when the output is full may still have its end mark and checksum to read: the decoder is then
 * asked for one byte more, which it must not give. */
static ald_status lz4_decode_frame(void *state, ald__frame_io *io, size_t *pos, ald_error *err)
{
    LZ4F_dctx *dctx = state;
    size_t hint = 1;
    uint64_t offset = io->offset + *pos;
    ALD_TRY(lz4_check_frame(io->src + *pos, io->src_size - *pos, offset, err));
    while (hint != 0) {
        uint8_t spare;
        size_t room = io->dst_size - io->dst_pos;
        size_t out = room > 0 ? room : 1, in = io->src_size - *pos;
        hint = LZ4F_decompress(dctx, room > 0 ? io->dst + io->dst_pos : &spare, &out,
                               io->src + *pos, &in, NULL);
        if (LZ4F_isError(hint))
            return lz4_error(hint, offset, err);
        if (room == 0 && out > 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                             "the LZ4 frames hold more than the stated size");
        io->dst_pos += out;
        *pos += in;
        if (hint != 0 && in == 0 && out == 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "LZ4 frame cut short");
    }
    io->frames++;
    return ALD_OK;
}

static ald_status lz4_decoder_open(const ald_allocator *alloc, void **state, ald_error *err)
{
    LZ4F_dctx *dctx = NULL;
    (void)alloc; /* liblz4 takes no allocator in the versions that are about */
    if (LZ4F_isError(LZ4F_createDecompressionContext(&dctx, LZ4F_VERSION)))
        return ald__no_memory(err, 0);
    *state = dctx;
    return ALD_OK;
}

static void lz4_decoder_free(void *state)
{
    (void)LZ4F_freeDecompressionContext(state);
}

#define FLAG_CONTENT_CHECKSUM 4u
#define FLAG_CONTENT_SIZE 8u
#define SIZE_FIELD_END 14u
#define EXPANSION 255u

static ald_status lz4_check_single(const uint8_t *src, size_t src_size, uint64_t content_size,
                                   uint64_t offset, ald_error *err)
{
    uint64_t stated = 0;
    ALD_TRY(lz4_check_frame(src, src_size, offset, err));
    if (!(src[4] & FLAG_CONTENT_CHECKSUM))
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "an LZ4 frame without a content checksum");
    if ((src[4] & FLAG_CONTENT_SIZE) && src_size >= SIZE_FIELD_END)
        stated = ald__load_le64(src + SIZE_FIELD_END - 8);
    if (stated != content_size || content_size / EXPANSION > src_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "an LZ4 frame of %zu bytes whose content size is not %llu", src_size,
                         (unsigned long long)content_size);
    return ALD_OK;
}

const ald__decoder_ops ald__lz4_decoder = {lz4_decoder_open, lz4_decode_frame, lz4_decoder_free,
                                           lz4_check_single};

typedef struct lz4_state {
    const ald_allocator *alloc;
    LZ4F_cctx *cctx;
    LZ4F_preferences_t prefs;
    uint8_t *out;
    size_t out_bytes;
    int begun;
} lz4_state;

static void lz4_close(void *state)
{
    lz4_state *s = state;
    (void)LZ4F_freeCompressionContext(s->cctx);
    ald__release(s->alloc, s->out, s->out_bytes);
    ald__release(s->alloc, s, sizeof *s);
}

static ald_status lz4_open(const ald_allocator *alloc, int level, uint64_t content_size,
                           void **state, ald_error *err)
{
    lz4_state *s = ald__alloc_zero(alloc, sizeof *s, err);
    (void)level;
    *state = s;
    if (s == NULL)
        return ALD_E_NOMEM;
    s->alloc = alloc;
    s->prefs.frameInfo.blockSizeID = LZ4F_max256KB;
    s->prefs.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    s->prefs.frameInfo.contentSize = content_size == UINT64_MAX ? 0 : content_size;
    s->out_bytes = LZ4F_compressBound(PIECE_BYTES, &s->prefs) + LZ4F_HEADER_SIZE_MAX;
    s->out = ald__alloc(alloc, s->out_bytes, err);
    if (s->out == NULL || LZ4F_isError(LZ4F_createCompressionContext(&s->cctx, LZ4F_VERSION))) {
        lz4_close(s);
        *state = NULL;
        return ald__no_memory(err, 0);
    }
    return ALD_OK;
}

static ald_status lz4_put(const lz4_state *s, size_t size, const ald_sink *sink, ald_error *err)
{
    if (LZ4F_isError(size))
        return LZ4F_getErrorCode(size) == LZ4F_ERROR_allocation_failed
                   ? ald__no_memory(err, 0)
                   : ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "LZ4: %s",
                               LZ4F_getErrorName(size));
    return size == 0 ? ALD_OK : sink->write(sink->ctx, s->out, size, err);
}

static ald_status lz4_begin(lz4_state *s, const ald_sink *sink, ald_error *err)
{
    if (s->begun)
        return ALD_OK;
    s->begun = 1;
    return lz4_put(s, LZ4F_compressBegin(s->cctx, s->out, s->out_bytes, &s->prefs), sink, err);
}

static ald_status lz4_write(void *state, const void *data, size_t size, const ald_sink *sink,
                            ald_error *err)
{
    lz4_state *s = state;
    const uint8_t *p = data;
    ALD_TRY(lz4_begin(s, sink, err));
    while (size > 0) {
        size_t n = size < PIECE_BYTES ? size : PIECE_BYTES;
        ALD_TRY(
            lz4_put(s, LZ4F_compressUpdate(s->cctx, s->out, s->out_bytes, p, n, NULL), sink, err));
        p += n;
        size -= n;
    }
    return ALD_OK;
}

/* With a new context: a used one compresses small inputs differently, depending on what it had before, and frames would
 * depend on which thread made them. */
static ald_status lz4_restart(void *state, uint64_t content_size, ald_error *err)
{
    lz4_state *s = state;
    (void)LZ4F_freeCompressionContext(s->cctx);
    s->cctx = NULL;
    if (LZ4F_isError(LZ4F_createCompressionContext(&s->cctx, LZ4F_VERSION)))
        return ald__no_memory(err, 0);
    s->prefs.frameInfo.contentSize = content_size == UINT64_MAX ? 0 : content_size;
    s->begun = 0;
    return ALD_OK;
}

static ald_status lz4_finish(void *state, const ald_sink *sink, ald_error *err)
{
    lz4_state *s = state;
    ALD_TRY(lz4_begin(s, sink, err));
    return lz4_put(s, LZ4F_compressEnd(s->cctx, s->out, s->out_bytes, NULL), sink, err);
}

const ald__encoder_ops ald__lz4_encoder = {lz4_open,  lz4_write, lz4_restart, lz4_finish,
                                           lz4_close, NULL,      NULL};
