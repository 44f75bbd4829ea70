/* SPDX-License-Identifier: MIT */
/* What zstd-l3 does for columns: every choice reads back, the chosen one costs a hundredth at most, data that change are
 * noticed, and a file is the same whatever the number of threads. */
#include "check_alloc.h"
#include "core/codec/codec.h"
#include "core/codec/frame.h"
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

static void check_no_memory(ald_status (*choose)(ald__encoder *, const uint8_t *, size_t,
                                                 ald_buffer *, ald__tuning *, ald_error *))
{
    static uint8_t data[BYTES];
    fill_with(data, key_at);
    for (int64_t n = 0;; n++) {
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, n);
        ald_buffer out = {NULL, 0, 0, &alloc}, spare = out;
        ald_sink sink = ald_buffer_sink(&out);
        ald__encoder *e = NULL;
        ald__tuning t = {0, 0, 0};
        ald_error err;
        ald_status st = ald__encoder_new(ALD_COMPRESSION_ZSTD_L3, &alloc, 0, &sink, &e, &err);
        if (st == ALD_OK)
            st = choose(e, data, BYTES, &spare, &t, &err);
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

static void test_no_memory_for_a_trial(void)
{
    check_no_memory(ald__tuning_choose);
    check_no_memory(ald__tuning_choose_reading);
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

/* Three efforts, three files of the same rows; and the best one, too, does not depend on threads. */
static void test_efforts(void)
{
    ald_buffer tuned = {NULL, 0, 0, plain_alloc()}, fast = tuned, best = tuned, other = tuned;
    save_numbers(1, ALD_EFFORT_DEFAULT, &tuned);
    save_numbers(1, ALD_EFFORT_FAST, &fast);
    save_numbers(1, ALD_EFFORT_BEST, &best);
    check_numbers(&fast);
    check_numbers(&best);
    CHECK(fast.size != tuned.size);
    CHECK(best.size != tuned.size);
    save_numbers(3, ALD_EFFORT_BEST, &other);
    CHECK(other.size == best.size && memcmp(other.data, best.data, best.size) == 0);
    ald_buffer_clear(&tuned);
    ald_buffer_clear(&fast);
    ald_buffer_clear(&best);
    ald_buffer_clear(&other);
}

static void append_numbers(const ald_buffer *base, uint32_t threads, uint8_t effort,
                           ald_buffer *out)
{
    ald_host host = ald_native_host(threads);
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_source source = ald_source_memory(base->data, base->size);
    ald_sink sink = ald_buffer_sink(out);
    struct ArrowArrayStream stream;
    ald_streaming *s;
    ald_error err;
    o.chunk_rows = CHUNK_ROWS;
    o.effort = effort;
    number_open(CHUNK_ROWS * 3, COLUMNS, 70000, &stream);
    CHECK_OK(ald_streaming_open(&source, NULL, &host, &s, &err), &err);
    CHECK_OK(ald_append(s, &stream, &sink, &o, &host, &err), &err);
    ald_streaming_close(s);
}

/* Chunks that are added are tried as those of a new file are, wherever they stand. */
static void test_efforts_of_an_append(void)
{
    ald_buffer base = {NULL, 0, 0, plain_alloc()}, tuned = base, fast = base, other = base;
    save_numbers(1, ALD_EFFORT_FAST, &base);
    append_numbers(&base, 1, ALD_EFFORT_FAST, &fast);
    append_numbers(&base, 1, ALD_EFFORT_DEFAULT, &tuned);
    append_numbers(&base, 3, ALD_EFFORT_DEFAULT, &other);
    CHECK(fast.size != tuned.size);
    CHECK(other.size == tuned.size && memcmp(other.data, tuned.data, tuned.size) == 0);
    ald_buffer_clear(&base);
    ald_buffer_clear(&tuned);
    ald_buffer_clear(&fast);
    ald_buffer_clear(&other);
}

static void test_best_effort_needs_chunks(void)
{
    ald_host host = ald_native_host(1);
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_buffer out = {NULL, 0, 0, plain_alloc()};
    ald_sink sink = ald_buffer_sink(&out);
    struct ArrowArrayStream stream;
    ald_source source;
    ald_streaming *s;
    ald_error err;
    o.effort = ALD_EFFORT_BEST;
    o.layout = ALD_LAYOUT_WHOLE;
    number_open(10, COLUMNS, 10, &stream);
    CHECK_INT(ald_save(&stream, &sink, &o, &host, &err), ALD_E_INVALID_ARG);
    o.layout = ALD_LAYOUT_AUTO;
    out.size = 0;
    number_open(10, COLUMNS, 10, &stream);
    CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err);
    source = ald_source_memory(out.data, out.size);
    CHECK_OK(ald_streaming_open(&source, NULL, &host, &s, &err), &err);
    CHECK_UINT(ald_streaming_chunk_count(s), 1);
    ald_streaming_close(s);
    ald_buffer_clear(&out);
}

/* ---- for readers */

/* One of four values, one of them most of the time: what dictionaries are for. */
static uint64_t class_at(uint64_t i)
{
    uint64_t z = key_at(i);
    return z % 10 < 8 ? 0x3FE0000000000000u : z / 10 % 4 * 0x3FE0000000000000u;
}

/* Bytes of 52 values at random: Huffman codes take a third off, which readers would rather do without. */
static uint64_t letters_at(uint64_t i)
{
    uint64_t v = 0;
    for (unsigned k = 0; k < 8; k++)
        v = v << 8 | key_at(8 * i + k) % 52;
    return v;
}

static uint64_t zone_at(uint64_t i)
{
    uint64_t z = key_at(i);
    return 1 + z % 265 * (z / 265 % 265) / 265;
}

static uint64_t time_at(uint64_t i)
{
    return 1672531200000000u + i * 900000 + key_at(i) % 600 * 1000000;
}

static uint64_t cost_of(ald__encoder *e, unsigned choice, uint64_t (*value)(uint64_t), size_t *size)
{
    static uint8_t data[BYTES];
    ald_buffer out = {NULL, 0, 0, plain_alloc()};
    uint64_t cost;
    ald_error err;
    fill_with(data, value);
    CHECK_OK(ald__encoder_tune(e, choice, &err), &err);
    CHECK_OK(ald__encoder_frame(e, data, BYTES, &out, &err), &err);
    cost = ald__zstd_cost(out.data, out.size);
    *size = out.size;
    ald_buffer_clear(&out);
    return cost;
}

static ald__tuning choose_reading(ald__encoder *e, uint64_t (*value)(uint64_t), size_t size)
{
    static uint8_t data[BYTES];
    ald_buffer spare = {NULL, 0, 0, plain_alloc()};
    ald__tuning t;
    ald_error err;
    fill_with(data, value);
    CHECK_OK(ald__tuning_choose_reading(e, data, size, &spare, &t, &err), &err);
    ald_buffer_clear(&spare);
    return t;
}

/* Of all choices that do not store too much none costs a reader a twentieth less than the one that is chosen. */
static void test_choices_for_readers(void)
{
    uint64_t (*const values[])(uint64_t) = {key_at,   price_at, constant_at,
                                            class_at, time_at,  zone_at};
    ald__encoder *e = new_encoder(ALD_COMPRESSION_ZSTD_L3);
    unsigned used = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        ald__tuning t = choose_reading(e, values[i], BYTES);
        size_t level3, size;
        uint64_t cost = cost_of(e, 0, values[i], &level3);
        uint64_t chosen = cost_of(e, t.choice, values[i], &size);
        CHECK_UINT(t.expected, size * 65536 / BYTES);
        CHECK(chosen <= cost && size <= level3 + BYTES / 20);
        for (unsigned choice = 8; choice < ALD__TUNINGS; choice++) {
            cost = cost_of(e, choice, values[i], &size);
            CHECK(chosen <= cost * 20 / 19 || size > level3 + BYTES / 20);
        }
        used |= 1u << t.choice;
    }
    CHECK_UINT(used & 0x700, 0x700); /* each of the three is the best for one of them */
    CHECK_UINT(choose_reading(e, class_at, 1000).choice, 0);
    ald__encoder_free(e);
}

