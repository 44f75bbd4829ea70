/* SPDX-License-Identifier: MIT */
/* What zstd-l3 does for columns: every choice reads back, the chosen one costs a hundredth at most, data that change are
 * noticed, and a file is the same whatever the number of threads. */
#include "check_alloc.h"
#include "core/codec/codec.h"
#include "number_table.h"

#include "ald/native.h"

enum { VALUES = 65536, BYTES = VALUES * 8 };

static const ald_allocator *plain_alloc(void)
{
    static ald_host host;
    if (host.struct_size == 0)
        host = ald_native_host(1);
    return &host.alloc;
}

/* 40 random bits: level 3 looks for matches in vain. */
static uint64_t key_at(uint64_t i)
{
    uint64_t z = i * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    return (z ^ (z >> 27)) & 0xFFFFFFFFFFu;
}

/* Some thousands of values in a random order: worth looking for. */
static uint64_t price_at(uint64_t i)
{
    return key_at(key_at(i) % 4000);
}

static uint64_t constant_at(uint64_t i)
{
    return i / 10000 * 77;
}

static void fill_with(uint8_t *out, uint64_t (*value)(uint64_t))
{
    for (uint64_t i = 0; i < VALUES; i++) {
        uint64_t v = value(i);
        memcpy(out + i * 8, &v, 8);
    }
}

static ald__encoder *new_encoder(uint8_t id)
{
    static ald_buffer unused;
    ald_sink sink = ald_buffer_sink(&unused);
    ald__encoder *e;
    ald_error err;
    CHECK_OK(ald__encoder_new(id, plain_alloc(), 0, &sink, &e, &err), &err);
    return e;
}

static void check_frame(const ald_buffer *frame, const uint8_t *data)
{
    static uint8_t back[BYTES];
    ald_error err;
    CHECK_OK(ald__codec_decode(ALD_COMPRESSION_ZSTD_L3, plain_alloc(), frame->data, frame->size,
                               back, BYTES, 0, &err),
             &err);
    CHECK_MEM(back, data, BYTES);
}

static void test_every_choice_reads_back(void)
{
    static uint8_t data[BYTES];
    ald__encoder *e = new_encoder(ALD_COMPRESSION_ZSTD_L3);
    ald_buffer first = {NULL, 0, 0, plain_alloc()}, again = first;
    ald_error err;
    fill_with(data, price_at);
    for (unsigned choice = 0; choice < ALD__TUNINGS; choice++) {
        first.size = again.size = 0;
        CHECK_OK(ald__encoder_tune(e, choice, &err), &err);
        CHECK_OK(ald__encoder_frame(e, data, BYTES, &first, &err), &err);
        check_frame(&first, data);
        CHECK_OK(ald__encoder_frame(e, data, BYTES, &again, &err), &err);
        CHECK_UINT(again.size, first.size);
        CHECK_MEM(again.data, first.data, first.size);
    }
    CHECK_INT(ald__encoder_tune(e, ALD__TUNINGS, &err), ALD_E_INVALID_ARG);
    ald__encoder_free(e);
    e = new_encoder(ALD_COMPRESSION_LZ4);
    CHECK_OK(ald__encoder_tune(e, 0, &err), &err);
    CHECK_INT(ald__encoder_tune(e, 1, &err), ALD_E_INVALID_ARG);
    ald__encoder_free(e);
    ald_buffer_clear(&first);
    ald_buffer_clear(&again);
}

static ald__tuning choose_for(ald__encoder *e, uint64_t (*value)(uint64_t))
{
    static uint8_t data[BYTES];
    ald_buffer spare = {NULL, 0, 0, plain_alloc()};
    ald__tuning t;
    ald_error err;
    fill_with(data, value);
    CHECK_OK(ald__tuning_choose(e, data, BYTES, &spare, &t, &err), &err);
    ald_buffer_clear(&spare);
    return t;
}

static void test_choices(void)
{
    static uint8_t data[BYTES];
    ald__encoder *e = new_encoder(ALD_COMPRESSION_ZSTD_L3);
    ald_buffer level = {NULL, 0, 0, plain_alloc()}, tuned = level, spare = level;
    ald__tuning keys = choose_for(e, key_at), t;
    ald_error err;
    CHECK(keys.choice != 0);
    CHECK(keys.expected > 40000 && keys.expected < 60000); /* five bytes of eight, and some */
    CHECK_UINT(choose_for(e, constant_at).choice, 0);
    CHECK_OK(ald__tuning_choose(e, data, 1000, &spare, &t, &err), &err);
    CHECK_UINT(t.choice, 0);
    fill_with(data, key_at);
    CHECK_OK(ald__tuned_frame(e, NULL, data, BYTES, &spare, &level, &err), &err);
    CHECK_OK(ald__tuned_frame(e, &keys, data, BYTES, &spare, &tuned, &err), &err);
    CHECK(tuned.size <= level.size + level.size / 100);
    check_frame(&tuned, data);
    ald__encoder_free(e);
    ald_buffer_clear(&level);
    ald_buffer_clear(&tuned);
    ald_buffer_clear(&spare);
}

