/* SPDX-License-Identifier: MIT */
/* CSV and JSON lines as bytes: quoting, line ends, threads, failing memory and sinks. */
#include "ald/csv.h"
#include "ald/jsonl.h"
#include "format_fixture.h"

static char written[1 << 20];

typedef enum kind { CSV, JSONL } kind;

static ald_status write_table(kind k, fixture_table *t, size_t batches, const void *options,
                              const ald_host *host, ald_buffer *out, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_sink sink = ald_buffer_sink(out);
    ald_status status = fixture_stream(t, batches, host, &stream, err);
    if (status != ALD_OK)
        return status;
    status = k == CSV ? ald_csv_write(&stream, &sink, options, host, err)
                      : ald_jsonl_write(&stream, &sink, options, host, err);
    CHECK(stream.release == NULL);
    return status;
}

static const char *text_of(kind k, fixture_table *t, size_t batches, const void *options)
{
    ald_host host = fixture_host();
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_error err = {0};
    ald_status status = write_table(k, t, batches, options, &host, &out, &err);
    if (status != ALD_OK)
        snprintf(written, sizeof written, "%s: %s", ald_status_name(status), err.msg);
    else
        snprintf(written, sizeof written, "%.*s", (int)out.size, (const char *)out.data);
    ald_buffer_clear(&out);
    CHECK_INT(fixture_live, 0);
    return written;
}

/* A string column from C strings; NULL is null. */
typedef struct string_column {
    struct ArrowSchema field;
    struct ArrowArray array;
    uint8_t valid[16];
    int32_t offsets[128];
    char bytes[8192];
    const void *buffers[3];
} string_column;

static void strings_init(string_column *c, const char *name, const char *const *values,
                         int64_t count)
{
    memset(c, 0, sizeof *c);
    for (int64_t i = 0; i < count; i++) {
        size_t n = values[i] == NULL ? 0 : strlen(values[i]);
        memcpy(c->bytes + c->offsets[i], values[i] == NULL ? "" : values[i], n);
        c->offsets[i + 1] = c->offsets[i] + (int32_t)n;
        if (values[i] != NULL)
            c->valid[i >> 3] = (uint8_t)(c->valid[i >> 3] | 1u << (i & 7));
    }
    c->buffers[0] = c->valid;
    c->buffers[1] = c->offsets;
    c->buffers[2] = c->bytes;
    c->field = fixture_field("u", name);
    c->array = fixture_array(count, 3, c->buffers);
}

/* What one string becomes, in a column of its own without header. */
static const char *field_of(const char *value)
{
    static string_column c;
    fixture_table t;
    ald_csv_write_options options = ALD_CSV_WRITE_OPTIONS_INIT;
    options.no_header = 1;
    strings_init(&c, "s", &value, 1);
    fixture_table_init(&t, 1);
    fixture_add(&t, &c.field, &c.array);
    (void)text_of(CSV, &t, 1, &options);
    written[strcspn(written, "\n")] = '\0';
    return written;
}

static void test_bare_where_it_can_be(void)
{
    static const char *const bare[] = {"a",
                                       "ab",
                                       "abc",
                                       "abcd",
                                       "abcdefg",
                                       "abcdefgh",
                                       "abcdefghijklmno",
                                       "abcdefghijklmnop",
                                       "abcdefghijklmnopq",
                                       "01067",
                                       "+5",
                                       "007",
                                       "0x1F",
                                       "1.5 %",
                                       "31.01.2024",
                                       "01/02/2024",
                                       "yes",
                                       "NA",
                                       "null",
                                       "None",
                                       "2024-02-30",
                                       "25:00",
                                       "1e",
                                       "-",
                                       ".",
                                       "--1",
                                       "=1+1",
                                       "@x",
                                       "-2+3",
                                       "+A1",
                                       "#note",
                                       "'quoted'",
                                       "in between",
                                       "table",
                                       "false alarm",
                                       "Infinite",
                                       "nano",
                                       "1_000",
                                       "1 000",
                                       "é",
                                       "\xEF\xBC\x81",
                                       "a\\b",
                                       "12abc",
                                       "1-2"};
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
        CHECK_STR(field_of(bare[i]), bare[i]);
}

