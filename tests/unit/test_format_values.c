/* SPDX-License-Identifier: MIT */
/* ald_value_to_text over every layout of Arrow. */
#include <math.h>

#include "format_fixture.h"

#define TEXT(format_, row, n_buffers, ...)                                                         \
    text_of(format_, row, fixture_array(16, n_buffers, BUFFERS(__VA_ARGS__)), 0)
#define JSON(format_, row, n_buffers, ...)                                                         \
    text_of(format_, row, fixture_array(16, n_buffers, BUFFERS(__VA_ARGS__)), 1)

static const char *text_of(const char *format, int64_t row, struct ArrowArray array, int json)
{
    struct ArrowSchema field = fixture_field(format, "c");
    return fixture_text(&field, &array, row, json, NULL);
}

static void test_integers(void)
{
    int8_t i8[] = {-128, 127};
    uint8_t u8[] = {255};
    int16_t i16[] = {-32768};
    uint16_t u16[] = {65535};
    int32_t i32[] = {INT32_MIN, 0, 7};
    uint32_t u32[] = {UINT32_MAX};
    int64_t i64[] = {INT64_MIN, INT64_MAX, -1, 99999999, 100000000};
    uint64_t u64[] = {UINT64_MAX, 10000000000000000u, 9999999999999999u};
    CHECK_STR(TEXT("c", 0, 2, NULL, i8), "-128");
    CHECK_STR(TEXT("c", 1, 2, NULL, i8), "127");
    CHECK_STR(TEXT("C", 0, 2, NULL, u8), "255");
    CHECK_STR(TEXT("s", 0, 2, NULL, i16), "-32768");
    CHECK_STR(TEXT("S", 0, 2, NULL, u16), "65535");
    CHECK_STR(TEXT("i", 0, 2, NULL, i32), "-2147483648");
    CHECK_STR(TEXT("i", 1, 2, NULL, i32), "0");
    CHECK_STR(JSON("i", 2, 2, NULL, i32), "7");
    CHECK_STR(TEXT("I", 0, 2, NULL, u32), "4294967295");
    CHECK_STR(JSON("l", 0, 2, NULL, i64), "-9223372036854775808");
    CHECK_STR(TEXT("l", 1, 2, NULL, i64), "9223372036854775807");
    CHECK_STR(TEXT("l", 2, 2, NULL, i64), "-1");
    CHECK_STR(TEXT("l", 3, 2, NULL, i64), "99999999");
    CHECK_STR(TEXT("l", 4, 2, NULL, i64), "100000000");
    CHECK_STR(TEXT("L", 0, 2, NULL, u64), "18446744073709551615");
    CHECK_STR(TEXT("L", 1, 2, NULL, u64), "10000000000000000");
    CHECK_STR(TEXT("L", 2, 2, NULL, u64), "9999999999999999");
}

static void test_integers_all_lengths(void)
{
    for (int digits = 0; digits < 20; digits++) {
        uint64_t power = 1, around[3];
        for (int i = 0; i < digits; i++)
            power *= 10;
        around[0] = power - 1;
        around[1] = power;
        around[2] = power + power / 7;
        for (int64_t i = 0; i < 3; i++) {
            char want[32];
            snprintf(want, sizeof want, "%" PRIu64, around[i]);
            CHECK_STR(TEXT("L", i, 2, NULL, around), want);
        }
    }
}

static void test_nulls_bools_offsets(void)
{
    uint8_t valid[] = {0x0B}, bits[] = {0x2A};
    int32_t values[] = {10, 11, 12, 13};
    struct ArrowSchema field = fixture_field("i", "c");
    struct ArrowArray array = fixture_array(3, 2, BUFFERS(valid, values));
    ald_text_write_options options = ALD_TEXT_WRITE_OPTIONS_INIT;
    CHECK_STR(JSON("b", 0, 2, NULL, bits), "false");
    CHECK_STR(TEXT("b", 1, 2, NULL, bits), "true");
    array.offset = 1;
    CHECK_STR(fixture_text(&field, &array, 0, 0, NULL), "11");
    CHECK_STR(fixture_text(&field, &array, 1, 0, NULL), "");
    CHECK_STR(fixture_text(&field, &array, 1, 1, NULL), "null");
    CHECK_STR(fixture_text(&field, &array, 2, 1, NULL), "13");
    options.null_text = "NA";
    CHECK_STR(fixture_text(&field, &array, 1, 0, &options), "NA");
    CHECK_STR(fixture_text(&field, &array, 1, 1, &options), "null");
    array.null_count = 0; /* a bitmap that need not be looked at */
    CHECK_STR(fixture_text(&field, &array, 1, 0, NULL), "12");
    CHECK_CONTAINS(fixture_text(&field, &array, 3, 0, NULL), "InvalidArgument");
    CHECK_STR(text_of("n", 3, fixture_array(9, 0, NULL), 1), "null");
}

