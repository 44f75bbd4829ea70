/* SPDX-License-Identifier: MIT */
/* What each column takes in a file: from filter tables, from column frames, or in proportion where a chunk is one frame. */
#include <string.h>

#include "ald/streaming.h"
#include "core/arrow/ipc_write.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/dataset/chunk.h"
#include "core/dataset/lazy.h"
#include "core/dataset/loaded.h"
#include "core/dataset/packed_chunk.h"

#define ENTRY 8u

static const char *const packing_names[ALD_PACKING_COUNT] = {
    "RAW", "INTS",   "DICT",    "DECIMAL", "PLANES",  "LENS",
    "STR", "STRFIX", "STRDICT", "STRNUM",  "STRFRONT"};

const char *ald_packing_name(uint32_t packing)
{
    return packing < ALD_PACKING_COUNT ? packing_names[packing] : NULL;
}

typedef struct storage_walk {
    const ald_streaming *s;
    ald_column_storage *out;
    ald__ipc_span *spans;
    uint64_t *most; /* bytes of the node whose filter stands for the column, in the chunk at hand */
    uint8_t *filters;
    ald_error *err;
} storage_walk;

static size_t columns_of(const storage_walk *w)
{
    return (size_t)w->s->info.schema->n_children;
}

/* ---- Packed chunks */

static void add_node(void *ctx, const ald__packed_measure *m)
{
    storage_walk *w = ctx;
    ald_column_storage *c = &w->out[m->column];
    c->plain_bytes += m->plain;
    if (m->frame_inflated > 0)
        c->stored_bytes +=
            (uint64_t)((double)m->inflated / (double)m->frame_inflated * (double)m->frame_stored);
    if (w->filters[m->column] == ALD_PACKING_COUNT || m->plain > w->most[m->column]) {
        w->most[m->column] = m->plain;
        w->filters[m->column] = m->filter;
    }
}

static ald_status add_packed(storage_walk *w, uint64_t index, const ald__stored *stored)
{
    const ald_chunk_entry *e = &w->s->file.chunks[index];
    ald__packed_chunk c = {.alloc = &w->s->host.alloc,
                           .schema = w->s->schema,
                           .compression = w->s->file.header.compression,
                           .number = index,
                           .offset = w->s->file.sections.payload.begin + e->byte_offset,
                           .rows = e->num_rows,
                           .stored_size = stored->size};
    memset(w->filters, ALD_PACKING_COUNT, columns_of(w));
    ALD_TRY(ald__packed_chunk_measure(&c, stored->data, e->uncompressed_size, add_node, w, w->err));
    for (size_t i = 0; i < columns_of(w); i++) {
        if (w->filters[i] < ALD_PACKING_COUNT)
            w->out[i].packing_chunks[w->filters[i]]++;
    }
    return ALD_OK;
}

/* ---- Others */

/* The part of [begin, end) that lies in a frame, at the frame's ratio. */
static uint64_t part_of(const ald__ipc_span *span, uint64_t begin, uint64_t end, uint64_t stored)
{
    uint64_t low = span->begin > begin ? span->begin : begin;
    uint64_t high = span->end < end ? span->end : end;
    if (high <= low)
        return 0;
    return (uint64_t)((double)(high - low) / (double)(end - begin) * (double)stored);
}

static void add_frame_parts(storage_walk *w, uint64_t begin, uint64_t end, uint64_t stored)
{
    for (size_t i = 0; i < columns_of(w); i++)
        w->out[i].stored_bytes += part_of(&w->spans[i], begin, end, stored);
}

/* Spans count from the body, as the directory's bodies do; without a directory the head's part is the head's. */
static ald_status add_spans(storage_walk *w, const ald__stored *stored, size_t plain, uint64_t body)
{
    ald__frame_directory d;
    uint64_t begin = 0;
    ALD_TRY(ald__frame_directory_read(w->s->file.header.compression, stored->data, stored->size,
                                      plain, 0, &d, w->err));
    for (size_t i = 0; i < columns_of(w); i++)
        w->out[i].plain_bytes += w->spans[i].end - w->spans[i].begin;
    if (d.count == 0) {
        add_frame_parts(w, 0, body,
                        (uint64_t)((double)stored->size * (double)body / (double)plain));
        return ALD_OK;
    }
    for (uint32_t i = 1; i < d.count; i++) {
        uint64_t size = ald__load_le32(d.entries + (size_t)i * ENTRY + 4);
        add_frame_parts(w, begin, begin + size, ald__load_le32(d.entries + (size_t)i * ENTRY));
        begin += size;
    }
    return ALD_OK;
}

