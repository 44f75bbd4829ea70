/* SPDX-License-Identifier: MIT */
/* Opening an .ald file: the checks in their order, each with its own error. */
#include "core/container/file.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/container/msgpack.h"

#define PIECE_BYTES (1u << 20)

ald_status ald__file_bytes(const ald__file *f, uint64_t at, void *out, size_t size, ald_error *err)
{
    if (size == 0)
        return ALD_OK;
    if (at > f->source.size_bytes || size > f->source.size_bytes - at)
        return ald__fail(err, ALD_E_TRUNCATED, at, "%zu bytes expected here", size);
    if (at < f->head.size) {
        size_t kept = f->head.size - (size_t)at;
        kept = kept < size ? kept : size;
        memcpy(out, f->head.data + at, kept);
        if (kept == size)
            return ALD_OK;
        return f->source.read_at(f->source.ctx, at + kept, (uint8_t *)out + kept, size - kept, err);
    }
    return f->source.read_at(f->source.ctx, at, out, size, err);
}

ald_status ald__file_keep(ald__file *f, uint64_t end, ald_error *err)
{
    size_t more;
    if (!f->keeps_head || end <= f->head.size)
        return ALD_OK;
    if (!ald__to_size(end - f->head.size, &more))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__buffer_reserve(&f->head, more, err));
    ALD_TRY(ald__file_bytes(f, f->head.size, f->head.data + f->head.size, more, err));
    f->head.size += more;
    return ALD_OK;
}

ald_status ald__file_u16(const ald__file *f, uint64_t at, uint16_t *out, ald_error *err)
{
    uint8_t bytes[2] = {0};
    ALD_TRY(ald__file_bytes(f, at, bytes, sizeof bytes, err));
    *out = ald__load_le16(bytes);
    return ALD_OK;
}

ald_status ald__file_u32(const ald__file *f, uint64_t at, uint32_t *out, ald_error *err)
{
    uint8_t bytes[4] = {0};
    ALD_TRY(ald__file_bytes(f, at, bytes, sizeof bytes, err));
    *out = ald__load_le32(bytes);
    return ALD_OK;
}

ald_status ald__file_copy(const ald__file *f, ald_range range, uint8_t **out, ald_error *err)
{
    size_t size;
    uint8_t *p;
    ald_status st;
    *out = NULL;
    if (range.end < range.begin || range.end > f->source.size_bytes)
        return ald__fail(err, ALD_E_INVALID_FORMAT, range.begin, "a section outside the file");
    if (!ald__to_size(range.end - range.begin, &size))
        return ald__no_memory(err, SIZE_MAX);
    p = ald__alloc(&f->alloc, size + 1, err);
    if (p == NULL)
        return ALD_E_NOMEM;
    st = ald__file_bytes(f, range.begin, p, size, err);
    if (st != ALD_OK) {
        ald__release(&f->alloc, p, size + 1);
        return st;
    }
    p[size] = 0;
    *out = p;
    return ALD_OK;
}

ald_status ald__file_read_metadata(ald__file *f, ald_error *err)
{
    ald_range r = {ALD__HEADER_BYTES, ALD__HEADER_BYTES + (uint64_t)f->header.metadata_size};
    if (f->tree != NULL)
        return ALD_OK;
    if (f->header.metadata_size > f->metadata_limit)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, 8,
                         "metadata of %u bytes, at most %llu accepted", f->header.metadata_size,
                         (unsigned long long)f->metadata_limit);
    ALD_TRY(ald__file_keep(f, r.end < f->source.size_bytes ? r.end : f->source.size_bytes, err));
    if (f->metadata == NULL)
        ALD_TRY(ald__file_copy(f, r, &f->metadata, err));
    return ald__metadata_decode(&f->alloc, f->metadata, f->header.metadata_size, ALD__HEADER_BYTES,
                                &f->tree, &f->metadata_is_array, err);
}

ald_status ald__file_feed(const ald__file *f, uint64_t begin, uint64_t end,
                          void (*take)(void *to, const void *data, size_t size), void *to,
                          ald_error *err)
{
    uint8_t *piece;
    ald_status st = ALD_OK;
    size_t size;
    if (begin >= end)
        return ALD_OK;
    if (f->source.view != NULL && ald__to_size(end - begin, &size)) {
        const void *p = f->source.view(f->source.ctx, begin, size);
        if (p != NULL) {
            take(to, p, size);
            return ALD_OK;
        }
    }
    piece = ald__alloc(&f->alloc, PIECE_BYTES, err);
    if (piece == NULL)
        return ALD_E_NOMEM;
    while (begin < end && st == ALD_OK) {
        size = end - begin < PIECE_BYTES ? (size_t)(end - begin) : PIECE_BYTES;
        st = ald__file_bytes(f, begin, piece, size, err);
        if (st == ALD_OK)
            take(to, piece, size);
        begin += size;
    }
    ald__release(&f->alloc, piece, PIECE_BYTES);
    return st;
}

