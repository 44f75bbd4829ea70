/* SPDX-License-Identifier: MIT */
/* Random tables written in chunks and read back by chunk, by rows, by index and by column, against the rows that went in;
 * and the bytes written, which do not depend on how many threads made them. */
#include "core/dataset/slices.h"
#include "fault/fault_host.h"
#include "fault/table_stream.h"

#define SEEDS 300
#define MAX_BATCHES 3
#define MAX_ROWS (MAX_BATCHES * 70)

/* What the table says, and where each row's line begins. */
typedef struct lines {
    rt_out text;
    size_t begin[MAX_ROWS + 1];
    size_t count;
} lines;

static void add_lines(lines *l, const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    for (int64_t i = 0; i < batch->length && l->count < MAX_ROWS; i++) {
        rt_render(schema, batch, i, &l->text);
        rt_put(&l->text, "\n", 1);
        l->begin[++l->count] = l->text.size;
    }
}

/* The schema with the wanted columns only, over the children of the whole one. */
typedef struct part_schema {
    struct ArrowSchema schema;
    struct ArrowSchema *children[8];
} part_schema;

static void part_of_schema(const struct ArrowSchema *whole, const uint8_t *columns,
                           part_schema *out)
{
    out->schema = *whole;
    out->schema.n_children = 0;
    out->schema.children = out->children;
    for (int64_t i = 0; i < whole->n_children; i++) {
        if (columns == NULL || columns[i])
            out->children[out->schema.n_children++] = whole->children[i];
    }
}

/* All rows with the wanted columns, from batches that never were in a file. */
static void expect(uint64_t seed, const struct ArrowSchema *whole, const uint8_t *columns,
                   lines *out)
{
    part_schema part;
    memset(out, 0, sizeof *out);
    part_of_schema(whole, columns, &part);
    for (size_t i = 0; i < seed % (MAX_BATCHES + 1); i++) {
        struct ArrowArray batch, view, *children[8];
        int64_t kept = 0;
        table_batch(seed, i, whole, &batch);
        view = batch;
        view.children = children;
        for (int64_t k = 0; k < batch.n_children; k++) {
            if (columns == NULL || columns[k])
                children[kept++] = batch.children[k];
        }
        view.n_children = kept;
        add_lines(out, &part.schema, &view);
        batch.release(&batch);
    }
}

/* ---- writing */

typedef struct written {
    uint8_t *data;
    size_t size;
} written;

static int write_table(uint64_t seed, uint64_t chunk_rows, uint8_t compression, uint32_t threads,
                       int goes_back, written *out)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_host host = ald_native_host(threads);
    ald_buffer buffer = {NULL, 0, 0, &host.alloc};
    ald_sink sink = ald_buffer_sink(&buffer);
    struct ArrowArrayStream stream;
    ald_error err = {0};
    o.compression = compression;
    o.layout = ALD_LAYOUT_STREAMING;
    o.chunk_rows = chunk_rows;
    if (!goes_back)
        sink.write_at = NULL;
    table_open(seed, seed % (MAX_BATCHES + 1), &stream);
    *out = (written){NULL, 0};
    if (!CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err))
        return 0;
    out->data = rt_calloc(buffer.size, 1);
    out->size = buffer.size;
    memcpy(out->data, buffer.data, buffer.size);
    ald_buffer_clear(&buffer);
    return 1;
}

static void check_threads(uint64_t seed, uint64_t chunk_rows, uint8_t compression, int goes_back,
                          const written *want)
{
    written got;
    if (!write_table(seed, chunk_rows, compression, 3, goes_back, &got))
        return;
    if (CHECK_UINT(got.size, want->size))
        CHECK_MEM(got.data, want->data, want->size);
    else
        printf("    compression %u, %llu rows a chunk\n", compression,
               (unsigned long long)chunk_rows);
    free(got.data);
}

/* ---- reading */

typedef struct reading {
    fault_host *f;
    ald_streaming *s;
    const struct ArrowSchema *schema;
    const uint8_t *columns;
    const lines *want;
    uint64_t random;
} reading;

