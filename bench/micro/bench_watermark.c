/* SPDX-License-Identifier: MIT */
/* Marking and reading marks, in memory: cells a second of a core, and how long a list of buyers takes.
 *
 *     bench_watermark [thousand_rows] [repeats] [threads] [schedule]
 *
 * Prints one JSON object; processor time (with threads: wall time), best of the repeats. With "schedule" tasks are run in turn,
 * and the time is what that many threads would take, each taking the next task when it is free: on a busy machine wall time
 * says nothing. Every copy is read again, and must
 * name its buyer. "portable", "avx2", "avx512" are the variants of the hashes. */
#define _GNU_SOURCE
#include <time.h>

#include "ald/watermark.h"
#include "core/watermark/marker.h"
#include "core/watermark/reading.h"
#include "tables.h"

#define BATCH 65536
#define BUYERS 1000000

typedef enum column_kind { NORMAL, PRICE, FLOATS, INTEGERS } column_kind;

static ald_host host;
static ald_error err;
static clockid_t clock_kind = CLOCK_PROCESS_CPUTIME_ID;

static double saved; /* by threads, when they are scheduled only */

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(clock_kind, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9 - saved;
}

static void schedule_tasks(void *ctx, uint32_t count, void (*task)(void *arg, uint32_t index),
                           void *arg)
{
    double busy[64] = {0}, all = 0, longest = 0;
    (void)ctx;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t free_first = 0;
        double start = now();
        task(arg, i);
        start = now() - start;
        for (uint32_t t = 1; t < host.thread_count; t++)
            free_first = busy[t] < busy[free_first] ? t : free_first;
        busy[free_first] += start;
        all += start;
    }
    for (uint32_t t = 0; t < host.thread_count; t++)
        longest = busy[t] > longest ? busy[t] : longest;
    saved += all - longest;
}

static void check(ald_status st)
{
    if (st == ALD_OK)
        return;
    (void)fprintf(stderr, "bench_watermark: %s\n", err.msg);
    exit(1);
}

static double normal(bench_random *r)
{
    return sqrt(-2 * log(1 - bench_unit(r))) * cos(6.283185307179586 * bench_unit(r));
}

static double value_of(column_kind kind, bench_random *r)
{
    double z = normal(r);
    switch (kind) {
    case PRICE:
        return floor(exp(3.5 + z) * 100 + 0.5) / 100;
    case FLOATS:
        return (double)(float)(0.05 * z);
    case INTEGERS:
        return floor(exp(9 + 1.2 * z));
    default:
        return z;
    }
}

/* Arrays over buffers that live as long as the program. */
static void keep(struct ArrowArray *a)
{
    a->release = NULL;
}

static void keep_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

typedef struct table {
    size_t rows, columns;
    double **values;
} table;

typedef struct cursor {
    const table *t;
    size_t at;
} cursor;

static ald_status table_schema(void *ctx, struct ArrowSchema *out, ald_error *e)
{
    const cursor *c = ctx;
    struct ArrowSchema *children = calloc(c->t->columns, sizeof *children);
    struct ArrowSchema **list = calloc(c->t->columns, sizeof(struct ArrowSchema *));
    (void)e;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < c->t->columns; i++) {
        children[i].format = "g";
        children[i].name = "x";
        children[i].release = keep_schema;
        list[i] = &children[i];
    }
    out->format = "+s";
    out->n_children = (int64_t)c->t->columns;
    out->children = list;
    out->release = keep_schema;
    return ALD_OK;
}

static ald_status table_next(void *ctx, struct ArrowArray *out, ald_error *e)
{
    cursor *c = ctx;
    size_t n = c->t->rows - c->at < BATCH ? c->t->rows - c->at : BATCH;
    struct ArrowArray *children = calloc(c->t->columns, sizeof *children);
    struct ArrowArray **list = calloc(c->t->columns, sizeof(struct ArrowArray *));
    (void)e;
    if (n == 0)
        return ALD_OK;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < c->t->columns; i++) {
        const void **buffers = calloc(2, sizeof(void *));
        buffers[1] = c->t->values[i] + c->at;
        children[i] = (struct ArrowArray){
            .length = (int64_t)n, .n_buffers = 2, .buffers = buffers, .release = keep};
        list[i] = &children[i];
    }
    *out = (struct ArrowArray){.length = (int64_t)n,
                               .n_buffers = 1,
                               .children = list,
                               .buffers = calloc(1, sizeof(void *)),
                               .n_children = (int64_t)c->t->columns,
                               .release = keep};
    c->at += n;
    return ALD_OK;
}

static struct ArrowArrayStream stream_of(const table *t)
{
    struct ArrowArrayStream s;
    cursor *c = calloc(1, sizeof *c);
    ald_stream_impl impl = {table_schema, table_next, free, c, t->rows};
    c->t = t;
    check(ald_stream_new(&impl, &host.alloc, &s, &err));
    return s;
}

static table new_table(size_t rows, size_t columns)
{
    table t = {rows, columns, calloc(columns, sizeof(double *))};
    for (size_t i = 0; i < columns; i++)
        t.values[i] = malloc(rows * sizeof(double));
    return t;
}

typedef struct times {
    double survey, apply, read;
} times;

/* Returns how long that took, without what copying the values did. */
static double take(struct ArrowArrayStream *s, table *to)
{
    size_t at = 0;
    double taken = 0;
    for (;;) {
        struct ArrowArray batch;
        double start = now();
        check(ald_stream_next(s, &batch, &err));
        taken += now() - start;
        if (batch.release == NULL)
            break;
        for (size_t c = 0; c < to->columns; c++)
            memcpy(to->values[c] + at, batch.children[c]->buffers[1], (size_t)batch.length * 8);
        at += (size_t)batch.length;
        start = now();
        batch.release(&batch);
        taken += now() - start;
    }
    s->release(s);
    return taken;
}

