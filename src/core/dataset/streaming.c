/* SPDX-License-Identifier: MIT */
/* Lazy reading: what is needed is read, and checked on the very bytes that are then parsed. */
#include "ald/streaming.h"

#include <string.h>

#include "core/arrow/array.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/codec/codec.h"
#include "core/dataset/aligned.h"
#include "core/dataset/chunk.h"
#include "core/dataset/lazy.h"
#include "core/dataset/packed_chunk.h"
#include "core/dataset/unlock.h"
#include "core/dataset/whole.h"

#define END_BYTES 8u
#define CACHE_BYTES_DEFAULT (96ull << 20) /* a window of the loader, of the largest chunks */

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
    out->owned_size = out->size;
    st = ald__file_bytes(&s->file, at, out->owned, out->size, err);
    if (st != ALD_OK)
        ald__stored_clear(s, out);
    out->data = out->owned;
    return st;
}

void ald__stored_clear(const ald_streaming *s, ald__stored *stored)
{
    ald__release(&s->host.alloc, stored->owned, stored->owned_size);
    memset(stored, 0, sizeof *stored);
}

int ald__piece_is_whole(const ald_streaming *s)
{
    return s->hashes.bytes != NULL || (s->file.header.flags & ALD_FLAG_ENCRYPTED);
}

/* In place where the bytes are ours. */
static ald_status open_stored(const ald_streaming *s, uint64_t piece, ald__stored *stored,
                              ald_error *err)
{
    ald__piece what = ald__piece_at(s->file.chunks, s->file.chunk_count, piece);
    if (!(s->file.header.flags & ALD_FLAG_ENCRYPTED))
        return ALD_OK;
    if (stored->owned == NULL) {
        stored->owned = ald__alloc(&s->host.alloc, stored->size, err);
        if (stored->owned == NULL)
            return ALD_E_NOMEM;
        stored->owned_size = stored->size;
    }
    ALD_TRY(
        ald__piece_open(&s->keys, &s->host, &what, stored->data, stored->size, stored->owned, err));
    stored->data = stored->owned;
    stored->size -= ALD__TAG_BYTES;
    return ALD_OK;
}

ald_status ald__piece_read(const ald_streaming *s, uint64_t piece, ald__stored *out, ald_error *err)
{
    uint64_t begin = piece == 0 ? 0 : ald__file_piece_end(&s->file, piece - 1);
    ald_status st;
    ALD_TRY(ald__stored_read(s, begin, ald__file_piece_end(&s->file, piece), out, err));
    st = ald__hashes_check(&s->hashes, &s->file, &s->host, piece, out->data, out->size, err);
    if (st == ALD_OK)
        st = ald__check_piece_crc32(&s->file, piece, out->data, out->size, err);
    if (st == ALD_OK)
        st = open_stored(s, piece, out, err);
    if (st != ALD_OK)
        ald__stored_clear(s, out);
    return st;
}

/* A piece into one block of memory at a 64-byte boundary. */
static ald_status decode_piece(const ald_streaming *s, uint64_t piece, const uint8_t *columns,
                               const ald__stored *stored, ald__shared **out, ald_error *err)
{
    const ald__file *f = &s->file;
    uint64_t offset =
        f->sections.payload.begin + (piece == 0 ? 0 : ald__file_piece_end(f, piece - 1));
    size_t size = piece == 0               ? (size_t)f->schema_size - END_BYTES
                  : piece > f->chunk_count ? END_BYTES
                                           : f->chunks[piece - 1].uncompressed_size;
    int is_chunk = piece > 0 && piece <= f->chunk_count;
    ald__inflaters inflaters;
    ald_status st;
    *out = NULL;
    if (!(is_chunk && ald__compression_is_packed(f->header.compression)) &&
        ald__codec_bound(f->header.compression, stored->data, stored->size) < size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "the frames cannot hold %zu bytes",
                         size);
    ALD_TRY(ald__block_pool_take(s->pool, &s->host.alloc, size, out, err));
    ald__inflaters_take(s->inflaters, &inflaters);
    if (!is_chunk)
        st = ald__inflate(&inflaters, f->header.compression, &f->alloc, stored->data, stored->size,
                          ald__shared_data(*out), size, offset, err);
    else
        st = ald__chunk_decode(f, s->schema, piece - 1, columns, stored->data, stored->size,
                               ald__shared_data(*out), size, offset, &inflaters, err);
    ald__inflaters_give(s->inflaters, &inflaters, st);
    if (st != ALD_OK) {
        ald__shared_unref(*out);
        *out = NULL;
    }
    return st;
}