typedef struct crc_state {
    uint32_t (*function)(uint32_t crc, const void *data, size_t size);
    uint32_t crc;
} crc_state;

static void take_crc(void *to, const void *data, size_t size)
{
    crc_state *c = to;
    c->crc = c->function(c->crc, data, size);
}

/* The crate's variant counts only for what the crate can have written. */
static ald_status may_be_crate(const ald__file *f, int *out, ald_error *err)
{
    uint8_t first = 0;
    *out = 0;
    if (f->header.version_minor > 2 || f->header.metadata_size == 0 ||
        (f->header.flags & (ALD_FLAG_STREAMING | ALD_FLAG_TRUENO_NATIVE)))
        return ALD_OK;
    ALD_TRY(ald__file_bytes(f, ALD__HEADER_BYTES, &first, 1, err));
    *out = ald__metadata_is_array(first);
    return ALD_OK;
}

static ald_status check_crc32(ald__file *f, ald_error *err)
{
    uint64_t end = f->source.size_bytes - ALD__CRC_BYTES;
    crc_state ieee = {ald__crc32, 0}, crate = {ald__crc32_crate, 0};
    uint32_t stored;
    int try_crate;
    ALD_TRY(ald__file_u32(f, end, &stored, err));
    ALD_TRY(ald__file_feed(f, 0, end, take_crc, &ieee, err));
    f->crc32_variant = ALD_CRC32_IEEE;
    if (ieee.crc == stored)
        return ALD_OK;
    ALD_TRY(may_be_crate(f, &try_crate, err));
    if (try_crate) {
        ALD_TRY(ald__file_feed(f, 0, end, take_crc, &crate, err));
        f->crc32_variant = ALD_CRC32_CRATE;
        if (crate.crc == stored)
            return ALD_OK;
    }
    f->crc32_variant = ALD_CRC32_UNCHECKED;
    return ald__fail(err, ALD_E_CHECKSUM_MISMATCH, end, "CRC32 is %08x, the file says %08x",
                     ieee.crc, stored);
}

/* CRC of the prefix with the four bytes that hold it as zeros. */
ald_status ald__file_check_prefix(const ald__file *f, ald_error *err)
{
    static const char *const path[2] = {"ald", "prefix_crc32"};
    static const uint8_t zeros[4] = {0};
    ald__msgpack_place place;
    uint64_t hole, end = f->sections.payload.begin;
    crc_state crc = {ald__crc32, 0};
    uint32_t stored;
    if (f->facts.prefix_crc32.data == NULL ||
        !ald__msgpack_locate(f->metadata, f->header.metadata_size, path, 2, &place))
        return ALD_OK;
    hole = ALD__HEADER_BYTES + place.content;
    stored = ald__load_le32(f->facts.prefix_crc32.data);
    ALD_TRY(ald__file_feed(f, 0, hole, take_crc, &crc, err));
    take_crc(&crc, zeros, sizeof zeros);
    ALD_TRY(ald__file_feed(f, hole + sizeof zeros, end, take_crc, &crc, err));
    if (crc.crc != stored)
        return ald__fail(err, ALD_E_CHECKSUM_MISMATCH, hole,
                         "prefix_crc32 is %08x, the metadata says %08x", crc.crc, stored);
    return ALD_OK;
}

static ald_status read_start(const ald_source *source, uint8_t bytes[ALD__HEADER_BYTES],
                             ald_error *err)
{
    uint64_t size = source->size_bytes;
    size_t n = size < ALD__HEADER_BYTES ? (size_t)size : ALD__HEADER_BYTES;
    memset(bytes, 0, ALD__HEADER_BYTES);
    if (n > 0)
        ALD_TRY(source->read_at(source->ctx, 0, bytes, n, err));
    ALD_TRY(ald__header_check_start(bytes, n, err));
    if (size < ALD__SHORTEST_FILE)
        return ald__fail(err, ALD_E_TRUNCATED, size, "%llu bytes, expected at least %u",
                         (unsigned long long)size, ALD__SHORTEST_FILE);
    return ALD_OK;
}