static times measure(const table *from, table *to, int level)
{
    static const uint8_t key[32] = {1, 2, 3};
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    ald_watermark_finding found;
    ald_watermark_reading *r;
    ald_watermark *w;
    struct ArrowArrayStream s = stream_of(from);
    times t;
    double start;
    options.strength = 1e-3f;
    options.memory_bytes = UINT64_C(4) << 30;
    options.buyer_hash[5] = 77;
    check(ald_watermark_new(&options, key, &host, &w, &err));
    w->keys.carrier.level = w->keys.lsb.level = ald__sip_level(level);
    start = now();
    check(ald_watermark_survey(w, &s, &err));
    t.survey = now() - start;
    s = stream_of(from);
    start = now();
    check(ald_watermark_apply(w, &s, &err));
    t.apply = now() - start;
    t.apply += take(&s, to);
    s = stream_of(to);
    start = now();
    check(ald_watermark_read(&s, key, NULL, &host, &r, &err));
    r->keys.carrier.level = ald__sip_level(level);
    check(ald_watermark_extract(r, &found, &err));
    t.read = now() - start;
    if (!found.found || memcmp(found.buyer_hash, options.buyer_hash, 32) != 0) {
        (void)fprintf(stderr, "bench_watermark: the buyer was not read\n");
        exit(1);
    }
    ald_watermark_reading_free(r);
    ald_watermark_free(w);
    return t;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void bench_column_kind(const char *name, column_kind kind, size_t rows, size_t columns,
                              int repeats)
{
    static const char *const levels[3] = {"portable", "avx2", "avx512"};
    table from = new_table(rows, columns), to = new_table(rows, columns);
    bench_random random = {42};
    double cells = (double)(rows * columns) / 1e6;
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = 0; i < rows; i++)
            from.values[c][i] = value_of(kind, &random);
    }
    printf("  \"%s\": {\"rows\": %zu, \"columns\": %zu", name, rows, columns);
    for (int level = 0; level <= ald__sip_level(2); level++) {
        times best = {1e9, 1e9, 1e9};
        for (int i = 0; i < repeats; i++) {
            times t = measure(&from, &to, level);
            best.survey = least(best.survey, t.survey);
            best.apply = least(best.apply, t.apply);
            best.read = least(best.read, t.read);
        }
        printf(",\n    \"%s\": {\"embed_mcells_s\": %.2f, \"pass_one_mcells_s\": %.2f, "
               "\"pass_two_mcells_s\": %.2f, \"extract_mcells_s\": %.2f}",
               levels[level], cells / (best.survey + best.apply), cells / best.survey,
               cells / best.apply, cells / best.read);
    }
    printf("},\n");
    for (size_t c = 0; c < columns; c++) {
        free(from.values[c]);
        free(to.values[c]);
    }
}

static void bench_list(int repeats)
{
    static const uint8_t key[32] = {1, 2, 3};
    uint8_t *hashes = malloc((size_t)BUYERS * 32);
    table from = new_table(20000, 1), to = new_table(20000, 1);
    bench_random random = {7};
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    ald_watermark_finding found;
    ald_watermark_reading *r;
    ald_watermark_rank rank[3];
    ald_watermark *w;
    struct ArrowArrayStream s = stream_of(&from);
    double best = 1e9;
    size_t count;
    for (size_t i = 0; i < (size_t)BUYERS * 32; i++)
        hashes[i] = (uint8_t)bench_next(&random);
    for (size_t i = 0; i < from.rows; i++)
        from.values[0][i] = normal(&random);
    memcpy(options.buyer_hash, hashes + 32 * 765432, 32);
    check(ald_watermark_new(&options, key, &host, &w, &err));
    check(ald_watermark_embed(w, &s, &err));
    (void)take(&s, &to);
    s = stream_of(&to);
    check(ald_watermark_read(&s, key, NULL, &host, &r, &err));
    check(ald_watermark_extract(r, &found, &err));
    for (int i = 0; i < repeats; i++) {
        double start = now();
        check(ald_watermark_list(r, hashes, BUYERS, rank, 3, &count, &err));
        best = least(best, now() - start);
    }
    if (count != 3 || rank[0].buyer != 765432 || rank[0].log2_p > -100 || rank[1].log2_p < -20) {
        (void)fprintf(stderr, "bench_watermark: the list has another buyer\n");
        exit(1);
    }
    ald_watermark_reading_free(r);
    ald_watermark_free(w);
    printf("  \"list\": {\"buyers\": %d, \"seconds\": %.3f}\n", BUYERS, best);
}

int main(int argc, char **argv)
{
    size_t rows = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1000) * 1000;
    int repeats = argc > 2 ? atoi(argv[2]) : 3;
    uint32_t threads = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
    if (threads < 1 || threads > 64)
        return 2;
    host = ald_native_host(threads);
    if (argc > 4)
        host.run_tasks = schedule_tasks;
    else if (threads > 1)
        clock_kind = CLOCK_MONOTONIC;
    printf("{\n  \"threads\": %u,\n", threads);
    bench_column_kind("normal", NORMAL, rows, 1, repeats);
    bench_column_kind("normal_8", NORMAL, rows / 8, 8, repeats);
    bench_column_kind("price", PRICE, rows, 1, repeats);
    bench_column_kind("float", FLOATS, rows, 1, repeats);
    bench_column_kind("integer", INTEGERS, rows, 1, repeats);
    bench_list(repeats);
    printf("}\n");
    return 0;
}
