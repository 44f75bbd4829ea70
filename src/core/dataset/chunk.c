/* SPDX-License-Identifier: MIT */
/* Chunks: column frames and the messages that they hold. */
#include "core/dataset/chunk.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/dataset/packed_chunk.h"
#include "core/dataset/whole.h"

#define DIRECTORY_MAGIC 0x184D2A5Au
#define DIRECTORY_NAME 0x43444C41u /* "ALDC" */
#define FRAME_HEAD 8u
#define NAME_AND_COUNT 8u
#define ENTRY 8u

static int frames_allowed(uint8_t compression)
{
    return compression >= ALD_COMPRESSION_ZSTD_L3 && compression <= ALD_COMPRESSION_LZ4;
}

static ald_status bad_directory(uint64_t offset, const char *what, uint64_t found,
                                uint64_t expected, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                     "directory of column frames: %s %llu, expected %llu", what,
                     (unsigned long long)found, (unsigned long long)expected);
}

uint64_t ald__frame_directory_size(uint8_t compression, const uint8_t *src, size_t src_size)
{
    if (!frames_allowed(compression) || src_size < FRAME_HEAD + 4 ||
        ald__load_le32(src) != DIRECTORY_MAGIC ||
        ald__load_le32(src + FRAME_HEAD) != DIRECTORY_NAME)
        return 0;
    return FRAME_HEAD + (uint64_t)ald__load_le32(src + 4);
}

ald_status ald__frame_directory_check(const uint8_t *src, size_t size, uint64_t compressed_size,
                                      uint64_t uncompressed_size, uint64_t offset,
                                      ald__frame_directory *out, ald_error *err)
{
    uint64_t content = ald__load_le32(src + 4), compressed = 0, uncompressed = 0;
    memset(out, 0, sizeof *out);
    if (content > size - FRAME_HEAD || content < NAME_AND_COUNT)
        return bad_directory(offset, "frame size", content, size - FRAME_HEAD, err);
    out->count = ald__load_le32(src + FRAME_HEAD + 4);
    if (content != NAME_AND_COUNT + (uint64_t)out->count * ENTRY || out->count == 0)
        return bad_directory(offset, "frame size", content,
                             NAME_AND_COUNT + (uint64_t)out->count * ENTRY, err);
    out->entries = src + FRAME_HEAD + NAME_AND_COUNT;
    out->size = FRAME_HEAD + (size_t)content;
    for (uint32_t i = 0; i < out->count; i++) {
        compressed += ald__load_le32(out->entries + (size_t)i * ENTRY);
        uncompressed += ald__load_le32(out->entries + (size_t)i * ENTRY + 4);
    }
    if (compressed != compressed_size - out->size)
        return bad_directory(offset, "compressed bytes", compressed, compressed_size - out->size,
                             err);
    if (uncompressed != uncompressed_size)
        return bad_directory(offset, "uncompressed bytes", uncompressed, uncompressed_size, err);
    return ALD_OK;
}

ald_status ald__frame_directory_read(uint8_t compression, const uint8_t *src, size_t src_size,
                                     uint64_t uncompressed_size, uint64_t offset,
                                     ald__frame_directory *out, ald_error *err)
{
    memset(out, 0, sizeof *out);
    if (ald__frame_directory_size(compression, src, src_size) == 0)
        return ALD_OK;
    return ald__frame_directory_check(src, src_size, src_size, uncompressed_size, offset, out, err);
}

uint64_t ald__frame_end(const ald__frame_directory *directory, uint32_t index)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i <= index; i++)
        end += ald__load_le32(directory->entries + (size_t)i * ENTRY + 4);
    return end;
}