static void check_rows(const reading *r, struct ArrowArray *got, const uint64_t *rows, size_t count)
{
    part_schema part;
    rt_out text = {0}, want = {0};
    part_of_schema(r->schema, r->columns, &part);
    for (size_t i = 0; i < count; i++)
        rt_put(&want, r->want->text.data + r->want->begin[rows[i]],
               r->want->begin[rows[i] + 1] - r->want->begin[rows[i]]);
    CHECK_INT(got->length, count);
    CHECK_INT(got->n_children, part.schema.n_children);
    rt_render_batch(&part.schema, got, &text);
    if (CHECK_UINT(text.size, want.size) && want.size > 0)
        CHECK_STR(text.data, want.data);
    got->release(got);
    free(text.data);
    free(want.data);
}

static void check_range(const reading *r, uint64_t begin, uint64_t count)
{
    uint64_t rows[MAX_ROWS];
    struct ArrowArray got;
    ald_error err = {0};
    for (uint64_t i = 0; i < count; i++)
        rows[i] = begin + i;
    if (CHECK_OK(ald_streaming_rows(r->s, begin, count, r->columns, &got, &err), &err))
        check_rows(r, &got, rows, (size_t)count);
}

static void check_chunks(const reading *r)
{
    const ald_info *info = ald_streaming_info(r->s);
    for (uint64_t i = 0; i < info->chunk_count; i++) {
        const ald_chunk_entry *e = &info->chunks[i];
        uint64_t rows[MAX_ROWS], chunk = UINT64_MAX;
        struct ArrowArray got;
        ald_error err = {0};
        for (uint64_t k = 0; k < e->num_rows; k++) {
            rows[k] = e->row_offset + k;
            CHECK_OK(ald_streaming_find_chunk(r->s, rows[k], &chunk, &err), &err);
            CHECK_UINT(chunk, i);
        }
        if (CHECK_OK(ald_streaming_chunk(r->s, i, r->columns, &got, &err), &err))
            check_rows(r, &got, rows, e->num_rows);
    }
}

static void check_takes(reading *r)
{
    uint64_t total = r->want->count, rows[MAX_ROWS];
    for (int i = 0; i < 6; i++) {
        size_t count = (size_t)rt_below(&r->random, MAX_ROWS);
        struct ArrowArray got;
        ald_error err = {0};
        if (total == 0)
            count = 0;
        for (size_t k = 0; k < count; k++)
            rows[k] = k > 0 && rows[k - 1] + 1 < total && rt_below(&r->random, 2)
                          ? rows[k - 1] + 1
                          : (uint64_t)rt_below(&r->random, (int64_t)total);
        if (CHECK_OK(ald_streaming_take(r->s, rows, count, r->columns, &got, &err), &err))
            check_rows(r, &got, rows, count);
    }
}

/* Some rows of each chunk as slices, which a take makes only of files that are larger than the cache. */
static void check_slices(reading *r)
{
    const ald_info *info = ald_streaming_info(r->s);
    ald__slice slices[MAX_ROWS];
    ald__run runs[MAX_ROWS];
    uint64_t rows[MAX_ROWS];
    size_t count = 0, taken = 0, made = 0;
    part_schema part;
    struct ArrowArray got;
    ald_error err = {0};
    for (uint64_t i = 0; i < info->chunk_count; i++) {
        const ald_chunk_entry *e = &info->chunks[i];
        size_t before = made;
        for (uint32_t k = 0; k < e->num_rows; k++) {
            int64_t at = rt_below(&r->random, e->num_rows);
            if (rt_below(&r->random, 3) > 0)
                continue;
            runs[made++] = (ald__run){at, 1, 0};
            rows[taken++] = e->row_offset + (uint64_t)at;
        }
        if (made > before)
            slices[count++] = (ald__slice){.chunk = i, .runs = &runs[before], made - before};
    }
    part_of_schema(r->schema, r->columns, &part);
    if (count > 0 &&
        CHECK_OK(ald__slices_take(r->s, &part.schema, r->columns, slices, count, &got, &err), &err))
        check_rows(r, &got, rows, taken);
}

static void check_stream(const reading *r)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    ald_error err = {0};
    rt_out text = {0};
    REQUIRE_OK(ald_streaming_stream(r->s, r->columns, &stream, &err), &err);
    CHECK_OK(ald_stream_schema(&stream, &schema, &err), &err);
    for (;;) {
        struct ArrowArray batch;
        if (!CHECK_OK(ald_stream_next(&stream, &batch, &err), &err) || batch.release == NULL)
            break;
        rt_render_batch(&schema, &batch, &text);
        batch.release(&batch);
    }
    if (CHECK_UINT(text.size, r->want->text.size) && text.size > 0)
        CHECK_STR(text.data, r->want->text.data);
    schema.release(&schema);
    stream.release(&stream);
    free(text.data);
}

