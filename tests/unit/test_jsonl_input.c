/* SPDX-License-Identifier: MIT */
/* How the input is cut into records, what is refused, and where errors say they are. */
#include "jsonl_fixture.h"

#include "interchange/jsonl/json_records.h"

static void test_line_ends(void)
{
    const char *rows = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
    expect_rows("{\"a\":1}\n{\"a\":2}\n{\"a\":3}", NULL, "a: int64", rows);
    expect_rows("{\"a\":1}\r\n{\"a\":2}\r\n{\"a\":3}\r\n", NULL, "a: int64", rows);
    expect_rows("\xEF\xBB\xBF\n\n {\"a\":1} \n\t\r\n{\"a\" : 2 }\n   \n{\"a\":3}\n\n", NULL,
                "a: int64", rows);
    expect_rows("{}\n{}\n", NULL, "", "{}\n{}\n");
}

static void test_syntax(void)
{
    expect_error("{\"a\":1}\n{\"a\":1,}\n", NULL, ALD_E_INVALID_FORMAT,
                 "in.jsonl: line 2, byte 7: ");
    expect_error("{\"a\":1}\n\n{\"a\":NaN}\n", NULL, ALD_E_INVALID_FORMAT, "line 3, byte 6: ");
    expect_error("{\"a\":NaN}\n", NULL, ALD_E_INVALID_FORMAT, "'NaN}'");
    expect_error("{\"a\":1} {\"a\":2}\n", NULL, ALD_E_INVALID_FORMAT, "line 1, byte 9: text after");
    expect_error("{'a':1}\n", NULL, ALD_E_INVALID_FORMAT, "line 1, byte 2: ");
    expect_error("{\"a\":1\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\n\"a\":1\n}\n", NULL, ALD_E_INVALID_FORMAT,
                 "each line must be a whole JSON object");
    expect_error("{\"a\":01}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":+1}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":1.}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":\"\\x\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":\"tab\there\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
}

static void test_text_rules(void)
{
    expect_error("{\"a\":\"x\"}\n{\"a\":\"\xff\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 2");
    expect_error("{\"a\":\"\xe2\x82\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":\"\xed\xa0\x80\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":\"\\ud800\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\":\"\\udc00x\"}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"\\ud83d\":1}\n", NULL, ALD_E_INVALID_FORMAT, "line 1");
    expect_error("{\"a\\u0000b\":1}\n", NULL, ALD_E_INVALID_FORMAT, "U+0000");
    expect_error("{\"a\":1}\n{\"b\":{\"k\":1,\"m\":2,\"k\":1}}\n", NULL, ALD_E_INVALID_FORMAT,
                 "line 2: $.b.k: the same key twice");
}

static void test_no_objects(void)
{
    expect_error("{\"a\":1}\n42\n", NULL, ALD_E_INVALID_FORMAT, "line 2: a number, not an object");
    expect_error("\"x\"\n", NULL, ALD_E_INVALID_FORMAT, "line 1: a string, not an object");
    expect_error("null\n", NULL, ALD_E_INVALID_FORMAT, "line 1: null, not an object");
    expect_error("{}\n[1]\n", NULL, ALD_E_INVALID_FORMAT, "line 2: a list, not an object");
    expect_error("", NULL, ALD_E_INVALID_FORMAT, "no record");
    expect_error("\n \n", NULL, ALD_E_INVALID_FORMAT, "no record");
    expect_error("[]", NULL, ALD_E_INVALID_FORMAT, "no record");
}

