/* SPDX-License-Identifier: MIT */
/* Conditions and choices: a table in CSV, what is chosen of it in CSV. */
#include "ald/csv.h"
#include "ald/filter.h"
#include "ald/native.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "ald/text.h"
#include "check.h"

static ald_host host;
static ald_error err;
static char answer[4096];

static const char table[] = "i,u,f,d,t,b,s,day,at,in order\n"
                            "-3,18446744073709551615,1.5,-0.50,08:00:00,true,b,2020-01-01,"
                            "2020-01-01T00:00:00Z,1\n"
                            "2,0,nan,10.00,12:30:00,false,a,1969-12-31,1969-12-31T23:59:59Z,2\n"
                            "7,9223372036854775808,-inf,9.99,23:59:59,true,ab,2024-02-29,"
                            "2024-02-29T12:00:00Z,3\n"
                            ",,,,,,,,,4\n"
                            "2,1,0.1,-0.51,00:00:00,true,it's,2000-01-01,2000-01-01T00:00:00Z,5\n";
static const char types[] =
    "{\"fields\":[{\"name\":\"i\",\"type\":\"int64\"},{\"name\":\"u\",\"type\":\"uint64\"},"
    "{\"name\":\"f\",\"type\":\"double\"},{\"name\":\"d\",\"type\":\"decimal128(5, 2)\"},"
    "{\"name\":\"t\",\"type\":\"time32[s]\"},{\"name\":\"b\",\"type\":\"bool\"},"
    "{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"day\",\"type\":\"date32[day]\"},"
    "{\"name\":\"at\",\"type\":\"timestamp[us, tz=UTC]\"},{\"name\":\"in "
    "order\",\"type\":\"int8\"}]"
    "}";

static void open_table(uint32_t batch_rows, struct ArrowArrayStream *out)
{
    static ald_source source;
    static struct ArrowSchema schema;
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    source = ald_source_memory(table, sizeof table - 1);
    if (!CHECK_OK(ald_schema_from_json(types, sizeof types - 1, &host, &schema, &err), &err))
        exit(1);
    csv.text.schema = &schema;
    csv.text.batch_rows = batch_rows;
    if (!CHECK_OK(ald_csv_open(&source, &csv, &host, out, &err), &err))
        exit(1);
    schema.release(&schema);
}

/* The chosen rows, one character a value of the column `in order`, or the error. */
static const char *choose(const ald_select_options *options, uint32_t batch_rows)
{
    struct ArrowArrayStream from, chosen;
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_sink sink = ald_buffer_sink(&out);
    ald_csv_write_options csv = ALD_CSV_WRITE_OPTIONS_INIT;
    open_table(batch_rows, &from);
    ald_status status = ald_select_stream(&from, options, &host, &chosen, &err);
    CHECK(from.release == NULL);
    if (status == ALD_OK)
        status = ald_csv_write(&chosen, &sink, &csv, &host, &err);
    if (status != ALD_OK)
        snprintf(answer, sizeof answer, "%s: %s (%d)", ald_status_name(status), err.msg,
                 (int)err.offset);
    else
        snprintf(answer, sizeof answer, "%.*s", (int)out.size, (const char *)out.data);
    ald_buffer_clear(&out);
    for (char *p = answer; *p != '\0'; p++)
        *p = *p == '\n' ? ' ' : *p;
    return answer;
}

/* Numbers of the rows that fit, in batches of any size. */
static const char *rows_where(const char *where)
{
    static const char *const columns[] = {"in order"};
    ald_select_options o = ALD_SELECT_OPTIONS_INIT;
    char first[sizeof answer];
    o.where = where;
    o.where_size = strlen(where);
    o.columns = columns;
    o.column_count = 1;
    snprintf(first, sizeof first, "%s", choose(&o, 100));
    for (uint32_t size = 1; size < 4; size++)
        CHECK_STR(choose(&o, size), first);
    if (strncmp(answer, "in order ", 9) == 0) {
        memmove(answer, answer + 9, strlen(answer + 9) + 1);
        answer[strlen(answer) - (answer[0] != '\0')] = '\0';
    }
    return answer;
}

