/* SPDX-License-Identifier: MIT */
/* Streams, what they cost, and frames of them. A zstd block ends with every stream, so that each plane has a Huffman table of
 * its own; small ones share. */
#define ZSTD_STATIC_LINKING_ONLY        /* blocks, custom memory */
#define ZSTD_DISABLE_DEPRECATE_WARNINGS /* the block interface: the other one would copy all input */
#define LZ4F_STATIC_LINKING_ONLY
#include <string.h>

#include <lz4frame.h>
#include <zstd.h>

#include "core/base/buf.h"
#include "core/codec/frame.h"
#include "core/codec/packed/pack.h"

#define BLOCK_BYTES_MIN 1024u
#define LEVEL_NUMBERS 1
#define LEVEL_TEXT 3
#define TEXT_PART 8
#define MATCH_NUMBERS 7
#define HASH_FEW 6
#define HASH_MANY 13
#define PART_STEP 16u /* a part: a sixteenth of each stream, or … */
#define PART_BYTES_MIN 1024u

/* ---- Streams */

uint8_t *ald__streams_room(ald__streams *s, size_t size, ald_error *err)
{
    if (ald__buffer_reserve(&s->bytes, size + 1, err) != ALD_OK)
        return NULL;
    return s->bytes.data + s->bytes.size;
}

ald_status ald__streams_end(ald__streams *s, size_t size, int text, ald_error *err)
{
    ald__stream_end e = {s->bytes.size + size, (uint8_t)text};
    if (size == 0)
        return ALD_OK;
    s->bytes.size += size;
    return ald__buffer_append(&s->ends, &e, sizeof e, err);
}

ald_status ald__streams_put(ald__streams *s, const void *data, size_t size, int text,
                            ald_error *err)
{
    uint8_t *room = ald__streams_room(s, size, err);
    if (room == NULL)
        return ALD_E_NOMEM;
    if (size > 0)
        memcpy(room, data, size);
    return ald__streams_end(s, size, text, err);
}

static size_t stream_count(const ald__streams *s)
{
    return s->ends.size / sizeof(ald__stream_end);
}

static ald__stream_end stream_at(const ald__streams *s, size_t i)
{
    ald__stream_end e;
    memcpy(&e, s->ends.data + i * sizeof e, sizeof e);
    return e;
}

ald_status ald__streams_append(ald__streams *to, const ald__streams *from, ald_error *err)
{
    size_t base = to->bytes.size, begin = 0;
    ALD_TRY(ald__buffer_append(&to->bytes, from->bytes.data, from->bytes.size, err));
    to->bytes.size = base;
    for (size_t i = 0; i < stream_count(from); i++) {
        ald__stream_end e = stream_at(from, i);
        ALD_TRY(ald__streams_end(to, e.end - begin, e.text, err));
        begin = e.end;
    }
    return ALD_OK;
}

void ald__streams_clear(ald__streams *s)
{
    ald_buffer_clear(&s->bytes);
    ald_buffer_clear(&s->ends);
}

void ald__streams_swap(ald__streams *a, ald__streams *b)
{
    ald__streams t = *a;
    *a = *b;
    *b = t;
}

/* ---- Costs */

/* log2(x) for x ≥ 1, to 0.01: the exponent, and a parabola over the fraction. No library: the core has none, and writers
 * on every machine choose alike. */
static double log2_of(double x)
{
    uint64_t bits;
    double f;
    memcpy(&bits, &x, sizeof bits);
    f = (double)(bits & 0xFFFFFFFFFFFFFull) * 0x1p-52;
    return (double)(int64_t)(bits >> 52) - 1023.0 + f * (1.3465 - 0.3465 * f);
}

static void count_bytes(const uint8_t *bytes, size_t size, uint32_t counts[2][256])
{
    size_t i = 0;
    memset(counts, 0, 2 * sizeof counts[0]);
    for (; i + 2 <= size; i += 2) {
        counts[0][bytes[i]]++;
        counts[1][bytes[i + 1]]++;
    }
    if (i < size)
        counts[0][bytes[i]]++;
}

static size_t count_plane_runs(const uint8_t *bytes, size_t size)
{
    size_t runs = 1;
    for (size_t i = 1; i < size; i++)
        runs += bytes[i] != bytes[i - 1];
    return runs;
}

#define TABLE_BYTES 0.4 /* of a Huffman table, a symbol */
#define RUN_BYTES 1.8
#define RUNS_BYTES 6.0 /* once */