/* What was chosen for other values is chosen again: the frame is that of the right choice. */
static void test_readers_data_that_change(void)
{
    static uint8_t data[BYTES];
    ald__encoder *e = new_encoder(ALD_COMPRESSION_ZSTD_L3);
    ald_buffer right = {NULL, 0, 0, plain_alloc()}, tuned = right, spare = right;
    ald__tuning classes = choose_reading(e, class_at, BYTES),
                times = choose_reading(e, time_at, BYTES),
                level = choose_reading(e, constant_at, BYTES), untried = {0, 1, 0};
    ald_error err;
    CHECK(classes.choice != times.choice);
    CHECK_UINT(level.choice, 0);
    fill_with(data, time_at);
    CHECK_OK(ald__tuned_frame(e, &times, data, BYTES, &spare, &right, &err), &err);
    CHECK_OK(ald__tuned_frame(e, &classes, data, BYTES, &spare, &tuned, &err), &err);
    CHECK_UINT(tuned.size, right.size);
    CHECK_MEM(tuned.data, right.data, right.size);
    check_frame(&tuned, data);
    tuned.size = 0;
    CHECK_OK(ald__tuned_frame(e, &level, data, BYTES, &spare, &tuned, &err), &err);
    CHECK_UINT(tuned.size, right.size);
    CHECK_MEM(tuned.data, right.data, right.size);
    CHECK_OK(ald__tuned_frame(e, &untried, data, BYTES, &spare, &tuned, &err), &err);
    CHECK_UINT(tuned.size, 2 * right.size);
    ald__encoder_free(e);
    ald_buffer_clear(&right);
    ald_buffer_clear(&tuned);
    ald_buffer_clear(&spare);
}

