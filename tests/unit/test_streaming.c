/* SPDX-License-Identifier: MIT */
/* Lazy opening: what broken files give chunk by chunk, good files against a plain load, columns alone, and which bytes are
 * read. */
#include <dirent.h>
#include <stdatomic.h>
#include <yyjson.h>

#include "fault/fault_host.h"
#include "number_table.h"
#include "show_array.h"

static ald_host native;

static ald_status open_bytes(const void *data, size_t size, ald_streaming **out, ald_error *err)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    o.ignore_expiry = 1;
    return ald_streaming_open(&source, &o, &native, out, err);
}

/* ---- broken files: tests/hostile/expected.json */

static int names_status(yyjson_val *names, ald_status st)
{
    size_t i, count;
    yyjson_val *name;
    const char *got = st == ALD_OK ? "ok" : ald_status_name(st);
    yyjson_arr_foreach(names, i, count, name)
    {
        if (strcmp(yyjson_get_str(name), got) == 0)
            return 1;
    }
    return 0;
}

static void check_outcome(const char *file, const char *what, size_t chunk, yyjson_val *names,
                          ald_status st, const ald_error *err)
{
    if (CHECK(names_status(names, st)))
        return;
    printf("    %s, %s %zu: %s %s\n", file, what, chunk, ald_status_name(st),
           st != ALD_OK ? err->msg : "");
}

/* The stream gives the good chunks up to the first bad one, also when it loads ahead. */
static void check_lazy_stream(const char *file, ald_streaming *s, yyjson_val *chunks)
{
    struct ArrowArrayStream stream;
    ald_error err = {0};
    ald_status st = ALD_OK;
    REQUIRE_OK(ald_streaming_stream(s, NULL, &stream, &err), &err);
    for (size_t i = 0; i < yyjson_arr_size(chunks) && st == ALD_OK; i++) {
        struct ArrowArray chunk;
        st = ald_stream_next(&stream, &chunk, &err);
        check_outcome(file, "chunk of the stream", i, yyjson_arr_get(chunks, i), st, &err);
        CHECK((st == ALD_OK) == (chunk.release != NULL));
        if (st == ALD_OK)
            chunk.release(&chunk);
    }
    stream.release(&stream);
}

static void check_lazy(const char *file, yyjson_val *lazy, const uint8_t *data, size_t size)
{
    ald_streaming *s = NULL;
    ald_error err = {0};
    yyjson_val *chunks = yyjson_obj_get(lazy, "chunks");
    ald_status st = open_bytes(data, size, &s, &err);
    check_outcome(file, "open", 0, yyjson_obj_get(lazy, "open"), st, &err);
    CHECK((st == ALD_OK) == (s != NULL));
    if (st == ALD_OK && CHECK_UINT(ald_streaming_chunk_count(s), yyjson_arr_size(chunks))) {
        for (size_t i = 0; i < yyjson_arr_size(chunks); i++) {
            struct ArrowArray chunk;
            st = ald_streaming_chunk(s, i, NULL, &chunk, &err);
            check_outcome(file, "chunk", i, yyjson_arr_get(chunks, i), st, &err);
            CHECK((st == ALD_OK) == (chunk.release != NULL));
            if (st == ALD_OK)
                chunk.release(&chunk);
        }
        check_lazy_stream(file, s, chunks);
    }
    ald_streaming_close(s);
}

/* Encrypted and signed files need keys. */
static int needs_more(yyjson_val *entry, const uint8_t *data, size_t size)
{
    yyjson_val *keys = yyjson_obj_get(entry, "read_with");
    return size < 32 || (data[21] & (ALD_FLAG_ENCRYPTED | ALD_FLAG_SIGNED)) != 0 ||
           yyjson_obj_size(keys) > 0;
}