static void test_floats(void)
{
    double f64[] = {0.0,  -0.0,      0.1,      1.0,
                    12.5, 1e300,     5e-324,   0.30000000000000004,
                    NAN,  -INFINITY, INFINITY, 123456789.123457,
                    1e21, 1e-7,      -1234.5,  0.001};
    float f32[] = {0.1f, 16777216.0f, 3.4028235e38f, 1e-45f, -INFINITY, 1.0f};
    uint16_t f16[] = {0x3C00, 0x2E66, 0x0001, 0x7C00, 0x7E00, 0x8000, 0xC000, 0x7BFF};
    const char *want64[] = {"0.0",  "-0.0",      "0.1",      "1.0",
                            "12.5", "1e300",     "5e-324",   "0.30000000000000004",
                            "NaN",  "-Infinity", "Infinity", "123456789.123457",
                            "1e21", "1e-7",      "-1234.5",  "0.001"};
    const char *want32[] = {"0.1", "16777216.0", "3.4028235e38", "1e-45", "-Infinity", "1.0"};
    const char *want16[] = {
        "1.0",  "0.0999755859375", "5.960464477539063e-8", "Infinity", "NaN", "-0.0",
        "-2.0", "65504.0"};
    ald_text_write_options options = ALD_TEXT_WRITE_OPTIONS_INIT;
    struct ArrowSchema field = fixture_field("g", "c");
    struct ArrowArray array = fixture_array(16, 2, BUFFERS(NULL, f64));
    for (int64_t i = 0; i < 16; i++)
        CHECK_STR(TEXT("g", i, 2, NULL, f64), want64[i]);
    for (int64_t i = 0; i < 6; i++)
        CHECK_STR(TEXT("f", i, 2, NULL, f32), want32[i]);
    for (int64_t i = 0; i < 8; i++)
        CHECK_STR(TEXT("e", i, 2, NULL, f16), want16[i]);
    CHECK_STR(JSON("g", 8, 2, NULL, f64), "\"NaN\"");
    CHECK_STR(JSON("g", 9, 2, NULL, f64), "\"-Infinity\"");
    CHECK_STR(JSON("f", 0, 2, NULL, f32), "0.1");
    CHECK_STR(JSON("e", 3, 2, NULL, f16), "\"Infinity\"");
    options.plain_json = 1;
    CHECK_STR(fixture_text(&field, &array, 10, 1, &options), "null");
    CHECK_STR(fixture_text(&field, &array, 10, 0, &options), "Infinity");
}

