/* SPDX-License-Identifier: MIT */
/* One node of a packed chunk: the input says what it is, its entry of the filter table, and its streams, which are cut or
 * filled up with zeros to what the entry asks for, and put into a frame here: else checksums would keep nearly everything
 * out. What is rebuilt must be in order, and no byte may be left as it was.
 *
 *     u8 kind, u16 slots, u16 nulls, u16 bytes of text or child slots, u16 size of the entry, entry, streams */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/codec/packed/packed_table.h"
#include "fuzz/fuzz_host.h"

#define HEAD 9u
#define SLOTS_MAX 3000u
#define STREAMS_MAX (1u << 20)
#define FILL 0xA5u

static const struct kind {
    uint8_t type;
    uint32_t width;
} kinds[] = {{ALD__PACKED_FIXED, 1}, {ALD__PACKED_FIXED, 2},  {ALD__PACKED_FIXED, 4},
             {ALD__PACKED_FIXED, 8}, {ALD__PACKED_FIXED, 16}, {ALD__PACKED_FIXED, 3},
             {ALD__PACKED_FLOAT, 4}, {ALD__PACKED_FLOAT, 8},  {ALD__PACKED_TEXT, 4},
             {ALD__PACKED_TEXT, 8},  {ALD__PACKED_LIST, 4},   {ALD__PACKED_LIST, 8},
             {ALD__PACKED_OTHER, 0}};

typedef struct target {
    ald__packed_node node;
    ald__packed_place places[3];
    ald__packed_layout layout;
} target;

static void add_place(target *t, uint64_t size)
{
    ald__packed_place *p = &t->places[t->layout.place_count++];
    p->begin = t->layout.body_size;
    p->size = size;
    t->layout.body_size = (p->begin + size + 7) & ~(uint64_t)7;
}

static void make_node(target *t, const uint8_t *head)
{
    const struct kind *k = &kinds[head[0] % (sizeof kinds / sizeof *kinds)];
    uint64_t n = ald__load_le16(head + 1) % SLOTS_MAX, extra = ald__load_le16(head + 5);
    memset(t, 0, sizeof *t);
    t->node.column = "x";
    t->node.type = k->type;
    t->node.width = k->width;
    t->node.top = t->node.has_validity = 1;
    t->node.length = n;
    t->node.null_count = ald__load_le16(head + 3) % (n + 1);
    add_place(t, t->node.null_count > 0 ? (n + 7) / 8 : 0);
    if (k->type == ALD__PACKED_TEXT || k->type == ALD__PACKED_LIST)
        add_place(t, (n + 1) * k->width);
    else
        add_place(t, k->type == ALD__PACKED_OTHER ? (n + 7) / 8 : n * k->width);
    if (k->type == ALD__PACKED_TEXT)
        add_place(t, extra);
    t->node.child_length = extra;
    t->node.place_count = t->layout.place_count;
    t->layout.nodes = &t->node;
    t->layout.places = t->places;
    t->layout.node_count = t->layout.column_count = 1;
}

/* Offsets rise from 0 to the last, which ends the text or the child. */
static void check_offsets(const target *t, const uint8_t *body)
{
    const uint8_t *p = body + t->places[1].begin;
    uint64_t before = 0,
             last = t->node.type == ALD__PACKED_TEXT ? t->places[2].size : t->node.child_length;
    for (uint64_t i = 0; i <= t->node.length; i++, p += t->node.width) {
        uint64_t v = t->node.width == 4 ? ald__load_le32(p) : ald__load_le64(p);
        FUZZ_CHECK(i > 0 ? v >= before : v == 0);
        before = v;
    }
    FUZZ_CHECK(before == last);
}

static void check_body(const target *t, uint8_t filter, const uint8_t *body)
{
    for (uint32_t i = 0; i < t->layout.place_count; i++) {
        uint64_t end = t->places[i].begin + t->places[i].size;
        for (; end % 8 != 0; end++)
            FUZZ_CHECK(body[end] == 0);
    }
    FUZZ_CHECK(body[t->layout.body_size] == FILL);
    if (filter != ALD__FILTER_RAW && t->node.type >= ALD__PACKED_TEXT)
        check_offsets(t, body);
}

static ald_status rebuild(const target *t, const uint8_t *table, size_t table_size,
                          const uint8_t *streams, size_t size, const ald_allocator *alloc,
                          uint8_t *body, ald_error *err)
{
    uint8_t entries[16] = {0};
    ald__packed_directory directory = {2, entries, sizeof entries};
    ald__packed_frames frames = {.layout = &t->layout, .directory = &directory};
    ald__packed_at at = {0, 0, NULL, err};
    ald__packed_frame frame;
    ald__unpacker *unpacker = NULL;
    ald_buffer stored = {NULL, 0, 0, alloc};
    ald_status st = ald__codec_encode(ALD_COMPRESSION_ZSTD_L3, alloc, streams, size, &stored, err);
    if (st == ALD_OK)
        st = ald__unpacker_new(ALD__PACKED_ZSTD, alloc, &unpacker, err);
    ald__store_le32(entries + 8, (uint32_t)stored.size);
    ald__store_le32(entries + 12, (uint32_t)size);
    frames.table = table;
    frames.table_size = table_size;
    if (st == ALD_OK)
        st = ald__packed_frames_next(&frames, &at, &frame);
    if (st == ALD_OK && frame.index != 0)
        st = ald__packed_frame_rebuild(unpacker, &frames, &frame, &at, stored.data, stored.size,
                                       body);
    if (st == ALD_OK)
        st = ald__packed_frames_next(&frames, &at, &frame);
    ald__unpacker_free(unpacker);
    ald_buffer_clear(&stored);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald__cursor cursor;
    ald__packed_entry entry;
    ald_error err = {0};
    ald__packed_at at = {0, 0, NULL, &err};
    target t;
    size_t entry_size;
    uint64_t wanted;
    uint8_t *table, *streams, *body;
    ald_status st;
    if (size < HEAD)
        return 0;
    make_node(&t, data);
    entry_size = ald__load_le16(data + 7);
    if (entry_size > size - HEAD)
        entry_size = size - HEAD;
    cursor = (ald__cursor){data + HEAD, entry_size, 0, 0};
    st = ald__packed_entry_read(&cursor, &t.layout, &t.node, &at, &entry);
    fuzz_check_error(st, &err);
    wanted = st == ALD_OK ? ald__packed_entry_streams(&t.layout, &t.node, &entry) : 0;
    if (st != ALD_OK || wanted > STREAMS_MAX)
        return 0;
    table = malloc(entry_size + 2);
    streams = calloc(1, (size_t)wanted + 1);
    body = malloc((size_t)t.layout.body_size + 8);
    memset(body, FILL, (size_t)t.layout.body_size + 8);
    ald__store_le16(table, 1);
    memcpy(table + 2, data + HEAD, entry_size);
    size -= HEAD + entry_size;
    memcpy(streams, data + HEAD + entry_size, size < wanted ? size : (size_t)wanted);
    st = rebuild(&t, table, entry_size + 2, streams, (size_t)wanted, &host.alloc, body, &err);
    fuzz_check_error(st, &err);
    if (st == ALD_OK)
        check_body(&t, entry.filter, body);
    free(table);
    free(streams);
    free(body);
    FUZZ_CHECK_EMPTY();
    return 0;
}
