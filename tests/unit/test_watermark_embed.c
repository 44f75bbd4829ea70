/* SPDX-License-Identifier: MIT */
/* Marking Arrow streams: every type, any cut into batches, what stays as it is, and what is refused. */
#include "ald/native.h"
#include "ald/watermark.h"
#include "check_alloc.h"
#include "core/arrow/bits.h"
#include "core/arrow/validate.h"
#include "core/watermark/mark_math.h"
#include "watermark_tables.h"

#define ALL ((1u << MARK_KINDS) - 1)
#define ROWS 6000

static ald_error err;
static const uint32_t marked_kinds = ALL & ~(1u << MARK_TEXT);

static ald_watermark *new_mark(const ald_host *host, float strength, uint64_t memory)
{
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    ald_watermark *w = NULL;
    options.strength = strength;
    options.memory_bytes = memory;
    memcpy(options.buyer_hash, mark_test_buyer, 32);
    CHECK_OK(ald_watermark_new(&options, mark_test_seller, host, &w, &err), &err);
    return w;
}

/* All numbers of a stream in row order, one column after the other. */
typedef struct numbers {
    double *v;
    size_t count;
} numbers;

static void put(numbers *n, double v)
{
    n->v[n->count++] = v;
}

static double plain_at(const struct ArrowArray *a, mark_kind kind, int64_t i)
{
    const uint8_t *data = a->buffers[1];
    float f;
    double v;
    int64_t n;
    int32_t n32;
    i += a->offset;
    switch (kind) {
    case MARK_FLOATS:
    case MARK_VECTORS:
        memcpy(&f, data + i * 4, 4);
        return (double)f;
    case MARK_INTS:
        memcpy(&n32, data + i * 4, 4);
        return n32;
    case MARK_DECIMALS:
        memcpy(&n, data + i * 16, 8);
        return (double)n / 100;
    case MARK_TIMES:
    case MARK_DAYS:
        memcpy(&n, data + i * 8, 8);
        CHECK(kind != MARK_DAYS || n % 86400000 == 0);
        return kind == MARK_DAYS ? (double)(n / 86400000) : (double)n;
    default:
        memcpy(&v, data + i * 8, 8);
        return v;
    }
}

static int is_null(const struct ArrowArray *a, int64_t i)
{
    return a->null_count != 0 && !ald__bit_get(a->buffers[0], (uint64_t)(i + a->offset));
}

static void collect(const struct ArrowArray *a, mark_kind kind, numbers *out)
{
    int64_t run = 0;
    for (int64_t i = 0; i < a->length; i++) {
        if (kind == MARK_TEXT || (kind != MARK_RUNS && is_null(a, i)))
            continue;
        if (kind == MARK_CODED) {
            put(out, plain_at(a->dictionary, kind, ((const int16_t *)a->buffers[1])[i]));
        } else if (kind == MARK_RUNS) {
            while (((const int32_t *)a->children[0]->buffers[1])[run] <= i)
                run++;
            put(out, plain_at(a->children[1], kind, run));
        } else if (kind == MARK_LISTS) {
            const int32_t *o = a->buffers[1];
            for (int32_t k = o[i]; k < o[i + 1]; k++)
                put(out, plain_at(a->children[0], kind, k));
        } else if (kind == MARK_VECTORS) {
            for (int64_t k = 0; k < 3; k++)
                put(out, plain_at(a->children[0], kind, i * 3 + k));
        } else {
            put(out, plain_at(kind == MARK_RECORDS ? a->children[0] : a, kind, i));
        }
    }
}

/* Reads and releases the stream; the numbers of column `column` of `mask`. */
static numbers read_column(struct ArrowArrayStream *s, uint32_t mask, unsigned kind)
{
    numbers n = {malloc(4 * ROWS * sizeof(double)), 0};
    int column = __builtin_popcount(mask & ((1u << kind) - 1));
    struct ArrowSchema schema;
    CHECK_OK(ald_stream_schema(s, &schema, &err), &err);
    for (;;) {
        struct ArrowArray batch;
        if (!CHECK_OK(ald_stream_next(s, &batch, &err), &err) || batch.release == NULL)
            break;
        CHECK_OK(ald__array_validate(&mark_host.alloc, &schema, &batch, NULL, &err), &err);
        collect(batch.children[column], (mark_kind)kind, &n);
        batch.release(&batch);
    }
    schema.release(&schema);
    s->release(s);
    return n;
}

static numbers marked_column(uint32_t mask, int64_t batch, unsigned kind, float strength)
{
    ald_watermark *w = new_mark(&mark_host, strength, 0);
    struct ArrowArrayStream s;
    numbers n = {NULL, 0};
    mark_table(mask, ROWS, batch, &s);
    if (CHECK_OK(ald_watermark_embed(w, &s, &err), &err))
        n = read_column(&s, mask, kind);
    ald_watermark_free(w);
    return n;
}

