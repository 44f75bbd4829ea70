/* SPDX-License-Identifier: MIT */
/* Lazy reading: what is needed is read, and checked on the very bytes that are then parsed. */
#include "ald/streaming.h"

#include <string.h>

#include "ald/stream.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/codec/codec.h"
#include "core/dataset/chunk.h"
#include "core/dataset/lazy.h"
#include "core/dataset/whole.h"

#define END_BYTES 8u

static const uint8_t end_marker[END_BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};

/* ---- stored bytes */

ald_status ald__stored_read(const ald_streaming *s, uint64_t begin, uint64_t end, ald__stored *out,
                            ald_error *err)
{
    const ald_source *source = &s->file.source;
    uint64_t at = s->file.sections.payload.begin + begin;
    ald_status st;
    memset(out, 0, sizeof *out);
    if (!ald__to_size(end - begin, &out->size))
        return ald__no_memory(err, SIZE_MAX);
    if (source->view != NULL)
        out->data = source->view(source->ctx, at, out->size);
    if (out->data != NULL)
        return ALD_OK;
    out->owned = ald__alloc(&s->host.alloc, out->size, err);
    if (out->owned == NULL)
        return ALD_E_NOMEM;
    st = ald__file_bytes(&s->file, at, out->owned, out->size, err);
    if (st != ALD_OK)
        ald__stored_clear(s, out);
    out->data = out->owned;
    return st;
}

void ald__stored_clear(const ald_streaming *s, ald__stored *stored)
{
    ald__release(&s->host.alloc, stored->owned, stored->size);
    memset(stored, 0, sizeof *stored);
}

ald_status ald__piece_read(const ald_streaming *s, uint64_t piece, ald__stored *out, ald_error *err)
{
    uint64_t begin = piece == 0 ? 0 : ald__file_piece_end(&s->file, piece - 1);
    ald_status st;
    ALD_TRY(ald__stored_read(s, begin, ald__file_piece_end(&s->file, piece), out, err));
    st = ald__check_piece_crc32(&s->file, piece, out->data, out->size, err);
    if (st != ALD_OK)
        ald__stored_clear(s, out);
    return st;
}

/* ---- opening */

/* A small piece, decompressed and compared with what it must be. */
static ald_status check_piece(ald_streaming *s, uint64_t piece, const uint8_t *expected,
                              size_t size, ald_status otherwise, const char *what, ald_error *err)
{
    ald__stored stored;
    uint64_t offset;
    uint8_t *plain = NULL;
    ald_status st;
    ALD_TRY(ald__piece_read(s, piece, &stored, err));
    offset = s->file.sections.payload.begin + ald__file_piece_end(&s->file, piece) - stored.size;
    if (ald__codec_bound(s->file.header.compression, stored.data, stored.size) < size)
        st =
            ald__fail(err, ALD_E_INVALID_FORMAT, offset, "%s: the frames hold too few bytes", what);
    else if ((plain = ald__alloc(&s->host.alloc, size, err)) == NULL)
        st = ALD_E_NOMEM;
    else
        st = ald__codec_decode(s->file.header.compression, &s->host.alloc, stored.data, stored.size,
                               plain, size, offset, err);
    if (st == ALD_OK && memcmp(plain, expected, size) != 0)
        st = ald__fail(err, otherwise, offset, "%s is not what it must be", what);
    ald__release(&s->host.alloc, plain, size);
    ald__stored_clear(s, &stored);
    return st;
}

static ald_status open_pieces(ald_streaming *s, ald_error *err)
{
    ald_range r = s->file.sections.schema;
    uint8_t *section = NULL;
    ald_status st;
    ALD_TRY(ald__file_copy(&s->file, r, &section, err));
    st = check_piece(s, s->file.chunk_count + 1, end_marker, END_BYTES, ALD_E_INVALID_FORMAT,
                     "the epilogue", err);
    if (st == ALD_OK)
        st = check_piece(s, 0, section, (size_t)(r.end - r.begin) - END_BYTES,
                         ALD_E_SCHEMA_MISMATCH, "the payload's prologue", err);
    if (st == ALD_OK)
        st = ald__schema_section_read(&s->file, section, &s->schema, err);
    ald__release(&s->host.alloc, section, (size_t)(r.end - r.begin) + 1);
    return st;
}

