/* SPDX-License-Identifier: MIT */
/* Format strings into types, types as text and back. What pyarrow prints was taken from pyarrow 26. */
#include "check_alloc.h"

#include "ald/schema.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/type.h"
#include "core/arrow/type_text.h"
#include "core/base/buf.h"

static check_heap heap;

static ald_host test_host(int64_t calls)
{
    ald_host host = {0};
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, calls);
    return host;
}

static void release_nothing(struct ArrowSchema *schema)
{
    (void)schema;
}

static struct ArrowSchema leaf(const char *format)
{
    struct ArrowSchema s = {0};
    s.format = format;
    s.name = "c";
    s.flags = ARROW_FLAG_NULLABLE;
    s.release = release_nothing;
    return s;
}

static void check_leaf(const char *format, ald__type_id id, uint32_t bits, uint8_t buffers)
{
    struct ArrowSchema s = leaf(format);
    ald_error err = {0};
    ald__type t;
    if (!CHECK_OK(ald__type_of(&s, &t, &err), &err))
        return;
    CHECK_INT(t.id, id);
    CHECK_UINT(t.bit_width, bits);
    CHECK_UINT(t.buffer_count, buffers);
}

static void test_formats(void)
{
    struct ArrowSchema s;
    ald__type t;
    check_leaf("n", ALD__NULL, 0, 0);
    check_leaf("b", ALD__BOOL, 1, 2);
    check_leaf("C", ALD__UINT8, 8, 2);
    check_leaf("e", ALD__FLOAT16, 16, 2);
    check_leaf("tdm", ALD__DATE64, 64, 2);
    check_leaf("tin", ALD__INTERVAL_MONTH_DAY_NANO, 128, 2);
    check_leaf("vu", ALD__UTF8_VIEW, 128, 2);
    check_leaf("U", ALD__LARGE_UTF8, 0, 3);
    check_leaf("w:5", ALD__FIXED_BINARY, 40, 2);
    s = leaf("d:38,-5");
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_OK);
    CHECK_INT(t.precision, 38);
    CHECK_INT(t.scale, -5);
    CHECK_INT(t.byte_width, 16);
    s = leaf("tsn:Europe/Berlin");
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_OK);
    CHECK_INT(t.unit, ALD__NANO);
    CHECK_STR(t.zone, "Europe/Berlin");
}

static void test_bad_formats(void)
{
    static const char *const formats[] = {
        "",           "x",
        "ii",         "t",
        "td",         "tdX",
        "ts",         "tsx:",
        "tss",        "d:",
        "d:5",        "d:5,",
        "d:0,1",      "d:39,1",
        "d:10,1,32",  "d:5,1,16",
        "d:5,1,128x", "w:",
        "w:-1",       "w:x",
        "w:3 ",       "w:99999999999",
        "+",          "+x",
        "+l",         "+m",
        "+r",         "+w:2",
        "+w:-1",      "vx",
        "v",          "+us",
    };
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct ArrowSchema s = leaf(formats[i]);
        ald_error err = {0};
        ald__type t;
        if (!CHECK_INT(ald__type_of(&s, &t, &err), ALD_E_INVALID_ARG))
            printf("    '%s'\n", formats[i]);
        CHECK_CONTAINS(err.msg, "'c'");
    }
}

static void test_union_ids(void)
{
    struct ArrowSchema a = leaf("i"), b = leaf("u"), s = leaf("+ud:7,5");
    struct ArrowSchema *children[] = {&a, &b};
    int8_t ids[128];
    ald__type t;
    s.n_children = 2;
    s.children = children;
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_OK);
    CHECK_STR(t.type_ids, "7,5");
    CHECK_INT(ald__type_union_ids(&s, ids, NULL), ALD_OK);
    CHECK_INT(ids[0], 7);
    CHECK_INT(ids[1], 5);
    static const char *const bad[] = {"+ud:7",     "+ud:7,7", "+ud:7,128",
                                      "+ud:7,5,6", "+ud:7;5", "+ud:,7"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        s.format = bad[i];
        CHECK_INT(ald__type_union_ids(&s, ids, NULL), ALD_E_INVALID_ARG);
    }
}

