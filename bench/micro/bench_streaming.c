/* SPDX-License-Identifier: MIT */
/* Rows, columns and vectors out of files: how long until the first, and how many a second.
 *
 *     bench_streaming FOLDER [megabytes] [repeats] [keep]
 *
 * Makes a numeric table of 17 columns and one of 50, writes them into FOLDER, and prints one JSON object: medians in seconds,
 * wall time, page cache warm. The table is in aligned.ald, table.arrow (for peers), stream.ald (zstd-l3), stream-best.ald
 * (zstd-l3 with the best effort) and stream-packed.ald, the wide one in wide.arrow, wide.ald and so on; small….ald have chunks
 * of 4,096 rows. With "keep" files that are there are not written again.
 * The one column and all 50 are read with one thread, each of the 50 alone with two; their sums are told for each kind. Rows
 * taken are compared with the table as loaded at once; they are taken from chunks with two threads. What libzstd alone takes
 * for the same frames, into memory that stays warm, is printed beside: no reader of these files is faster. */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "tables.h"

#define ROWS_TAKEN 1000
#define SMALL_CHUNK 4096
#define REPEATS_MAX 99
#define COLUMN 23 /* m2 */
#define ALL_COLUMNS 50

static const bench_column wide_columns[] = {
#define TEN(n)                                                                                     \
    {"i" n, BENCH_INT}, {"l" n, BENCH_LOCATION}, {"t" n, BENCH_TIME}, {"m" n, BENCH_MONEY},        \
        {"n" n, BENCH_MONEY}, {"c" n, BENCH_CONSTANT}, {"r" n, BENCH_RANDOM}, {"j" n, BENCH_INT},  \
        {"k" n, BENCH_LOCATION},                                                                   \
    {                                                                                              \
        "u" n, BENCH_TIME                                                                          \
    }
    TEN("0"), TEN("1"), TEN("2"), TEN("3"), TEN("4"),
#undef TEN
};
static const bench_table wide_table = {"wide", wide_columns, 50};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

typedef struct bench {
    ald_host host;
    const char *folder;
    uint64_t rows;
    int repeats, keep;
    uint64_t indices[ROWS_TAKEN];
} bench;

/* How the tables in chunks are written; `of` is put behind the names of what is measured. */
typedef struct form {
    const char *of, *stream, *small, *wide;
    uint8_t compression, effort;
} form;
static const form forms[] = {
    {"", "stream.ald", "small.ald", "wide.ald", ALD_COMPRESSION_ZSTD_L3, ALD_EFFORT_DEFAULT},
    {"_best", "stream-best.ald", "small-best.ald", "wide-best.ald", ALD_COMPRESSION_ZSTD_L3,
     ALD_EFFORT_BEST},
    {"_packed", "stream-packed.ald", "small-packed.ald", "wide-packed.ald", ALD_COMPRESSION_PACKED,
     ALD_EFFORT_DEFAULT},
};
#define FORMS (sizeof forms / sizeof *forms)

static const char *path_of(const bench *b, const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    return path;
}

static int is_kept(const bench *b, const char *name)
{
    return b->keep && access(path_of(b, name), F_OK) == 0;
}

static void write_table(bench *b, const bench_table *t, const char *name,
                        const ald_save_options *options)
{
    ald_host two = ald_native_host(2);
    struct ArrowArrayStream stream;
    ald_file_sink *file = NULL;
    ald_error err;
    double start = now();
    if (is_kept(b, name))
        return;
    bench_make(t, (int64_t)b->rows, &b->host, &stream);
    if (ald_file_create(path_of(b, name), ALD_FILE_REPLACE, &file, &err) != ALD_OK ||
        ald_save(&stream, ald_file_sink_get(file), options, &two, &err) != ALD_OK ||
        ald_file_commit(file, &err) != ALD_OK)
        bench_die(&err);
    fprintf(stderr, "%s written in %.1f s\n", name, now() - start);
}

