/* SPDX-License-Identifier: MIT */
/* Files larger than memory should have to care about: what writing takes at its peak, and how long opening takes.
 *
 *     bench_large FOLDER [gigabytes] [chunks]
 *
 * Rows are made as they are asked for. Written into FOLDER: aligned.ald and stream.ald (zstd) of so many gigabytes (8), and
 * chunks.ald of so many chunks (1,000,000) of one row. Prints one JSON object: the high-water mark of anonymous memory while
 * each was written (sampled every 5 ms, over what the process had before), and the median time to open and to reach the
 * first vector or the last row. Files stay. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "tables.h"

#define REPEATS 21

/* ---- memory */

typedef struct watch {
    pthread_t thread;
    atomic_int stop;
    long before, peak; /* KiB */
} watch;

static long rss_anon(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        (void)sscanf(line, "RssAnon: %ld kB", &kib);
    if (f != NULL)
        (void)fclose(f);
    return kib;
}

static void *watch_run(void *arg)
{
    watch *w = arg;
    while (!atomic_load(&w->stop)) {
        long now = rss_anon();
        w->peak = now > w->peak ? now : w->peak;
        (void)usleep(5000);
    }
    return NULL;
}

static void watch_start(watch *w)
{
    memset(w, 0, sizeof *w);
    w->before = w->peak = rss_anon();
    if (pthread_create(&w->thread, NULL, watch_run, w) != 0)
        exit(1);
}

static double watch_stop(watch *w)
{
    atomic_store(&w->stop, 1);
    (void)pthread_join(w->thread, NULL);
    return (double)(w->peak - w->before) / 1024;
}

/* ---- rows made on the fly */

typedef struct maker {
    const bench_table *table;
    const ald_host *host;
    int64_t rows, made, batch_rows;
    bench_random random;
} maker;

static ald_status maker_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    maker *m = ctx;
    char text[2048];
    size_t n = 0;
    for (int64_t i = 0; i < m->table->column_count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%s", i > 0 ? "," : "",
                              m->table->columns[i].name, bench_type(m->table->columns[i].kind));
    return ald_schema_from_json(text, n, m->host, out, err);
}

static ald_status maker_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    maker *m = ctx;
    int64_t left = m->rows - m->made, rows = left < m->batch_rows ? left : m->batch_rows;
    (void)err;
    out->release = NULL;
    if (rows == 0)
        return ALD_OK;
    bench_fill_batch(m->table, out, m->made, rows, &m->random);
    m->made += rows;
    return ALD_OK;
}

static void maker_free(void *ctx)
{
    free(ctx);
}

static void make_stream(const bench_table *t, int64_t rows, const ald_host *host,
                        struct ArrowArrayStream *out)
{
    maker *m = bench_alloc(sizeof *m);
    ald_stream_impl impl = {maker_schema, maker_next, maker_free, m, (uint64_t)rows};
    ald_error err;
    *m = (maker){t, host, rows, 0, BENCH_BATCH_ROWS, {42}};
    if (ald_stream_new(&impl, &host->alloc, out, &err) != ALD_OK)
        bench_die(&err);
}

/* MiB of anonymous memory at the peak, beyond what there was. */
static double write_file(const bench_table *t, int64_t rows, const char *path, int aligned,
                         uint64_t chunk_rows, const ald_host *host)
{
    struct ArrowArrayStream stream;
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_file_sink *file = NULL;
    ald_error err;
    watch w;
    watch_start(&w);
    make_stream(t, rows, host, &stream);
    o.layout = ALD_LAYOUT_STREAMING;
    o.aligned = (uint8_t)aligned;
    o.chunk_rows = chunk_rows;
    if (aligned)
        o.compression = ALD_COMPRESSION_NONE;
    if (ald_file_create(path, ALD_FILE_REPLACE, &file, &err) != ALD_OK ||
        ald_save(&stream, ald_file_sink_get(file), &o, host, &err) != ALD_OK ||
        ald_file_commit(file, &err) != ALD_OK)
        bench_die(&err);
    return watch_stop(&w);
}

/* ---- opening */

static double large_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int larger(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double open_mapped(const char *path, const ald_host *host)
{
    double t = large_now();
    ald_source source;
    ald_mapped *m = NULL;
    ald_vector v;
    ald_error err;
    if (ald_file_open(path, ALD_FILE_MAP, &source, &err) != ALD_OK ||
        ald_mapped_open(&source, NULL, host, &m, &err) != ALD_OK ||
        ald_mapped_vector(m, 0, 4, &v, &err) != ALD_OK)
        bench_die(&err);
    volatile double first = *(const double *)v.data;
    (void)first;
    t = large_now() - t;
    ald_mapped_close(m);
    ald_source_close(&source);
    return t;
}

static double open_streaming(const char *path, const ald_host *host)
{
    double t = large_now();
    ald_source source;
    ald_streaming *s = NULL;
    ald_error err;
    if (ald_file_open(path, 0, &source, &err) != ALD_OK ||
        ald_streaming_open(&source, NULL, host, &s, &err) != ALD_OK)
        bench_die(&err);
    t = large_now() - t;
    ald_streaming_close(s);
    ald_source_close(&source);
    return t;
}

static double median_of(double (*open)(const char *, const ald_host *), const char *path,
                        const ald_host *host)
{
    double values[REPEATS];
    (void)open(path, host);
    for (int i = 0; i < REPEATS; i++)
        values[i] = open(path, host);
    qsort(values, REPEATS, sizeof *values, larger);
    return values[REPEATS / 2];
}

int main(int argc, char **argv)
{
    static const bench_column one[] = {{"n", BENCH_INT}};
    static const bench_table single = {"one", one, 1};
    static bench_column numeric[17];
    static bench_table taxi = {"taxi", numeric, 17};
    ald_host host = ald_native_host(2);
    char aligned[4096], stream[4096], chunks[4096];
    double gigabytes = argc > 2 ? atof(argv[2]) : 8;
    int64_t chunk_count = argc > 3 ? atoll(argv[3]) : 1000000;
    int64_t rows = (int64_t)(gigabytes * 1e9 / (17 * 8));
    if (argc < 2)
        return 2;
    for (int i = 0; i < 17; i++) {
        numeric[i] = taxi_columns[i];
        if (bench_is_string(numeric[i].kind))
            numeric[i].kind = BENCH_LOCATION;
        if (numeric[i].kind == BENCH_TIME)
            numeric[i].kind = BENCH_STAMP;
    }
    (void)snprintf(aligned, sizeof aligned, "%s/aligned.ald", argv[1]);
    (void)snprintf(stream, sizeof stream, "%s/stream.ald", argv[1]);
    (void)snprintf(chunks, sizeof chunks, "%s/chunks.ald", argv[1]);
    printf("{\"gigabytes\": %g, \"rows\": %lld", gigabytes, (long long)rows);
    printf(", \"write_aligned_mib\": %.1f", write_file(&taxi, rows, aligned, 1, 0, &host));
    printf(", \"write_stream_mib\": %.1f", write_file(&taxi, rows, stream, 0, 0, &host));
    printf(", \"write_chunks_mib\": %.1f", write_file(&single, chunk_count, chunks, 0, 1, &host));
    printf(", \"open_first_vector_s\": %.7f", median_of(open_mapped, aligned, &host));
    printf(", \"open_streaming_s\": %.7f", median_of(open_streaming, stream, &host));
    printf(", \"chunks\": %lld, \"open_chunks_s\": %.5f}\n", (long long)chunk_count,
           median_of(open_streaming, chunks, &host));
    return 0;
}
