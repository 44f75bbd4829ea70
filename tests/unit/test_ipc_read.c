/* SPDX-License-Identifier: MIT */
/* Streams that another implementation wrote, read to the values it was given; then the same bytes, damaged. */
#include <dirent.h>

#include "check_alloc.h"
#include "core/arrow/array.h"
#include "ipc_stream.h"
#include "show_array.h"

#define DATA ALD_TEST_DATA "/data/ipc_read/"

static check_heap heap;
static ald_allocator alloc;
static const ald__ipc_codec codec = {stream_decode, &alloc};
static const ald__ipc_rules lenient = {0, 1, &codec, 0};
static const ald__ipc_rules strict = {1, 1, NULL, 0};

static void heap_open(void)
{
    alloc = check_heap_init(&heap, -1);
}

/* Compares every column of every batch with NAME.txt. */
static void check_values(const stream *s, const char *name)
{
    char path[512], *expected;
    show_text text = {NULL, 0, 0};
    const struct ArrowSchema *schema = ald__ipc_schema_get(s->schema);
    size_t size;
    snprintf(path, sizeof path, DATA "%s.txt", name);
    expected = (char *)stream_file(path, &size);
    REQUIRE(expected != NULL);
    for (size_t b = 0; b < s->batch_count; b++) {
        for (int64_t c = 0; c < schema->n_children; c++) {
            char head[160];
            snprintf(head, sizeof head, "%zu %s: ", b, schema->children[c]->name);
            show_put(&text, head);
            show_column(&text, schema->children[c], s->batches[b].children[c]);
            show_put(&text, "\n");
        }
    }
    CHECK_STR(text.text, expected);
    free(text.text);
    free(expected);
}

static void check_stream(const char *file, const char *values, size_t shift,
                         const ald__ipc_rules *rules)
{
    char path[512];
    ald_error err;
    stream s;
    size_t size;
    uint8_t *data;
    snprintf(path, sizeof path, DATA "%s.arrows", file);
    data = stream_file(path, &size);
    REQUIRE(data != NULL);
    heap_open();
    if (CHECK_OK(stream_read(&s, &alloc, data, size, shift, rules, NULL, &err), &err)) {
        CHECK(s.marked_end);
        check_values(&s, values);
    }
    stream_clear(&s);
    CHECK_HEAP_EMPTY(&heap);
    free(data);
}

static void test_all_types(void)
{
    check_stream("types", "types", 0, &lenient);
    check_stream("types", "types", 0, &strict);
}

static void test_misaligned_body(void)
{
    check_stream("types", "types", 1, &lenient);
    check_stream("types", "types", 4, &strict);
}

static void test_compressed_buffers(void)
{
    check_stream("types_lz4", "types", 0, &lenient);
    check_stream("types_zstd", "types", 3, &lenient);
}

static void test_deltas_of_all_types(void)
{
    check_stream("deltas", "deltas", 0, &lenient);
    check_stream("deltas", "deltas", 0, &strict);
}

/* ---- One file, many ways */

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bytes load(const char *name)
{
    char path[512];
    bytes b = {NULL, 0};
    snprintf(path, sizeof path, DATA "%s", name);
    b.data = stream_file(path, &b.size);
    heap_open();
    return b;
}

static ald_status read_bytes(const bytes *b, const ald__ipc_rules *rules, ald_error *err)
{
    stream s;
    ald_status status = stream_read(&s, &alloc, b->data, b->size, 0, rules, NULL, err);
    stream_clear(&s);
    return status;
}

static void test_deltas_are_refused(void)
{
    ald__ipc_rules rules = lenient;
    bytes b = load("deltas.arrows");
    ald_error err;
    rules.allow_delta = 0;
    CHECK_INT(read_bytes(&b, &rules, &err), ALD_E_UNSUPPORTED);
    rules.strict = 1;
    CHECK_INT(read_bytes(&b, &rules, &err), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "delta");
    rules.allow_delta = 1;
    rules.once = 1;
    CHECK_INT(read_bytes(&b, &rules, &err), ALD_E_INVALID_FORMAT);
    free(b.data);
}

static void test_compression_is_refused(void)
{
    ald__ipc_rules rules = lenient;
    bytes b = load("types_zstd.arrows");
    ald_error err;
    rules.codec = NULL;
    CHECK_INT(read_bytes(&b, &rules, &err), ALD_E_UNSUPPORTED);
    CHECK_INT(read_bytes(&b, &strict, &err), ALD_E_INVALID_FORMAT);
    free(b.data);
}

static void test_missing_end(void)
{
    bytes b = load("types.arrows");
    ald_error err;
    stream s;
    b.size -= 8;
    CHECK_OK(stream_read(&s, &alloc, b.data, b.size, 0, &lenient, NULL, &err), &err);
    CHECK(!s.marked_end);
    CHECK_UINT(s.batch_count, 3);
    stream_clear(&s);
    CHECK_INT(read_bytes(&b, &strict, &err), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "end-of-stream");
    b.size -= 4;
    CHECK_INT(read_bytes(&b, &lenient, &err), ALD_E_TRUNCATED);
    free(b.data);
}

