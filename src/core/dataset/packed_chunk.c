/* SPDX-License-Identifier: MIT */
/* Order of a packed chunk's checks (F-409): directory, head, messages, buffers, the whole filter table, then frame by frame. */
#include "core/dataset/packed_chunk.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/dataset/packed_layout.h"

typedef struct rebuilding {
    const ald__packed_chunk *chunk;
    const ald__packed_source *source;
    uint8_t *dst;
    size_t dst_size, head_size; /* of the messages without the body */
    ald__packed_at at;
    uint8_t *directory_bytes, *table;
    size_t directory_size, table_size;
    ald__packed_directory directory;
    ald__unpacker *unpacker;
    ald__packed_plan plan;
} rebuilding;

static ald_status fetch(rebuilding *r, uint64_t offset, size_t size, const uint8_t **out)
{
    r->at.offset = r->chunk->offset + offset;
    return r->source->bytes(r->source->ctx, offset, size, out, r->at.err);
}

/* A copy: it is used as long as frames are read. */
static ald_status rebuild_directory(rebuilding *r)
{
    uint64_t stored = r->chunk->stored_size;
    size_t first =
        stored < ALD__PACKED_DIRECTORY_HEAD ? (size_t)stored : ALD__PACKED_DIRECTORY_HEAD;
    const uint8_t *bytes;
    ALD_TRY(fetch(r, 0, first, &bytes));
    ALD_TRY(ald__packed_directory_size(&r->at, bytes, first, stored, &r->directory_size));
    ALD_TRY(fetch(r, 0, r->directory_size, &bytes));
    r->directory_bytes = ald__alloc(r->chunk->alloc, r->directory_size, r->at.err);
    if (r->directory_bytes == NULL)
        return ALD_E_NOMEM;
    memcpy(r->directory_bytes, bytes, r->directory_size);
    return ald__packed_directory_read(&r->at, r->directory_bytes, r->directory_size, stored,
                                      r->dst_size, &r->directory);
}

static ald_status open_unpacker(rebuilding *r)
{
    ald__unpacker **keep = r->chunk->keep;
    if (keep != NULL)
        r->unpacker = *keep;
    if (r->unpacker != NULL)
        return ALD_OK;
    ALD_TRY(ald__unpacker_new(r->chunk->compression, r->chunk->alloc, &r->unpacker, r->at.err));
    if (keep != NULL)
        *keep = r->unpacker;
    return ALD_OK;
}

/* u32 t ‖ filter table[t] ‖ messages up to the record batch's body, which go to their place. */
static ald_status rebuild_head(rebuilding *r)
{
    uint32_t stored = ald__packed_stored_size(&r->directory, 0);
    uint32_t size = ald__packed_inflated_size(&r->directory, 0);
    const uint8_t *bytes, *head;
    ALD_TRY(fetch(r, r->directory_size, stored, &bytes));
    ALD_TRY(open_unpacker(r));
    ALD_TRY(ald__unpacker_inflate(r->unpacker, &r->at, bytes, stored, size, &head));
    if (size < 4 || ald__load_le32(head) > size - 4)
        return ald__packed_bad(&r->at, "too few for its filter table: inflated bytes of the head",
                               size);
    r->table_size = ald__load_le32(head);
    r->head_size = size - 4 - r->table_size;
    if (r->head_size > r->dst_size)
        return ald__packed_bad(&r->at, "more than the chunk has: bytes of messages", r->head_size);
    r->table = ald__alloc(r->chunk->alloc, r->table_size, r->at.err);
    if (r->table == NULL)
        return ALD_E_NOMEM;
    memcpy(r->table, head + 4, r->table_size);
    memcpy(r->dst, head + 4 + r->table_size, r->head_size);
    return ALD_OK;
}

/* The record batch is the last message, and its body what is left. */
static ald_status read_plan(rebuilding *r)
{
    const ald__ipc_rules rules = {.strict = 1};
    ald__cursor c = {r->dst, r->head_size, 0, r->at.offset};
    ald__ipc_message m;
    for (;;) {
        size_t before = c.pos;
        ALD_TRY(ald__ipc_read_head(&c, &rules, &m, r->at.err));
        if (m.type == ALD__IPC_BATCH)
            break;
        if (m.type != ALD__IPC_DICTIONARY)
            return ald__packed_bad(&r->at, "neither dictionary nor record batch: a message's type",
                                   (uint64_t)m.type);
        c.pos = before;
        ALD_TRY(ald__ipc_read_message(&c, &rules, &m, r->at.err));
    }
    if (ald__cursor_left(&c) != 0)
        return ald__packed_bad(&r->at, "behind the record batch's metadata: bytes of the head",
                               ald__cursor_left(&c));
    if (m.body_size != r->dst_size - r->head_size)
        return ald__packed_bad(&r->at, "not the rest of the chunk: the record batch's body",
                               m.body_size);
    ALD_TRY(ald__packed_plan_read(r->chunk->alloc, r->chunk->schema, &m, &r->at, &r->plan));
    if (r->plan.rows != r->chunk->rows)
        return ald__packed_bad(&r->at, "not what the index says: rows", r->plan.rows);
    return ALD_OK;
}

static ald__packed_frames begin_frames(const rebuilding *r)
{
    ald__packed_frames f = {.layout = &r->plan.layout,
                            .directory = &r->directory,
                            .table = r->table,
                            .table_size = r->table_size};
    return f;
}

static ald_status check_table(rebuilding *r)
{
    ald__packed_frames frames = begin_frames(r);
    ald__packed_frame frame;
    do {
        ALD_TRY(ald__packed_frames_next(&frames, &r->at, &frame));
    } while (frame.index != 0);
    return ALD_OK;
}