static void test_wrong_children(void)
{
    struct ArrowSchema key = leaf("u"), value = leaf("l"), entries = leaf("+s"), s = leaf("+m");
    struct ArrowSchema *pair[] = {&key, &value}, *one[] = {&entries};
    ald_error err = {0};
    ald__type t;
    entries.n_children = 2;
    entries.children = pair;
    s.n_children = 1;
    s.children = one;
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_OK);
    entries.n_children = 1;
    CHECK_INT(ald__type_of(&s, &t, &err), ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "map");
    s = leaf("i");
    s.n_children = 1;
    s.children = one;
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_E_INVALID_ARG);
    s = leaf("+r");
    s.n_children = 2;
    s.children = pair; /* run ends of type string */
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_E_INVALID_ARG);
    s = leaf("u");
    s.dictionary = &value; /* indices of type string */
    CHECK_INT(ald__type_of(&s, &t, NULL), ALD_E_INVALID_ARG);
}

/* Printed exactly so by pyarrow. */
static const char *const canonical[] = {
    "null",
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "halffloat",
    "float",
    "double",
    "decimal32(5, 2)",
    "decimal64(10, 0)",
    "decimal128(38, -10)",
    "decimal256(76, 3)",
    "date32[day]",
    "date64[ms]",
    "time32[s]",
    "time32[ms]",
    "time64[us]",
    "time64[ns]",
    "timestamp[s]",
    "timestamp[ns, tz=UTC]",
    "timestamp[us, tz=+05:30]",
    "duration[ms]",
    "month_interval",
    "day_time_interval",
    "month_day_nano_interval",
    "binary",
    "large_binary",
    "binary_view",
    "string",
    "large_string",
    "string_view",
    "fixed_size_binary[5]",
    "list<item: int32>",
    "list<x: int32 not null>",
    "large_list<x: int32>",
    "list_view<item: int8>",
    "large_list_view<item: int8>",
    "fixed_size_list<item: float>[3]",
    "fixed_size_list<e: float not null>[3]",
    "struct<>",
    "struct<a: int64 not null, b c: string, : null>",
    "map<string, int64>",
    "map<string, int64, keys_sorted>",
    "map<string ('k'), int64 ('v')>",
    "map<string, int64 ('entries') ('e')>",
    "dictionary<values=string, indices=int32, ordered=0>",
    "dictionary<values=list<item: int8>, indices=uint8, ordered=1>",
    "dense_union<a: int32=0, b: string not null=1>",
    "sparse_union<a: int32=5, b: string=7>",
    "sparse_union<>",
    "run_end_encoded<run_ends: int16, values: string>",
    "run_end_encoded<run_ends: int64, values: dictionary<values=string, indices=int8, ordered=0>>",
    "list<item: dictionary<values=string, indices=int8, ordered=0>>",
    "struct<a: struct<b: list<item: map<string, struct<c: null>>>>>",
};

/* Parses `text` and prints it again into `out`, NUL-terminated. */
static ald_status again(const ald_host *host, const char *text, ald_buffer *out, ald_error *err)
{
    struct ArrowSchema schema;
    ald_status status = ald_type_parse(host, text, strlen(text), "col", 1, &schema, err);
    out->size = 0;
    if (status != ALD_OK) {
        CHECK(schema.release == NULL);
        return status;
    }
    CHECK_STR(schema.name, "col");
    CHECK_INT(schema.flags & ARROW_FLAG_NULLABLE, ARROW_FLAG_NULLABLE);
    status = ald_type_format(&schema, out, err);
    if (status == ALD_OK)
        status = ald__buffer_append_zeros(out, 1, err);
    schema.release(&schema);
    return status;
}

