/* SPDX-License-Identifier: MIT */
/* CRC32 and the codecs: exact sizes, several frames, skippable ones, every truncation and flip. */
#include "core/codec/codec.h"

#include "ald/schema.h"
#include "check_alloc.h"

static const uint8_t codec_ids[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                    ALD_COMPRESSION_ZSTD_L19, ALD_COMPRESSION_LZ4};

/* Vectors of the format's text, and zlib's well-known one. */
static void test_crc32_vectors(void)
{
    uint8_t all[256], zeros[32] = {0};
    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    CHECK_UINT(ald__crc32(0, "123456789", 9), 0xCBF43926u);
    CHECK_UINT(ald__crc32(0, "!", 1), 0x9E6BFFD3u);
    CHECK_UINT(ald__crc32_crate(0, "!", 1), 0x9E69FFD3u);
    CHECK_UINT(ald__crc32(0, " ", 1), 0xE96CCF45u);
    CHECK_UINT(ald__crc32_crate(0, " ", 1), 0xE96ECF45u);
    CHECK_UINT(ald__crc32_crate(0, "123456789", 9), 0xCBF43926u);
    CHECK_UINT(ald__crc32(0, all, 256), 0x29058C73u);
    CHECK_UINT(ald__crc32_crate(0, all, 256), 0x3EA48892u);
    CHECK_UINT(ald__crc32(0, zeros, 32), 0x190A55ADu);
    CHECK_UINT(ald__crc32_crate(0, zeros, 32), 0x63CA06CDu);
}

static void fill(uint8_t *p, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (uint8_t)((seed >> 24) & 0x1f);
    }
}

static void test_crc32_combine(void)
{
    static uint8_t data[5000];
    fill(data, sizeof data, 1);
    uint32_t whole = ald__crc32(0, data, sizeof data);
    for (size_t cut = 0; cut <= sizeof data; cut += 71) {
        uint32_t a = ald__crc32(0, data, cut), b = ald__crc32(0, data + cut, sizeof data - cut);
        CHECK_UINT(ald__crc32_combine(a, b, sizeof data - cut), whole);
        CHECK_UINT(ald__crc32(a, data + cut, sizeof data - cut), whole);
        CHECK_UINT(ald__crc32_crate(ald__crc32_crate(0, data, cut), data + cut, sizeof data - cut),
                   ald__crc32_crate(0, data, sizeof data));
    }
}

static ald_buffer encoded(uint8_t id, const ald_allocator *alloc, const uint8_t *data, size_t size)
{
    ald_buffer out = {NULL, 0, 0, alloc};
    ald_error err;
    CHECK_OK(ald__codec_encode(id, alloc, data, size, &out, &err), &err);
    return out;
}