static void test_decimals(void)
{
    int32_t d32[] = {-12345};
    int64_t d64[] = {-1, 0};
    uint64_t d128[] = {0,
                       0,
                       1,
                       0,
                       UINT64_MAX,
                       UINT64_MAX,
                       0x098A223FFFFFFFFF,
                       0x4B3B4CA85A86C47A,
                       0,
                       0x8000000000000000};
    uint64_t d256[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, INT64_MAX, 0, 0, 0, 0x8000000000000000};
    CHECK_STR(JSON("d:5,2,32", 0, 2, NULL, d32), "-123.45");
    CHECK_STR(TEXT("d:9,0,32", 0, 2, NULL, d32), "-12345");
    CHECK_STR(TEXT("d:18,3,64", 0, 2, NULL, d64), "-0.001");
    CHECK_STR(TEXT("d:18,-3,64", 0, 2, NULL, d64), "-1000");
    CHECK_STR(TEXT("d:18,-3,64", 1, 2, NULL, d64), "0");
    CHECK_STR(TEXT("d:18,3,64", 1, 2, NULL, d64), "0.000");
    CHECK_STR(TEXT("d:38,2", 0, 2, NULL, d128), "0.00");
    CHECK_STR(TEXT("d:38,1", 1, 2, NULL, d128), "0.1");
    CHECK_STR(TEXT("d:38,0,128", 2, 2, NULL, d128), "-1");
    CHECK_STR(TEXT("d:38,0", 3, 2, NULL, d128), "99999999999999999999999999999999999999");
    CHECK_STR(TEXT("d:38,38", 3, 2, NULL, d128), "0.99999999999999999999999999999999999999");
    CHECK_STR(TEXT("d:38,10", 3, 2, NULL, d128), "9999999999999999999999999999.9999999999");
    CHECK_STR(TEXT("d:38,0", 4, 2, NULL, d128), "-170141183460469231731687303715884105728");
    CHECK_STR(TEXT("d:76,0,256", 0, 2, NULL, d256),
              "57896044618658097711785492504343953926634992332820282019728792003956564819967");
    CHECK_STR(TEXT("d:76,1,256", 1, 2, NULL, d256),
              "-5789604461865809771178549250434395392663499233282028201972879200395656481996.8");
    CHECK_STR(TEXT("d:38,2000000", 1, 2, NULL, d128), "1e-2000000");
    CHECK_STR(TEXT("d:38,-121", 1, 2, NULL, d128), "1e121");
}

static void test_dates_and_times(void)
{
    int32_t days[] = {0, -1, 19753, -719528, 2932897, -719529, INT32_MAX, INT32_MIN, 11016};
    const char *want[] = {"1970-01-01",     "1969-12-31",     "2024-01-31",
                          "0000-01-01",     "+10000-01-01",   "-0001-12-31",
                          "+5881580-07-11", "-5877641-06-23", "2000-02-29"};
    int64_t ms[] = {86400000, 1, -86400000, INT64_MIN};
    int32_t t32[] = {86399, -1};
    int64_t t64[] = {0, 1, 86399999999999, 1500000, 3600000000};
    for (int64_t i = 0; i < 9; i++)
        CHECK_STR(TEXT("tdD", i, 2, NULL, days), want[i]);
    CHECK_STR(JSON("tdD", 0, 2, NULL, days), "\"1970-01-01\"");
    CHECK_STR(TEXT("tdm", 0, 2, NULL, ms), "1970-01-02");
    CHECK_STR(TEXT("tdm", 1, 2, NULL, ms), "1970-01-01T00:00:00.001");
    CHECK_STR(TEXT("tdm", 2, 2, NULL, ms), "1969-12-31");
    CHECK_CONTAINS(TEXT("tdm", 3, 2, NULL, ms), "-292275055-05-16T16:47:04.192");
    CHECK_STR(TEXT("tts", 0, 2, NULL, t32), "23:59:59");
    CHECK_STR(TEXT("ttm", 0, 2, NULL, t32), "00:01:26.399");
    CHECK_STR(TEXT("tts", 1, 2, NULL, t32), "-00:00:01");
    CHECK_STR(TEXT("ttn", 0, 2, NULL, t64), "00:00:00.000000000");
    CHECK_STR(TEXT("ttn", 1, 2, NULL, t64), "00:00:00.000000001");
    CHECK_STR(TEXT("ttn", 2, 2, NULL, t64), "23:59:59.999999999");
    CHECK_STR(TEXT("ttu", 3, 2, NULL, t64), "00:00:01.500");
    CHECK_STR(TEXT("ttu", 1, 2, NULL, t64), "00:00:00.000001");
    CHECK_STR(JSON("ttu", 4, 2, NULL, t64), "\"01:00:00\"");
}