static void check_again(const char *text, const char *want)
{
    ald_host host = test_host(-1);
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_error err = {0};
    if (CHECK_OK(again(&host, text, &out, &err), &err))
        CHECK_STR((const char *)out.data, want);
    ald_buffer_clear(&out);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_text(void)
{
    for (size_t i = 0; i < sizeof canonical / sizeof canonical[0]; i++)
        check_again(canonical[i], canonical[i]);
}

static void test_aliases(void)
{
    check_again("utf8", "string");
    check_again(" float64 ", "double");
    check_again("float32", "float");
    check_again("float16", "halffloat");
    check_again("int", "int64");
    check_again("boolean", "bool");
    check_again("date32", "date32[day]");
    check_again("decimal(10,2)", "decimal128(10, 2)");
    check_again("list<int64>", "list<item: int64>");
    check_again("list<int64 not null>", "list<item: int64 not null>");
    check_again("list<string: int64>", "list<string: int64>");
    check_again("list<list<timestamp[us,tz=UTC]>>",
                "list<item: list<item: timestamp[us, tz=UTC]>>");
    check_again("dictionary<values=utf8, indices=int8>",
                "dictionary<values=string, indices=int8, ordered=0>");
}

static void test_bad_text(void)
{
    static const char *const texts[] = {
        "",
        "x",
        "int6",
        "int640",
        "int64x",
        "int64 x",
        "list",
        "list<",
        "list<int64",
        "list<x>",
        "list<x: int64",
        "struct<a int64>",
        "struct<a: int64",
        "struct<a: int64 b: int64>",
        "timestamp",
        "timestamp[]",
        "timestamp[d]",
        "timestamp[us, tz=]",
        "timestamp[us, zone=UTC]",
        "time32[us]",
        "time64[s]",
        "time32[ns]",
        "duration[x]",
        "decimal128(39, 1)",
        "decimal128(10 1)",
        "decimal32(10, 1)",
        "fixed_size_binary[-1]",
        "fixed_size_binary[x]",
        "fixed_size_list<item: int8>",
        "fixed_size_list<item: int8>[99999999999]",
        "map<string>",
        "map<string, int64",
        "map<string ('k, int64>",
        "dense_union<a: int32>",
        "dense_union<a: int32=200>",
        "dense_union<a: int32=1, b: int8=1>",
        "run_end_encoded<run_ends: int8, values: string>",
        "dictionary<values=string, indices=string, ordered=0>",
        "dictionary<values=string, indices=int8, ordered=0",
    };
    ald_host host = test_host(-1);
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ald_error err = {0};
        if (!CHECK_INT(again(&host, texts[i], &out, &err), ALD_E_INVALID_ARG))
            printf("    '%s'\n", texts[i]);
    }
    ald_buffer_clear(&out);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_depth(void)
{
    char text[1000] = "";
    ald_host host = test_host(-1);
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_error err = {0};
    for (int i = 0; i < 63; i++)
        memcpy(text + 5 * i, "list<", 6);
    memcpy(text + 5 * 63, "int8", 4);
    memset(text + 5 * 63 + 4, '>', 63);
    CHECK_OK(again(&host, text, &out, &err), &err);
    memmove(text + 5, text, 5 * 63 + 4 + 63);
    memcpy(text, "list<", 5);
    text[5 * 64 + 4 + 63] = '>';
    CHECK_INT(again(&host, text, &out, &err), ALD_E_LIMIT_EXCEEDED);
    ald_buffer_clear(&out);
    CHECK_HEAP_EMPTY(&heap);
}

/* No memory: the error says so, and nothing is left. */
static void test_text_without_memory(void)
{
    static const char text[] = "struct<a: map<string ('k'), list<x: int8>>, b: dense_union<c: "
                               "dictionary<values=string, indices=int8, ordered=1>=3>, "
                               "d: run_end_encoded<run_ends: int32, values: string>>";
    ald_status status = ALD_E_NOMEM;
    for (int64_t n = 0; status != ALD_OK; n++) {
        ald_host host = test_host(n);
        ald_buffer out = {NULL, 0, 0, &host.alloc};
        ald_error err = {0};
        status = again(&host, text, &out, &err);
        if (status == ALD_OK)
            CHECK_STR((const char *)out.data, text);
        else
            REQUIRE_INT(status, ALD_E_NOMEM);
        ald_buffer_clear(&out);
        CHECK_HEAP_EMPTY(&heap);
    }
}

static void test_print_is_cut(void)
{
    struct ArrowSchema s = leaf("tsn:Europe/Berlin");
    char text[16];
    ald__type_print(&s, text, sizeof text);
    CHECK_STR(text, "timestamp[ns, t");
    s.format = "?";
    ald__type_print(&s, text, sizeof text);
    CHECK_STR(text, "?");
}

int main(void)
{
    RUN(test_formats);
    RUN(test_bad_formats);
    RUN(test_union_ids);
    RUN(test_wrong_children);
    RUN(test_text);
    RUN(test_aliases);
    RUN(test_bad_text);
    RUN(test_depth);
    RUN(test_text_without_memory);
    RUN(test_print_is_cut);
    return check_done();
}