ald_status ald__file_check_start(const ald_source *source, ald_error *err)
{
    uint8_t bytes[ALD__HEADER_BYTES];
    return read_start(source, bytes, err);
}

/* A signature is checked after what it covers was looked at. So that both are the same bytes, whatever happens to the file
 * or whoever sends it meanwhile, the prefix of a signed file is read once. One without STREAMING is in memory as a whole. */
static ald_status read_header(ald__file *f, ald_error *err)
{
    const uint8_t needs = ALD_FLAG_SIGNED | ALD_FLAG_STREAMING;
    uint8_t bytes[ALD__HEADER_BYTES];
    ALD_TRY(read_start(&f->source, bytes, err));
    ald__header_decode(bytes, &f->header);
    f->keeps_head = f->source.view == NULL && (f->header.flags & needs) == needs;
    return f->keeps_head ? ald__buffer_append(&f->head, bytes, sizeof bytes, err) : ALD_OK;
}

/* The crate's own streaming writer used the same magic over another header (1.2, flags where the type stands here). */
static ald_status explain_foreign(const ald__file *f, ald_status st, ald_error *err)
{
    uint8_t head[ALD__HEADER_BYTES];
    ald_error ignored;
    if ((st != ALD_E_TRUNCATED && st != ALD_E_INVALID_FORMAT && st != ALD_E_CHECKSUM_MISMATCH) ||
        ald__file_bytes(f, 0, head, sizeof head, &ignored) != ALD_OK)
        return st;
    /* flags STREAMING at 6, compression at 7, a known type at 8, then u32 sizes and a u64 payload size at 24 */
    if (head[6] != ALD_FLAG_STREAMING || head[7] > ALD_COMPRESSION_LZ4 ||
        ald_dataset_type_name(ald__load_le16(head + 8)) == NULL || head[10] != 0 || head[11] != 0 ||
        ald__load_le64(head + 24) > f->source.size_bytes)
        return st;
    return ald__fail(err, ALD_E_INVALID_FORMAT, 6,
                     "written by the streaming writer of the Rust crate alimentar, whose layout is "
                     "not this format");
}

static ald_status open_checked(ald__file *f, ald__file_checks checks, ald_error *err)
{
    if (checks != ALD__FILE_SALVAGE)
        ALD_TRY(ald__file_walk(f, err));
    if (checks == ALD__FILE_WHOLE)
        ALD_TRY(check_crc32(f, err));
    ALD_TRY(ald__header_check_fields(&f->header, err));
    ALD_TRY(ald__file_read_metadata(f, err));
    ALD_TRY(ald__metadata_facts(f->tree, f->metadata, f->header.metadata_size, ALD__HEADER_BYTES,
                                &f->facts, err));
    return ald__file_layout(f, checks == ALD__FILE_SALVAGE, err);
}

ald_status ald__file_open(ald__file *f, const ald_source *source, uint64_t metadata_limit,
                          ald__file_checks checks, const ald_allocator *alloc, ald_error *err)
{
    return ald__file_open_as(f, source, metadata_limit, checks, NULL, alloc, err);
}

ald_status ald__file_open_as(ald__file *f, const ald_source *source, uint64_t metadata_limit,
                             ald__file_checks checks, const ald__recipient_test *test,
                             const ald_allocator *alloc, ald_error *err)
{
    ald_error local;
    ald_status st;
    memset(f, 0, sizeof *f);
    f->alloc = *alloc;
    f->head.alloc = &f->alloc;
    f->source = *source;
    f->metadata_limit = metadata_limit != 0 ? metadata_limit : ALD__METADATA_LIMIT;
    f->encryption_mode = -1;
    f->recipient_test = test;
    if (err == NULL)
        err = &local;
    ALD_TRY(read_header(f, err));
    st = open_checked(f, checks, err);
    f->recipient_test = NULL;
    return st == ALD_OK ? ALD_OK : explain_foreign(f, st, err);
}

void ald__file_clear(ald__file *f)
{
    ald_value_free(f->tree);
    ald_buffer_clear(&f->head);
    ald__release(&f->alloc, f->metadata, (size_t)f->header.metadata_size + 1);
    ald__release(&f->alloc, f->chunks, (size_t)f->chunk_count * sizeof *f->chunks);
    ald__release(&f->alloc, f->arrays, (size_t)f->array_count * sizeof *f->arrays);
    ald__release(&f->alloc, f->license_block, f->license_size + 1);
    if (f->recipient_hashes != NULL)
        ald__release(&f->alloc, f->recipient_hashes, (size_t)f->recipient_count * 8);
    memset(f, 0, sizeof *f);
}
