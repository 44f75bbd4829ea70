/* SPDX-License-Identifier: MIT */
/* zstd frames through libzstd, decoded one frame at a time so that each is checked before it is believed. */
#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_getFrameHeader, custom memory */
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/codec/frame.h"

#define WINDOW_LIMIT (128ull << 20)
#define OUT_BYTES (128u << 10)

/* libzstd frees without a size: each block carries its own. */
#define HEAD_BYTES 16u

static void *zstd_alloc(void *opaque, size_t size)
{
    const ald_allocator *alloc = opaque;
    uint8_t *p = size > SIZE_MAX / 2 ? NULL : alloc->alloc(alloc->ctx, size + HEAD_BYTES);
    if (p == NULL)
        return NULL;
    memcpy(p, &size, sizeof size);
    return p + HEAD_BYTES;
}

static void zstd_free(void *opaque, void *address)
{
    const ald_allocator *alloc = opaque;
    uint8_t *p = address;
    size_t size;
    if (p == NULL)
        return;
    p -= HEAD_BYTES;
    memcpy(&size, p, sizeof size);
    alloc->release(alloc->ctx, p, size + HEAD_BYTES);
}

static ZSTD_customMem custom_mem(const ald_allocator *alloc)
{
    /* The struct is only read through. */
    union {
        const ald_allocator *in;
        void *out;
    } cast = {alloc};
    ZSTD_customMem mem = {zstd_alloc, zstd_free, cast.out};
    return mem;
}

ZSTD_CCtx *ald__zstd_context(const ald_allocator *alloc)
{
    return ZSTD_createCCtx_advanced(custom_mem(alloc));
}

static ald_status zstd_error(size_t code, uint64_t offset, ald_error *err)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_checksum_wrong:
        return ald__fail(err, ALD_E_CHECKSUM_MISMATCH, offset,
                         "the zstd frame's content checksum does not fit");
    case ZSTD_error_dstSize_tooSmall:
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "the zstd frames hold more than the stated size");
    case ZSTD_error_memory_allocation:
        return ald__fail(err, ALD_E_NOMEM, offset, "no memory for zstd");
    default:
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "broken zstd frame: %s",
                         ZSTD_getErrorName(code));
    }
}

/* The header's promises, before anything is decoded. */
static ald_status zstd_check_frame(const uint8_t *src, size_t size, uint64_t offset, ald_error *err)
{
    ZSTD_frameHeader head; /* NOLINT: filled by the call below */
    size_t r = ZSTD_getFrameHeader(&head, src, size);
    if (ZSTD_isError(r))
        return zstd_error(r, offset, err);
    if (r != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "zstd frame cut inside its header");
    if (head.windowSize > WINDOW_LIMIT)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, offset,
                         "zstd window of %llu bytes, at most 134217728 are accepted",
                         (unsigned long long)head.windowSize);
    if (head.dictID != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "zstd frame with a dictionary id");
    return ALD_OK;
}

static ald_status zstd_decode_frame(void *state, ald__frame_io *io, size_t *pos, ald_error *err)
{
    ZSTD_DCtx *dctx = state;
    const uint8_t *src = io->src + *pos;
    size_t left = io->src_size - *pos;
    uint64_t offset = io->offset + *pos;
    size_t frame_size, got;
    ALD_TRY(zstd_check_frame(src, left, offset, err));
    frame_size = ZSTD_findFrameCompressedSize(src, left);
    if (ZSTD_isError(frame_size))
        return zstd_error(frame_size, offset, err);
    got = ZSTD_decompressDCtx(dctx, io->dst + io->dst_pos, io->dst_size - io->dst_pos, src,
                              frame_size);
    if (ZSTD_isError(got))
        return zstd_error(got, offset, err);
    io->dst_pos += got;
    io->frames++;
    *pos += frame_size;
    return ALD_OK;
}

static ald_status zstd_decoder_open(const ald_allocator *alloc, void **state, ald_error *err)
{
    *state = ZSTD_createDCtx_advanced(custom_mem(alloc));
    return *state != NULL ? ALD_OK : ald__no_memory(err, 0);
}

static void zstd_decoder_free(void *state)
{
    (void)ZSTD_freeDCtx(state);
}

