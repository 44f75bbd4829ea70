/* SPDX-License-Identifier: MIT */
/* Schemas as JSON and as `name:type` lists. */
#include "ald/ald.h"
#include "check.h"
#include "check_alloc.h"

static check_heap heap;

static ald_host test_host(int64_t calls)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, calls);
    return host;
}

/* Reads `text`, writes it, and compares with `json`. */
static void expect_json(const char *text, const char *json)
{
    ald_host host = test_host(-1);
    struct ArrowSchema schema;
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_error err;
    if (!CHECK_OK(ald_schema_from_json(text, strlen(text), &host, &schema, &err), &err)) {
        printf("    %s\n", text);
        return;
    }
    if (CHECK_OK(ald_schema_to_json(&schema, &out, &err), &err)) {
        CHECK_UINT(out.size, strlen(json));
        if (out.size != strlen(json) || memcmp(out.data, json, out.size) != 0) {
            CHECK_CONTAINS("another text", json);
            printf("    it is %.*s\n", (int)out.size, (const char *)out.data);
        }
    }
    ald_buffer_clear(&out);
    schema.release(&schema);
    CHECK_HEAP_EMPTY(&heap);
}

static void expect_bad(const char *text, const char *words)
{
    ald_host host = test_host(-1);
    struct ArrowSchema schema;
    ald_error err;
    ald_status status = ald_schema_from_json(text, strlen(text), &host, &schema, &err);
    CHECK_INT(status, ALD_E_INVALID_ARG);
    if (!CHECK_CONTAINS(err.msg, words))
        printf("    %s\n", text);
    CHECK(schema.release == NULL);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_json(void)
{
    expect_json("{\"fields\":[]}", "{\"fields\":[]}");
    expect_json(
        " {\"fields\": [{\"name\":\"a\",\"type\":\"utf8\"},{\"type\":\"int64\",\"nullable\":false,"
        "\"name\":\"b \\\"\\u00e9\"}]}\n",
        "{\"fields\":[{\"name\":\"a\",\"type\":\"string\",\"nullable\":true},"
        "{\"name\":\"b \\\"\xc3\xa9\",\"type\":\"int64\",\"nullable\":false}]}");
    expect_json(
        "\xEF\xBB\xBF{\"fields\":[{\"name\":\"l\",\"type\":\"list<item: struct<x: double, y: "
        "timestamp[us, tz=UTC]>>\"}]}",
        "{\"fields\":[{\"name\":\"l\",\"type\":\"list<item: struct<x: double, y: timestamp[us, "
        "tz=UTC]>>\",\"nullable\":true}]}");
}

static void test_metadata(void)
{
    expect_json(
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int8\",\"metadata\":{\"k\":\"v\",\"e\":\"\"}}],"
        "\"metadata\":{\"x\":\"\\u00e9\"}}",
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int8\",\"nullable\":true,\"metadata\":{\"k\":"
        "\"v\",\"e\":\"\"}}],\"metadata\":{\"x\":\"\xc3\xa9\"}}");
    expect_json(
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int8\",\"metadata\":{\"k\":{\"hex\":\"00fF\"}}}]}",
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int8\",\"nullable\":true,\"metadata\":{\"k\":{"
        "\"hex\":\"00ff\"}}}]}");
    expect_json(
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int8\",\"metadata\":null}],\"metadata\":{}}",
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int8\",\"nullable\":true}]}");
}

static void test_list(void)
{
    expect_json("a:int64", "{\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":true}]}");
    expect_json(
        " zip : string , at:timestamp[us, tz=+01:00], d:decimal128(5, 2),m:map<string, int8>\n",
        "{\"fields\":[{\"name\":\"zip\",\"type\":\"string\",\"nullable\":true},"
        "{\"name\":\"at\",\"type\":\"timestamp[us, tz=+01:00]\",\"nullable\":true},"
        "{\"name\":\"d\",\"type\":\"decimal128(5, 2)\",\"nullable\":true},"
        "{\"name\":\"m\",\"type\":\"map<string, int8>\",\"nullable\":true}]}");
}

static void test_bad(void)
{
    expect_bad("", "empty");
    expect_bad("  \n", "empty");
    expect_bad("a", "'a' is not name:type");
    expect_bad("a:int64,", "is not name:type");
    expect_bad(":int64", "is not name:type");
    expect_bad("a:nothing", "nothing");
    expect_bad("\xff:int64", "UTF-8");
    expect_bad("{\"fields\":[}", "not JSON at byte");
    expect_bad("{\"columns\":[]}", "unknown or repeated key columns");
    expect_bad("{}", "needs \"fields\"");
    expect_bad("{\"fields\":{}}", "needs \"fields\"");
    expect_bad("{\"fields\":[1]}", "must be an object");
    expect_bad("{\"fields\":[{\"name\":\"a\"}]}", "needs \"name\" and \"type\"");
    expect_bad("{\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nulable\":true}]}",
               "unknown key of a field: nulable");
    expect_bad("{\"fields\":[{\"name\":\"a\",\"name\":\"b\",\"type\":\"int64\"}]}", "repeated key");
    expect_bad("{\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":1}]}", "nullable");
    expect_bad("{\"fields\":[{\"name\":\"a\\u0000\",\"type\":\"int64\"}]}", "U+0000");
    expect_bad("{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"metadata\":{\"k\":1}}]}",
               "metadata value");
    expect_bad(
        "{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"metadata\":{\"k\":{\"hex\":\"0g\"}}}]}",
        "hex");
    expect_bad("{\"fields\":[{\"name\":\"a\",\"type\":\"int\",\"metadata\":[]}]}",
               "must be an object");
}

static void test_no_memory(void)
{
    static const char text[] =
        "{\"fields\":[{\"name\":\"a\",\"type\":\"list<item: int8>\",\"metadata\":{"
        "\"k\":\"v\",\"h\":{\"hex\":\"ff\"}}}],\"metadata\":{\"x\":\"y\"}}";
    int64_t n = 0;
    for (;; n++) {
        ald_host host = test_host(n);
        struct ArrowSchema schema;
        ald_buffer out = {NULL, 0, 0, &host.alloc};
        ald_error err;
        ald_status status = ald_schema_from_json(text, sizeof text - 1, &host, &schema, &err);
        if (status == ALD_OK) {
            status = ald_schema_to_json(&schema, &out, &err);
            schema.release(&schema);
        }
        ald_buffer_clear(&out);
        CHECK_HEAP_EMPTY(&heap);
        if (status == ALD_OK || !CHECK_INT(status, ALD_E_NOMEM))
            break;
    }
    CHECK(n > 10);
}

int main(void)
{
    RUN(test_json);
    RUN(test_metadata);
    RUN(test_list);
    RUN(test_bad);
    RUN(test_no_memory);
    return check_done();
}