static void write_form(bench *b, const form *f, const bench_table *table)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    o.layout = ALD_LAYOUT_STREAMING;
    o.compression = f->compression;
    o.effort = f->effort;
    write_table(b, table, f->stream, &o);
    write_table(b, &wide_table, f->wide, &o);
    o.chunk_rows = SMALL_CHUNK;
    write_table(b, table, f->small, &o);
}

static void write_aligned(bench *b, const bench_table *table)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    o.layout = ALD_LAYOUT_STREAMING;
    o.aligned = 1;
    o.compression = ALD_COMPRESSION_NONE;
    write_table(b, table, "aligned.ald", &o);
}

static void write_arrow(bench *b, const bench_table *t, const char *name)
{
    struct ArrowArrayStream stream;
    ald_ipc_options o = ALD_IPC_OPTIONS_INIT;
    ald_file_sink *file = NULL;
    ald_error err;
    if (is_kept(b, name))
        return;
    bench_make(t, (int64_t)b->rows, &b->host, &stream);
    o.kind = ALD_IPC_FILE;
    if (ald_file_create(path_of(b, name), ALD_FILE_REPLACE, &file, &err) != ALD_OK ||
        ald_ipc_write(&stream, ald_file_sink_get(file), &o, &b->host, &err) != ALD_OK ||
        ald_file_commit(file, &err) != ALD_OK)
        bench_die(&err);
}

static ald_source open_source(const bench *b, const char *name, uint32_t flags)
{
    ald_source source;
    ald_error err;
    if (ald_file_open(path_of(b, name), flags, &source, &err) != ALD_OK)
        bench_die(&err);
    return source;
}

/* File to first vector. */
static double time_first_vector(bench *b)
{
    double t = now();
    ald_source source = open_source(b, "aligned.ald", ALD_FILE_MAP);
    ald_mapped *m = NULL;
    ald_vector v;
    ald_error err;
    if (ald_mapped_open(&source, NULL, &b->host, &m, &err) != ALD_OK ||
        ald_mapped_vector(m, 0, 4, &v, &err) != ALD_OK)
        bench_die(&err);
    volatile double first = *(const double *)v.data;
    (void)first;
    t = now() - t;
    ald_mapped_close(m);
    ald_source_close(&source);
    return t;
}

static double time_open(bench *b)
{
    double t = now();
    ald_source source = open_source(b, "stream.ald", 0);
    ald_streaming *s = NULL;
    ald_error err;
    if (ald_streaming_open(&source, NULL, &b->host, &s, &err) != ALD_OK)
        bench_die(&err);
    t = now() - t;
    ald_streaming_close(s);
    ald_source_close(&source);
    return t;
}

/* One row, all 17 columns, through vectors: seconds for each row. */
static double time_one_row(bench *b, const ald_mapped *m)
{
    double t = now(), sum = 0;
    ald_error err;
    for (int i = 0; i < ROWS_TAKEN; i++) {
        uint64_t batch, row;
        if (ald_mapped_find_batch(m, b->indices[i], &batch, &row, &err) != ALD_OK)
            bench_die(&err);
        for (uint32_t c = 0; c < 17; c++) {
            ald_vector v;
            if (ald_mapped_vector(m, batch, c, &v, &err) == ALD_OK)
                sum += ((const double *)v.data)[row];
        }
    }
    volatile double keep = sum;
    (void)keep;
    return (now() - t) / ROWS_TAKEN;
}

static double time_take(bench *b, const ald_mapped *m, struct ArrowArray *out)
{
    static const uint32_t columns[17] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    ald_error err;
    double t = now();
    if (ald_mapped_take(m, b->indices, ROWS_TAKEN, columns, 17, out, &err) != ALD_OK)
        bench_die(&err);
    return now() - t;
}

