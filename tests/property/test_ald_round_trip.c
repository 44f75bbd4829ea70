/* SPDX-License-Identifier: MIT */
/* Random tables of every type through ald_save and ald_load: each compression, sinks that can and cannot go back, kept and
 * spooled batches, chunks, aligned buffers, and the crate's habits. The values come back, and ways to save that differ only
 * in how the bytes got there agree byte for byte. */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "fault/fault_host.h"
#include "fault/table_stream.h"

#define SEEDS 500
#define MAX_BATCHES 3

/* Neighbours of one group must give the same file. `chunk_rows` 0: not STREAMING. */
typedef struct way {
    const char *name;
    int group, goes_back, spools, compat, aligned;
    uint64_t chunk_rows;
} way;

static const way ways[] = {
    {"a sink that goes back", 0, 1, 0, 0, 0, 0},
    {"a sink that does not", 0, 0, 0, 0, 0, 0},
    {"spooled, goes back", 0, 1, 1, 0, 0, 0},
    {"spooled, does not", 0, 0, 1, 0, 0, 0},
    {"for the crate", 1, 1, 0, 1, 0, 0},
    {"for the crate, spooled, does not go back", 1, 0, 1, 1, 0, 0},
    {"chunks", 2, 1, 0, 0, 0, 17},
    {"chunks, spooled", 2, 1, 1, 0, 0, 17},
    {"chunks, does not go back", 3, 0, 0, 0, 0, 17},
    {"chunks, spooled, does not go back", 3, 0, 1, 0, 0, 17},
    {"chunks larger than the table", 4, 1, 0, 0, 0, 1000},
    {"aligned", 5, 1, 0, 0, 1, 0},
    {"aligned, does not go back", 6, 0, 1, 0, 1, 0},
    {"aligned chunks", 7, 1, 0, 0, 1, 17},
    {"aligned chunks, does not go back", 8, 0, 1, 0, 1, 17},
};
#define WAYS (sizeof ways / sizeof *ways)

static ald_status save(fault_host *f, struct ArrowArrayStream *stream, const way *w,
                       uint8_t compression, int sha256, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    o.compression = compression;
    o.compat = w->compat ? ALD_COMPAT_ALIMENTAR_0_2 : ALD_COMPAT_NONE;
    o.memory_bytes = w->spools ? 1 : UINT64_MAX;
    o.write_sha256 = (uint8_t)sha256;
    o.aligned = (uint8_t)w->aligned;
    o.layout = w->chunk_rows > 0 ? ALD_LAYOUT_STREAMING : ALD_LAYOUT_WHOLE;
    o.chunk_rows = w->chunk_rows;
    if (!w->goes_back)
        f->sink.write_at = NULL;
    return ald_save(stream, &f->sink, &o, &f->host, err);
}

/* The crate's table has two wrong entries: a file that never meets them has the right CRC32 both ways. */
static void check_crc(const ald_info *info, const way *w, const fault_bytes *file)
{
    uint32_t right = ald__crc32(0, file->data, file->size - 4);
    uint32_t crate = ald__crc32_crate(0, file->data, file->size - 4);
    CHECK_UINT(ald__load_le32(file->data + file->size - 4), w->compat ? crate : right);
    CHECK_INT(info->crc32_variant, w->compat && crate != right ? ALD_CRC32_CRATE : ALD_CRC32_IEEE);
}

static void check_info(const ald_dataset *d, const way *w, uint8_t compression, int sha256,
                       const fault_bytes *file)
{
    const ald_info *info = ald_dataset_info(d);
    uint64_t rows = 0;
    for (size_t i = 0; i < ald_dataset_batch_count(d); i++) {
        struct ArrowArray batch;
        ald_error err = {0};
        REQUIRE_OK(ald_dataset_batch(d, i, &batch, &err), &err);
        rows += (uint64_t)batch.length;
        batch.release(&batch);
    }
    CHECK_UINT(info->num_rows, rows);
    CHECK_UINT(info->file_size_bytes, file->size);
    CHECK_UINT(info->compression, compression);
    CHECK_UINT(info->flags, (w->chunk_rows > 0 ? ALD_FLAG_STREAMING : 0) |
                                (w->aligned ? ALD_FLAG_TRUENO_NATIVE : 0));
    CHECK_UINT(info->dataset_type, ALD_DATASET_TABULAR);
    check_crc(info, w, file);
    CHECK_INT(info->metadata_is_array, w->compat);
    CHECK_INT(ald_value_find(info->metadata, "sha256") != NULL, sha256);
}

