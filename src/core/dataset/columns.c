/* SPDX-License-Identifier: MIT */
/* Some columns of a chunk: its directory, its head, and the frames that hold what is wanted; nothing else is read, save
 * where the chunk is signed or encrypted as one piece: then only inflating is spared. Of the body, there is memory from the
 * first frame that is wanted to the last. */
#include <string.h>

#include "core/arrow/array_layout.h"
#include "core/arrow/gather.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/dataset/chunk.h"
#include "core/dataset/lazy.h"
#include "core/dataset/packed_chunk.h"
#include "core/dataset/whole.h"

#define DIRECTORY_HEAD 16u
#define ENTRY 8u

typedef struct column_read {
    const ald_streaming *s;
    const ald_chunk_entry *entry;
    const uint8_t *columns;
    uint64_t stored_size; /* of the chunk, without its tag */
    ald__stored piece;    /* the whole chunk, checked and opened; or nothing */
    ald__stored start;    /* the directory's bytes */
    ald__frame_directory directory;
    ald__shared *head;
    ald__shared *plain; /* of the body, or of the whole chunk where it is packed */
    ald__ipc_dictionaries *dictionaries;
    ald__ipc_message message;
    ald__ipc_span *spans;
    ald__inflaters inflaters;
    ald_error *err;
} column_read;

static size_t column_count(const column_read *r)
{
    return (size_t)r->s->info.schema->n_children;
}

static uint64_t file_offset(const column_read *r)
{
    return r->s->file.sections.payload.begin + r->entry->byte_offset;
}

/* Bytes [begin, end) of the stored chunk. */
static ald_status read_part(const column_read *r, uint64_t begin, uint64_t end, ald__stored *out)
{
    uint64_t at = r->entry->byte_offset;
    if (r->piece.data == NULL)
        return ald__stored_read(r->s, at + begin, at + end, out, r->err);
    memset(out, 0, sizeof *out);
    out->data = r->piece.data + begin;
    out->size = (size_t)(end - begin);
    return ALD_OK;
}

/* The directory, read in two steps since only its start tells its size. *has = 0: the chunk has none. */
static ald_status read_directory(column_read *r, int *has)
{
    const ald_chunk_entry *e = r->entry;
    uint8_t id = r->s->file.header.compression;
    uint64_t size = r->stored_size < DIRECTORY_HEAD ? r->stored_size : DIRECTORY_HEAD;
    *has = 0;
    ALD_TRY(read_part(r, 0, size, &r->start));
    size = ald__frame_directory_size(id, r->start.data, r->start.size);
    ald__stored_clear(r->s, &r->start);
    if (size == 0)
        return ALD_OK;
    if (size > r->stored_size)
        size = r->stored_size;
    ALD_TRY(read_part(r, 0, size, &r->start));
    ALD_TRY(ald__frame_directory_check(r->start.data, r->start.size, r->stored_size,
                                       e->uncompressed_size, file_offset(r), &r->directory,
                                       r->err));
    *has = 1;
    return ALD_OK;
}

/* Frame `index`, which begins at `stored` in the chunk. */
static ald_status inflate_frame(column_read *r, uint32_t index, uint64_t stored, uint8_t *dst)
{
    const uint8_t *entry = r->directory.entries + (size_t)index * ENTRY;
    uint32_t size = ald__load_le32(entry + 4);
    ald__stored frame;
    ald_status st;
    ALD_TRY(read_part(r, stored, stored + ald__load_le32(entry), &frame));
    if (ald__codec_bound(r->s->file.header.compression, frame.data, frame.size) < size)
        st = ald__fail(r->err, ALD_E_INVALID_FORMAT, file_offset(r) + stored,
                       "frame %u cannot hold %u bytes", index, size);
    else
        st = ald__inflate(&r->inflaters, r->s->file.header.compression, &r->s->host.alloc,
                          frame.data, frame.size, dst, size, file_offset(r) + stored, r->err);
    ald__stored_clear(r->s, &frame);
    return st;
}

