/* SPDX-License-Identifier: MIT */
/* Saving: the collecting pass. Every size stands before the bytes that it counts, so the IPC stream is measured first
 * (cheap: most buffers are emitted as they are) and made again, into the compressor, when the file is written. */
#include "core/dataset/save.h"
#include "ald/append.h"
#include "ald/schema.h"
#include "core/crypto/digest.h"

#include <string.h>

#include "core/arrow/array_empty.h"
#include "core/base/buf.h"
#include "core/base/caller_options.h"
#include "core/base/checked.h"

#define MEMORY_BYTES_DEFAULT (256ull << 20)
#define STREAMING_BYTES 100000000u /* AUTO: above this the table is written in chunks */
#define ENOUGH_BYTES 16000000u     /* of rows, to tell how large others are */
#define SPOOL_PIECE_BYTES ((size_t)1 << 20)

static ald_status collect_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    ald__saving *s = ctx;
    if (s->hash != NULL)
        s->host->crypto->sha256_update(s->hash, data, size);
    if (!ald__add_u64(s->uncompressed, size, &s->uncompressed))
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "the table is too large");
    return s->spooled ? s->spool.append(s->spool.ctx, data, size, err) : ALD_OK;
}

static ald_status spool_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    ald__saving *s = ctx;
    return s->spool.append(s->spool.ctx, data, size, err);
}

static ald_status new_writer(ald__saving *s, ald__ipc_writer **out, ald_error *err)
{
    ald__ipc_write_options o = {.alignment = 8, .dictionary_mode = ALD__DICTIONARY_STREAM};
    return ald__ipc_writer_new(&s->host->alloc, &s->schema, &o, out, err);
}

static ald_status write_kept(ald__saving *s, ald__ipc_writer *writer, const ald__emit *emit,
                             ald_error *err)
{
    ALD_TRY(ald__ipc_write_schema(writer, emit, err));
    for (size_t i = 0; i < s->batch_count; i++)
        ALD_TRY(ald__ipc_write_batch(writer, &s->batches[i].array, emit, err));
    return ALD_OK;
}

static void release_batches(ald__saving *s)
{
    for (size_t i = 0; i < s->batch_count; i++) {
        if (s->batches[i].array.release != NULL)
            s->batches[i].array.release(&s->batches[i].array);
    }
    s->batch_count = 0;
}

/* From kept batches to spooled bytes; the writer that made them goes on. */
static ald_status begin_spool(ald__saving *s, ald_error *err)
{
    ald__emit emit = {spool_bytes, s};
    ald__ipc_writer *writer = NULL;
    ald_status st;
    ALD_TRY(s->host->spool_open(s->host->ctx, &s->spool, err));
    ALD_TRY(new_writer(s, &writer, err));
    st = write_kept(s, writer, &emit, err);
    if (st != ALD_OK) {
        ald__ipc_writer_free(writer);
        return st;
    }
    ald__ipc_writer_free(s->writer);
    s->writer = writer;
    s->spooled = 1;
    release_batches(s);
    return ALD_OK;
}

/* Takes the batch, also on failure. */
static ald_status keep(ald__saving *s, struct ArrowArray *batch, uint64_t bytes, ald_error *err)
{
    if (s->batch_count == s->batch_cap) {
        size_t cap = s->batch_cap < 16 ? 16 : s->batch_cap * 2, item = sizeof *s->batches;
        ald__kept *grown = ald__alloc(&s->host->alloc, cap * item, err);
        if (grown == NULL) {
            batch->release(batch);
            return ALD_E_NOMEM;
        }
        if (s->batch_count > 0)
            memcpy(grown, s->batches, s->batch_count * item);
        ald__release(&s->host->alloc, s->batches, s->batch_cap * item);
        s->batches = grown;
        s->batch_cap = cap;
    }
    s->batches[s->batch_count].array = *batch;
    s->batches[s->batch_count++].bytes = bytes;
    return ALD_OK;
}