static void check_values(const ald_dataset *d, uint64_t seed, const rt_out *want)
{
    struct ArrowSchema schema;
    ald_error err = {0};
    rt_out got = {0};
    rt_schema(seed, table_alloc(), &schema);
    CHECK_OK(ald_schema_compare(&schema, ald_dataset_schema(d), 1, &err), &err);
    for (size_t i = 0; i < ald_dataset_batch_count(d); i++) {
        struct ArrowArray batch;
        if (!CHECK_OK(ald_dataset_batch(d, i, &batch, &err), &err))
            break;
        rt_render_batch(&schema, &batch, &got);
        batch.release(&batch);
    }
    CHECK(got.size == want->size && (got.size == 0 || memcmp(got.data, want->data, got.size) == 0));
    free(got.data);
    schema.release(&schema);
}

/* What was loaded, saved again, is the same file: kept as it is read and read back from its bytes. */
static void check_saved_again(const ald_dataset *d, const way *w, uint8_t compression, int sha256,
                              const fault_bytes *bytes)
{
    static fault_host again;
    struct ArrowArrayStream stream;
    ald_error err = {0};
    fault_init(&again, NULL, 0);
    if (CHECK_OK(ald_dataset_stream(d, &stream, &err), &err) &&
        CHECK_OK(save(&again, &stream, w, compression, sha256, &err), &err) &&
        CHECK_UINT(again.output.size, bytes->size))
        CHECK_MEM(again.output.data, bytes->data, bytes->size);
    fault_check_clean(&again);
    fault_clear(&again);
}

static void check_loads(fault_host *f, uint64_t seed, const way *w, uint8_t compression, int sha256,
                        const rt_out *want)
{
    fault_bytes bytes = f->output;
    ald_dataset *d = NULL;
    ald_error err = {0};
    ald_source source = f->source;
    f->input = bytes.data;
    f->input_size = bytes.size;
    source.size_bytes = bytes.size;
    if (seed % 2)
        source = ald_source_memory(bytes.data, bytes.size);
    if (!CHECK_OK(ald_load(&source, NULL, &f->host, &d, &err), &err))
        return;
    check_info(d, w, compression, sha256, &bytes);
    check_values(d, seed, want);
    if (w->chunk_rows == 0 && !w->aligned) /* those guess at the start what the table will be */
        check_saved_again(d, w, compression, sha256, &bytes);
    ald_dataset_free(d);
}

/* Ways that differ only in how the bytes got there. */
static void check_same_file(const fault_bytes *got, const fault_bytes *want)
{
    if (CHECK_UINT(got->size, want->size))
        CHECK_MEM(got->data, want->data, want->size);
}

static void check_way(fault_host *f, uint64_t seed, const way *w, const rt_out *want)
{
    uint8_t compression = w->aligned ? ALD_COMPRESSION_NONE : (uint8_t)(seed / 2 % 4);
    int sha256 = seed % 3 == 0;
    struct ArrowArrayStream stream;
    ald_error err = {0};
    ald_status st;
    fault_init(f, NULL, 0);
    table_open(seed, seed % (MAX_BATCHES + 1), &stream);
    st = save(f, &stream, w, compression, sha256, &err);
    if (st == ALD_E_UNSUPPORTED && w->aligned && w->chunk_rows == 0)
        CHECK_CONTAINS(err.msg, "dictionaries"); /* one batch, and they cannot be joined */
    else if (CHECK_OK(st, &err))
        check_loads(f, seed, w, compression, sha256, want);
    fault_check_clean(f);
}

static void check_seed(uint64_t seed)
{
    static fault_host f[WAYS];
    rt_out want = {0};
    table_render(seed, seed % (MAX_BATCHES + 1), &want);
    for (size_t i = 0; i < WAYS; i++) {
        int before = check_failures;
        check_way(&f[i], seed, &ways[i], &want);
        if (i > 0 && ways[i].group == ways[i - 1].group)
            check_same_file(&f[i].output, &f[i - 1].output);
        if (check_failures > before)
            printf("    seed %llu, %s\n", (unsigned long long)seed, ways[i].name);
    }
    for (size_t i = 0; i < WAYS; i++)
        fault_clear(&f[i]);
    free(want.data);
}

static void test_round_trips(void)
{
    for (uint64_t seed = 1; seed <= SEEDS && check_failures < 20; seed++)
        check_seed(seed);
    CHECK_HEAP_EMPTY(&table_heap);
}

int main(void)
{
    RUN(test_round_trips);
    return check_done();
}