double ald__pack_plane_cost(const uint8_t *bytes, size_t size)
{
    uint32_t counts[2][256];
    double bits, symbols, runs;
    size_t used = 0;
    if (size == 0)
        return 0;
    count_bytes(bytes, size, counts);
    bits = (double)size * log2_of((double)size);
    for (size_t i = 0; i < 256; i++) {
        uint32_t count = counts[0][i] + counts[1][i];
        if (count == 0)
            continue;
        used++;
        bits -= count * log2_of(count);
    }
    symbols = (bits < (double)size ? (double)size : bits) / 8 + TABLE_BYTES * (double)used;
    if (used > 128)
        return symbols;
    runs = RUN_BYTES * (double)count_plane_runs(bytes, size) + RUNS_BYTES;
    return runs < symbols ? runs : symbols;
}

double ald__pack_cost(ald__pack *pack, const ald__streams *s)
{
    double cost = 0;
    size_t begin = 0;
    for (size_t i = 0; i < stream_count(s); i++) {
        ald__stream_end e = stream_at(s, i);
        if (e.text)
            cost += (double)ald__squeezer_estimate(pack->squeezer, s->bytes.data + begin,
                                                   e.end - begin);
        else
            cost += ald__pack_plane_cost(s->bytes.data + begin, e.end - begin);
        begin = e.end;
    }
    return cost;
}

/* ---- Frames */

struct ald__squeezer {
    ald_allocator alloc;
    uint8_t compression;
    ZSTD_CCtx *frames, *estimates;
    uint8_t *scratch; /* of estimates */
    size_t scratch_bytes;
    ald__streams part; /* of a frame whose parameters are tried */
    ald_buffer tried;
};

ald_status ald__squeezer_new(uint8_t compression, const ald_allocator *alloc, ald__squeezer **out,
                             ald_error *err)
{
    ald__squeezer *q = ald__alloc_zero(alloc, sizeof *q, err);
    *out = q;
    if (q == NULL)
        return ALD_E_NOMEM;
    q->alloc = *alloc;
    q->compression = compression;
    q->part.bytes.alloc = q->part.ends.alloc = q->tried.alloc = &q->alloc;
    q->frames = ald__zstd_context(&q->alloc);
    q->estimates = ald__zstd_context(&q->alloc);
    if (q->frames != NULL && q->estimates != NULL)
        return ALD_OK;
    ald__squeezer_free(q);
    *out = NULL;
    return ald__no_memory(err, 0);
}

void ald__squeezer_free(ald__squeezer *q)
{
    ald_allocator alloc;
    if (q == NULL)
        return;
    (void)ZSTD_freeCCtx(q->frames);
    (void)ZSTD_freeCCtx(q->estimates);
    alloc = q->alloc;
    ald__release(&alloc, q->scratch, q->scratch_bytes);
    ald__streams_clear(&q->part);
    ald_buffer_clear(&q->tried);
    ald__release(&alloc, q, sizeof *q);
}

size_t ald__squeezer_estimate(ald__squeezer *q, const void *data, size_t size)
{
    size_t bound = ZSTD_compressBound(size), got;
    if (bound > q->scratch_bytes) {
        ald__release(&q->alloc, q->scratch, q->scratch_bytes);
        q->scratch_bytes = bound;
        q->scratch = ald__alloc(&q->alloc, bound, NULL);
        if (q->scratch == NULL) {
            q->scratch_bytes = 0;
            return size;
        }
    }
    got = ZSTD_compressCCtx(q->estimates, q->scratch, bound, data, size, LEVEL_NUMBERS);
    return ZSTD_isError(got) || got > size ? size : got;
}

/* Where the next block ends: behind so many streams that they have BLOCK_BYTES_MIN. */
static size_t next_end(const ald__streams *s, size_t begin, size_t *stream)
{
    size_t end = begin;
    while (*stream < stream_count(s) && end - begin < BLOCK_BYTES_MIN)
        end = stream_at(s, (*stream)++).end;
    return s->bytes.size - end < BLOCK_BYTES_MIN ? s->bytes.size : end;
}

static size_t stream_begin(const ald__streams *s, size_t i)
{
    return i > 0 ? stream_at(s, i - 1).end : 0;
}

/* Text is most of it, or at least a part that counts. */
static int has_text(const ald__streams *s)
{
    size_t text = 0;
    for (size_t i = 0; i < stream_count(s); i++) {
        if (stream_at(s, i).text)
            text += stream_at(s, i).end - stream_begin(s, i);
    }
    return text * TEXT_PART > s->bytes.size;
}

static ald_status zstd_failed(size_t code, ald_error *err)
{
    return ald__fail(err, ALD_E_NOMEM, ALD_NO_OFFSET, "zstd: %s", ZSTD_getErrorName(code));
}