/* The layout is decided: what was kept goes on in chunks. */
static ald_status begin_chunks(ald__saving *s, uint8_t layout, ald_error *err)
{
    s->options.layout = layout;
    ALD_TRY(ald__stream_save_new(&s->schema, &s->options, &s->protecting, s->row_count, &s->sink,
                                 s->host, &s->chunks, err));
    if (s->base != NULL)
        ald__stream_save_expect(s->chunks, ald_streaming_chunk_count(s->base));
    for (size_t i = 0; i < s->batch_count; i++)
        ALD_TRY(ald__stream_save_put(s->chunks, &s->batches[i].array, s->batches[i].bytes, err));
    release_batches(s);
    return ALD_OK;
}

/* Whether the whole is more than STREAMING_BYTES: for certain, or, where the rows are counted beforehand, by a fourth more when
 * all rows are like those that were seen. Then nothing more need be held. */
static int is_large(const ald__saving *s)
{
    uint64_t bytes;
    if (s->uncompressed > STREAMING_BYTES)
        return 1;
    if (s->uncompressed < ENOUGH_BYTES || s->rows == 0 || s->row_count <= s->rows)
        return 0;
    return !ald__mul_u64(s->row_count / s->rows, s->uncompressed, &bytes) ||
           bytes > STREAMING_BYTES + STREAMING_BYTES / 4;
}

static ald_status take_batch(ald__saving *s, struct ArrowArray *batch, ald_error *err)
{
    ald__emit emit = {collect_bytes, s};
    uint64_t before = s->uncompressed;
    ald_status st = ald__ipc_write_batch(s->writer, batch, &emit, err);
    s->rows += (uint64_t)batch->length;
    if (st != ALD_OK || s->spooled) {
        batch->release(batch);
        return st;
    }
    if (s->chunks != NULL)
        return ald__stream_save_put(s->chunks, batch, s->uncompressed - before, err);
    ALD_TRY(keep(s, batch, s->uncompressed - before, err));
    if (s->options.layout == ALD_LAYOUT_AUTO && is_large(s))
        return begin_chunks(s, ALD_LAYOUT_STREAMING, err);
    /* what is to be encrypted is not put into a spool in clear */
    if (s->uncompressed > s->options.memory_bytes && s->host->spool_open != NULL &&
        !s->options.aligned && !ald__protecting_encrypts(&s->protecting))
        return begin_spool(s, err);
    return ALD_OK;
}

/* The rows of the file that is appended to: its chunks as they are, or anew. */
static ald_status take_base(ald__saving *s, ald_error *err)
{
    struct ArrowArray batch;
    int done;
    ALD_TRY(ald__stream_save_copy(s->chunks, s->base, &done, err));
    for (uint64_t i = 0; !done && i < ald_streaming_chunk_count(s->base); i++) {
        ALD_TRY(ald_streaming_chunk(s->base, i, NULL, &batch, err));
        ALD_TRY(take_batch(s, &batch, err));
    }
    return ALD_OK;
}

static ald_status collect_all(ald__saving *s, struct ArrowArrayStream *stream, ald_error *err)
{
    ald__emit emit = {collect_bytes, s};
    struct ArrowArray batch;
    if (s->base != NULL)
        ALD_TRY(take_base(s, err));
    for (;;) {
        ALD_TRY(ald_stream_next(stream, &batch, err));
        if (batch.release == NULL)
            break;
        ALD_TRY(take_batch(s, &batch, err));
    }
    if (s->batch_count == 0 && !s->spooled && s->options.compat != ALD_COMPAT_NONE) {
        /* the crate hands out no schema for a file without batches */
        ALD_TRY(ald__array_empty(&s->host->alloc, &s->schema, &batch, err));
        ALD_TRY(take_batch(s, &batch, err));
    }
    if (s->options.aligned && s->chunks == NULL)
        ALD_TRY(begin_chunks(s, ALD_LAYOUT_WHOLE, err));
    if (s->chunks != NULL)
        return ALD_OK;
    return ald__ipc_write_end(s->writer, &emit, err);
}

static ald_status begin_hash(ald__saving *s, ald_error *err)
{
    if (!s->options.write_sha256)
        return ALD_OK;
    if (!ALD__HAS_SHA256(s->host->crypto))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no SHA-256");
    return s->host->crypto->sha256_new(&s->host->alloc, &s->hash, err);
}