static void test_operators(void)
{
    CHECK_STR(rows_where("i = 2"), "2 5");
    CHECK_STR(rows_where("i==2"), "2 5");
    CHECK_STR(rows_where("i!=2"), "1 3");
    CHECK_STR(rows_where("i<>2"), "1 3");
    CHECK_STR(rows_where("i < 2"), "1");
    CHECK_STR(rows_where("i<=2"), "1 2 5");
    CHECK_STR(rows_where("i > 2"), "3");
    CHECK_STR(rows_where(" i>=2 "), "2 3 5");
    CHECK_STR(rows_where("i is null"), "4");
    CHECK_STR(rows_where("i IS NOT NULL"), "1 2 3 5");
    CHECK_STR(rows_where("i = 99"), "");
}

static void test_types(void)
{
    CHECK_STR(rows_where("u > 9223372036854775807"), "1 3");
    CHECK_STR(rows_where("f = 0.1"), "5");
    CHECK_STR(rows_where("f < 0"), "3");
    CHECK_STR(rows_where("f <= 1.5"), "1 3 5");
    CHECK_STR(rows_where("f != 1.5"), "2 3 5"); /* a NaN is not 1.5 */
    CHECK_STR(rows_where("f = nan"), "");
    CHECK_STR(rows_where("d < -0.5"), "5");
    CHECK_STR(rows_where("d >= 9.99"), "2 3");
    CHECK_STR(rows_where("d = -0.50"), "1");
    CHECK_STR(rows_where("t > 12:00:00"), "2 3");
    CHECK_STR(rows_where("b = true"), "1 3 5");
    CHECK_STR(rows_where("b < true"), "2");
    CHECK_STR(rows_where("s > a"), "1 3 5");
    CHECK_STR(rows_where("s = 'it''s'"), "5");
    CHECK_STR(rows_where("s = \"it's\""), "5");
    CHECK_STR(rows_where("s > ''"), "1 2 3 5");
    CHECK_STR(rows_where("day < 1970-01-01"), "2");
    CHECK_STR(rows_where("at >= 2020-01-01T00:00:00Z"), "1 3");
    CHECK_STR(rows_where("at < '2020-01-01T01:00:00+01:00'"), "2 5");
    CHECK_STR(rows_where("\"in order\" > 3"), "4 5");
}

static void test_and_binds_tighter(void)
{
    CHECK_STR(rows_where("i = 7 or i = 2 and s = a"), "2 3");
    CHECK_STR(rows_where("i = 2 and s = a or i = 7"), "2 3");
    CHECK_STR(rows_where("i = 2 AND s = z OR i = 7 And b = false Or day is null"), "4");
    CHECK_STR(rows_where("i=2 and s!=a and f>0"), "5");
}

static void test_what_is_wrong(void)
{
    CHECK_STR(rows_where("j = 1"), "InvalidArgument: condition: there is no column 'j' (0)");
    CHECK_STR(rows_where("i = x"),
              "InvalidArgument: condition: 'x' is no value of column 'i', which is int64 (4)");
    CHECK_STR(rows_where("\"in order\" = 128"), "InvalidArgument: condition: '128' is no value of "
                                                "column 'in order', which is int8 (13)");
    CHECK_STR(rows_where("i ="), "InvalidArgument: condition: expected a value, found its end (3)");
    CHECK_STR(rows_where("i"), "InvalidArgument: condition: expected one of = != < <= > >= or "
                               "`is null`, found its end (1)");
    CHECK_STR(rows_where("i =! 2"), "InvalidArgument: condition: expected one of = != < <= > >= or "
                                    "`is null`, found '=!' (2)");
    CHECK_STR(rows_where("i = 2 i = 3"),
              "InvalidArgument: condition: expected `and` or `or`, found 'i' (6)");
    CHECK_STR(rows_where("i is 2"), "InvalidArgument: condition: expected null, found '2' (5)");
    CHECK_STR(rows_where("i = 2 or"),
              "InvalidArgument: condition: expected a column, found its end (8)");
    CHECK_STR(rows_where("s = null"),
              "InvalidArgument: condition: nothing compares with null; test `is null` or `is not "
              "null` (4)");
    CHECK_STR(rows_where("s = 'null'"), "");
    CHECK_STR(rows_where("s = 'x"), "InvalidArgument: condition: a quote is not closed (4)");
    CHECK_STR(rows_where(" "), "InvalidArgument: condition: expected a column, found its end (1)");
}

