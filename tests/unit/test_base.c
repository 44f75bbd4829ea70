/* SPDX-License-Identifier: MIT */
/* Formatting, errors, buffers, cursor, arena, shared memory. */
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/base/format.h"
#include "core/base/shared.h"

#include "check_alloc.h"

/* Against the C library's own formatting. */
static void test_format_as_printf(void)
{
    char got[128], want[128];
#define SAME(...)                                                                                  \
    do {                                                                                           \
        size_t n = ald__format(got, sizeof got, __VA_ARGS__);                                      \
        CHECK_INT(n, snprintf(want, sizeof want, __VA_ARGS__));                                    \
        CHECK_STR(got, want);                                                                      \
    } while (0)
    SAME("plain %% text");
    SAME("%d %i %u %x", -5, INT32_MIN, UINT32_MAX, 0xbeef);
    SAME("%lld %llu %llx", (long long)INT64_MIN, (unsigned long long)UINT64_MAX, 255ull);
    SAME("%zu %jd %ld %hhu", (size_t)7, (intmax_t)-7, -9L, (unsigned char)200);
    SAME("[%5d] [%-5d] [%05d] [%08x]", 42, 42, -42, 0x1a2b);
    SAME("[%s] [%8s] [%-8s] [%.3s] [%.*s]", "abc", "abc", "abc", "abcdef", 2, "xyz");
    SAME("%c%c", 'o', 'k');
#undef SAME
}

static void test_format_cuts(void)
{
    char got[6];
    CHECK_UINT(ald__format(got, sizeof got, "%s", "0123456789"), 10);
    CHECK_STR(got, "01234");
    CHECK_UINT(ald__format(NULL, 0, "%d", 123), 3);
}

static void test_error_escapes(void)
{
    ald_error err;
    CHECK_INT(ald_error_set(&err, ALD_E_IO, 9, "name '%s'", "a\n\x1b[31m\xff\xc3\xa9"), ALD_E_IO);
    CHECK_STR(err.msg, "name 'a\\x0a\\x1b[31m\\xff\xc3\xa9'");
    CHECK_UINT(err.offset, 9);
    CHECK_INT(err.status, ALD_E_IO);
    CHECK_INT(ald_error_set(NULL, ALD_E_NOMEM, 0, "x"), ALD_E_NOMEM);
}

static void test_error_may_quote_itself(void)
{
    ald_error err;
    (void)ald_error_set(&err, ALD_E_IO, 0, "inner");
    (void)ald_error_set(&err, ALD_E_IO, 0, "outer: %s", err.msg);
    CHECK_STR(err.msg, "outer: inner");
}

static void test_status_names(void)
{
    CHECK_STR(ald_status_name(ALD_E_CHECKSUM_MISMATCH), "ChecksumMismatch");
    CHECK_STR(ald_status_name((ald_status)999), "Unknown");
    CHECK_INT(sizeof(ald_error), 256);
    CHECK_INT(ALD_E_UNSUPPORTED, 14);
}

static void test_endian(void)
{
    uint8_t b[8];
    ald__store_le64(b, 0x0123456789abcdefull);
    CHECK_INT(b[0], 0xef);
    CHECK_UINT(ald__load_le64(b), 0x0123456789abcdefull);
    CHECK_UINT(ald__load_le32(b + 1), 0x6789abcdu);
    CHECK_UINT(ald__load_le16(b), 0xcdef);
    ald__store_be32(b, 0x01020304u);
    CHECK_UINT(ald__load_be32(b), 0x01020304u);
    CHECK_INT(b[0], 1);
}

static void test_checked(void)
{
    uint64_t r;
    size_t s;
    CHECK(ald__add_u64(UINT64_MAX - 1, 1, &r) && r == UINT64_MAX);
    CHECK(!ald__add_u64(UINT64_MAX, 1, &r));
    CHECK(!ald__mul_u64(1ull << 32, 1ull << 32, &r));
    CHECK(!ald__to_size(UINT64_MAX, &s));
}