static void test_broken_files(void)
{
    size_t size, i, count, checked = 0;
    uint8_t *json = fault_file("hostile/expected.json", &size);
    yyjson_doc *doc = yyjson_read_opts((char *)json, size, 0, NULL, NULL);
    yyjson_val *key, *entry;
    REQUIRE(doc != NULL);
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, count, key, entry)
    {
        yyjson_val *lazy = yyjson_obj_get(entry, "lazy");
        const char *file = yyjson_get_str(key);
        char name[256];
        uint8_t *data;
        if (lazy == NULL || file == NULL)
            continue;
        snprintf(name, sizeof name, "hostile/%s", file);
        data = fault_file(name, &size);
        if (!needs_more(entry, data, size)) {
            check_lazy(name, lazy, data, size);
            checked++;
        }
        free(data);
    }
    CHECK(checked >= 28); /* as many as there were when this was written */
    yyjson_doc_free(doc);
    free(json);
}

/* No chunk of any broken file may do harm, whatever it gives. */
static void test_broken_files_are_survived(void)
{
    size_t size, i, count;
    uint8_t *json = fault_file("hostile/expected.json", &size);
    yyjson_doc *doc = yyjson_read_opts((char *)json, size, 0, NULL, NULL);
    yyjson_val *key, *entry;
    REQUIRE(doc != NULL);
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, count, key, entry)
    {
        ald_streaming *s = NULL;
        ald_error err = {0};
        char name[256];
        uint8_t *data;
        snprintf(name, sizeof name, "hostile/%s", yyjson_get_str(key));
        data = fault_file(name, &size);
        if (open_bytes(data, size, &s, &err) == ALD_OK) {
            uint64_t rows = ald_streaming_row_count(s);
            struct ArrowArray got;
            for (uint64_t c = 0; c < ald_streaming_chunk_count(s); c++) {
                if (ald_streaming_chunk(s, c, NULL, &got, &err) == ALD_OK)
                    got.release(&got);
            }
            if (ald_streaming_rows(s, rows / 2, rows - rows / 2, NULL, &got, &err) == ALD_OK)
                got.release(&got);
        }
        ald_streaming_close(s);
        free(data);
    }
    yyjson_doc_free(doc);
    free(json);
}

/* ---- good files: tests/golden/wire-1.3 */

static void check_same_column(const char *file, const struct ArrowSchema *field,
                              const struct ArrowArray *got, const struct ArrowArray *want)
{
    show_text a = {NULL, 0, 0}, b = {NULL, 0, 0};
    show_put(&a, "");
    show_put(&b, "");
    show_column(&a, field, got);
    show_column(&b, field, want);
    if (!CHECK_INT(got->length, want->length) || !CHECK_STR(a.text, b.text))
        printf("    %s, column '%s'\n", file, field->name);
    free(a.text);
    free(b.text);
}

/* Each column by itself, and the whole chunk, against the batch of a plain load. */
static void check_chunk(const char *file, ald_streaming *s, uint64_t index,
                        const struct ArrowArray *batch)
{
    const struct ArrowSchema *schema = ald_streaming_schema(s);
    struct ArrowArray whole, alone;
    ald_error err = {0};
    uint8_t *wanted = (uint8_t *)number_alloc((size_t)schema->n_children);
    if (CHECK_OK(ald_streaming_chunk(s, index, NULL, &whole, &err), &err)) {
        CHECK_INT(whole.length, batch->length);
        for (int64_t i = 0; i < schema->n_children; i++) {
            check_same_column(file, schema->children[i], whole.children[i], batch->children[i]);
            wanted[i] = 1;
            if (CHECK_OK(ald_streaming_chunk(s, index, wanted, &alone, &err), &err)) {
                CHECK_INT(alone.n_children, 1);
                CHECK_INT(alone.length, batch->length);
                check_same_column(file, schema->children[i], alone.children[0], whole.children[i]);
                alone.release(&alone);
            }
            wanted[i] = 0;
        }
        whole.release(&whole);
    }
    if (CHECK_OK(ald_streaming_chunk(s, index, wanted, &alone, &err), &err)) { /* no column */
        CHECK_INT(alone.n_children, 0);
        CHECK_INT(alone.length, batch->length);
        alone.release(&alone);
    }
    free(wanted);
}