#define EXPANSION 32768u /* a block of 4 bytes or more holds at most 128 KiB */

static ald_status zstd_check_single(const uint8_t *src, size_t src_size, uint64_t content_size,
                                    uint64_t offset, ald_error *err)
{
    ZSTD_frameHeader head; /* NOLINT: filled by the call below */
    if (src_size < 4 || ald__load_le32(src) != ZSTD_MAGICNUMBER)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "no zstd frame");
    ALD_TRY(zstd_check_frame(src, src_size, offset, err));
    if (ZSTD_getFrameHeader(&head, src, src_size) != 0 || !head.checksumFlag)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "a zstd frame without a content checksum");
    if (head.frameContentSize != content_size || content_size / EXPANSION > src_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "a zstd frame of %zu bytes whose content size is not %llu", src_size,
                         (unsigned long long)content_size);
    return ALD_OK;
}

const ald__decoder_ops ald__zstd_decoder = {zstd_decoder_open, zstd_decode_frame, zstd_decoder_free,
                                            zstd_check_single};

uint64_t ald__zstd_bound(const uint8_t *src, size_t size)
{
    unsigned long long bound = ZSTD_decompressBound(src, size);
    return bound == ZSTD_CONTENTSIZE_ERROR ? UINT64_MAX : bound;
}

typedef struct zstd_state {
    const ald_allocator *alloc;
    ZSTD_CCtx *cctx;
    uint8_t *out;
} zstd_state;

static void zstd_close(void *state)
{
    zstd_state *s = state;
    ZSTD_freeCCtx(s->cctx);
    ald__release(s->alloc, s->out, OUT_BYTES);
    ald__release(s->alloc, s, sizeof *s);
}

static ald_status zstd_open(const ald_allocator *alloc, int level, uint64_t content_size,
                            void **state, ald_error *err)
{
    zstd_state *s = ald__alloc_zero(alloc, sizeof *s, err);
    *state = s;
    if (s == NULL)
        return ALD_E_NOMEM;
    s->alloc = alloc;
    s->cctx = ZSTD_createCCtx_advanced(custom_mem(alloc));
    s->out = ald__alloc(alloc, OUT_BYTES, err);
    if (s->cctx == NULL || s->out == NULL)
        goto fail;
    if (ZSTD_isError(ZSTD_CCtx_setParameter(s->cctx, ZSTD_c_compressionLevel, level)) ||
        ZSTD_isError(ZSTD_CCtx_setParameter(s->cctx, ZSTD_c_checksumFlag, 1)) ||
        (content_size != UINT64_MAX &&
         ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(s->cctx, content_size))))
        goto fail;
    return ALD_OK;
fail:
    zstd_close(s);
    *state = NULL;
    return ald__no_memory(err, 0);
}

static ald_status zstd_restart(void *state, uint64_t content_size, ald_error *err)
{
    zstd_state *s = state;
    if (ZSTD_isError(ZSTD_CCtx_reset(s->cctx, ZSTD_reset_session_only)) ||
        (content_size != UINT64_MAX &&
         ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(s->cctx, content_size))))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "zstd cannot begin a frame");
    return ALD_OK;
}

static ald_status zstd_push(zstd_state *s, ZSTD_inBuffer *in, ZSTD_EndDirective mode,
                            const ald_sink *sink, ald_error *err)
{
    size_t left;
    do {
        ZSTD_outBuffer out = {s->out, OUT_BYTES, 0};
        left = ZSTD_compressStream2(s->cctx, &out, in, mode);
        if (ZSTD_isError(left)) {
            if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
                return ald__no_memory(err, 0);
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "zstd: %s",
                             ZSTD_getErrorName(left));
        }
        if (out.pos > 0)
            ALD_TRY(sink->write(sink->ctx, s->out, out.pos, err));
    } while (mode == ZSTD_e_end ? left != 0 : in->pos < in->size);
    return ALD_OK;
}

static ald_status zstd_write(void *state, const void *data, size_t size, const ald_sink *sink,
                             ald_error *err)
{
    ZSTD_inBuffer in = {data, size, 0};
    return size == 0 ? ALD_OK : zstd_push(state, &in, ZSTD_e_continue, sink, err);
}