/* One frame, a block for each stream. */
static ald_status zstd_blocks(ZSTD_CCtx *context, const ald__streams *s,
                              ZSTD_compressionParameters c, ald_buffer *out, ald_error *err)
{
    size_t size = s->bytes.size, begin = 0, stream = 0, got;
    ZSTD_parameters p = {c, {1, 1, 0}}; /* content size, checksum */
    /* each stream may add a block header, and what zstd wants spare for a block */
    size_t room = ZSTD_compressBound(size) + stream_count(s) * 64 + 512;
    ALD_TRY(ald__buffer_reserve(out, room, err));
    got = ZSTD_compressBegin_advanced(context, NULL, 0, p, size);
    if (ZSTD_isError(got))
        return zstd_failed(got, err);
    for (;;) {
        size_t end = next_end(s, begin, &stream);
        uint8_t *dst = out->data + out->size;
        size_t left = out->capacity - out->size;
        const uint8_t *src = size > 0 ? s->bytes.data + begin : out->data;
        int last = end == size;
        got = last ? ZSTD_compressEnd(context, dst, left, src, end - begin)
                   : ZSTD_compressContinue(context, dst, left, src, end - begin);
        if (ZSTD_isError(got))
            return zstd_failed(got, err);
        out->size += got;
        begin = end;
        if (last)
            return ALD_OK;
    }
}

/* Where the middle of each stream has so many bytes: some of all of them. */
static ald_status take_part(ald__squeezer *q, const ald__streams *s, ald_error *err)
{
    ald__streams_reset(&q->part);
    for (size_t i = 0; i < stream_count(s); i++) {
        ald__stream_end e = stream_at(s, i);
        size_t begin = stream_begin(s, i), size = e.end - begin;
        size_t some = size / PART_STEP < PART_BYTES_MIN ? PART_BYTES_MIN : size / PART_STEP;
        if (some > size)
            some = size;
        ALD_TRY(ald__streams_put(&q->part, s->bytes.data + begin + (size - some) / 2, some, e.text,
                                 err));
    }
    return ALD_OK;
}

static ald_status part_size(ald__squeezer *q, ZSTD_compressionParameters c, size_t *size,
                            ald_error *err)
{
    q->tried.size = 0;
    ALD_TRY(zstd_blocks(q->estimates, &q->part, c, &q->tried, err));
    *size = q->tried.size;
    return ALD_OK;
}

/* Planes of numbers: in most of them what matches there are is chance, and costs more than it spares, also the reader's
 * time. A table of 64 places sees runs and short periods only; a larger one is taken where part of the planes is smaller
 * with it. */
static ald_status choose_params(ald__squeezer *q, const ald__streams *s,
                                ZSTD_compressionParameters *out, ald_error *err)
{
    ZSTD_compressionParameters few, many;
    size_t with_few, with_many;
    if (has_text(s)) {
        *out = ZSTD_getCParams(LEVEL_TEXT, s->bytes.size, 0);
        return ALD_OK;
    }
    many = ZSTD_getCParams(LEVEL_NUMBERS, s->bytes.size, 0);
    many.minMatch = MATCH_NUMBERS;
    if (many.hashLog > HASH_MANY)
        many.hashLog = HASH_MANY;
    few = many;
    few.hashLog = HASH_FEW;
    *out = few;
    ALD_TRY(take_part(q, s, err));
    ALD_TRY(part_size(q, few, &with_few, err));
    ALD_TRY(part_size(q, many, &with_many, err));
    if (with_many < with_few)
        *out = many;
    return ALD_OK;
}

static ald_status zstd_frame(ald__squeezer *q, const ald__streams *s, ald_buffer *out,
                             ald_error *err)
{
    ZSTD_compressionParameters c;
    ALD_TRY(choose_params(q, s, &c, err));
    return zstd_blocks(q->frames, s, c, out, err);
}

static ald_status lz4_frame(const ald__streams *s, ald_buffer *out, ald_error *err)
{
    LZ4F_preferences_t p;
    size_t got;
    memset(&p, 0, sizeof p);
    p.frameInfo.blockSizeID = LZ4F_max256KB;
    p.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
    p.frameInfo.contentSize = s->bytes.size;
    ALD_TRY(ald__buffer_reserve(out, LZ4F_compressFrameBound(s->bytes.size, &p), err));
    got = LZ4F_compressFrame(out->data + out->size, out->capacity - out->size, s->bytes.data,
                             s->bytes.size, &p);
    if (LZ4F_isError(got))
        return ald__fail(err, ALD_E_NOMEM, ALD_NO_OFFSET, "LZ4: %s", LZ4F_getErrorName(got));
    out->size += got;
    return ALD_OK;
}

ald_status ald__squeezer_frame(ald__squeezer *q, const ald__streams *s, ald_buffer *out,
                               ald_error *err)
{
    return q->compression == ALD__PACKED_LZ4 ? lz4_frame(s, out, err) : zstd_frame(q, s, out, err);
}