/* Of a chunk's messages up to the record batch's body. */
static ald_status find_spans(storage_walk *w, const uint8_t *plain, size_t size, uint64_t *body)
{
    ald__cursor c = {plain, size, 0, 0};
    ald__ipc_message m;
    uint64_t rows;
    for (;;) {
        size_t before = c.pos;
        ALD_TRY(ald__ipc_read_head(&c, &ald__payload_rules, &m, w->err));
        if (m.type != ALD__IPC_DICTIONARY)
            break;
        c.pos = before;
        ALD_TRY(ald__ipc_read_message(&c, &ald__payload_rules, &m, w->err));
    }
    *body = m.body_size;
    return ald__ipc_read_spans(w->s->schema, &m, &ald__payload_rules, w->spans, &rows, w->err);
}

/* Where there are column frames the head says all; else the chunk is one frame. */
static ald_status add_plain(storage_walk *w, uint64_t index, const ald__stored *stored)
{
    const ald__file *f = &w->s->file;
    const ald_chunk_entry *e = &f->chunks[index];
    uint64_t at = f->sections.payload.begin + e->byte_offset, body;
    size_t size = e->uncompressed_size;
    ald__frame_directory d;
    ald__inflaters inflaters;
    uint8_t *plain;
    ald_status st;
    ALD_TRY(ald__frame_directory_read(f->header.compression, stored->data, stored->size, size, at,
                                      &d, w->err));
    if (d.count > 0)
        size = (size_t)ald__frame_end(&d, 0);
    plain = ald__alloc(&f->alloc, size + 1, w->err);
    if (plain == NULL)
        return ALD_E_NOMEM;
    ald__inflaters_take(w->s->inflaters, &inflaters);
    if (d.count > 0)
        st = ald__inflate(&inflaters, f->header.compression, &f->alloc, stored->data + d.size,
                          ald__load_le32(d.entries), plain, size, at + d.size, w->err);
    else
        st = ald__chunk_decode(f, w->s->schema, index, NULL, stored->data, stored->size, plain,
                               size, at, &inflaters, w->err);
    ald__inflaters_give(w->s->inflaters, &inflaters, st);
    if (st == ALD_OK)
        st = find_spans(w, plain, size, &body);
    if (st == ALD_OK)
        st = add_spans(w, stored, e->uncompressed_size, body);
    ald__release(&f->alloc, plain, size + 1);
    return st;
}

/* ---- All chunks */

static ald_status add_chunk(storage_walk *w, uint64_t index)
{
    const ald__file *f = &w->s->file;
    ald__stored stored;
    ald_status st;
    ALD_TRY(ald__piece_read(w->s, index + 1, &stored, w->err));
    if (ald__compression_is_packed(f->header.compression))
        st = add_packed(w, index, &stored);
    else if (ald__codec_bound(f->header.compression, stored.data, stored.size) <
             f->chunks[index].uncompressed_size)
        st = ald__fail(w->err, ALD_E_INVALID_FORMAT,
                       f->sections.payload.begin + f->chunks[index].byte_offset,
                       "the frames cannot hold %u bytes", f->chunks[index].uncompressed_size);
    else
        st = add_plain(w, index, &stored);
    ald__stored_clear(w->s, &stored);
    return st;
}

