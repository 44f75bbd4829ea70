/* SPDX-License-Identifier: MIT */
/* Packed files as a whole: the same rows as any other compression gives, whole, by chunks, by columns and by rows; the same
 * bytes whatever the number of threads; memory that runs out; what cannot be packed is refused. */
#include "ald/ald.h"
#include "check_alloc.h"
#include "show_array.h"

#define ROWS 5000
#define CHUNK_ROWS 700

static ald_host native;
static char *text; /* the table as CSV */
static size_t text_size;

/* A column for each of the filters, some with nulls. */
static void make_text(int rows)
{
    char *p = text = realloc(text, (size_t)rows * 160 + 100);
    p += sprintf(p, "id,t,price,small,few,code,log,none,yes\n");
    for (int i = 0; i < rows; i++) {
        p += sprintf(p, "%d,2024-01-%02dT%02d:00:00,%s,%d,%s,%08x,", i * 3, i % 28 + 1, i % 24,
                     i % 11 == 0 ? ""
                     : i % 2     ? "12.25"
                                 : "0.1",
                     i % 100 - 50, i % 5 == 0 ? "red" : "blue", (unsigned)i * 2654435761u);
        p += sprintf(p, "\"GET /item/%d took %d us\",,%s\n", i % 977, i * i % 9973,
                     i % 3 ? "true" : "false");
    }
    text_size = (size_t)(p - text);
}

typedef struct how {
    uint8_t compression, effort, sha256;
} how;

static ald_status save(const ald_host *host, how h, ald_buffer *out, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_source source = ald_source_memory(text, text_size);
    ald_sink sink = ald_buffer_sink(out);
    struct ArrowArrayStream stream;
    ald_status st = ald_csv_open(&source, NULL, host, &stream, err);
    o.compression = h.compression;
    o.effort = h.effort;
    o.layout = ALD_LAYOUT_STREAMING;
    o.chunk_rows = CHUNK_ROWS;
    o.write_sha256 = h.sha256;
    return st == ALD_OK ? ald_save(&stream, &sink, &o, host, err) : st;
}

static ald_status load(const ald_host *host, const ald_buffer *file, ald_dataset **out,
                       ald_error *err)
{
    ald_source source = ald_source_memory(file->data, file->size);
    return ald_load(&source, NULL, host, out, err);
}

static void hash_of(const ald_dataset *d, char out[65])
{
    const ald_value *v = ald_value_find(ald_dataset_info(d)->metadata, "sha256");
    size_t size = 0;
    const char *bytes = v != NULL ? ald_value_get_bytes(v, &size) : NULL;
    memset(out, 0, 65);
    if (bytes != NULL && size == 64)
        memcpy(out, bytes, 64);
}

static const how forms[] = {{ALD_COMPRESSION_NONE, 0, 1},
                            {ALD_COMPRESSION_PACKED, ALD_EFFORT_DEFAULT, 1},
                            {ALD_COMPRESSION_PACKED, ALD_EFFORT_FAST, 1},
                            {ALD_COMPRESSION_PACKED, ALD_EFFORT_BEST, 1},
                            {ALD_COMPRESSION_PACKED_LZ4, ALD_EFFORT_DEFAULT, 1}};

/* The hash is of the uncompressed bytes, and a loader compares it with those that it rebuilt. */
static void test_same_bytes(void)
{
    char want[65] = "", got[65];
    size_t plain_size = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        ald_buffer file = {NULL, 0, 0, &native.alloc};
        ald_dataset *d = NULL;
        ald_error err = {0};
        REQUIRE_OK(save(&native, forms[i], &file, &err), &err);
        REQUIRE_OK(load(&native, &file, &d, &err), &err);
        hash_of(d, got);
        CHECK_INT(strlen(got), 64);
        if (i == 0) {
            memcpy(want, got, sizeof want);
            plain_size = file.size;
        }
        CHECK_STR(got, want);
        CHECK(i == 0 || file.size * 4 < plain_size);
        CHECK_INT(ald_dataset_info(d)->version_minor, 3);
        CHECK_INT(ald_dataset_info(d)->compression, forms[i].compression);
        ald_dataset_free(d);
        ald_buffer_clear(&file);
    }
}

static void test_threads(void)
{
    ald_host four = ald_native_host(4);
    for (size_t i = 1; i < sizeof forms / sizeof *forms; i++) {
        ald_buffer one = {NULL, 0, 0, &native.alloc}, other = {NULL, 0, 0, &native.alloc};
        ald_error err = {0};
        REQUIRE_OK(save(&native, forms[i], &one, &err), &err);
        REQUIRE_OK(save(&four, forms[i], &other, &err), &err);
        CHECK(one.size == other.size && memcmp(one.data, other.data, one.size) == 0);
        ald_buffer_clear(&one);
        ald_buffer_clear(&other);
    }
}

static void show_rows(show_text *to, const struct ArrowSchema *schema,
                      const struct ArrowArray *rows)
{
    for (int64_t r = 0; r < rows->length; r++) {
        show_put(to, "\n");
        show_value(to, schema, rows, r);
    }
}

