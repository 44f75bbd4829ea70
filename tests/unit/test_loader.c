/* SPDX-License-Identifier: MIT */
/* The shuffled order: numbers computed by another program from the formula, permutations, shards, resuming, and batches. */
#include "ald/ald.h"
#include "check_alloc.h"

static check_heap heap;
static ald_host host;

static void begin(void)
{
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, -1);
}

static ald_loader *make(ald_streaming *file, const ald_loader_options *o)
{
    ald_loader *l = NULL;
    ald_error err = {0};
    if (!CHECK_OK(ald_loader_new(file, o, &host, &l, &err), &err))
        exit(1);
    return l;
}

static ald_loader_options options(uint64_t rows, uint64_t block_rows, uint32_t window,
                                  uint64_t seed)
{
    ald_loader_options o = ALD_LOADER_OPTIONS_INIT;
    o.row_count = rows;
    o.block_rows = block_rows;
    o.window_blocks = window;
    o.seed = seed;
    return o;
}

static uint64_t row_of(const ald_loader *l, uint64_t epoch, uint64_t position)
{
    uint64_t row = UINT64_MAX;
    ald_error err = {0};
    CHECK_OK(ald_loader_index(l, epoch, position, &row, &err), &err);
    return row;
}

static void check_order(const ald_loader_options *o, uint64_t epoch, const uint64_t *want)
{
    ald_loader *l = make(NULL, o);
    CHECK_UINT(ald_loader_count(l), o->row_count);
    for (uint64_t i = 0; i < o->row_count; i++)
        CHECK_UINT(row_of(l, epoch, i), want[i]);
    ald_loader_free(l);
}

/* From a Python program that follows the text of ald/loader.h and keeps whole lists. */
static void test_known_orders(void)
{
    static const uint64_t a[23] = {5, 4, 15, 13, 6,  7,  14, 12, 11, 8,  10, 9,
                                   2, 0, 1,  3,  18, 19, 22, 16, 17, 21, 20};
    static const uint64_t b[23] = {9, 10, 21, 20, 8,  11, 22, 7,  3,  5,  6, 4,
                                   0, 2,  1,  19, 15, 12, 17, 18, 16, 13, 14};
    static const uint64_t c[23] = {11, 8, 10, 21, 9,  22, 20, 1,  6,  0,  7, 2,
                                   3,  4, 5,  15, 19, 17, 12, 18, 16, 13, 14};
    static const uint64_t d[10] = {7, 9, 6, 0, 4, 3, 5, 2, 8, 1};
    ald_loader_options o = options(23, 4, 2, 0);
    begin();
    check_order(&o, 0, a);
    o.seed = 1;
    check_order(&o, 0, b);
    check_order(&o, 1, c);
    o = options(10, 100, 4, 12345678901234567890u);
    check_order(&o, 7, d);
    CHECK_HEAP_EMPTY(&heap);
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The whole order of 100,000 rows as one number, and five rows of a table of 10^12. */
static void test_known_large_orders(void)
{
    static const uint64_t positions[5] = {0, 1, 262143, 262144, 1000000};
    static const uint64_t rows[5] = {858728052743, 865233393483, 858728041699, 767744944322,
                                     835211612889};
    ald_loader_options o = options(100000, 1000, 4, 42);
    uint64_t h = 0;
    ald_loader *l;
    begin();
    l = make(NULL, &o);
    for (uint64_t i = 0; i < 100000; i++)
        h = mix((h ^ row_of(l, 3, i)) + 0x9E3779B97F4A7C15u);
    CHECK_UINT(h, 0x9b3d0937a92d774au);
    ald_loader_free(l);
    o = options(UINT64_C(1000000012345), 65536, 4, 99);
    l = make(NULL, &o);
    for (size_t i = 0; i < 5; i++)
        CHECK_UINT(row_of(l, 5, positions[i]), rows[i]);
    ald_loader_free(l);
    CHECK_HEAP_EMPTY(&heap);
}

/* Every row once, whatever the sizes; in each window the rows of its blocks only. */
static void check_permutation(const ald_loader_options *o, uint64_t epoch)
{
    ald_loader *l = make(NULL, o);
    uint8_t *seen = (uint8_t *)calloc((size_t)o->row_count + 1, 1);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < o->row_count; i++) {
        uint64_t row = row_of(l, epoch, i);
        wrong += row >= o->row_count || seen[row]++ > 0;
    }
    CHECK_UINT(wrong, 0);
    free(seen);
    ald_loader_free(l);
}