static void test_timestamps(void)
{
    int64_t t[] = {0, 1706718600, -1, INT64_MAX, INT64_MIN, 1706718600500000};
    CHECK_STR(TEXT("tss:", 1, 2, NULL, t), "2024-01-31T16:30:00");
    CHECK_STR(TEXT("tss:UTC", 1, 2, NULL, t), "2024-01-31T16:30:00Z");
    CHECK_STR(TEXT("tss:Europe/Berlin", 1, 2, NULL, t), "2024-01-31T16:30:00Z");
    CHECK_STR(TEXT("tss:+05:30", 1, 2, NULL, t), "2024-01-31T22:00:00+05:30");
    CHECK_STR(TEXT("tss:-0800", 1, 2, NULL, t), "2024-01-31T08:30:00-08:00");
    CHECK_STR(TEXT("tss:+01", 1, 2, NULL, t), "2024-01-31T17:30:00+01:00");
    CHECK_STR(TEXT("tss:+00:00", 1, 2, NULL, t), "2024-01-31T16:30:00+00:00");
    CHECK_STR(TEXT("tsu:", 5, 2, NULL, t), "2024-01-31T16:30:00.500");
    CHECK_STR(TEXT("tsm:", 2, 2, NULL, t), "1969-12-31T23:59:59.999");
    CHECK_STR(TEXT("tsu:", 2, 2, NULL, t), "1969-12-31T23:59:59.999999");
    CHECK_STR(JSON("tsn:Z", 2, 2, NULL, t), "\"1969-12-31T23:59:59.999999999Z\"");
    CHECK_STR(TEXT("tsn:", 4, 2, NULL, t), "1677-09-21T00:12:43.145224192");
    CHECK_STR(TEXT("tss:", 3, 2, NULL, t), "+292277026596-12-04T15:30:07");
    CHECK_STR(TEXT("tss:+01:00", 3, 2, NULL, t), "+292277026596-12-04T15:30:07Z");
    CHECK_STR(TEXT("tss:-01:00", 4, 2, NULL, t), "-292277022657-01-27T08:29:52Z");
}

static void test_durations_and_intervals(void)
{
    int64_t count[] = {-1500};
    int32_t months[] = {14, -1}, day_time[] = {1, -500, 0, 0};
    struct {
        int32_t months, days;
        int64_t nanos;
    } mdn[] = {{1, -2, 3000000004}, {0, 0, INT64_MIN}, {-14, 0, 0}};
    CHECK_STR(JSON("tDm", 0, 2, NULL, count), "-1500");
    CHECK_STR(TEXT("tiM", 0, 2, NULL, months), "P14M");
    CHECK_STR(JSON("tiM", 1, 2, NULL, months), "\"P-1M\"");
    CHECK_STR(TEXT("tiD", 0, 2, NULL, day_time), "P1DT-0.5S");
    CHECK_STR(TEXT("tiD", 1, 2, NULL, day_time), "PT0S");
    CHECK_STR(TEXT("tin", 0, 2, NULL, mdn), "P1M-2DT3.000000004S");
    CHECK_STR(TEXT("tin", 1, 2, NULL, mdn), "PT-9223372036.854775808S");
    CHECK_STR(TEXT("tin", 2, 2, NULL, mdn), "P-14M");
}

static void test_strings(void)
{
    const char *bytes = "a\"b\\\n\x01\xE2\x80\xA8zwanzig Zeichen sind es\x1F";
    int32_t offsets[] = {0, 0, 9, 10, 33};
    int64_t large[] = {2, 9};
    CHECK_STR(TEXT("u", 0, 3, NULL, offsets, bytes), "");
    CHECK_STR(JSON("u", 0, 3, NULL, offsets, bytes), "\"\"");
    CHECK_STR(JSON("u", 1, 3, NULL, offsets, bytes), "\"a\\\"b\\\\\\n\\u0001\xE2\x80\xA8\"");
    CHECK_STR(JSON("u", 2, 3, NULL, offsets, bytes), "\"z\"");
    CHECK_STR(JSON("u", 3, 3, NULL, offsets, bytes), "\"wanzig Zeichen sind es\\u001f\"");
    CHECK_STR(JSON("U", 0, 3, NULL, large, bytes), "\"b\\\\\\n\\u0001\xE2\x80\xA8\"");
    CHECK_STR(TEXT("u", 0, 3, NULL, ((int32_t[]){0, 0}), NULL), "");
}