ald_status ald__saving_collect(ald__saving *s, struct ArrowArrayStream *stream, ald_error *err)
{
    ald__emit emit = {collect_bytes, s};
    ald_status st;
    ALD_TRY(ald_stream_schema(stream, &s->schema, err));
    if (s->base != NULL) {
        ALD_TRY(ald_schema_compare(ald_streaming_schema(s->base), &s->schema, 0, err));
        s->schema.release(&s->schema);
        ALD_TRY(ald_schema_copy(s->host, ald_streaming_schema(s->base), &s->schema, err));
    }
    if (strlen(s->schema.format) != 2 || memcmp(s->schema.format, "+s", 2) != 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the stream's schema is not a struct of columns");
    ALD_TRY(new_writer(s, &s->writer, err));
    ALD_TRY(begin_hash(s, err));
    st = ald__ipc_write_schema(s->writer, &emit, err);
    if (st == ALD_OK && s->options.layout == ALD_LAYOUT_STREAMING)
        st = begin_chunks(s, ALD_LAYOUT_STREAMING, err);
    if (st == ALD_OK)
        st = collect_all(s, stream, err);
    if (s->hash != NULL) {
        s->host->crypto->sha256_finish(s->hash, s->sha256);
        s->hash = NULL;
    }
    return st;
}

static ald_status emit_spool(ald__saving *s, const ald__emit *emit, ald_error *err)
{
    uint8_t *piece = ald__alloc(&s->host->alloc, SPOOL_PIECE_BYTES, err);
    ald_status st = piece == NULL ? ALD_E_NOMEM : ALD_OK;
    for (uint64_t at = 0; st == ALD_OK && at < s->uncompressed;) {
        uint64_t left = s->uncompressed - at;
        size_t n = left < SPOOL_PIECE_BYTES ? (size_t)left : SPOOL_PIECE_BYTES;
        st = s->spool.read_at(s->spool.ctx, at, piece, n, err);
        if (st == ALD_OK)
            st = emit->bytes(emit->ctx, piece, n, err);
        at += n;
    }
    ald__release(&s->host->alloc, piece, SPOOL_PIECE_BYTES);
    return st;
}

ald_status ald__saving_emit(ald__saving *s, const ald__emit *emit, ald_error *err)
{
    ald__ipc_writer *writer = NULL;
    ald_status st;
    if (s->spooled)
        return emit_spool(s, emit, err);
    ALD_TRY(new_writer(s, &writer, err));
    st = write_kept(s, writer, emit, err);
    if (st == ALD_OK)
        st = ald__ipc_write_end(writer, emit, err);
    ald__ipc_writer_free(writer);
    return st;
}

static void saving_clear(ald__saving *s)
{
    release_batches(s);
    ald__release(&s->host->alloc, s->batches, s->batch_cap * sizeof *s->batches);
    ald__ipc_writer_free(s->writer);
    ald__stream_save_free(s->chunks);
    if (s->spool.close != NULL)
        s->spool.close(s->spool.ctx);
    if (s->schema.release != NULL)
        s->schema.release(&s->schema);
    ald__protecting_clear(&s->protecting);
}

static ald_status check_packed(const ald_save_options *o, ald_error *err)
{
    if (o->compression < ALD_COMPRESSION_PACKED)
        return ALD_OK;
    if (o->compat != ALD_COMPAT_NONE)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 does not read packed chunks\npass --compression zstd-l3");
    if (o->layout == ALD_LAYOUT_WHOLE)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "packed files are chunked (STREAMING)\npass another compression, as "
                         "zstd-l3, for a file without chunks");
    return ALD_OK;
}

/* Both need chunks. */
static int is_chunked_only(const ald_save_options *o)
{
    return o->compression >= ALD_COMPRESSION_PACKED ||
           (o->compression == ALD_COMPRESSION_ZSTD_L3 && o->effort == ALD_EFFORT_BEST);
}

static ald_status check_effort(const ald_save_options *o, ald_error *err)
{
    if (o->effort > ALD_EFFORT_BEST)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no effort %u", o->effort);
    if (o->compression < ALD_COMPRESSION_PACKED && is_chunked_only(o) &&
        o->layout == ALD_LAYOUT_WHOLE)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the best effort is for chunks (STREAMING)\nleave it out, or "
                         "--no-streaming and --compat");
    return ALD_OK;
}