/* Column `column` of all chunks, and rows here and there, as each file gives them. */
static void show_parts(ald_streaming *s, show_text *to)
{
    const struct ArrowSchema *schema = ald_streaming_schema(s);
    uint64_t rows[] = {4999, 0, 700, 699, 0, 3210};
    struct ArrowArray got;
    ald_error err = {0};
    uint8_t wanted[16] = {0};
    for (int64_t c = 0; c < schema->n_children; c++) {
        wanted[c] = 1;
        for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i += 3) {
            REQUIRE_OK(ald_streaming_chunk(s, i, wanted, &got, &err), &err);
            CHECK_INT(got.n_children, 1);
            show_rows(to, schema->children[c], got.children[0]);
            got.release(&got);
        }
        wanted[c] = 0;
    }
    REQUIRE_OK(ald_streaming_take(s, rows, 6, NULL, &got, &err), &err);
    show_rows(to, schema, &got);
    got.release(&got);
    REQUIRE_OK(ald_streaming_rows(s, 600, 1000, NULL, &got, &err), &err);
    show_rows(to, schema, &got);
    got.release(&got);
}

static void test_parts(void)
{
    show_text want = {NULL, 0, 0};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        ald_buffer file = {NULL, 0, 0, &native.alloc};
        show_text got = {NULL, 0, 0};
        ald_streaming *s = NULL;
        ald_source source;
        ald_error err = {0};
        REQUIRE_OK(save(&native, forms[i], &file, &err), &err);
        source = ald_source_memory(file.data, file.size);
        if (i % 2)
            source.view = NULL; /* bytes are read, frame by frame */
        REQUIRE_OK(ald_streaming_open(&source, NULL, &native, &s, &err), &err);
        CHECK_UINT(ald_streaming_chunk_count(s), (ROWS + CHUNK_ROWS - 1) / CHUNK_ROWS);
        show_parts(s, i == 0 ? &want : &got);
        if (i > 0)
            CHECK(got.text != NULL && strcmp(got.text, want.text) == 0);
        ald_streaming_close(s);
        free(got.text);
        ald_buffer_clear(&file);
    }
    free(want.text);
}

/* The n-th allocation fails, until none does; in zstd's contexts too. */
static void test_memory(void)
{
    check_heap heap;
    ald_host host = native;
    make_text(60);
    for (int64_t n = 0;; n++) {
        ald_buffer file = {NULL, 0, 0, &host.alloc};
        ald_dataset *d = NULL;
        ald_error err = {0};
        ald_status st;
        host.alloc = check_heap_init(&heap, n);
        host.thread_count = 1;
        st = save(&host, forms[1], &file, &err);
        if (st == ALD_OK)
            st = load(&host, &file, &d, &err);
        ald_dataset_free(d);
        ald_buffer_clear(&file);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        if (!CHECK_INT(st, ALD_E_NOMEM))
            printf("    allocation %lld: %s\n", (long long)n, err.msg);
    }
    make_text(ROWS);
}

/* What columns take adds up to the payload, less what is no column's; each packed column has a filter in every chunk. */
static void test_storage(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        ald_buffer file = {NULL, 0, 0, &native.alloc};
        ald_column_storage sizes[16];
        ald_streaming *s = NULL;
        ald_source source;
        ald_error err = {0};
        uint64_t stored = 0;
        REQUIRE_OK(save(&native, forms[i], &file, &err), &err);
        source = ald_source_memory(file.data, file.size);
        REQUIRE_OK(ald_streaming_open(&source, NULL, &native, &s, &err), &err);
        REQUIRE_OK(ald_streaming_column_storage(s, sizes, &err), &err);
        for (int64_t c = 0; c < ald_streaming_schema(s)->n_children; c++) {
            uint64_t chunks = 0;
            for (int f = 0; f < ALD_PACKING_COUNT; f++)
                chunks += sizes[c].packing_chunks[f];
            CHECK_UINT(chunks, i == 0 ? 0 : ald_streaming_chunk_count(s));
            stored += sizes[c].stored_bytes;
        }
        CHECK_UINT(sizes[0].plain_bytes, (uint64_t)ROWS * 8);
        CHECK(stored <= ald_streaming_info(s)->payload_size);
        CHECK(stored * 10 > ald_streaming_info(s)->payload_size * 6);
        ald_streaming_close(s);
        ald_buffer_clear(&file);
    }
    CHECK_STR(ald_packing_name(ALD_PACKING_STRFRONT), "STRFRONT");
    CHECK(ald_packing_name(ALD_PACKING_COUNT) == NULL);
}

static void refuse(const ald_save_options *o, ald_status want)
{
    ald_buffer file = {NULL, 0, 0, &native.alloc};
    ald_sink sink = ald_buffer_sink(&file);
    ald_source source = ald_source_memory(text, text_size);
    struct ArrowArrayStream stream;
    ald_error err = {0};
    REQUIRE_OK(ald_csv_open(&source, NULL, &native, &stream, &err), &err);
    CHECK_INT(ald_save(&stream, &sink, o, &native, &err), want);
    ald_buffer_clear(&file);
}

static void test_refused(void)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    o.compression = ALD_COMPRESSION_PACKED;
    o.layout = ALD_LAYOUT_WHOLE;
    refuse(&o, ALD_E_INVALID_ARG);
    o.layout = ALD_LAYOUT_AUTO;
    o.compat = ALD_COMPAT_ALIMENTAR_0_2;
    refuse(&o, ALD_E_UNSUPPORTED);
    o.compat = ALD_COMPAT_NONE;
    o.aligned = 1;
    refuse(&o, ALD_E_INVALID_ARG);
    o.aligned = 0;
    o.effort = 3;
    refuse(&o, ALD_E_INVALID_ARG);
    o.effort = 0;
    o.compression = 6;
    refuse(&o, ALD_E_UNSUPPORTED);
}

int main(void)
{
    native = ald_native_host(1);
    make_text(ROWS);
    RUN(test_same_bytes);
    RUN(test_threads);
    RUN(test_parts);
    RUN(test_memory);
    RUN(test_storage);
    RUN(test_refused);
    free(text);
    return check_done();
}