/* A body frame is wanted when a wanted column lies in it. */
static int is_wanted(const column_read *r, uint64_t begin, uint64_t end)
{
    for (size_t i = 0; i < column_count(r); i++) {
        if (r->columns[i] && r->spans[i].begin < r->spans[i].end && r->spans[i].begin >= begin &&
            r->spans[i].begin < end)
            return 1;
    }
    return 0;
}

/* The first frame's begin and the last one's end; nothing is wanted: 0 and 0. */
static void find_wanted(const column_read *r, uint64_t *first, uint64_t *last)
{
    uint64_t begin = 0;
    *first = *last = 0;
    for (uint32_t i = 1; i < r->directory.count; i++) {
        uint64_t end = begin + ald__load_le32(r->directory.entries + (size_t)i * ENTRY + 4);
        if (is_wanted(r, begin, end)) {
            *first = *last == 0 ? begin : *first;
            *last = end;
        }
        begin = end;
    }
}

static ald_status inflate_wanted(column_read *r)
{
    uint64_t stored = r->directory.size + ald__load_le32(r->directory.entries), begin = 0;
    for (uint32_t i = 1; i < r->directory.count; i++) {
        const uint8_t *entry = r->directory.entries + (size_t)i * ENTRY;
        uint64_t end = begin + ald__load_le32(entry + 4);
        if (is_wanted(r, begin, end))
            ALD_TRY(inflate_frame(r, i, stored,
                                  ald__shared_data(r->plain) + (begin - r->message.body_begin)));
        stored += ald__load_le32(entry);
        begin = end;
    }
    return ALD_OK;
}

static ald_status read_head(column_read *r, const ald__ipc_rules *rules)
{
    uint64_t size =
        ald__frame_end(&r->directory, 0); /* at most the chunk's: the directory's sums fit */
    ald__cursor bytes;
    ALD_TRY(ald__shared_alloc(&r->s->host.alloc, (size_t)size, &r->head, r->err));
    ALD_TRY(inflate_frame(r, 0, r->directory.size, ald__shared_data(r->head)));
    bytes = (ald__cursor){ald__shared_data(r->head), (size_t)size, 0, 0};
    ALD_TRY(ald__chunk_parse_head(r->s->schema, &bytes, rules, r->head, r->dictionaries,
                                  &r->message, r->entry->uncompressed_size, r->err));
    return ald__chunk_check_borders(r->s->schema, &r->directory, &r->message, size, file_offset(r),
                                    r->spans, r->err);
}

static ald_status read_columns(column_read *r, struct ArrowArray *out)
{
    ald__ipc_rules rules = ald__payload_rules;
    ald__ipc_message *m = &r->message;
    rules.allow_delta = 0;
    rules.once = 1;
    ALD_TRY(read_head(r, &rules));
    find_wanted(r, &m->body_begin, &m->body_end);
    ALD_TRY(ald__block_pool_take(r->s->pool, &r->s->host.alloc,
                                 (size_t)(m->body_end - m->body_begin), &r->plain, r->err));
    m->body = ald__shared_data(r->plain);
    ALD_TRY(inflate_wanted(r));
    ALD_TRY(ald__ipc_read_batch(r->dictionaries, m, &rules, r->plain, r->columns, out, r->err));
    return ald__chunk_check_rows(r->entry, out, file_offset(r), r->err);
}

/* ---- packed chunks */

static ald_status packed_bytes(void *ctx, uint64_t offset, size_t size, const uint8_t **out,
                               ald_error *err)
{
    column_read *r = ctx;
    (void)err;
    ald__stored_clear(r->s, &r->start);
    ALD_TRY(read_part(r, offset, offset + size, &r->start));
    *out = r->start.data;
    return ALD_OK;
}

/* A packed chunk is rebuilt in memory for all of it. Where a small part of that is wanted, it moves to memory of its own, and
 * the block goes back to the pool for the next chunk. If it cannot, it stays. */
