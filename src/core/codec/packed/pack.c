/* SPDX-License-Identifier: MIT */
/* Chunks: each node's values without gaps, a filter for them, frames of whole columns, the directory in front. */
#include "core/codec/packed/pack.h"

#include <string.h>

#include "core/base/endian.h"

#define FRAME_BYTES (64u << 10) /* of buffers: a frame is closed once its columns have so many */
#define DIRECTORY_HEAD 16u
#define ENTRY 8u
#define WIDE 16u
#define PLANES_PART 8u
#define PLANES_VALUES_MIN 512u

/* Every growing buffer, to be cleared and to be given the allocator. */
static void each_buffer(ald__pack *p, void (*visit)(ald__pack *, ald_buffer *))
{
    ald_buffer *all[] = {&p->frame.bytes,    &p->frame.ends,  &p->best.bytes,
                         &p->best.ends,      &p->trial.bytes, &p->trial.ends,
                         &p->probe.bytes,    &p->probe.ends,  &p->table,
                         &p->entries,        &p->dense,       &p->sample,
                         &p->sample_offsets, &p->numbers,     &p->more,
                         &p->probed,         &p->indices,     &p->hash,
                         &p->words,          &p->templates,   &p->template_offsets,
                         &p->slot_values,    &p->marks,       &p->walked,
                         &p->squeezed,       &p->bodies};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        visit(p, all[i]);
}

static void set_allocator(ald__pack *p, ald_buffer *b)
{
    b->alloc = &p->alloc;
}

static void clear_buffer(ald__pack *p, ald_buffer *b)
{
    (void)p;
    ald_buffer_clear(b);
}

ald_status ald__packer_new(uint8_t compression, uint8_t effort, const ald_allocator *alloc,
                           ald__packer **out, ald_error *err)
{
    ald__pack *p = ald__alloc_zero(alloc, sizeof *p, err);
    ald_status st;
    *out = NULL;
    if (p == NULL)
        return ALD_E_NOMEM;
    p->alloc = *alloc;
    p->compression = compression;
    p->effort = effort;
    if (compression == ALD__PACKED_LZ4 && effort == ALD__PACK_DEFAULT)
        p->effort = ALD__PACK_FAST; /* who chooses LZ4 wants to read fast */
    each_buffer(p, set_allocator);
    st = ald__squeezer_new(compression, &p->alloc, &p->squeezer, err);
    if (st != ALD_OK)
        ald__packer_free(p);
    else
        *out = p;
    return st;
}

void ald__packer_free(ald__packer *p)
{
    ald_allocator alloc;
    if (p == NULL)
        return;
    each_buffer(p, clear_buffer);
    ald__squeezer_free(p->squeezer);
    alloc = p->alloc;
    ald__release(&alloc, p, sizeof *p);
}

void ald__packer_force(ald__packer *p, int filter, int mode)
{
    p->forced = (uint8_t)(filter + 1);
    p->forced_mode = (uint8_t)(mode + 1);
}

void *ald__pack_room(ald__pack *p, ald_buffer *buffer, size_t size)
{
    buffer->size = 0;
    if (ald__buffer_reserve(buffer, size + 1, p->err) == ALD_OK)
        return buffer->data;
    p->failed = 1;
    return NULL;
}

/* ---- Values without gaps */

typedef struct node_pack {
    ald__pack *p;
    const ald__packed_layout *layout;
    const ald__packed_node *node;
    const uint8_t *body, *validity; /* validity NULL: every slot has a value */
    size_t n, valid;
} node_pack;

static const uint8_t *buffer_bytes(const node_pack *k, uint32_t index)
{
    return k->body + ald__packed_buffer(k->layout, k->node, index)->begin;
}

static int is_valid(const node_pack *k, size_t i)
{
    return k->validity == NULL || ((k->validity[i / 8] >> (i % 8)) & 1) != 0;
}

