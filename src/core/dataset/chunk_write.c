/* SPDX-License-Identifier: MIT */
/* Chunks: IPC messages, then a directory and one frame for the head and each run of columns, then encryption and hash of
 * what is stored. */
#include "core/dataset/chunk_write.h"
#include "ald/writer.h"

#include <string.h>

#include "ald/schema.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/dataset/packed_chunk.h"
#include "core/dataset/packed_layout.h"
#include "core/dataset/protect.h"

#define DIRECTORY_HEAD 16u /* skippable frame's magic and size, "ALDC", count */
#define ENTRY 8u

static size_t columns_of(const ald__chunk_slot *s)
{
    return (size_t)ald__ipc_schema_get(s->schema)->n_children;
}

ald_status ald__chunk_slot_init(ald__chunk_slot *s, const ald_allocator *alloc,
                                const struct ArrowSchema *schema, const ald__ipc_schema *decoded,
                                uint8_t compression, uint32_t alignment, ald_error *err)
{
    ald__ipc_write_options o = {.alignment = alignment, .dictionary_mode = ALD__DICTIONARY_CHUNK};
    memset(s, 0, sizeof *s);
    s->alloc = alloc;
    s->schema = decoded;
    s->compression = compression;
    s->column_frames = compression != ALD_COMPRESSION_NONE;
    s->plain.alloc = alloc;
    s->stored.alloc = alloc;
    s->spare.alloc = alloc;
    s->spans = ald__alloc(alloc, (size_t)schema->n_children * sizeof *s->spans, err);
    s->frames = ald__alloc(alloc, ((size_t)schema->n_children + 1) * sizeof *s->frames, err);
    if (s->spans == NULL || s->frames == NULL)
        return ALD_E_NOMEM;
    return ald__ipc_writer_new(alloc, schema, &o, &s->writer, err);
}

void ald__chunk_slot_clear(ald__chunk_slot *s)
{
    if (s->alloc == NULL)
        return;
    if (s->chunk.release != NULL)
        s->chunk.release(&s->chunk);
    ald__release(s->alloc, s->spans, columns_of(s) * sizeof *s->spans);
    ald__release(s->alloc, s->frames, (columns_of(s) + 1) * sizeof *s->frames);
    ald__ipc_writer_free(s->writer);
    ald__encoder_free(s->encoder);
    ald__packer_free(s->packer);
    ald_buffer_clear(&s->plain);
    ald_buffer_clear(&s->stored);
    ald_buffer_clear(&s->spare);
    memset(s, 0, sizeof *s);
}

static ald_status append_plain(void *ctx, const void *data, size_t size, ald_error *err)
{
    ald__chunk_slot *s = ctx;
    return ald__buffer_append(&s->plain, data, size, err);
}

static ald_status need_encoder(ald__chunk_slot *s, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(&s->stored);
    return s->encoder != NULL
               ? ALD_OK
               : ald__encoder_new(s->compression, s->alloc, 0, &sink, &s->encoder, err);
}

/* One frame, appended to the stored bytes. */
static ald_status add_frame(ald__chunk_slot *s, const ald__tuning *tuning, const uint8_t *data,
                            size_t size, ald_error *err)
{
    ALD_TRY(need_encoder(s, err));
    return ald__tuned_frame(s->encoder, tuning, data, size, &s->spare, &s->stored, err);
}

/* Where the record batch's body begins in the plain bytes, and its columns in the body. */
static ald_status find_columns(ald__chunk_slot *s, ald_error *err)
{
    const ald__ipc_rules rules = {.strict = 1};
    ald__cursor c = {s->plain.data, s->plain.size, 0, 0};
    ald__ipc_message m;
    uint64_t rows;
    do {
        ALD_TRY(ald__ipc_read_message(&c, &rules, &m, err));
    } while (m.type == ALD__IPC_DICTIONARY);
    s->body = s->plain.size - (size_t)m.body_size;
    return ald__ipc_read_spans(s->schema, &m, &rules, s->spans, &rows, err);
}

static void end_frame(ald__chunk_slot *s, uint64_t end, size_t next_column)
{
    s->frames[s->frame_count++].end = end;
    s->frames[s->frame_count].column = (uint32_t)next_column;
}

