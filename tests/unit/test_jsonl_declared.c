/* SPDX-License-Identifier: MIT */
/* Declared types: what fits them, and what is refused. */
#include "jsonl_fixture.h"

static struct ArrowSchema declared;
static ald_jsonl_options options;

static void declare(const char *schema, int is_whole)
{
    static check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host = fixture_host(&alloc, 1);
    ald_error err;
    ald_jsonl_options initial = ALD_JSONL_OPTIONS_INIT;
    options = initial;
    memset(&declared, 0, sizeof declared);
    if (!CHECK_OK(ald_schema_from_json(schema, strlen(schema), &host, &declared, &err), &err))
        return;
    if (is_whole)
        options.text.schema = &declared;
    else
        options.text.types = &declared;
}

static void undeclare(void)
{
    if (declared.release != NULL)
        declared.release(&declared);
}

static void fits(const char *type, const char *json, const char *back)
{
    char schema[256], text[512], rows[512], shown[256];
    snprintf(schema, sizeof schema, "v:%s", type);
    snprintf(text, sizeof text, "{\"v\":%s}\n{}\n", json);
    snprintf(rows, sizeof rows, "{\"v\":%s}\n{\"v\":null}\n", back != NULL ? back : json);
    snprintf(shown, sizeof shown, "v: %s", type);
    declare(schema, 1);
    expect_rows(text, &options, shown, rows);
    undeclare();
}

static void refuses(const char *type, const char *json)
{
    char schema[256], text[512];
    reading r;
    snprintf(schema, sizeof schema, "v:%s", type);
    snprintf(text, sizeof text, "{\"v\":null}\n{\"v\":%s}\n", json);
    declare(schema, 1);
    read_text(&r, text, &options);
    if (!CHECK_INT(r.status, ALD_E_SCHEMA_MISMATCH))
        printf("    %s into %s\n", json, type);
    CHECK_CONTAINS(r.err.msg, "line 2: $.v");
    reading_free(&r);
    undeclare();
}

static void test_numbers(void)
{
    fits("int8", "-128", NULL);
    fits("uint16", "65535", NULL);
    fits("int64", "-9223372036854775808", NULL);
    fits("uint64", "18446744073709551615", NULL);
    fits("int32", "\"12\"", "12");
    fits("float", "0.1", NULL);
    fits("double", "0.12345678901234567890", "0.12345678901234568");
    fits("double", "12", "12.0");
    fits("double", "\"NaN\"", NULL);
    fits("double", "\"-Infinity\"", NULL);
    fits("decimal128(5, 2)", "-123.4", "-123.40");
    fits("decimal256(40, 0)", "1234567890123456789012345678901234567890", NULL);
    refuses("int8", "128");
    refuses("uint8", "-1");
    refuses("int64", "1.5");
    refuses("int64", "9223372036854775808");
    refuses("int32", "true");
    refuses("int32", "[1]");
    refuses("double", "1e400");
    refuses("double", "\"x\"");
    refuses("decimal128(5, 2)", "0.001");
    refuses("decimal128(5, 2)", "12345");
}

static void test_other_scalars(void)
{
    fits("bool", "true", NULL);
    fits("string", "\"x\"", NULL);
    fits("string", "1.50", "\"1.50\"");
    fits("string", "false", "\"false\"");
    fits("large_string", "{\"a\": [1]}", "\"{\\\"a\\\":[1]}\"");
    fits("binary", "\"AP8=\"", NULL);
    fits("date32[day]", "\"2024-02-29\"", NULL);
    fits("timestamp[us]", "\"2024-02-29T12:00:00.25\"", "\"2024-02-29T12:00:00.250\"");
    fits("timestamp[ms, tz=UTC]", "\"2024-02-29T12:00:00Z\"", NULL);
    fits("time64[ns]", "\"12:34:56.123456789\"", NULL);
    fits("null", "null", NULL);
    refuses("bool", "\"yes\"");
    refuses("bool", "1");
    refuses("binary", "\"*\"");
    refuses("date32[day]", "\"2023-02-29\"");
    refuses("date32[day]", "12");
    refuses("timestamp[us]", "\"2024-02-29T12:00:00Z\"");
    refuses("null", "1");
}

static void test_nested(void)
{
    fits("list<item: int8>", "[1,null,3]", NULL);
    fits("large_list<item: string>", "[\"a\",\"\"]", NULL);
    fits("fixed_size_list<item: float>[2]", "[1.5,null]", NULL);
    fits("struct<x: int16, y: list<item: bool>>", "{\"y\":[true]}", "{\"x\":null,\"y\":[true]}");
    fits("dictionary<values=string, indices=int8, ordered=0>", "\"a\"", NULL);
    refuses("list<item: int8>", "[1,300]");
    refuses("list<item: int8>", "1");
    refuses("fixed_size_list<item: float>[2]", "[1]");
    refuses("struct<x: int16>", "{\"z\":1}");
    refuses("struct<x: int16>", "[]");
    refuses("dictionary<values=string, indices=int8, ordered=0>", "1");
}

static void test_maps(void)
{
    const char *type = "map<string, int64>";
    fits(type, "{\"a\":1,\"b\":null}", "{\"a\":1,\"b\":null}");
    fits(type, "[[\"a\",1],[\"b\",null]]", "{\"a\":1,\"b\":null}");
    fits(type, "[{\"key\":\"a\",\"value\":1},{\"value\":2,\"key\":\"b\"}]", "{\"a\":1,\"b\":2}");
    fits(type, "{}", "{}");
    refuses(type, "[[\"a\"]]");
    refuses(type, "[[null,1]]");
    refuses(type, "{\"a\":\"x\"}");
    refuses(type, "3");
    declare("v:map<string, int64>", 1);
    expect_error("{\"v\":{\"a\":1,\"a\":2}}\n", &options, ALD_E_INVALID_FORMAT,
                 "$.v.a: the same key");
    undeclare();
}

