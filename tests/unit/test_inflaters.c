/* SPDX-License-Identifier: MIT */
/* Inflaters are kept and given out again, not after a failure, and not to two at once. */
#include "ald/schema.h"
#include "check_alloc.h"
#include "core/base/buf.h"
#include "core/dataset/inflaters.h"

enum { SIZE = 5000 };

static void encode(uint8_t id, const ald_allocator *alloc, ald_buffer *out)
{
    uint8_t plain[SIZE];
    ald_error err;
    memset(plain, 7, sizeof plain);
    *out = (ald_buffer){NULL, 0, 0, alloc};
    CHECK_OK(ald__codec_encode(id, alloc, plain, SIZE, out, &err), &err);
}

static ald_status inflate_bytes(ald__inflaters *i, uint8_t id, const ald_allocator *alloc,
                                const ald_buffer *frame, ald_error *err)
{
    uint8_t out[SIZE] = {0};
    ald_status st = ald__inflate(i, id, alloc, frame->data, frame->size, out, SIZE, 0, err);
    if (st == ALD_OK)
        CHECK(out[0] == 7 && out[SIZE - 1] == 7);
    return st;
}

static void test_they_are_kept(void)
{
    static const uint8_t ids[] = {ALD_COMPRESSION_ZSTD_L3, ALD_COMPRESSION_LZ4};
    for (size_t k = 0; k < sizeof ids; k++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald__inflater_pool *pool;
        ald__inflaters a, b;
        const ald__decoder *first;
        ald_buffer frame;
        ald_error err;
        encode(ids[k], &alloc, &frame);
        CHECK_OK(ald__inflater_pool_new(&alloc, &pool, &err), &err);
        ald__inflaters_take(pool, &a);
        CHECK(a.decoder == NULL && a.unpacker == NULL);
        CHECK_OK(inflate_bytes(&a, ids[k], &alloc, &frame, &err), &err);
        CHECK_OK(ald__unpacker_new(ALD_COMPRESSION_PACKED, &alloc, &a.unpacker, &err), &err);
        first = a.decoder;
        ald__inflaters_give(pool, &a, ALD_OK);
        CHECK(a.decoder == NULL && a.unpacker == NULL);
        ald__inflaters_take(pool, &a);
        CHECK(a.decoder == first && a.unpacker != NULL);
        ald__inflaters_take(pool, &b); /* the first one is out */
        CHECK(b.decoder == NULL && b.unpacker == NULL);
        CHECK_OK(inflate_bytes(&a, ids[k], &alloc, &frame, &err), &err);
        CHECK_OK(inflate_bytes(&b, ids[k], &alloc, &frame, &err), &err);
        ald__inflaters_give(pool, &b, ALD_OK);
        ald__inflaters_give(pool, &a, ALD_OK);
        ald__inflater_pool_free(pool);
        ald_buffer_clear(&frame);
        CHECK_HEAP_EMPTY(&heap);
    }
}

static void test_not_after_a_failure(void)
{
    static const uint8_t ids[] = {ALD_COMPRESSION_ZSTD_L3, ALD_COMPRESSION_LZ4};
    for (size_t k = 0; k < sizeof ids; k++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald__inflater_pool *pool;
        ald__inflaters a;
        ald_buffer frame;
        ald_error err;
        ald_status st;
        encode(ids[k], &alloc, &frame);
        frame.data[frame.size - 1] ^= 1; /* of the checksum */
        CHECK_OK(ald__inflater_pool_new(&alloc, &pool, &err), &err);
        ald__inflaters_take(pool, &a);
        st = inflate_bytes(&a, ids[k], &alloc, &frame, &err);
        CHECK_INT(st, ALD_E_CHECKSUM_MISMATCH);
        ald__inflaters_give(pool, &a, st);
        ald__inflaters_take(pool, &a);
        CHECK(a.decoder == NULL);
        frame.data[frame.size - 1] ^= 1;
        CHECK_OK(inflate_bytes(&a, ids[k], &alloc, &frame, &err), &err);
        ald__inflaters_give(pool, &a, ALD_OK);
        ald__inflater_pool_free(pool);
        ald__inflater_pool_free(NULL);
        ald_buffer_clear(&frame);
        CHECK_HEAP_EMPTY(&heap);
    }
}

static void test_more_than_there_are_slots(void)
{
    enum { COUNT = 40 };
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald__inflaters all[COUNT];
    ald__inflater_pool *pool;
    ald_buffer frame;
    ald_error err;
    encode(ALD_COMPRESSION_ZSTD_L3, &alloc, &frame);
    CHECK_OK(ald__inflater_pool_new(&alloc, &pool, &err), &err);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            ald__inflaters_take(pool, &all[i]);
            CHECK_OK(inflate_bytes(&all[i], ALD_COMPRESSION_ZSTD_L3, &alloc, &frame, &err), &err);
            for (int other = 0; other < i; other++)
                CHECK(all[other].decoder != all[i].decoder);
        }
        for (int i = 0; i < COUNT; i++)
            ald__inflaters_give(pool, &all[i], ALD_OK);
    }
    ald__inflater_pool_free(pool);
    ald_buffer_clear(&frame);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_they_are_kept);
    RUN(test_not_after_a_failure);
    RUN(test_more_than_there_are_slots);
    return check_done();
}