/* All rows in two parts. */
static void check_rows(const char *file, ald_streaming *s, const ald_dataset *d)
{
    const struct ArrowSchema *schema = ald_streaming_schema(s);
    uint64_t rows = ald_streaming_row_count(s), half = rows / 2;
    show_text got = {NULL, 0, 0}, want = {NULL, 0, 0};
    struct ArrowArray part;
    ald_error err = {0};
    show_put(&got, "");
    show_put(&want, "");
    for (int i = 0; i < 2; i++) {
        if (!CHECK_OK(ald_streaming_rows(s, i == 0 ? 0 : half, i == 0 ? half : rows - half, NULL,
                                         &part, &err),
                      &err))
            continue;
        for (int64_t r = 0; r < part.length; r++) {
            show_put(&got, "\n");
            show_value(&got, schema, &part, r);
        }
        part.release(&part);
    }
    for (size_t i = 0; i < ald_dataset_batch_count(d); i++) {
        if (!CHECK_OK(ald_dataset_batch(d, i, &part, &err), &err))
            continue;
        for (int64_t r = 0; r < part.length; r++) {
            show_put(&want, "\n");
            show_value(&want, schema, &part, r);
        }
        part.release(&part);
    }
    if (!CHECK_STR(got.text, want.text))
        printf("    %s: rows\n", file);
    free(got.text);
    free(want.text);
}

static int check_good(const char *file, const uint8_t *data, size_t size)
{
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_source source = ald_source_memory(data, size);
    ald_streaming *s = NULL;
    ald_dataset *d = NULL;
    ald_error err = {0};
    int done = 0;
    o.ignore_expiry = 1;
    if (CHECK_OK(open_bytes(data, size, &s, &err), &err) &&
        CHECK_OK(ald_load(&source, &o, &native, &d, &err), &err) &&
        CHECK_UINT(ald_streaming_chunk_count(s), ald_dataset_batch_count(d))) {
        for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++) {
            struct ArrowArray batch;
            if (CHECK_OK(ald_dataset_batch(d, (size_t)i, &batch, &err), &err)) {
                check_chunk(file, s, i, &batch);
                batch.release(&batch);
            }
        }
        check_rows(file, s, d);
        done = 1;
    } else {
        printf("    %s\n", file);
    }
    ald_dataset_free(d);
    ald_streaming_close(s);
    return done;
}

static int is_plain_streaming(const char *name, const uint8_t *data, size_t size)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".ald") == 0 && size > 32 &&
           (data[21] & ALD_FLAG_STREAMING) &&
           !(data[21] & (ALD_FLAG_ENCRYPTED | ALD_FLAG_SIGNED)) && data[20] <= ALD_COMPRESSION_LZ4;
}

static void test_good_files(void)
{
    DIR *folder = opendir(ALD_TEST_DATA "/golden/wire-1.3");
    int columns = 0, others = 0;
    REQUIRE(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[512];
        size_t size;
        uint8_t *data;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "golden/wire-1.3/%s", entry->d_name);
        data = fault_file(name, &size);
        if (is_plain_streaming(entry->d_name, data, size))
            *(strncmp(entry->d_name, "columns-", 8) == 0 ? &columns : &others) +=
                check_good(name, data, size);
        free(data);
    }
    closedir(folder);
    CHECK(columns >= 20 && others >= 20);
}

/* ---- which bytes are read */

typedef struct counting {
    const uint8_t *data;
    uint64_t size;
    atomic_uint_least64_t bytes;
} counting;

static ald_status counting_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    counting *c = (counting *)ctx;
    if (offset > c->size || size > c->size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "read past the end");
    c->bytes += size;
    memcpy(buf, c->data + offset, size);
    return ALD_OK;
}

enum { ROWS = 40000, COLUMNS = 50, CHUNK_ROWS = 10000 };

static void write_numbers(ald_buffer *bytes, uint8_t compression)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink;
    struct ArrowArrayStream stream;
    ald_error err = {0};
    *bytes = (ald_buffer){NULL, 0, 0, &native.alloc};
    sink = ald_buffer_sink(bytes);
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = compression;
    o.chunk_rows = CHUNK_ROWS;
    number_open(ROWS, COLUMNS, 7777, &stream);
    if (!CHECK_OK(ald_save(&stream, &sink, &o, &native, &err), &err))
        exit(1);
}