static void test_arrays(void)
{
    const char *rows = "{\"a\":1}\n{\"a\":null}\n{\"a\":3}\n";
    expect_rows("[{\"a\":1},{},{\"a\":3}]", NULL, "a: int64", rows);
    expect_rows("\xEF\xBB\xBF \n[\n  {\n \"a\": 1\n }\n,{}  ,\r\n{\"a\":3}\n]\n\n", NULL,
                "a: int64", rows);
    expect_rows("[{\"s\":\"],}[{\\\"\\\\\",\"l\":[[],[{}]]},{\"s\":\"\\\\\"}]", NULL,
                "s: string, l: list<item: list<item: struct<>>>",
                "{\"s\":\"],}[{\\\"\\\\\",\"l\":[[],[{}]]}\n{\"s\":\"\\\\\",\"l\":null}\n");
    expect_error("[{\"a\":1},]", NULL, ALD_E_INVALID_FORMAT, "a comma without an element");
    expect_error("[,{\"a\":1}]", NULL, ALD_E_INVALID_FORMAT, "a comma without an element");
    expect_error("[{\"a\":1} {\"a\":2}]", NULL, ALD_E_INVALID_FORMAT, "expected ',' or ']'");
    expect_error("[{\"a\":1}", NULL, ALD_E_INVALID_FORMAT, "']' is missing");
    expect_error("[", NULL, ALD_E_INVALID_FORMAT, "']' is missing");
    expect_error("[{\"a\":1}]\n[{\"a\":2}]\n", NULL, ALD_E_INVALID_FORMAT, "line 2: a value after");
    expect_error("[{\"a\":1},\n{\"a\":\"x]", NULL, ALD_E_INVALID_FORMAT,
                 "line 2: a string in this");
    expect_error("[{\"a\":1},\n{\"a\":[1}]", NULL, ALD_E_INVALID_FORMAT, "line 2");
    expect_error("[{\"a\":1},\n\n7]", NULL, ALD_E_INVALID_FORMAT,
                 "line 3: a number, not an object");
    expect_error("[{\"a\":1},\n}]", NULL, ALD_E_INVALID_FORMAT, "line 2");
    expect_error("[{\"a\":1},\n{\"a\":\n\"x\"}]", NULL, ALD_E_SCHEMA_MISMATCH, "line 2: $.a");
    /* The fault that comes first is told, also when the array's own form breaks later. */
    expect_error("[{\"a\":1},\n{\"a\":nul},\n{\"a\":2}", NULL, ALD_E_INVALID_FORMAT,
                 "line 2, byte 6");
}

/* `count` lines of about `width` bytes; line `odd` (from 1) is `text` instead. Malloced. */
static char *many_lines(size_t count, size_t width, size_t odd, const char *text)
{
    char *out = (char *)malloc(count * (width + 40) + strlen(text) + 1), *p = out;
    for (size_t i = 1; i <= count; i++) {
        if (i == odd) {
            p += sprintf(p, "%s\n", text);
            continue;
        }
        p += sprintf(p, "{\"i\":%zu,\"s\":\"", i);
        memset(p, 'x', width);
        p += width;
        p += sprintf(p, "\"}\n");
    }
    return out;
}

static void test_far_lines(void)
{
    char *text = many_lines(70000, 40, 65001, "{\"i\":true}"); /* some 4 MB */
    expect_error(text, NULL, ALD_E_SCHEMA_MISMATCH,
                 "line 65001: $.i: true or false here, a number on line 1");
    free(text);
    text = many_lines(70000, 40, 20001, "{\"i\":}");
    expect_error(text, NULL, ALD_E_INVALID_FORMAT, "line 20001, byte 6");
    free(text);
    text = many_lines(9, 700000, 8, "{\"i\":[}");
    expect_error(text, NULL, ALD_E_INVALID_FORMAT, "line 8, byte 7");
    free(text);
}

static void check_rows(const reading *r, size_t count)
{
    const char *p = r->rows;
    char wanted[64];
    for (size_t i = 1; i <= count; i++) {
        snprintf(wanted, sizeof wanted, "{\"i\":%zu,", i);
        if (strncmp(p, wanted, strlen(wanted)) != 0) {
            CHECK_STR(p, wanted);
            return;
        }
        p = strchr(p, '\n') + 1;
    }
    CHECK(*p == 0);
}

