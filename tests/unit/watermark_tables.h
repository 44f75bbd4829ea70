/* SPDX-License-Identifier: MIT */
/* Tables of every type that can be marked, cut into batches as a test likes. */
#ifndef WATERMARK_TABLES_H
#define WATERMARK_TABLES_H

#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "check.h"
#include "core/arrow/array.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "watermark_fixture.h"

typedef enum mark_kind {
    MARK_DOUBLES,  /* float64, 10 % nulls */
    MARK_FLOATS,   /* float32 */
    MARK_PRICES,   /* float64 with two decimals */
    MARK_DECIMALS, /* decimal128(12, 2) */
    MARK_INTS,     /* int32 */
    MARK_TIMES,    /* timestamp[s] */
    MARK_DAYS,     /* date64 */
    MARK_VECTORS,  /* fixed-size list of 3 float32 */
    MARK_LISTS,    /* list of 0 to 3 float64, 10 % nulls with items */
    MARK_RECORDS,  /* struct of one float64, 10 % nulls */
    MARK_CODED,    /* dictionary of float64 */
    MARK_RUNS,     /* run-end encoded float64 */
    MARK_TEXT,     /* not numeric */
    MARK_KINDS
} mark_kind;

static const char *const mark_types[MARK_KINDS] = {
    "float64",
    "float32",
    "float64",
    "decimal128(12, 2)",
    "int32",
    "timestamp[s]",
    "date64",
    "fixed_size_list<item: float32>[3]",
    "list<item: double>",
    "struct<x: double>",
    "dictionary<values=double, indices=int16, ordered=0>",
    "run_end_encoded<run_ends: int32, values: double>",
    "string"};

static ald_host mark_host;

static inline double mark_normal(mark_random *r)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += mark_random_unit(r);
    return (sum - 6) * 0.98765432109876543; /* digits down to the last bit */
}

/* The number that kind has in a row, by row alone. */
static inline double mark_number(mark_kind kind, int64_t row)
{
    mark_random r = {(uint64_t)(row + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ ((uint64_t)kind << 40)};
    double z;
    for (int i = 0; i < 4; i++)
        (void)mark_random_next(&r);
    z = mark_normal(&r);
    switch (kind) {
    case MARK_PRICES:
    case MARK_DECIMALS:
        return (double)(int64_t)(100 * (200 + 60 * z)) / 100;
    case MARK_INTS:
        return (double)(int64_t)(30000 + 9000 * z);
    case MARK_TIMES:
        return (double)(int64_t)(1600000000 + 8000000 * z);
    case MARK_DAYS:
        return (double)(int64_t)(18000 + 2500 * z);
    default:
        return z;
    }
}

static inline int mark_is_null(int64_t row)
{
    return row % 10 == 3;
}

static inline void *mark_buffer(struct ArrowArray *a, int64_t index, size_t size)
{
    ald__shared *memory;
    ald_error err;
    if (ald__shared_alloc(&mark_host.alloc, size == 0 ? 1 : size, &memory, &err) != ALD_OK)
        abort();
    memset(ald__shared_data(memory), 0, size);
    a->buffers[index] = ald__shared_data(memory);
    ald__array_hold(a, memory);
    ald__shared_unref(memory);
    return (void *)(uintptr_t)a->buffers[index];
}

static inline void mark_new(struct ArrowArray *a, size_t buffers, size_t children, int dictionary,
                            int64_t length)
{
    ald_error err;
    if (ald__array_new(&mark_host.alloc, buffers, children, dictionary, a, &err) != ALD_OK)
        abort();
    a->length = length;
}

static inline void mark_nulls(struct ArrowArray *a, int64_t first)
{
    uint8_t *bits = mark_buffer(a, 0, (size_t)a->length / 8 + 1);
    for (int64_t i = 0; i < a->length; i++) {
        if (mark_is_null(first + i))
            a->null_count++;
        else
            bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << (i % 8));
    }
}

/* Numbers [first, first + length) of `kind` in a plain layout. */
static inline void mark_plain(struct ArrowArray *a, mark_kind kind, int64_t first, int64_t length)
{
    size_t width = kind == MARK_DECIMALS                                              ? 16
                   : kind == MARK_INTS || kind == MARK_FLOATS || kind == MARK_VECTORS ? 4
                                                                                      : 8;
    uint8_t *data;
    mark_new(a, 2, 0, 0, length);
    data = mark_buffer(a, 1, (size_t)length * width);
    if (kind == MARK_DOUBLES)
        mark_nulls(a, first);
    for (int64_t i = 0; i < length; i++) {
        double v = mark_number(kind, first + i);
        float f = (float)v;
        int64_t n = (int64_t)v;
        int32_t n32 = (int32_t)n;
        if (kind == MARK_DOUBLES && mark_is_null(first + i))
            continue;
        if (kind == MARK_FLOATS || kind == MARK_VECTORS) {
            memcpy(data + i * 4, &f, 4);
        } else if (kind == MARK_INTS) {
            memcpy(data + i * 4, &n32, 4);
        } else if (kind == MARK_DECIMALS) {
            n = (int64_t)(v * 100 + (v < 0 ? -0.5 : 0.5));
            memcpy(data + i * 16, &n, 8);
            memset(data + i * 16 + 8, n < 0 ? 0xff : 0, 8);
        } else if (kind == MARK_TIMES || kind == MARK_DAYS) {
            n *= kind == MARK_DAYS ? 86400000 : 1;
            memcpy(data + i * 8, &n, 8);
        } else {
            memcpy(data + i * 8, &v, 8);
        }
    }
}