static ald_status zstd_finish(void *state, const ald_sink *sink, ald_error *err)
{
    ZSTD_inBuffer in = {NULL, 0, 0};
    return zstd_push(state, &in, ZSTD_e_end, sink, err);
}

static ald_status zstd_once(void *state, const void *data, size_t size, ald_buffer *out,
                            ald_error *err)
{
    zstd_state *s = state;
    size_t got;
    (void)ZSTD_CCtx_reset(s->cctx, ZSTD_reset_session_only); /* cannot fail */
    ALD_TRY(ald__buffer_reserve(out, ZSTD_compressBound(size), err));
    got = ZSTD_compress2(s->cctx, out->data + out->size, out->capacity - out->size, data, size);
    if (ZSTD_isError(got))
        return ald__no_memory(err, 0); /* nothing else is left to fail */
    out->size += got;
    return ALD_OK;
}

/* Level 3 has two hash tables of 768 KiB, and looks at every byte. In numbers, one small table, in which five or six bytes
 * are looked up, often finds as much in half the time: it stays in the first-level cache. Measured over columns of
 * counters, codes, prices, times and texts. The greedy one passes over what repeats faster than any other, and gives
 * sequences that are decoded faster; where little repeats it is the slowest. Two smaller tables serve times and texts, and
 * larger ones for six bytes prices, whose matches lie far back.
 * The last three are for readers, whose time goes into sequences and Huffman codes: literals as they are; the longest of
 * many matches, and those of 48 bytes or more first; the longest matches that there are. */
typedef struct tuning {
    ZSTD_strategy strategy;
    uint8_t hash_log, chain_log, search_log, min_match, long_match;
    ZSTD_paramSwitch_e literals; /* whether they are compressed */
} tuning;

static ald_status zstd_tune(void *state, unsigned choice, ald_error *err)
{
    static const tuning tunings[ALD__TUNINGS] = {
        {0, 0, 0, 0, 0, 0, ZSTD_ps_auto}, /* all zeros: as level 3 says */
        {ZSTD_fast, 12, 0, 0, 5, 0, ZSTD_ps_auto},
        {ZSTD_fast, 16, 0, 0, 6, 0, ZSTD_ps_auto},
        {ZSTD_fast, 16, 0, 0, 4, 0, ZSTD_ps_auto},
        {ZSTD_greedy, 10, 10, 1, 5, 0, ZSTD_ps_auto},
        {ZSTD_dfast, 12, 12, 0, 5, 0, ZSTD_ps_auto},
        {ZSTD_dfast, 15, 13, 0, 5, 0, ZSTD_ps_auto},
        {ZSTD_dfast, 16, 16, 0, 6, 0, ZSTD_ps_auto},
        {0, 0, 0, 0, 0, 0, ZSTD_ps_disable},
        {ZSTD_lazy2, 16, 17, 5, 6, 48, ZSTD_ps_auto},
        {ZSTD_btlazy2, 16, 17, 5, 7, 0, ZSTD_ps_disable}};
    const tuning *t = &tunings[choice];
    const struct {
        ZSTD_cParameter name;
        int value;
    } set[] = {{ZSTD_c_strategy, (int)t->strategy},
               {ZSTD_c_hashLog, t->hash_log},
               {ZSTD_c_chainLog, t->chain_log},
               {ZSTD_c_searchLog, t->search_log},
               {ZSTD_c_minMatch, t->min_match},
               {ZSTD_c_enableLongDistanceMatching, t->long_match > 0},
               {ZSTD_c_ldmMinMatch, t->long_match},
               {ZSTD_c_ldmHashRateLog, t->long_match > 0 ? 3 : 0}, /* one in eight bytes */
               {ZSTD_c_literalCompressionMode, (int)t->literals}};
    zstd_state *s = state;
    unsigned failed = ZSTD_isError(ZSTD_CCtx_reset(s->cctx, ZSTD_reset_session_only));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        failed |= ZSTD_isError(ZSTD_CCtx_setParameter(s->cctx, set[i].name, set[i].value));
    if (failed)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "zstd cannot be tuned");
    return ALD_OK;
}

const ald__encoder_ops ald__zstd_encoder = {zstd_open,  zstd_write, zstd_restart, zstd_finish,
                                            zstd_close, zstd_once,  zstd_tune};
