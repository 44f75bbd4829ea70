/* SPDX-License-Identifier: MIT */
/* Headers of .npy and safetensors: what is accepted, what is refused and why, and that no change of a small file, no failed
 * allocation and no failed read does harm. Values are compared with other libraries in tests/interop/test_tensors.py. */
#include "ald/ald.h"
#include "check.h"
#include "check_alloc.h"
#include "npz_sample.h"

#define FILE_BYTES 4096

typedef ald_status (*open_fn)(const ald_source *source, const ald_tensor_options *options,
                              const ald_host *host, struct ArrowArrayStream *out, ald_error *err);

typedef struct file_bytes {
    uint8_t data[FILE_BYTES];
    size_t size;
} file_bytes;

static check_heap heap;

/* A spool of fixed size, for arrays in Fortran order. */
static uint8_t spool_data[FILE_BYTES];
static size_t spool_size;
static int spools_open;

static ald_status spool_append(void *ctx, const void *buf, size_t size, ald_error *err)
{
    (void)ctx;
    if (size > FILE_BYTES - spool_size)
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the spool is full");
    memcpy(spool_data + spool_size, buf, size);
    spool_size += size;
    return ALD_OK;
}

static ald_status spool_read_at(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    (void)ctx;
    if (offset > spool_size || size > spool_size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, ALD_NO_OFFSET, "behind the spool's end");
    memcpy(buf, spool_data + offset, size);
    return ALD_OK;
}

static void spool_close(void *ctx)
{
    (void)ctx;
    spools_open--;
}

static ald_status spool_open(void *ctx, ald_spool *out, ald_error *err)
{
    (void)ctx;
    (void)err;
    spool_size = 0;
    spools_open++;
    *out = (ald_spool){spool_append, spool_read_at, spool_close, NULL};
    return ALD_OK;
}

static ald_host host_of(int64_t calls)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, calls);
    host.spool_open = spool_open;
    return host;
}

static void put(file_bytes *f, const void *data, size_t size)
{
    memcpy(f->data + f->size, data, size);
    f->size += size;
}

/* A .npy of version 1, 2 or 3 with this dictionary and `count` bytes of 1, 2, 3, … */
static file_bytes npy(uint8_t version, const char *header, size_t count)
{
    file_bytes f;
    uint8_t prefix[12] = {0x93, 'N', 'U', 'M', 'P', 'Y', version, 0, (uint8_t)strlen(header)};
    prefix[9] = (uint8_t)(strlen(header) >> 8);
    f.size = 0;
    put(&f, prefix, version == 1 ? 10 : 12);
    put(&f, header, strlen(header));
    for (size_t i = 0; i < count; i++)
        f.data[f.size++] = (uint8_t)(i + 1);
    return f;
}

static file_bytes safe(const char *header, size_t count)
{
    file_bytes f;
    uint8_t prefix[8] = {(uint8_t)strlen(header), (uint8_t)(strlen(header) >> 8)};
    f.size = 0;
    put(&f, prefix, sizeof prefix);
    put(&f, header, strlen(header));
    for (size_t i = 0; i < count; i++)
        f.data[f.size++] = (uint8_t)(i + 1);
    return f;
}

/* Reads to the end, each batch checked; the status of the first failure. */
static ald_status drain(struct ArrowArrayStream *stream, const ald_host *host, int64_t *rows,
                        ald_error *err)
{
    struct ArrowArrayStream checked;
    ald_status status = ald_stream_validated(stream, host, &checked, err);
    *rows = 0;
    if (status != ALD_OK)
        return status;
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof batch);
        status = ald_stream_next(&checked, &batch, err);
        if (status != ALD_OK || batch.release == NULL)
            break;
        *rows += batch.length;
        batch.release(&batch);
    }
    checked.release(&checked);
    return status;
}

static ald_status read_all(open_fn open, const file_bytes *f, const ald_tensor_options *options,
                           const ald_host *host, int64_t *rows, ald_error *err)
{
    ald_source source = ald_source_memory(f->data, f->size);
    struct ArrowArrayStream stream;
    memset(err, 0, sizeof *err);
    ald_status status = open(&source, options, host, &stream, err);
    if (status != ALD_OK) {
        CHECK(stream.release == NULL);
        return status;
    }
    return drain(&stream, host, rows, err);
}