static void test_binaries(void)
{
    const char *bytes = "fooba\xFF";
    int32_t offsets[] = {0, 0, 1, 3, 6};
    const char *base64[] = {"", "Zg==", "b28=", "YmH/"};
    ald_text_write_options hex = ALD_TEXT_WRITE_OPTIONS_INIT;
    struct ArrowSchema field = fixture_field("w:2", "c");
    struct ArrowArray array = fixture_array(3, 2, BUFFERS(NULL, bytes));
    for (int64_t i = 0; i < 4; i++)
        CHECK_STR(TEXT("z", i, 3, NULL, offsets, bytes), base64[i]);
    CHECK_STR(JSON("z", 3, 3, NULL, offsets, bytes), "\"YmH/\"");
    hex.binary = ALD_BINARY_HEX;
    CHECK_STR(fixture_text(&field, &array, 2, 0, &hex), "61ff");
    CHECK_STR(fixture_text(&field, &array, 0, 1, &hex), "\"666f\"");
}

static void test_views(void)
{
    const char *data = "the data of a longer string";
    int32_t views[8] = {3, 0, 0, 0, 13, 0, 1, 4};
    int64_t sizes[] = {27};
    memcpy(views + 1, "abc", 3);
    memcpy(views + 5, "data", 4);
    CHECK_STR(TEXT("vu", 0, 5, NULL, views, "", data, sizes), "abc");
    CHECK_STR(JSON("vu", 1, 5, NULL, views, "", data, sizes), "\"data of a lon\"");
    CHECK_STR(TEXT("vz", 0, 5, NULL, views, "", data, sizes), "YWJj");
}

static void test_lists(void)
{
    int32_t values[] = {1, 2, 3, 4, 5, 6}, offsets[] = {0, 2, 2, 5}, sizes[] = {2, 1, 0};
    int64_t large_offsets[] = {4, 0}, large_sizes[] = {2, 3};
    uint8_t valid[] = {0x37};
    struct ArrowSchema item = fixture_field("i", "item"), field = fixture_field("+l", "c");
    struct ArrowSchema *items[] = {&item};
    struct ArrowArray child = fixture_array(5, 2, BUFFERS(valid, values)), array;
    struct ArrowArray *children[] = {&child};
    field.n_children = 1;
    field.children = items;
    child.offset = 1; /* 2 3 null 5 6 */
    array = fixture_array(3, 2, BUFFERS(NULL, offsets));
    array.n_children = 1;
    array.children = children;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "[2,3]");
    CHECK_STR(fixture_text(&field, &array, 1, 1, NULL), "[]");
    CHECK_STR(fixture_text(&field, &array, 2, 0, NULL), "[null,5,6]");
    field.format = "+vl";
    array.n_buffers = 3;
    array.buffers = BUFFERS(NULL, offsets, sizes);
    CHECK_STR(fixture_text(&field, &array, 1, 1, NULL), "[null]");
    field.format = "+vL";
    array.buffers = BUFFERS(NULL, large_offsets, large_sizes);
    CHECK_STR(fixture_text(&field, &array, 1, 1, NULL), "[2,3,null]");
    field.format = "+L";
    array.n_buffers = 2;
    array.buffers = BUFFERS(NULL, ((int64_t[]){1, 3, 3}));
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "[3,null]");
    field.format = "+w:2";
    array.n_buffers = 1;
    array.buffers = BUFFERS(NULL);
    array.offset = 1;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "[null,5]");
}

