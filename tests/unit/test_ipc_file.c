/* SPDX-License-Identifier: MIT */
/* ald_ipc_open and ald_ipc_write: both forms, all compressions, other producers' files, damage. */
#include "check_alloc.h"
#include "property/random_table.h"

#include "ald/ipc.h"
#include "ald/schema.h"
#include "ald/stream.h"

static check_heap heap;
static ald_host host;

static void begin(int64_t calls)
{
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, calls);
}

/* ---- A stream over `count` random batches. */

static void table_stream(uint64_t seed, size_t count, struct ArrowArrayStream *out, rt_out *want)
{
    int64_t calls = heap.calls_left;
    struct ArrowArray batches[4];
    struct ArrowSchema schema;
    ald_error err = {0};
    heap.calls_left = -1;
    rt_schema(seed, &host.alloc, &schema);
    for (size_t i = 0; i < count; i++) {
        rt_batch(seed + 100 * i, seed, &schema, &batches[i]);
        if (want != NULL)
            rt_render_batch(&schema, &batches[i], want);
    }
    CHECK_OK(ald_stream_from_batches(&schema, batches, count, &host, out, &err), &err);
    heap.calls_left = calls;
}

static ald_status read_source(const ald_source *source, ald_ipc_kind kind, rt_out *out,
                              ald_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema = {0};
    ald_status status = ald_ipc_open(source, kind, &host, &stream, err);
    if (status != ALD_OK) {
        CHECK(stream.release == NULL);
        return status;
    }
    status = ald_stream_schema(&stream, &schema, err);
    while (status == ALD_OK) {
        struct ArrowArray batch = {0};
        status = ald_stream_next(&stream, &batch, err);
        if (status != ALD_OK || batch.release == NULL)
            break;
        if (out != NULL)
            rt_render_batch(&schema, &batch, out);
        batch.release(&batch);
    }
    if (schema.release != NULL)
        schema.release(&schema);
    stream.release(&stream);
    return status;
}

static ald_status read_all(const void *data, size_t size, ald_ipc_kind kind, rt_out *out,
                           ald_error *err)
{
    ald_source source = ald_source_memory(data, size);
    return read_source(&source, kind, out, err);
}

static ald_status write_table(uint64_t seed, size_t count, uint8_t kind, uint8_t compression,
                              ald_buffer *out, rt_out *want, ald_error *err)
{
    ald_ipc_options options = ALD_IPC_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_sink sink = ald_buffer_sink(out);
    ald_status status;
    table_stream(seed, count, &stream, want);
    options.kind = kind;
    options.compression = compression;
    status = ald_ipc_write(&stream, &sink, &options, &host, err);
    CHECK(stream.release == NULL);
    return status;
}

static void check_same(const rt_out *got, const rt_out *want, uint64_t seed)
{
    if (!CHECK(got->size == want->size &&
               (got->size == 0 || memcmp(got->data, want->data, got->size) == 0)))
        printf("    seed %llu\n", (unsigned long long)seed);
}

static void test_round_trips(void)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                           ALD_COMPRESSION_LZ4};
    begin(-1);
    for (uint64_t seed = 0; seed < 96 && check_failures < 10; seed++) {
        uint8_t kind = seed % 2 ? ALD_IPC_FILE : ALD_IPC_STREAM;
        ald_buffer bytes = {NULL, 0, 0, &host.alloc};
        rt_out want = {0}, got = {0};
        ald_error err = {0};
        if (CHECK_OK(write_table(seed, seed % 4, kind, compressions[seed % 3], &bytes, &want, &err),
                     &err)) {
            CHECK_OK(read_all(bytes.data, bytes.size, ALD_IPC_AUTO, &got, &err), &err);
            check_same(&got, &want, seed);
            CHECK_INT(read_all(bytes.data, bytes.size,
                               kind == ALD_IPC_FILE ? ALD_IPC_STREAM : ALD_IPC_FILE, NULL, &err),
                      ALD_E_INVALID_FORMAT);
        }
        free(want.data);
        free(got.data);
        ald_buffer_clear(&bytes);
    }
    CHECK_HEAP_EMPTY(&heap);
}

/* A file cut anywhere is an error; a stream cut anywhere but between messages. */
static void test_truncated(void)
{
    for (int k = 0; k < 2; k++) {
        ald_buffer bytes = {NULL, 0, 0, &host.alloc};
        ald_error err = {0};
        size_t read = 0;
        begin(-1);
        CHECK_OK(write_table(3, 2, k ? ALD_IPC_FILE : ALD_IPC_STREAM, ALD_COMPRESSION_NONE, &bytes,
                             NULL, &err),
                 &err);
        CHECK(bytes.size > 1000);
        for (size_t size = 0; size < bytes.size; size++) {
            uint8_t *copy =
                rt_calloc(size, 1); /* of that size, so that a read past the end is seen */
            memcpy(copy, bytes.data, size);
            read += read_all(copy, size, ALD_IPC_AUTO, NULL, &err) == ALD_OK;
            free(copy);
        }
        CHECK(k ? read == 0 : read > 0 && read < 20);
        ald_buffer_clear(&bytes);
        CHECK_HEAP_EMPTY(&heap);
    }
}