static int slot_is_zero(const uint8_t *p, size_t size)
{
    uint8_t found = 0;
    for (size_t i = 0; i < size; i++)
        found |= p[i];
    return found == 0;
}

/* Values of `width` bytes in a row, or NULL: no memory, or a slot without a value that is not zero. */
static const uint8_t *dense_values(const node_pack *k, size_t width)
{
    const uint8_t *from = buffer_bytes(k, 0);
    uint8_t *to;
    size_t count = 0;
    if (k->valid == k->n)
        return from;
    to = ald__pack_room(k->p, &k->p->dense, (k->valid + 1) * width);
    for (size_t i = 0; to != NULL && i < k->n; i++, from += width) {
        if (!is_valid(k, i)) {
            if (!slot_is_zero(from, width))
                return NULL;
        } else if (width == 8) {
            memcpy(to + count++ * 8, from, 8);
        } else if (width == 4) {
            memcpy(to + count++ * 4, from, 4);
        } else {
            memcpy(to + count++ * width, from, width);
        }
    }
    return to;
}

/* The low halves of 16-byte values whose high halves are their signs; NULL: others. */
static const uint8_t *narrowed(const node_pack *k)
{
    const uint8_t *from = buffer_bytes(k, 0);
    uint8_t *to = ald__pack_room(k->p, &k->p->dense, k->valid * 8);
    size_t count = 0;
    for (size_t i = 0; to != NULL && i < k->n; i++, from += WIDE) {
        int64_t low = (int64_t)ald__load_le64(from);
        if (ald__load_le64(from + 8) != (uint64_t)(low >> 63) || (!is_valid(k, i) && low != 0))
            return NULL;
        if (is_valid(k, i))
            memcpy(to + count++ * 8, from, 8);
    }
    return to;
}

static uint64_t packed_offset(const uint8_t *offsets, uint32_t width, size_t i)
{
    return width == 4 ? ald__load_le32(offsets + i * 4) : ald__load_le64(offsets + i * 8);
}

/* Offsets of slots with a value, in 32 bits; NULL: no memory, or a slot without one that is not empty. `last`: what the last
 * must be. */
static const uint32_t *dense_offsets(const node_pack *k, uint64_t last)
{
    const uint8_t *from = buffer_bytes(k, 0);
    uint32_t w = k->node->width;
    uint64_t before = 0;
    size_t count = 0;
    uint32_t *to = ald__pack_room(k->p, &k->p->dense, (k->valid + 1) * sizeof *to);
    if (to == NULL || packed_offset(from, w, 0) != 0 || packed_offset(from, w, k->n) != last ||
        last > UINT32_MAX)
        return NULL;
    to[count++] = 0;
    for (size_t i = 0; i < k->n; i++) {
        uint64_t end = packed_offset(from, w, i + 1);
        if (end < before || (!is_valid(k, i) && end != before))
            return NULL;
        if (is_valid(k, i))
            to[count++] = (uint32_t)end;
        before = end;
    }
    return to;
}

/* ---- Filters by class */

static ald_status pack_raw(const node_pack *k, ald__packed_entry *entry)
{
    entry->filter = ALD__FILTER_RAW;
    ald__streams_reset(&k->p->best);
    for (uint32_t i = k->node->has_validity ? 1 : 0; i < k->node->place_count; i++) {
        const ald__packed_place *place = &k->layout->places[k->node->first_place + i];
        ALD_TRY(ald__streams_put(&k->p->best, k->body + place->begin, (size_t)place->size, 1,
                                 k->p->err));
    }
    return ALD_OK;
}

static ald_status put_byte_planes(ald__pack *p, const uint8_t *values, size_t n, size_t w,
                                  ald__streams *out)
{
    uint8_t *planes = ald__streams_room(out, n * w, p->err);
    if (planes == NULL)
        return ALD_E_NOMEM;
    ald__bytes_split(values, n, w, planes);
    for (size_t j = 0; j < w; j++)
        ALD_TRY(ald__streams_end(out, n, 0, p->err));
    return ALD_OK;
}