#define MARK_DICTIONARY 1500

static inline void mark_coded(struct ArrowArray *a, int64_t first, int64_t length)
{
    int16_t *index;
    mark_new(a, 2, 0, 1, length);
    mark_plain(a->dictionary, MARK_CODED, 0, MARK_DICTIONARY);
    index = mark_buffer(a, 1, (size_t)length * 2);
    for (int64_t i = 0; i < length; i++)
        index[i] = (int16_t)((first + i) * 7919 % MARK_DICTIONARY);
}

/* Runs of 3 rows, wherever the batch begins. */
static inline void mark_runs(struct ArrowArray *a, int64_t first, int64_t length)
{
    int64_t first_run = first / 3, count = (first + length + 2) / 3 - first_run;
    int32_t *ends;
    mark_new(a, 0, 2, 0, length);
    mark_new(a->children[0], 2, 0, 0, count);
    ends = mark_buffer(a->children[0], 1, (size_t)count * 4);
    mark_plain(a->children[1], MARK_RUNS, first_run, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t end = (first_run + i + 1) * 3 - first;
        ends[i] = (int32_t)(end < length ? end : length);
    }
}

static inline void mark_nested(struct ArrowArray *a, mark_kind kind, int64_t first, int64_t length)
{
    int64_t items = 0;
    int32_t *offsets;
    mark_new(a, kind == MARK_LISTS ? 2 : 1, 1, 0, length);
    if (kind != MARK_VECTORS)
        mark_nulls(a, first);
    if (kind == MARK_RECORDS)
        mark_plain(a->children[0], kind, first, length);
    if (kind == MARK_VECTORS)
        mark_plain(a->children[0], kind, first * 3, length * 3);
    if (kind != MARK_LISTS)
        return;
    offsets = mark_buffer(a, 1, (size_t)(length + 1) * 4);
    for (int64_t i = 0; i < length; i++) {
        items += (first + i) % 4;
        offsets[i + 1] = (int32_t)items;
    }
    mark_plain(a->children[0], kind, first * 4, items);
    for (int64_t i = 0; i < length; i++) { /* items by row and place, however the rows are cut */
        double *v = (double *)(uintptr_t)a->children[0]->buffers[1];
        for (int64_t k = 0; k < (first + i) % 4; k++)
            v[offsets[i] + k] = mark_number(kind, (first + i) * 4 + k);
    }
}

static inline void mark_column(struct ArrowArray *a, mark_kind kind, int64_t first, int64_t length)
{
    if (kind == MARK_CODED)
        mark_coded(a, first, length);
    else if (kind == MARK_RUNS)
        mark_runs(a, first, length);
    else if (kind == MARK_VECTORS || kind == MARK_LISTS || kind == MARK_RECORDS)
        mark_nested(a, kind, first, length);
    else if (kind == MARK_TEXT) {
        mark_new(a, 3, 0, 0, length);
        (void)mark_buffer(a, 1, (size_t)(length + 1) * 4);
        (void)mark_buffer(a, 2, 1);
    } else
        mark_plain(a, kind, first, length);
}

/* A stream of `rows` rows of the kinds of `mask`, in batches of `batch` rows. */
static inline void mark_table(uint32_t mask, int64_t rows, int64_t batch,
                              struct ArrowArrayStream *out)
{
    size_t columns = (size_t)__builtin_popcount(mask), count = 0, at = 0;
    struct ArrowSchema schema;
    struct ArrowArray *batches = calloc((size_t)(rows / batch) + 1, sizeof *batches);
    ald_error err;
    int ok = ald__schema_new(&mark_host.alloc, columns, 0, &schema, &err) == ALD_OK &&
             ald__schema_set_format(&schema, "+s", 2, &err) == ALD_OK;
    for (unsigned k = 0; k < MARK_KINDS && ok; k++) {
        if (mask >> k & 1)
            ok = ald_type_parse(&mark_host, mark_types[k], strlen(mark_types[k]), mark_types[k], 1,
                                schema.children[at++], &err) == ALD_OK;
    }
    for (int64_t first = 0; first < rows && ok; first += batch) {
        int64_t length = rows - first < batch ? rows - first : batch;
        mark_new(&batches[count], 1, columns, 0, length);
        at = 0;
        for (unsigned k = 0; k < MARK_KINDS; k++) {
            if (mask >> k & 1)
                mark_column(batches[count].children[at++], (mark_kind)k, first, length);
        }
        count++;
    }
    if (!ok || ald_stream_from_batches(&schema, batches, count, &mark_host, out, &err) != ALD_OK) {
        printf("%s\n", err.msg);
        abort();
    }
    free(batches);
}

#endif
