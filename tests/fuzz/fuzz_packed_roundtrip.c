/* SPDX-License-Identifier: MIT */
/* A column made of the input's bytes, packed with the filter that the input names (or as chosen): the same bits come back.
 *
 *     u8 filter, u8 mode, u8 kind, u8 how many slots have no value, then values or strings */
#include "core/base/endian.h"
#include "core/codec/packed/packed.h"
#include "fuzz/fuzz_host.h"

#define HEAD 4u
#define SIZE_MAX_INPUT (1u << 16)

typedef struct column {
    ald__packed_node node;
    ald__packed_place places[3];
    ald__packed_layout layout;
    uint8_t *body;
} column;

static uint8_t *add_place(column *c, uint64_t size)
{
    ald__packed_place *p = &c->places[c->layout.place_count++];
    p->begin = c->layout.body_size;
    p->size = size;
    c->layout.body_size = (p->begin + size + 7) & ~(uint64_t)7;
    c->node.place_count++;
    return c->body + p->begin;
}

static int has_value(const column *c, size_t i)
{
    return c->places[0].size == 0 || ((c->body[i / 8] >> (i % 8)) & 1) != 0;
}

static void add_validity(column *c, size_t n, uint8_t nulls)
{
    uint8_t *bits;
    c->node.length = n;
    bits = add_place(c, nulls > 0 ? (n + 7) / 8 : 0);
    for (size_t i = 0; nulls > 0 && i < n; i++) {
        if ((i * 131 + i / 7) % 256 >= nulls)
            bits[i / 8] = (uint8_t)(bits[i / 8] | (1u << (i % 8)));
        else
            c->node.null_count++;
    }
}

static void make_fixed(column *c, const uint8_t *data, size_t size, uint8_t nulls)
{
    size_t w = c->node.width, n = size / w;
    uint8_t *values;
    add_validity(c, n, nulls);
    values = add_place(c, n * w);
    for (size_t i = 0; i < n; i++) {
        if (has_value(c, i))
            memcpy(values + i * w, data + i * w, w);
    }
}

/* Strings end with a byte that divides by 16. */
static void make_text(column *c, const uint8_t *data, size_t size, uint8_t nulls)
{
    size_t n = 0, used = 0, begin = 0;
    uint8_t *offsets, *text = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        n += data[i] % 16 == 0;
    add_validity(c, n, nulls);
    offsets = add_place(c, (n + 1) * c->node.width);
    for (size_t i = 0, k = 0; k < n; i++) {
        uint64_t end;
        if (data[i] % 16 != 0)
            continue;
        if (has_value(c, k)) {
            memcpy(text + used, data + begin, i - begin);
            used += i - begin;
        }
        begin = i + 1;
        end = used;
        memcpy(offsets + ++k * c->node.width, &end, c->node.width);
    }
    memcpy(add_place(c, used), text, used);
    free(text);
}

static ald_status rebuild(const column *c, const ald_buffer *stored, const ald_allocator *alloc,
                          uint8_t compression, uint8_t *body, ald_error *err)
{
    ald__packed_at at = {0, 0, NULL, err};
    ald__packed_directory directory;
    ald__packed_frames frames = {.layout = &c->layout, .directory = &directory};
    ald__packed_frame frame;
    ald__unpacker *unpacker = NULL;
    const uint8_t *bytes, *head;
    uint8_t *table = NULL;
    size_t size;
    ald_status st = ald__packed_directory_size(&at, stored->data, 16, stored->size, &size);
    FUZZ_CHECK(st == ALD_OK);
    st = ald__packed_directory_read(&at, stored->data, size, stored->size, c->layout.body_size,
                                    &directory);
    FUZZ_CHECK(st == ALD_OK);
    st = ald__unpacker_new(compression, alloc, &unpacker, err);
    FUZZ_CHECK(st == ALD_OK);
    bytes = stored->data + size;
    st = ald__unpacker_inflate(unpacker, &at, bytes, ald__packed_stored_size(&directory, 0),
                               ald__packed_inflated_size(&directory, 0), &head);
    FUZZ_CHECK(st == ALD_OK);
    frames.table_size = ald__load_le32(head);
    table = malloc(frames.table_size + 1);
    memcpy(table, head + 4, frames.table_size);
    frames.table = table;
    bytes += ald__packed_stored_size(&directory, 0);
    st = ald__packed_frames_next(&frames, &at, &frame);
    if (st == ALD_OK)
        st = ald__packed_frame_rebuild(unpacker, &frames, &frame, &at, bytes,
                                       ald__packed_stored_size(&directory, 1), body);
    free(table);
    ald__unpacker_free(unpacker);
    return st;
}

static void round_trip(const column *c, uint8_t filter, uint8_t mode)
{
    ald_host host = fuzz_host();
    uint8_t compression = mode & 0x10 ? ALD__PACKED_LZ4 : ALD__PACKED_ZSTD;
    ald_buffer stored = {NULL, 0, 0, &host.alloc};
    uint8_t *body = calloc(1, (size_t)c->layout.body_size + 8);
    ald__packer *packer = NULL;
    ald_error err = {0};
    ald_status st = ald__packer_new(compression, (mode >> 5) % 3, &host.alloc, &packer, &err);
    FUZZ_CHECK(st == ALD_OK);
    ald__packer_force(packer, filter % 12 - 1, filter % 12 == 0 ? -1 : mode % 4);
    st = ald__packer_chunk(packer, &c->layout, NULL, 0, c->body, &stored, &err);
    FUZZ_CHECK(st == ALD_OK);
    memset(body, 0xA5, (size_t)c->layout.body_size);
    st = rebuild(c, &stored, &host.alloc, compression, body, &err);
    if (st != ALD_OK)
        fprintf(stderr, "%s\n", err.msg);
    FUZZ_CHECK(st == ALD_OK);
    FUZZ_CHECK(memcmp(body, c->body, (size_t)c->layout.body_size) == 0);
    ald_buffer_clear(&stored);
    ald__packer_free(packer);
    free(body);
    FUZZ_CHECK_EMPTY();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t widths[] = {1, 2, 4, 8, 16, 3, 4, 8, 4, 8};
    column c;
    uint32_t kind;
    if (size < HEAD || size > SIZE_MAX_INPUT)
        return 0;
    kind = data[2] % 10;
    memset(&c, 0, sizeof c);
    c.body = calloc(1, size * 10 + 64);
    c.node.column = "x";
    c.node.type = (uint8_t)(kind < 6   ? ALD__PACKED_FIXED
                            : kind < 8 ? ALD__PACKED_FLOAT
                                       : ALD__PACKED_TEXT);
    c.node.width = widths[kind];
    c.node.list_size = data[1] % 7;
    c.node.has_validity = c.node.top = 1;
    if (kind < 8)
        make_fixed(&c, data + HEAD, size - HEAD, data[3]);
    else
        make_text(&c, data + HEAD, size - HEAD, data[3]);
    c.layout.nodes = &c.node;
    c.layout.places = c.places;
    c.layout.node_count = c.layout.column_count = 1;
    round_trip(&c, data[0], data[1]);
    free(c.body);
    return 0;
}