ald_status ald_streaming_column_storage(const ald_streaming *streaming, ald_column_storage *out,
                                        ald_error *err)
{
    storage_walk w = {streaming, out, NULL, NULL, NULL, err};
    const ald_allocator *alloc = &streaming->host.alloc;
    size_t n = columns_of(&w);
    ald_status st = ALD_OK;
    memset(out, 0, n * sizeof *out);
    w.spans = ald__alloc_zero(alloc, n * sizeof *w.spans, err);
    w.most = ald__alloc_zero(alloc, n * sizeof *w.most, err);
    w.filters = ald__alloc_zero(alloc, n, err);
    if (w.spans == NULL || w.most == NULL || w.filters == NULL)
        st = ALD_E_NOMEM;
    for (uint64_t i = 0; st == ALD_OK && i < streaming->file.chunk_count; i++)
        st = add_chunk(&w, i);
    ald__release(alloc, w.spans, n * sizeof *w.spans);
    ald__release(alloc, w.most, n * sizeof *w.most);
    ald__release(alloc, w.filters, n);
    return st;
}

/* ---- Files of one piece */

static ald_status drop_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    (void)ctx;
    (void)data;
    (void)size;
    (void)err;
    return ALD_OK;
}

/* A column written as a stream of its own, to nowhere. */
typedef struct column_writer {
    struct ArrowSchema schema; /* the file's, with this column as its only child */
    ald__ipc_writer *writer;
} column_writer;

static ald_status open_writers(const ald_dataset *d, column_writer *writers, ald_error *err)
{
    static const ald__ipc_write_options options = {8, ALD__DICTIONARY_STREAM, NULL};
    const ald__emit emit = {drop_bytes, NULL};
    for (int64_t i = 0; i < d->info.schema->n_children; i++) {
        column_writer *w = &writers[i];
        w->schema = *d->info.schema;
        w->schema.children += i;
        w->schema.n_children = 1;
        ALD_TRY(ald__ipc_writer_new(&d->host.alloc, &w->schema, &options, &w->writer, err));
        ALD_TRY(ald__ipc_write_schema(w->writer, &emit, err));
    }
    return ALD_OK;
}

static ald_status write_columns(const ald_dataset *d, column_writer *writers, ald_error *err)
{
    const ald__emit emit = {drop_bytes, NULL};
    ald_status st = ALD_OK;
    for (size_t i = 0; st == ALD_OK && i < d->batches.count; i++) {
        struct ArrowArray whole;
        ALD_TRY(ald_dataset_batch(d, i, &whole, err));
        for (int64_t k = 0; st == ALD_OK && k < whole.n_children; k++) {
            struct ArrowArray one = whole;
            one.children += k;
            one.n_children = 1;
            st = ald__ipc_write_batch(writers[k].writer, &one, &emit, err);
        }
        whole.release(&whole);
    }
    return st;
}

/* What record batches of the column alone would take; dictionaries are not counted. */
static uint64_t bytes_written(const ald__ipc_writer *writer)
{
    size_t count;
    uint64_t bytes = 0;
    const ald__ipc_block *blocks = ald__ipc_writer_blocks(writer, &count);
    for (size_t i = 0; i < count; i++)
        bytes += blocks[i].is_dictionary ? 0 : blocks[i].body_size;
    return bytes;
}

ald_status ald_dataset_column_storage(const ald_dataset *dataset, ald_column_storage *out,
                                      ald_error *err)
{
    const ald_allocator *alloc = &dataset->host.alloc;
    size_t n = (size_t)dataset->info.schema->n_children;
    column_writer *writers = ald__alloc_zero(alloc, n * sizeof *writers, err);
    double all = 0;
    ald_status st = writers != NULL ? open_writers(dataset, writers, err) : ALD_E_NOMEM;
    memset(out, 0, n * sizeof *out);
    if (st == ALD_OK)
        st = write_columns(dataset, writers, err);
    for (size_t i = 0; st == ALD_OK && i < n; i++) {
        out[i].plain_bytes = bytes_written(writers[i].writer);
        all += (double)out[i].plain_bytes;
    }
    for (size_t i = 0; st == ALD_OK && i < n && all > 0; i++)
        out[i].stored_bytes =
            (uint64_t)((double)dataset->info.payload_size * ((double)out[i].plain_bytes / all));
    for (size_t i = 0; writers != NULL && i < n; i++)
        ald__ipc_writer_free(writers[i].writer);
    ald__release(alloc, writers, n * sizeof *writers);
    return st;
}
