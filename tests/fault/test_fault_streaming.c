/* SPDX-License-Identifier: MIT */
/* Opening lazily, chunks, columns, rows, takes, prefetching, streams and loaders while memory and reads fail at every call
 * in turn. A handle that failed once goes on working. */
#include "core/dataset/slices.h"
#include "fault/fault_host.h"
#include "fault/table_stream.h"

static uint64_t cache_bytes;

static ald_status open_file(fault_host *f, ald_streaming **out, ald_error *err)
{
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_status st;
    o.cache_bytes = cache_bytes;
    o.ignore_expiry = 1;
    st = ald_streaming_open(&f->source, &o, &f->host, out, err);
    CHECK((st == ALD_OK) == (*out != NULL));
    return st;
}

static ald_status drop(ald_status st, struct ArrowArray *array)
{
    CHECK(st == ALD_OK || array->release == NULL);
    if (st == ALD_OK && array->release != NULL)
        array->release(array);
    return st;
}

/* Each of these makes what it can with an open file and releases it. */
static ald_status use_chunks(ald_streaming *s, const uint8_t *columns, ald_error *err)
{
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray chunk;
        ald_status st = drop(ald_streaming_chunk(s, i, columns, &chunk, err), &chunk);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

static ald_status use_rows(ald_streaming *s, const uint8_t *columns, ald_error *err)
{
    uint64_t rows = ald_streaming_row_count(s), list[40];
    struct ArrowArray got;
    ald_status st =
        drop(ald_streaming_rows(s, rows / 3, rows - rows / 3, columns, &got, err), &got);
    if (st != ALD_OK || rows == 0)
        return st;
    for (uint64_t i = 0; i < 40; i++)
        list[i] = i * 13 % rows;
    return drop(ald_streaming_take(s, list, 40, columns, &got, err), &got);
}

static ald_status use_slices(ald_streaming *s, ald_error *err)
{
    enum { MOST = 16 };
    static const ald__run runs[2] = {{3, 2, 0}, {0, 1, 0}};
    ald__slice slices[MOST];
    size_t count = 0;
    struct ArrowArray got;
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s) && count < MOST; i++) {
        if (ald_streaming_info(s)->chunks[i].num_rows >= 5)
            slices[count++] = (ald__slice){.chunk = i, .runs = runs, .run_count = 2};
    }
    if (count == 0)
        return ALD_OK;
    return drop(ald__slices_take(s, ald_streaming_schema(s), NULL, slices, count, &got, err), &got);
}

static ald_status use_stream(ald_streaming *s, ald_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowArray chunk;
    struct ArrowSchema schema;
    ald_status st = ald_streaming_stream(s, NULL, &stream, err);
    CHECK((st == ALD_OK) == (stream.release != NULL));
    if (st != ALD_OK)
        return st;
    st = ald_stream_schema(&stream, &schema, err);
    if (st == ALD_OK)
        schema.release(&schema);
    while (st == ALD_OK) {
        st = ald_stream_next(&stream, &chunk, err);
        if (st != ALD_OK || chunk.release == NULL)
            break;
        chunk.release(&chunk);
    }
    stream.release(&stream);
    return st;
}

static ald_status use_loader(fault_host *f, ald_streaming *s, ald_error *err)
{
    ald_loader_options o = ALD_LOADER_OPTIONS_INIT;
    ald_loader *l = NULL;
    ald_status st;
    o.block_rows = 9;
    st = ald_loader_new(s, &o, &f->host, &l, err);
    CHECK((st == ALD_OK) == (l != NULL));
    while (st == ALD_OK) {
        uint64_t before = ald_loader_position(l);
        struct ArrowArray batch;
        st = ald_loader_next(l, 23, &batch, err);
        if (st != ALD_OK)
            CHECK(batch.release == NULL && ald_loader_position(l) == before);
        if (st != ALD_OK || batch.release == NULL)
            break;
        batch.release(&batch);
    }
    ald_loader_free(l);
    return st;
}

/* The call that failed works when it is made again. */
static void check_still_works(fault_host *f, ald_streaming *s)
{
    ald_error err = {0};
    f->heap.calls_left = f->reads_left = -1;
    CHECK_OK(use_rows(s, NULL, &err), &err);
}

enum { CHUNKS, COLUMNS, ROWS, ROWS_OF_COLUMNS, SLICES, PREFETCH, STREAM, LOADER, USES };
static int use;

static ald_status use_file(fault_host *f, ald_streaming *s, const uint8_t *columns, ald_error *err)
{
    switch (use) {
    case CHUNKS:
        return use_chunks(s, NULL, err);
    case COLUMNS:
        return use_chunks(s, columns, err);
    case ROWS:
        return use_rows(s, NULL, err);
    case ROWS_OF_COLUMNS:
        return use_rows(s, columns, err);
    case SLICES:
        return use_slices(s, err);
    case PREFETCH:
        return ald_streaming_prefetch(s, 0, ald_streaming_chunk_count(s), NULL, err);
    case STREAM:
        return use_stream(s, err);
    default:
        return use_loader(f, s, err);
    }
}

static ald_status read_file(fault_host *f, ald_error *err)
{
    uint8_t columns[32] = {1, 0, 1, 1, 0, 0, 1};
    ald_streaming *s = NULL;
    ald_status st = open_file(f, &s, err);
    if (st != ALD_OK)
        return st;
    CHECK(ald_streaming_schema(s)->n_children <= 32);
    st = use_file(f, s, columns, err);
    if (st != ALD_OK)
        check_still_works(f, s);
    ald_streaming_close(s);
    return st;
}

static void fails(const void *data, size_t size, const char *name)
{
    for (use = 0; use < USES; use++) {
        cache_bytes = (uint64_t)use % 2;
        CHECK(fault_each(FAULT_ALLOC, name, read_file, data, size, NULL) >= 10);
        CHECK(fault_each(FAULT_READ, name, read_file, data, size, NULL) >= 3);
    }
}

static void save_table(fault_host *f, uint64_t seed, uint8_t compression)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    ald_error err = {0};
    fault_init(f, NULL, 0);
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = compression;
    o.chunk_rows = 41;
    table_open(seed, 3, &batches);
    CHECK_OK(ald_save(&batches, &f->sink, &o, &f->host, &err), &err);
}

static void test_random_tables(void)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        static fault_host f;
        save_table(&f, seed, (uint8_t)(seed % 4));
        fails(f.output.data, f.output.size, "a random table in chunks");
        fault_clear(&f);
    }
}

static void test_golden_files(void)
{
    static const char *const names[] = {
        "golden/wire-1.3/columns-nested.ald",
        "golden/wire-1.3/columns-dictionary.ald",
        "golden/wire-1.3/frame-crc-stream.ald",
        "golden/wire-1.3/dictionary-replaced-stream.ald",
        "golden/wire-1.3/type-utf8-trueno-stream.ald",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = 0;
        uint8_t *data = fault_file(names[i], &size);
        fails(data, size, names[i]);
        free(data);
    }
}

int main(void)
{
    RUN(test_random_tables);
    RUN(test_golden_files);
    return check_done();
}