static void test_batches(void)
{
    static const size_t widths[] = {0, 1, 37, 3000};
    for (size_t w = 0; w < 4; w++) {
        size_t count = 3000000 / (widths[w] + 20);
        char *text = many_lines(count, widths[w], 0, "");
        ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
        reading r;
        options.text.batch_rows = (uint32_t)(count / 7);
        read_text(&r, text, &options);
        if (CHECK_OK(r.status, &r.err)) {
            CHECK_INT(r.row_count, count);
            CHECK_UINT(r.batch_count, 7 + (count % 7 != 0));
            for (size_t i = 0; i < 7; i++)
                CHECK_INT(r.batch_rows[i], count / 7);
            check_rows(&r, count);
        }
        reading_free(&r);
        /* The same rows as one array. */
        size_t size = strlen(text);
        char *array = (char *)malloc(size + 2);
        array[0] = '[';
        memcpy(array + 1, text, size + 1);
        for (size_t i = 1; i < size; i++) {
            if (array[i] == '\n')
                array[i] = ',';
        }
        array[size] = ']';
        read_text(&r, array, &options);
        if (CHECK_OK(r.status, &r.err))
            check_rows(&r, count);
        reading_free(&r);
        free(array);
        free(text);
    }
}

/* 16 MiB of input or 65,536 rows end a batch that was not asked for. */
/* `count` lines that have a key of `width` bytes and `more`. Malloced. */
static char *many_fields(size_t count, size_t width, const char *more)
{
    char *out = (char *)malloc(count * (width + strlen(more) + 30) + 1), *p = out;
    for (size_t i = 1; i <= count; i++) {
        *p++ = '{';
        *p++ = '"';
        memset(p, 'k', width);
        p += width;
        p += sprintf(p, "\":%zu%s}\n", i, more);
    }
    return out;
}

static void test_default_batches(void)
{
    char *text = many_lines(65537, 1, 0, "");
    reading r;
    read_text(&r, text, NULL);
    CHECK_UINT(r.batch_count, 2);
    CHECK_INT(r.batch_rows[0], 65536);
    reading_free(&r);
    free(text);
    text = many_lines(40, 1000000, 0, "");
    read_text(&r, text, NULL);
    CHECK_UINT(r.batch_count, 3);
    CHECK_INT(r.row_count, 40);
    reading_free(&r);
    free(text);
    /* Above 16 MiB, with long keys: the rows take less in memory. */
    text = many_fields(65537, 300, "");
    read_text(&r, text, NULL);
    CHECK_UINT(r.batch_count, 2);
    CHECK_INT(r.batch_rows[0], 65536);
    reading_free(&r);
    free(text);
    text = many_lines(65537, 300, 0, "");
    read_text(&r, text, NULL);
    CHECK_UINT(r.batch_count, 2);
    CHECK(r.batch_rows[0] < 65536);
    reading_free(&r);
    free(text);
    /* The items of lists may be many more bytes than their text. */
    text = many_fields(65537, 300, ",\"l\":[1]");
    read_text(&r, text, NULL);
    CHECK_UINT(r.batch_count, 2);
    CHECK(r.batch_rows[0] < 65536);
    reading_free(&r);
    free(text);
}

typedef struct counted {
    const char *data;
    uint64_t bytes_read;
} counted;

static ald_status counted_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    counted *c = (counted *)ctx;
    (void)err;
    c->bytes_read += size;
    memcpy(buf, c->data + offset, size);
    return ALD_OK;
}

