/* SPDX-License-Identifier: MIT */
/* Loading on several threads: the same rows, and the same first error, as on one. */
#include "check.h"
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/codec/codec.h"
#include "core/dataset/items.h"
#include "number_table.h"

#include "ald/native.h"
#include "ald/stream.h"

enum { CHUNK_ROWS = 700, CHUNKS = 41, ROWS = CHUNK_ROWS * (CHUNKS - 1) + 3, COLUMNS = 3 };

static const uint32_t thread_counts[] = {1, 2, 3, 64};

static void save_numbers(uint8_t compression, ald_buffer *out)
{
    static ald_host host;
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_sink sink;
    ald_error err;
    host = ald_native_host(1);
    *out = (ald_buffer){NULL, 0, 0, &host.alloc};
    sink = ald_buffer_sink(out);
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = compression;
    o.chunk_rows = CHUNK_ROWS;
    number_open(ROWS, COLUMNS, ROWS, &stream);
    CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err);
}

static ald_status load_numbers(const ald_buffer *bytes, uint32_t threads, ald_dataset **out,
                               ald_error *err)
{
    ald_host host = ald_native_host(threads);
    ald_source source = ald_source_memory(bytes->data, bytes->size);
    memset(err, 0, sizeof *err);
    return ald_load(&source, NULL, &host, out, err);
}

static void check_rows(const ald_dataset *d)
{
    static uint64_t rows[CHUNK_ROWS];
    uint64_t at = 0;
    for (size_t k = 0; k < ald_dataset_batch_count(d); k++) {
        struct ArrowArray a;
        ald_error err;
        CHECK_OK(ald_dataset_batch(d, k, &a, &err), &err);
        for (int64_t i = 0; i < a.length; i++)
            rows[i] = at++;
        CHECK_INT(number_wrong(&a, rows, NULL), 0);
        a.release(&a);
    }
    CHECK_UINT(at, ROWS);
}

static void test_same_rows(void)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                           ALD_COMPRESSION_LZ4, ALD_COMPRESSION_PACKED};
    for (size_t c = 0; c < sizeof compressions; c++) {
        ald_buffer bytes;
        save_numbers(compressions[c], &bytes);
        for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
            ald_dataset *d;
            ald_error err;
            if (!CHECK_OK(load_numbers(&bytes, thread_counts[t], &d, &err), &err))
                continue;
            CHECK_UINT(ald_dataset_batch_count(d), CHUNKS);
            check_rows(d);
            ald_dataset_free(d);
        }
        ald_buffer_clear(&bytes);
    }
}

/* A stream that was taken has them all, as if nothing had happened. */
static void test_dropped_rows(void)
{
    static uint64_t rows[CHUNK_ROWS];
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    ald_buffer bytes;
    ald_dataset *d;
    ald_error err;
    uint64_t at = 0;
    save_numbers(ALD_COMPRESSION_ZSTD_L3, &bytes);
    if (CHECK_OK(load_numbers(&bytes, 2, &d, &err), &err)) {
        CHECK_OK(ald_dataset_stream(d, &stream, &err), &err);
        ald_dataset_drop_rows(d);
        ald_dataset_drop_rows(d);
        CHECK_UINT(ald_dataset_batch_count(d), 0);
        CHECK_UINT(ald_dataset_info(d)->num_rows, ROWS);
        CHECK_INT(ald_dataset_batch(d, 0, &a, &err), ALD_E_INVALID_ARG);
        while (CHECK_OK(ald_stream_next(&stream, &a, &err), &err) && a.release != NULL) {
            for (int64_t i = 0; i < a.length; i++)
                rows[i] = at++;
            CHECK_INT(number_wrong(&a, rows, NULL), 0);
            a.release(&a);
        }
        CHECK_UINT(at, ROWS);
        stream.release(&stream);
        ald_dataset_free(d);
    }
    ald_buffer_clear(&bytes);
}

/* Where chunk `index` is stored. */
static size_t chunk_place(const ald_buffer *bytes, size_t index)
{
    ald_host host = ald_native_host(1);
    ald_source source = ald_source_memory(bytes->data, bytes->size);
    ald_streaming *s;
    ald_error err;
    size_t place = 0;
    if (CHECK_OK(ald_streaming_open(&source, NULL, &host, &s, &err), &err)) {
        const ald_info *info = ald_streaming_info(s);
        place =
            bytes->size - 4 - (size_t)info->payload_size + (size_t)info->chunks[index].byte_offset;
        ald_streaming_close(s);
    }
    return place;
}

/* Bytes that differ and a checksum that fits: only decoding or parsing can notice. */
static void check_same_error(ald_buffer *bytes, const char *expected)
{
    ald_error first = {0};
    ald__store_le32(bytes->data + bytes->size - 4, ald__crc32(0, bytes->data, bytes->size - 4));
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        for (int again = 0; again < 20; again++) {
            ald_dataset *d = NULL;
            ald_error err;
            CHECK(load_numbers(bytes, thread_counts[t], &d, &err) != ALD_OK);
            CHECK(d == NULL);
            if (first.status == ALD_OK)
                first = err;
            CHECK_INT(err.status, first.status);
            CHECK_UINT(err.offset, first.offset);
            CHECK_STR(err.msg, first.msg);
        }
    }
    CHECK(strstr(first.msg, expected) != NULL);
}

static void test_first_of_two_broken_frames(void)
{
    ald_buffer bytes;
    size_t early, late;
    save_numbers(ALD_COMPRESSION_ZSTD_L3, &bytes);
    early = chunk_place(&bytes, 20);
    late = chunk_place(&bytes, 33);
    bytes.data[early + 12] ^= 2; /* how many frames the directory has */
    bytes.data[late + 12] ^= 1;
    check_same_error(&bytes, "directory of column frames");
    ald_buffer_clear(&bytes);
}

/* ---- items themselves */

static ald_status odd_fails(void *ctx, uint32_t worker, uint64_t index, ald_error *err)
{
    uint8_t *done = ctx;
    if (worker >= 64)
        return ALD_E_INVALID_ARG;
    done[index] = 1;
    if (index >= 100 && index % 2 == 1)
        return ald__fail(err, ALD_E_INVALID_FORMAT, index, "number %d", (int)index);
    return ALD_OK;
}

static void test_items(void)
{
    static uint8_t done[1000];
    for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
        ald_host host = ald_native_host(thread_counts[t]);
        ald_error err;
        memset(done, 0, sizeof done);
        CHECK_OK(ald__items_run(&host, 100, odd_fails, done, &err), &err);
        CHECK_UINT(done[99], 1);
        CHECK_INT(ald__items_run(&host, 1000, odd_fails, done, &err), ALD_E_INVALID_FORMAT);
        CHECK_UINT(err.offset, 101);
        CHECK_STR(err.msg, "number 101");
        for (size_t i = 0; i < 101; i++)
            CHECK_UINT(done[i], 1);
        CHECK_OK(ald__items_run(&host, 0, odd_fails, done, &err), &err);
    }
}

int main(void)
{
    RUN(test_items);
    RUN(test_same_rows);
    RUN(test_dropped_rows);
    RUN(test_first_of_two_broken_frames);
    return check_done();
}