/* Cut anywhere: an error, or (not strict) whole messages up to the cut. */
static void test_truncation(void)
{
    bytes b = load("types.arrows");
    size_t whole = b.size, good = 0;
    ald_error err;
    for (b.size = 0; b.size < whole; b.size += b.size < 600 ? 1 : 8) {
        CHECK(read_bytes(&b, &strict, &err) == ALD_E_INVALID_FORMAT);
        good += read_bytes(&b, &lenient, &err) == ALD_OK;
    }
    CHECK(good > 3 && good < 20);
    CHECK_HEAP_EMPTY(&heap);
    free(b.data);
}

/* Bytes changed all over the file: no crash, nothing left behind, and errors say something. */
static void test_flipped_bytes(void)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xFF};
    bytes b = load("deltas.arrows");
    size_t failed = 0;
    ald_error err;
    for (size_t i = 0; i < b.size; i += 11) {
        uint8_t flip = flips[i % 3];
        b.data[i] ^= flip;
        if (read_bytes(&b, i % 2 ? &strict : &lenient, &err) != ALD_OK) {
            failed++;
            CHECK(err.status != ALD_OK && err.msg[0] != '\0');
        }
        b.data[i] ^= flip;
    }
    CHECK(failed > 100);
    CHECK_HEAP_EMPTY(&heap);
    free(b.data);
}

static void fail_allocations(const char *name)
{
    bytes b = load(name);
    ald_error err;
    int64_t n = 0;
    for (;; n++) {
        ald_status status;
        alloc = check_heap_init(&heap, n);
        status = read_bytes(&b, &lenient, &err);
        CHECK_HEAP_EMPTY(&heap);
        if (status == ALD_OK)
            break;
        if (!CHECK_INT(status, ALD_E_NOMEM))
            break;
    }
    CHECK(n > 100);
    free(b.data);
}

static void test_every_allocation_fails(void)
{
    fail_allocations("deltas.arrows");
    fail_allocations("types.arrows");
    fail_allocations("types_lz4.arrows");
}

static void test_wanted_columns(void)
{
    bytes b = load("types.arrows");
    const struct ArrowSchema *schema;
    uint8_t wanted[128] = {0};
    show_text all = {NULL, 0, 0}, some = {NULL, 0, 0};
    ald_error err;
    stream s, t;
    CHECK_OK(stream_read(&s, &alloc, b.data, b.size, 0, &strict, NULL, &err), &err);
    schema = ald__ipc_schema_get(s.schema);
    for (int64_t c = 0; c < schema->n_children; c += 3)
        wanted[c] = 1;
    CHECK_OK(stream_read(&t, &alloc, b.data, b.size, 0, &strict, wanted, &err), &err);
    REQUIRE(t.batch_count == 3);
    CHECK_INT(t.batches[0].n_children, (schema->n_children + 2) / 3);
    CHECK_INT(t.batches[0].length, 4);
    for (int64_t c = 0; c < schema->n_children; c += 3) {
        show_column(&all, schema->children[c], s.batches[0].children[c]);
        show_column(&some, schema->children[c], t.batches[0].children[c / 3]);
    }
    CHECK_STR(some.text, all.text);
    stream_clear(&s);
    stream_clear(&t);
    free(all.text);
    free(some.text);
    CHECK_HEAP_EMPTY(&heap);
    free(b.data);
}

/* Columns that were moved out live on without the batch, the dictionaries and the schema. */
static void test_columns_move_out(void)
{
    bytes b = load("types.arrows");
    struct ArrowArray moved[128];
    show_text text = {NULL, 0, 0};
    ald__ipc_schema *schema;
    ald_error err;
    int64_t count;
    stream s;
    CHECK_OK(stream_read(&s, &alloc, b.data, b.size, 0, &strict, NULL, &err), &err);
    count = s.batches[0].n_children;
    for (int64_t c = 0; c < count; c++) {
        moved[c] = *s.batches[0].children[c];
        s.batches[0].children[c]->release = NULL;
    }
    schema = s.schema;
    s.schema = NULL;
    stream_clear(&s);
    for (int64_t c = count - 1; c >= 0; c--) {
        show_column(&text, ald__ipc_schema_get(schema)->children[c], &moved[c]);
        moved[c].release(&moved[c]);
    }
    CHECK(text.size > 1000);
    free(text.text);
    ald__ipc_schema_free(schema);
    CHECK_HEAP_EMPTY(&heap);
    free(b.data);
}

