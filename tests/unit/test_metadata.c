/* SPDX-License-Identifier: MIT */
/* MessagePack, the value tree, known keys, facts. */
#include "core/container/metadata.h"
#include "core/container/msgpack.h"

#include "ald/io.h"
#include "check_alloc.h"

static check_heap heap;
static ald_allocator alloc;

static ald_status decode(const char *bytes, size_t size, ald_value **out)
{
    ald_error err;
    return ald__msgpack_decode(&alloc, (const uint8_t *)bytes, size, 0, out, &err);
}

#define DECODE(literal, out) decode(literal, sizeof(literal) - 1, out)

static void refused(const char *bytes, size_t size, ald_status want)
{
    ald_value *v = NULL;
    CHECK_INT(decode(bytes, size, &v), want);
    CHECK(v == NULL);
}

#define REFUSED(literal) refused(literal, sizeof(literal) - 1, ALD_E_INVALID_FORMAT)

static void test_scalars(void)
{
    ald_value *v = NULL;
    alloc = check_heap_init(&heap, -1);
    static const struct {
        const char *bytes;
        size_t size;
        int64_t want;
    } ints[] = {{"\x00", 1, 0},
                {"\x7f", 1, 127},
                {"\xe0", 1, -32},
                {"\xff", 1, -1},
                {"\xcc\xff", 2, 255},
                {"\xcd\x01\x00", 3, 256},
                {"\xce\xff\xff\xff\xff", 5, 4294967295ll},
                {"\xcf\x00\x00\x00\x01\x00\x00\x00\x00", 9, 4294967296ll},
                {"\xd0\x80", 2, -128},
                {"\xd1\x80\x00", 3, -32768},
                {"\xd2\x80\x00\x00\x00", 5, INT32_MIN},
                {"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9, INT64_MIN},
                {"\xd0\x05", 2, 5}};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        REQUIRE_INT(decode(ints[i].bytes, ints[i].size, &v), ALD_OK);
        CHECK_INT(ald_value_get_int(v), ints[i].want);
        ald_value_free(v);
    }
    REQUIRE_INT(DECODE("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", &v), ALD_OK);
    CHECK(ald_value_get_float(v) == 1.5);
    ald_value_free(v);
    REQUIRE_INT(DECODE("\xca\x3f\xc0\x00\x00", &v), ALD_OK);
    CHECK(ald_value_get_float(v) == 1.5);
    ald_value_free(v);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_refusals(void)
{
    alloc = check_heap_init(&heap, -1);
    REFUSED("");
    REFUSED("\xc1");
    REFUSED("\x00\x00");
    REFUSED("\xa3\x61\x62");
    REFUSED("\xa1\xff");
    REFUSED("\x81\x01\x02");
    REFUSED("\x82\xa1\x61\x01\xa1\x61\x02");
    REFUSED("\xdd\xff\xff\xff\xff");
    REFUSED("\xdf\xff\xff\xff\xff");
    REFUSED("\xc6\xff\xff\xff\xff");
    REFUSED("\xc9\xff\xff\xff\xff\x01");
    REFUSED("\xdb\xff\xff\xff\xff");
    REFUSED("\xcf\x00\x00");
    CHECK_HEAP_EMPTY(&heap);
}

/* A scalar inside 31 containers is depth 32; inside 32 it is 33. */
static void test_depth(void)
{
    char bytes[40];
    ald_value *v = NULL;
    alloc = check_heap_init(&heap, -1);
    memset(bytes, '\x91', sizeof bytes);
    bytes[31] = '\x01';
    REQUIRE_INT(decode(bytes, 32, &v), ALD_OK);
    ald_value_free(v);
    bytes[31] = '\x91';
    bytes[32] = '\x01';
    refused(bytes, 33, ALD_E_LIMIT_EXCEEDED);
    CHECK_HEAP_EMPTY(&heap);
}

/* 200,000 keys: a look-up for each would take minutes; a key twice is still found. */
static void test_many_keys(void)
{
    enum { KEYS = 200000 };
    static uint8_t bytes[5 + KEYS * 7];
    ald_value *v = NULL;
    alloc = check_heap_init(&heap, -1);
    memcpy(bytes, "\xdf\x00\x03\x0d\x40", 5);
    for (uint32_t i = 0; i < KEYS; i++) {
        char text[8];
        snprintf(text, sizeof text, "\xa5%05x", (unsigned)i);
        memcpy(bytes + 5 + i * 7, text, 6);
        bytes[5 + i * 7 + 6] = 1;
    }
    REQUIRE_INT(decode((const char *)bytes, sizeof bytes, &v), ALD_OK);
    CHECK_UINT(ald_value_get_count(v), KEYS);
    ald_value_free(v);
    memcpy(bytes + sizeof bytes - 6, "00007", 5);
    refused((const char *)bytes, sizeof bytes, ALD_E_INVALID_FORMAT);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_too_many_values(void)
{
    size_t size = 5 + ALD__MSGPACK_VALUES;
    char *bytes = malloc(size);
    alloc = check_heap_init(&heap, -1);
    REQUIRE(bytes != NULL);
    memset(bytes, '\xc0', size);
    memcpy(bytes, "\xdd\x00\x10\x00\x00", 5);
    refused(bytes, size, ALD_E_LIMIT_EXCEEDED);
    free(bytes);
    CHECK_HEAP_EMPTY(&heap);
}

static const char everything[] = "\x87\xa1"
                                 "a\xc0\xa1"
                                 "b\xc3\xa1"
                                 "c\x93\x01\xe0\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xa1"
                                 "d\xc4\x03"
                                 "xyz\xa1"
                                 "e\xd5\x07"
                                 "hi\xa1"
                                 "f\xc7\x03\xfb"
                                 "abc\xa1"
                                 "g\x81\xa0\xa3"
                                 "txt";

static void test_encode_gives_the_bytes_back(void)
{
    for (int64_t n = 0;; n++) {
        ald_value *v = NULL, *copy = NULL;
        ald_error err;
        alloc = check_heap_init(&heap, n);
        ald_buffer out = {NULL, 0, 0, &alloc};
        ald_status st = DECODE(everything, &v);
        if (st == ALD_OK)
            st = ald_value_copy(&alloc, v, &copy, &err);
        if (st == ALD_OK)
            st = ald__msgpack_encode(copy, NULL, &out, &err);
        if (st == ALD_OK) {
            CHECK_UINT(out.size, sizeof everything - 1);
            CHECK_MEM(out.data, everything, sizeof everything - 1);
        }
        ald_value_free(v);
        ald_value_free(copy);
        ald_buffer_clear(&out);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        CHECK_INT(st, ALD_E_NOMEM);
    }
}

/* What no reader takes is not written. */
static void test_encode_refuses_what_is_not_utf8(void)
{
    ald_value *map = NULL, *text = NULL;
    alloc = check_heap_init(&heap, -1);
    ald_buffer out = {NULL, 0, 0, &alloc};
    REQUIRE_INT(DECODE("\x81\xa1\x61\xa1\x62", &map), ALD_OK);
    text = ald_value_put(map, "a", 1);
    REQUIRE(text != NULL);
    REQUIRE_INT(ald_value_set_string(text, "b\xff", 2, NULL), ALD_OK);
    CHECK_INT(ald__msgpack_encode(map, NULL, &out, NULL), ALD_E_INVALID_ARG);
    REQUIRE_INT(ald_value_set_string(text, "\xc3\xa9", 2, NULL), ALD_OK);
    CHECK_INT(ald__msgpack_encode(map, NULL, &out, NULL), ALD_OK);
    text = ald_value_put(map, "\xc3", 1);
    REQUIRE(text != NULL);
    CHECK_INT(ald__msgpack_encode(map, NULL, &out, NULL), ALD_E_INVALID_ARG);
    ald_buffer_clear(&out);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

/* Lengths around every change of form. */
static void test_encode_lengths(void)
{
    static const size_t sizes[] = {0, 1, 31, 32, 255, 256, 65535, 65536};
    static char text[65536];
    ald_error err;
    alloc = check_heap_init(&heap, -1);
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int kind = 0; kind < 3; kind++) {
            ald_value *v = NULL, *back = NULL;
            ald_buffer out = {NULL, 0, 0, &alloc};
            size_t got;
            REQUIRE_INT(ald_value_new(&alloc, &v, &err), ALD_OK);
            CHECK_OK(kind == 0   ? ald_value_set_string(v, text, sizes[i], &err)
                     : kind == 1 ? ald_value_set_bin(v, text, sizes[i], &err)
                                 : ald_value_set_ext(v, -3, text, sizes[i], &err),
                     &err);
            CHECK_OK(ald__msgpack_encode(v, NULL, &out, &err), &err);
            REQUIRE_INT(decode((const char *)out.data, out.size, &back), ALD_OK);
            CHECK_INT(ald_value_get_type(back), ald_value_get_type(v));
            (void)ald_value_get_bytes(back, &got);
            CHECK_UINT(got, sizes[i]);
            ald_value_free(v);
            ald_value_free(back);
            ald_buffer_clear(&out);
        }
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_tree(void)
{
    ald_value *v = NULL, *tags;
    ald_error err;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(ald_value_new(&alloc, &v, &err), &err);
    CHECK(ald_value_put(v, "x", 1) == NULL);
    ald_value_set_map(v);
    tags = ald_value_put(v, "tags", 4);
    ald_value_set_array(tags);
    for (int i = 0; i < 100; i++)
        ald_value_set_int(ald_value_append(tags), i - 50);
    CHECK(ald_value_put(v, "tags", 4) == tags);
    CHECK_INT(ald_value_get_int(ald_value_get_item(tags, 10)), -40);
    CHECK_INT(ald_value_get_type(ald_value_get_item(tags, 99)), ALD_VALUE_UINT);
    CHECK(ald_value_get_item(tags, 100) == NULL);
    ald_value_remove(v, "tags");
    ald_value_remove(v, "tags");
    CHECK(ald_value_find(v, "tags") == NULL);
    ald_value_free(v);
    CHECK_HEAP_EMPTY(&heap);
}

static ald_status metadata(const char *bytes, size_t size, ald_value **out, int *is_array)
{
    ald_error err;
    return ald__metadata_decode(&alloc, (const uint8_t *)bytes, size, 0, out, is_array, &err);
}

#define METADATA(literal, out, is_array) metadata(literal, sizeof(literal) - 1, out, is_array)

static void test_known_keys(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        ald_status want;
    } cases[] = {
#define CASE(literal, want) {literal, sizeof(literal) - 1, want}
        CASE("\x81\xa4name\xa1x", ALD_OK),
        CASE("\x81\xa4name\xc0", ALD_OK),
        CASE("\x81\xa4name\x01", ALD_E_INVALID_FORMAT),
        CASE("\x81\xa4tags\x91\xa1x", ALD_OK),
        CASE("\x81\xa4tags\x91\x01", ALD_E_INVALID_FORMAT),
        CASE("\x81\xa4tags\xa1x", ALD_E_INVALID_FORMAT),
        CASE("\x81\xa6sha256\xa1x", ALD_E_INVALID_FORMAT),
        CASE("\x81\xa7sources\x91\x81\xa3url\xa1u", ALD_OK),
        CASE("\x81\xa7sources\x91\x81\xa3url\x01", ALD_E_INVALID_FORMAT),
        CASE("\x81\xaa"
             "compliance\x01",
             ALD_E_INVALID_FORMAT),
        CASE("\x81\xa3"
             "ald\xa1x",
             ALD_E_INVALID_FORMAT),
        CASE("\x81\xa7unknown\x01", ALD_OK),
        CASE("\x01", ALD_E_INVALID_FORMAT),
        CASE("\x96\xc0\xc0\xc0\xc0\xc0\xc0", ALD_E_INVALID_FORMAT),
        CASE("\x97\x01\xc0\xc0\xc0\xc0\xc0\xc0", ALD_E_INVALID_FORMAT),
#undef CASE
    };
    alloc = check_heap_init(&heap, -1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ald_value *v = NULL;
        int is_array;
        if (!CHECK_INT(metadata(cases[i].bytes, cases[i].size, &v, &is_array), cases[i].want))
            printf("    case %zu\n", i);
        ald_value_free(v);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_positional_form(void)
{
    ald_value *v = NULL, *array = NULL;
    ald_error err;
    int is_array;
    size_t size;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_INT(METADATA("\x97\xa1n\xa5"
                         "1.0.0\xc0\x91\xa1t\xa1"
                         "d\xc0\xc0",
                         &v, &is_array),
                ALD_OK);
    CHECK(is_array);
    CHECK_STR(ald_value_get_bytes(ald_value_find(v, "name"), &size), "n");
    CHECK(ald_value_find(v, "license") == NULL);
    CHECK_UINT(ald_value_get_count(ald_value_find(v, "tags")), 1);
    CHECK_OK(ald__metadata_to_array(&alloc, v, &array, &err), &err);
    CHECK_UINT(ald_value_get_count(array), 7);
    ald_value_free(array);
    ald_value_set_bool(ald_value_put(v, "mine", 4), 1);
    CHECK_INT(ald__metadata_to_array(&alloc, v, &array, &err), ALD_E_UNSUPPORTED);
    ald_value_free(v);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_facts(void)
{
    static const char bytes[] = "\x81\xa3"
                                "ald\x83\xac"
                                "payload_size\xcf\x00\x00\x00\x00\x00\x00\x00\x05"
                                "\xacprefix_crc32\xc4\x04"
                                "abcd\xabschema_size\xce\x00\x00\x00\x05";
    static const char *const path[] = {"ald", "prefix_crc32"};
    ald_value *v = NULL;
    ald__facts facts;
    ald__msgpack_place place;
    ald_error err;
    int is_array;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_INT(METADATA(bytes, &v, &is_array), ALD_OK);
    /* schema_size is not in the 9-byte form */
    CHECK_INT(ald__metadata_facts(v, (const uint8_t *)bytes, sizeof bytes - 1, 0, &facts, &err),
              ALD_E_INVALID_FORMAT);
    ald_value_remove((ald_value *)(uintptr_t)ald_value_find(v, "ald"), "schema_size");
    CHECK_OK(ald__metadata_facts(v, (const uint8_t *)bytes, sizeof bytes - 1, 0, &facts, &err),
             &err);
    CHECK(facts.has_payload_size && facts.payload_size == 5 && !facts.has_schema_size);
    CHECK_MEM(facts.prefix_crc32.data, "abcd", 4);
    REQUIRE(ald__msgpack_locate((const uint8_t *)bytes, sizeof bytes - 1, path, 2, &place));
    CHECK_MEM(bytes + place.content, "abcd", 4);
    CHECK_UINT(place.content_size, 4);
    ald_value_free(v);
    CHECK_HEAP_EMPTY(&heap);
}

/* Key by key: 200,000 keys, each compared with all before it, would take minutes. */
static void test_many_puts(void)
{
    enum { PUTS = 200000 };
    ald_value *map = NULL;
    char key[16];
    size_t size = 0;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_INT(ald_value_new(&alloc, &map, NULL), ALD_OK);
    ald_value_set_map(map);
    for (unsigned i = 0; i < PUTS; i++) {
        size = (size_t)snprintf(key, sizeof key, "key %u", i);
        ald_value_set_uint(ald_value_put(map, key, size), i);
    }
    CHECK_UINT(ald_value_get_count(map), PUTS);
    for (unsigned i = 0; i < PUTS; i++) {
        (void)snprintf(key, sizeof key, "key %u", i);
        if (ald_value_get_uint(ald_value_find(map, key)) != i)
            CHECK_UINT(ald_value_get_uint(ald_value_find(map, key)), i);
    }
    CHECK_STR(ald_value_get_key(map, 70000, &size), "key 70000"); /* the order is kept */
    ald_value_remove(map, "key 70000");
    CHECK(ald_value_find(map, "key 70000") == NULL);
    CHECK_UINT(ald_value_get_uint(ald_value_put(map, "key 70001", 9)), 70001);
    CHECK_UINT(ald_value_get_count(map), PUTS - 1);
    ald_value_set_uint(ald_value_put(map, "key 70000", 9), 1);
    CHECK_UINT(ald_value_get_uint(ald_value_find(map, "key 70000")), 1);
    CHECK_STR(ald_value_get_key(map, PUTS - 1, &size), "key 70000");
    CHECK(ald_value_find(map, "key 7000") != NULL && ald_value_find(map, "key") == NULL);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_scalars);
    RUN(test_refusals);
    RUN(test_depth);
    RUN(test_many_keys);
    RUN(test_too_many_values);
    RUN(test_encode_gives_the_bytes_back);
    RUN(test_encode_refuses_what_is_not_utf8);
    RUN(test_encode_lengths);
    RUN(test_tree);
    RUN(test_many_puts);
    RUN(test_known_keys);
    RUN(test_positional_form);
    RUN(test_facts);
    return check_done();
}