static numbers plain_column(uint32_t mask, unsigned kind)
{
    struct ArrowArrayStream s;
    mark_table(mask, ROWS, ROWS, &s);
    return read_column(&s, mask, kind);
}

typedef struct statistics {
    double mean, deviation;
    double
        slope; /* of a line through the differences of neighbours: something learned from the data */
} statistics;

static statistics statistics_of(const numbers *n, const numbers *x)
{
    statistics s = {0, 0, 0};
    double xy = 0, xx = 0, count = (double)n->count;
    for (size_t i = 0; i < n->count; i++)
        s.mean += n->v[i] / count;
    for (size_t i = 0; i < n->count; i++)
        s.deviation += (n->v[i] - s.mean) * (n->v[i] - s.mean) / count;
    s.deviation = ald__mark_sqrt_about(s.deviation);
    for (size_t i = 1; i < n->count; i++) { /* the target is of the unmarked numbers */
        double d = n->v[i] - n->v[i - 1], y = 3 * (x->v[i] - x->v[i - 1]);
        xy += d * y;
        xx += d * d;
    }
    s.slope = xx > 0 ? xy / xx : 0;
    return s;
}

static void check_statistics(const numbers *before, const numbers *after)
{
    statistics a = statistics_of(before, before), b = statistics_of(after, before);
    double size = ald__mark_abs(a.mean) > a.deviation ? ald__mark_abs(a.mean) : a.deviation;
    CHECK(ald__mark_abs(b.mean - a.mean) <= 1.0001e-4 * size);
    CHECK(ald__mark_abs(b.deviation - a.deviation) <= 1.0001e-4 * a.deviation);
    CHECK(ald__mark_abs(b.slope - 3) < 1e-3 && b.slope != 0);
}

/* Most values move, by less than the strength, equal ones alike; cut into batches in another way they move the same. */
static void test_types(void)
{
    for (unsigned kind = 0; kind < MARK_TEXT; kind++) {
        numbers before = plain_column(marked_kinds, kind);
        numbers after = marked_column(marked_kinds, ROWS, kind, 1e-3f);
        numbers cut = marked_column(marked_kinds, 371, kind, 1e-3f);
        size_t moved = 0;
        REQUIRE_INT(before.count, after.count);
        REQUIRE_INT(before.count, cut.count);
        CHECK_MEM(cut.v, after.v, after.count * sizeof(double));
        for (size_t i = 0; i < before.count; i++) {
            moved += before.v[i] != after.v[i];
            CHECK(ald__mark_abs(after.v[i] - before.v[i]) <= 1e-3 * ald__mark_abs(before.v[i]));
        }
        check_statistics(&before, &after);
        if (!CHECK(moved > before.count * 9 / 20))
            printf("    %s: %zu of %zu\n", mark_types[kind], moved, before.count);
        free(before.v);
        free(after.v);
        free(cut.v);
    }
}

static void test_report(void)
{
    ald_watermark *w = new_mark(&mark_host, 1e-3f, 0);
    const ald_watermark_report *report;
    struct ArrowArrayStream s;
    mark_table(ALL, ROWS, 1000, &s);
    REQUIRE_OK(ald_watermark_survey(w, &s, &err), &err);
    report = ald_watermark_get_report(w);
    REQUIRE_INT(report->column_count, MARK_KINDS);
    CHECK_STR(report->columns[MARK_RECORDS].name, "struct<x: double>.x");
    CHECK_INT(report->columns[MARK_DOUBLES].mode, ALD_WATERMARK_DOUBLES);
    CHECK_INT(report->columns[MARK_DOUBLES].planes, 4);
    CHECK_UINT(report->columns[MARK_DOUBLES].value_count, ROWS / 10 * 9);
    CHECK_UINT(report->columns[MARK_DOUBLES].marked_count, ROWS / 10 * 9);
    CHECK_INT(report->columns[MARK_FLOATS].mode, ALD_WATERMARK_FLOATS);
    CHECK_INT(report->columns[MARK_PRICES].mode, ALD_WATERMARK_DECIMALS);
    CHECK_INT(report->columns[MARK_PRICES].decimals, 2);
    CHECK_INT(report->columns[MARK_DECIMALS].mode, ALD_WATERMARK_DECIMALS);
    CHECK_INT(report->columns[MARK_INTS].mode, ALD_WATERMARK_DECIMALS);
    CHECK_INT(report->columns[MARK_TIMES].mode, ALD_WATERMARK_ROUNDED);
    CHECK_INT(report->columns[MARK_RUNS].mode, ALD_WATERMARK_DOUBLES);
    CHECK_UINT(report->columns[MARK_RUNS].value_count, ROWS);
    CHECK_UINT(report->columns[MARK_CODED].value_count, ROWS);
    CHECK_INT(report->columns[MARK_TEXT].mode, ALD_WATERMARK_SKIPPED);
    CHECK_STR(ald_watermark_reason_text(report->columns[MARK_TEXT].reason),
              "no numbers of a type that can be marked");
    for (unsigned k = 0; k < MARK_TEXT; k++) {
        CHECK(report->columns[k].mean_shift < 1e-4 && report->columns[k].deviation_shift < 1e-4);
        CHECK(report->columns[k].largest_change > 1e-7 && report->columns[k].largest_change < 1e-3);
    }
    CHECK_INT(report->capacity_is_low, 0);
    CHECK(report->capacity > 4 * ROWS);
    ald_watermark_free(w);
}

