/* SPDX-License-Identifier: MIT */
/* Which types JSON values get, and that their values arrive. */
#include "jsonl_fixture.h"

static void test_scalars(void)
{
    expect_rows(
        "{\"b\":true,\"i\":-7,\"f\":1.5,\"s\":\"x\"}\n{\"b\":false,\"i\":9223372036854775807,"
        "\"f\":1e300,\"s\":\"\"}\n",
        NULL, "b: bool, i: int64, f: double, s: string",
        "{\"b\":true,\"i\":-7,\"f\":1.5,\"s\":\"x\"}\n"
        "{\"b\":false,\"i\":9223372036854775807,\"f\":1e300,\"s\":\"\"}\n");
}

static void test_numbers(void)
{
    expect_rows("{\"n\":1}\n{\"n\":18446744073709551615}\n", NULL, "n: uint64",
                "{\"n\":1}\n{\"n\":18446744073709551615}\n");
    expect_rows("{\"n\":-1}\n{\"n\":18446744073709551615}\n", NULL, "n: decimal128(20, 0)",
                "{\"n\":-1}\n{\"n\":18446744073709551615}\n");
    expect_rows("{\"n\":3}\n{\"n\":0.5}\n", NULL, "n: double", "{\"n\":3.0}\n{\"n\":0.5}\n");
    expect_rows("{\"n\":-0}\n{\"n\":1}\n", NULL, "n: double", "{\"n\":-0.0}\n{\"n\":1.0}\n");
    expect_rows("{\"n\":-0.25}\n{\"n\":-0.0}\n", NULL, "n: double",
                "{\"n\":-0.25}\n{\"n\":-0.0}\n");
    expect_rows("{\"n\":9007199254740993}\n{\"n\":0.5}\n", NULL, "n: decimal128(17, 1)",
                "{\"n\":9007199254740993.0}\n{\"n\":0.5}\n");
    expect_rows("{\"n\":0.1234567890123456789}\n", NULL, "n: decimal128(19, 19)",
                "{\"n\":0.1234567890123456789}\n");
    expect_rows("{\"n\":1e400}\n{\"n\":2}\n", NULL, "n: string",
                "{\"n\":\"1e400\"}\n{\"n\":\"2\"}\n");
}

/* More digits, a sign or a point where the column was long of one kind. */
static void test_late_numbers(void)
{
    expect_rows("{\"n\":5}\n{\"n\":6}\n{\"n\":77}\n{\"n\":-8}\n{\"n\":12345678901234567}\n", NULL,
                "n: int64",
                "{\"n\":5}\n{\"n\":6}\n{\"n\":77}\n{\"n\":-8}\n{\"n\":12345678901234567}\n");
    expect_rows("{\"n\":0.5}\n{\"n\":0.25}\n{\"n\":0.125}\n{\"n\":10.5}\n{\"n\":2}\n", NULL,
                "n: double",
                "{\"n\":0.5}\n{\"n\":0.25}\n{\"n\":0.125}\n{\"n\":10.5}\n{\"n\":2.0}\n");
    expect_rows("{\"n\":0}\n{\"n\":0}\n{\"n\":0.0}\n", NULL, "n: double",
                "{\"n\":0.0}\n{\"n\":0.0}\n{\"n\":0.0}\n");
}

static void test_nested(void)
{
    expect_rows(
        "{\"a\":{\"x\":1,\"y\":[1,2.5]}}\n{\"a\":{\"y\":null,\"z\":\"s\"}}\n{\"a\":null}\n{}\n",
        NULL, "a: struct<x: int64, y: list<item: double>, z: string>",
        "{\"a\":{\"x\":1,\"y\":[1.0,2.5],\"z\":null}}\n{\"a\":{\"x\":null,\"y\":null,\"z\":\"s\"}}"
        "\n"
        "{\"a\":null}\n{\"a\":null}\n");
    expect_rows("{\"l\":[[1],[],null,[2,3]]}\n{\"l\":[]}\n", NULL,
                "l: list<item: list<item: int64>>", "{\"l\":[[1],[],null,[2,3]]}\n{\"l\":[]}\n");
    expect_rows("{\"l\":[{\"k\":1},null,{\"m\":true}]}\n", NULL,
                "l: list<item: struct<k: int64, m: bool>>",
                "{\"l\":[{\"k\":1,\"m\":null},null,{\"k\":null,\"m\":true}]}\n");
}

static void test_unknown_takes_later(void)
{
    expect_rows("{\"a\":null,\"b\":[],\"c\":{}}\n", NULL,
                "a: null, b: list<item: null>, c: struct<>", "{\"a\":null,\"b\":[],\"c\":{}}\n");
    expect_rows(
        "{\"a\":null,\"b\":[],\"c\":{}}\n{\"a\":[1],\"b\":[{}],\"c\":{\"d\":\"x\"}}\n", NULL,
        "a: list<item: int64>, b: list<item: struct<>>, c: struct<d: string>",
        "{\"a\":null,\"b\":[],\"c\":{\"d\":null}}\n{\"a\":[1],\"b\":[{}],\"c\":{\"d\":\"x\"}}\n");
    expect_rows("{\"a\":[null]}\n{\"a\":[null,null]}\n", NULL, "a: list<item: null>",
                "{\"a\":[null]}\n{\"a\":[null,null]}\n");
}