ald_status ald__chunk_decode(const ald__file *f, const ald__ipc_schema *schema, uint64_t index,
                             const uint8_t *columns, const uint8_t *src, size_t src_size,
                             uint8_t *dst, size_t dst_size, uint64_t offset,
                             ald__inflaters *inflaters, ald_error *err)
{
    ald__frame_directory dir;
    uint8_t id = f->header.compression;
    size_t at;
    if (ald__compression_is_packed(id)) {
        ald__packed_chunk c = {&f->alloc, schema,  id,
                               index,     offset,  f->chunks[index].num_rows,
                               src_size,  columns, &inflaters->unpacker};
        return ald__packed_chunk_decode(&c, src, dst, dst_size, err);
    }
    ALD_TRY(ald__frame_directory_read(id, src, src_size, dst_size, offset, &dir, err));
    if (dir.count == 0)
        return ald__inflate(inflaters, id, &f->alloc, src, src_size, dst, dst_size, offset, err);
    at = dir.size;
    for (uint32_t i = 0; i < dir.count; i++) {
        uint32_t stored = ald__load_le32(dir.entries + (size_t)i * ENTRY);
        uint32_t plain = ald__load_le32(dir.entries + (size_t)i * ENTRY + 4);
        ALD_TRY(
            ald__inflate(inflaters, id, &f->alloc, src + at, stored, dst, plain, offset + at, err));
        at += stored;
        dst += plain;
    }
    return ALD_OK;
}

/* The buffers of a column lie in one body frame, and no later column's in an earlier frame. */
static ald_status check_column_frames(const ald__frame_directory *dir, const ald__ipc_span *spans,
                                      size_t columns, uint64_t head, uint64_t offset,
                                      ald_error *err)
{
    uint32_t frame = 0;
    uint64_t begin = 0, end = 0; /* of the current body frame, in the body */
    for (size_t i = 0; i < columns; i++) {
        if (spans[i].begin == spans[i].end)
            continue;
        while (spans[i].begin >= end && frame + 1 < dir->count) {
            frame++;
            begin = end;
            end = begin + ald__load_le32(dir->entries + (size_t)frame * ENTRY + 4);
        }
        if (spans[i].begin < begin || spans[i].end > end)
            return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                             "column %zu lies in the chunk at %llu to %llu, its frame at %llu to "
                             "%llu",
                             i, (unsigned long long)(head + spans[i].begin),
                             (unsigned long long)(head + spans[i].end),
                             (unsigned long long)(head + begin), (unsigned long long)(head + end));
    }
    return ALD_OK;
}

ald_status ald__chunk_check_borders(const ald__ipc_schema *schema, const ald__frame_directory *dir,
                                    const ald__ipc_message *m, uint64_t head, uint64_t offset,
                                    ald__ipc_span *spans, ald_error *err)
{
    uint64_t rows;
    if (ald__frame_end(dir, 0) != head)
        return bad_directory(offset, "head bytes", ald__frame_end(dir, 0), head, err);
    ALD_TRY(ald__ipc_read_spans(schema, m, &ald__payload_rules, spans, &rows, err));
    return check_column_frames(dir, spans, (size_t)ald__ipc_schema_get(schema)->n_children, head,
                               offset, err);
}

/* The same with spans of its own. */
static ald_status check_borders(const ald__file *f, const ald__ipc_schema *schema,
                                const ald__frame_directory *dir, const ald__ipc_message *m,
                                uint64_t head, uint64_t offset, ald_error *err)
{
    size_t size = (size_t)ald__ipc_schema_get(schema)->n_children * sizeof(ald__ipc_span);
    ald__ipc_span *spans = ald__alloc(&f->alloc, size, err);
    ald_status st;
    if (spans == NULL)
        return ALD_E_NOMEM;
    st = ald__chunk_check_borders(schema, dir, m, head, offset, spans, err);
    ald__release(&f->alloc, spans, size);
    return st;
}

static ald_status check_dictionaries(const ald__ipc_schema *schema,
                                     const ald__ipc_dictionaries *dictionaries, uint64_t offset,
                                     ald_error *err)
{
    for (size_t i = 0; i < ald__ipc_schema_dictionary_count(schema); i++) {
        size_t seen = ald__ipc_dictionaries_seen(dictionaries, i);
        if (seen != 1)
            return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                             "a chunk with %zu batches of dictionary %zu, expected one", seen, i);
    }
    return ALD_OK;
}