static ald_streaming *open_counting(counting *c, const ald_buffer *bytes, uint64_t cache)
{
    ald_source source = {0};
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_streaming *s = NULL;
    ald_error err = {0};
    c->data = bytes->data;
    c->size = bytes->size;
    c->bytes = 0;
    source.size_bytes = bytes->size;
    source.read_at = counting_read;
    source.ctx = c;
    o.cache_bytes = cache;
    if (!CHECK_OK(ald_streaming_open(&source, &o, &native, &s, &err), &err))
        exit(1);
    return s;
}

static void take_counted(ald_streaming *s, const uint64_t *rows, size_t count,
                         const uint8_t *columns, const int64_t *numbers)
{
    struct ArrowArray got;
    ald_error err = {0};
    if (!CHECK_OK(ald_streaming_take(s, rows, count, columns, &got, &err), &err))
        return;
    CHECK_INT(got.length, count);
    CHECK_INT(number_wrong(&got, rows, numbers), 0);
    got.release(&got);
}

static void test_only_wanted_bytes_are_read(void)
{
    static const int64_t column_7[1] = {7};
    static const uint64_t rows[5] = {25000, 20001, 29999, 20000, 25000}; /* all of chunk 2 */
    uint8_t wanted[COLUMNS] = {0};
    ald_buffer bytes;
    counting c;
    ald_streaming *s;
    const ald_info *info;
    uint64_t prefix;
    write_numbers(&bytes, ALD_COMPRESSION_ZSTD_L3);
    s = open_counting(&c, &bytes, 0);
    info = ald_streaming_info(s);
    CHECK_UINT(info->chunk_count, ROWS / CHUNK_ROWS);
    prefix = info->sections.payload.begin + info->chunks[0].byte_offset;
    CHECK(c.bytes < 3 * prefix + 1024); /* a walk, a parse, checks */
    c.bytes = 0;
    wanted[7] = 1;
    take_counted(s, rows, 5, wanted, column_7);
    CHECK(c.bytes > info->chunks[2].compressed_size / COLUMNS / 2);
    CHECK(c.bytes < info->chunks[2].compressed_size / COLUMNS * 11 / 10 + 8192);
    c.bytes = 0;
    take_counted(s, rows, 5, wanted, column_7);
    CHECK_UINT(c.bytes, 0); /* from the cache */
    take_counted(s, rows, 5, NULL, NULL);
    CHECK_UINT(c.bytes, info->chunks[2].compressed_size);
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
}

static void test_each_chunk_is_loaded_once(void)
{
    uint64_t rows[400], all = 0;
    ald_buffer bytes;
    counting c;
    ald_streaming *s;
    write_numbers(&bytes, ALD_COMPRESSION_NONE);
    s = open_counting(&c, &bytes, 1); /* no cache */
    for (size_t i = 0; i < 400; i++)
        rows[i] = (uint64_t)number_at((int64_t)i, 99) % ROWS;
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++)
        all += ald_streaming_info(s)->chunks[i].compressed_size;
    c.bytes = 0;
    take_counted(s, rows, 400, NULL, NULL);
    CHECK_UINT(c.bytes, all);
    take_counted(s, rows, 400, NULL, NULL);
    CHECK_UINT(c.bytes, 2 * all);
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
}