/* A frame ends once it has 64 KiB, and before a column of 64 KiB or more. */
static void cut_frames(ald__chunk_slot *s)
{
    size_t columns = columns_of(s);
    uint64_t begin = 0, size = s->plain.size - s->body;
    s->frame_count = 0;
    s->frames[0].column = 0;
    for (size_t i = 0; i < columns; i++) {
        const ald__ipc_span *p = &s->spans[i];
        if (p->begin == p->end)
            continue;
        if (p->begin > begin &&
            (p->begin - begin >= ALD__FRAME_BYTES || p->end - p->begin >= ALD__FRAME_BYTES)) {
            end_frame(s, p->begin, i);
            begin = p->begin;
        }
    }
    if (size > begin)
        end_frame(s, size, columns);
}

static size_t frame_begin(const ald__chunk_slot *s, size_t index)
{
    return s->body + (index == 0 ? 0 : (size_t)s->frames[index - 1].end);
}

static size_t frame_end(const ald__chunk_slot *s, size_t index)
{
    return s->body + (size_t)s->frames[index].end;
}

/* Number `index` of the directory, the head being the first. */
static ald_status write_frame(ald__chunk_slot *s, size_t index, ald_error *err)
{
    size_t begin = index == 0 ? 0 : frame_begin(s, index - 1), before = s->stored.size;
    size_t end = index == 0 ? s->body : frame_end(s, index - 1);
    const ald__tuning *t = NULL;
    uint8_t *entry;
    if (index > 0 && s->tunings != NULL)
        t = &s->tunings[s->frames[index - 1].column];
    ALD_TRY(add_frame(s, t, s->plain.data + begin, end - begin, err));
    entry = s->stored.data + DIRECTORY_HEAD + index * ENTRY;
    ald__store_le32(entry, (uint32_t)(s->stored.size - before));
    ald__store_le32(entry + 4, (uint32_t)(end - begin));
    return ALD_OK;
}

static ald_status write_frames(ald__chunk_slot *s, ald_error *err)
{
    static const uint8_t magic[4] = {0x5A, 0x2A, 0x4D, 0x18};
    size_t directory = DIRECTORY_HEAD + (s->frame_count + 1) * ENTRY;
    uint8_t *p;
    ALD_TRY(ald__buffer_append_zeros(&s->stored, directory, err));
    for (size_t i = 0; i <= s->frame_count; i++)
        ALD_TRY(write_frame(s, i, err));
    p = s->stored.data;
    memcpy(p, magic, sizeof magic);
    ald__store_le32(p + 4, (uint32_t)(directory - 8));
    memcpy(p + 8, "ALDC", 4);
    ald__store_le32(p + 12, (uint32_t)(s->frame_count + 1));
    return ALD_OK;
}

/* The record batch's nodes, from what was written; then filters and frames. */
static ald_status pack_chunk(ald__chunk_slot *s, ald_error *err)
{
    const ald__ipc_rules rules = {.strict = 1};
    ald__cursor c = {s->plain.data, s->plain.size, 0, 0};
    ald__packed_at at = {s->k, ALD_NO_OFFSET, NULL, err};
    ald__packed_plan plan;
    ald__ipc_message m;
    size_t head;
    ald_status st;
    if (s->plain.size > ALD__PACKED_CHUNK_BYTES)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a chunk of %zu bytes, packed ones hold at most 134217728\nuse fewer rows "
                         "a chunk (--chunk-rows), or zstd-l3 or lz4 (compression ids 1 and 3)",
                         s->plain.size);
    if (s->packer == NULL)
        ALD_TRY(ald__packer_new(s->compression, s->effort, s->alloc, &s->packer, err));
    do {
        ALD_TRY(ald__ipc_read_message(&c, &rules, &m, err));
    } while (m.type == ALD__IPC_DICTIONARY);
    head = s->plain.size - (size_t)m.body_size;
    st = ald__packed_plan_read(s->alloc, s->schema, &m, &at, &plan);
    if (st == ALD_OK)
        st = ald__packer_chunk(s->packer, &plan.layout, s->plain.data, head, s->plain.data + head,
                               &s->stored, err);
    ald__packed_plan_clear(&plan);
    return st;
}

