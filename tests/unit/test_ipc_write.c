/* SPDX-License-Identifier: MIT */
/* What the IPC writer emits, byte by byte where that matters: framing, padding, zeros, alignment, dictionaries. */
#include "check_alloc.h"
#include "property/random_table.h"

#include "ald/schema.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/ipc_write.h"
#include "core/base/buf.h"
#include "core/base/endian.h"

static check_heap heap;
static ald_host host;
static ald_buffer bytes; /* what was emitted */
static size_t emit_calls;

static void begin(void)
{
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, -1);
    memset(&bytes, 0, sizeof bytes);
    bytes.alloc = &host.alloc;
    emit_calls = 0;
}

static void end(void)
{
    ald_buffer_clear(&bytes);
    CHECK_HEAP_EMPTY(&heap);
}

static ald_status to_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    (void)ctx;
    emit_calls++;
    return ald__buffer_append(&bytes, data, size, err);
}

static const ald__emit emit = {to_bytes, NULL};

static void parse(const char *type, struct ArrowSchema *out)
{
    ald_error err = {0};
    CHECK_OK(ald_type_parse(&host, type, strlen(type), "", 0, out, &err), &err);
}

/* Arrays over the test's own memory. */
static void release_nothing(struct ArrowArray *array)
{
    array->release = NULL;
}

static struct ArrowArray array_of(int64_t length, int64_t n_buffers, const void **buffers)
{
    struct ArrowArray a = {0};
    a.length = length;
    a.null_count = -1;
    a.n_buffers = n_buffers;
    a.buffers = buffers;
    a.release = release_nothing;
    return a;
}

static struct ArrowArray batch_of(int64_t length, int64_t count, struct ArrowArray **children)
{
    static const void *none[1] = {NULL};
    struct ArrowArray a = array_of(length, 1, none);
    a.n_children = count;
    a.children = children;
    return a;
}

static ald__ipc_writer *new_writer(const struct ArrowSchema *schema, uint32_t alignment, int mode,
                                   const ald__ipc_compress *compress)
{
    ald__ipc_write_options options = {alignment, (uint8_t)mode, compress};
    ald__ipc_writer *w = NULL;
    ald_error err = {0};
    CHECK_OK(ald__ipc_writer_new(&host.alloc, schema, &options, &w, &err), &err);
    return w;
}

/* The body of the last message that went out, from the writer's own blocks. */
static const uint8_t *last_body(const ald__ipc_writer *w, size_t *size)
{
    size_t count;
    const ald__ipc_block *blocks = ald__ipc_writer_blocks(w, &count);
    *size = (size_t)blocks[count - 1].body_size;
    return bytes.data + blocks[count - 1].offset + blocks[count - 1].metadata_size;
}

static void test_schema_section(void)
{
    static const uint8_t marker[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};
    ald__ipc_rules rules = {.strict = 1};
    ald__ipc_schema *read = NULL;
    struct ArrowSchema schema;
    ald_error err = {0};
    ald__ipc_message m;
    begin();
    parse("struct<a: int64 not null, b: list<x: timestamp[ns, tz=UTC]>>", &schema);
    REQUIRE_OK(ald__ipc_schema_section(&host.alloc, &schema, &bytes, &err), &err);
    CHECK_UINT(bytes.size % 8, 0);
    CHECK_UINT(ald__load_le32(bytes.data), 0xFFFFFFFFu);
    CHECK_UINT(ald__load_le32(bytes.data + 4), bytes.size - 16);
    CHECK_MEM(bytes.data + bytes.size - 8, marker, 8);
    ald__cursor cursor = {bytes.data, bytes.size, 0, 0};
    REQUIRE_OK(ald__ipc_read_message(&cursor, &rules, &m, &err), &err);
    CHECK_INT(m.type, ALD__IPC_SCHEMA);
    REQUIRE_OK(ald__ipc_schema_new(&host.alloc, &m, &rules, &read, &err), &err);
    CHECK_OK(ald_schema_compare(&schema, ald__ipc_schema_get(read), 1, &err), &err);
    REQUIRE_OK(ald__ipc_read_message(&cursor, &rules, &m, &err), &err);
    CHECK_INT(m.type, ALD__IPC_END);
    ald__ipc_schema_free(read);
    schema.release(&schema);
    end();
}

