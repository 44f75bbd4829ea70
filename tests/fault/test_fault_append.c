/* SPDX-License-Identifier: MIT */
/* Appending: the rows of both, chunks that stay as they are stored, and memory, input, output and scratch space that fail at
 * every call in turn. */
#include "fault/fault_host.h"
#include "fault/table_stream.h"

#define BASE_BATCHES 3
#define MORE_BATCHES 2

static uint64_t table_seed;
static uint8_t base_compression, compression, with_sha256;

static void save_base(fault_host *f)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    ald_error err = {0};
    fault_init(f, NULL, 0);
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = base_compression;
    o.chunk_rows = 41;
    table_open(table_seed, BASE_BATCHES, &batches);
    CHECK_OK(ald_save(&batches, &f->sink, &o, &f->host, &err), &err);
}

static ald_status append(fault_host *f, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    ald_streaming *base = NULL;
    ald_status st = ald_streaming_open(&f->source, NULL, &f->host, &base, err);
    if (st != ALD_OK)
        return st;
    o.compression = compression;
    o.write_sha256 = with_sha256;
    o.chunk_rows = 17; /* others than the base has: chunks made anew would be seen */
    table_open(table_seed, MORE_BATCHES, &batches);
    st = ald_append(base, &batches, &f->sink, &o, &f->host, err);
    TABLE_CHECK_RELEASED(&batches);
    ald_streaming_close(base);
    return st;
}

static void no_going_back(fault_host *f)
{
    f->sink.write_at = NULL;
}

static void render(ald_streaming *s, rt_out *out)
{
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray chunk;
        ald_error err = {0};
        REQUIRE_OK(ald_streaming_chunk(s, i, NULL, &chunk, &err), &err);
        rt_render_batch(ald_streaming_schema(s), &chunk, out);
        chunk.release(&chunk);
    }
}

/* Chunk `index` of both files is the same bytes. */
static int same_chunk(const ald_streaming *a, const uint8_t *a_bytes, const ald_streaming *b,
                      const uint8_t *b_bytes, uint64_t index)
{
    const ald_info *x = ald_streaming_info(a), *y = ald_streaming_info(b);
    const ald_chunk_entry *p = &x->chunks[index], *q = &y->chunks[index];
    return p->compressed_size == q->compressed_size && p->row_offset == q->row_offset &&
           p->num_rows == q->num_rows && p->uncompressed_size == q->uncompressed_size &&
           memcmp(a_bytes + x->sections.payload.begin + p->byte_offset,
                  b_bytes + y->sections.payload.begin + q->byte_offset, p->compressed_size) == 0;
}

static void check_result(const fault_host *base, fault_host *f)
{
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_source before = ald_source_memory(base->output.data, base->output.size);
    ald_source after = ald_source_memory(f->output.data, f->output.size);
    ald_host host = ald_native_host(1);
    ald_streaming *a = NULL, *b = NULL;
    rt_out expected = {0}, found = {0};
    ald_error err = {0};
    o.check_all = 1;
    REQUIRE_OK(ald_streaming_open(&before, &o, &host, &a, &err), &err);
    REQUIRE_OK(ald_streaming_open(&after, &o, &host, &b, &err), &err);
    for (uint64_t i = 0; i < ald_streaming_chunk_count(a); i++) {
        if (compression == base_compression && !with_sha256)
            CHECK(same_chunk(a, base->output.data, b, f->output.data, i));
    }
    table_render(table_seed, BASE_BATCHES, &expected);
    table_render(table_seed, MORE_BATCHES, &expected);
    render(b, &found);
    CHECK(expected.size == found.size && memcmp(expected.data, found.data, found.size) == 0);
    free(expected.data);
    free(found.data);
    ald_streaming_close(a);
    ald_streaming_close(b);
}

static void each(const fault_host *base, int faults)
{
    static fault_host f;
    ald_error err = {0};
    fault_init(&f, base->output.data, base->output.size);
    if (CHECK_OK(append(&f, &err), &err))
        check_result(base, &f);
    fault_clear(&f);
    if (!faults)
        return;
    CHECK(fault_each(FAULT_ALLOC, "append", append, base->output.data, base->output.size, NULL) >=
          10);
    CHECK(fault_each(FAULT_READ, "append", append, base->output.data, base->output.size, NULL) >=
          3);
    CHECK(fault_each(FAULT_WRITE, "append", append, base->output.data, base->output.size,
                     no_going_back) >= 2);
    CHECK(fault_each(FAULT_SPOOL, "append", append, base->output.data, base->output.size,
                     no_going_back) >= 2);
}

static void test_random_tables(void)
{
    static fault_host base;
    for (table_seed = 1; table_seed <= 40; table_seed++) {
        base_compression = (uint8_t)(table_seed % 6);
        compression = base_compression;
        with_sha256 = 0;
        save_base(&base);
        each(&base, table_seed % 6 == 1);
        compression = (uint8_t)((table_seed + 1) % 6);
        each(&base, 0);
        compression = base_compression;
        with_sha256 = 1;
        each(&base, table_seed % 9 == 1);
    }
    fault_clear(&base);
}

static void test_another_schema(void)
{
    static fault_host base, f;
    struct ArrowArrayStream batches;
    ald_streaming *s = NULL;
    ald_error err = {0};
    table_seed = 5;
    save_base(&base);
    fault_init(&f, base.output.data, base.output.size);
    REQUIRE_OK(ald_streaming_open(&f.source, NULL, &f.host, &s, &err), &err);
    table_open(6, 1, &batches);
    CHECK_INT(ald_append(s, &batches, &f.sink, NULL, &f.host, &err), ALD_E_SCHEMA_MISMATCH);
    TABLE_CHECK_RELEASED(&batches);
    ald_streaming_close(s);
    fault_check_clean(&f);
    fault_clear(&f);
    fault_clear(&base);
}

int main(void)
{
    RUN(test_random_tables);
    RUN(test_another_schema);
    return check_done();
}