static void test_the_cache_keeps_what_was_used_last(void)
{
    const uint64_t chunk_bytes = (uint64_t)CHUNK_ROWS * COLUMNS * 8;
    ald_buffer bytes;
    counting c;
    ald_streaming *s;
    ald_error err = {0};
    struct ArrowArray got;
    write_numbers(&bytes, ALD_COMPRESSION_NONE);
    s = open_counting(&c, &bytes, chunk_bytes * 5 / 2); /* two chunks */
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t row = i * CHUNK_ROWS, first = 0;
        take_counted(s, &row, 1, NULL, NULL);
        take_counted(s, &first, 1, NULL, NULL); /* chunk 0 stays in use */
    }
    c.bytes = 0;
    for (int i = 0; i < 3; i++) {
        static const uint64_t kept[2] = {0, 3 * CHUNK_ROWS};
        take_counted(s, kept, 2, NULL, NULL);
    }
    CHECK_UINT(c.bytes, 0);
    CHECK_OK(ald_streaming_chunk(s, 3, NULL, &got, &err), &err); /* also from there */
    got.release(&got);
    CHECK_UINT(c.bytes, 0);
    CHECK_OK(ald_streaming_chunk(s, 1, NULL, &got, &err), &err); /* read, and not kept */
    got.release(&got);
    CHECK(c.bytes > 0);
    c.bytes = 0;
    take_counted(s, &(uint64_t){0}, 1, NULL, NULL);
    CHECK_UINT(c.bytes, 0);
    CHECK_OK(ald_streaming_prefetch(s, 1, 3, NULL, &err), &err); /* 1 and 2: no more fit */
    CHECK(c.bytes > 2 * chunk_bytes - 1 && c.bytes < 3 * chunk_bytes);
    c.bytes = 0;
    take_counted(s, &(uint64_t){2 * CHUNK_ROWS}, 1, NULL, NULL);
    CHECK_UINT(c.bytes, 0);
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
}

/* What was taken stands alone. */
static void test_rows_outlive_the_file(void)
{
    static const uint64_t rows[3] = {39999, 0, 12345};
    struct ArrowArray got;
    ald_buffer bytes;
    counting c;
    ald_error err = {0};
    ald_streaming *s;
    write_numbers(&bytes, ALD_COMPRESSION_NONE);
    s = open_counting(&c, &bytes, 0);
    REQUIRE_OK(ald_streaming_take(s, rows, 3, NULL, &got, &err), &err);
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
    CHECK_INT(number_wrong(&got, rows, NULL), 0);
    got.release(&got);
}

static void test_streams_load_ahead(void)
{
    static uint64_t rows[ROWS];
    for (uint32_t threads = 1; threads <= 5; threads++) {
        ald_host before = native;
        struct ArrowArrayStream stream;
        struct ArrowArray chunk;
        ald_error err = {0};
        ald_buffer bytes;
        counting c;
        ald_streaming *s;
        uint64_t at = 0;
        native = ald_native_host(threads);
        write_numbers(&bytes, ALD_COMPRESSION_LZ4);
        s = open_counting(&c, &bytes, 0);
        REQUIRE_OK(ald_streaming_stream(s, NULL, &stream, &err), &err);
        while (CHECK_OK(ald_stream_next(&stream, &chunk, &err), &err) && chunk.release != NULL) {
            for (uint64_t i = 0; i < (uint64_t)chunk.length; i++)
                rows[i] = at + i;
            at += (uint64_t)chunk.length;
            CHECK_INT(number_wrong(&chunk, rows, NULL), 0);
            chunk.release(&chunk);
        }
        CHECK_UINT(at, ROWS);
        stream.release(&stream);
        REQUIRE_OK(ald_streaming_stream(s, NULL, &stream, &err), &err); /* left in the middle */
        CHECK_OK(ald_stream_next(&stream, &chunk, &err), &err);
        chunk.release(&chunk);
        stream.release(&stream);
        ald_streaming_close(s);
        ald_buffer_clear(&bytes);
        native = before;
    }
}