static void test_round_trip(void)
{
    static uint8_t data[300000], back[300001];
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    fill(data, sizeof data, 7);
    for (size_t c = 0; c < sizeof codec_ids; c++) {
        for (size_t size = 0; size <= sizeof data; size = size * 5 + 1) {
            ald_buffer b = encoded(codec_ids[c], &alloc, data, size);
            CHECK(ald__codec_bound(codec_ids[c], b.data, b.size) >= size);
            CHECK_OK(ald__codec_decode(codec_ids[c], &alloc, b.data, b.size, back, size, 0, &err),
                     &err);
            CHECK_MEM(back, data, size);
            CHECK_INT(
                ald__codec_decode(codec_ids[c], &alloc, b.data, b.size, back, size + 1, 0, &err),
                ALD_E_INVALID_FORMAT);
            if (size > 0)
                CHECK_INT(ald__codec_decode(codec_ids[c], &alloc, b.data, b.size, back, size - 1, 0,
                                            &err),
                          ALD_E_INVALID_FORMAT);
            ald_buffer_clear(&b);
        }
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_pieces_make_one_frame(void)
{
    static uint8_t data[100000], back[100000];
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    fill(data, sizeof data, 3);
    for (size_t c = 0; c < sizeof codec_ids; c++) {
        ald_buffer out = {NULL, 0, 0, &alloc};
        ald_sink sink = ald_buffer_sink(&out);
        ald__encoder *e = NULL;
        REQUIRE_OK(ald__encoder_new(codec_ids[c], &alloc, sizeof data, &sink, &e, &err), &err);
        for (size_t at = 0; at < sizeof data; at += 1000)
            CHECK_OK(ald__encoder_write(e, data + at, 1000, &err), &err);
        CHECK_OK(ald__encoder_finish(e, &err), &err);
        ald__encoder_free(e);
        CHECK_OK(
            ald__codec_decode(codec_ids[c], &alloc, out.data, out.size, back, sizeof back, 0, &err),
            &err);
        CHECK_MEM(back, data, sizeof data);
        ald_buffer_clear(&out);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void append(ald_buffer *to, const uint8_t *data, size_t size)
{
    ald_sink sink = ald_buffer_sink(to);
    ald_error err;
    CHECK_OK(sink.write(sink.ctx, data, size, &err), &err);
}

static void test_frames_in_a_row(void)
{
    static const uint8_t skippable[12] = {0x53, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 'n', 'o', 't', 'e'};
    uint8_t back[64];
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    for (size_t c = 1; c < sizeof codec_ids; c++) {
        uint8_t id = codec_ids[c];
        ald_buffer one = encoded(id, &alloc, (const uint8_t *)"first ", 6);
        ald_buffer two = encoded(id, &alloc, (const uint8_t *)"second", 6);
        ald_buffer all = {NULL, 0, 0, &alloc};
        append(&all, skippable, sizeof skippable);
        append(&all, one.data, one.size);
        append(&all, skippable, sizeof skippable);
        append(&all, two.data, two.size);
        append(&all, skippable, sizeof skippable);
        CHECK_OK(ald__codec_decode(id, &alloc, all.data, all.size, back, 12, 0, &err), &err);
        CHECK_MEM(back, "first second", 12);
        append(&all, (const uint8_t *)"x", 1);
        CHECK_INT(ald__codec_decode(id, &alloc, all.data, all.size, back, 12, 0, &err),
                  ALD_E_INVALID_FORMAT);
        CHECK_INT(ald__codec_decode(id, &alloc, skippable, sizeof skippable, back, 0, 0, &err),
                  ALD_E_INVALID_FORMAT);
        CHECK_INT(ald__codec_decode(id, &alloc, skippable, 11, back, 0, 0, &err),
                  ALD_E_INVALID_FORMAT);
        CHECK_INT(ald__codec_decode(id, &alloc, skippable, 0, back, 0, 0, &err),
                  ALD_E_INVALID_FORMAT);
        ald_buffer_clear(&one);
        ald_buffer_clear(&two);
        ald_buffer_clear(&all);
    }
    CHECK_HEAP_EMPTY(&heap);
}

/* The content checksum makes every change an error. */
static void test_damage(void)
{
    uint8_t data[400], back[400];
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    fill(data, sizeof data, 5);
    for (size_t c = 1; c < sizeof codec_ids; c++) {
        ald_buffer b = encoded(codec_ids[c], &alloc, data, sizeof data);
        for (size_t n = 0; n < b.size; n++)
            CHECK(ald__codec_decode(codec_ids[c], &alloc, b.data, n, back, sizeof back, 0, &err) !=
                  ALD_OK);
        for (size_t bit = 0; bit < b.size * 8; bit++) {
            b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            ald_status st =
                ald__codec_decode(codec_ids[c], &alloc, b.data, b.size, back, sizeof back, 0, &err);
            if (st == ALD_OK) /* a bit that says nothing: the bytes are still right */
                CHECK_MEM(back, data, sizeof data);
            b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        ald_buffer_clear(&b);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_checksum_has_its_own_error(void)
{
    uint8_t data[400], back[400];
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    fill(data, sizeof data, 5);
    for (size_t c = 1; c < sizeof codec_ids; c++) {
        ald_buffer b = encoded(codec_ids[c], &alloc, data, sizeof data);
        b.data[b.size - 1] ^= 1;
        CHECK_INT(
            ald__codec_decode(codec_ids[c], &alloc, b.data, b.size, back, sizeof back, 0, &err),
            ALD_E_CHECKSUM_MISMATCH);
        ald_buffer_clear(&b);
    }
}

/* A frame header with a window of 256 MiB (windowLog 28), no content size. */
static void test_window_limit(void)
{
    static const uint8_t frame[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, (28 - 10) << 3, 0x01, 0x00, 0x00};
    uint8_t back[1];
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    CHECK_INT(
        ald__codec_decode(ALD_COMPRESSION_ZSTD_L3, &alloc, frame, sizeof frame, back, 0, 0, &err),
        ALD_E_LIMIT_EXCEEDED);
}

static void test_no_memory(void)
{
    uint8_t data[400], back[400];
    fill(data, sizeof data, 5);
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald_buffer out = {NULL, 0, 0, &alloc};
        ald_error err;
        ald_status st =
            ald__codec_encode(ALD_COMPRESSION_ZSTD_L3, &alloc, data, sizeof data, &out, &err);
        if (st == ALD_OK)
            st = ald__codec_decode(ALD_COMPRESSION_ZSTD_L3, &alloc, out.data, out.size, back,
                                   sizeof back, 0, &err);
        ald_buffer_clear(&out);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        CHECK_INT(st, ALD_E_NOMEM);
    }
}

int main(void)
{
    RUN(test_crc32_vectors);
    RUN(test_crc32_combine);
    RUN(test_round_trip);
    RUN(test_pieces_make_one_frame);
    RUN(test_frames_in_a_row);
    RUN(test_damage);
    RUN(test_checksum_has_its_own_error);
    RUN(test_window_limit);
    RUN(test_no_memory);
    return check_done();
}
