/* SPDX-License-Identifier: MIT */
/* Body frames: which columns they hold, inflated one after the other, their nodes rebuilt in the body. */
#include "core/codec/packed/rebuild.h"

#include <string.h>

#include "core/base/endian.h"
#include "core/codec/frame.h"

/* ---- Inflating */

struct ald__unpacker {
    ald_allocator alloc;
    uint8_t compression;
    const ald__decoder_ops *ops;
    void *state;
    uint8_t *bytes; /* of the frame at hand, ALD__TEXT_SLACK more behind */
    size_t capacity;
};

ald_status ald__unpacker_new(uint8_t compression, const ald_allocator *alloc, ald__unpacker **out,
                             ald_error *err)
{
    ald__unpacker *u = ald__alloc_zero(alloc, sizeof *u, err);
    ald_status st;
    *out = NULL;
    if (u == NULL)
        return ALD_E_NOMEM;
    u->alloc = *alloc;
    u->compression = compression;
    u->ops = compression == ALD__PACKED_LZ4 ? &ald__lz4_decoder : &ald__zstd_decoder;
    st = u->ops->open(&u->alloc, &u->state, err);
    if (st != ALD_OK) {
        u->state = NULL;
        ald__unpacker_free(u);
        return st;
    }
    *out = u;
    return ALD_OK;
}

void ald__unpacker_free(ald__unpacker *u)
{
    ald_allocator alloc;
    if (u == NULL)
        return;
    if (u->state != NULL)
        u->ops->free(u->state);
    alloc = u->alloc;
    ald__release(&alloc, u->bytes, u->capacity);
    ald__release(&alloc, u, sizeof *u);
}

size_t ald__unpacker_bytes(const ald__unpacker *u)
{
    return u->capacity;
}

static ald_status unpacker_room(ald__unpacker *u, size_t size, ald_error *err)
{
    size_t room = size + ALD__TEXT_SLACK;
    if (room > u->capacity || u->bytes == NULL) {
        ald__release(&u->alloc, u->bytes, u->capacity);
        u->capacity = room;
        u->bytes = ald__alloc(&u->alloc, room, err);
        if (u->bytes == NULL)
            return ALD_E_NOMEM;
    }
    memset(u->bytes + size, 0, ALD__TEXT_SLACK);
    return ALD_OK;
}

/* One frame of `size` bytes that passed check_single, to dst. */
static ald_status inflate_one(ald__unpacker *u, const ald__packed_at *at, const uint8_t *src,
                              size_t src_size, uint32_t size, uint8_t *dst)
{
    ald__frame_io io = {&u->alloc, src, src_size, dst, size, 0, at->offset, 0};
    size_t pos = 0;
    ALD_TRY(u->ops->frame(u->state, &io, &pos, at->err));
    if (pos != src_size)
        return ald__packed_bad(at, "not all of its bytes: the stored size of a frame", pos);
    if (io.dst_pos != size)
        return ald__packed_bad(at, "not what the directory says: the inflated size of a frame",
                               io.dst_pos);
    return ALD_OK;
}

ald_status ald__unpacker_inflate(ald__unpacker *u, const ald__packed_at *at, const uint8_t *src,
                                 size_t src_size, uint32_t size, const uint8_t **out)
{
    ALD_TRY(u->ops->check_single(src, src_size, size, at->offset, at->err));
    ALD_TRY(unpacker_room(u, size, at->err));
    *out = u->bytes;
    return inflate_one(u, at, src, src_size, size, u->bytes);
}

/* ---- Streams */

const uint8_t *ald__rebuild_bytes(ald__rebuild *r, size_t size, ald_status *status)
{
    const uint8_t *p;
    if (r->tail != NULL && size == r->tail_size && ald__cursor_left(r->in) == 0)
        return r->tail;
    p = ald__cursor_take(r->in, size);
    if (p == NULL)
        *status = ald__packed_bad(r->at, "past its frame: size of a stream", size);
    return p;
}

const uint8_t *ald__rebuild_planes(ald__rebuild *r, size_t n, uint32_t bits, ald_status *status)
{
    const uint8_t *p = ald__rebuild_bytes(r, (size_t)ald__planes_bytes(n, bits), status);
    if (p == NULL || ald__planes_are_clean(p, n, bits))
        return p;
    *status =
        ald__packed_bad(r->at, "with spare bits that are not zero: a plane, of all bits", bits);
    return NULL;
}