static double time_streaming_take(bench *b, const char *name, struct ArrowArray *out)
{
    ald_host two = ald_native_host(2);
    ald_source source = open_source(b, name, 0);
    ald_streaming *s = NULL;
    ald_error err;
    if (ald_streaming_open(&source, NULL, &two, &s, &err) != ALD_OK)
        bench_die(&err);
    double t = now();
    if (ald_streaming_take(s, b->indices, ROWS_TAKEN, NULL, out, &err) != ALD_OK)
        bench_die(&err);
    t = now() - t;
    ald_streaming_close(s);
    ald_source_close(&source);
    return t;
}

/* Both ways must give the same rows. */
static void check_same(const struct ArrowArray *a, const struct ArrowArray *b)
{
    for (int64_t c = 0; c < 17; c++) {
        if (memcmp(a->children[c]->buffers[1], b->children[c]->buffers[1], ROWS_TAKEN * 8) != 0) {
            fprintf(stderr, "column %lld of the rows taken differs\n", (long long)c);
            exit(1);
        }
    }
}

/* One column; 50: all. */
static double time_column(bench *b, const char *name, uint32_t column)
{
    ald_source source = open_source(b, name, 0);
    ald_streaming *s = NULL;
    ald_error err;
    uint8_t columns[50] = {0};
    double t = now();
    if (ald_streaming_open(&source, NULL, &b->host, &s, &err) != ALD_OK)
        bench_die(&err);
    if (column < 50)
        columns[column] = 1;
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray a;
        if (ald_streaming_chunk(s, i, column < 50 ? columns : NULL, &a, &err) != ALD_OK)
            bench_die(&err);
        a.release(&a);
    }
    t = now() - t;
    ald_streaming_close(s);
    ald_source_close(&source);
    return t;
}

/* The column's part of the stored bytes of all. */
static double share_of_column(bench *b, const char *name, uint32_t column)
{
    ald_source source = open_source(b, name, 0);
    ald_column_storage sizes[50];
    ald_streaming *s = NULL;
    ald_error err;
    double all = 0;
    if (ald_streaming_open(&source, NULL, &b->host, &s, &err) != ALD_OK ||
        ald_streaming_column_storage(s, sizes, &err) != ALD_OK)
        bench_die(&err);
    for (int i = 0; i < 50; i++)
        all += (double)sizes[i].stored_bytes;
    ald_streaming_close(s);
    ald_source_close(&source);
    return (double)sizes[column].stored_bytes / all;
}

/* ---- full scan on threads */

typedef struct scan {
    ald_streaming *streaming;
    pthread_mutex_t lock;
    uint64_t next, rows;
} scan;

static void *scan_worker(void *arg)
{
    scan *s = arg;
    ald_error err;
    for (;;) {
        struct ArrowArray a;
        uint64_t index;
        pthread_mutex_lock(&s->lock);
        index = s->next++;
        pthread_mutex_unlock(&s->lock);
        if (index >= ald_streaming_chunk_count(s->streaming))
            return NULL;
        if (ald_streaming_chunk(s->streaming, index, NULL, &a, &err) != ALD_OK)
            bench_die(&err);
        __atomic_fetch_add(&s->rows, (uint64_t)a.length, __ATOMIC_RELAXED);
        a.release(&a);
    }
}

static double time_scan(bench *b, const char *name, int threads)
{
    ald_source source = open_source(b, name, 0);
    scan s = {.next = 0};
    pthread_t ids[8];
    ald_error err;
    double t = now();
    if (ald_streaming_open(&source, NULL, &b->host, &s.streaming, &err) != ALD_OK)
        bench_die(&err);
    pthread_mutex_init(&s.lock, NULL);
    for (int i = 1; i < threads; i++)
        pthread_create(&ids[i], NULL, scan_worker, &s);
    scan_worker(&s);
    for (int i = 1; i < threads; i++)
        pthread_join(ids[i], NULL);
    t = now() - t;
    if (s.rows != b->rows)
        exit(1);
    ald_streaming_close(s.streaming);
    ald_source_close(&source);
    return t;
}