static ald_status open_file(ald_streaming *s, const ald_source *source,
                            const ald_load_options *options, ald_error *err)
{
    ALD_TRY(ald__file_open(&s->file, source, options->limits.metadata_bytes, ALD__FILE_LAZY,
                           &s->host.alloc, err));
    if (!(s->file.header.flags & ALD_FLAG_STREAMING))
        return ald__fail(err, ALD_E_UNSUPPORTED, 21,
                         "the file has no chunks\nload it whole, or convert it with --streaming");
    ALD_TRY(ald__check_trust(&s->file, NULL, options, &s->host, err));
    if (s->file.header.compression > ALD_COMPRESSION_LZ4)
        return ald__fail(err, ALD_E_UNSUPPORTED, 20, "compression '%s' is not supported yet",
                         ald_compression_name(s->file.header.compression));
    ALD_TRY(open_pieces(s, err));
    if (options->expected_schema != NULL)
        ALD_TRY(
            ald_schema_compare(options->expected_schema, ald__ipc_schema_get(s->schema), 0, err));
    ald__info_fill(&s->file, ald__ipc_schema_get(s->schema), &s->info);
    return ALD_OK;
}

ald_status ald_streaming_open(const ald_source *source, const ald_load_options *options,
                              const ald_host *host, ald_streaming **out, ald_error *err)
{
    static const ald_load_options defaults = ALD_LOAD_OPTIONS_INIT;
    ald_streaming *s = ald__alloc_zero(&host->alloc, sizeof *s, err);
    ald_status st;
    *out = NULL;
    if (s == NULL)
        return ALD_E_NOMEM;
    s->host = *host;
    s->file.alloc = host->alloc;
    st = open_file(s, source, options != NULL ? options : &defaults, err);
    if (st != ALD_OK) {
        ald_streaming_close(s);
        return st;
    }
    *out = s;
    return ALD_OK;
}

void ald_streaming_close(ald_streaming *s)
{
    ald_allocator alloc;
    if (s == NULL)
        return;
    alloc = s->host.alloc;
    ald__ipc_schema_free(s->schema);
    ald__file_clear(&s->file);
    ald__release(&alloc, s, sizeof *s);
}

/* ---- facts */

const ald_info *ald_streaming_info(const ald_streaming *streaming)
{
    return &streaming->info;
}

const struct ArrowSchema *ald_streaming_schema(const ald_streaming *streaming)
{
    return streaming->info.schema;
}

uint64_t ald_streaming_row_count(const ald_streaming *streaming)
{
    return streaming->file.header.num_rows;
}

uint64_t ald_streaming_chunk_count(const ald_streaming *streaming)
{
    return streaming->file.chunk_count;
}

ald_status ald_streaming_find_chunk(const ald_streaming *s, uint64_t row, uint64_t *chunk,
                                    ald_error *err)
{
    uint64_t low = 0, high = s->file.chunk_count - 1;
    if (row >= s->file.header.num_rows)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "row %llu of %llu",
                         (unsigned long long)row, (unsigned long long)s->file.header.num_rows);
    while (
        low <
        high) { /* the last chunk that does not begin behind the row; empty ones come before it */
        uint64_t middle = low + (high - low + 1) / 2;
        if (s->file.chunks[middle].row_offset <= row)
            low = middle;
        else
            high = middle - 1;
    }
    *chunk = low;
    return ALD_OK;
}

/* ---- chunks */

/* The whole chunk into one block of memory at a 64-byte boundary. */
static ald_status decode_whole(const ald_streaming *s, uint64_t index, const ald__stored *stored,
                               ald__shared **out, ald_error *err)
{
    const ald_chunk_entry *e = &s->file.chunks[index];
    uint64_t offset = s->file.sections.payload.begin + e->byte_offset;
    ald_status st;
    *out = NULL;
    if (ald__codec_bound(s->file.header.compression, stored->data, stored->size) <
        e->uncompressed_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "the frames cannot hold the chunk's %u bytes", e->uncompressed_size);
    ALD_TRY(ald__shared_alloc(&s->host.alloc, e->uncompressed_size, out, err));
    st = ald__chunk_decode(&s->file, stored->data, stored->size, ald__shared_data(*out),
                           e->uncompressed_size, offset, err);
    if (st != ALD_OK) {
        ald__shared_unref(*out);
        *out = NULL;
    }
    return st;
}