void *ald__rebuild_numbers(ald__rebuild *r, size_t n, const ald__packed_ints *ints,
                           ald_status *status)
{
    const uint8_t *planes = ald__rebuild_planes(r, n, ints->bits, status);
    void *numbers = planes != NULL ? ald__alloc(r->alloc, n * ints->width, r->at->err) : NULL;
    if (numbers != NULL)
        ald__ints_restore(ints, planes, n, numbers);
    else if (planes != NULL)
        *status = ALD_E_NOMEM;
    return numbers;
}

/* ---- Nodes */

static ald_status rebuild_raw(ald__rebuild *r, const ald__packed_layout *layout, uint8_t *body)
{
    ald_status st = ALD_OK;
    for (uint32_t i = r->node->has_validity ? 1 : 0; i < r->node->place_count; i++) {
        const ald__packed_place *p = &layout->places[r->node->first_place + i];
        const uint8_t *bytes = ald__rebuild_bytes(r, (size_t)p->size, &st);
        if (bytes == NULL)
            return st;
        if (bytes != body + p->begin && p->size > 0)
            memcpy(body + p->begin, bytes, (size_t)p->size);
    }
    return ALD_OK;
}

static ald_status rebuild_filter(ald__rebuild *r, const ald__packed_layout *layout, uint8_t *body)
{
    static ald_status (*const families[ALD__FILTER_COUNT])(ald__rebuild *) = {
        NULL,
        ald__rebuild_ints,
        ald__rebuild_dict,
        ald__rebuild_decimal,
        ald__rebuild_planes_of_bytes,
        ald__rebuild_lens,
        ald__rebuild_str,
        ald__rebuild_strfix,
        ald__rebuild_strdict,
        ald__rebuild_strnum,
        ald__rebuild_strfront,
    };
    if (r->entry->filter == ALD__FILTER_RAW)
        return rebuild_raw(r, layout, body);
    return families[r->entry->filter](r);
}

/* Ones among the first n bits. */
static uint64_t count_ones(const uint8_t *bits, uint64_t n)
{
    uint64_t ones = 0, at = 0;
    for (; at + 64 <= n; at += 64)
        ones += (uint64_t)__builtin_popcountll(ald__load_le64(bits + at / 8));
    for (; at < n; at++)
        ones += ((uint32_t)bits[at / 8] >> (at % 8)) & 1u;
    return ones;
}

static ald_status rebuild_validity(ald__rebuild *r, const ald__packed_place *place, uint8_t *body)
{
    ald_status st = ALD_OK;
    const uint8_t *bits = ald__rebuild_bytes(r, (size_t)place->size, &st);
    uint64_t ones;
    if (bits == NULL)
        return st;
    ones = count_ones(bits, r->node->length);
    if (ones != r->node->length - r->node->null_count)
        return ald__packed_bad(r->at, "not length less null count: ones in the validity bits",
                               ones);
    memcpy(body + place->begin, bits, (size_t)place->size);
    if (ones < r->node->length)
        r->validity = bits;
    return ALD_OK;
}

/* Zeros between the node's buffers and the next ones. */
static void pad_places(const ald__packed_layout *layout, const ald__packed_node *node,
                       uint8_t *body)
{
    for (uint32_t i = 0; i < node->place_count; i++) {
        const ald__packed_place *p = &layout->places[node->first_place + i];
        uint64_t end = p->begin + p->size;
        memset(body + end, 0, (size_t)(((end + 7) & ~(uint64_t)7) - end));
    }
}

static ald_status rebuild_node(ald__rebuild *r, const ald__packed_layout *layout, uint8_t *body)
{
    const ald__packed_node *node = r->node;
    if (node->has_validity && layout->places[node->first_place].size > 0)
        ALD_TRY(rebuild_validity(r, &layout->places[node->first_place], body));
    if (r->entry->filter != ALD__FILTER_RAW) {
        r->n = (size_t)node->length;
        r->valid = (size_t)ald__packed_valid(layout, node);
        r->values = body + ald__packed_buffer(layout, node, 0)->begin;
        if (node->type == ALD__PACKED_TEXT) {
            r->data = body + ald__packed_buffer(layout, node, 1)->begin;
            r->data_size = (size_t)ald__packed_buffer(layout, node, 1)->size;
        } else {
            r->data_size = (size_t)node->child_length;
        }
    }
    ALD_TRY(rebuild_filter(r, layout, body));
    pad_places(layout, node, body);
    return ALD_OK;
}