static void test_readers_do_not_pay_any_price(void)
{
    ald__encoder *e = new_encoder(ALD_COMPRESSION_ZSTD_L3);
    ald__tuning t = choose_reading(e, letters_at, BYTES);
    size_t level3, raw;
    uint64_t cost = cost_of(e, 0, letters_at, &level3);
    CHECK(cost_of(e, 8, letters_at, &raw) < cost - cost / 20 && raw > level3 + BYTES / 20);
    CHECK(t.expected * (uint64_t)BYTES / 65536 <= level3 + BYTES / 20);
    ald__encoder_free(e);
}

/* Frames made by hand (RFC 8878): what is counted, and that nothing is read behind the end of one that is cut. */
static void test_costs(void)
{
    static const uint8_t raw[] = {0x28, 0xB5, 0x2F, 0xFD, 0x20, 3, 0x19, 0, 0, 1, 2, 3};
    /* 300 raw literals would follow; two sequences */
    uint8_t block[4 + 2 + 3 + 2 + 300 + 1 + 4] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58};
    size_t at = 6, body = 2 + 300 + 1 + 4;
    block[at] = (uint8_t)(body << 3 | 2 << 1 | 1);
    block[at + 1] = (uint8_t)(body >> 5);
    block[at + 3] = (uint8_t)(300u << 4 | 1 << 2);
    block[at + 4] = 300 >> 4;
    block[at + 3 + 2 + 300] = 2;
    CHECK_UINT(ald__zstd_cost(raw, sizeof raw), 20 * sizeof raw);
    CHECK_UINT(ald__zstd_cost(block, sizeof block), 20 * sizeof block + 2 * 60);
    block[at + 3 + 2 + 300] = 129; /* 0x0107 of them: two bytes */
    block[at + 3 + 2 + 301] = 7;
    CHECK_UINT(ald__zstd_cost(block, sizeof block), 20 * sizeof block + 0x107 * 60);
    for (size_t n = 0; n < sizeof block; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut + 1, block, n);
        CHECK_UINT(ald__zstd_cost(cut + 1, n), 20 * n);
        free(cut);
    }
}

int main(void)
{
    RUN(test_every_choice_reads_back);
    RUN(test_choices);
    RUN(test_data_that_change);
    RUN(test_no_memory_for_a_trial);
    RUN(test_threads_make_the_same_file);
    RUN(test_efforts);
    RUN(test_efforts_of_an_append);
    RUN(test_best_effort_needs_chunks);
    RUN(test_choices_for_readers);
    RUN(test_readers_data_that_change);
    RUN(test_readers_do_not_pay_any_price);
    RUN(test_costs);
    return check_done();
}