/* A bit flipped anywhere: an error or other values, and never a fault. */
static void test_flipped(void)
{
    for (int k = 0; k < 2; k++) {
        ald_buffer bytes = {NULL, 0, 0, &host.alloc};
        ald_error err = {0};
        begin(-1);
        CHECK_OK(write_table(28, 2, k ? ALD_IPC_FILE : ALD_IPC_STREAM, ALD_COMPRESSION_NONE, &bytes,
                             NULL, &err),
                 &err);
        for (size_t i = 0; i < bytes.size; i++) {
            bytes.data[i] ^= (uint8_t)(1u << (i % 8));
            (void)!read_all(bytes.data, bytes.size, ALD_IPC_AUTO, NULL, &err);
            bytes.data[i] ^= (uint8_t)(1u << (i % 8));
        }
        ald_buffer_clear(&bytes);
        CHECK_HEAP_EMPTY(&heap);
    }
}

static void test_without_memory(void)
{
    for (uint64_t seed = 1; seed < 4; seed++) {
        ald_status status = ALD_E_NOMEM;
        for (int64_t n = 0; status != ALD_OK; n++) {
            ald_buffer bytes = {NULL, 0, 0, &host.alloc};
            ald_error err = {0};
            begin(n);
            status = write_table(seed, 2, seed % 2 ? ALD_IPC_FILE : ALD_IPC_STREAM,
                                 seed < 2 ? ALD_COMPRESSION_LZ4 : ALD_COMPRESSION_NONE, &bytes,
                                 NULL, &err);
            if (status == ALD_OK)
                status = read_all(bytes.data, bytes.size, ALD_IPC_AUTO, NULL, &err);
            ald_buffer_clear(&bytes);
            CHECK_HEAP_EMPTY(&heap);
            if (status != ALD_OK && status != ALD_E_NOMEM)
                printf("    %s\n", err.msg);
            if (status != ALD_OK)
                REQUIRE_INT(status, ALD_E_NOMEM);
        }
    }
}

static void test_options(void)
{
    struct {
        ald_ipc_options options;
        uint8_t more[4];
    } longer = {ALD_IPC_OPTIONS_INIT, {0}};
    struct ArrowArrayStream stream;
    ald_error err = {0};
    ald_buffer bytes = {NULL, 0, 0, &host.alloc};
    begin(-1);
    ald_sink sink = ald_buffer_sink(&bytes);
    longer.options.struct_size = sizeof longer;
    table_stream(1, 1, &stream, NULL);
    CHECK_OK(ald_ipc_write(&stream, &sink, &longer.options, &host, &err), &err);
    longer.more[1] = 1;
    table_stream(1, 1, &stream, NULL);
    CHECK_INT(ald_ipc_write(&stream, &sink, &longer.options, &host, &err), ALD_E_INVALID_ARG);
    CHECK_INT(write_table(1, 1, 7, 0, &bytes, NULL, &err), ALD_E_INVALID_ARG);
    CHECK_INT(write_table(1, 1, ALD_IPC_FILE, ALD_COMPRESSION_PACKED, &bytes, NULL, &err),
              ALD_E_INVALID_ARG);
    ald_buffer_clear(&bytes);
    CHECK_HEAP_EMPTY(&heap);
}

static ald_status refuse(void *ctx, const void *buf, size_t size, ald_error *err)
{
    size_t *left = ctx;
    (void)buf;
    if (*left < size)
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "disk full");
    *left -= size;
    return ALD_OK;
}

static void test_sink_fails(void)
{
    for (size_t room = 0; room < 2000; room += 37) {
        size_t left = room;
        ald_sink sink = {refuse, NULL, &left, NULL};
        struct ArrowArrayStream stream;
        ald_error err = {0};
        begin(-1);
        table_stream(3, 2, &stream, NULL);
        CHECK_INT(ald_ipc_write(&stream, &sink, NULL, &host, &err), ALD_E_IO);
        CHECK_STR(err.msg, "disk full");
        CHECK_HEAP_EMPTY(&heap);
    }
}

/* A source whose n-th read fails. */
typedef struct flaky {
    ald_source memory;
    int64_t left;
} flaky;

static ald_status flaky_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    flaky *f = ctx;
    if (f->left-- == 0)
        return ald_error_set(err, ALD_E_IO, offset, "bad sector");
    return f->memory.read_at(f->memory.ctx, offset, buf, size, err);
}