static void test_structs_and_maps(void)
{
    int32_t keys[] = {0, 1, 2, 3}, offsets[] = {0, 2, 3};
    const char *letters = "abc";
    struct ArrowSchema k = fixture_field("u", "key \"1\""), v = fixture_field("i", "v");
    struct ArrowSchema entries = fixture_field("+s", "entries"), map = fixture_field("+m", "c");
    struct ArrowSchema *fields[] = {&k, &v}, *inner[] = {&entries};
    struct ArrowArray ka = fixture_array(3, 3, BUFFERS(NULL, keys, letters));
    struct ArrowArray va = fixture_array(3, 2, BUFFERS(NULL, keys));
    struct ArrowArray ea = fixture_array(3, 1, BUFFERS(NULL)), ma;
    struct ArrowArray *columns[] = {&ka, &va}, *entry[] = {&ea};
    entries.children = fields;
    entries.n_children = 2;
    map.children = inner;
    map.n_children = 1;
    ea.children = columns;
    ea.n_children = 2;
    ma = fixture_array(2, 2, BUFFERS(NULL, offsets));
    ma.children = entry;
    ma.n_children = 1;
    CHECK_STR(fixture_text(&entries, &ea, 1, 1, NULL), "{\"key \\\"1\\\"\":\"b\",\"v\":1}");
    CHECK_STR(fixture_text(&map, &ma, 0, 1, NULL), "{\"a\":0,\"b\":1}");
    ea.offset = 1;
    ea.length = 2;
    ma.buffers = BUFFERS(NULL, ((int32_t[]){0, 1, 2}));
    CHECK_STR(fixture_text(&map, &ma, 1, 0, NULL), "{\"c\":2}");
    k.format = "i";
    ka.n_buffers = 2;
    ka.buffers = BUFFERS(NULL, keys);
    CHECK_STR(fixture_text(&map, &ma, 0, 1, NULL), "[[1,1]]");
    CHECK_STR(fixture_text(&entries, &ea, 1, 1, NULL), "{\"key \\\"1\\\"\":2,\"v\":2}");
}

static void test_dictionaries(void)
{
    int8_t index[] = {1, 0, 2, 5, -1};
    uint8_t valid[] = {0x1B}, dictionary_valid[] = {0x01};
    int32_t offsets[] = {0, 3, 6};
    struct ArrowSchema field = fixture_field("c", "c"), values = fixture_field("u", "");
    struct ArrowArray array = fixture_array(5, 2, BUFFERS(valid, index));
    struct ArrowArray dictionary = fixture_array(2, 3, BUFFERS(NULL, offsets, "onetwo"));
    field.dictionary = &values;
    array.dictionary = &dictionary;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "\"two\"");
    CHECK_STR(fixture_text(&field, &array, 1, 0, NULL), "one");
    CHECK_STR(fixture_text(&field, &array, 2, 1, NULL), "null");
    CHECK_CONTAINS(fixture_text(&field, &array, 3, 1, NULL), "InvalidFormat: column 'c', row 3");
    CHECK_CONTAINS(fixture_text(&field, &array, 4, 1, NULL), "InvalidFormat");
    dictionary.buffers = BUFFERS(dictionary_valid, offsets, "onetwo");
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "null");
}

static void test_run_ends(void)
{
    int16_t ends[] = {2, 3, 7};
    double values[] = {0.5, 1.5, 2.5};
    uint8_t valid[] = {0x05};
    struct ArrowSchema e = fixture_field("s", "run_ends"), v = fixture_field("g", "values");
    struct ArrowSchema field = fixture_field("+r", "c"), *fields[] = {&e, &v};
    struct ArrowArray ea = fixture_array(3, 2, BUFFERS(NULL, ends));
    struct ArrowArray va = fixture_array(3, 2, BUFFERS(valid, values));
    struct ArrowArray array = fixture_array(7, 0, NULL), *children[] = {&ea, &va};
    field.n_children = array.n_children = 2;
    field.children = fields;
    array.children = children;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "0.5");
    CHECK_STR(fixture_text(&field, &array, 1, 1, NULL), "0.5");
    CHECK_STR(fixture_text(&field, &array, 2, 1, NULL), "null");
    CHECK_STR(fixture_text(&field, &array, 6, 1, NULL), "2.5");
    array.offset = 3;
    array.length = 4;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "2.5");
    array.length = 5;
    CHECK_CONTAINS(fixture_text(&field, &array, 4, 1, NULL), "InvalidFormat");
}