/* Small chunks, of which more and more are loaded at once; all columns, and one. */
static void test_streams_of_small_chunks(void)
{
    enum { SMALL_ROWS = 300000 };
    static uint64_t rows[SMALL_ROWS];
    static const int64_t column_2[1] = {2};
    static const uint8_t wanted[10] = {[2] = 1};
    ald_host before = native;
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_buffer bytes = {NULL, 0, 0, &native.alloc};
    ald_sink sink = ald_buffer_sink(&bytes);
    struct ArrowArrayStream stream;
    counting c;
    ald_streaming *s;
    ald_error err = {0};
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = ALD_COMPRESSION_LZ4;
    o.chunk_rows = 500;
    number_open(SMALL_ROWS, 10, 100000, &stream);
    REQUIRE_OK(ald_save(&stream, &sink, &o, &native, &err), &err);
    native = ald_native_host(3);
    s = open_counting(&c, &bytes, 0);
    for (int narrow = 0; narrow < 2; narrow++) {
        uint64_t at = 0;
        struct ArrowArray chunk;
        c.bytes = 0;
        REQUIRE_OK(ald_streaming_stream(s, narrow ? wanted : NULL, &stream, &err), &err);
        while (CHECK_OK(ald_stream_next(&stream, &chunk, &err), &err) && chunk.release != NULL) {
            for (uint64_t i = 0; i < (uint64_t)chunk.length; i++)
                rows[i] = at + i;
            at += (uint64_t)chunk.length;
            CHECK_INT(number_wrong(&chunk, rows, narrow ? column_2 : NULL), 0);
            chunk.release(&chunk);
            CHECK(at > 500 * 6 || c.bytes < bytes.size / 20); /* no more than a few, at first */
        }
        CHECK_UINT(at, SMALL_ROWS);
        CHECK(narrow || c.bytes <= bytes.size); /* each once */
        stream.release(&stream);
    }
    ald_streaming_close(s);
    native = before;
    ald_buffer_clear(&bytes);
}

/* Frames of a reused encoder, on whichever thread, are those of a fresh one. */
static void test_threads_write_the_same_bytes(void)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                           ALD_COMPRESSION_LZ4};
    for (size_t i = 0; i < 3; i++) {
        ald_host before = native;
        ald_buffer one, many;
        native.thread_count = 1;
        write_numbers(&one, compressions[i]);
        native = ald_native_host(5);
        write_numbers(&many, compressions[i]);
        native = before;
        if (CHECK_UINT(one.size, many.size))
            CHECK_MEM(one.data, many.data, many.size);
        one.alloc = many.alloc = &native.alloc;
        ald_buffer_clear(&one);
        ald_buffer_clear(&many);
    }
}

enum { WIDE_ROWS = 2000000, DENSE = 200000 };

/* `count` rows by chance, each fifth behind the one before it. */
static void take_by_chance(const ald_buffer *bytes, size_t count)
{
    static uint64_t rows[DENSE];
    counting c;
    ald_streaming *s = open_counting(&c, bytes, 2000000);
    for (size_t i = 0; i < count; i++)
        rows[i] = i % 5 == 4 ? rows[i - 1] + (rows[i - 1] + 1 < WIDE_ROWS)
                             : (uint64_t)number_at((int64_t)i, 3) % WIDE_ROWS;
    c.bytes = 0;
    take_counted(s, rows, count, NULL, NULL);
    CHECK(c.bytes < bytes->size + 1); /* each chunk once */
    take_counted(s, rows, 1, NULL, NULL);
    ald_streaming_close(s);
}

/* More chunks than may be in memory together: 64 MiB, here 2,000 of 80 KB and a cache for some. Few rows of each are taken
 * chunk by chunk, and joined a thousand chunks at a time; many in waves. */
static void test_waves(void)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_buffer bytes = {NULL, 0, 0, &native.alloc};
    ald_sink sink = ald_buffer_sink(&bytes);
    ald_host before = native;
    ald_error err = {0};
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = ALD_COMPRESSION_NONE;
    o.chunk_rows = 1000;
    number_open(WIDE_ROWS, 10, 100000, &stream);
    REQUIRE_OK(ald_save(&stream, &sink, &o, &native, &err), &err);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        native = ald_native_host(threads);
        take_by_chance(&bytes, 20000);
        take_by_chance(&bytes, DENSE);
    }
    native = before;
    ald_buffer_clear(&bytes);
}

int main(void)
{
    native = ald_native_host(2);
    RUN(test_broken_files);
    RUN(test_broken_files_are_survived);
    RUN(test_good_files);
    RUN(test_only_wanted_bytes_are_read);
    RUN(test_each_chunk_is_loaded_once);
    RUN(test_the_cache_keeps_what_was_used_last);
    RUN(test_rows_outlive_the_file);
    RUN(test_streams_load_ahead);
    RUN(test_streams_of_small_chunks);
    RUN(test_threads_write_the_same_bytes);
    RUN(test_waves);
    return check_done();
}