static void check_ends(const reading *r)
{
    uint64_t rows = ald_streaming_row_count(r->s), chunk = 0;
    struct ArrowArray got;
    ald_error err = {0};
    CHECK_UINT(rows, r->want->count);
    CHECK_INT(ald_streaming_rows(r->s, rows, 1, r->columns, &got, &err), ALD_E_INVALID_ARG);
    CHECK(got.release == NULL);
    CHECK_INT(ald_streaming_rows(r->s, 1, UINT64_MAX, r->columns, &got, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_streaming_take(r->s, &rows, 1, r->columns, &got, &err), ALD_E_INVALID_ARG);
    CHECK(got.release == NULL);
    CHECK_INT(ald_streaming_find_chunk(r->s, rows, &chunk, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_streaming_chunk(r->s, ald_streaming_chunk_count(r->s), r->columns, &got, &err),
              ALD_E_INVALID_ARG);
    CHECK_INT(ald_streaming_prefetch(r->s, ald_streaming_chunk_count(r->s), 1, r->columns, &err),
              ALD_E_INVALID_ARG);
    check_range(r, rows, 0);
}

static void check_reads(fault_host *f, const written *file, uint64_t seed, uint64_t cache,
                        const uint8_t *columns, const struct ArrowSchema *schema, const lines *want)
{
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    reading r = {f, NULL, schema, columns, want, seed * 3 + cache};
    ald_error err = {0};
    fault_init(f, file->data, file->size);
    o.cache_bytes = cache;
    if (!CHECK_OK(ald_streaming_open(&f->source, &o, &f->host, &r.s, &err), &err))
        return;
    check_ends(&r);
    check_stream(&r);
    check_chunks(&r);
    check_takes(&r);
    check_slices(&r);
    if (want->count > 0)
        CHECK_OK(ald_streaming_prefetch(r.s, 0, ald_streaming_chunk_count(r.s), columns, &err),
                 &err);
    check_range(&r, 0, want->count);
    for (int i = 0; i < 6 && want->count > 0; i++) {
        uint64_t begin = (uint64_t)rt_below(&r.random, (int64_t)want->count);
        check_range(&r, begin, (uint64_t)rt_below(&r.random, (int64_t)(want->count - begin) + 1));
    }
    check_chunks(&r);
    ald_streaming_close(r.s);
    fault_check_clean(f);
}

static void check_seed(uint64_t seed)
{
    static const uint64_t sizes[] = {1, 7, 64, 1000}, caches[] = {1, 3000, 0};
    static fault_host f;
    uint64_t r = seed;
    uint64_t chunk_rows = sizes[rt_below(&r, 4)], cache = caches[rt_below(&r, 3)];
    uint8_t compression = (uint8_t)rt_below(&r, 6), wanted[8];
    int goes_back = (int)rt_below(&r, 2);
    struct ArrowSchema schema;
    lines all, some;
    written file;
    for (size_t i = 0; i < sizeof wanted; i++)
        wanted[i] = (uint8_t)rt_below(&r, 2);
    rt_schema(seed, table_alloc(), &schema);
    expect(seed, &schema, NULL, &all);
    expect(seed, &schema, wanted, &some);
    if (write_table(seed, chunk_rows, compression, 1, goes_back, &file)) {
        check_threads(seed, chunk_rows, compression, goes_back, &file);
        check_reads(&f, &file, seed, cache, NULL, &schema, &all);
        check_reads(&f, &file, seed, cache, wanted, &schema, &some);
    }
    free(file.data);
    free(all.text.data);
    free(some.text.data);
    fault_clear(&f);
    schema.release(&schema);
}

static void test_random_tables(void)
{
    for (uint64_t seed = 1; seed <= SEEDS && check_failures < 20; seed++) {
        int before = check_failures;
        check_seed(seed);
        if (check_failures > before)
            printf("    seed %llu\n", (unsigned long long)seed);
    }
    CHECK_HEAP_EMPTY(&table_heap);
}

int main(void)
{
    RUN(test_random_tables);
    return check_done();
}