static void test_source_fails(void)
{
    for (int k = 0; k < 2; k++) {
        ald_buffer bytes = {NULL, 0, 0, &host.alloc};
        ald_status status = ALD_E_IO;
        ald_error err = {0};
        begin(-1);
        CHECK_OK(write_table(3, 3, k ? ALD_IPC_FILE : ALD_IPC_STREAM, ALD_COMPRESSION_NONE, &bytes,
                             NULL, &err),
                 &err);
        for (int64_t n = 0; status != ALD_OK; n++) {
            flaky f = {ald_source_memory(bytes.data, bytes.size), n};
            ald_source source = {bytes.size, flaky_read, NULL, NULL, &f, NULL};
            status = read_source(&source, ALD_IPC_AUTO, NULL, &err);
            if (status != ALD_OK) {
                REQUIRE_INT(status, ALD_E_IO);
                CHECK_STR(err.msg, "bad sector");
            }
            REQUIRE(n < 100);
        }
        ald_buffer_clear(&bytes);
        CHECK_HEAP_EMPTY(&heap);
    }
}

/* ---- Files of others, under tests/field. */

static void *load(const char *name, size_t *size)
{
    char path[512];
    FILE *f;
    void *data;
    snprintf(path, sizeof path, "%s/field/%s", ALD_TEST_DATA, name);
    f = fopen(path, "rb");
    if (!CHECK(f != NULL)) {
        printf("    %s\n", path);
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    data = rt_calloc(*size, 1);
    CHECK_UINT(fread(data, 1, *size, f), *size);
    fclose(f);
    return data;
}

static void test_broken_files(void)
{
    static const struct {
        const char *name, *message;
    } files[] = {
        {"086-zstd-prefix-zero/in.arrows", "size"},
        {"087-prefix-sum-overflow/in.arrows", "size"},
        {"088-footer-block-outside/in-behind.arrow", "outside"},
        {"088-footer-block-outside/in-meta-huge.arrow", "outside"},
        {"088-footer-block-outside/in-meta-negative.arrow", "outside"},
        {"088-footer-block-outside/in-negative.arrow", "outside"},
        {"089-footer-without-schema/in.arrow", "no schema"},
        {"091-footer-length-lies/in-huge.arrow", "footer's length"},
        {"091-footer-length-lies/in-negative.arrow", "footer's length"},
        {"091-footer-length-lies/in-zero.arrow", "footer's length"},
        {"092-schema-type-none/in-none.arrows", "'x'"},
        {"093-message-bounds/in-prefix.arrows", "metadata length"},
        {"093-message-bounds/in-prefix-max.arrows", "ends inside"},
        {"104-stream-cut-in-message/in.arrows", "ends inside"},
        {"104-stream-cut-in-message/in-meta.arrows", "ends inside"},
        {"105-feather-v1/in.feather", "Feather V1"},
    };
    begin(-1);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        ald_error err = {0};
        size_t size = 0;
        void *data = load(files[i].name, &size);
        if (!CHECK(data != NULL && read_all(data, size, ALD_IPC_AUTO, NULL, &err) != ALD_OK))
            printf("    %s\n", files[i].name);
        CHECK_CONTAINS(err.msg, files[i].message);
        free(data);
    }
    CHECK_HEAP_EMPTY(&heap);
}

/* The forms of one table are read as the same values. */
static void check_equal_files(const char *folder, const char *const *names, size_t count)
{
    rt_out first = {0};
    begin(-1);
    for (size_t i = 0; i < count; i++) {
        char path[200];
        rt_out got = {0};
        ald_error err = {0};
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        void *data = load(path, &size);
        if (data != NULL)
            CHECK_OK(read_all(data, size, ALD_IPC_AUTO, &got, &err), &err);
        CHECK(got.size > 0);
        if (i == 0)
            first = got;
        else
            check_same(&got, &first, i);
        free(data);
        if (i > 0)
            free(got.data);
    }
    free(first.data);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_forms_of_one_table(void)
{
    static const char *const stored_raw[] = {"in.arrow", "in.arrows"};
    static const char *const compressed[] = {"in-lz4.arrow", "in-lz4.arrows", "in-zstd.arrow",
                                             "in-zstd.arrows"};
    static const char *const views[] = {"in.arrow", "in.arrows", "in-zstd.arrow"};
    static const char *const old[] = {"in-v4.arrow", "in-v4.arrows", "in-legacy.arrows"};
    static const char *const alone[] = {"in.arrow"};
    static const char *const stream[] = {"in.arrows"};
    check_equal_files("085-lz4-stored-raw", stored_raw, 2);
    check_equal_files("107-compressed-buffers", compressed, 4);
    check_equal_files("108-string-views", views, 3);
    check_equal_files("112-sliced", stored_raw, 2);
    check_equal_files("117-run-end-encoded", stored_raw, 2);
    check_equal_files("123-metadata-v4", old, 3);
    check_equal_files("090-file-without-eos", alone, 1);
    check_equal_files("095-dictionary-replaced", stream, 1);
    check_equal_files("096-dictionary-delta", stream, 1);
    check_equal_files("124-stream-without-eos", stream, 1);
}

int main(void)
{
    RUN(test_round_trips);
    RUN(test_truncated);
    RUN(test_flipped);
    RUN(test_without_memory);
    RUN(test_options);
    RUN(test_sink_fails);
    RUN(test_source_fails);
    RUN(test_broken_files);
    RUN(test_forms_of_one_table);
    return check_done();
}