static void test_quoted_where_it_looks_otherwise(void)
{
    static const char *const quoted[] = {"17",
                                         "-17",
                                         "0",
                                         "1.5",
                                         "-0",
                                         ".5",
                                         "5.",
                                         "1e5",
                                         "true",
                                         "false",
                                         "True",
                                         "TRUE",
                                         "NaN",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "Infinity",
                                         "2024-01-31",
                                         "12:30:00",
                                         "2024-01-31T10:00",
                                         "2024-01-31 10:00:00.5",
                                         "2024-01-31T10:00:00Z",
                                         "2024-01-31T10:00:00+05:30",
                                         "12345678901234567890123",
                                         "",
                                         " ",
                                         " a",
                                         "a ",
                                         "\ta",
                                         "a\t",
                                         "\xEF\xBB\xBF"
                                         "bom",
                                         "sep=",
                                         "a,b",
                                         "a;b",
                                         "a|b",
                                         "a\tb",
                                         "a\rb",
                                         "0.1234567890123456789",
                                         "abcdefghijklmnop,",
                                         ",abcdefghijklmnop",
                                         "abcdefghijklmnopq;rstuvwxyz"};
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) {
        char want[64];
        snprintf(want, sizeof want, "\"%s\"", quoted[i]);
        CHECK_STR(field_of(quoted[i]), want);
    }
    CHECK_STR(field_of("\""), "\"\"\"\"");
    CHECK_STR(field_of("say \"hi\""), "\"say \"\"hi\"\"\"");
}

static void test_every_special_at_every_place(void)
{
    for (size_t n = 1; n < 40; n++) {
        for (size_t at = 0; at < n; at++) {
            char text[64] = {0}, want[80];
            memset(text, 'x', n);
            snprintf(want, sizeof want, "%s", text);
            CHECK_STR(field_of(text), want);
            text[at] = ',';
            snprintf(want, sizeof want, "\"%s\"", text);
            CHECK_STR(field_of(text), want);
        }
    }
}

static void test_table(void)
{
    static const char *const names[] = {"Ada", NULL, "line\nbreak", ""};
    static string_column s;
    fixture_table t;
    int32_t ids[] = {1, -2, 3, 4};
    uint8_t id_valid[] = {0x0B};
    double x[] = {0.5, 1.0, 1e300, -0.0};
    uint8_t flags[] = {0x05};
    struct ArrowSchema id = fixture_field("i", "id"), fx = fixture_field("g", "x,y"),
                       flag = fixture_field("b", "");
    struct ArrowArray ida = fixture_array(4, 2, BUFFERS(id_valid, ids)),
                      xa = fixture_array(4, 2, BUFFERS(NULL, x)),
                      flaga = fixture_array(4, 2, BUFFERS(NULL, flags));
    ald_csv_write_options options = ALD_CSV_WRITE_OPTIONS_INIT;
    ald_jsonl_write_options json = ALD_JSONL_WRITE_OPTIONS_INIT;
    strings_init(&s, "name", names, 4);
    fixture_table_init(&t, 4);
    fixture_add(&t, &id, &ida);
    fixture_add(&t, &s.field, &s.array);
    fixture_add(&t, &fx, &xa);
    fixture_add(&t, &flag, &flaga);
    CHECK_STR(text_of(CSV, &t, 1, NULL), "id,name,\"x,y\",\n1,Ada,0.5,true\n-2,,1.0,false\n"
                                         ",\"line\nbreak\",1e300,true\n4,\"\",-0.0,false\n");
    options.delimiter = ';';
    options.crlf = 1;
    options.text.null_text = "NA";
    CHECK_STR(text_of(CSV, &t, 1, &options),
              "id;name;\"x,y\";\r\n1;Ada;0.5;true\r\n-2;NA;1.0;false\r\n"
              "NA;\"line\nbreak\";1e300;true\r\n4;\"\";-0.0;false\r\n");
    options.no_header = 1;
    options.text.null_text = "4";
    t.batch.offset = 2;
    t.batch.length = 2;
    CHECK_STR(text_of(CSV, &t, 1, &options),
              "4;\"line\nbreak\";1e300;true\r\n\"4\";\"\";-0.0;false\r\n");
    CHECK_STR(text_of(JSONL, &t, 1, NULL),
              "{\"id\":null,\"name\":\"line\\nbreak\",\"x,y\":1e300,\"\":true}\n"
              "{\"id\":4,\"name\":\"\",\"x,y\":-0.0,\"\":false}\n");
    json.array = 1;
    t.batch.offset = 0;
    t.batch.length = 1;
    CHECK_STR(text_of(JSONL, &t, 2, &json),
              "[\n{\"id\":1,\"name\":\"Ada\",\"x,y\":0.5,\"\":true},\n"
              "{\"id\":1,\"name\":\"Ada\",\"x,y\":0.5,\"\":true}\n]\n");
    t.batch.length = 0;
    CHECK_STR(text_of(JSONL, &t, 1, &json), "[]\n");
    CHECK_STR(text_of(JSONL, &t, 0, NULL), "");
    CHECK_STR(text_of(CSV, &t, 0, NULL), "id,name,\"x,y\",\n");
}