/* ---- opening */

/* Prologue or epilogue, decompressed and compared with what it must be. */
static ald_status check_piece(const ald_streaming *s, uint64_t piece, const uint8_t *expected,
                              ald_status otherwise, const char *what, ald_error *err)
{
    ald__stored stored;
    ald__shared *plain = NULL;
    ald_status st;
    ALD_TRY(ald__piece_read(s, piece, &stored, err));
    st = decode_piece(s, piece, NULL, &stored, &plain, err);
    if (st == ALD_OK && memcmp(ald__shared_data(plain), expected, ald__shared_size(plain)) != 0)
        st = ald__fail(err, otherwise,
                       s->file.sections.payload.begin +
                           (piece == 0 ? 0 : ald__file_piece_end(&s->file, piece - 1)),
                       "%s is not what it must be", what);
    ald__shared_unref(plain);
    ald__stored_clear(s, &stored);
    return st;
}

static ald_status check_prologue(const ald_streaming *s, const uint8_t *section, ald_error *err)
{
    return check_piece(s, 0, section, ALD_E_SCHEMA_MISMATCH, "the payload's prologue", err);
}

static ald_status check_epilogue(const ald_streaming *s, ald_error *err)
{
    return check_piece(s, s->file.chunk_count + 1, end_marker, ALD_E_INVALID_FORMAT, "the epilogue",
                       err);
}

static ald_status open_pieces(ald_streaming *s, ald_error *err)
{
    ald_range r = s->file.sections.schema;
    uint8_t *section = NULL;
    ald_status st;
    ALD_TRY(ald__file_copy(&s->file, r, &section, err));
    st = check_epilogue(s, err);
    if (st == ALD_OK)
        st = check_prologue(s, section, err);
    if (st == ALD_OK)
        st = ald__schema_section_read(&s->file, section, &s->schema, err);
    ald__release(&s->host.alloc, section, (size_t)(r.end - r.begin) + 1);
    return st;
}

/* SHA-256 over all pieces, decompressed one after the other. */
static ald_status check_sha256(ald_streaming *s, ald_error *err)
{
    ald__sha256_check check;
    ald_status st = ald__sha256_check_begin(&check, &s->file, &s->host, err);
    if (st != ALD_OK || !check.wanted)
        return st;
    for (uint64_t piece = 0; st == ALD_OK && piece < s->file.chunk_count + 2; piece++) {
        ald__stored stored;
        ald__shared *plain = NULL;
        st = ald__piece_read(s, piece, &stored, err);
        if (st != ALD_OK)
            break;
        st = decode_piece(s, piece, NULL, &stored, &plain, err);
        if (st == ALD_OK)
            ald__sha256_check_update(&check, ald__shared_data(plain), ald__shared_size(plain));
        ald__shared_unref(plain);
        ald__stored_clear(s, &stored);
    }
    return ald__sha256_check_end(&check, st, err);
}

static ald_status check_readable(const ald_streaming *s, ald_error *err)
{
    if (!(s->file.header.flags & ALD_FLAG_STREAMING))
        return ald__fail(err, ALD_E_UNSUPPORTED, 21,
                         "the file has no chunks\nload it whole, or convert it with --streaming");
    return ALD_OK;
}