/* The type of the only column, as it is printed. */
static void expect_type(const char *header, size_t bytes, int64_t want_rows, const char *want)
{
    ald_host host = host_of(-1);
    file_bytes f = npy(1, header, bytes);
    ald_source source = ald_source_memory(f.data, f.size);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    ald_buffer text = {NULL, 0, 0, &host.alloc};
    ald_error err;
    int64_t rows = -1;
    memset(&err, 0, sizeof err);
    if (CHECK_INT(ald_npy_open(&source, NULL, &host, &stream, &err), ALD_OK)) {
        CHECK_INT(ald_stream_schema(&stream, &schema, &err), ALD_OK);
        for (int64_t i = 0; i < schema.n_children; i++)
            CHECK_INT(ald_type_format(schema.children[i], &text, &err), ALD_OK);
        schema.release(&schema);
        CHECK_UINT(ald_stream_row_count(&stream), (uint64_t)want_rows);
        CHECK_INT(drain(&stream, &host, &rows, &err), ALD_OK);
        CHECK_INT(rows, want_rows);
        CHECK(text.size == strlen(want) && memcmp(text.data, want, text.size) == 0);
    } else {
        printf("%s: %s\n", header, err.msg);
    }
    ald_buffer_clear(&text);
    CHECK_HEAP_EMPTY(&heap);
}

static void expect_error_of(open_fn open, const file_bytes *f, ald_status want, const char *text)
{
    ald_host host = host_of(-1);
    ald_error err;
    int64_t rows = 0;
    CHECK_INT(read_all(open, f, NULL, &host, &rows, &err), want);
    if (!CHECK(strstr(err.msg, text) != NULL))
        printf("'%s', wanted '%s'\n", err.msg, text);
    CHECK_HEAP_EMPTY(&heap);
}

static void refuse(const char *header, size_t bytes, ald_status want, const char *text)
{
    file_bytes f = npy(1, header, bytes);
    expect_error_of(ald_npy_open, &f, want, text);
}

#define DICT(descr, shape)                                                                         \
    "{'descr': " descr ", 'fortran_order': False, 'shape': " shape ", }          \n"

static void test_accepted(void)
{
    expect_type(DICT("'<i4'", "(2,)"), 8, 2, "int32");
    expect_type(DICT("'<i4'", "()"), 4, 1, "int32");
    expect_type(DICT("'<i4'", "(2L,)"), 8, 2, "int32");
    expect_type(DICT("'>f8'", "(2, 3)"), 48, 2, "fixed_size_list<item: double>[3]");
    expect_type(DICT("'>f8'", "(2, 3,)"), 48, 2, "fixed_size_list<item: double>[3]");
    expect_type(DICT("'|b1'", "(3,)"), 3, 3, "bool");
    expect_type(DICT("'|u1'", "(0,)"), 0, 0, "uint8");
    expect_type(DICT("'|u1'", "(0, 5)"), 0, 0, "fixed_size_list<item: uint8>[5]");
    expect_type(DICT("'<M8[1us]'", "(1,)"), 8, 1, "timestamp[us]");
    expect_type(DICT("'<m8[ns]'", "(1,)"), 8, 1, "duration[ns]");
    expect_type(DICT("'|S3'", "(2,)"), 6, 2, "binary");
    expect_type(DICT("'|V3'", "(2,)"), 6, 2, "fixed_size_binary[3]");
    expect_type(DICT("[('a', '<i2'), ('', '|V2'), ('b', '<f4')]", "(2,)"), 16, 2, "int16float");
    expect_type(DICT("[(('title', 'a'), '<i2', (2,)),]", "(2,)"), 8, 2,
                "fixed_size_list<item: int16>[2]");
    expect_type(DICT("('<i2', (2,))", "(2,)"), 8, 2, "fixed_size_list<item: int16>[2]");
    expect_type("{\"shape\":(1,),\"fortran_order\":True,\"descr\":\"<i2\"}", 2, 1, "int16");
}

