/* SPDX-License-Identifier: MIT */
/* Scalar columns from text and values, for every type that text is read into. */
#include "check.h"
#include "check_alloc.h"
#include "interchange/text/base64.h"
#include "interchange/text/column.h"

static check_heap heap;
static ald_allocator alloc;

/* Adds the texts ("|" is a null) and gives the array; on a mismatch `out->release` is NULL. */
static ald_status build(const char *format, const char *const *texts, struct ArrowArray *out)
{
    ald__column c;
    ald_error err;
    ald_status st = ald__column_init(&c, format, &alloc, &err);
    out->release = NULL;
    for (; st == ALD_OK && *texts != NULL; texts++)
        st = strcmp(*texts, "|") == 0 ? ald__column_add_null(&c, &err)
                                      : ald__column_add_text(&c, *texts, strlen(*texts), &err);
    if (st == ALD_OK)
        st = ald__column_finish(&c, out, &err);
    ald__column_clear(&c);
    return st;
}

static void values_are(const char *format, const char *const *texts, const void *want, size_t width)
{
    struct ArrowArray a;
    size_t n = 0;
    while (texts[n] != NULL)
        n++;
    REQUIRE_INT(build(format, texts, &a), ALD_OK);
    CHECK_INT(a.length, (int64_t)n);
    CHECK_MEM(a.buffers[1], want, n * width);
    a.release(&a);
}

static void test_fixed_widths(void)
{
    static const char *const small[] = {"-128", "127", "0", NULL}, *const big[] = {"0", "255",
                                                                                   NULL};
    static const char *const floats[] = {"0.1", "nan", "-inf", NULL}, *const days[] = {"1970-01-02",
                                                                                       NULL};
    static const char *const times[] = {"00:00:01.5", NULL}, *const stamps[] = {
                                                                 "1970-01-01T00:00:02Z", NULL};
    static const char *const naive[] = {"1970-01-02", "1970-01-01 00:01", NULL}, *const spans[] = {
                                                                                     "-5", NULL};
    static const int8_t want_small[] = {-128, 127, 0};
    static const uint8_t want_big[] = {0, 255};
    const float want_floats[] = {0.1f, __builtin_nanf(""), -__builtin_inff()};
    static const int32_t want_days[] = {1}, want_millis[] = {1500};
    static const int64_t want_ms[] = {86400000}, want_stamps[] = {2},
                         want_naive[] = {86400000000, 60000000};
    static const int64_t want_spans[] = {-5};
    values_are("c", small, want_small, 1);
    values_are("C", big, want_big, 1);
    values_are("f", floats, want_floats, 4);
    values_are("tdD", days, want_days, 4);
    values_are("tdm", days, want_ms, 8);
    values_are("ttm", times, want_millis, 4);
    values_are("tss:UTC", stamps, want_stamps, 8);
    values_are("tsu:", naive, want_naive, 8);
    values_are("tDm", spans, want_spans, 8);
}

static void test_decimal_widths(void)
{
    static const char *const texts[] = {"-1.5", NULL};
    static const int32_t d32[] = {-150};
    static const int64_t d64[] = {-150}, d256[] = {-150, -1, -1, -1};
    values_are("d:9,2,32", texts, d32, 4);
    values_are("d:18,2,64", texts, d64, 8);
    values_are("d:38,2", texts, d256, 16);
    values_are("d:76,2,256", texts, d256, 32);
}

static void test_mismatches(void)
{
    static const char *const cases[][2] = {{"c", "128"},
                                           {"C", "-1"},
                                           {"C", "256"},
                                           {"l", "1.0"},
                                           {"l", "01"},
                                           {"b", "yes"},
                                           {"g", "abc"},
                                           {"g", "1e999"},
                                           {"f", "1e40"},
                                           {"tdD", "2024-02-30"},
                                           {"tdD", "2024-01-31 10:00"},
                                           {"tsu:", "2024-01-31T10:00Z"},
                                           {"tsu:UTC", "2024-01-31T10:00"},
                                           {"tts", "10:00:00.5"},
                                           {"ttu", "10:00"},
                                           {"d:3,1", "100.5"},
                                           {"d:3,1", "1.55"},
                                           {"n", "x"},
                                           {"z", "a==="},
                                           {"z", "abc"},
                                           {"z", "ab=c"},
                                           {"z", "YR=="},
                                           {"tsn:", "2300-01-01"},
                                           {"tDs", "1.5"},
                                           {"L", "18446744073709551616"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *const texts[] = {cases[i][1], NULL};
        struct ArrowArray a;
        if (!CHECK_INT(build(cases[i][0], texts, &a), ALD_E_SCHEMA_MISMATCH))
            printf("    %s %s\n", cases[i][0], cases[i][1]);
    }
}

static void test_formats(void)
{
    static const char *const refused[] = {
        "e",   "w:16",     "+l", "+s",   "vu",  "tiD", "d:", "d:39,0", "d:77,0,256",
        "d:5", "d:5,2,16", "ts", "tsx:", "tsu", "",    "q",  "d:0,0",  "d:10,2,32"};
    ald_error err;
    ald__column c;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (!CHECK_INT(ald__column_init(&c, refused[i], &alloc, &err), ALD_E_UNSUPPORTED))
            printf("    %s\n", refused[i]);
    }
}