static ald_status open_file(ald_streaming *s, const ald_source *source,
                            const ald__settings *settings, ald_error *err)
{
    const ald_load_options *options = &settings->load;
    ALD_TRY(ald__settings_open(settings, source,
                               options->check_all ? ALD__FILE_WHOLE : ALD__FILE_LAZY, &s->host,
                               &s->file, err));
    ALD_TRY(ald__check_trust(&s->file, settings,
                             options->check_all ? ALD__SCOPE_ALL : ALD__SCOPE_LAZY, &s->host,
                             &s->hashes, err));
    ALD_TRY(check_readable(s, err));
    ALD_TRY(ald__unlock(&s->file, settings, &s->host, &s->keys, err));
    ALD_TRY(open_pieces(s, err));
    if (options->check_all)
        ALD_TRY(check_sha256(s, err));
    if (options->expected_schema != NULL)
        ALD_TRY(
            ald_schema_compare(options->expected_schema, ald__ipc_schema_get(s->schema), 0, err));
    ald__info_fill(&s->file, ald__ipc_schema_get(s->schema), &s->info);
    return ALD_OK;
}

/* Prologue and epilogue are not needed: the schema section has what the prologue has. A right seal tells of each chunk
 * whether it is the one that was signed. */
static ald_status open_salvage(ald_streaming *s, const ald_source *source,
                               const ald__settings *settings, ald_error *err)
{
    uint8_t *section = NULL;
    ald_range r;
    int sealed;
    ald_status st;
    s->salvage = 1;
    ALD_TRY(ald__settings_open(settings, source, ALD__FILE_SALVAGE, &s->host, &s->file, err));
    ALD_TRY(check_readable(s, err));
    ALD_TRY(ald__check_seal_alone(&s->file, &s->host, &sealed, err));
    if (sealed)
        s->hashes.bytes = s->file.facts.seal_hashes.data;
    ALD_TRY(ald__unlock(&s->file, settings, &s->host, &s->keys, err));
    r = s->file.sections.schema;
    ALD_TRY(ald__file_copy(&s->file, r, &section, err));
    st = ald__schema_section_read(&s->file, section, &s->schema, err);
    ald__release(&s->host.alloc, section, (size_t)(r.end - r.begin) + 1);
    if (st != ALD_OK)
        return st;
    ald__info_fill(&s->file, ald__ipc_schema_get(s->schema), &s->info);
    if (!sealed)
        s->info.signer_public_key = NULL;
    s->info.license = NULL;
    return ALD_OK;
}

typedef ald_status (*open_function)(ald_streaming *s, const ald_source *source,
                                    const ald__settings *settings, ald_error *err);

static ald_status open_streaming(open_function open, const ald_source *source,
                                 const ald_load_options *options, const ald_host *host,
                                 ald_streaming **out, ald_error *err)
{
    ald__settings settings;
    ald_streaming *s;
    uint64_t cache;
    ald_status st;
    *out = NULL;
    ALD_TRY(ald__settings_take(&settings, options, err));
    s = ald__alloc_zero(&host->alloc, sizeof *s, err);
    if (s == NULL)
        return ALD_E_NOMEM;
    s->host = *host;
    s->file.alloc = host->alloc;
    st = ald__block_pool_new(&host->alloc, &s->pool, err);
    if (st == ALD_OK)
        st = ald__inflater_pool_new(&host->alloc, &s->inflaters, err);
    if (st == ALD_OK)
        st = open(s, source, &settings, err);
    cache = settings.load.cache_bytes != 0 ? settings.load.cache_bytes : CACHE_BYTES_DEFAULT;
    if (st == ALD_OK)
        st = ald__chunk_cache_new(&host->alloc, cache, &s->cache, err);
    if (st != ALD_OK) {
        ald_streaming_close(s);
        return st;
    }
    *out = s;
    return ALD_OK;
}

ald_status ald_streaming_open(const ald_source *source, const ald_load_options *options,
                              const ald_host *host, ald_streaming **out, ald_error *err)
{
    return open_streaming(open_file, source, options, host, out, err);
}

ald_status ald_streaming_salvage(const ald_source *source, const ald_load_options *options,
                                 const ald_host *host, ald_streaming **out, ald_error *err)
{
    return open_streaming(open_salvage, source, options, host, out, err);
}