/* Counting goes by blocks where lines begin with an object, and line by line elsewhere. */
static void test_count(void)
{
    static const char *const pieces[] = {"\n",
                                         "{}\n",
                                         " {}\n",
                                         "\r\n",
                                         " \t\n",
                                         "{\"a\":1}\r\n",
                                         "{\"name\":\"a string of some length\"}\n",
                                         "x\n",
                                         "{"};
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_error err;
    uint32_t state = 1;
    for (int round = 0; round < 300; round++) {
        char text[4096];
        size_t size = 0;
        ald_source source;
        ald__json_records slow, fast;
        ald__json_record record;
        uint64_t wanted = 0, limit;
        while (size < 3000) {
            size_t which = (state = state * 1664525 + 1013904223) >> 24;
            const char *piece = pieces[which < 200 ? 6 - which % 2 : which % 9];
            memcpy(text + size, piece, strlen(piece));
            size += strlen(piece);
        }
        size -= state % 3;
        source = (ald_source){size, counted_read, NULL, NULL, &(counted){text, 0}, "x"};
        ald__json_records_init(&slow, &source, &alloc, 4096, 0);
        ald__json_records_init(&fast, &source, &alloc, 4096, 0);
        limit = 500 + (state >> 8) % 2600;
        for (int part = 0; part < 2; part++, limit = UINT64_MAX) {
            uint64_t count = 0;
            CHECK_OK(ald__json_records_next(&slow, limit, &record, &err), &err);
            for (wanted = 0; record.data; wanted++)
                CHECK_OK(ald__json_records_next(&slow, limit, &record, &err), &err);
            CHECK_OK(ald__json_records_count(&fast, limit, &count, &record, &err), &err);
            CHECK_UINT(count, wanted);
            CHECK_UINT(fast.lines, slow.lines);
            CHECK_UINT(fast.start + fast.pos, slow.start + slow.pos);
        }
        ald__json_records_clear(&slow);
        ald__json_records_clear(&fast);
    }
    CHECK_UINT(heap.live_bytes, 0);
}

/* A line that runs through many cells is not searched again from each of them. */
static void test_long_line(void)
{
    char *text = many_lines(3, 24 << 20, 1, "{}");
    size_t size = strlen(text);
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host = fixture_host(&alloc, 3);
    counted c = {text, 0};
    ald_source source = {size, counted_read, NULL, NULL, &c, "x"};
    reading r;
    read_source(&r, &source, NULL, &host);
    CHECK_OK(r.status, &r.err);
    CHECK_INT(r.row_count, 3);
    CHECK(c.bytes_read < 4 * size);
    CHECK(heap.peak_bytes < 8 * ((size_t)24 << 20)); /* the writer's text too */
    reading_free(&r);
    free(text);
}

/* Lines that begin and end just at the borders of what is read at a time. */
static void test_borders(void)
{
    for (size_t edge = 0; edge < 3; edge++) {
        size_t border = (size_t)1 << (18 + edge);
        for (size_t shift = 0; shift < 6; shift++) {
            char *text = many_lines(3, border, 0, "");
            size_t first = border - 14 - shift; /* the first line ends near the border */
            reading r;
            memmove(text + first + 13, strstr(text, "\"}\n"), strlen(strstr(text, "\"}\n")) + 1);
            read_text(&r, text, NULL);
            if (CHECK_OK(r.status, &r.err))
                check_rows(&r, 3);
            reading_free(&r);
            free(text);
        }
    }
}

static void test_limits(void)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    char *text = many_lines(3, 100, 2, "{\"i\":2,\"s\":\"\"}");
    options.max_line_bytes = 100;
    expect_error(text, &options, ALD_E_LIMIT_EXCEEDED, "line 1: longer than 100 bytes");
    free(text);
    text = many_lines(3, 2000000, 1, "{}");
    options.max_line_bytes = 1000000;
    expect_error(text, &options, ALD_E_LIMIT_EXCEEDED, "line 2: longer than 1000000 bytes");
    free(text);
    char deep[512] = "{\"a\":";
    memset(deep + 5, '[', 62);
    memset(deep + 67, ']', 62);
    memcpy(deep + 129, "}", 2);
    reading r;
    read_text(&r, deep, NULL);
    CHECK_OK(r.status, &r.err);
    reading_free(&r);
    memset(deep + 5, '[', 63);
    memset(deep + 68, ']', 63);
    memcpy(deep + 131, "}", 2);
    expect_error(deep, NULL, ALD_E_LIMIT_EXCEEDED, "nested deeper than 63");
    options.mixed = ALD_JSON_MIXED_JSON;
    expect_error(deep, &options, ALD_E_LIMIT_EXCEEDED, "nested deeper than 63");
}