static void test_refused_grammar(void)
{
    const ald_status bad = ALD_E_INVALID_FORMAT;
    refuse("", 0, bad, "no dictionary");
    refuse("{}", 0, bad, "is missing");
    refuse("{'descr': '<i4', 'fortran_order': False}", 0, bad, "is missing");
    refuse("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, bad,
           "unknown key");
    refuse("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (1,)}", 4, bad,
           "stands twice");
    refuse("{'descr': '<i4' 'fortran_order': False, 'shape': (1,)}", 4, bad, "comma");
    refuse("{'descr': '<i4', 'fortran_order': 0, 'shape': (1,)}", 4, bad, "True or False");
    refuse(DICT("'<i4'", "(1)"), 4, bad, "comma is missing behind the only");
    refuse(DICT("'<i4'", "(-1,)"), 4, bad, "negative");
    refuse(DICT("'<i4'", "(99999999999999999999,)"), 4, bad, "too large");
    refuse(DICT("'<i4'", "[1]"), 4, bad, "tuple of dimensions");
    refuse(DICT("'<i4'", "(1,)") "x", 4, bad, "follows the dictionary");
    refuse(DICT("b'<i4'", "(1,)"), 4, bad, "string is missing");
    refuse(DICT("__import__('os').system('id')", "(1,)"), 4, bad, "string is missing");
    refuse(DICT("'<i4", "(1,)"), 4, bad, "");
    refuse(DICT("'<i4\\q'", "(1,)"), 4, bad, "unknown escape");
    refuse(DICT("'<\\x004'", "(1,)"), 4, bad, "cannot have");
    refuse(DICT("[]", "(1,)"), 0, bad, "without fields");
    refuse(DICT("[('a',)]", "(1,)"), 4, bad, "");
    refuse(DICT("[('a', '<i4', 2)]", "(1,)"), 8, bad, "tuple of dimensions");
    refuse(DICT("[[[[[[[[[[[[[[[[[['<i4']]]]]]]]]]]]]]]]]]", "(1,)"), 4, bad, "");
    refuse(DICT("((((((((((((((((((('<i4', (1,))", "(1,)"), 4, bad, "nested too deep");
}

static void test_refused_types(void)
{
    static const char *const unsupported[] = {
        "'|O'", "'|O8'", "'<f16'", "'<c32'", "'<i3'", "'<M8'", "'<M8[as]'", "'<m8[Y]'", "'<M4[s]'",
    };
    static const char *const invalid[] = {"'i4'",  "'|i4'", "'<'",    "''",
                                          "'=i4'", "'<U'",  "'<i4x'", "'|U1'"};
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++) {
        char header[200];
        snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (1,)}",
                 unsupported[i]);
        refuse(header, 16, ALD_E_UNSUPPORTED, "the type");
    }
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        char header[200];
        snprintf(header, sizeof header, "{'descr': %s, 'fortran_order': False, 'shape': (1,)}",
                 invalid[i]);
        refuse(header, 4, ALD_E_INVALID_FORMAT, "the type");
    }
    refuse(DICT("'<U4294967296'", "(1,)"), 4, ALD_E_UNSUPPORTED, "too large");
    refuse(DICT("'<U99999999999999'", "(1,)"), 4, ALD_E_LIMIT_EXCEEDED, "too large");
    refuse(DICT("'<U2000000000'", "(1,)"), 4, ALD_E_UNSUPPORTED, "too large");
}