static void test_null_text_that_is_a_value(void)
{
    static const char *const values[] = {"NA", "NAN", NULL, "", "other"};
    static string_column s;
    fixture_table t;
    ald_csv_write_options options = ALD_CSV_WRITE_OPTIONS_INIT;
    options.no_header = 1;
    options.text.null_text = "NA";
    strings_init(&s, "s", values, 5);
    fixture_table_init(&t, 5);
    fixture_add(&t, &s.field, &s.array);
    CHECK_STR(text_of(CSV, &t, 1, &options), "\"NA\"\n\"NAN\"\nNA\n\"\"\nother\n");
    options.text.null_text = "a,b";
    CHECK_CONTAINS(text_of(CSV, &t, 1, &options), "InvalidArgument");
}

/* Readers refuse it, so that it is not written; JSON escapes it. */
static void test_nul_byte(void)
{
    static const char *const values[] = {"fine", "a~b"};
    for (int size = 3; size < 60; size += 19) {
        static string_column s;
        fixture_table t;
        ald_csv_write_options options = ALD_CSV_WRITE_OPTIONS_INIT;
        strings_init(&s, "s", values, 2);
        s.offsets[2] = s.offsets[1] + size;
        memset(s.bytes + s.offsets[1], 'x', (size_t)size);
        s.bytes[s.offsets[1] + size - 2] = 0;
        fixture_table_init(&t, 2);
        fixture_add(&t, &s.field, &s.array);
        CHECK_CONTAINS(text_of(CSV, &t, 1, &options), "Unsupported: a text has a NUL byte");
        CHECK_CONTAINS(text_of(JSONL, &t, 1, NULL), "x\\u0000x");
    }
}

static void test_null_alone_in_its_row(void)
{
    static const char *const values[] = {"x", NULL};
    static string_column s;
    fixture_table t;
    strings_init(&s, "only", values, 2);
    fixture_table_init(&t, 2);
    fixture_add(&t, &s.field, &s.array);
    CHECK_STR(text_of(CSV, &t, 1, NULL), "only\nx\n\n");
    CHECK_STR(text_of(JSONL, &t, 1, NULL), "{\"only\":\"x\"}\n{\"only\":null}\n");
}

static void test_headers(void)
{
    static const char *const names[] = {"",
                                        " pad",
                                        "17",
                                        "a\"b",
                                        "\xEF\xBB\xBF"
                                        "x",
                                        "|",
                                        "true",
                                        "plain",
                                        "pad "};
    struct ArrowSchema fields[9];
    struct ArrowArray none = fixture_array(0, 0, NULL);
    fixture_table t;
    fixture_table_init(&t, 0);
    for (int i = 0; i < 9; i++) {
        fields[i] = fixture_field("n", names[i]);
        fixture_add(&t, fields + i, &none);
    }
    CHECK_STR(text_of(CSV, &t, 1, NULL), ",\" pad\",17,\"a\"\"b\",\"\xEF\xBB\xBF"
                                         "x\",\"|\",true,plain,\"pad \"\n");
    fixture_table_init(&t, 0);
    fixture_add(&t, fields, &none);
    CHECK_STR(text_of(CSV, &t, 1, NULL), "\"\"\n");
}

static void test_no_columns(void)
{
    fixture_table t;
    fixture_table_init(&t, 0);
    CHECK_STR(text_of(CSV, &t, 1, NULL), "");
    CHECK_STR(text_of(JSONL, &t, 1, NULL), "");
    t.batch.length = 2;
    CHECK_CONTAINS(text_of(CSV, &t, 1, NULL), "Unsupported");
    CHECK_STR(text_of(JSONL, &t, 1, NULL), "{}\n{}\n");
}