static void test_limits(void)
{
    static char text[1 << 17];
    size_t used = 0;
    for (int i = 0; i < 1025; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%si=1", i > 0 ? " or " : "");
    CHECK_CONTAINS(rows_where(text), "LimitExceeded: condition: more than 1024 tests");
    memset(text, ' ', sizeof text - 1);
    CHECK_CONTAINS(rows_where(text), "LimitExceeded: condition: more than 64 KiB");
}

static void test_ranges_limits_columns(void)
{
    static const char *const two[] = {"s", "i"};
    static const char *const bad[] = {"s", "zz"};
    static const char *const twice[] = {"s", "s"};
    ald_select_options o = ALD_SELECT_OPTIONS_INIT;
    o.columns = two;
    o.column_count = 2;
    for (uint32_t size = 1; size < 7; size++) {
        o.row_begin = 1;
        o.row_end = 3;
        CHECK_STR(choose(&o, size), "s,i a,2 ab,7 ");
        o.row_end = 0;
        o.limit = 2;
        o.where = "i = 2";
        o.where_size = 5;
        CHECK_STR(choose(&o, size), "s,i a,2 it's,2 ");
        o.limit = 1;
        CHECK_STR(choose(&o, size), "s,i a,2 ");
        o.limit = 0;
        CHECK_STR(choose(&o, size), "s,i ");
        o.limit = UINT64_MAX;
        o.row_begin = 2;
        CHECK_STR(choose(&o, size), "s,i it's,2 ");
        o.row_begin = 99;
        CHECK_STR(choose(&o, size), "s,i ");
        o.where_size = 0;
        o.row_begin = 0;
    }
    o.row_begin = 4;
    o.row_end = 3;
    CHECK_CONTAINS(choose(&o, 2), "InvalidArgument: the range of rows ends before it begins");
    o.row_end = 0;
    o.columns = bad;
    CHECK_CONTAINS(choose(&o, 2), "InvalidArgument: there is no column 'zz'");
    o.columns = twice;
    CHECK_CONTAINS(choose(&o, 2), "InvalidArgument: the column 's' is asked for twice");
    o.columns = two;
    o.struct_size = 8;
    CHECK_CONTAINS(choose(&o, 2), "InvalidArgument: struct_size 8 is too small");
}

static void test_all_passes_as_it_is(void)
{
    ald_select_options o = ALD_SELECT_OPTIONS_INIT;
    struct ArrowArrayStream from, chosen;
    struct ArrowArray batch;
    open_table(100, &from);
    REQUIRE_OK(ald_select_stream(&from, &o, &host, &chosen, &err), &err);
    REQUIRE_OK(ald_stream_next(&chosen, &batch, &err), &err);
    CHECK_INT(batch.length, 5);
    CHECK_INT(batch.n_children, 10);
    batch.release(&batch);
    chosen.release(&chosen);
}

/* What is not released is told by a release callback. */
static void keep(struct ArrowSchema *schema)
{
    (void)schema;
}

/* Strings by number, with a slice: the array and its parent have offsets. */
static void test_dictionary_and_offsets(void)
{
    static const int32_t ends[] = {0, 1, 2, 2};
    static const int8_t indices[] = {9, 9, 0, 1, 2, 1, 0};
    static const uint8_t valid[] = {0x6f}; /* the one with index 2 in place 4 is null */
    const void *word_buffers[] = {NULL, ends, "xy"};
    const void *index_buffers[] = {valid, indices};
    const void *no_buffers[] = {NULL};
    struct ArrowArray words = {.length = 3, .n_buffers = 3, .buffers = word_buffers};
    struct ArrowArray column = {.length = 6,
                                .null_count = -1,
                                .offset = 1,
                                .n_buffers = 2,
                                .buffers = index_buffers,
                                .dictionary = &words};
    struct ArrowArray *columns[] = {&column};
    struct ArrowArray batch = {.length = 5,
                               .offset = 1,
                               .n_buffers = 1,
                               .n_children = 1,
                               .buffers = no_buffers,
                               .children = columns};
    struct ArrowSchema word_type = {.format = "u", .name = "", .release = keep};
    struct ArrowSchema field = {
        .format = "c", .name = "w", .flags = 2, .dictionary = &word_type, .release = keep};
    struct ArrowSchema *fields[] = {&field};
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .n_children = 1, .children = fields, .release = keep};
    ald_filter *f = NULL;
    struct ArrowArray taken;
    int64_t rows[5];
    size_t count = 0;
    ald_buffer text = {NULL, 0, 0, &host.alloc};

    REQUIRE_OK(ald_filter_new("w = y", 5, &schema, &host, &f, &err), &err);
    REQUIRE_OK(ald_filter_rows(f, &batch, rows, &count, &err), &err);
    CHECK_UINT(count, 2);
    CHECK(rows[0] == 1 && rows[1] == 3);
    ald_filter_free(f);
    REQUIRE_OK(ald_filter_new("w is null or w=x", 16, &schema, &host, &f, &err), &err);
    REQUIRE_OK(ald_filter_rows(f, &batch, rows, &count, &err), &err);
    CHECK_UINT(count, 3);
    CHECK(rows[0] == 0 && rows[1] == 2 && rows[2] == 4);
    ald_filter_free(f);

    REQUIRE_OK(ald_array_take(&schema, &batch, rows, 3, &host, &taken, &err), &err);
    CHECK_INT(taken.length, 3);
    for (int64_t i = 0; i < 3; i++)
        REQUIRE_OK(ald_value_to_text(&field, taken.children[0], i, 1, NULL, &text, &err), &err);
    CHECK_UINT(text.size, 10);
    CHECK_MEM(text.data, "\"x\"null\"x\"", 10);
    ald_buffer_clear(&text);
    taken.release(&taken);
    rows[0] = 5;
    CHECK_INT(ald_array_take(&schema, &batch, rows, 1, &host, &taken, &err), ALD_E_INVALID_ARG);
    REQUIRE_OK(ald_array_take(&schema, &batch, rows, 0, &host, &taken, &err), &err);
    CHECK_INT(taken.length, 0);
    taken.release(&taken);
}