/* How far a number moves is known in the column's own unit: times are said to move by minutes or hours. */
static void test_moves(void)
{
    ald_watermark *w = new_mark(&mark_host, 1e-3f, 0);
    const ald_watermark_report *report;
    struct ArrowArrayStream s;
    mark_table(marked_kinds, ROWS, ROWS, &s);
    REQUIRE_OK(ald_watermark_survey(w, &s, &err), &err);
    report = ald_watermark_get_report(w);
    for (unsigned kind = 0; kind < MARK_TEXT; kind++) {
        numbers before = plain_column(marked_kinds, kind);
        numbers after = marked_column(marked_kinds, ROWS, kind, 1e-3f);
        const ald_watermark_column *c = &report->columns[kind];
        double most = 0;
        REQUIRE_INT(before.count, after.count);
        for (size_t i = 0; i < before.count; i++) {
            double move = ald__mark_abs(after.v[i] - before.v[i]);
            most = move > most ? move : most;
        }
        if (!CHECK(most > 0 && most <= c->largest_move * 1.000001 && c->largest_move < 1.1 * most))
            printf("    %s: %g of %g\n", mark_types[kind], most, c->largest_move);
        CHECK_INT(c->unit, kind == MARK_TIMES  ? ALD_WATERMARK_SECONDS
                           : kind == MARK_DAYS ? ALD_WATERMARK_WHOLE_DAYS
                                               : ALD_WATERMARK_NO_TIME);
        free(before.v);
        free(after.v);
    }
    CHECK(report->columns[MARK_TIMES].largest_move > 600); /* seconds; few of them, relative */
    CHECK(report->columns[MARK_TIMES].largest_change < 1e-5);
    ald_watermark_free(w);
}

/* A table that does not fit into the memory given goes to the spool: the same comes out. */
static void test_spool(void)
{
    uint32_t mask = marked_kinds;
    ald_watermark *w = new_mark(&mark_host, 1e-3f, 20000);
    struct ArrowArrayStream s;
    numbers whole = marked_column(mask, 500, MARK_DOUBLES, 1e-3f), spooled;
    mark_table(mask, ROWS, 500, &s);
    REQUIRE_OK(ald_watermark_embed(w, &s, &err), &err);
    spooled = read_column(&s, mask, MARK_DOUBLES);
    REQUIRE_INT(spooled.count, whole.count);
    CHECK_MEM(spooled.v, whole.v, whole.count * sizeof(double));
    ald_watermark_free(w);
    free(whole.v);
    free(spooled.v);
}

static void test_refused(void)
{
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    static const uint32_t missing[2] = {0, 7};
    struct ArrowArrayStream s;
    ald_watermark *w;
    options.strength = 0.01f;
    CHECK_INT(ald_watermark_new(&options, mark_test_seller, &mark_host, &w, &err),
              ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "0.004");
    CHECK(w == NULL);
    options.strength = 0.001f;
    options.redundancy = 1;
    CHECK_INT(ald_watermark_new(&options, mark_test_seller, &mark_host, &w, &err),
              ALD_E_INVALID_ARG);
    options.redundancy = 0.5f;
    options.columns = missing;
    options.column_count = 2;
    REQUIRE_OK(ald_watermark_new(&options, mark_test_seller, &mark_host, &w, &err), &err);
    mark_table(3, 100, 100, &s);
    CHECK_INT(ald_watermark_survey(w, &s, &err), ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "no column 7");
    ald_watermark_free(w);
    w = new_mark(&mark_host, 1e-3f, 0);
    mark_table(1u << MARK_TEXT, 100, 100, &s);
    CHECK_INT(ald_watermark_embed(w, &s, &err), ALD_E_UNSUPPORTED);
    CHECK(s.release == NULL);
    mark_table(1, 100, 100, &s);
    CHECK_INT(ald_watermark_survey(w, &s, &err), ALD_E_INVALID_ARG);
    ald_watermark_free(w);
}