static void test_nulls_and_bits(void)
{
    ald__column c;
    ald_error err;
    struct ArrowArray a;
    const uint8_t *valid, *bits;
    REQUIRE_OK(ald__column_init(&c, "b", &alloc, &err), &err);
    for (int i = 0; i < 1000; i++) {
        if (i >= 20 && i % 7 == 0)
            REQUIRE_OK(ald__column_add_null(&c, &err), &err);
        else
            REQUIRE_OK(ald__column_add_bool(&c, i % 3 == 0, &err), &err);
    }
    REQUIRE_OK(ald__column_finish(&c, &a, &err), &err);
    valid = a.buffers[0];
    bits = a.buffers[1];
    CHECK_INT(a.null_count, 140);
    for (int i = 0; i < 1000; i++) {
        int is_null = i >= 20 && i % 7 == 0;
        CHECK_INT(valid[i / 8] >> (i % 8) & 1, !is_null);
        CHECK_INT(bits[i / 8] >> (i % 8) & 1, !is_null && i % 3 == 0);
    }
    a.release(&a);
    /* Again, without nulls: no bitmap. */
    REQUIRE_OK(ald__column_add_bool(&c, 1, &err), &err);
    REQUIRE_OK(ald__column_finish(&c, &a, &err), &err);
    CHECK(a.buffers[0] == NULL);
    CHECK_INT(a.length, 1);
    a.release(&a);
    ald__column_clear(&c);
}

static void test_bytes(void)
{
    static const char *const texts[] = {"ab", "|", "", "cdef", NULL};
    static const char *const base64[] = {"", "AA==", "AAECAw==", "/+8=", NULL};
    static const int32_t offsets[] = {0, 2, 2, 2, 6}, want_binary[] = {0, 0, 1, 5, 7};
    static const int64_t large[] = {0, 2, 2, 2, 6};
    static const uint8_t bytes[] = {0, 0, 1, 2, 3, 0xFF, 0xEF};
    struct ArrowArray a;
    REQUIRE_INT(build("u", texts, &a), ALD_OK);
    CHECK_MEM(a.buffers[1], offsets, sizeof offsets);
    CHECK_MEM(a.buffers[2], "abcdef", 6);
    CHECK_INT(a.null_count, 1);
    a.release(&a);
    REQUIRE_INT(build("U", texts, &a), ALD_OK);
    CHECK_MEM(a.buffers[1], large, sizeof large);
    a.release(&a);
    REQUIRE_INT(build("z", base64, &a), ALD_OK);
    CHECK_MEM(a.buffers[1], want_binary, sizeof want_binary);
    CHECK_MEM(a.buffers[2], bytes, sizeof bytes);
    a.release(&a);
}

static void test_values(void)
{
    ald__column c;
    ald_error err;
    struct ArrowArray a;
    static const int64_t want[] = {-7, -1, 5, 0};
    REQUIRE_OK(ald__column_init(&c, "d:20,0", &alloc, &err), &err);
    REQUIRE_OK(ald__column_add_int64(&c, -7, &err), &err);
    REQUIRE_OK(ald__column_add_uint64(&c, 5, &err), &err);
    CHECK_INT(ald__column_add_double(&c, 1.5, &err), ALD_E_SCHEMA_MISMATCH);
    CHECK_INT(ald__column_add_bytes(&c, "x", 1, &err), ALD_E_SCHEMA_MISMATCH);
    REQUIRE_OK(ald__column_finish(&c, &a, &err), &err);
    CHECK_INT(a.length, 2);
    CHECK_MEM(a.buffers[1], want, sizeof want);
    a.release(&a);
    ald__column_clear(&c);
    REQUIRE_OK(ald__column_init(&c, "i", &alloc, &err), &err);
    CHECK_INT(ald__column_add_int64(&c, 2147483648, &err), ALD_E_SCHEMA_MISMATCH);
    REQUIRE_OK(ald__column_add_int64(&c, -2147483648, &err), &err);
    CHECK_INT(ald__column_add_uint64(&c, 2147483648, &err), ALD_E_SCHEMA_MISMATCH);
    ald__column_clear(&c);
}

/* Every allocation fails once. */
static void test_no_memory(void)
{
    static const char *const numbers[] = {"1", "2", "|", "3", NULL}, *const texts[] = {"a", "|",
                                                                                       "bcd", NULL};
    for (int which = 0; which < 2; which++) {
        for (int64_t n = 0;; n++) {
            struct ArrowArray a;
            ald_status st;
            alloc = check_heap_init(&heap, n);
            st = build(which ? "u" : "l", which ? texts : numbers, &a);
            if (st == ALD_OK)
                a.release(&a);
            CHECK_HEAP_EMPTY(&heap);
            if (st == ALD_OK)
                break;
            CHECK_INT(st, ALD_E_NOMEM);
            REQUIRE(n < 100);
        }
    }
    alloc = check_heap_init(&heap, -1);
}

static void test_fields(void)
{
    struct ArrowSchema s;
    ald_error err;
    REQUIRE_OK(ald__field_new(&alloc, "root", 4, "+s", 0, 2, &s, &err), &err);
    REQUIRE_OK(ald__field_new(&alloc, "x", 1, "l", 1, 0, s.children[0], &err), &err);
    CHECK_STR(s.name, "root");
    CHECK_STR(s.children[0]->format, "l");
    CHECK_INT(s.children[0]->flags, ARROW_FLAG_NULLABLE);
    s.release(&s); /* the second child was never made */
    CHECK(s.release == NULL);
}

int main(void)
{
    alloc = check_heap_init(&heap, -1);
    RUN(test_fixed_widths);
    RUN(test_decimal_widths);
    RUN(test_mismatches);
    RUN(test_formats);
    RUN(test_nulls_and_bits);
    RUN(test_bytes);
    RUN(test_values);
    RUN(test_no_memory);
    RUN(test_fields);
    if (heap.live_blocks != 0 || heap.wrong_sizes != 0) {
        printf("%zu blocks left, %zu wrong sizes\n", heap.live_blocks, heap.wrong_sizes);
        return 1;
    }
    return check_done();
}