static void test_nested_is_null_alone(void)
{
    struct ArrowSchema item = {.format = "l", .name = "item", .release = keep};
    struct ArrowSchema *items[] = {&item};
    struct ArrowSchema list = {
        .format = "+l", .name = "v", .n_children = 1, .children = items, .release = keep};
    struct ArrowSchema *fields[] = {&list, &list};
    struct ArrowSchema schema = {
        .format = "+s", .name = "", .n_children = 1, .children = fields, .release = keep};
    ald_filter *f = NULL;
    REQUIRE_OK(ald_filter_new("v is null", 9, &schema, &host, &f, &err), &err);
    ald_filter_free(f);
    CHECK_INT(ald_filter_new("v = 1", 5, &schema, &host, &f, &err), ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "can only be tested with `is null`");
    schema.n_children = 2;
    CHECK_INT(ald_filter_new("v is null", 9, &schema, &host, &f, &err), ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "several columns are named 'v'");
    CHECK(f == NULL);
}

static void test_columns_of_a_condition(void)
{
    struct ArrowArrayStream from;
    struct ArrowSchema schema;
    ald_filter *f = NULL;
    uint8_t used[10] = {0}, wanted[10] = {0};
    open_table(0, &from);
    REQUIRE_OK(ald_stream_schema(&from, &schema, &err), &err);
    REQUIRE_OK(
        ald_filter_new("f > 1 and 'in order' = 2 or f is null", 37, &schema, &host, &f, &err),
        &err);
    ald_filter_columns(f, used);
    wanted[2] = wanted[9] = 1;
    CHECK(memcmp(used, wanted, sizeof used) == 0);
    ald_filter_free(f);
    schema.release(&schema);
    from.release(&from);
}

int main(void)
{
    host = ald_native_host(1);
    RUN(test_operators);
    RUN(test_types);
    RUN(test_and_binds_tighter);
    RUN(test_what_is_wrong);
    RUN(test_limits);
    RUN(test_ranges_limits_columns);
    RUN(test_all_passes_as_it_is);
    RUN(test_dictionary_and_offsets);
    RUN(test_nested_is_null_alone);
    RUN(test_columns_of_a_condition);
    return check_done();
}