/* What was right for keys is not for prices: they get no larger than with level 3, after other bytes or none. */
static void test_data_that_change(void)
{
    static uint8_t data[BYTES];
    ald__encoder *e = new_encoder(ALD_COMPRESSION_ZSTD_L3);
    ald_buffer level = {NULL, 0, 0, plain_alloc()}, tuned = level, spare = level, blind = level;
    ald__tuning keys = choose_for(e, key_at);
    ald_error err;
    fill_with(data, price_at);
    CHECK_OK(ald__encoder_tune(e, keys.choice, &err), &err);
    CHECK_OK(ald__encoder_frame(e, data, BYTES, &blind, &err), &err);
    CHECK_OK(ald__tuned_frame(e, NULL, data, BYTES, &spare, &level, &err), &err);
    CHECK(blind.size > level.size);
    CHECK_OK(ald__tuned_frame(e, &keys, data, BYTES, &spare, &tuned, &err), &err);
    CHECK_UINT(tuned.size, level.size);
    CHECK_MEM(tuned.data, level.data, level.size);
    CHECK_OK(ald__tuned_frame(e, &keys, data, BYTES, &spare, &tuned, &err), &err);
    CHECK_UINT(tuned.size, 2 * level.size);
    check_frame(&level, data);
    ald__encoder_free(e);
    ald_buffer_clear(&level);
    ald_buffer_clear(&tuned);
    ald_buffer_clear(&spare);
    ald_buffer_clear(&blind);
}

static void test_no_memory_for_a_trial(void)
{
    static uint8_t data[BYTES];
    fill_with(data, key_at);
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald_buffer out = {NULL, 0, 0, &alloc}, spare = out;
        ald_sink sink = ald_buffer_sink(&out);
        ald__encoder *e = NULL;
        ald__tuning t = {0, 0};
        ald_error err;
        ald_status st = ald__encoder_new(ALD_COMPRESSION_ZSTD_L3, &alloc, 0, &sink, &e, &err);
        if (st == ALD_OK)
            st = ald__tuning_choose(e, data, BYTES, &spare, &t, &err);
        t.expected = 1;
        if (st == ALD_OK)
            st = ald__tuned_frame(e, &t, data, BYTES, &spare, &out, &err);
        ald__encoder_free(e);
        ald_buffer_clear(&out);
        ald_buffer_clear(&spare);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        CHECK_INT(st, ALD_E_NOMEM);
    }
}

/* ---- files: three groups of chunks, the first of which begins with the second chunk */

enum { CHUNK_ROWS = 9000, ROWS = CHUNK_ROWS * 140 + 17, COLUMNS = 2 };

static void save_numbers(uint32_t threads, uint8_t effort, ald_buffer *out)
{
    ald_host host = ald_native_host(threads);
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_sink sink = ald_buffer_sink(out);
    ald_error err;
    o.layout = ALD_LAYOUT_STREAMING;
    o.chunk_rows = CHUNK_ROWS;
    o.effort = effort;
    number_open(ROWS, COLUMNS, 70000, &stream);
    CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err);
}

static void check_numbers(const ald_buffer *bytes)
{
    ald_host host = ald_native_host(1);
    ald_source source = ald_source_memory(bytes->data, bytes->size);
    ald_streaming *s;
    ald_error err;
    static uint64_t rows[CHUNK_ROWS];
    if (!CHECK_OK(ald_streaming_open(&source, NULL, &host, &s, &err), &err))
        return;
    for (uint64_t k = 0; k < ald_streaming_chunk_count(s); k++) {
        struct ArrowArray a;
        CHECK_OK(ald_streaming_chunk(s, k, NULL, &a, &err), &err);
        for (uint64_t i = 0; i < CHUNK_ROWS; i++)
            rows[i] = k * CHUNK_ROWS + i;
        CHECK_INT(number_wrong(&a, rows, NULL), 0);
        a.release(&a);
    }
    ald_streaming_close(s);
}

static void test_threads_make_the_same_file(void)
{
    static const uint32_t threads[] = {2, 3, 64};
    ald_buffer one = {NULL, 0, 0, plain_alloc()}, other = one;
    save_numbers(1, ALD_EFFORT_DEFAULT, &one);
    check_numbers(&one);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        other.size = 0;
        save_numbers(threads[i], ALD_EFFORT_DEFAULT, &other);
        CHECK_UINT(other.size, one.size);
        CHECK(other.size == one.size && memcmp(other.data, one.data, one.size) == 0);
    }
    ald_buffer_clear(&one);
    ald_buffer_clear(&other);
}

/* With the best effort frames are of level 3 as it is: other ones. */
static void test_best_effort_is_level_3(void)
{
    ald_buffer tuned = {NULL, 0, 0, plain_alloc()}, best = tuned;
    save_numbers(1, ALD_EFFORT_DEFAULT, &tuned);
    save_numbers(1, ALD_EFFORT_BEST, &best);
    check_numbers(&best);
    CHECK(best.size != tuned.size);
    ald_buffer_clear(&tuned);
    ald_buffer_clear(&best);
}

int main(void)
{
    RUN(test_every_choice_reads_back);
    RUN(test_choices);
    RUN(test_data_that_change);
    RUN(test_no_memory_for_a_trial);
    RUN(test_threads_make_the_same_file);
    RUN(test_best_effort_is_level_3);
    return check_done();
}