static void test_order_of_keys(void)
{
    expect_rows("{\"b\":1,\"a\":2}\n{\"c\":3,\"a\":4,\"b\":5}\n{\"a\":6}\n", NULL,
                "b: int64, a: int64, c: int64",
                "{\"b\":1,\"a\":2,\"c\":null}\n{\"b\":5,\"a\":4,\"c\":3}\n{\"b\":null,\"a\":6,"
                "\"c\":null}\n");
    expect_rows(
        "{\"\":1,\"longer than sixteen bytes\":2,\"sixteen bytes!!!\":3,\"eight by\":4}\n"
        "{\"eight bx\":5}\n",
        NULL,
        ": int64, longer than sixteen bytes: int64, sixteen bytes!!!: int64, eight by: int64, "
        "eight bx: int64",
        "{\"\":1,\"longer than sixteen bytes\":2,\"sixteen bytes!!!\":3,\"eight by\":4,\"eight "
        "bx\":null}\n{\"\":null,\"longer than sixteen bytes\":null,\"sixteen "
        "bytes!!!\":null,\"eight by\":null,\"eight bx\":5}\n");
}

static void test_strings(void)
{
    expect_rows(
        "{\"s\":\"\\u00e9\\ud83d\\ude00\\n\\\"\\\\\"}\n{\"s\":\"a\\u0000b\"}\n{\"s\":\"123\"}\n"
        "{\"s\":\"2024-01-31\"}\n",
        NULL, "s: string",
        "{\"s\":\"\xc3\xa9\xf0\x9f\x98\x80\\n\\\"\\\\\"}\n{\"s\":\"a\\u0000b\"}\n{\"s\":\"123\"}\n"
        "{\"s\":\"2024-01-31\"}\n");
}

static void test_mixed(void)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    const char *text = "{\"v\":1.50,\"k\":1}\n{\"v\":\"one\"}\n{\"v\":null}\n{\"v\":true}\n"
                       "{\"v\":{\"a\":[1,\"x\"]}}\n{\"v\":[ ]}\n";
    expect_error(text, NULL, ALD_E_SCHEMA_MISMATCH,
                 "in.jsonl: line 2: $.v: a string here, a number on line 1\npass --mixed string");
    options.mixed = ALD_JSON_MIXED_STRING;
    expect_rows(text, &options, "v: string, k: int64",
                "{\"v\":\"1.50\",\"k\":1}\n{\"v\":\"one\",\"k\":null}\n{\"v\":null,\"k\":null}\n"
                "{\"v\":\"true\",\"k\":null}\n{\"v\":\"{\\\"a\\\":[1,\\\"x\\\"]}\",\"k\":null}\n"
                "{\"v\":\"[]\",\"k\":null}\n");
    options.mixed = ALD_JSON_MIXED_JSON;
    expect_rows("{\"v\":\"a\\\"b\"}\n{\"v\":2}\n", &options, "v: string",
                "{\"v\":\"\\\"a\\\\\\\"b\\\"\"}\n{\"v\":\"2\"}\n");
    /* Only the place where kinds clash becomes text. */
    options.mixed = ALD_JSON_MIXED_STRING;
    expect_rows("{\"a\":{\"x\":1,\"y\":[1,\"s\"]}}\n{\"a\":{\"x\":2,\"y\":[]}}\n", &options,
                "a: struct<x: int64, y: list<item: string>>",
                "{\"a\":{\"x\":1,\"y\":[\"1\",\"s\"]}}\n{\"a\":{\"x\":2,\"y\":[]}}\n");
}

/* The clash that comes first in the file is told, wherever its column stands. */
static void test_first_clash(void)
{
    expect_error("{\"a\":1,\"b\":[{\"c\":1}]}\n{\"b\":[{\"c\":{}}]}\n{\"a\":\"x\"}\n", NULL,
                 ALD_E_SCHEMA_MISMATCH, "line 2: $.b[].c: an object here, a number on line 1");
    expect_error("{\"a\":[true,1]}\n", NULL, ALD_E_SCHEMA_MISMATCH, "line 1: $.a[]: ");
    expect_error("{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":}\n", NULL, ALD_E_SCHEMA_MISMATCH,
                 "line 2: $.a");
    expect_error("{\"a\":1}\n{\"a\":}\n{\"a\":\"x\"}\n", NULL, ALD_E_INVALID_FORMAT,
                 "line 2, byte 6");
}

static void test_notes(void)
{
    char text[8192];
    size_t n = 0;
    reading r;
    for (int i = 0; i < 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "{\"p\":{\"amount\":%d.5}}\n", i);
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "{\"p\":{\"amount\":0.12345678901234567890}}\n");
    read_text(&r, text, NULL);
    REQUIRE_OK(r.status, &r.err);
    CHECK_STR(r.schema, "p: struct<amount: decimal128(22, 20)>");
    CHECK_CONTAINS(r.notes, "$.p.amount is decimal");
    CHECK_CONTAINS(r.notes, "first on line 21");
    reading_free(&r);
    read_text(&r, "{\"a\":1}\n{\"a\":1.5}\n", NULL);
    CHECK_STR(r.notes, "");
    reading_free(&r);
}

int main(void)
{
    RUN(test_scalars);
    RUN(test_numbers);
    RUN(test_late_numbers);
    RUN(test_nested);
    RUN(test_unknown_takes_later);
    RUN(test_order_of_keys);
    RUN(test_strings);
    RUN(test_mixed);
    RUN(test_first_clash);
    RUN(test_notes);
    return check_done();
}