/* The spans say where a column's bytes are: change one and (only) that column's text may change. */
static void test_spans(void)
{
    bytes b = load("types.arrows");
    ald__cursor cursor = {b.data, b.size, 0, 0};
    ald__ipc_schema *schema = NULL;
    ald__ipc_message message;
    ald__ipc_span spans[128];
    uint64_t rows = 0, last = 0;
    ald_error err;
    REQUIRE_OK(ald__ipc_read_message(&cursor, &strict, &message, &err), &err);
    REQUIRE_OK(ald__ipc_schema_new(&alloc, &message, &strict, &schema, &err), &err);
    do {
        REQUIRE_OK(ald__ipc_read_head(&cursor, &strict, &message, &err), &err);
        cursor.pos += (size_t)message.body_size;
    } while (message.type != ALD__IPC_BATCH);
    REQUIRE_OK(ald__ipc_read_spans(schema, &message, &strict, spans, &rows, &err), &err);
    CHECK_UINT(rows, 4);
    for (int64_t c = 0; c < ald__ipc_schema_get(schema)->n_children; c++) {
        const char *name = ald__ipc_schema_get(schema)->children[c]->name;
        if (spans[c].end == 0) {
            CHECK_STR(name, "null");
            continue;
        }
        CHECK(spans[c].begin >= last && spans[c].end > spans[c].begin);
        last = spans[c].end;
        if (strcmp(name, "int32") == 0 || strcmp(name, "fixed list") == 0)
            CHECK_UINT(spans[c].values_size, 16);
        if (strcmp(name, "string") == 0 || strcmp(name, "struct") == 0)
            CHECK_UINT(spans[c].values_size, 0);
    }
    CHECK(last <= message.body_size);
    ald__ipc_schema_free(schema);
    free(b.data);
}

static void test_dictionary_numbers(void)
{
    bytes b = load("types.arrows");
    ald_error err;
    stream s;
    REQUIRE_OK(stream_read(&s, &alloc, b.data, b.size, 0, &strict, NULL, &err), &err);
    CHECK_UINT(ald__ipc_schema_dictionary_count(s.schema), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK(ald__ipc_dictionaries_seen(s.dictionaries, i) >= 1);
    stream_clear(&s);
    CHECK_HEAP_EMPTY(&heap);
    free(b.data);
}

/* 2^62 rows without bytes: they take neither time nor memory. */
static void test_claimed_rows(void)
{
    bytes b = load("claims.arrows");
    ald_error err;
    stream s;
    REQUIRE_OK(stream_read(&s, &alloc, b.data, b.size, 0, &strict, NULL, &err), &err);
    CHECK_UINT(s.batch_count, 1);
    CHECK_INT(s.batches[0].length, INT64_C(1) << 62);
    CHECK_INT(s.batches[0].children[0]->null_count, INT64_C(1) << 62);
    CHECK(heap.peak_bytes < 65536);
    stream_clear(&s);
    CHECK_HEAP_EMPTY(&heap);
    free(b.data);
}

/* ---- Other producers' files, where there are any: the values are compared elsewhere, here nothing may go wrong. */

static size_t read_folder(const char *folder, size_t *good)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    size_t count = 0;
    if (dir == NULL)
        return 0;
    while ((entry = readdir(dir)) != NULL) {
        char path[1024];
        bytes b;
        ald_error err;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        b.data = entry->d_name[0] == '.' ? NULL : stream_file(path, &b.size);
        if (b.data == NULL)
            continue;
        heap_open();
        count++;
        *good += read_bytes(&b, &lenient, &err) == ALD_OK;
        (void)read_bytes(&b, &strict, &err);
        CHECK_HEAP_EMPTY(&heap);
        CHECK(heap.peak_bytes < 64 << 20);
        free(b.data);
    }
    closedir(dir);
    return count;
}

static void test_peers(void)
{
    const char *root = getenv("ALD_PEERS");
    char folder[900];
    size_t good = 0;
    if (root == NULL)
        return;
    snprintf(folder, sizeof folder, "%s/arrow-testing/data/arrow-ipc-stream", root);
    CHECK(read_folder(folder, &good) > 0);
    snprintf(folder, sizeof folder,
             "%s/arrow-testing/data/arrow-ipc-stream/integration/1.0.0-littleendian", root);
    CHECK(read_folder(folder, &good) > 0);
    CHECK(good > 0);
}

int main(void)
{
    RUN(test_all_types);
    RUN(test_misaligned_body);
    RUN(test_compressed_buffers);
    RUN(test_deltas_of_all_types);
    RUN(test_deltas_are_refused);
    RUN(test_compression_is_refused);
    RUN(test_missing_end);
    RUN(test_truncation);
    RUN(test_flipped_bytes);
    RUN(test_every_allocation_fails);
    RUN(test_wanted_columns);
    RUN(test_columns_move_out);
    RUN(test_spans);
    RUN(test_dictionary_numbers);
    RUN(test_claimed_rows);
    RUN(test_peers);
    return check_done();
}