/* ---- Frames */

/* A frame at work: its streams but perhaps the last. */
typedef struct frame_work {
    ald__unpacker *u;
    const ald__packed_frames *frames;
    const ald__packed_frame *frame;
    uint8_t *body;
    ald__cursor in;
    const ald__packed_place *tail; /* of the last stream, if that is a buffer as it is */
} frame_work;

/* Whether the node's last stream has the bytes of its last buffer, or is restored in place. */
static int ends_as_it_is(const ald__packed_layout *layout, const ald__packed_node *node,
                         const ald__packed_entry *entry)
{
    return entry->filter == ALD__FILTER_RAW || entry->filter == ALD__FILTER_STR ||
           (entry->filter == ALD__FILTER_INTS && entry->ints.width == 1 && entry->ints.bits == 8 &&
            ald__packed_valid(layout, node) == node->length);
}

/* Where the last stream is text or a raw buffer of its own, most of the frame, the frame is inflated so that it lands in its
 * place: the streams before it then lie in the buffers before it, which are of the same columns and not written yet, and
 * are moved away. */
static ald_status find_tail(frame_work *w, const ald__packed_at *at)
{
    const ald__packed_layout *layout = w->frames->layout;
    const ald__packed_node *first = &layout->nodes[w->frame->first_node];
    const ald__packed_node *last = first + w->frame->node_count - 1;
    const ald__packed_place *place;
    ald__cursor table = {w->frames->table, w->frames->table_size, w->frame->table_begin, 0};
    ald__packed_entry entry;
    if (w->frame->column_count > 1 || last->place_count == 0)
        return ALD_OK;
    for (uint32_t i = 0; i < w->frame->node_count; i++)
        ALD_TRY(ald__packed_entry_read(&table, layout, first + i, at, &entry));
    place = &layout->places[last->first_place + last->place_count - 1];
    if (!ends_as_it_is(layout, last, &entry) || (last->has_validity && last->place_count == 1) ||
        place->size * 2 < w->in.size ||
        w->in.size - place->size > place->begin - layout->places[first->first_place].begin)
        return ALD_OK;
    w->tail = place;
    return ALD_OK;
}

static ald_status inflate_body(frame_work *w, const ald__packed_at *at, const uint8_t *src,
                               size_t src_size)
{
    uint32_t size = (uint32_t)w->in.size;
    size_t before;
    uint8_t *dst;
    if (w->tail == NULL)
        return ald__unpacker_inflate(w->u, at, src, src_size, size, &w->in.data);
    before = size - (size_t)w->tail->size;
    dst = w->body + w->tail->begin - before;
    ALD_TRY(w->u->ops->check_single(src, src_size, size, at->offset, at->err));
    ALD_TRY(unpacker_room(w->u, before, at->err));
    ALD_TRY(inflate_one(w->u, at, src, src_size, size, dst));
    memcpy(w->u->bytes, dst, before);
    w->in.data = w->u->bytes;
    w->in.size = before;
    return ALD_OK;
}

