/* SPDX-License-Identifier: MIT */
/* One save or load of a whole table through files, for comparison with libraries that are timed inside one process too.
 *
 *     bench_file load FILE.ald [threads]
 *     bench_file save IN.arrow OUT.ald COMPRESSION [threads]
 *
 * Prints {"wall": seconds, "cpu": seconds, "rows": rows}. load: open, read, check everything, release the rows in memory.
 * save: from rows in memory to a file beside OUT; reading IN, fsync and the final rename are not counted, as the other
 * libraries do not do them. 0 threads: one per processor. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ald/ald.h"
#include "ald/native.h"

typedef struct moment {
    double wall, cpu;
} moment;

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static moment file_now(void)
{
    moment m = {seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID)};
    return m;
}

static void must(ald_status status, const ald_error *err)
{
    if (status == ALD_OK)
        return;
    fprintf(stderr, "%s: %s\n", ald_status_name(status), err->msg);
    exit(1);
}

static void report(moment from, unsigned long long rows)
{
    moment to = file_now();
    printf("{\"wall\": %.6f, \"cpu\": %.6f, \"rows\": %llu}\n", to.wall - from.wall,
           to.cpu - from.cpu, rows);
}

static int load(const char *path, uint32_t threads)
{
    ald_host host = ald_native_host(threads);
    ald_dataset *d = NULL;
    ald_source source;
    ald_error err;
    moment start = file_now();
    must(ald_file_open(path, 0, &source, &err), &err);
    must(ald_load(&source, NULL, &host, &d, &err), &err);
    report(start, ald_dataset_info(d)->num_rows);
    ald_dataset_free(d);
    ald_source_close(&source);
    return 0;
}

/* The rows of an Arrow file, all of them in memory, as a stream. */
static unsigned long long read_rows(const char *path, const ald_host *host,
                                    struct ArrowArrayStream *out)
{
    struct ArrowArray *batches = NULL;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    unsigned long long rows = 0;
    size_t count = 0;
    ald_source source;
    ald_error err;
    must(ald_file_open(path, 0, &source, &err), &err);
    must(ald_ipc_open(&source, ALD_IPC_AUTO, host, &stream, &err), &err);
    must(ald_stream_schema(&stream, &schema, &err), &err);
    for (;;) {
        batches = realloc(batches, (count + 1) * sizeof *batches);
        if (batches == NULL)
            exit(1);
        must(ald_stream_next(&stream, &batches[count], &err), &err);
        if (batches[count].release == NULL)
            break;
        rows += (unsigned long long)batches[count++].length;
    }
    stream.release(&stream);
    ald_source_close(&source);
    must(ald_stream_from_batches(&schema, batches, count, host, out, &err), &err);
    free(batches);
    return rows;
}

static int save(const char *from, const char *to, const char *compression, uint32_t threads)
{
    ald_host host = ald_native_host(threads);
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream rows;
    ald_file_sink *file = NULL;
    ald_error err;
    int id = ald_compression_from_name(compression);
    unsigned long long count = read_rows(from, &host, &rows);
    moment start;
    if (id < 0)
        return 2;
    options.compression = (uint8_t)id;
    start = file_now();
    must(ald_file_create(to, ALD_FILE_REPLACE, &file, &err), &err);
    must(ald_save(&rows, ald_file_sink_get(file), &options, &host, &err), &err);
    report(start, count);
    must(ald_file_commit(file, &err), &err);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "load") == 0)
        return load(argv[2], argc > 3 ? (uint32_t)atoi(argv[3]) : 0);
    if (argc >= 5 && strcmp(argv[1], "save") == 0)
        return save(argv[2], argv[3], argv[4], argc > 5 ? (uint32_t)atoi(argv[5]) : 0);
    fprintf(stderr, "usage: bench_file load FILE.ald [threads]\n"
                    "       bench_file save IN.arrow OUT.ald COMPRESSION [threads]\n");
    return 2;
}