static void test_dictionary_batches(void)
{
    reading r;
    declare("v:dictionary<values=string, indices=int8, ordered=0>", 1);
    options.text.batch_rows = 2;
    expect_rows("{\"v\":\"a\"}\n{\"v\":\"b\"}\n{\"v\":\"b\"}\n{}\n{\"v\":\"c\"}\n", &options,
                "v: dictionary<values=string, indices=int8, ordered=0>",
                "{\"v\":\"a\"}\n{\"v\":\"b\"}\n{\"v\":\"b\"}\n{\"v\":null}\n{\"v\":\"c\"}\n");
    char text[4096];
    size_t n = 0;
    for (int i = 0; i < 130; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"v\":\"%d\"}\n", i);
    options.text.batch_rows = 1000;
    read_text(&r, text, &options);
    CHECK_INT(r.status, ALD_E_LIMIT_EXCEEDED);
    CHECK_CONTAINS(r.err.msg, "line 129: $.v: more different values");
    reading_free(&r);
    undeclare();
}

static void test_some_columns(void)
{
    declare("n:int32,late:string", 0);
    expect_rows("{\"a\":1,\"n\":5}\n{\"n\":6,\"a\":2.5}\n", &options,
                "a: double, n: int32, late: string",
                "{\"a\":1.0,\"n\":5,\"late\":null}\n{\"a\":2.5,\"n\":6,\"late\":null}\n");
    expect_error("{\"a\":1,\"n\":5}\n{\"n\":\"x\"}\n", &options, ALD_E_SCHEMA_MISMATCH,
                 "line 2: $.n: \"x\" does not fit the type int32");
    undeclare();
    declare("v:string", 0);
    expect_rows("{\"v\":1}\n{\"v\":\"x\"}\n", &options, "v: string",
                "{\"v\":\"1\"}\n{\"v\":\"x\"}\n");
    undeclare();
}

static void test_schema(void)
{
    declare("a:int64,b:string", 1);
    expect_rows("{\"b\":\"x\"}\n", &options, "a: int64, b: string", "{\"a\":null,\"b\":\"x\"}\n");
    expect_rows("", &options, "a: int64, b: string", "");
    expect_error("{\"a\":1}\n{\"c\":1}\n", &options, ALD_E_SCHEMA_MISMATCH,
                 "line 2: $.c: a key that the schema does not have");
    expect_error("{\"a\":1,\"a\":2}\n", &options, ALD_E_INVALID_FORMAT, "$.a: the same key twice");
    undeclare();
    declare("{\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":false},"
            "{\"name\":\"s\",\"type\":\"struct<x: int64 not null>\"}]}",
            1);
    expect_rows("{\"a\":1,\"s\":null}\n", &options, "a: int64, s: struct<x: int64 not null>",
                "{\"a\":1,\"s\":null}\n");
    expect_error("{\"a\":null}\n", &options, ALD_E_SCHEMA_MISMATCH, "line 1: $.a: null");
    expect_error("{\"s\":null}\n", &options, ALD_E_SCHEMA_MISMATCH, "line 1: $.a: missing");
    expect_error("{\"a\":1,\"s\":{}}\n", &options, ALD_E_SCHEMA_MISMATCH, "line 1: $.s.x: missing");
    undeclare();
    declare("a:int64,a:string", 1);
    expect_error("{}\n", &options, ALD_E_INVALID_ARG, "'a' twice");
    undeclare();
    declare("a:halffloat", 1);
    expect_error("{}\n", &options, ALD_E_UNSUPPORTED, "column 'a'");
    undeclare();
}

static void test_infer_rows(void)
{
    ald_jsonl_options initial = ALD_JSONL_OPTIONS_INIT;
    options = initial;
    options.text.infer_rows = 2;
    expect_rows("{\"a\":1,\"f\":0.5}\n{\"a\":2,\"f\":3}\n{\"a\":3,\"f\":4}\n", &options,
                "a: int64, f: double",
                "{\"a\":1,\"f\":0.5}\n{\"a\":2,\"f\":3.0}\n{\"a\":3,\"f\":4.0}\n");
    expect_error("{\"a\":1}\n{\"a\":2}\n{\"a\":1.5}\n", &options, ALD_E_SCHEMA_MISMATCH,
                 "line 3: $.a");
    expect_error("{\"a\":1}\n{\"a\":2}\n{\"b\":1}\n", &options, ALD_E_SCHEMA_MISMATCH,
                 "line 3: $.b");
    expect_error("{\"f\":1.5}\n{\"f\":2.5}\n{\"f\":0.1234567890123456789}\n", &options,
                 ALD_E_SCHEMA_MISMATCH, "line 3: $.f");
    expect_error("{\"f\":1.5}\n{\"f\":2.5}\n{\"f\":9007199254740993}\n", &options,
                 ALD_E_SCHEMA_MISMATCH, "line 3: $.f");
    expect_error("{\"s\":\"x\"}\n{}\n{\"s\":1}\n", &options, ALD_E_SCHEMA_MISMATCH, "line 3: $.s");
    expect_error("{\"s\":null}\n{}\n{\"s\":1}\n", &options, ALD_E_SCHEMA_MISMATCH, "line 3: $.s");
}

int main(void)
{
    RUN(test_numbers);
    RUN(test_other_scalars);
    RUN(test_nested);
    RUN(test_maps);
    RUN(test_dictionary_batches);
    RUN(test_some_columns);
    RUN(test_schema);
    RUN(test_infer_rows);
    return check_done();
}