/* Whether planes of bytes are smaller than the values as they are: of all, or of a part in the middle. */
static ald_status planes_win(const node_pack *k, const uint8_t *values, int *won)
{
    ald__pack *p = k->p;
    size_t w = k->node->width, n = k->valid, planes_cost, raw_cost;
    if (p->effort != ALD__PACK_BEST && n / PLANES_PART > PLANES_VALUES_MIN)
        n /= PLANES_PART;
    values += (k->valid - n) / 2 * w;
    ald__streams_reset(&p->trial);
    ALD_TRY(put_byte_planes(p, values, n, w, &p->trial));
    ALD_TRY(ald__pack_real_cost(p, &p->trial, &planes_cost));
    ald__streams_reset(&p->trial);
    ALD_TRY(ald__streams_put(&p->trial, values, n * w, 1, p->err));
    ALD_TRY(ald__pack_real_cost(p, &p->trial, &raw_cost));
    *won = p->forced == 0 ? planes_cost < raw_cost : p->forced == ALD__FILTER_PLANES + 1;
    return ALD_OK;
}

/* Planes of bytes, or the buffer as it is, whichever is smaller. */
static ald_status pack_planes(const node_pack *k, const uint8_t *values, ald__packed_entry *entry)
{
    size_t w = k->node->width;
    int won = 0;
    if (w >= 2 && w <= 255)
        ALD_TRY(planes_win(k, values, &won));
    if (!won)
        return pack_raw(k, entry);
    entry->filter = ALD__FILTER_PLANES;
    ald__streams_reset(&k->p->best);
    return put_byte_planes(k->p, values, k->valid, w, &k->p->best);
}

static ald_status pack_fixed(const node_pack *k, ald__packed_entry *entry)
{
    ald__pack *p = k->p;
    uint32_t w = k->node->width, stride = 0;
    const uint8_t *values = w == WIDE && p->forced != ALD__FILTER_PLANES + 1 ? narrowed(k) : NULL;
    ald__numbers v = {values, k->valid, 8, 0};
    if (values == NULL) {
        values = dense_values(k, w);
        v = (ald__numbers){values, k->valid, w, 0};
        if (values == NULL || w == WIDE || (w != 1 && w != 2 && w != 4 && w != 8) ||
            p->forced == ALD__FILTER_PLANES + 1)
            return values == NULL ? pack_raw(k, entry) : pack_planes(k, values, entry);
    }
    if (k->node->list_size > 1 && w <= 2 && k->valid == k->n)
        stride = k->node->list_size;
    ALD_TRY(ald__pack_numbers(p, &v, k->node->type == ALD__PACKED_FLOAT, stride, entry));
    return entry->filter == ALD__FILTER_RAW ? pack_raw(k, entry) : ALD_OK;
}

static ald_status pack_text(const node_pack *k, ald__packed_entry *entry)
{
    const uint32_t *offsets = dense_offsets(k, ald__packed_buffer(k->layout, k->node, 1)->size);
    ald__strings v = {buffer_bytes(k, 1), offsets, k->valid};
    if (offsets == NULL || k->p->forced == ALD__FILTER_RAW + 1)
        return pack_raw(k, entry);
    return ald__pack_strings(k->p, &v, entry);
}

static ald_status pack_list(const node_pack *k, ald__packed_entry *entry)
{
    const uint32_t *offsets = dense_offsets(k, k->node->child_length);
    uint32_t *lengths = ald__pack_room(k->p, &k->p->numbers, k->valid * sizeof *lengths);
    ald__numbers v = {(const uint8_t *)lengths, k->valid, 4, 0};
    if (lengths == NULL)
        return ALD_E_NOMEM;
    if (offsets == NULL || k->p->forced == ALD__FILTER_RAW + 1)
        return pack_raw(k, entry);
    for (size_t i = 0; i < k->valid; i++)
        lengths[i] = offsets[i + 1] - offsets[i];
    ald__streams_reset(&k->p->best);
    entry->filter = ALD__FILTER_LENS;
    return ald__ints_put_best(k->p, &v, ALD__MODES_ALL, &entry->ints, &k->p->best);
}