static int frame_is_wanted(const rebuilding *r, const ald__packed_frame *f)
{
    const uint8_t *columns = r->chunk->columns;
    for (uint32_t i = 0; columns != NULL && i < f->column_count; i++) {
        if (columns[f->first_column + i])
            return 1;
    }
    return columns == NULL;
}

static ald_status rebuild_frames(rebuilding *r)
{
    ald__packed_frames frames = begin_frames(r);
    ald__packed_frame frame;
    uint64_t offset = r->directory_size + (uint64_t)ald__packed_stored_size(&r->directory, 0);
    for (;;) {
        const uint8_t *bytes;
        size_t size;
        ALD_TRY(ald__packed_frames_next(&frames, &r->at, &frame));
        if (frame.index == 0)
            return ALD_OK;
        size = ald__packed_stored_size(&r->directory, frame.index);
        if (frame_is_wanted(r, &frame)) {
            ALD_TRY(fetch(r, offset, size, &bytes));
            ALD_TRY(ald__packed_frame_rebuild(r->unpacker, &frames, &frame, &r->at, bytes, size,
                                              r->dst + r->head_size));
        }
        offset += size;
    }
}

/* ---- Measuring */

typedef void measure_visit(void *ctx, const ald__packed_measure *node);

static ald_status measure_frame(rebuilding *r, const ald__packed_frames *frames,
                                const ald__packed_frame *frame, measure_visit *visit, void *ctx)
{
    const ald__packed_layout *l = frames->layout;
    size_t pos = frame->table_begin;
    ald__packed_measure m = {0};
    m.frame_stored = ald__packed_stored_size(&r->directory, frame->index);
    m.frame_inflated = ald__packed_inflated_size(&r->directory, frame->index);
    m.column = frame->first_column;
    for (uint32_t i = frame->first_node; i < frame->first_node + frame->node_count; i++) {
        m.column += i > frame->first_node && l->nodes[i].top ? 1 : 0;
        m.plain = 0;
        for (uint32_t k = 0; k < l->nodes[i].place_count; k++)
            m.plain += l->places[l->nodes[i].first_place + k].size;
        ALD_TRY(ald__packed_node_streams(frames, i, &pos, &r->at, &m.filter, &m.inflated));
        visit(ctx, &m);
    }
    return ALD_OK;
}

static ald_status measure_all(rebuilding *r, measure_visit *visit, void *ctx)
{
    ald__packed_frames frames;
    ald__packed_frame frame;
    ALD_TRY(rebuild_directory(r));
    ALD_TRY(rebuild_head(r));
    ALD_TRY(read_plan(r));
    frames = begin_frames(r);
    for (;;) {
        ALD_TRY(ald__packed_frames_next(&frames, &r->at, &frame));
        if (frame.index == 0)
            return ALD_OK;
        ALD_TRY(measure_frame(r, &frames, &frame, visit, ctx));
    }
}

/* ---- The whole */

static void rebuilding_clear(rebuilding *r)
{
    ald__packed_plan_clear(&r->plan);
    if (r->chunk->keep == NULL)
        ald__unpacker_free(r->unpacker);
    ald__release(r->chunk->alloc, r->table, r->table_size);
    ald__release(r->chunk->alloc, r->directory_bytes, r->directory_size);
}

static ald_status rebuild_all(rebuilding *r)
{
    ALD_TRY(rebuild_directory(r));
    ALD_TRY(rebuild_head(r));
    ALD_TRY(read_plan(r));
    ALD_TRY(check_table(r));
    return rebuild_frames(r);
}

ald_status ald__packed_chunk_rebuild(const ald__packed_chunk *chunk,
                                     const ald__packed_source *source, uint8_t *dst,
                                     size_t dst_size, ald_error *err)
{
    rebuilding r;
    ald_status st;
    memset(&r, 0, sizeof r);
    r.chunk = chunk;
    r.source = source;
    r.dst = dst;
    r.dst_size = dst_size;
    r.at.chunk = chunk->number;
    r.at.err = err;
    st = rebuild_all(&r);
    rebuilding_clear(&r);
    return st;
}

static ald_status memory_bytes(void *ctx, uint64_t offset, size_t size, const uint8_t **out,
                               ald_error *err)
{
    const uint8_t *const *stored = ctx;
    (void)size;
    (void)err;
    *out = *stored + offset;
    return ALD_OK;
}

ald_status ald__packed_chunk_decode(const ald__packed_chunk *chunk, const uint8_t *stored,
                                    uint8_t *dst, size_t dst_size, ald_error *err)
{
    ald__packed_source source = {memory_bytes, &stored};
    return ald__packed_chunk_rebuild(chunk, &source, dst, dst_size, err);
}

ald_status ald__packed_chunk_measure(const ald__packed_chunk *chunk, const uint8_t *stored,
                                     size_t rebuilt_size, measure_visit *visit, void *ctx,
                                     ald_error *err)
{
    ald__packed_source source = {memory_bytes, &stored};
    rebuilding r;
    ald_status st;
    memset(&r, 0, sizeof r);
    r.chunk = chunk;
    r.source = &source;
    r.dst_size = rebuilt_size;
    r.at.chunk = chunk->number;
    r.at.err = err;
    r.dst = ald__alloc(chunk->alloc, rebuilt_size, err);
    st = r.dst == NULL ? ALD_E_NOMEM : measure_all(&r, visit, ctx);
    rebuilding_clear(&r);
    ald__release(chunk->alloc, r.dst, rebuilt_size);
    return st;
}