static ald_status compress_chunk(ald__chunk_slot *s, ald_error *err)
{
    s->stored.size = 0;
    if (s->compression == ALD_COMPRESSION_NONE)
        return ALD_OK;
    if (ald__compression_is_packed(s->compression))
        return pack_chunk(s, err);
    return s->column_frames ? write_frames(s, err)
                            : add_frame(s, NULL, s->plain.data, s->plain.size, err);
}

static ald_status protect_chunk(ald__chunk_slot *s, ald_error *err)
{
    ald_buffer *b = s->compression == ALD_COMPRESSION_NONE ? &s->plain : &s->stored;
    if (s->keys != NULL) {
        ald__piece piece = {ALD__PIECE_CHUNK, s->k, s->row_offset, s->rows, s->uncompressed};
        ALD_TRY(ald__buffer_reserve(b, ALD_GCM_TAG_BYTES, err));
        ALD_TRY(ald__piece_seal(s->keys, s->host, &piece, b->data, b->size, b->data, err));
        b->size += ALD_GCM_TAG_BYTES;
    }
    return s->hashes ? ald__seal_piece_hash(s->host, b->data, b->size, s->hash, err) : ALD_OK;
}

ald_status ald__chunk_slot_prepare(ald__chunk_slot *s, ald_error *err)
{
    ald__emit emit = {append_plain, s};
    if (s->chunk.length >= (int64_t)UINT32_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a chunk of %lld rows",
                         (long long)s->chunk.length);
    s->rows = (uint32_t)s->chunk.length;
    s->plain.size = 0;
    ALD_TRY(ald__ipc_write_batch(s->writer, &s->chunk, &emit, err));
    if (s->plain.size >= UINT32_MAX - ALD_GCM_TAG_BYTES)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a chunk of %zu bytes, chunks stay below 4 GiB\nuse fewer rows a chunk "
                         "(--chunk-rows)",
                         s->plain.size);
    s->uncompressed = (uint32_t)s->plain.size;
    if (s->column_frames && !ald__compression_is_packed(s->compression)) {
        ALD_TRY(find_columns(s, err));
        cut_frames(s);
    }
    s->prepared = 1;
    return ALD_OK;
}

int ald__chunk_slot_tunable(const ald__chunk_slot *s)
{
    return s->column_frames && s->compression == ALD_COMPRESSION_ZSTD_L3;
}

ald_status ald__chunk_slot_try(const ald__chunk_slot *s, ald__chunk_slot *worker, size_t first,
                               size_t step, ald__tuning *tunings, ald_error *err)
{
    ald_status (*choose)(ald__encoder *, const uint8_t *, size_t, ald_buffer *, ald__tuning *,
                         ald_error *) =
        s->effort == ALD_EFFORT_BEST ? ald__tuning_choose_reading : ald__tuning_choose;
    ALD_TRY(need_encoder(worker, err));
    for (size_t i = first; i < s->frame_count; i += step)
        ALD_TRY(choose(worker->encoder, s->plain.data + frame_begin(s, i),
                       frame_end(s, i) - frame_begin(s, i), &worker->spare,
                       &tunings[s->frames[i].column], err));
    return ALD_OK;
}

static ald_status encode(ald__chunk_slot *s, ald_error *err)
{
    if (!s->prepared)
        ALD_TRY(ald__chunk_slot_prepare(s, err));
    s->prepared = 0;
    ALD_TRY(compress_chunk(s, err));
    if (s->stored.size >= UINT32_MAX - ALD_GCM_TAG_BYTES)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a stored chunk of %zu bytes",
                         s->stored.size);
    return protect_chunk(s, err);
}

void ald__chunk_slot_run(ald__chunk_slot *s)
{
    s->status = encode(s, &s->error);
    s->chunk.release(&s->chunk);
}

const ald_buffer *ald__chunk_slot_bytes(const ald__chunk_slot *s)
{
    return s->compression == ALD_COMPRESSION_NONE ? &s->plain : &s->stored;
}
