/* SPDX-License-Identifier: MIT */
/* The chunk index and the array index: whole, in order, inside the payload. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/container/file.h"

#define SCHEMA_END_BYTES 8u /* the end-of-stream marker */
#define DTYPE_LAST 11u
#define HINT_LAST 8u
#define PACKED_LIMIT (1u << 27) /* rebuilt bytes of a packed chunk: they need no stored ones */

static ald_status bad_chunk(const ald__file *f, uint64_t i, const char *what, uint64_t found,
                            uint64_t expected, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT,
                     f->sections.chunk_index.begin + 4 + i * ALD__CHUNK_ENTRY_BYTES,
                     "chunk %llu: %s %llu, expected %llu", (unsigned long long)i, what,
                     (unsigned long long)found, (unsigned long long)expected);
}

/* Entry i against its predecessor's end and the payload. */
static ald_status check_chunk(const ald__file *f, uint64_t i, uint64_t row, uint64_t byte,
                              ald_error *err)
{
    const ald_chunk_entry *e = &f->chunks[i];
    uint64_t tag = ald__file_tag(f);
    if (e->row_offset != row)
        return bad_chunk(f, i, "row_offset", e->row_offset, row, err);
    if (e->byte_offset != byte)
        return bad_chunk(f, i, "byte_offset", e->byte_offset, byte, err);
    if (e->byte_offset >= f->payload_size || e->compressed_size >= f->payload_size - e->byte_offset)
        return bad_chunk(f, i, "end of the chunk", e->byte_offset + e->compressed_size,
                         f->payload_size, err);
    if (f->header.compression >= ALD_COMPRESSION_PACKED && e->uncompressed_size > PACKED_LIMIT)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED,
                         f->sections.chunk_index.begin + 4 + i * ALD__CHUNK_ENTRY_BYTES,
                         "a packed chunk of %u bytes, at most %u are accepted",
                         e->uncompressed_size, PACKED_LIMIT);
    if (e->compressed_size == 0)
        return bad_chunk(f, i, "compressed_size", 0, 1, err);
    if (f->header.compression == ALD_COMPRESSION_NONE &&
        e->compressed_size != e->uncompressed_size + tag)
        return bad_chunk(f, i, "compressed_size", e->compressed_size, e->uncompressed_size + tag,
                         err);
    return ALD_OK;
}

static ald_status check_totals(const ald__file *f, uint64_t rows, uint64_t bytes, ald_error *err)
{
    uint64_t uncompressed;
    if (rows != f->header.num_rows)
        return ald__fail(err, ALD_E_INVALID_FORMAT, f->sections.chunk_index.begin,
                         "the chunks have %llu rows, the header says %llu",
                         (unsigned long long)rows, (unsigned long long)f->header.num_rows);
    /* prologue: the schema section less its end marker; epilogue: the marker */
    if (f->schema_size < SCHEMA_END_BYTES || !ald__add_u64(bytes, f->schema_size, &uncompressed) ||
        uncompressed != f->uncompressed_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, f->sections.chunk_index.begin,
                         "schema and chunks have %llu uncompressed bytes, the header says %llu",
                         (unsigned long long)(bytes + f->schema_size),
                         (unsigned long long)f->uncompressed_size);
    return ALD_OK;
}

static ald_status parse_chunks(ald__file *f, const uint8_t *p, ald_error *err)
{
    uint64_t row = 0, byte = 0, uncompressed = 0;
    for (uint64_t i = 0; i < f->chunk_count; i++, p += ALD__CHUNK_ENTRY_BYTES) {
        ald_chunk_entry *e = &f->chunks[i];
        e->row_offset = ald__load_le64(p);
        e->num_rows = ald__load_le32(p + 8);
        e->byte_offset = ald__load_le64(p + 12);
        e->compressed_size = ald__load_le32(p + 20);
        e->uncompressed_size = ald__load_le32(p + 24);
        if (i == 0 && e->byte_offset == 0)
            return bad_chunk(f, i, "byte_offset", 0, 1, err);
        ALD_TRY(check_chunk(f, i, row, i == 0 ? e->byte_offset : byte, err));
        row = e->row_offset + e->num_rows;
        byte = e->byte_offset + e->compressed_size;
        uncompressed += e->uncompressed_size;
        if (row < e->row_offset)
            return bad_chunk(f, i, "row_offset", e->row_offset, f->header.num_rows, err);
    }
    return check_totals(f, row, uncompressed, err);
}