static void test_schemas_that_ipc_cannot_say(void)
{
    ald__ipc_write_options options = {8, ALD__DICTIONARY_STREAM, NULL};
    ald__ipc_writer *w = NULL;
    struct ArrowSchema schema, values;
    ald_error err = {0};
    begin();
    parse("int64", &schema);
    CHECK_INT(ald__ipc_writer_new(&host.alloc, &schema, &options, &w, &err), ALD_E_INVALID_ARG);
    CHECK(w == NULL);
    schema.release(&schema);
    parse("struct<a: dictionary<values=string, indices=int8>>", &schema);
    parse("dictionary<values=string, indices=int8>", &values);
    schema.children[0]->dictionary->release(schema.children[0]->dictionary);
    *schema.children[0]->dictionary = values;
    CHECK_INT(ald__ipc_writer_new(&host.alloc, &schema, &options, &w, &err), ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "'a'");
    options.alignment = 16;
    CHECK_INT(ald__ipc_writer_new(&host.alloc, &schema, &options, &w, &err), ALD_E_INVALID_ARG);
    schema.release(&schema);
    end();
}

/* Rows 1 to 4 of 8: validity shifted, bits past the end and the value under the null zero, padding zero. */
static void test_cut_to_rows(void)
{
    static const uint8_t validity[1] = {0xEB}; /* slots 2 and 4 are null */
    static const int32_t values[8] = {-1, 10, 77, 30, 77, -1, -1, -1};
    static const uint8_t want[32] = {0x5, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 30};
    const void *buffers[2] = {validity, values};
    struct ArrowArray column = array_of(4, 2, buffers), *children[1] = {&column};
    struct ArrowArray batch = batch_of(4, 1, children);
    struct ArrowSchema schema;
    ald_error err = {0};
    size_t size = 0;
    begin();
    column.offset = 1;
    parse("struct<a: int32>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, NULL);
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    const uint8_t *body = last_body(w, &size);
    if (CHECK_UINT(size, 24))
        CHECK_MEM(body, want, 24);
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

/* Text under a null is dropped, offsets begin at 0. */
static void test_text_under_null(void)
{
    static const uint8_t validity[1] = {0x5};
    static const int32_t offsets[4] = {3, 5, 9, 10};
    const void *buffers[3] = {validity, offsets, "...abSECRc"};
    static const uint8_t want[] = {5, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0,   0, 2, 0, 0, 0,
                                   2, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 'c', 0, 0, 0, 0, 0};
    struct ArrowArray column = array_of(3, 3, buffers), *children[1] = {&column};
    struct ArrowArray batch = batch_of(3, 1, children);
    struct ArrowSchema schema;
    ald_error err = {0};
    size_t size = 0;
    begin();
    parse("struct<a: string>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, NULL);
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    const uint8_t *body = last_body(w, &size);
    if (CHECK_UINT(size, sizeof want))
        CHECK_MEM(body, want, sizeof want);
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

/* A struct's null reaches the values of its children, a fixed-size list's the values of its items. */
static void test_zeros_below_nulls(void)
{
    static const uint8_t validity[1] = {0x1};
    static const int16_t values[4] = {1, 2, 3, 4};
    static const uint8_t want[24] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2};
    const void *one[1] = {validity}, *two[2] = {NULL, values};
    struct ArrowArray leaf = array_of(4, 2, two), *leaves[1] = {&leaf};
    struct ArrowArray list = array_of(2, 1, one), *lists[1] = {&list};
    struct ArrowArray record = array_of(2, 1, one), *children[1] = {&record};
    struct ArrowArray batch = batch_of(2, 1, children);
    struct ArrowSchema schema;
    ald_error err = {0};
    size_t size = 0;
    begin();
    list.n_children = 1;
    list.children = leaves;
    record.n_children = 1;
    record.children = lists;
    parse("struct<a: struct<b: fixed_size_list<item: int16>[2]>>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, NULL);
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    const uint8_t *body = last_body(w, &size);
    /* The list's own nulls are those of its parent alone, so it has no validity buffer. */
    if (CHECK_UINT(size, 16)) {
        CHECK_MEM(body, want, 8);
        CHECK_MEM(body + 8, want + 16, 8);
    }
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

/* A column without nulls is emitted from where it is. */
static const void *seen_pointer;

static ald_status watch(void *ctx, const void *data, size_t size, ald_error *err)
{
    if (size == 8 * sizeof(int64_t))
        seen_pointer = data;
    return to_bytes(ctx, data, size, err);
}

static void test_no_copy(void)
{
    static const uint8_t validity[1] = {0x7F};
    static const int64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 0};
    const void *buffers[2] = {validity, values};
    struct ArrowArray column = array_of(8, 2, buffers), *children[1] = {&column};
    struct ArrowArray batch = batch_of(8, 1, children);
    ald__emit watching = {watch, NULL};
    struct ArrowSchema schema;
    ald_error err = {0};
    begin();
    parse("struct<a: int64>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, NULL);
    seen_pointer = NULL;
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &watching, &err), &err);
    CHECK(seen_pointer == values); /* the null slot is zero already */
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

static void test_alignment_and_values(void)
{
    static const int8_t ids[3] = {1, 2, 3};
    static const int32_t offsets[4] = {0, 1, 2, 3};
    static const float floats[6] = {0, 1, 2, 3, 4, 5};
    const void *id_buffers[2] = {NULL, ids}, *text_buffers[3] = {NULL, offsets, "xyz"};
    const void *list_buffers[1] = {NULL}, *float_buffers[2] = {NULL, floats};
    struct ArrowArray id = array_of(3, 2, id_buffers), text = array_of(3, 3, text_buffers);
    struct ArrowArray item = array_of(6, 2, float_buffers), *items[1] = {&item};
    struct ArrowArray list = array_of(3, 1, list_buffers);
    struct ArrowArray *children[3] = {&id, &text, &list};
    struct ArrowArray batch = batch_of(3, 3, children);
    const uint64_t *at, *sizes;
    struct ArrowSchema schema;
    ald_error err = {0};
    begin();
    list.n_children = 1;
    list.children = items;
    parse("struct<id: int8, s: string, v: fixed_size_list<item: float>[2]>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 64, ALD__DICTIONARY_STREAM, NULL);
    ald__ipc_writer_set_position(w, 1000); /* as in a file with something before */
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    ald__ipc_writer_values(w, &at, &sizes);
    CHECK_UINT(at[0] % 64, 0);
    CHECK_UINT(sizes[0], 3);
    CHECK_MEM(bytes.data + at[0] - 1000, ids, 3);
    CHECK_UINT(at[1], 0);
    CHECK_UINT(sizes[1], 0);
    CHECK_UINT(at[2] % 64, 0);
    CHECK_UINT(sizes[2], sizeof floats);
    CHECK_MEM(bytes.data + at[2] - 1000, floats, sizeof floats);
    CHECK_UINT(ald__ipc_writer_position(w), 1000 + bytes.size);
    batch.length = 0; /* no rows: the offset is there all the same */
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    ald__ipc_writer_values(w, &at, &sizes);
    CHECK(at[0] > 0 && at[0] % 64 == 0);
    CHECK_UINT(sizes[0], 0);
    CHECK(at[2] >= at[0] && at[2] % 64 == 0);
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

/* ---- Dictionaries. One column of int8 indices into text; `letters` are the values, one byte each. */

typedef struct letters {
    int32_t offsets[16];
    const void *values_buffers[3], *index_buffers[2];
    struct ArrowArray values, column, *children[1], batch;
} letters;

static void letters_init(letters *l, const char *text, const int8_t *indices, int64_t rows)
{
    int64_t count = (int64_t)strlen(text);
    for (int i = 0; i <= count; i++)
        l->offsets[i] = i;
    l->values_buffers[0] = NULL;
    l->values_buffers[1] = l->offsets;
    l->values_buffers[2] = text;
    l->values = array_of(count, 3, l->values_buffers);
    l->index_buffers[0] = NULL;
    l->index_buffers[1] = indices;
    l->column = array_of(rows, 2, l->index_buffers);
    l->column.dictionary = &l->values;
    l->children[0] = &l->column;
    l->batch = batch_of(rows, 1, l->children);
}

static size_t dictionary_blocks(const ald__ipc_writer *w)
{
    size_t count, found = 0;
    const ald__ipc_block *blocks = ald__ipc_writer_blocks(w, &count);
    for (size_t i = 0; i < count; i++)
        found += (size_t)blocks[i].is_dictionary;
    return found;
}

static void test_dictionary_modes(void)
{
    static const int8_t indices[4] = {0, 1, 1, 2};
    static const uint8_t mapped[4] = {1, 3, 3, 0};
    static const struct {
        const char *text;
        size_t stream, chunk, delta; /* dictionary batches up to here */
    } steps[] = {
        {"abc", 1, 1, 1}, {"abc", 1, 2, 1}, {"bda", 2, 3, 2}, {"bda", 2, 4, 2}, {"abc", 3, 5, 2}};
    struct ArrowSchema schema;
    ald_error err = {0};
    begin();
    parse("struct<a: dictionary<values=string, indices=int8, ordered=0>>", &schema);
    for (int mode = 0; mode < 3; mode++) {
        ald__ipc_writer *w = new_writer(&schema, 8, mode, NULL);
        bytes.size = 0;
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            letters l;
            size_t size = 0, want = mode == ALD__DICTIONARY_STREAM  ? steps[i].stream
                                    : mode == ALD__DICTIONARY_CHUNK ? steps[i].chunk
                                                                    : steps[i].delta;
            letters_init(&l, steps[i].text, indices, 4);
            CHECK_OK(ald__ipc_write_batch(w, &l.batch, &emit, &err), &err);
            CHECK_UINT(dictionary_blocks(w), want);
            /* a is 0, b 1, c 2, d 3 in the dictionary that grows */
            CHECK_MEM(last_body(w, &size),
                      mode == ALD__DICTIONARY_DELTA && (i == 2 || i == 3)
                          ? mapped
                          : (const uint8_t *)indices,
                      4);
        }
        ald__ipc_writer_free(w);
    }
    schema.release(&schema);
    end();
}

/* More values than int8 indices can count: refused, naming the column. */
static void test_delta_overflow(void)
{
    static const int8_t last[1] = {15};
    struct ArrowSchema schema;
    ald_status status = ALD_OK;
    ald_error err = {0};
    begin();
    parse("struct<shade: dictionary<values=string, indices=int8, ordered=0>>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_DELTA, NULL);
    for (int i = 0; i < 9; i++) {
        int32_t offsets[17];
        char text[17] = "";
        letters l;
        for (int k = 0; k < 16; k++)
            text[k] = (char)(1 + 16 * i + k);
        for (int k = 0; k <= 16; k++)
            offsets[k] = k;
        letters_init(&l, "", last, 1);
        l.values_buffers[1] = offsets;
        l.values_buffers[2] = text;
        l.values.length = 16;
        status = ald__ipc_write_batch(w, &l.batch, &emit, &err);
        if (i < 8)
            CHECK_OK(status, &err);
    }
    CHECK_INT(status, ALD_E_UNSUPPORTED);
    CHECK_CONTAINS(err.msg, "'shade'");
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

/* ---- Compression: a buffer is its size and the codec's bytes, or -1 and itself. */

static ald_status halve(void *ctx, const uint8_t *src, size_t size, ald_buffer *out, ald_error *err)
{
    (void)ctx;
    return size == 64 ? ald__buffer_append(out, src, 8, err) : ALD_OK;
}

static void test_compression_prefix(void)
{
    static const int64_t large[8] = {5}, small[8] = {7, 8};
    const void *a_buffers[2] = {NULL, large}, *b_buffers[2] = {NULL, small};
    struct ArrowArray a = array_of(8, 2, a_buffers), b = array_of(8, 2, b_buffers);
    struct ArrowArray *children[2] = {&a, &b}, batch = batch_of(8, 2, children);
    ald__ipc_compress compress = {1, halve, NULL};
    struct ArrowSchema schema;
    ald_error err = {0};
    size_t size = 0;
    begin();
    parse("struct<a: int64, b: int16>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, &compress);
    REQUIRE_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    const uint8_t *body = last_body(w, &size);
    if (CHECK_UINT(size, 16 + 8 + 16)) {
        CHECK_UINT(ald__load_le64(body), 64);
        CHECK_UINT(ald__load_le64(body + 8), 5);
        CHECK_UINT(ald__load_le64(body + 16), UINT64_MAX);
        CHECK_MEM(body + 24, small, 16);
    }
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

static void check_refused(const char *type, const struct ArrowArray *batch, const char *part)
{
    struct ArrowSchema schema;
    ald_error err = {0};
    parse(type, &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, NULL);
    CHECK(ald__ipc_write_batch(w, batch, &emit, &err) != ALD_OK);
    CHECK_CONTAINS(err.msg, part);
    ald__ipc_writer_free(w);
    schema.release(&schema);
}

static void test_bad_arrays(void)
{
    static const int32_t values[4] = {1, 2, 3, 4}, falling[3] = {5, 3, 9};
    static const uint8_t validity[1] = {0x1};
    static const int8_t types[2] = {0, 9};
    const void *buffers[3] = {NULL, values, "abcd"}, *nulls[1] = {validity};
    struct ArrowArray column = array_of(2, 2, buffers), *children[1] = {&column};
    struct ArrowArray batch = batch_of(2, 1, children);
    begin();
    check_refused("struct<a: string>", &batch, "buffers");
    check_refused("struct<a: int32, b: int32>", &batch, "children");
    check_refused("struct<a: list<x: int32>>", &batch, "children");
    check_refused("struct<a: dictionary<values=string, indices=int32>>", &batch, "dictionary");
    column.length = 1;
    check_refused("struct<a: int32>", &batch, "fewer rows");
    column.length = -1;
    check_refused("struct<a: int32>", &batch, "length");
    column = array_of(2, 2, buffers);
    column.null_count = 1;
    check_refused("struct<a: int32>", &batch, "nulls");
    column = array_of(2, 3, buffers);
    buffers[1] = falling;
    column.offset = 0;
    batch.length = 1;
    check_refused("struct<a: string>", &batch, "offsets");
    column = array_of(2, 2, buffers);
    buffers[1] = NULL;
    check_refused("struct<a: int32>", &batch, "missing");
    buffers[0] = types;
    column = array_of(2, 1, buffers);
    batch.length = 2;
    column.n_children = 1;
    struct ArrowArray *none[1] = {&column};
    column.children = none;
    column.release = NULL;
    check_refused("struct<a: sparse_union<x: int8=0>>", &batch, "released");
    column = array_of(2, 2, buffers);
    batch.buffers = nulls;
    check_refused("struct<a: int32>", &batch, "rows that are null");
    end();
}

/* 10,000 columns in one go; the schema section is linear in them. */
static void test_many_columns(void)
{
    static const int32_t one = 1;
    const void *buffers[2] = {NULL, &one};
    struct ArrowArray column = array_of(1, 2, buffers);
    struct ArrowArray **children = rt_calloc(10000, sizeof *children);
    struct ArrowArray batch = batch_of(1, 10000, children);
    ald__ipc_rules rules = {.strict = 1};
    ald__ipc_schema *read = NULL;
    struct ArrowSchema schema;
    ald_error err = {0};
    ald__ipc_message m;
    begin();
    CHECK_INT(ald__schema_new(&host.alloc, 10000, 0, &schema, &err), ALD_OK);
    rt_set(&schema, "+s", "", 0);
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        rt_must(ald__schema_new(&host.alloc, 0, 0, schema.children[i], NULL));
        rt_set(schema.children[i], "i", name, 0);
        children[i] = &column;
    }
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_CHUNK, NULL);
    CHECK_OK(ald__ipc_write_schema(w, &emit, &err), &err);
    CHECK(bytes.size < 1000000);
    ald__cursor cursor = {bytes.data, bytes.size, 0, 0};
    REQUIRE_OK(ald__ipc_read_message(&cursor, &rules, &m, &err), &err);
    REQUIRE_OK(ald__ipc_schema_new(&host.alloc, &m, &rules, &read, &err), &err);
    CHECK_OK(ald_schema_compare(&schema, ald__ipc_schema_get(read), 1, &err), &err);
    CHECK_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    ald__ipc_schema_free(read);
    ald__ipc_writer_free(w);
    schema.release(&schema);
    free(children);
    end();
}

/* Rows that claim no bytes cost none. */
static void test_rows_without_bytes(void)
{
    const void *no_buffers[1] = {NULL};
    struct ArrowArray nulls = array_of(INT64_MAX / 4, 0, NULL), *items[1] = {&nulls};
    struct ArrowArray list = array_of(INT64_MAX / 8, 1, no_buffers), *children[1] = {&list};
    struct ArrowArray batch = batch_of(INT64_MAX / 8, 1, children);
    struct ArrowSchema schema;
    ald_error err = {0};
    begin();
    list.n_children = 1;
    list.children = items;
    parse("struct<a: fixed_size_list<item: null>[2]>", &schema);
    ald__ipc_writer *w = new_writer(&schema, 8, ALD__DICTIONARY_STREAM, NULL);
    CHECK_OK(ald__ipc_write_batch(w, &batch, &emit, &err), &err);
    CHECK(heap.peak_bytes < 100000);
    ald__ipc_writer_free(w);
    schema.release(&schema);
    end();
}

int main(void)
{
    RUN(test_schema_section);
    RUN(test_schemas_that_ipc_cannot_say);
    RUN(test_cut_to_rows);
    RUN(test_text_under_null);
    RUN(test_zeros_below_nulls);
    RUN(test_no_copy);
    RUN(test_alignment_and_values);
    RUN(test_dictionary_modes);
    RUN(test_delta_overflow);
    RUN(test_compression_prefix);
    RUN(test_bad_arrays);
    RUN(test_many_columns);
    RUN(test_rows_without_bytes);
    return check_done();
}