/* One node: its entry and streams behind those of the frame. */
static ald_status pack_node(ald__pack *p, const ald__packed_layout *layout,
                            const ald__packed_node *node, const uint8_t *body)
{
    const ald__packed_place *validity = &layout->places[node->first_place];
    node_pack k = {p, layout, node, body, NULL, (size_t)node->length, 0};
    ald__packed_entry entry;
    ald_status st;
    memset(&entry, 0, offsetof(ald__packed_entry, slots));
    k.valid = (size_t)ald__packed_valid(layout, node);
    if (node->has_validity && validity->size > 0) {
        ALD_TRY(
            ald__streams_put(&p->frame, body + validity->begin, (size_t)validity->size, 0, p->err));
        if (k.valid < k.n)
            k.validity = body + validity->begin;
    }
    if (node->type == ALD__PACKED_FIXED || node->type == ALD__PACKED_FLOAT)
        st = pack_fixed(&k, &entry);
    else if (node->type == ALD__PACKED_TEXT)
        st = pack_text(&k, &entry);
    else
        st = node->type == ALD__PACKED_LIST ? pack_list(&k, &entry) : pack_raw(&k, &entry);
    if (st == ALD_OK && p->failed)
        st = ald__no_memory(p->err, 0);
    if (st != ALD_OK)
        return st;
    ALD_TRY(ald__packed_entry_write(&entry, &p->entries, p->err));
    if (p->frame.bytes.size > 0)
        return ald__streams_append(&p->frame, &p->best, p->err);
    ald__streams_swap(&p->frame, &p->best); /* the first of a frame, mostly all of it */
    return ALD_OK;
}

/* ---- Frames */

typedef struct chunk_pack {
    ald__pack *p;
    const ald__packed_layout *layout;
    const uint8_t *body;
    ald_buffer *out;  /* the directory's entries are appended first, for the head and every body */
    uint32_t frames;  /* bodies closed */
    uint32_t columns; /* of the frame at hand */
    uint64_t frame_begin; /* of its buffers in the body */
} chunk_pack;

/* Stored and inflated size of one frame, kept behind each other until the directory is written. */
static ald_status note_frame(ald_buffer *sizes, size_t stored, size_t inflated, ald_error *err)
{
    uint8_t e[ENTRY];
    ald__store_le32(e, (uint32_t)stored);
    ald__store_le32(e + 4, (uint32_t)inflated);
    return ald__buffer_append(sizes, e, sizeof e, err);
}

static ald_status close_frame(chunk_pack *c, ald_buffer *sizes)
{
    ald__pack *p = c->p;
    uint8_t count[2];
    size_t before = p->bodies.size;
    if (c->columns == 0)
        return ALD_OK;
    ald__store_le16(count, (uint16_t)c->columns);
    ALD_TRY(ald__buffer_append(&p->table, count, sizeof count, p->err));
    ALD_TRY(ald__buffer_append(&p->table, p->entries.data, p->entries.size, p->err));
    ALD_TRY(ald__squeezer_frame(p->squeezer, &p->frame, &p->bodies, p->err));
    ALD_TRY(note_frame(sizes, p->bodies.size - before, p->frame.bytes.size, p->err));
    ald__streams_reset(&p->frame);
    p->entries.size = 0;
    c->columns = 0;
    c->frames++;
    return ALD_OK;
}

