/* SPDX-License-Identifier: MIT */
/* Saving, loading and inspecting .ald while memory, input, output and scratch space fail at every call in turn. */
#include "fault/fault_host.h"
#include "fault/table_stream.h"

#define SEED 253 /* a struct, a dense union, numbers; several batches */

static uint8_t compression, with_sha256, with_compat;
static uint64_t table_seed;
static const ald_value *metadata;

static ald_status save(fault_host *f, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    o.compression = compression;
    o.write_sha256 = with_sha256;
    o.compat = with_compat;
    o.metadata = metadata;
    table_open(table_seed, 3, &batches);
    ald_status st = ald_save(&batches, &f->sink, &o, &f->host, err);
    TABLE_CHECK_RELEASED(&batches);
    return st;
}

static ald_status save_spooled(fault_host *f, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    o.compression = compression;
    o.memory_bytes = 1;
    table_open(table_seed, 3, &batches);
    ald_status st = ald_save(&batches, &f->sink, &o, &f->host, err);
    TABLE_CHECK_RELEASED(&batches);
    return st;
}

static ald_status save_chunks(fault_host *f, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    o.compression = compression;
    o.layout = ALD_LAYOUT_STREAMING;
    o.chunk_rows = 17;
    o.memory_bytes = 1;
    table_open(table_seed, 3, &batches);
    ald_status st = ald_save(&batches, &f->sink, &o, &f->host, err);
    TABLE_CHECK_RELEASED(&batches);
    return st;
}

static ald_status save_aligned(fault_host *f, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    o.compression = ALD_COMPRESSION_NONE;
    o.aligned = 1;
    table_open(table_seed, 3, &batches);
    ald_status st = ald_save(&batches, &f->sink, &o, &f->host, err);
    TABLE_CHECK_RELEASED(&batches);
    return st;
}

static void no_way_back(fault_host *f)
{
    f->sink.write_at = NULL;
}

static void no_spool(fault_host *f)
{
    f->sink.write_at = NULL;
    f->host.spool_open = NULL;
}

static ald_status load(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream batches;
    ald_dataset *d = NULL;
    ald_status st = ald_load(&f->source, NULL, &f->host, &d, err);
    if (st != ALD_OK) {
        CHECK(d == NULL);
        return st;
    }
    st = ald_dataset_stream(d, &batches, err);
    CHECK((st == ALD_OK) == (batches.release != NULL));
    if (st == ALD_OK)
        batches.release(&batches);
    ald_dataset_free(d);
    return st;
}

static ald_status inspect(fault_host *f, ald_error *err)
{
    ald_inspection *inspection = NULL;
    ald_status st = ald_inspect(&f->source, NULL, &f->host, &inspection, err);
    CHECK((st == ALD_OK) == (inspection != NULL));
    ald_inspection_free(inspection);
    return st;
}

/* A name, tags and a key that nobody knows. */
static ald_value *make_metadata(int for_crate)
{
    static check_heap heap;
    static ald_allocator alloc;
    ald_error err = {0};
    ald_value *map = NULL;
    alloc = check_heap_init(&heap, -1);
    rt_must(ald_value_new(&alloc, &map, &err));
    ald_value_set_map(map);
    rt_must(ald_value_set_string(ald_value_put(map, "name", 4), "faulty", 6, &err));
    if (for_crate)
        return map;
    ald_value *tags = ald_value_put(map, "tags", 4);
    ald_value_set_array(tags);
    rt_must(ald_value_set_string(ald_value_append(tags), "a", 1, &err));
    ald_value_set_uint(ald_value_put(map, "x-unknown", 9), 7);
    return map;
}

static void save_fails(fault_kind kind, fault_job job, void (*prepare)(fault_host *f),
                       int64_t least)
{
    for (compression = 0; compression <= ALD_COMPRESSION_LZ4; compression++) {
        int64_t calls = fault_each(kind, "save", job, NULL, 0, prepare);
        if (!CHECK(calls >= least))
            printf("    only %lld calls with compression %u\n", (long long)calls, compression);
    }
}

static void test_save_without_memory(void)
{
    ald_value *map = make_metadata(0);
    table_seed = SEED;
    metadata = map;
    with_sha256 = 1;
    save_fails(FAULT_ALLOC, save, NULL, 50);
    save_fails(FAULT_ALLOC, save, no_spool, 50);
    with_sha256 = 0;
    save_fails(FAULT_ALLOC, save_spooled, NULL, 50);
    save_fails(FAULT_ALLOC, save_spooled, no_way_back, 50);
    save_fails(FAULT_ALLOC, save_chunks, NULL, 50);
    save_fails(FAULT_ALLOC, save_chunks, no_way_back, 50);
    save_fails(FAULT_ALLOC, save_aligned, NULL, 50);
    metadata = NULL;
    ald_value_free(map);
}

