/* SPDX-License-Identifier: MIT */
/* Tables for the benchmarks, made in memory from a fixed seed, as batches of 65,536 rows. */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/ald.h"

#define BENCH_BATCH_ROWS 65536

typedef struct bench_random {
    uint64_t state;
} bench_random;

static inline uint64_t bench_next(bench_random *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline double bench_unit(bench_random *r)
{
    return (double)(bench_next(r) >> 11) * 0x1p-53;
}

typedef enum bench_kind {
    BENCH_INT,      /* small categories, int64 */
    BENCH_LOCATION, /* 1 to 265, int64, skewed */
    BENCH_TIME,     /* rising microseconds with jitter, timestamp[us] */
    BENCH_STAMP,    /* the same as int64 */
    BENCH_MONEY,    /* two decimals, skewed */
    BENCH_CONSTANT, /* a few values, float64 */
    BENCH_RANDOM,   /* 64 random bits as float64 */
    BENCH_FLAG,     /* string Y or N */
    BENCH_WORDS     /* ASCII sentences, about 60 bytes */
} bench_kind;

typedef struct bench_column {
    const char *name;
    bench_kind kind;
} bench_column;

typedef struct bench_table {
    const char *name;
    const bench_column *columns;
    int64_t column_count;
} bench_table;

static const bench_column taxi_columns[] = {
    {"vendor_id", BENCH_INT},
    {"pickup", BENCH_TIME},
    {"dropoff", BENCH_TIME},
    {"passengers", BENCH_INT},
    {"distance", BENCH_MONEY},
    {"ratecode", BENCH_INT},
    {"store_flag", BENCH_FLAG},
    {"pickup_zone", BENCH_LOCATION},
    {"dropoff_zone", BENCH_LOCATION},
    {"payment", BENCH_INT},
    {"fare", BENCH_MONEY},
    {"extra", BENCH_CONSTANT},
    {"mta_tax", BENCH_CONSTANT},
    {"tip", BENCH_MONEY},
    {"tolls", BENCH_CONSTANT},
    {"improvement", BENCH_CONSTANT},
    {"total", BENCH_MONEY},
};
static const bench_column random_columns[] = {
    {"a", BENCH_RANDOM},
    {"b", BENCH_RANDOM},
    {"c", BENCH_RANDOM},
    {"d", BENCH_RANDOM},
};
static const bench_column words_columns[] = {
    {"id", BENCH_TIME},
    {"title", BENCH_WORDS},
    {"text", BENCH_WORDS},
    {"label", BENCH_FLAG},
};

static const bench_table bench_tables[] = {
    {"taxi", taxi_columns, sizeof taxi_columns / sizeof *taxi_columns},
    {"random", random_columns, sizeof random_columns / sizeof *random_columns},
    {"words", words_columns, sizeof words_columns / sizeof *words_columns},
};

static inline void *bench_alloc(size_t size)
{
    void *p = calloc(1, size);
    if (p == NULL) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    return p;
}

static inline int bench_is_string(bench_kind kind)
{
    return kind == BENCH_FLAG || kind == BENCH_WORDS;
}

static inline double bench_money(bench_random *r)
{
    return round(100 * (2.5 - 8 * log(1 - bench_unit(r)))) / 100;
}

static inline uint64_t bench_value(bench_kind kind, int64_t row, bench_random *r)
{
    double d;
    uint64_t bits;
    switch (kind) {
    case BENCH_INT:
        return 1 + (bench_unit(r) < 0.7 ? 0 : bench_next(r) % 5);
    case BENCH_LOCATION:
        return 1 + (uint64_t)(265 * bench_unit(r) * bench_unit(r));
    case BENCH_TIME:
    case BENCH_STAMP:
        return 1672531200000000ull + (uint64_t)row * 900000 + bench_next(r) % 600 * 1000000;
    case BENCH_MONEY:
        d = bench_money(r);
        break;
    case BENCH_CONSTANT:
        d = bench_unit(r) < 0.8 ? 0.5 : (double)(bench_next(r) % 4) * 0.5;
        break;
    default:
        return bench_next(r);
    }
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static inline size_t bench_words(char *out, bench_random *r)
{
    static const char *const words[] = {"the",   "data",  "set",   "of",   "river",
                                        "model", "light", "train", "with", "values",
                                        "under", "noise", "green", "batch"};
    size_t n = 0, count = 6 + bench_next(r) % 9;
    for (size_t i = 0; i < count; i++) {
        const char *w = words[bench_next(r) % 14];
        size_t size = strlen(w);
        memcpy(out + n, w, size);
        out[n + size] = ' ';
        n += size + 1;
    }
    return n;
}

static inline void bench_release_node(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_buffers; i++)
        free((void *)(uintptr_t)a->buffers[i]);
    free(a->buffers);
    for (int64_t i = 0; i < a->n_children; i++) {
        if (a->children[i]->release != NULL)
            a->children[i]->release(a->children[i]);
        free(a->children[i]);
    }
    free(a->children);
    a->release = NULL;
}

static inline void bench_fill_strings(struct ArrowArray *a, bench_kind kind, int64_t rows,
                                      bench_random *r)
{
    int32_t *offsets = bench_alloc((size_t)(rows + 1) * 4);
    char *bytes = bench_alloc((size_t)rows * (kind == BENCH_FLAG ? 1 : 100));
    for (int64_t i = 0; i < rows; i++) {
        size_t n = 1;
        if (kind == BENCH_FLAG)
            bytes[offsets[i]] = bench_unit(r) < 0.99 ? 'N' : 'Y';
        else
            n = bench_words(bytes + offsets[i], r);
        offsets[i + 1] = offsets[i] + (int32_t)n;
    }
    a->buffers[1] = offsets;
    a->buffers[2] = bytes;
}

static inline void bench_fill_column(struct ArrowArray *a, bench_kind kind, int64_t first,
                                     int64_t rows, bench_random *r)
{
    memset(a, 0, sizeof *a);
    a->length = rows;
    a->n_buffers = bench_is_string(kind) ? 3 : 2;
    a->buffers = bench_alloc((size_t)a->n_buffers * sizeof(void *));
    a->release = bench_release_node;
    if (bench_is_string(kind)) {
        bench_fill_strings(a, kind, rows, r);
        return;
    }
    uint64_t *values = bench_alloc((size_t)rows * 8);
    for (int64_t i = 0; i < rows; i++)
        values[i] = bench_value(kind, first + i, r);
    a->buffers[1] = values;
}

static inline void bench_fill_batch(const bench_table *t, struct ArrowArray *a, int64_t first,
                                    int64_t rows, bench_random *r)
{
    memset(a, 0, sizeof *a);
    a->length = rows;
    a->n_buffers = 1;
    a->n_children = t->column_count;
    a->buffers = bench_alloc(sizeof(void *));
    a->children = bench_alloc((size_t)t->column_count * sizeof(void *));
    a->release = bench_release_node;
    for (int64_t i = 0; i < t->column_count; i++) {
        a->children[i] = bench_alloc(sizeof(struct ArrowArray));
        bench_fill_column(a->children[i], t->columns[i].kind, first, rows, r);
    }
}

static inline const char *bench_type(bench_kind kind)
{
    return bench_is_string(kind)                                                ? "string"
           : kind == BENCH_TIME                                                 ? "timestamp[us]"
           : kind == BENCH_INT || kind == BENCH_LOCATION || kind == BENCH_STAMP ? "int64"
                                                                                : "double";
}

static inline void bench_die(const ald_error *err)
{
    fprintf(stderr, "%s: %s\n", ald_status_name((ald_status)err->status), err->msg);
    exit(1);
}

/* `rows` rows as a stream over batches in memory. */
static inline void bench_make(const bench_table *t, int64_t rows, const ald_host *host,
                              struct ArrowArrayStream *out)
{
    size_t count = (size_t)((rows + BENCH_BATCH_ROWS - 1) / BENCH_BATCH_ROWS), n = 0;
    struct ArrowArray *batches = bench_alloc(count * sizeof *batches);
    struct ArrowSchema schema;
    bench_random r = {42};
    char text[2048];
    ald_error err;
    for (int64_t i = 0; i < t->column_count; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%s", i > 0 ? "," : "",
                              t->columns[i].name, bench_type(t->columns[i].kind));
    if (ald_schema_from_json(text, n, host, &schema, &err) != ALD_OK)
        bench_die(&err);
    for (size_t i = 0; i < count; i++) {
        int64_t first = (int64_t)i * BENCH_BATCH_ROWS;
        int64_t left = rows - first;
        bench_fill_batch(t, &batches[i], first, left < BENCH_BATCH_ROWS ? left : BENCH_BATCH_ROWS,
                         &r);
    }
    if (ald_stream_from_batches(&schema, batches, count, host, out, &err) != ALD_OK)
        bench_die(&err);
    free(batches);
}

#endif