ald_status ald_streaming_check_edge(const ald_streaming *s, int at_end, ald_range *bytes,
                                    ald_error *err)
{
    uint64_t begin = s->file.sections.payload.begin;
    ald_range r = s->file.sections.schema;
    uint8_t *section = NULL;
    ald_status st;
    bytes->begin = begin + (at_end ? ald__file_piece_end(&s->file, s->file.chunk_count) : 0);
    bytes->end = begin + ald__file_piece_end(&s->file, at_end ? s->file.chunk_count + 1 : 0);
    if (at_end)
        return check_epilogue(s, err);
    ALD_TRY(ald__file_copy(&s->file, r, &section, err));
    st = check_prologue(s, section, err);
    ald__release(&s->host.alloc, section, (size_t)(r.end - r.begin) + 1);
    return st;
}

void ald_streaming_close(ald_streaming *s)
{
    ald_allocator alloc;
    if (s == NULL)
        return;
    alloc = s->host.alloc;
    ald__chunk_cache_free(s->cache);
    ald__block_pool_free(s->pool);
    ald__inflater_pool_free(s->inflaters);
    ald__ipc_schema_free(s->schema);
    ald__hashes_clear(&alloc, &s->hashes);
    ald__piece_keys_clear(&s->keys);
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

static ald_status load_whole(const ald_streaming *s, uint64_t index, const uint8_t *columns,
                             const ald__stored *stored, struct ArrowArray *out, ald_error *err)
{
    const ald_chunk_entry *e = &s->file.chunks[index];
    ald__shared *plain = NULL;
    ald__ipc_message m;
    ald_status st = decode_piece(s, index + 1, columns, stored, &plain, err);
    if (st == ALD_OK) {
        uint64_t base = s->file.header.compression == ALD_COMPRESSION_NONE
                            ? s->file.sections.payload.begin + e->byte_offset
                            : 0;
        ald__cursor bytes = {ald__shared_data(plain), e->uncompressed_size, 0, base};
        st = ald__chunk_parse(&s->file, s->schema, e, stored->data, columns, &bytes, plain, &m, out,
                              err);
        if (st == ALD_OK && (s->file.header.flags & ALD_FLAG_TRUENO_NATIVE) && !s->salvage) {
            st = ald__aligned_check_chunk(&s->file, s->schema, index, &m, err);
            if (st != ALD_OK)
                out->release(out);
        }
    }
    ald__shared_unref(plain);
    return st;
}

ald_status ald__chunk_load(const ald_streaming *s, uint64_t index, const uint8_t *columns,
                           struct ArrowArray *out, ald_error *err)
{
    ald__stored stored;
    ald_status st = ALD_OK;
    int done = 0;
    out->release = NULL;
    if (columns != NULL && !ald__piece_is_whole(s))
        ALD_TRY(ald__columns_read(s, index, columns, NULL, &done, out, err));
    if (done)
        return ALD_OK;
    ALD_TRY(ald__piece_read(s, index + 1, &stored, err));
    if (columns != NULL && ald__piece_is_whole(s))
        st = ald__columns_read(s, index, columns, &stored, &done, out, err);
    if (st == ALD_OK && !done)
        st = load_whole(s, index, columns, &stored, out, err);
    ald__stored_clear(s, &stored);
    return st;
}

ald_status ald_streaming_chunk(ald_streaming *s, uint64_t index, const uint8_t *columns,
                               struct ArrowArray *out, ald_error *err)
{
    ald__cached *cached;
    ald_status st;
    out->release = NULL;
    if (index >= s->file.chunk_count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "chunk %llu of %llu",
                         (unsigned long long)index, (unsigned long long)s->file.chunk_count);
    cached = ald__chunk_cache_find(s->cache, index, columns, (size_t)s->info.schema->n_children);
    if (cached == NULL)
        return ald__chunk_load(s, index, columns, out, err);
    st = ald__array_clone(ald__cached_array(cached), out, err);
    ald__cached_unref(cached);
    return st;
}