ald_status ald__packed_frame_rebuild(ald__unpacker *u, const ald__packed_frames *frames,
                                     const ald__packed_frame *frame, const ald__packed_at *at,
                                     const uint8_t *src, size_t src_size, uint8_t *body)
{
    frame_work w = {u, frames, frame, body, {NULL, 0, 0, 0}, NULL};
    ald__cursor table = {frames->table, frames->table_size, frame->table_begin, 0};
    ald__packed_at here = *at;
    ald__packed_entry entry;
    w.in.size = ald__packed_inflated_size(frames->directory, frame->index);
    here.column = frames->layout->nodes[frame->first_node].column;
    ALD_TRY(find_tail(&w, &here));
    ALD_TRY(inflate_body(&w, &here, src, src_size));
    for (uint32_t i = 0; i < frame->node_count; i++) {
        const ald__packed_node *node = &frames->layout->nodes[frame->first_node + i];
        ald__rebuild r = {.alloc = &u->alloc,
                          .node = node,
                          .entry = &entry,
                          .at = &here,
                          .in = &w.in,
                          .body_size = frames->layout->body_size};
        if (w.tail != NULL && i + 1 == frame->node_count) {
            r.tail = body + w.tail->begin;
            r.tail_size = (size_t)w.tail->size;
        }
        here.column = node->column;
        ALD_TRY(ald__packed_entry_read(&table, frames->layout, node, &here, &entry));
        ALD_TRY(rebuild_node(&r, frames->layout, body));
    }
    if (ald__cursor_left(&w.in) != 0)
        return ald__packed_bad(&here, "left over: bytes of a frame", ald__cursor_left(&w.in));
    return ALD_OK;
}

/* ---- The table, frame by frame */

static ald_status frames_end(const ald__packed_frames *f, const ald__packed_at *at)
{
    if (f->column != f->layout->column_count || f->node != f->layout->node_count)
        return ald__packed_bad(at, "not the schema's: columns of the filter table", f->column);
    if (f->frame + 1 != f->directory->count)
        return ald__packed_bad(at, "not the directory's: body frames of the filter table",
                               f->frame);
    return ALD_OK;
}

/* Entries of the columns that the frame has, and their streams. */
static ald_status read_entries(ald__packed_frames *f, ald__cursor *table, ald__packed_at *at,
                               ald__packed_frame *out, uint64_t *bytes)
{
    ald__packed_entry entry;
    uint32_t columns = 0;
    for (; f->node < f->layout->node_count; f->node++) {
        const ald__packed_node *node = &f->layout->nodes[f->node];
        if (node->top && columns++ == out->column_count)
            break;
        at->column = node->column;
        ALD_TRY(ald__packed_entry_read(table, f->layout, node, at, &entry));
        *bytes += ald__packed_entry_streams(f->layout, node, &entry);
        out->node_count++;
    }
    at->column = NULL;
    return ALD_OK;
}

ald_status ald__packed_node_streams(const ald__packed_frames *f, uint32_t node, size_t *table_pos,
                                    const ald__packed_at *at, uint8_t *filter, uint64_t *bytes)
{
    ald__cursor table = {f->table, f->table_size, *table_pos, 0};
    ald__packed_entry entry;
    ALD_TRY(ald__packed_entry_read(&table, f->layout, &f->layout->nodes[node], at, &entry));
    *filter = entry.filter;
    *bytes = ald__packed_entry_streams(f->layout, &f->layout->nodes[node], &entry);
    *table_pos = table.pos;
    return ALD_OK;
}

ald_status ald__packed_frames_next(ald__packed_frames *f, const ald__packed_at *at,
                                   ald__packed_frame *out)
{
    ald__cursor table = {f->table, f->table_size, f->table_pos, 0};
    ald__packed_at here = *at;
    const uint8_t *p;
    uint64_t bytes = 0;
    memset(out, 0, sizeof *out);
    here.column = NULL;
    if (ald__cursor_left(&table) == 0)
        return frames_end(f, &here);
    p = ald__cursor_take(&table, 2);
    if (p == NULL)
        return ald__packed_bad(&here, "cut short: size of the filter table", f->table_size);
    out->first_node = f->node;
    out->first_column = f->column;
    out->column_count = ald__load_le16(p);
    out->table_begin = table.pos;
    out->index = ++f->frame;
    if (out->column_count == 0 || out->column_count > f->layout->column_count - f->column)
        return ald__packed_bad(&here, "more than the schema has left, or none: columns of a frame",
                               out->column_count);
    if (out->index >= f->directory->count)
        return ald__packed_bad(&here, "more than the directory has: body frames", out->index);
    ALD_TRY(read_entries(f, &table, &here, out, &bytes));
    f->column += out->column_count;
    f->table_pos = table.pos;
    if (bytes != ald__packed_inflated_size(f->directory, out->index))
        return ald__packed_bad(&here, "not the inflated size of their frame: bytes of all streams",
                               bytes);
    return ALD_OK;
}