/* ---- each column of the wide table alone, with two threads */

typedef struct kind_name {
    bench_kind kind;
    const char *name;
} kind_name;
static const kind_name kinds[] = {{BENCH_INT, "int"},           {BENCH_LOCATION, "location"},
                                  {BENCH_TIME, "time"},         {BENCH_MONEY, "money"},
                                  {BENCH_CONSTANT, "constant"}, {BENCH_RANDOM, "random"}};
#define KINDS (sizeof kinds / sizeof *kinds)

/* File to all values of one column, in memory together. */
static void read_column(bench *b, const char *name, uint32_t column)
{
    ald_host two = ald_native_host(2);
    ald_source source = open_source(b, name, 0);
    uint8_t columns[ALL_COLUMNS] = {0};
    struct ArrowArrayStream stream;
    struct ArrowArray *chunks;
    ald_streaming *s = NULL;
    ald_error err;
    uint64_t count;
    columns[column] = 1;
    if (ald_streaming_open(&source, NULL, &two, &s, &err) != ALD_OK ||
        ald_streaming_stream(s, columns, &stream, &err) != ALD_OK)
        bench_die(&err);
    count = ald_streaming_chunk_count(s);
    chunks = bench_alloc(count * sizeof *chunks);
    for (uint64_t i = 0; i < count; i++) {
        if (ald_stream_next(&stream, &chunks[i], &err) != ALD_OK)
            bench_die(&err);
    }
    for (uint64_t i = 0; i < count; i++)
        chunks[i].release(&chunks[i]);
    free(chunks);
    stream.release(&stream);
    ald_streaming_close(s);
    ald_source_close(&source);
}

/* All columns of a kind, one after the other. */
static double time_kind(bench *b, const char *name, bench_kind kind)
{
    double t = now();
    for (uint32_t i = 0; i < ALL_COLUMNS; i++) {
        if (wide_columns[i].kind == kind)
            read_column(b, name, i);
    }
    return now() - t;
}

/* ---- libzstd alone */

typedef struct frame {
    const uint8_t *data;
    size_t size;
} frame;

typedef struct bound {
    frame *frames;
    uint64_t count, next;
} bound;

/* The frames of a chunk: the directory, which is none, the head, a frame for each column. `kind` NULL: all. */
static void list_frames(bound *d, const uint8_t *p, const uint8_t *end, const kind_name *kind)
{
    for (int number = -2; p < end; number++) {
        size_t size = ZSTD_findFrameCompressedSize(p, (size_t)(end - p));
        if (ZSTD_isError(size)) {
            fprintf(stderr, "libzstd cannot read a frame\n");
            exit(1);
        }
        if (number >= -1 &&
            (kind == NULL || (number >= 0 && wide_columns[number].kind == kind->kind)))
            d->frames[d->count++] = (frame){p, size};
        p += size;
    }
}

static void *bound_worker(void *arg)
{
    bound *d = arg;
    size_t room_size = (size_t)16 << 20;
    uint8_t *room = bench_alloc(room_size);
    ZSTD_DCtx *dctx = ZSTD_createDCtx();
    memset(room, 1, room_size);
    for (;;) {
        uint64_t i = __atomic_fetch_add(&d->next, 1, __ATOMIC_RELAXED);
        if (i >= d->count)
            break;
        if (ZSTD_isError(
                ZSTD_decompressDCtx(dctx, room, room_size, d->frames[i].data, d->frames[i].size)))
            exit(1);
    }
    ZSTD_freeDCtx(dctx);
    free(room);
    return NULL;
}

