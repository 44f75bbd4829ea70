/* SPDX-License-Identifier: MIT */
/* Lazy reading. Checksums over the prefix and over pieces are put out of action by renaming their keys, which readers then
 * do not know: else nearly every input would end there. What a whole chunk gives, its columns alone and its rows must give. */
#include "fuzz/fuzz_host.h"

#define CHUNKS_MAX 32
#define COLUMNS_MAX 24

static void rename_key(uint8_t *data, size_t size, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(data + i, key, length) == 0)
            data[i] = 'x';
    }
}

static int is_limit(ald_status st)
{
    return st == ALD_E_NOMEM || st == ALD_E_LIMIT_EXCEEDED;
}

static ald_status finish(ald_status st, struct ArrowArray *array, ald_error *err)
{
    FUZZ_CHECK((st == ALD_OK) == (array->release != NULL));
    fuzz_check_error(st, err);
    if (st == ALD_OK)
        array->release(array);
    return st;
}

/* Every column alone, after the whole chunk gave `rows` rows. */
static void check_columns(ald_streaming *s, uint64_t chunk, int whole, int64_t rows)
{
    int64_t count = ald_streaming_schema(s)->n_children;
    uint8_t *wanted = calloc((size_t)count + 1, 1);
    for (int64_t i = 0; wanted != NULL && i < count && i < COLUMNS_MAX; i++) {
        struct ArrowArray got;
        ald_error err = {0};
        ald_status st;
        wanted[i] = 1;
        st = ald_streaming_chunk(s, chunk, wanted, &got, &err);
        wanted[i] = 0;
        if (st == ALD_OK)
            FUZZ_CHECK(got.n_children == 1 && got.length == rows);
        st = finish(st, &got, &err);
        FUZZ_CHECK(st == ALD_OK || !whole || is_limit(st));
    }
    free(wanted);
}

static void check_rows(ald_streaming *s, const ald_chunk_entry *e)
{
    struct ArrowArray got;
    ald_error err = {0};
    uint64_t rows[3] = {e->row_offset + e->num_rows - 1, e->row_offset, e->row_offset};
    ald_status st = ald_streaming_take(s, rows, 3, NULL, &got, &err);
    if (st == ALD_OK)
        FUZZ_CHECK(got.length == 3);
    st = finish(st, &got, &err);
    FUZZ_CHECK(st == ALD_OK || is_limit(st));
    st = ald_streaming_rows(s, e->row_offset, e->num_rows > 100 ? 100 : e->num_rows, NULL, &got,
                            &err);
    st = finish(st, &got, &err);
    FUZZ_CHECK(st == ALD_OK || is_limit(st));
}

static void check_chunks(ald_streaming *s)
{
    const ald_info *info = ald_streaming_info(s);
    for (uint64_t i = 0; i < info->chunk_count && i < CHUNKS_MAX; i++) {
        const ald_chunk_entry *e = &info->chunks[i];
        struct ArrowArray got;
        ald_error err = {0};
        ald_status st = ald_streaming_chunk(s, i, NULL, &got, &err);
        if (st == ALD_OK)
            FUZZ_CHECK(got.length == (int64_t)e->num_rows);
        st = finish(st, &got, &err);
        check_columns(s, i, st == ALD_OK, (int64_t)e->num_rows);
        if (st == ALD_OK && e->num_rows > 0)
            check_rows(s, e);
    }
}

/* Rows across chunks: whatever they give, it is released. */
static void check_all_rows(ald_streaming *s)
{
    uint64_t rows = ald_streaming_row_count(s);
    struct ArrowArray got;
    ald_error err = {0};
    (void)finish(ald_streaming_rows(s, 0, rows < 10000 ? rows : 10000, NULL, &got, &err), &got,
                 &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_streaming *s = NULL;
    ald_source source;
    ald_error err = {0};
    ald_status st;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    rename_key(copy, size, "prefix_crc32");
    rename_key(copy, size, "frame_crc32");
    source = ald_source_memory(copy, size);
    if (size % 2)
        source.view = NULL;
    options.ignore_expiry = 1;
    options.limits.metadata_bytes = 1 << 20;
    options.cache_bytes = size % 3 == 0 ? 1 : 8 << 20;
    st = ald_streaming_open(&source, &options, &host, &s, &err);
    FUZZ_CHECK((st == ALD_OK) == (s != NULL));
    fuzz_check_error(st, &err);
    if (s != NULL) {
        check_chunks(s);
        check_all_rows(s);
    }
    ald_streaming_close(s);
    free(copy);
    FUZZ_CHECK_EMPTY();
    return 0;
}