ald_status ald__file_read_chunks(ald__file *f, ald_error *err)
{
    ald_range r = f->sections.chunk_index;
    uint8_t *bytes;
    size_t size;
    ald_status st;
    if (!(f->header.flags & ALD_FLAG_STREAMING))
        return ALD_OK;
    if (f->chunk_count == 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r.begin, "a chunk index of no chunks");
    if (!ald__mul_size((size_t)f->chunk_count, sizeof *f->chunks, &size))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__file_copy(f, r, &bytes, err));
    f->chunks = ald__alloc(&f->alloc, size, err);
    st = f->chunks == NULL ? ALD_E_NOMEM : parse_chunks(f, bytes + 4, err);
    ald__release(&f->alloc, bytes, (size_t)(r.end - r.begin) + 1);
    return st;
}

uint64_t ald__file_piece_end(const ald__file *f, uint64_t index)
{
    if (index == 0)
        return f->chunks[0].byte_offset;
    if (index > f->chunk_count)
        return f->payload_size;
    return f->chunks[index - 1].byte_offset + f->chunks[index - 1].compressed_size;
}

static ald_status check_array(const ald__file *f, uint64_t i, ald_error *err)
{
    const ald_array_entry *e = &f->arrays[i];
    const ald_range *p = &f->sections.payload;
    const char *what = NULL;
    if (e->dtype > DTYPE_LAST)
        what = "unknown dtype";
    else if (e->alignment != 64)
        what = "alignment is not 64";
    else if (e->backend_hint > HINT_LAST)
        what = "unknown backend hint";
    else if (e->offset % 64 != 0)
        what = "offset is not a multiple of 64";
    else if (e->offset < p->begin || e->offset > p->end || e->size_bytes > p->end - e->offset)
        what = "array outside the payload";
    if (what == NULL)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT,
                     f->sections.array_index.begin + 4 + i * ALD__ARRAY_ENTRY_BYTES,
                     "array %llu: %s (offset %llu, %llu bytes)", (unsigned long long)i, what,
                     (unsigned long long)e->offset, (unsigned long long)e->size_bytes);
}

static ald_status parse_arrays(ald__file *f, const uint8_t *p, ald_error *err)
{
    for (uint64_t i = 0; i < f->array_count; i++, p += ALD__ARRAY_ENTRY_BYTES) {
        ald_array_entry *e = &f->arrays[i];
        e->column_idx = ald__load_le32(p);
        e->dtype = p[4];
        e->length = ald__load_le64(p + 5);
        e->alignment = p[13];
        e->backend_hint = p[14];
        e->offset = ald__load_le64(p + 15);
        e->size_bytes = ald__load_le64(p + 23);
        ALD_TRY(check_array(f, i, err));
    }
    return ALD_OK;
}

ald_status ald__file_read_arrays(ald__file *f, ald_error *err)
{
    ald_range r = f->sections.array_index;
    uint8_t *bytes;
    size_t size;
    ald_status st;
    if (!(f->header.flags & ALD_FLAG_TRUENO_NATIVE))
        return ALD_OK;
    if (!ald__mul_size((size_t)f->array_count, sizeof *f->arrays, &size))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__file_copy(f, r, &bytes, err));
    f->arrays = ald__alloc(&f->alloc, size, err);
    st = f->arrays == NULL ? ALD_E_NOMEM : parse_arrays(f, bytes + 4, err);
    ald__release(&f->alloc, bytes, (size_t)(r.end - r.begin) + 1);
    return st;
}