/* Bytes of the buffers of the column at `node`, and where the next column's nodes begin. */
static uint64_t column_bytes(const ald__packed_layout *l, uint32_t node, uint32_t *next)
{
    uint64_t bytes = 0;
    do {
        for (uint32_t i = 0; i < l->nodes[node].place_count; i++)
            bytes += l->places[l->nodes[node].first_place + i].size;
        node++;
    } while (node < l->node_count && !l->nodes[node].top);
    *next = node;
    return bytes;
}

static ald_status pack_columns(chunk_pack *c, ald_buffer *sizes)
{
    const ald__packed_layout *l = c->layout;
    uint64_t held = 0;
    for (uint32_t node = 0; node < l->node_count;) {
        uint32_t next;
        uint64_t bytes = column_bytes(l, node, &next);
        if (held >= FRAME_BYTES || bytes >= FRAME_BYTES || c->columns == UINT16_MAX) {
            ALD_TRY(close_frame(c, sizes));
            held = 0;
        }
        for (; node < next; node++)
            ALD_TRY(pack_node(c->p, l, &l->nodes[node], c->body));
        c->columns++;
        held += bytes;
    }
    return close_frame(c, sizes);
}

/* u32 t ‖ table ‖ messages. */
static ald_status pack_head(ald__pack *p, const uint8_t *head, size_t head_size, ald_buffer *out,
                            size_t *inflated)
{
    uint8_t size[4];
    ald__store_le32(size, (uint32_t)p->table.size);
    ald__streams_reset(&p->frame);
    ALD_TRY(ald__streams_put(&p->frame, size, sizeof size, 1, p->err));
    ALD_TRY(ald__streams_put(&p->frame, p->table.data, p->table.size, 1, p->err));
    ALD_TRY(ald__streams_put(&p->frame, head, head_size, 1, p->err));
    *inflated = p->frame.bytes.size;
    return ald__squeezer_frame(p->squeezer, &p->frame, out, p->err);
}

static ald_status write_chunk(ald__pack *p, const ald_buffer *sizes, const uint8_t *head,
                              size_t head_size, ald_buffer *out)
{
    static const uint8_t magic[4] = {0x5A, 0x2A, 0x4D, 0x18};
    size_t base = out->size, directory = DIRECTORY_HEAD + ENTRY + sizes->size, inflated;
    uint8_t *d;
    ALD_TRY(ald__buffer_append_zeros(out, directory, p->err));
    ALD_TRY(pack_head(p, head, head_size, out, &inflated));
    d = out->data + base;
    memcpy(d, magic, sizeof magic);
    ald__store_le32(d + 4, (uint32_t)(directory - 8));
    memcpy(d + 8, "ALDP", 4);
    ald__store_le32(d + 12, (uint32_t)(sizes->size / ENTRY + 1));
    ald__store_le32(d + DIRECTORY_HEAD, (uint32_t)(out->size - base - directory));
    ald__store_le32(d + DIRECTORY_HEAD + 4, (uint32_t)inflated);
    if (sizes->size > 0)
        memcpy(d + DIRECTORY_HEAD + ENTRY, sizes->data, sizes->size);
    return ald__buffer_append(out, p->bodies.data, p->bodies.size, p->err);
}

ald_status ald__packer_chunk(ald__packer *p, const ald__packed_layout *layout, const uint8_t *head,
                             size_t head_size, const uint8_t *body, ald_buffer *out, ald_error *err)
{
    chunk_pack c = {.p = p, .layout = layout, .body = body, .out = out};
    ald_buffer sizes = {NULL, 0, 0, &p->alloc};
    ald_error local;
    ald_status st;
    p->err = err != NULL ? err : &local;
    p->failed = 0;
    ald__streams_reset(&p->frame);
    p->entries.size = p->table.size = p->bodies.size = 0;
    st = pack_columns(&c, &sizes);
    if (st == ALD_OK)
        st = write_chunk(p, &sizes, head, head_size, out);
    ald_buffer_clear(&sizes);
    return st;
}