/* Sizes that no file has, or that take no bytes. */
static void test_refused_sizes(void)
{
    const ald_status limit = ALD_E_LIMIT_EXCEEDED;
    refuse(DICT("'<i4'", "(2,)"), 7, ALD_E_TRUNCATED, "has 8 bytes, but only 7");
    refuse(DICT("'<i4'", "(2,)"), 9, ALD_E_INVALID_FORMAT, "1 bytes follow");
    refuse(DICT("'<i4'", "(4611686018427387904, 4)"), 0, limit, "too large");
    refuse(DICT("'<i4'", "(4611686018427387904, 4, 0)"), 0, limit, "");
    refuse(DICT("'<i4'", "(9223372036854775807, 0)"), 0, limit, "without a byte");
    refuse(DICT("'<i4'", "(1, 3000000000)"), 4, ALD_E_TRUNCATED, "");
    refuse(DICT("'<i4'", "(0, 3000000000)"), 0, ALD_E_UNSUPPORTED, "fixed-size list");
    refuse(DICT("'<i4'", "(3, 2000000000, 0)"), 0, limit, "too large");
    refuse(DICT("'<U0'", "(3, 2000000000)"), 0, limit, "too large");
    refuse(DICT("[('a', '|u1'), ('b', '<U0', (100000000,))]", "(1,)"), 1, limit, "without bytes");
    refuse(DICT("'|u1'", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 1,
           ALD_E_INVALID_FORMAT, "too many dimensions");
    refuse(DICT("[('a', '|V100000000'), ('b', '|u1')]", "(1,)"), 4, ALD_E_TRUNCATED, "");
}

static void test_versions(void)
{
    file_bytes f = npy(2, DICT("'<i4'", "(2,)"), 8);
    ald_host host = host_of(-1);
    ald_error err;
    int64_t rows = 0;
    CHECK_INT(read_all(ald_npy_open, &f, NULL, &host, &rows, &err), ALD_OK);
    CHECK_INT(rows, 2);
    f = npy(3, "{'descr':[('\xC3\xA4','<i4')],'fortran_order':False,'shape':(2,)}", 8);
    CHECK_INT(read_all(ald_npy_open, &f, NULL, &host, &rows, &err), ALD_OK);
    f = npy(3, "{'descr':[('\xC3','<i4')],'fortran_order':False,'shape':(2,)}", 8);
    expect_error_of(ald_npy_open, &f, ALD_E_INVALID_FORMAT, "UTF-8");
    f = npy(4, DICT("'<i4'", "(2,)"), 8);
    expect_error_of(ald_npy_open, &f, ALD_E_UNSUPPORTED_VERSION, "4.0");
    f = npy(2, DICT("'<i4'", "(2,)"), 8);
    f.data[10] = 1;
    expect_error_of(ald_npy_open, &f, ALD_E_TRUNCATED, "within its header");
    CHECK_HEAP_EMPTY(&heap);
}

static void test_options(void)
{
    ald_host host = host_of(-1);
    ald_tensor_options options = ALD_TENSOR_OPTIONS_INIT;
    static const char *const names[] = {"b", "b"};
    file_bytes f = safe("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
                        "\"b\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[2,5]}}",
                        5);
    ald_error err;
    int64_t rows = 0;
    CHECK_INT(read_all(ald_safetensors_open, &f, NULL, &host, &rows, &err), ALD_E_SCHEMA_MISMATCH);
    options.names = names;
    options.name_count = 1;
    CHECK_INT(read_all(ald_safetensors_open, &f, &options, &host, &rows, &err), ALD_OK);
    CHECK_INT(rows, 3);
    options.name_count = 2;
    CHECK_INT(read_all(ald_safetensors_open, &f, &options, &host, &rows, &err), ALD_E_INVALID_ARG);
    options.name_count = 0;
    options.one_row = 1;
    CHECK_INT(read_all(ald_safetensors_open, &f, &options, &host, &rows, &err), ALD_OK);
    CHECK_INT(rows, 1);
    options.unpack = 1;
    CHECK_INT(read_all(ald_safetensors_open, &f, &options, &host, &rows, &err), ALD_E_INVALID_ARG);
    options.struct_size = 4;
    CHECK_INT(read_all(ald_safetensors_open, &f, &options, &host, &rows, &err), ALD_E_INVALID_ARG);
    CHECK_HEAP_EMPTY(&heap);
}

/* ---- every truncation and change */

static file_bytes sample(int kind)
{
    file_bytes f = {{0}, 0};
    switch (kind) {
    case 3:
        put(&f, npz_sample, sizeof npz_sample);
        return f;
    case 0:
        return npy(1, DICT("'<i4'", "(3, 2)"), 24);
    case 1:
        return npy(3,
                   "{'descr': [('a', '>f2', (2,)), ('', '|V1'), (('t', 'b'), '<U2'), ('c', "
                   "'<M8[D]')], 'fortran_order': True, 'shape': (2,), }\n",
                   42);
    default:
        return safe("{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"BF16\",\"shape\":[2,1],"
                    "\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],"
                    "\"data_offsets\":[4,6]}}",
                    6);
    }
}

static open_fn opener(int kind)
{
    return kind < 2 ? ald_npy_open : kind == 2 ? ald_safetensors_open : ald_npz_open;
}

/* Kinds of samples; .npz is the last, where it can be read. */
static int kind_count(void)
{
    ald_host host = host_of(-1);
    file_bytes f = sample(3);
    ald_error err;
    int64_t rows = 0;
    ald_status status = read_all(ald_npz_open, &f, NULL, &host, &rows, &err);
    if (status == ALD_E_UNSUPPORTED)
        return 3;
    CHECK_INT(status, ALD_OK);
    CHECK_INT(rows, 3);
    return 4;
}

static void test_truncations(void)
{
    for (int kind = 0; kind < kind_count(); kind++) {
        file_bytes f = sample(kind);
        for (size_t size = 0; size < f.size; size++) {
            ald_host host = host_of(-1);
            file_bytes cut = f;
            ald_error err;
            int64_t rows = 0;
            cut.size = size;
            ald_status status = read_all(opener(kind), &cut, NULL, &host, &rows, &err);
            CHECK(status == ALD_E_TRUNCATED || status == ALD_E_INVALID_FORMAT);
            CHECK(err.msg[0] != '\0');
            CHECK_HEAP_EMPTY(&heap);
            CHECK_INT(spools_open, 0);
        }
    }
}

/* Whatever comes of it is valid Arrow, or an error. */
static void test_changes(void)
{
    static const uint8_t changes[] = {0x01, 0x08, 0x20, 0x80, 0xFF, 0x1F};
    size_t read = 0, refused = 0;
    for (int kind = 0; kind < kind_count(); kind++) {
        file_bytes f = sample(kind);
        for (size_t at = 0; at < f.size * sizeof changes; at++) {
            ald_host host = host_of(-1);
            file_bytes changed = f;
            ald_error err;
            int64_t rows = 0;
            changed.data[at / sizeof changes] ^= changes[at % sizeof changes];
            ald_status status = read_all(opener(kind), &changed, NULL, &host, &rows, &err);
            read += status == ALD_OK;
            refused += status != ALD_OK;
            CHECK(status == ALD_OK || err.msg[0] != '\0');
            CHECK_HEAP_EMPTY(&heap);
        }
    }
    CHECK(read > 0 && refused > read);
}

/* ---- failures of the host */

static void test_no_memory(void)
{
    for (int kind = 0; kind < kind_count(); kind++) {
        file_bytes f = sample(kind);
        for (int64_t n = 0;; n++) {
            ald_host host = host_of(n);
            ald_error err;
            int64_t rows = 0;
            ald_status status = read_all(opener(kind), &f, NULL, &host, &rows, &err);
            CHECK_HEAP_EMPTY(&heap);
            if (kind == 1 && status == ALD_E_INVALID_FORMAT)
                break; /* its text is no Unicode: reached behind all allocations */
            if (status == ALD_OK)
                break;
            CHECK_INT(status, ALD_E_NOMEM);
            REQUIRE(n < 1000);
        }
    }
}

typedef struct failing {
    const file_bytes *file;
    int left; /* reads that still succeed */
} failing;

static ald_status failing_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    failing *f = ctx;
    if (f->left-- <= 0)
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the disk is gone");
    memcpy(buf, f->file->data + offset, size);
    return ALD_OK;
}

static void test_failed_reads(void)
{
    for (int kind = 0; kind < kind_count(); kind += kind == 0 ? 2 : 1) {
        file_bytes f = sample(kind);
        for (int n = 0;; n++) {
            ald_host host = host_of(-1);
            failing ctx = {&f, n};
            ald_source source = {f.size, failing_read, NULL, NULL, &ctx, NULL};
            struct ArrowArrayStream stream;
            ald_error err;
            int64_t rows = 0;
            ald_status status = opener(kind)(&source, NULL, &host, &stream, &err);
            if (status == ALD_OK)
                status = drain(&stream, &host, &rows, &err);
            CHECK_HEAP_EMPTY(&heap);
            if (status == ALD_OK)
                break;
            CHECK_INT(status, ALD_E_IO);
            REQUIRE(n < 100);
        }
    }
}

int main(void)
{
    RUN(test_accepted);
    RUN(test_refused_grammar);
    RUN(test_refused_types);
    RUN(test_refused_sizes);
    RUN(test_versions);
    RUN(test_options);
    RUN(test_truncations);
    RUN(test_changes);
    RUN(test_no_memory);
    RUN(test_failed_reads);
    return check_done();
}
