/* SPDX-License-Identifier: MIT */
/* Schema nodes, copies, comparison, metadata. */
#include "check_alloc.h"
#include "property/random_table.h"

#include "ald/schema.h"
#include "core/arrow/ipc_write.h"

static check_heap heap;

static ald_host test_host(int64_t calls)
{
    ald_host host = {0};
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, calls);
    return host;
}

static void parse(const ald_host *host, const char *type, struct ArrowSchema *out)
{
    ald_error err = {0};
    CHECK_OK(ald_type_parse(host, type, strlen(type), "t", 0, out, &err), &err);
}

static void test_nodes(void)
{
    ald_host host = test_host(-1);
    struct ArrowSchema s, moved;
    ald_error err = {0};
    CHECK_INT(ald__schema_new(&host.alloc, 2, 1, &s, &err), ALD_OK);
    CHECK_INT(s.n_children, 2);
    CHECK(s.children[0]->release == NULL && s.dictionary->release == NULL);
    CHECK(ald__schema_is_own(&s));
    CHECK_INT(ald__schema_set_name(&s, "ab\0c", 4, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald__schema_set_name(&s, "name!", 4, &err), ALD_OK);
    CHECK_STR(s.name, "name");
    CHECK_INT(ald__schema_set_name(&s, "x", 1, &err), ALD_OK);
    CHECK_STR(s.name, "x");
    CHECK_INT(ald__schema_new(&host.alloc, 0, 0, s.children[1], &err), ALD_OK);
    moved = *s.children[1]; /* children may be moved out */
    s.children[1]->release = NULL;
    s.release(&s);
    CHECK(s.release == NULL);
    CHECK_INT(ald__schema_set_format(&moved, "l", 1, &err), ALD_OK);
    moved.release(&moved);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_metadata(void)
{
    ald_host host = test_host(-1);
    struct ArrowSchema s;
    ald_error err = {0};
    size_t size = 9;
    parse(&host, "int8", &s);
    CHECK(ald_schema_get_metadata(&s, "k", &size) == NULL);
    CHECK_UINT(size, 0);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "a", "1", 1, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "b", "22", 2, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "a", "x\0y", 3, &err), &err);
    CHECK_MEM(ald_schema_get_metadata(&s, "a", &size), "x\0y", 3);
    CHECK_UINT(size, 3);
    CHECK_MEM(ald_schema_get_metadata(&s, "b", &size), "22", 2);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "b", "", 0, &err), &err);
    CHECK(ald_schema_get_metadata(&s, "b", &size) != NULL);
    CHECK_UINT(size, 0);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "none", NULL, 0, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "a", NULL, 0, &err), &err);
    CHECK(ald_schema_get_metadata(&s, "a", &size) == NULL);
    CHECK_OK(ald_schema_set_metadata(&host, &s, "b", NULL, 0, &err), &err);
    CHECK(s.metadata == NULL);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_metadata_of_others(void)
{
    ald_host host = test_host(-1);
    struct ArrowSchema s;
    ald_error err = {0};
    parse(&host, "int8", &s);
    void (*release)(struct ArrowSchema *) = s.release;
    s.release = (void (*)(struct ArrowSchema *))abort;
    CHECK_INT(ald_schema_set_metadata(&host, &s, "a", "1", 1, &err), ALD_E_INVALID_ARG);
    s.release = release;
    s.release(&s);
}