static double time_bound(bench *b, const char *name, const kind_name *kind)
{
    ald_source source = open_source(b, name, ALD_FILE_MAP);
    ald_streaming *s = NULL;
    const ald_info *info;
    const uint8_t *payload = source.view(source.ctx, 0, (size_t)source.size_bytes);
    volatile uint8_t sum = 0;
    pthread_t other;
    ald_error err;
    double t;
    bound d = {NULL, 0, 0};
    if (ald_streaming_open(&source, NULL, &b->host, &s, &err) != ALD_OK)
        bench_die(&err);
    info = ald_streaming_info(s);
    payload += info->sections.payload.begin;
    d.frames = bench_alloc(info->chunk_count * (ALL_COLUMNS + 2) * sizeof *d.frames);
    for (uint64_t i = 0; i < info->chunk_count; i++) {
        const uint8_t *p = payload + info->chunks[i].byte_offset;
        list_frames(&d, p, p + info->chunks[i].compressed_size, kind);
    }
    for (uint64_t i = 0; i < d.count; i++) { /* the map's pages, before the clock starts */
        for (size_t k = 0; k < d.frames[i].size; k += 4096)
            sum = (uint8_t)(sum + d.frames[i].data[k]);
    }
    t = now();
    pthread_create(&other, NULL, bound_worker, &d);
    bound_worker(&d);
    pthread_join(other, NULL);
    t = now() - t;
    free(d.frames);
    ald_streaming_close(s);
    ald_source_close(&source);
    return t;
}

#define MEDIAN(out, expr)                                                                          \
    do {                                                                                           \
        double values[REPEATS_MAX];                                                                \
        for (int i_ = -1; i_ < b->repeats; i_++)                                                   \
            values[i_ < 0 ? 0 : i_] = (expr);                                                      \
        (out) = median(values, b->repeats);                                                        \
    } while (0)

static double measure_take(bench *b, const char *name)
{
    struct ArrowArray taken = {0};
    double take;
    MEDIAN(take, (taken.release != NULL ? taken.release(&taken) : (void)0,
                  time_streaming_take(b, name, &taken)));
    taken.release(&taken);
    return take;
}

static int is_zstd(const form *f)
{
    return f->compression == ALD_COMPRESSION_ZSTD_L3;
}

/* What is asked of a file in chunks. */
static void measure_chunks(bench *b, const form *f)
{
    double take = measure_take(b, f->stream), small = measure_take(b, f->small), column, all, scan1,
           scan2, alone;
    MEDIAN(column, time_column(b, f->wide, COLUMN));
    MEDIAN(all, time_column(b, f->wide, ALL_COLUMNS));
    MEDIAN(scan1, time_scan(b, f->stream, 1));
    MEDIAN(scan2, time_scan(b, f->stream, 2));
    printf(", \"take_1000_streaming%s_s\": %.5f, \"take_1000_small_chunks%s_s\": %.5f, "
           "\"one_column_of_50%s_s\": %.5f, \"all_50_columns%s_s\": %.5f, "
           "\"scan_1_thread%s_s\": %.4f, \"scan_2_threads%s_s\": %.4f",
           f->of, take, f->of, small, f->of, column, f->of, all, f->of, scan1, f->of, scan2);
    if (!is_zstd(f))
        return;
    MEDIAN(alone, time_bound(b, f->stream, NULL));
    printf(", \"libzstd_alone_scan_2_threads%s_s\": %.4f", f->of, alone);
}

/* Each column alone, the sums of each kind and of all; for zstd, what libzstd alone takes. */
static void measure_kinds(bench *b, const form *f)
{
    double all = 0, all_alone = 0;
    for (size_t i = 0; i < KINDS; i++) {
        double column, alone;
        MEDIAN(column, time_kind(b, f->wide, kinds[i].kind));
        all += column;
        printf(", \"columns_%s%s_s\": %.5f", kinds[i].name, f->of, column);
        if (!is_zstd(f))
            continue;
        MEDIAN(alone, time_bound(b, f->wide, &kinds[i]));
        all_alone += alone;
        printf(", \"libzstd_alone_columns_%s%s_s\": %.5f", kinds[i].name, f->of, alone);
    }
    printf(", \"columns_all%s_s\": %.5f", f->of, all);
    if (is_zstd(f))
        printf(", \"libzstd_alone_columns_all%s_s\": %.5f", f->of, all_alone);
}