static ald_status load_whole(const ald_streaming *s, uint64_t index, const uint8_t *columns,
                             struct ArrowArray *out, ald_error *err)
{
    const ald_chunk_entry *e = &s->file.chunks[index];
    ald__stored stored;
    ald__shared *plain = NULL;
    ald__ipc_message m;
    ald_status st;
    ALD_TRY(ald__piece_read(s, index + 1, &stored, err));
    st = decode_whole(s, index, &stored, &plain, err);
    if (st == ALD_OK) {
        uint64_t base = s->file.header.compression == ALD_COMPRESSION_NONE
                            ? s->file.sections.payload.begin + e->byte_offset
                            : 0;
        ald__cursor bytes = {ald__shared_data(plain), e->uncompressed_size, 0, base};
        st = ald__chunk_parse(&s->file, s->schema, e, stored.data, columns, &bytes, plain, &m, out,
                              err);
    }
    ald__shared_unref(plain);
    ald__stored_clear(s, &stored);
    return st;
}

ald_status ald_streaming_chunk(ald_streaming *s, uint64_t index, const uint8_t *columns,
                               struct ArrowArray *out, ald_error *err)
{
    int done = 0;
    out->release = NULL;
    if (index >= s->file.chunk_count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "chunk %llu of %llu",
                         (unsigned long long)index, (unsigned long long)s->file.chunk_count);
    if (columns != NULL)
        ALD_TRY(ald__columns_read(s, index, columns, &done, out, err));
    return done ? ALD_OK : load_whole(s, index, columns, out, err);
}

/* ---- the stream of all chunks */

typedef struct chunk_stream {
    ald_streaming *streaming;
    uint64_t next;
    uint8_t *columns; /* or NULL */
} chunk_stream;

static size_t column_count(const ald_streaming *s)
{
    return (size_t)s->info.schema->n_children;
}

static ald_status copy_columns(const chunk_stream *c, const struct ArrowSchema *from,
                               struct ArrowSchema *out, ald_error *err)
{
    int64_t kept = 0;
    ALD_TRY(ald__schema_set_format(out, "+s", 2, err));
    ALD_TRY(ald__schema_set_metadata(out, from->metadata, ald__metadata_size(from->metadata), err));
    for (int64_t i = 0; i < from->n_children; i++) {
        if (c->columns[i])
            ALD_TRY(ald_schema_copy(&c->streaming->host, from->children[i], out->children[kept++],
                                    err));
    }
    return ALD_OK;
}

/* The schema, without the columns that are left out. */
static ald_status stream_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const chunk_stream *c = ctx;
    const struct ArrowSchema *from = c->streaming->info.schema;
    size_t count = 0;
    ald_status st;
    if (c->columns == NULL)
        return ald_schema_copy(&c->streaming->host, from, out, err);
    for (int64_t i = 0; i < from->n_children; i++)
        count += c->columns[i] != 0;
    ALD_TRY(ald__schema_new(&c->streaming->host.alloc, count, 0, out, err));
    st = copy_columns(c, from, out, err);
    if (st != ALD_OK)
        out->release(out);
    return st;
}

static ald_status stream_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    chunk_stream *c = ctx;
    if (c->next == c->streaming->file.chunk_count)
        return ALD_OK;
    return ald_streaming_chunk(c->streaming, c->next++, c->columns, out, err);
}

static void stream_free(void *ctx)
{
    chunk_stream *c = ctx;
    ald_allocator alloc = c->streaming->host.alloc;
    ald__release(&alloc, c->columns, column_count(c->streaming));
    ald__release(&alloc, c, sizeof *c);
}

ald_status ald_streaming_stream(ald_streaming *s, const uint8_t *columns,
                                struct ArrowArrayStream *out, ald_error *err)
{
    chunk_stream *c = ald__alloc_zero(&s->host.alloc, sizeof *c, err);
    ald_stream_impl impl = {stream_schema, stream_next, stream_free, c, s->file.header.num_rows};
    memset(out, 0, sizeof *out);
    if (c == NULL)
        return ALD_E_NOMEM;
    c->streaming = s;
    if (columns != NULL) {
        c->columns = ald__alloc(&s->host.alloc, column_count(s), err);
        if (c->columns == NULL) {
            stream_free(c);
            return ALD_E_NOMEM;
        }
        memcpy(c->columns, columns, column_count(s));
    }
    return ald_stream_new(&impl, &s->host.alloc, out, err);
}