static ald_status check_options(const ald_save_options *o, ald_error *err)
{
    if (ald_dataset_type_name(o->dataset_type) == NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no dataset type 0x%04x",
                         o->dataset_type);
    if (o->compression > ALD_COMPRESSION_PACKED_LZ4)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "writing compression id %u is not supported", o->compression);
    ALD_TRY(check_effort(o, err));
    ALD_TRY(check_packed(o, err));
    if (o->compat > ALD_COMPAT_ALIMENTAR_0_2)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no compat mode %u", o->compat);
    if (o->metadata != NULL && ald_value_get_type(o->metadata) != ALD_VALUE_MAP)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the metadata is not a map");
    if (o->layout > ALD_LAYOUT_STREAMING || o->backend_hint > 8)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no layout %u or backend hint %u",
                         o->layout, o->backend_hint);
    if (o->aligned && o->compression != ALD_COMPRESSION_NONE)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "an aligned file is not compressed");
    if (o->compat != ALD_COMPAT_NONE && (o->aligned || o->layout == ALD_LAYOUT_STREAMING))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 reads neither chunked nor aligned files");
    return ALD_OK;
}

static ald_status take_options(const ald_save_options *given, ald_save_options *out, ald_error *err)
{
    static const ald_save_options defaults = ALD_SAVE_OPTIONS_INIT;
    *out = defaults;
    ALD_TRY(ald__options_take(out, sizeof *out, offsetof(ald_save_options, memory_bytes), given,
                              "ald_save_options", err));
    if (out->compat != ALD_COMPAT_NONE && out->layout == ALD_LAYOUT_AUTO)
        out->layout = ALD_LAYOUT_WHOLE;
    if (out->layout == ALD_LAYOUT_AUTO && is_chunked_only(out))
        out->layout = ALD_LAYOUT_STREAMING;
    if (out->dataset_type == 0)
        out->dataset_type = ALD_DATASET_TABULAR;
    if (out->memory_bytes == 0)
        out->memory_bytes = MEMORY_BYTES_DEFAULT;
    return check_options(out, err);
}

static ald_status begin_protection(ald__saving *s, ald_error *err)
{
    ald_save_options *o = &s->options;
    ald_protection asked;
    ALD_TRY(ald__protection_take(o->protection, 0, &asked, err));
    if (asked.encryption != ALD_ENCRYPTION_NONE) {
        if (o->aligned)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "an aligned file is not encrypted");
        o->write_sha256 = 0; /* it would let anyone confirm a guess */
    }
    return ald__protecting_new(&s->protecting, &asked, o->compat != ALD_COMPAT_NONE, err);
}

static ald_status save(struct ArrowArrayStream *batches, ald_streaming *base, const ald_sink *sink,
                       const ald_save_options *options, const ald_host *host, ald_error *err)
{
    ald__saving s;
    ald_status st;
    memset(&s, 0, sizeof s);
    s.host = host;
    s.sink = *sink;
    s.base = base;
    s.row_count = ald_stream_row_count(batches);
    if (base != NULL && s.row_count > 0 &&
        !ald__add_u64(s.row_count, ald_streaming_row_count(base), &s.row_count))
        s.row_count = 0;
    ald__protecting_begin(&s.protecting, host);
    st = take_options(options, &s.options, err);
    if (st == ALD_OK && base != NULL)
        s.options.layout = ALD_LAYOUT_STREAMING;
    if (st == ALD_OK)
        st = begin_protection(&s, err);
    if (st == ALD_OK)
        st = ald__saving_collect(&s, batches, err);
    batches->release(batches);
    if (st == ALD_OK)
        st = s.chunks != NULL ? ald__stream_save_finish(s.chunks, err)
                              : ald__saving_write(&s, sink, err);
    saving_clear(&s);
    return st;
}

ald_status ald_save(struct ArrowArrayStream *batches, const ald_sink *sink,
                    const ald_save_options *options, const ald_host *host, ald_error *err)
{
    return save(batches, NULL, sink, options, host, err);
}

ald_status ald_append(ald_streaming *base, struct ArrowArrayStream *batches, const ald_sink *sink,
                      const ald_save_options *options, const ald_host *host, ald_error *err)
{
    if (options != NULL &&
        (options->layout == ALD_LAYOUT_WHOLE || options->compat != ALD_COMPAT_NONE)) {
        batches->release(batches);
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "a file in chunks stays one when something is appended to it");
    }
    return save(batches, base, sink, options, host, err);
}