static void test_nested_and_binary(void)
{
    static const char *const texts[] = {"a", "b,\"c\"", "d"};
    static string_column items;
    fixture_table t;
    int32_t offsets[] = {0, 2, 2, 3}, bin_offsets[] = {0, 3, 3, 6};
    struct ArrowSchema list = fixture_field("+l", "tags"), *inner[] = {&items.field};
    struct ArrowSchema bin = fixture_field("z", "bin");
    struct ArrowArray la = fixture_array(3, 2, BUFFERS(NULL, offsets)),
                      *children[] = {&items.array};
    struct ArrowArray ba = fixture_array(3, 3,
                                         BUFFERS(NULL, bin_offsets,
                                                 "\xD7\x6D\xF8"
                                                 "abc"));
    ald_csv_write_options options = ALD_CSV_WRITE_OPTIONS_INIT;
    strings_init(&items, "item", texts, 3);
    list.n_children = la.n_children = 1;
    list.children = inner;
    la.children = children;
    fixture_table_init(&t, 3);
    fixture_add(&t, &list, &la);
    fixture_add(&t, &bin, &ba);
    CHECK_STR(text_of(CSV, &t, 1, NULL),
              "tags,bin\n\"[\"\"a\"\",\"\"b,\\\"\"c\\\"\"\"\"]\",\"1234\"\n"
              "[],\"\"\n\"[\"\"d\"\"]\",YWJj\n");
    options.text.binary = ALD_BINARY_HEX;
    options.no_header = 1;
    t.batch.offset = 2;
    t.batch.length = 1;
    CHECK_STR(text_of(CSV, &t, 1, &options), "\"[\"\"d\"\"]\",\"616263\"\n");
}

static void test_options_are_checked(void)
{
    fixture_table t;
    ald_csv_write_options csv = ALD_CSV_WRITE_OPTIONS_INIT;
    ald_jsonl_write_options json = ALD_JSONL_WRITE_OPTIONS_INIT;
    struct {
        ald_csv_write_options known;
        uint64_t unknown;
    } longer = {ALD_CSV_WRITE_OPTIONS_INIT, 0};
    fixture_table_init(&t, 0);
    longer.known.struct_size = sizeof longer;
    CHECK_STR(text_of(CSV, &t, 1, &longer), "");
    longer.unknown = 1;
    CHECK_CONTAINS(text_of(CSV, &t, 1, &longer), "Unsupported");
    csv.delimiter = '"';
    CHECK_CONTAINS(text_of(CSV, &t, 1, &csv), "InvalidArgument");
    csv.delimiter = '\n';
    CHECK_CONTAINS(text_of(CSV, &t, 1, &csv), "InvalidArgument");
    csv.struct_size = 2;
    CHECK_CONTAINS(text_of(CSV, &t, 1, &csv), "InvalidArgument");
    json.struct_size = 0;
    CHECK_CONTAINS(text_of(JSONL, &t, 1, &json), "InvalidArgument");
}

/* Numbers and texts that make rows of very different lengths. */
typedef struct big_table {
    fixture_table t;
    int64_t *numbers;
    int32_t *offsets;
    char *bytes;
    struct ArrowSchema fields[2];
    struct ArrowArray arrays[2];
    const void *number_buffers[2], *text_buffers[3];
} big_table;

static void big_init(big_table *b, int64_t rows)
{
    uint64_t seed = 1;
    b->numbers = calloc((size_t)rows, 8);
    b->offsets = calloc((size_t)rows + 1, 4);
    b->bytes = malloc((size_t)rows * 64);
    for (int64_t i = 0; i < rows; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        b->numbers[i] = (int64_t)seed >> (seed >> 58);
        b->offsets[i + 1] = b->offsets[i] + (int32_t)(seed >> 33 & 63);
    }
    memset(b->bytes, 'k', (size_t)rows * 64);
    for (size_t i = 0; i < (size_t)rows * 64; i += 97)
        b->bytes[i] = '"';
    b->number_buffers[0] = b->text_buffers[0] = NULL;
    b->number_buffers[1] = b->numbers;
    b->text_buffers[1] = b->offsets;
    b->text_buffers[2] = b->bytes;
    b->fields[0] = fixture_field("l", "n");
    b->fields[1] = fixture_field("u", "s");
    b->arrays[0] = fixture_array(rows, 2, b->number_buffers);
    b->arrays[1] = fixture_array(rows, 3, b->text_buffers);
    fixture_table_init(&b->t, rows);
    fixture_add(&b->t, b->fields, b->arrays);
    fixture_add(&b->t, b->fields + 1, b->arrays + 1);
}

static void big_free(big_table *b)
{
    free(b->numbers);
    free(b->offsets);
    free(b->bytes);
}

/* Runs the tasks last to first: an order that no writer may depend on. */
static void run_backwards(void *ctx, uint32_t count, void (*task)(void *arg, uint32_t index),
                          void *arg)
{
    (void)ctx;
    while (count-- > 0)
        task(arg, count);
}