static void test_save_for_the_crate_without_memory(void)
{
    ald_value *map = make_metadata(1);
    table_seed = SEED;
    metadata = map;
    with_compat = ALD_COMPAT_ALIMENTAR_0_2;
    save_fails(FAULT_ALLOC, save, NULL, 50);
    with_compat = 0;
    metadata = NULL;
    ald_value_free(map);
}

/* Tables of every kind, one compression: what fails in the writer of columns. */
static void test_save_tables_without_memory(void)
{
    compression = ALD_COMPRESSION_NONE;
    for (table_seed = 1; table_seed <= 60; table_seed++) {
        fault_each(FAULT_ALLOC, "save of a random table", save, NULL, 0, NULL);
        fault_each(FAULT_ALLOC, "chunks of a random table", save_chunks, NULL, 0, NULL);
    }
}

static void test_save_to_a_failing_sink(void)
{
    table_seed = SEED;
    save_fails(FAULT_WRITE, save, NULL, 3);
    save_fails(FAULT_WRITE, save, no_way_back, 3);
    save_fails(FAULT_WRITE, save_spooled, no_way_back, 3);
    save_fails(FAULT_WRITE, save_chunks, NULL, 3);
    save_fails(FAULT_WRITE, save_chunks, no_way_back, 3);
    save_fails(FAULT_WRITE, save_aligned, NULL, 3);
}

static void test_save_with_a_failing_spool(void)
{
    table_seed = SEED;
    save_fails(FAULT_SPOOL, save, no_way_back, 3);
    save_fails(FAULT_SPOOL, save_spooled, NULL, 3);
    save_fails(FAULT_SPOOL, save_spooled, no_way_back, 6);
    save_fails(FAULT_SPOOL, save_chunks, no_way_back, 3);
}

/* A stream that ends with an error of its own. */
static int broken_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    table_stream *t = (table_stream *)stream->private_data;
    if (t->next == 2)
        return EIO;
    return table_get_next(stream, out);
}

static const char *broken_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the producer is gone";
}

static void test_save_of_a_failing_stream(void)
{
    static fault_host f;
    for (uint64_t spooled = 0; spooled < 2; spooled++) {
        ald_save_options o = ALD_SAVE_OPTIONS_INIT;
        struct ArrowArrayStream batches;
        ald_error err = {0};
        fault_init(&f, NULL, 0);
        o.memory_bytes = spooled ? 1 : UINT64_MAX;
        table_open(SEED, 3, &batches);
        batches.get_next = broken_next;
        batches.get_last_error = broken_error;
        CHECK_INT(ald_save(&batches, &f.sink, &o, &f.host, &err), ALD_E_IO);
        CHECK_CONTAINS(err.msg, "the producer is gone");
        CHECK(batches.release == NULL);
        CHECK_UINT(f.output.size, 0);
        fault_check_clean(&f);
    }
    fault_clear(&f);
}

static void load_fails(const void *data, size_t size, const char *name)
{
    CHECK(fault_each(FAULT_ALLOC, name, load, data, size, NULL) >= 10);
    CHECK(fault_each(FAULT_ALLOC, name, inspect, data, size, NULL) >= 5);
    CHECK(fault_each(FAULT_READ, name, load, data, size, NULL) >= 2);
    CHECK(fault_each(FAULT_READ, name, inspect, data, size, NULL) >= 2);
}

static void test_load_what_was_saved(void)
{
    for (table_seed = 1; table_seed <= 60; table_seed++) {
        static fault_host f;
        ald_error err = {0};
        compression = (uint8_t)(table_seed % 4);
        with_sha256 = table_seed % 3 == 0;
        fault_init(&f, NULL, 0);
        REQUIRE_OK(save(&f, &err), &err);
        load_fails(f.output.data, f.output.size, "load of a random table");
        fault_clear(&f);
    }
    with_sha256 = 0;
}

static void test_load_golden_files(void)
{
    static const char *const names[] = {
        "golden/crate-0.2/metadata-full.ald",
        "golden/crate-0.2/licensed-terms.ald",
        "golden/wire-1.3/meta-card.ald",
        "golden/wire-1.3/ones-payload-uncompressed-schema.ald",
        "golden/wire-1.3/frame-crc-stream.ald",
        "golden/wire-1.3/type-dict-nested-stream-lz4.ald",
        "golden/wire-1.3/type-utf8-trueno-stream.ald",
        "golden/wire-1.3/type-union-dense-trueno.ald",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = 0;
        uint8_t *data = fault_file(names[i], &size);
        load_fails(data, size, names[i]);
        free(data);
    }
}

int main(void)
{
    RUN(test_save_without_memory);
    RUN(test_save_for_the_crate_without_memory);
    RUN(test_save_tables_without_memory);
    RUN(test_save_to_a_failing_sink);
    RUN(test_save_with_a_failing_spool);
    RUN(test_save_of_a_failing_stream);
    RUN(test_load_what_was_saved);
    RUN(test_load_golden_files);
    return check_done();
}