/* Many keys in one object, and the same key twice at its end. */
static void test_many_keys(void)
{
    size_t count = 30000;
    char *text = (char *)malloc(count * 24 + 64), *p = text;
    reading r;
    *p++ = '{';
    for (size_t i = 0; i < count; i++)
        p += sprintf(p, "\"key%zu\":%zu,", i, i);
    strcpy(p, "\"last\":1}\n");
    read_text(&r, text, NULL);
    CHECK_OK(r.status, &r.err);
    CHECK_INT(r.row_count, 1);
    reading_free(&r);
    strcpy(p, "\"key77\":1}\n");
    expect_error(text, NULL, ALD_E_INVALID_FORMAT, "$.key77: the same key twice");
    free(text);
}

static void test_encodings(void)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    reading r;
    options.text.encoding = ALD_ENCODING_LATIN1;
    expect_rows("{\"s\":\"\xe9\"}\n", &options, "s: string", "{\"s\":\"\xc3\xa9\"}\n");
    options.text.encoding = ALD_ENCODING_UTF16;
    read_bytes(&r, "\xff\xfe{\0\"\0a\0\"\0:\0001\0}\0\n\0", 18, &options);
    if (CHECK_OK(r.status, &r.err))
        CHECK_STR(r.rows, "{\"a\":1}\n");
    reading_free(&r);
}

static int stop_at(void *ctx, uint64_t done, uint64_t total)
{
    int64_t *calls = (int64_t *)ctx;
    CHECK(done <= total);
    return --*calls == 0;
}

static void test_progress(void)
{
    char *text = many_lines(60000, 40, 0, "");
    for (int64_t n = 1; n < 12; n += 3) {
        ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald_host host = fixture_host(&alloc, 1);
        ald_source source = ald_source_memory(text, strlen(text));
        int64_t calls = n;
        reading r;
        options.text.progress = stop_at;
        options.text.note = fixture_note;
        options.text.note_ctx = &calls;
        options.text.batch_rows = 10000;
        read_source(&r, &source, &options, &host);
        if (n <= 4 + 6) {
            CHECK_INT(r.status, ALD_E_IO);
            CHECK_CONTAINS(r.err.msg, "cancelled");
        }
        reading_free(&r);
        CHECK_HEAP_EMPTY(&heap);
    }
    free(text);
}

static void test_options(void)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    options.mixed = 3;
    expect_error("{\"a\":1}\n", &options, ALD_E_INVALID_ARG, "mixed");
    options.mixed = 0;
    options.struct_size = 8;
    expect_error("{\"a\":1}\n", &options, ALD_E_INVALID_ARG, "struct_size");
}

/* Every allocation fails once: an error each time, nothing left behind. */
static void test_no_memory(void)
{
    static const char text[] =
        "{\"a\":1,\"b\":[{\"c\":\"x\"},null],\"d\":0.1234567890123456789,\"m\":1}\n"
        "{\"a\":2,\"m\":{\"k\":[1,2]},\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"j\":1,\"k\":1}\n";
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    check_heap heap;
    int64_t n = 0;
    options.mixed = ALD_JSON_MIXED_STRING;
    for (;; n++) {
        ald_allocator alloc = check_heap_init(&heap, n);
        ald_host host = fixture_host(&alloc, 3);
        ald_source source = ald_source_memory(text, sizeof text - 1);
        reading r;
        read_source(&r, &source, &options, &host);
        ald_status status = r.status;
        reading_free(&r);
        CHECK_HEAP_EMPTY(&heap);
        if (status == ALD_OK)
            break;
        if (!CHECK_INT(status, ALD_E_NOMEM))
            break;
    }
    CHECK(n > 50);
}