#ifndef ALD_ONE_THREAD
static void leave_block(const column_read *r, struct ArrowArray *array)
{
    static const size_t small_part = 4;
    ald_allocator blocks = ald__block_pool_allocator(r->s->pool);
    ald__run all = {0, array->length, 0};
    const struct ArrowArray *source = array;
    ald__projection p;
    struct ArrowArray own;
    if (array->length == 0 || ald__projection_init(r->s, r->columns, &p, NULL) != ALD_OK)
        return;
    if (ald__layout_memory(&p.schema, array) < r->entry->uncompressed_size / small_part &&
        ald__array_gather(&blocks, &p.schema, &source, 1, &all, 1, ALD__GATHER_OWN, &own, NULL) ==
            ALD_OK) {
        array->release(array);
        *array = own;
    }
    ald__projection_clear(r->s, &p);
}
#else /* a build without a pool */
static void leave_block(const column_read *r, struct ArrowArray *array)
{
    (void)r;
    (void)array;
}
#endif

static ald_status read_packed(column_read *r, struct ArrowArray *out)
{
    const ald_chunk_entry *e = r->entry;
    ald__packed_source source = {packed_bytes, r};
    ald__packed_chunk c = {.alloc = &r->s->host.alloc,
                           .schema = r->s->schema,
                           .compression = r->s->file.header.compression,
                           .number = (uint64_t)(e - r->s->file.chunks),
                           .offset = file_offset(r),
                           .rows = e->num_rows,
                           .stored_size = r->stored_size,
                           .columns = r->columns,
                           .keep = &r->inflaters.unpacker};
    ald__cursor bytes;
    ALD_TRY(ald__block_pool_take(r->s->pool, &r->s->host.alloc, e->uncompressed_size, &r->plain,
                                 r->err));
    ALD_TRY(ald__packed_chunk_rebuild(&c, &source, ald__shared_data(r->plain), e->uncompressed_size,
                                      r->err));
    bytes = (ald__cursor){ald__shared_data(r->plain), e->uncompressed_size, 0, 0};
    ALD_TRY(ald__chunk_parse(&r->s->file, r->s->schema, e, NULL, r->columns, &bytes, r->plain,
                             &r->message, out, r->err));
    leave_block(r, out);
    return ALD_OK;
}

static ald_status read_chunk(column_read *r, int *done, struct ArrowArray *out)
{
    ald_status st;
    if (ald__compression_is_packed(r->s->file.header.compression)) {
        *done = 1;
        return read_packed(r, out);
    }
    ALD_TRY(read_directory(r, done));
    if (!*done)
        return ALD_OK;
    r->spans = ald__alloc(&r->s->host.alloc, column_count(r) * sizeof *r->spans, r->err);
    st = r->spans == NULL
             ? ALD_E_NOMEM
             : ald__ipc_dictionaries_new(&r->s->host.alloc, r->s->schema, &r->dictionaries, r->err);
    return st == ALD_OK ? read_columns(r, out) : st;
}

ald_status ald__columns_read(const ald_streaming *s, uint64_t index, const uint8_t *columns,
                             const ald__stored *piece, int *done, struct ArrowArray *out,
                             ald_error *err)
{
    column_read r;
    ald_status st;
    memset(&r, 0, sizeof r);
    r.s = s;
    r.entry = &s->file.chunks[index];
    r.columns = columns;
    r.stored_size = r.entry->compressed_size - ald__file_tag(&s->file);
    if (piece != NULL)
        r.piece = *piece;
    r.err = err;
    ald__inflaters_take(s->inflaters, &r.inflaters);
    st = read_chunk(&r, done, out);
    ald__inflaters_give(s->inflaters, &r.inflaters, st);
    ald__ipc_dictionaries_free(r.dictionaries);
    ald__shared_unref(r.head);
    ald__shared_unref(r.plain);
    if (r.spans != NULL)
        ald__release(&s->host.alloc, r.spans, column_count(&r) * sizeof *r.spans);
    ald__stored_clear(s, &r.start);
    return st;
}