static void test_buffer_grows(void)
{
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald_buffer b = {NULL, 0, 0, &alloc};
        ald_error err;
        ald_status st = ALD_OK;
        for (int i = 0; st == ALD_OK && i < 1000; i++)
            st = ald__buffer_append(&b, "0123456789", 10, &err);
        if (st == ALD_OK) {
            CHECK_UINT(b.size, 10000);
            CHECK_MEM(b.data + 9990, "0123456789", 10);
        }
        ald_buffer_clear(&b);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        CHECK_INT(st, ALD_E_NOMEM);
    }
}

static void test_buffer_sink(void)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_buffer b = {NULL, 0, 0, &alloc};
    ald_sink sink = ald_buffer_sink(&b);
    ald_error err;
    CHECK_OK(sink.write(sink.ctx, "abcdef", 6, &err), &err);
    CHECK_OK(sink.write_at(sink.ctx, 2, "XY", 2, &err), &err);
    CHECK_MEM(b.data, "abXYef", 6);
    CHECK_INT(sink.write_at(sink.ctx, 5, "ZZ", 2, &err), ALD_E_INVALID_ARG);
    CHECK_INT(sink.write_at(sink.ctx, UINT64_MAX, "Z", 1, &err), ALD_E_INVALID_ARG);
    ald_buffer_clear(&b);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_cursor_stays_inside(void)
{
    uint8_t bytes[4] = {1, 2, 3, 4};
    ald__cursor c = {bytes, 4, 0, 100};
    CHECK(ald__cursor_take(&c, 3) == bytes);
    CHECK(ald__cursor_take(&c, 2) == NULL);
    CHECK(ald__cursor_take(&c, SIZE_MAX) == NULL);
    CHECK_UINT(ald__cursor_offset(&c), 103);
    CHECK(ald__cursor_take(&c, 1) == bytes + 3);
    CHECK(ald__cursor_take(&c, 0) != NULL);
}

static void test_arena(void)
{
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald__arena arena;
        ald_error err;
        int failed = 0;
        ald__arena_init(&arena, &alloc);
        for (size_t size = 0; !failed && size < 3000; size += 97) {
            uint8_t *p = ald__arena_alloc(&arena, size, &err);
            failed = p == NULL;
            if (!failed)
                CHECK(((uintptr_t)p & 15u) == 0 && (size == 0 || (p[0] == 0 && p[size - 1] == 0)));
        }
        CHECK(ald__arena_alloc(&arena, SIZE_MAX / 2, &err) == NULL);
        ald__arena_clear(&arena);
        CHECK_HEAP_EMPTY(&heap);
        if (!failed)
            break;
    }
}

static void test_shared(void)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    ald__shared *s = NULL;
    REQUIRE_OK(ald__shared_alloc(&alloc, 100, &s, &err), &err);
    CHECK(((uintptr_t)ald__shared_data(s) & 63u) == 0);
    memset(ald__shared_data(s), 1, 100);
    CHECK(ald__shared_ref(s) == s);
    ald__shared_unref(s);
    CHECK(heap.live_blocks > 0);
    ald__shared_unref(s);
    CHECK_HEAP_EMPTY(&heap);
    CHECK_INT(ald__shared_alloc(&alloc, SIZE_MAX - 8, &s, &err), ALD_E_NOMEM);
    CHECK(s == NULL);
}

int main(void)
{
    RUN(test_format_as_printf);
    RUN(test_format_cuts);
    RUN(test_error_escapes);
    RUN(test_error_may_quote_itself);
    RUN(test_status_names);
    RUN(test_endian);
    RUN(test_checked);
    RUN(test_buffer_grows);
    RUN(test_buffer_sink);
    RUN(test_cursor_stays_inside);
    RUN(test_arena);
    RUN(test_shared);
    return check_done();
}