static ald_status failing_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    int64_t *left = (int64_t *)ctx;
    (void)offset;
    if ((*left)-- == 0)
        return ald_error_set(err, ALD_E_IO, offset, "the disk is on fire");
    memset(buf, '\n', size);
    memcpy(buf, "{}", size < 2 ? size : 2);
    return ALD_OK;
}

static void test_read_errors(void)
{
    for (int64_t n = 0; n < 8; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald_host host = fixture_host(&alloc, 1);
        int64_t left = n;
        ald_source source = {3 << 20, failing_read, NULL, NULL, &left, "x"};
        reading r;
        read_source(&r, &source, NULL, &host);
        CHECK_INT(r.status, ALD_E_IO);
        CHECK_CONTAINS(r.err.msg, "on fire");
        reading_free(&r);
        CHECK_HEAP_EMPTY(&heap);
    }
}

static void test_real_threads(void)
{
    char *text = many_lines(150000, 40, 0, "");
    ald_host host = ald_native_host(3);
    ald_source source = ald_source_memory(text, strlen(text));
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    reading r;
    options.text.batch_rows = 20000;
    read_source(&r, &source, &options, &host);
    if (CHECK_OK(r.status, &r.err)) {
        CHECK_INT(r.row_count, 150000);
        check_rows(&r, 150000);
    }
    reading_free(&r);
    free(text);
}

typedef struct tallied {
    ald_source inner;
    uint64_t bytes;
} tallied;

static ald_status tallied_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    tallied *c = (tallied *)ctx;
    c->bytes += size;
    return c->inner.read_at(c->inner.ctx, offset, buf, size, err);
}

/* Batches of few rows go on where the one before ended, in lines and in arrays, with one thread and with three. */
static void test_small_batches(void)
{
    char *lines = many_lines(60000, 20, 0, ""), *text;
    size_t size = strlen(lines);
    text = (char *)malloc(size + 1);
    *text++ = '[';
    memcpy(text, lines, size);
    for (uint32_t k = 0; k < 4; k++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald_host host = fixture_host(&alloc, k % 2 ? 3 : 1);
        ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
        /* In an array the byte in front is the bracket that opens it. */
        tallied c = {ald_source_memory(text - (k >= 2), size + (k >= 2)), 0};
        ald_source source = {.size_bytes = size + (k >= 2), .read_at = tallied_read, .ctx = &c};
        reading r;
        options.text.batch_rows = 10;
        if (k == 2) { /* the same as an array: the newline of the last line becomes the bracket */
            for (size_t i = 0; i < size; i++)
                text[i] = text[i] == '\n' ? ',' : text[i];
            text[size - 1] = ']';
        }
        read_source(&r, &source, &options, &host);
        if (CHECK_OK(r.status, &r.err)) {
            CHECK_INT(r.row_count, 60000);
            CHECK_UINT(r.batch_count, 6000);
        }
        CHECK(c.bytes < 20 * (uint64_t)size);
        reading_free(&r);
        CHECK_HEAP_EMPTY(&heap);
    }
    free(text - 1);
    free(lines);
}

int main(void)
{
    RUN(test_line_ends);
    RUN(test_syntax);
    RUN(test_text_rules);
    RUN(test_no_objects);
    RUN(test_arrays);
    RUN(test_far_lines);
    RUN(test_batches);
    RUN(test_default_batches);
    RUN(test_small_batches);
    RUN(test_count);
    RUN(test_long_line);
    RUN(test_borders);
    RUN(test_limits);
    RUN(test_many_keys);
    RUN(test_encodings);
    RUN(test_progress);
    RUN(test_options);
    RUN(test_no_memory);
    RUN(test_read_errors);
    RUN(test_real_threads);
    return check_done();
}