static void test_unions(void)
{
    int8_t codes[] = {5, 9, 5, 1};
    int32_t numbers[] = {1, 2, 3, 4}, offsets[] = {0, 1, 1, 0};
    int32_t ends[] = {0, 1, 2, 3, 4};
    struct ArrowSchema n = fixture_field("i", "n"), s = fixture_field("u", "s");
    struct ArrowSchema field = fixture_field("+us:5,9", "c"), *fields[] = {&n, &s};
    struct ArrowArray na = fixture_array(4, 2, BUFFERS(NULL, numbers));
    struct ArrowArray sa = fixture_array(4, 3, BUFFERS(NULL, ends, "wxyz"));
    struct ArrowArray array = fixture_array(4, 1, BUFFERS(codes)), *children[] = {&na, &sa};
    field.n_children = array.n_children = 2;
    field.children = fields;
    array.children = children;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "1");
    CHECK_STR(fixture_text(&field, &array, 1, 1, NULL), "\"x\"");
    CHECK_STR(fixture_text(&field, &array, 2, 0, NULL), "3");
    CHECK_CONTAINS(fixture_text(&field, &array, 3, 1, NULL), "type code");
    field.format = "+ud:5,9";
    array.n_buffers = 2;
    array.buffers = BUFFERS(codes, offsets);
    CHECK_STR(fixture_text(&field, &array, 2, 1, NULL), "2");
    array.offset = 1;
    array.length = 3;
    CHECK_STR(fixture_text(&field, &array, 0, 1, NULL), "\"x\"");
}

static void test_bad_types(void)
{
    static const char *formats[] = {
        "",        "x",       "ii",  "d:5",        "d:5,2,100",      "w:", "w:-1",
        "tt",      "ttx",     "tss", "tsx:",       "+w:3",           "+l", "+s1",
        "+us:1,2", "+ud:300", "tdX", "d:1,2,128x", "w:1000000000000"};
    int32_t values[] = {0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *got = TEXT(formats[i], 0, 2, NULL, values);
        CHECK_CONTAINS(got, "InvalidArgument: column 'c'");
    }
    CHECK_CONTAINS(TEXT("u", 0, 2, NULL, values), "InvalidArgument");
}

static void test_depth_limit(void)
{
    enum { DEPTH = 70 };
    static struct ArrowSchema fields[DEPTH], *links[DEPTH];
    static struct ArrowArray arrays[DEPTH], *array_links[DEPTH];
    static int32_t offsets[] = {0, 1};
    static const void *buffers[] = {NULL, offsets};
    for (int depth = 60; depth < DEPTH; depth++) {
        const char *got;
        for (int i = 0; i < depth; i++) {
            fields[i] = fixture_field(i + 1 < depth ? "+l" : "i", "c");
            arrays[i] = fixture_array(1, 2, buffers);
            links[i] = fields + i + 1;
            array_links[i] = arrays + i + 1;
            fields[i].n_children = arrays[i].n_children = i + 1 < depth;
            fields[i].children = links + i;
            arrays[i].children = array_links + i;
        }
        got = fixture_text(fields, arrays, 0, 1, NULL);
        CHECK_CONTAINS(got, depth <= 64 ? "[[[[0]]]]" : "LimitExceeded");
    }
}

static void test_append_keeps_what_was_there(void)
{
    ald_host host = fixture_host();
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    int32_t values[] = {42};
    struct ArrowSchema field = fixture_field("i", "c");
    struct ArrowArray array = fixture_array(1, 2, BUFFERS(NULL, values));
    ald_error err;
    for (int i = 0; i < 300; i++)
        REQUIRE_OK(ald_value_to_text(&field, &array, 0, 1, NULL, &out, &err), &err);
    CHECK_UINT(out.size, 600);
    CHECK_MEM(out.data + 596, "4242", 4);
    field.format = "?";
    CHECK(ald_value_to_text(&field, &array, 0, 1, NULL, &out, &err) == ALD_E_INVALID_ARG);
    CHECK_UINT(out.size, 600);
    ald_buffer_clear(&out);
    CHECK_INT(fixture_live, 0);
}

int main(void)
{
    RUN(test_integers);
    RUN(test_integers_all_lengths);
    RUN(test_nulls_bools_offsets);
    RUN(test_floats);
    RUN(test_decimals);
    RUN(test_dates_and_times);
    RUN(test_timestamps);
    RUN(test_durations_and_intervals);
    RUN(test_strings);
    RUN(test_binaries);
    RUN(test_views);
    RUN(test_lists);
    RUN(test_structs_and_maps);
    RUN(test_dictionaries);
    RUN(test_run_ends);
    RUN(test_unions);
    RUN(test_bad_types);
    RUN(test_depth_limit);
    RUN(test_append_keeps_what_was_there);
    return check_done();
}