static void test_permutations(void)
{
    begin();
    for (uint64_t rows = 0; rows <= 70; rows++) {
        for (uint64_t block = 0; block <= 12; block++) {
            ald_loader_options o = options(rows, block, (uint32_t)(rows * 7 + block) % 5, rows);
            check_permutation(&o, block);
        }
    }
    for (uint64_t rows = 1000; rows < 40000; rows = rows * 2 + 1) {
        ald_loader_options o = options(rows, rows % 97 + 1, (uint32_t)(rows % 9), rows);
        check_permutation(&o, rows);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_seeds_and_epochs_differ(void)
{
    enum { ROWS = 1000 };
    ald_loader_options o = options(ROWS, 100, 3, 1), p = options(ROWS, 100, 3, 2);
    ald_loader *a, *b;
    int same_seed = 0, same_epoch = 0, in_place = 0;
    begin();
    a = make(NULL, &o);
    b = make(NULL, &p);
    for (uint64_t i = 0; i < ROWS; i++) {
        same_seed += row_of(a, 0, i) == row_of(b, 0, i);
        same_epoch += row_of(a, 0, i) == row_of(a, 1, i);
        in_place += row_of(a, 0, i) == i;
    }
    CHECK(same_seed < 10 && same_epoch < 10 && in_place < 10);
    ald_loader_free(a);
    ald_loader_free(b);
    CHECK_HEAP_EMPTY(&heap);
}

/* Over many seeds each row comes to each place about as often as any other: within 5 standard deviations. (A short last
 * block would have less company in its window, so there is none.) */
static void test_no_row_is_preferred(void)
{
    enum { SEEDS = 24000, ROWS = 12 };
    int counts[ROWS][ROWS] = {{0}};
    begin();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ald_loader_options o = options(ROWS, 3, 2, seed);
        ald_loader *l = make(NULL, &o);
        for (uint64_t i = 0; i < ROWS; i++)
            counts[i][row_of(l, 0, i) % ROWS]++;
        ald_loader_free(l);
    }
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < ROWS; k++)
            CHECK(counts[i][k] > 2000 - 215 && counts[i][k] < 2000 + 215);
    }
}

static void test_sequential(void)
{
    ald_loader_options o = options(100, 7, 2, 5);
    ald_loader *l;
    begin();
    o.sequential = 1;
    l = make(NULL, &o);
    for (uint64_t i = 0; i < 100; i++)
        CHECK_UINT(row_of(l, i, i), i);
    ald_loader_free(l);
}

