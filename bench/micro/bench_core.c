/* SPDX-License-Identifier: MIT */
/* Saving and loading one table in memory, one core, against zstd on the very same payload, in turns.
 *
 *     bench_core [table] [megabytes] [repeats]
 *
 * Prints one JSON object: medians in CPU seconds, and ratios pair by pair (above 1: faster than zstd alone). `load` checks
 * everything (CRC32, content checksum, every offset, UTF-8); `zstd decode` is ZSTD_decompress of the payload into fresh
 * memory of the same kind. `save` is compared with ZSTD_compress2 at level 3, checksum on, of the finished IPC stream. */
#define _GNU_SOURCE
#include <time.h>

#include <libdeflate.h>
#include <zstd.h>

#include "tables.h"

#define REPEATS_MAX 99

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[REPEATS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return sorted[count / 2];
}

static double median_ratio(const double *a, const double *b, int count)
{
    double ratio[REPEATS_MAX];
    for (int i = 0; i < count; i++)
        ratio[i] = a[i] / b[i];
    return median(ratio, count);
}

typedef struct bench {
    ald_host host;
    const bench_table *table;
    ald_dataset *source; /* the table, as loaded once: the input of save */
    ald_buffer file;
    const uint8_t *payload;
    size_t payload_size, plain_size;
    uint8_t *plain; /* the IPC stream */
    double load[REPEATS_MAX], decode[REPEATS_MAX], save[REPEATS_MAX], encode[REPEATS_MAX];
    double crc[REPEATS_MAX];
} bench;

static void save_to(bench *b, struct ArrowArrayStream *stream, ald_buffer *out)
{
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink = ald_buffer_sink(out);
    ald_error err;
    options.memory_bytes = UINT64_MAX;
    if (ald_save(stream, &sink, &options, &b->host, &err) != ALD_OK)
        bench_die(&err);
}

static ald_dataset *load_from(bench *b)
{
    ald_source source = ald_source_memory(b->file.data, b->file.size);
    ald_dataset *d = NULL;
    ald_error err;
    if (ald_load(&source, NULL, &b->host, &d, &err) != ALD_OK)
        bench_die(&err);
    return d;
}

static double time_load(bench *b)
{
    double t = now();
    ald_dataset *d = load_from(b);
    t = now() - t;
    ald_dataset_free(d);
    return t;
}

static double time_decode(bench *b)
{
    double t = now();
    uint8_t *out = b->host.alloc.alloc(b->host.alloc.ctx, b->plain_size);
    size_t n = ZSTD_decompress(out, b->plain_size, b->payload, b->payload_size);
    t = now() - t;
    if (n != b->plain_size || memcmp(out, b->plain, n) != 0) {
        fprintf(stderr, "zstd gave other bytes\n");
        exit(1);
    }
    b->host.alloc.release(b->host.alloc.ctx, out, b->plain_size);
    return t;
}

static double time_save(bench *b)
{
    struct ArrowArrayStream stream;
    ald_buffer out = {NULL, 0, 0, &b->host.alloc};
    ald_error err;
    if (ald_dataset_stream(b->source, &stream, &err) != ALD_OK)
        bench_die(&err);
    double t = now();
    save_to(b, &stream, &out);
    t = now() - t;
    if (out.size != b->file.size || memcmp(out.data, b->file.data, out.size) != 0) {
        fprintf(stderr, "saving twice gave other bytes\n");
        exit(1);
    }
    ald_buffer_clear(&out);
    return t;
}

static double time_encode(bench *b)
{
    size_t cap = ZSTD_compressBound(b->plain_size);
    double t = now();
    uint8_t *out = b->host.alloc.alloc(b->host.alloc.ctx, cap);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, 3);
    (void)ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(c, out, cap, b->plain, b->plain_size);
    ZSTD_freeCCtx(c);
    t = now() - t;
    if (ZSTD_isError(n))
        exit(1);
    b->host.alloc.release(b->host.alloc.ctx, out, cap);
    return t;
}

static double time_crc(bench *b)
{
    double t = now();
    volatile uint32_t crc = libdeflate_crc32(0, b->plain, b->plain_size);
    (void)crc;
    return now() - t;
}

static void prepare(bench *b, double megabytes)
{
    struct ArrowArrayStream stream;
    int64_t rows = 65536;
    b->file.alloc = &b->host.alloc;
    for (int pass = 0; pass < 2; pass++) { /* the first pass tells how many bytes a row takes */
        bench_make(b->table, rows, &b->host, &stream);
        ald_buffer_clear(&b->file);
        save_to(b, &stream, &b->file);
        b->source = load_from(b);
        if (pass == 1)
            break;
        rows = (int64_t)((double)rows * megabytes * 1e6 /
                         (double)ald_dataset_info(b->source)->uncompressed_size);
        ald_dataset_free(b->source);
    }
    const ald_info *info = ald_dataset_info(b->source);
    b->payload = b->file.data + info->sections.payload.begin;
    b->payload_size = (size_t)info->payload_size;
    b->plain_size = (size_t)info->uncompressed_size;
    b->plain = bench_alloc(b->plain_size);
    if (ZSTD_decompress(b->plain, b->plain_size, b->payload, b->payload_size) != b->plain_size)
        exit(1);
}

int main(int argc, char **argv)
{
    static bench b;
    double megabytes = argc > 2 ? atof(argv[2]) : 100;
    int repeats = argc > 3 ? atoi(argv[3]) : 5;
    b.host = ald_native_host(1);
    b.table = &bench_tables[0];
    for (size_t i = 0; argc > 1 && i < sizeof bench_tables / sizeof *bench_tables; i++) {
        if (strcmp(bench_tables[i].name, argv[1]) == 0)
            b.table = &bench_tables[i];
    }
    if (repeats < 1 || repeats > REPEATS_MAX)
        repeats = 5;
    prepare(&b, megabytes);
    for (int i = -1; i < repeats; i++) { /* the first round warms up */
        int k = i < 0 ? 0 : i;
        b.load[k] = time_load(&b);
        b.decode[k] = time_decode(&b);
        b.save[k] = time_save(&b);
        b.encode[k] = time_encode(&b);
        b.crc[k] = time_crc(&b);
    }
    printf("{\"table\": \"%s\", \"rows\": %llu, \"plain_bytes\": %zu, \"file_bytes\": %zu, "
           "\"load_s\": %.4f, \"zstd_decode_s\": %.4f, \"save_s\": %.4f, \"zstd_encode_s\": %.4f, "
           "\"load_vs_zstd\": %.3f, \"save_vs_zstd\": %.3f, \"crc32_gb_per_s\": %.2f}\n",
           b.table->name, (unsigned long long)ald_dataset_info(b.source)->num_rows, b.plain_size,
           b.file.size, median(b.load, repeats), median(b.decode, repeats), median(b.save, repeats),
           median(b.encode, repeats), median_ratio(b.decode, b.load, repeats),
           median_ratio(b.encode, b.save, repeats),
           (double)b.plain_size / 1e9 / median(b.crc, repeats));
    return 0;
}