static double megabytes_of(const bench *b, const char *name)
{
    ald_source source = open_source(b, name, 0);
    double megabytes = (double)source.size_bytes * 1e-6;
    ald_source_close(&source);
    return megabytes;
}

static void measure_form(bench *b, const form *f)
{
    measure_chunks(b, f);
    measure_kinds(b, f);
    printf(", \"scan%s_megabytes\": %.1f, \"wide%s_megabytes\": %.1f, "
           "\"one_column_of_50%s_share_of_bytes\": %.5f",
           f->of, megabytes_of(b, f->stream), f->of, megabytes_of(b, f->wide), f->of,
           share_of_column(b, f->wide, COLUMN));
}

/* Rows that are taken are the same from each file. */
static void check_takes(bench *b, const struct ArrowArray *taken)
{
    for (size_t i = 0; i < 2 * FORMS; i++) {
        struct ArrowArray other = {0};
        (void)time_streaming_take(b, i % 2 ? forms[i / 2].small : forms[i / 2].stream, &other);
        check_same(taken, &other);
        other.release(&other);
    }
}

static void measure(bench *b)
{
    double vector, open, row, take;
    ald_source source = open_source(b, "aligned.ald", ALD_FILE_MAP);
    ald_mapped *m = NULL;
    struct ArrowArray taken = {0};
    ald_error err;
    if (ald_mapped_open(&source, NULL, &b->host, &m, &err) != ALD_OK)
        bench_die(&err);
    (void)time_take(b, m, &taken);
    check_takes(b, &taken);
    MEDIAN(vector, time_first_vector(b));
    MEDIAN(open, time_open(b));
    MEDIAN(row, time_one_row(b, m));
    MEDIAN(take, (taken.release(&taken), time_take(b, m, &taken)));
    printf("{\"rows\": %llu, \"open_first_vector_s\": %.7f, \"open_streaming_s\": %.7f, "
           "\"one_row_s\": %.9f, \"take_1000_aligned_s\": %.7f",
           (unsigned long long)b->rows, vector, open, row, take);
    taken.release(&taken);
    ald_mapped_close(m);
    ald_source_close(&source);
    for (size_t i = 0; i < FORMS; i++)
        measure_form(b, &forms[i]);
    printf("}\n");
}

int main(int argc, char **argv)
{
    static bench b;
    static bench_column columns[17];
    bench_table numeric = {"numeric", columns, 17};
    bench_random r = {7};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_streaming FOLDER [megabytes] [repeats] [keep]\n");
        return 2;
    }
    b.host = ald_native_host(1);
    b.folder = argv[1];
    b.rows = (uint64_t)((argc > 2 ? atof(argv[2]) : 100) * 1e6 / (17 * 8));
    b.repeats = argc > 3 ? atoi(argv[3]) : 5;
    if (b.repeats < 1 || b.repeats > REPEATS_MAX)
        b.repeats = 5;
    b.keep = argc > 4 && strcmp(argv[4], "keep") == 0;
    memcpy(columns, taxi_columns, sizeof columns);
    columns[6].kind = BENCH_LOCATION; /* the one text column */
    columns[1].kind = columns[2].kind = BENCH_STAMP;
    for (int i = 0; i < ROWS_TAKEN; i++)
        b.indices[i] = bench_next(&r) % b.rows;
    write_aligned(&b, &numeric);
    for (size_t i = 0; i < FORMS; i++)
        write_form(&b, &forms[i], &numeric);
    write_arrow(&b, &numeric, "table.arrow");
    write_arrow(&b, &wide_table, "wide.arrow");
    measure(&b);
    return 0;
}