/* Shards one behind the other are the whole order. */
static void test_shards(void)
{
    begin();
    for (uint32_t shards = 1; shards <= 13; shards++) {
        ald_loader_options o = options(101, 9, 2, shards);
        ald_loader *whole = make(NULL, &o);
        uint64_t at = 0;
        o.shard_count = shards;
        for (o.shard = 0; o.shard < shards; o.shard++) {
            ald_loader *l = make(NULL, &o);
            uint64_t count = ald_loader_count(l);
            CHECK(count == 101 / shards || count == 101 / shards + 1);
            for (uint64_t i = 0; i < count; i++)
                CHECK_UINT(row_of(l, 2, i), row_of(whole, 2, at++));
            ald_loader_free(l);
        }
        CHECK_UINT(at, 101);
        ald_loader_free(whole);
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_wrong_arguments(void)
{
    ald_loader_options o = options(10, 3, 2, 0);
    struct ArrowArray out;
    ald_loader *l;
    ald_error err = {0};
    uint64_t row;
    begin();
    o.shard = 1;
    CHECK_INT(ald_loader_new(NULL, &o, &host, &l, &err), ALD_E_INVALID_ARG);
    CHECK(l == NULL);
    o.shard = 0;
    o.struct_size = 4;
    CHECK_INT(ald_loader_new(NULL, &o, &host, &l, &err), ALD_E_INVALID_ARG);
    o = options(UINT64_MAX, 3, 2, 0);
    CHECK_INT(ald_loader_new(NULL, &o, &host, &l, &err), ALD_E_LIMIT_EXCEEDED);
    o = options(10, 3, 2, 0);
    l = make(NULL, &o);
    CHECK_INT(ald_loader_index(l, 0, 10, &row, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_loader_seek(l, 0, 11, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_loader_next(l, 1, &out, &err), ALD_E_INVALID_ARG);
    CHECK(out.release == NULL);
    ald_loader_free(l);
    CHECK_HEAP_EMPTY(&heap);
}

/* ---- batches of a file */

enum { FILE_ROWS = 97 };

/* One column of row numbers, in chunks of 10. */

static void nothing_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void nothing_array(struct ArrowArray *a)
{
    a->release = NULL;
}

static void nothing_stream(struct ArrowArrayStream *s)
{
    s->release = NULL;
}

static int numbers_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    static struct ArrowSchema fields[2], *children[2] = {&fields[0], &fields[1]};
    (void)stream;
    for (int i = 0; i < 2; i++) {
        memset(&fields[i], 0, sizeof fields[i]);
        fields[i].format = "l";
        fields[i].name = i == 0 ? "row" : "square";
        fields[i].release = nothing_schema;
    }
    memset(out, 0, sizeof *out);
    out->format = "+s";
    out->name = "";
    out->n_children = 2;
    out->children = children;
    out->release = nothing_schema;
    return 0;
}

static int numbers_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static int64_t values[2][FILE_ROWS];
    static const void *buffers[2][2] = {{NULL, values[0]}, {NULL, values[1]}}, *none[1];
    static struct ArrowArray columns[2], *children[2] = {&columns[0], &columns[1]};
    int *done = (int *)stream->private_data;
    memset(out, 0, sizeof *out);
    if ((*done)++)
        return 0;
    for (int64_t i = 0; i < FILE_ROWS; i++) {
        values[0][i] = i;
        values[1][i] = i * i;
    }
    for (int i = 0; i < 2; i++) {
        memset(&columns[i], 0, sizeof columns[i]);
        columns[i].length = FILE_ROWS;
        columns[i].n_buffers = 2;
        columns[i].buffers = buffers[i];
        columns[i].release = nothing_array;
    }
    out->length = FILE_ROWS;
    out->n_buffers = 1;
    out->buffers = none;
    out->n_children = 2;
    out->children = children;
    out->release = nothing_array;
    return 0;
}

static ald_streaming *open_numbers(ald_buffer *bytes)
{
    int done = 0;
    struct ArrowArrayStream stream = {numbers_schema, numbers_next, NULL, nothing_stream, &done};
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink;
    ald_source source;
    ald_streaming *s = NULL;
    ald_error err = {0};
    bytes->alloc = &host.alloc;
    sink = ald_buffer_sink(bytes);
    o.layout = ALD_LAYOUT_STREAMING;
    o.chunk_rows = 10;
    if (!CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err))
        exit(1);
    source = ald_source_memory(bytes->data, bytes->size);
    if (!CHECK_OK(ald_streaming_open(&source, NULL, &host, &s, &err), &err))
        exit(1);
    return s;
}

/* Rows from the loader's place on, in batches, appended to `rows`. */
static size_t drain(ald_loader *l, size_t batch, size_t stop, int64_t *rows, size_t at)
{
    while (at < stop) {
        struct ArrowArray out;
        ald_error err = {0};
        size_t wanted = stop - at < batch ? stop - at : batch;
        if (!CHECK_OK(ald_loader_next(l, wanted, &out, &err), &err) || out.release == NULL)
            break;
        for (int64_t i = 0; i < out.length; i++)
            rows[at++] = ((const int64_t *)out.children[0]->buffers[1])[i];
        out.release(&out);
        CHECK_UINT(ald_loader_position(l), at);
    }
    return at;
}

static void test_batches_and_resuming(void)
{
    ald_loader_options o = ALD_LOADER_OPTIONS_INIT;
    ald_buffer bytes = {NULL, 0, 0, NULL};
    int64_t whole[FILE_ROWS], rows[FILE_ROWS];
    struct ArrowArray end;
    ald_streaming *s;
    ald_loader *l;
    ald_error err = {0};
    begin();
    s = open_numbers(&bytes);
    o.seed = 11;
    l = make(s, &o);
    CHECK_UINT(ald_loader_count(l), FILE_ROWS);
    CHECK_OK(ald_loader_seek(l, 4, 0, &err), &err);
    CHECK_UINT(drain(l, 8, FILE_ROWS, whole, 0), FILE_ROWS);
    CHECK_OK(ald_loader_next(l, 8, &end, &err), &err);
    CHECK(end.release == NULL); /* the end of the epoch */
    for (uint64_t i = 0; i < FILE_ROWS; i++)
        CHECK_UINT(whole[i], row_of(l, 4, i));
    for (size_t cut = 0; cut <= FILE_ROWS; cut++) {
        ald_loader *again = make(s, &o);
        CHECK_OK(ald_loader_seek(l, 4, 0, &err), &err);
        CHECK_UINT(drain(l, 7, cut, rows, 0), cut);
        CHECK_OK(ald_loader_seek(again, ald_loader_epoch(l), ald_loader_position(l), &err), &err);
        CHECK_UINT(drain(again, 5, FILE_ROWS, rows, cut), FILE_ROWS);
        CHECK_MEM(rows, whole, sizeof rows);
        ald_loader_free(again);
    }
    ald_loader_free(l);
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
    CHECK_HEAP_EMPTY(&heap);
}

/* Three workers that take every third batch of a shard give together what one gives. */
static void test_workers(void)
{
    enum { BATCH = 6, WORKERS = 3 };
    ald_loader_options o = ALD_LOADER_OPTIONS_INIT;
    ald_buffer bytes = {NULL, 0, 0, NULL};
    static const uint8_t second[2] = {0, 1};
    ald_streaming *s;
    ald_loader *l;
    begin();
    s = open_numbers(&bytes);
    o.columns = second;
    o.shard = 1;
    o.shard_count = 2;
    l = make(s, &o);
    CHECK_UINT(ald_loader_count(l), FILE_ROWS / 2);
    for (uint64_t worker = 0; worker < WORKERS; worker++) {
        for (uint64_t at = worker * BATCH; at < FILE_ROWS / 2; at += WORKERS * BATCH) {
            struct ArrowArray out;
            ald_error err = {0};
            if (!CHECK_OK(ald_loader_read(l, 9, at, BATCH, &out, &err), &err))
                continue;
            CHECK_INT(out.n_children, 1);
            CHECK_INT(out.length, FILE_ROWS / 2 - at < BATCH ? FILE_ROWS / 2 - at : BATCH);
            for (int64_t i = 0; i < out.length; i++) {
                int64_t row = (int64_t)row_of(l, 9, at + (uint64_t)i);
                CHECK_INT(((const int64_t *)out.children[0]->buffers[1])[i], row * row);
            }
            out.release(&out);
        }
    }
    ald_loader_free(l);
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_known_orders);
    RUN(test_known_large_orders);
    RUN(test_permutations);
    RUN(test_seeds_and_epochs_differ);
    RUN(test_no_row_is_preferred);
    RUN(test_sequential);
    RUN(test_shards);
    RUN(test_wrong_arguments);
    RUN(test_batches_and_resuming);
    RUN(test_workers);
    return check_done();
}