/* Dictionary batches up to the head of the record batch, which is left in *m without its body. */
static ald_status read_head(ald__cursor *bytes, ald__ipc_dictionaries *dictionaries,
                            const ald__ipc_rules *rules, ald__shared *backing, ald__ipc_message *m,
                            ald_error *err)
{
    for (;;) {
        size_t before = bytes->pos;
        ALD_TRY(ald__ipc_read_head(bytes, rules, m, err));
        if (m->type == ALD__IPC_BATCH)
            return ALD_OK;
        if (m->type != ALD__IPC_DICTIONARY)
            return ald__fail(err, ALD_E_INVALID_FORMAT, bytes->base + before,
                             "a chunk holds dictionaries and one record batch, nothing else");
        bytes->pos = before;
        ALD_TRY(ald__ipc_read_message(bytes, rules, m, err));
        ALD_TRY(ald__ipc_read_dictionary(dictionaries, m, rules, backing, err));
    }
}

ald_status ald__chunk_parse_head(const ald__ipc_schema *schema, ald__cursor *bytes,
                                 const ald__ipc_rules *rules, ald__shared *backing,
                                 ald__ipc_dictionaries *dictionaries, ald__ipc_message *m,
                                 uint64_t plain_size, ald_error *err)
{
    ALD_TRY(read_head(bytes, dictionaries, rules, backing, m, err));
    ALD_TRY(check_dictionaries(schema, dictionaries, bytes->base, err));
    if (m->body_size != plain_size - bytes->pos)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(bytes),
                         "the record batch's body has %llu bytes, the chunk has %llu left",
                         (unsigned long long)m->body_size,
                         (unsigned long long)(plain_size - bytes->pos));
    m->body = bytes->data + bytes->pos;
    return ALD_OK;
}

ald_status ald__chunk_check_rows(const ald_chunk_entry *entry, struct ArrowArray *batch,
                                 uint64_t offset, ald_error *err)
{
    int64_t rows = batch->length;
    if ((uint64_t)rows == entry->num_rows)
        return ALD_OK;
    batch->release(batch);
    return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                     "the chunk has %lld rows, its entry says %u", (long long)rows,
                     entry->num_rows);
}

static ald_status parse_with(const ald__file *f, const ald__ipc_schema *schema,
                             const ald_chunk_entry *entry, const uint8_t *src,
                             const uint8_t *columns, ald__cursor *bytes, ald__shared *backing,
                             ald__ipc_dictionaries *dictionaries, ald__ipc_message *m,
                             struct ArrowArray *out, ald_error *err)
{
    ald__ipc_rules rules = ald__payload_rules;
    ald__frame_directory dir;
    uint64_t offset = bytes->base;
    rules.allow_delta = 0;
    rules.once = 1;
    ALD_TRY(
        ald__chunk_parse_head(schema, bytes, &rules, backing, dictionaries, m, bytes->size, err));
    ALD_TRY(ald__frame_directory_read(f->header.compression, src,
                                      entry->compressed_size - ald__file_tag(f),
                                      entry->uncompressed_size, offset, &dir, err));
    if (dir.count > 0)
        ALD_TRY(check_borders(f, schema, &dir, m, bytes->pos, offset, err));
    ALD_TRY(ald__ipc_read_batch(dictionaries, m, &rules, backing, columns, out, err));
    return ald__chunk_check_rows(entry, out, offset, err);
}

ald_status ald__chunk_parse(const ald__file *f, const ald__ipc_schema *schema,
                            const ald_chunk_entry *entry, const uint8_t *src,
                            const uint8_t *columns, ald__cursor *bytes, ald__shared *backing,
                            ald__ipc_message *message, struct ArrowArray *out, ald_error *err)
{
    ald__ipc_dictionaries *dictionaries = NULL;
    ald_status st;
    out->release = NULL;
    ALD_TRY(ald__ipc_dictionaries_new(&f->alloc, schema, &dictionaries, err));
    st =
        parse_with(f, schema, entry, src, columns, bytes, backing, dictionaries, message, out, err);
    ald__ipc_dictionaries_free(dictionaries);
    return st;
}