static void test_same_bytes_for_any_thread_count(void)
{
    big_table b;
    ald_host host = fixture_host();
    ald_error err;
    big_init(&b, 100000);
    for (kind k = CSV; k <= JSONL; k++) {
        ald_buffer one = {NULL, 0, 0, &host.alloc}, many = {NULL, 0, 0, &host.alloc};
        ald_jsonl_write_options array = ALD_JSONL_WRITE_OPTIONS_INIT;
        array.array = 1;
        host.run_tasks = NULL;
        REQUIRE_OK(write_table(k, &b.t, 2, k == CSV ? NULL : (void *)&array, &host, &one, &err),
                   &err);
        host.run_tasks = run_backwards;
        host.thread_count = 3;
        REQUIRE_OK(write_table(k, &b.t, 2, k == CSV ? NULL : (void *)&array, &host, &many, &err),
                   &err);
        CHECK(one.size > 4000000);
        if (CHECK_UINT(many.size, one.size))
            CHECK_MEM(many.data, one.data, one.size);
        ald_buffer_clear(&one);
        ald_buffer_clear(&many);
    }
    big_free(&b);
    CHECK_INT(fixture_live, 0);
}

static void test_every_allocation_fails_once(void)
{
    big_table b;
    ald_error err;
    big_init(&b, 3000);
    for (int64_t n = 0;; n++) {
        ald_host host = fixture_host();
        ald_buffer out = {NULL, 0, 0, &host.alloc};
        ald_status status;
        host.run_tasks = run_backwards;
        host.thread_count = 2;
        fixture_fail_after = n;
        status = write_table(CSV, &b.t, 1, NULL, &host, &out, &err);
        ald_buffer_clear(&out);
        CHECK_INT(fixture_live, 0);
        if (status == ALD_OK) {
            CHECK(n > 10);
            break;
        }
        REQUIRE_INT(status, ALD_E_NOMEM);
        CHECK_INT(err.status, ALD_E_NOMEM);
    }
    big_free(&b);
}

static ald_status refuse(void *ctx, const void *buf, size_t size, ald_error *err)
{
    int *left = ctx;
    (void)buf;
    (void)size;
    return (*left)-- > 0 ? ALD_OK : ald_error_set(err, ALD_E_IO, 7, "no space");
}

static void test_full_disk(void)
{
    big_table b;
    ald_host host = fixture_host();
    struct ArrowArrayStream stream;
    ald_error err;
    int left;
    ald_sink sink = {refuse, NULL, &left, NULL};
    big_init(&b, 50000);
    for (int n = 0; n < 3; n++) {
        left = n;
        REQUIRE_OK(fixture_stream(&b.t, 1, &host, &stream, &err), &err);
        CHECK_INT(ald_csv_write(&stream, &sink, NULL, &host, &err), ALD_E_IO);
        CHECK_STR(err.msg, "no space");
        CHECK_INT(fixture_live, 0);
    }
    big_free(&b);
}

static void test_bad_index_is_named(void)
{
    fixture_table t;
    int8_t index[] = {0, 9};
    int32_t values[] = {5};
    struct ArrowSchema field = fixture_field("c", "color"), inner = fixture_field("i", "");
    struct ArrowArray array = fixture_array(2, 2, BUFFERS(NULL, index));
    struct ArrowArray dictionary = fixture_array(1, 2, BUFFERS(NULL, values));
    field.dictionary = &inner;
    array.dictionary = &dictionary;
    fixture_table_init(&t, 2);
    fixture_add(&t, &field, &array);
    CHECK_CONTAINS(text_of(CSV, &t, 1, NULL), "InvalidFormat: column 'color', row 1");
    CHECK_CONTAINS(text_of(JSONL, &t, 1, NULL), "InvalidFormat: column 'color', row 1");
}

int main(void)
{
    RUN(test_bare_where_it_can_be);
    RUN(test_quoted_where_it_looks_otherwise);
    RUN(test_every_special_at_every_place);
    RUN(test_table);
    RUN(test_null_text_that_is_a_value);
    RUN(test_nul_byte);
    RUN(test_null_alone_in_its_row);
    RUN(test_headers);
    RUN(test_no_columns);
    RUN(test_nested_and_binary);
    RUN(test_options_are_checked);
    RUN(test_same_bytes_for_any_thread_count);
    RUN(test_every_allocation_fails_once);
    RUN(test_full_disk);
    RUN(test_bad_index_is_named);
    return check_done();
}