static void test_other_schema(void)
{
    ald_watermark *w = new_mark(&mark_host, 1e-3f, 0);
    struct ArrowArrayStream s;
    mark_table(3, ROWS, ROWS, &s);
    REQUIRE_OK(ald_watermark_survey(w, &s, &err), &err);
    mark_table(5, ROWS, ROWS, &s);
    CHECK_INT(ald_watermark_apply(w, &s, &err), ALD_E_SCHEMA_MISMATCH);
    CHECK(s.release == NULL);
    ald_watermark_free(w);
}

static void test_chosen(void)
{
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    static const uint32_t second = 1;
    struct ArrowArrayStream s;
    ald_watermark *w;
    numbers before, after;
    options.columns = &second;
    options.column_count = 1;
    REQUIRE_OK(ald_watermark_new(&options, mark_test_seller, &mark_host, &w, &err), &err);
    mark_table(3, ROWS, 100, &s);
    REQUIRE_OK(ald_watermark_embed(w, &s, &err), &err);
    CHECK_INT(ald_watermark_get_report(w)->columns[0].reason, ALD_WATERMARK_NOT_CHOSEN);
    after = read_column(&s, 3, 0);
    before = plain_column(3, 0);
    CHECK_MEM(after.v, before.v, before.count * sizeof(double));
    ald_watermark_free(w);
    free(before.v);
    free(after.v);
}

/* Every allocation fails once: nothing leaks, nothing half-marked comes out. */
static void test_no_memory(void)
{
    check_heap heap;
    ald_status st = ALD_E_NOMEM;
    for (int64_t n = 0; n < 4000 && st != ALD_OK; n += n < 200 ? 1 : 23) {
        ald_host host = mark_host;
        ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
        ald_watermark *w = NULL;
        struct ArrowArrayStream s;
        mark_table(marked_kinds, 300, 100, &s);
        host.alloc = check_heap_init(&heap, n);
        st = ald_watermark_new(&options, mark_test_seller, &host, &w, &err);
        if (st == ALD_OK)
            st = ald_watermark_embed(w, &s, &err);
        else
            s.release(&s);
        while (st == ALD_OK) {
            struct ArrowArray batch;
            st = ald_stream_next(&s, &batch, &err);
            if (st != ALD_OK || batch.release == NULL)
                break;
            batch.release(&batch);
        }
        if (s.release != NULL)
            s.release(&s);
        ald_watermark_free(w);
        CHECK_HEAP_EMPTY(&heap);
        if (st != ALD_OK)
            CHECK_INT(st, ALD_E_NOMEM);
    }
    CHECK_INT(st, ALD_OK); /* more allocations than this are not expected */
}

static void test_threads(void)
{
    ald_host threads = ald_native_host(2), kept = mark_host;
    numbers one = marked_column(marked_kinds, 500, MARK_VECTORS, 1e-3f), two;
    mark_host = threads;
    two = marked_column(marked_kinds, 500, MARK_VECTORS, 1e-3f);
    mark_host = kept;
    REQUIRE_INT(one.count, two.count);
    CHECK_MEM(two.v, one.v, one.count * sizeof(double));
    free(one.v);
    free(two.v);
}

static void test_keys(void)
{
    uint8_t a[32], b[32], c[32];
    REQUIRE_OK(ald_watermark_key(mark_test_seller, &mark_host, a, &err), &err);
    REQUIRE_OK(ald_watermark_dataset_key(a, "set 1", 5, &mark_host, b, &err), &err);
    REQUIRE_OK(ald_watermark_dataset_key(a, "set 2", 5, &mark_host, c, &err), &err);
    CHECK(memcmp(a, b, 32) != 0 && memcmp(b, c, 32) != 0);
    REQUIRE_OK(ald_watermark_buyer(a, "Ada", 3, &mark_host, b, &err), &err);
    REQUIRE_OK(ald_watermark_buyer(a, "Ada", 3, &mark_host, c, &err), &err);
    CHECK_MEM(b, c, 32);
}

int main(void)
{
    mark_host = ald_native_host(1);
    mark_test_init();
    RUN(test_types);
    RUN(test_report);
    RUN(test_moves);
    RUN(test_spool);
    RUN(test_refused);
    RUN(test_other_schema);
    RUN(test_chosen);
    RUN(test_no_memory);
    RUN(test_threads);
    RUN(test_keys);
    return check_done();
}