/* Random schemas equal their copies, which outlive them. */
static void test_copies(void)
{
    ald_host host = test_host(-1);
    for (uint64_t seed = 0; seed < 300; seed++) {
        ald_buffer a = {NULL, 0, 0, &host.alloc}, b = a;
        struct ArrowSchema s, copy;
        ald_error err = {0};
        rt_schema(seed, &host.alloc, &s);
        CHECK_OK(ald__ipc_schema_section(&host.alloc, &s, &a, &err), &err);
        if (CHECK_OK(ald_schema_copy(&host, &s, &copy, &err), &err)) {
            CHECK_OK(ald_schema_compare(&s, &copy, 1, &err), &err);
            s.release(&s);
            CHECK_OK(ald__ipc_schema_section(&host.alloc, &copy, &b, &err), &err);
            if (CHECK_UINT(a.size, b.size))
                CHECK_MEM(a.data, b.data, a.size);
            copy.release(&copy);
        }
        ald_buffer_clear(&a);
        ald_buffer_clear(&b);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_copy_without_memory(void)
{
    ald_status status = ALD_E_NOMEM;
    for (int64_t n = 0; status != ALD_OK; n++) {
        ald_host host = test_host(-1);
        struct ArrowSchema s, copy;
        ald_error err = {0};
        rt_schema(11, &host.alloc, &s);
        heap.calls_left = n;
        status = ald_schema_copy(&host, &s, &copy, &err);
        if (status == ALD_OK) {
            copy.release(&copy);
        } else {
            CHECK(copy.release == NULL);
            REQUIRE_INT(status, ALD_E_NOMEM);
        }
        s.release(&s);
        CHECK_HEAP_EMPTY(&heap);
    }
}

static void check_differ(const char *a, const char *b, const char *message)
{
    ald_host host = test_host(-1);
    struct ArrowSchema x, y;
    ald_error err = {0};
    parse(&host, a, &x);
    parse(&host, b, &y);
    CHECK_INT(ald_schema_compare(&x, &y, 1, &err), ALD_E_SCHEMA_MISMATCH);
    CHECK_STR(err.msg, message);
    x.release(&x);
    y.release(&y);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_differences(void)
{
    check_differ("struct<a: int8>", "struct<a: int16>", "column 'a': expected int8, found int16");
    check_differ("struct<a: int8>", "struct<a: int8 not null>",
                 "column 'a': expected nullable, found not null");
    check_differ("struct<a: int8, b: int8>", "struct<b: int8, a: int8>",
                 "the table: expected a field 'a', found 'b'");
    check_differ("struct<a: int8>", "struct<a: int8, b: int8>",
                 "the table: expected 1 fields, found 2");
    check_differ("struct<a: list<x: struct<y: timestamp[us, tz=UTC]>>>",
                 "struct<a: list<x: struct<y: timestamp[us, tz=Etc/UTC]>>>",
                 "column 'a.x.y': expected timestamp[us, tz=UTC], found timestamp[us, tz=Etc/UTC]");
    check_differ("struct<a: list<x: int8>>", "struct<a: list<y: int8>>",
                 "column 'a': expected a field 'x', found 'y'");
    check_differ("decimal128(5, 2)", "decimal128(5, 3)",
                 "the table: expected decimal128(5, 2), found decimal128(5, 3)");
    check_differ("decimal64(5, 2)", "decimal128(5, 2)",
                 "the table: expected decimal64(5, 2), found decimal128(5, 2)");
    check_differ("map<string, int8>", "map<string, int8, keys_sorted>",
                 "the table: expected map<string, int8>, found map<string, int8, keys_sorted>");
    check_differ("dense_union<a: int8=1>", "dense_union<a: int8=2>",
                 "the table: expected dense_union<a: int8=1>, found dense_union<a: int8=2>");
    check_differ("dense_union<a: int8=1>", "sparse_union<a: int8=1>",
                 "the table: expected dense_union<a: int8=1>, found sparse_union<a: int8=1>");
    check_differ("struct<a: dictionary<values=string, indices=int8, ordered=0>>",
                 "struct<a: dictionary<values=string, indices=int8, ordered=1>>",
                 "column 'a': expected dictionary<values=string, indices=int8, ordered=0>, found "
                 "dictionary<values=string, indices=int8, ordered=1>");
    check_differ("struct<a: dictionary<values=struct<b: int8>, indices=int8>>",
                 "struct<a: dictionary<values=struct<b: int16>, indices=int8>>",
                 "column 'a.b': expected int8, found int16");
    check_differ(
        "struct<a: dictionary<values=int8, indices=int8>>", "struct<a: int8>",
        "column 'a': expected dictionary<values=int8, indices=int8, ordered=0>, found int8");
}

/* "d:5,2" and "d:5,2,128" are one type. */
static void test_same_decimals(void)
{
    ald_host host = test_host(-1);
    struct ArrowSchema a, b;
    ald_error err = {0};
    parse(&host, "decimal128(5, 2)", &a);
    parse(&host, "decimal128(5, 2)", &b);
    CHECK_INT(ald__schema_set_format(&b, "d:5,2,128", 9, &err), ALD_OK);
    CHECK_OK(ald_schema_compare(&a, &b, 1, &err), &err);
    a.release(&a);
    b.release(&b);
}

static void test_metadata_order(void)
{
    ald_host host = test_host(-1);
    struct ArrowSchema a, b;
    ald_error err = {0};
    parse(&host, "int8", &a);
    parse(&host, "int8", &b);
    CHECK_OK(ald_schema_set_metadata(&host, &a, "x", "1", 1, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &a, "y", "2", 1, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &b, "y", "2", 1, &err), &err);
    CHECK_INT(ald_schema_compare(&a, &b, 1, &err), ALD_E_SCHEMA_MISMATCH);
    CHECK_CONTAINS(err.msg, "metadata 'x'");
    CHECK_INT(ald_schema_compare(&b, &a, 1, &err), ALD_E_SCHEMA_MISMATCH);
    CHECK_OK(ald_schema_compare(&a, &b, 0, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &b, "x", "1", 1, &err), &err);
    CHECK_OK(ald_schema_compare(&a, &b, 1, &err), &err);
    CHECK_OK(ald_schema_set_metadata(&host, &b, "x", "3", 1, &err), &err);
    CHECK_INT(ald_schema_compare(&a, &b, 1, &err), ALD_E_SCHEMA_MISMATCH);
    a.release(&a);
    b.release(&b);
    CHECK_HEAP_EMPTY(&heap);
}

/* A multiset: two equal pairs are not one. */
static void test_repeated_metadata(void)
{
    ald_host host = test_host(-1);
    ald_buffer once = {NULL, 0, 0, &host.alloc}, twice = once;
    struct ArrowSchema a, b;
    ald_error err = {0};
    parse(&host, "int8", &a);
    parse(&host, "int8", &b);
    CHECK_INT(ald__metadata_append(&once, "k", 1, "v", 1, &err), ALD_OK);
    CHECK_INT(ald__metadata_append(&once, "j", 1, "v", 1, &err), ALD_OK);
    CHECK_INT(ald__metadata_append(&twice, "j", 1, "v", 1, &err), ALD_OK);
    CHECK_INT(ald__metadata_append(&twice, "k", 1, "v", 1, &err), ALD_OK);
    CHECK_INT(ald__metadata_append(&twice, "k", 1, "v", 1, &err), ALD_OK);
    CHECK_INT(ald__schema_set_metadata(&a, once.data, once.size, &err), ALD_OK);
    CHECK_INT(ald__schema_set_metadata(&b, twice.data, twice.size, &err), ALD_OK);
    CHECK_UINT(ald__metadata_size(b.metadata), twice.size);
    CHECK_INT(ald_schema_compare(&a, &b, 1, &err), ALD_E_SCHEMA_MISMATCH);
    CHECK_INT(ald_schema_compare(&b, &a, 1, &err), ALD_E_SCHEMA_MISMATCH);
    a.release(&a);
    b.release(&b);
    ald_buffer_clear(&once);
    ald_buffer_clear(&twice);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_nodes);
    RUN(test_metadata);
    RUN(test_metadata_of_others);
    RUN(test_copies);
    RUN(test_copy_without_memory);
    RUN(test_differences);
    RUN(test_same_decimals);
    RUN(test_metadata_order);
    RUN(test_repeated_metadata);
    return check_done();
}
