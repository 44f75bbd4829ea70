/* SPDX-License-Identifier: MIT */
/* Reading marks back: blind, against one buyer, against lists; after changes of the data, and on data without a mark. */
#include <math.h>

#include "ald/native.h"
#include "ald/watermark.h"
#include "check_alloc.h"
#include "core/watermark/mark_math.h"
#include "watermark_tables.h"

static ald_error err;

/* ---- tables as arrays of doubles, which a test can do anything to */

#define COLUMNS_MAX 4
#define ROWS_MAX 20000

typedef struct table {
    size_t columns, rows;
    double v[COLUMNS_MAX][ROWS_MAX];
} table;

static table work;

static void stream_of(const table *t, int64_t batch, struct ArrowArrayStream *out)
{
    struct ArrowSchema schema;
    struct ArrowArray *batches = calloc(t->rows / (size_t)batch + 1, sizeof *batches);
    size_t count = 0;
    int ok = ald__schema_new(&mark_host.alloc, t->columns, 0, &schema, &err) == ALD_OK &&
             ald__schema_set_format(&schema, "+s", 2, &err) == ALD_OK;
    for (size_t c = 0; c < t->columns && ok; c++)
        ok = ald_type_parse(&mark_host, "double", 6, "x", 1, schema.children[c], &err) == ALD_OK;
    for (size_t first = 0; first < t->rows && ok; first += (size_t)batch) {
        size_t n = t->rows - first < (size_t)batch ? t->rows - first : (size_t)batch;
        mark_new(&batches[count], 1, t->columns, 0, (int64_t)n);
        for (size_t c = 0; c < t->columns; c++) {
            struct ArrowArray *a = batches[count].children[c];
            mark_new(a, 2, 0, 0, (int64_t)n);
            memcpy(mark_buffer(a, 1, n * 8), t->v[c] + first, n * 8);
        }
        count++;
    }
    if (!ok || ald_stream_from_batches(&schema, batches, count, &mark_host, out, &err) != ALD_OK)
        abort();
    free(batches);
}

static void read_table(struct ArrowArrayStream *s, table *t)
{
    t->rows = 0;
    for (;;) {
        struct ArrowArray batch;
        if (!CHECK_OK(ald_stream_next(s, &batch, &err), &err) || batch.release == NULL)
            break;
        for (size_t c = 0; c < t->columns; c++)
            memcpy(t->v[c] + t->rows, batch.children[c]->buffers[1], (size_t)batch.length * 8);
        t->rows += (size_t)batch.length;
        batch.release(&batch);
    }
    s->release(s);
}

static void fill(table *t, size_t columns, size_t rows, unsigned seed)
{
    static const mark_kind kinds[COLUMNS_MAX] = {MARK_DOUBLES, MARK_PRICES, MARK_CODED, MARK_INTS};
    t->columns = columns;
    t->rows = rows;
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = 0; i < rows; i++)
            t->v[c][i] = mark_number(kinds[c], (int64_t)(i + seed * 100000));
    }
}

static ald_watermark *marker(const uint8_t *buyer, float strength)
{
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    ald_watermark *w = NULL;
    options.strength = strength;
    memcpy(options.buyer_hash, buyer, 32);
    CHECK_OK(ald_watermark_new(&options, mark_test_seller, &mark_host, &w, &err), &err);
    return w;
}

static void mark(table *t, const uint8_t *buyer, float strength)
{
    ald_watermark *w = marker(buyer, strength);
    struct ArrowArrayStream s;
    stream_of(t, 1000, &s);
    if (CHECK_OK(ald_watermark_embed(w, &s, &err), &err))
        read_table(&s, t);
    ald_watermark_free(w);
}

static ald_watermark_reading *reading_of(const table *t, const uint8_t *key,
                                         const ald_watermark_read_options *options)
{
    struct ArrowArrayStream s;
    ald_watermark_reading *r = NULL;
    stream_of(t, 777, &s);
    CHECK_OK(ald_watermark_read(&s, key, options, &mark_host, &r, &err), &err);
    return r;
}

static ald_watermark_finding extract(const table *t, const uint8_t *key)
{
    ald_watermark_reading *r = reading_of(t, key, NULL);
    ald_watermark_finding f = {0};
    CHECK_OK(ald_watermark_extract(r, &f, &err), &err);
    ald_watermark_reading_free(r);
    return f;
}

static ald_watermark_finding verify(const table *t, const uint8_t *buyer)
{
    ald_watermark_reading *r = reading_of(t, mark_test_seller, NULL);
    ald_watermark_finding f = {0};
    CHECK_OK(ald_watermark_verify(r, buyer, &f, &err), &err);
    ald_watermark_reading_free(r);
    return f;
}

static void check_extracts(const table *t, const char *what)
{
    ald_watermark_finding f = extract(t, mark_test_seller);
    if (!CHECK(f.found && memcmp(f.buyer_hash, mark_test_buyer, 32) == 0))
        printf("    %s: found %d, presence %g, carriers %ju\n", what, f.found, f.presence,
               (uintmax_t)f.carriers);
    CHECK(f.confidence > 0.999999 && f.evidence_bits > 40 && f.is_marked);
}

/* ---- changes */

static void shuffle(table *t)
{
    mark_random r = {99};
    for (size_t i = t->rows; i > 1; i--) {
        size_t j = (size_t)(mark_random_next(&r) >> 11) % i;
        for (size_t c = 0; c < t->columns; c++) {
            double kept = t->v[c][i - 1];
            t->v[c][i - 1] = t->v[c][j];
            t->v[c][j] = kept;
        }
    }
}

static void test_whole(void)
{
    ald_watermark_finding f;
    for (size_t columns = 1; columns <= COLUMNS_MAX; columns++) {
        fill(&work, columns, 5000, (unsigned)columns);
        mark(&work, mark_test_buyer, 1e-3f);
        check_extracts(&work, "whole");
        shuffle(&work);
        work.rows /= 2;
        check_extracts(&work, "shuffled, half of the rows");
        f = verify(&work, mark_test_buyer);
        CHECK(f.found && f.log2_p < -100);
        f = verify(&work, mark_test_seller);
        CHECK(!f.found && f.log2_p > -20);
    }
}

static void test_kinds_alone(void)
{
    static const mark_kind kinds[] = {MARK_DOUBLES, MARK_PRICES, MARK_INTS, MARK_TIMES,
                                      MARK_FLOATS};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        work.columns = 1;
        work.rows = 3000;
        for (size_t i = 0; i < work.rows; i++)
            work.v[0][i] = kinds[k] == MARK_FLOATS
                               ? (double)(float)mark_number(kinds[k], (int64_t)i)
                               : mark_number(kinds[k], (int64_t)i);
        mark(&work, mark_test_buyer, 5e-4f);
        check_extracts(&work, mark_types[kinds[k]]);
    }
}

static void test_noise(void)
{
    mark_random r = {5};
    fill(&work, 3, 5000, 30);
    mark(&work, mark_test_buyer, 1e-3f);
    for (size_t i = 0; i < work.rows; i++) {
        work.v[0][i] += 1e-4 * mark_normal(&r);
        work.v[1][i] += 1e-4 * 60 * mark_normal(&r);
        work.v[2][i] += 1e-4 * mark_normal(&r);
    }
    check_extracts(&work, "noise");
}

static double digits(double x, int n)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.*g", n, x);
    return strtod(text, NULL);
}

static void test_rounded(void)
{
    for (int n = 15; n >= 5; n -= 5) {
        fill(&work, 3, 5000, 40);
        mark(&work, mark_test_buyer, 1e-3f);
        for (size_t i = 0; i < work.rows; i++) {
            for (size_t c = 0; c < 3; c++)
                work.v[c][i] = digits(work.v[c][i], n);
        }
        check_extracts(&work, "digits");
    }
    for (size_t i = 0; i < work.rows; i++) {
        for (size_t c = 0; c < 3; c++)
            work.v[c][i] = (double)(float)work.v[c][i];
    }
    check_extracts(&work, "floats");
}

/* Floats that were printed with 15 decimals are not quite floats any more; half of them are not marked. Their grid is no lattice. */
static void test_printed_floats(void)
{
    const size_t marked = 1000;
    work.columns = 1;
    work.rows = marked;
    for (size_t i = 0; i < 2 * marked; i++)
        work.v[0][i] = (double)(float)(mark_number(MARK_FLOATS, (int64_t)i) / 20);
    mark(&work, mark_test_buyer, 1e-3f);
    work.rows = 2 * marked;
    for (size_t i = 0; i < work.rows; i++)
        work.v[0][i] = floor(work.v[0][i] * 1e15 + 0.5) / 1e15;
    check_extracts(&work, "floats with 15 decimals, half of them marked");
}

static void test_converted(void)
{
    static const ald_watermark_affine hints[2] = {{0.45359237, 0}, {1.8, 32}};
    ald_watermark_read_options options = ALD_WATERMARK_READ_OPTIONS_INIT;
    ald_watermark_reading *r;
    ald_watermark_finding f;
    options.affine = hints;
    options.affine_count = 2;
    fill(&work, 3, 2000, 50);
    mark(&work, mark_test_buyer, 1e-3f);
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < work.rows; i++)
            work.v[c][i] = work.v[c][i] * 1.8 + 32;
    }
    CHECK(!extract(&work, mark_test_seller).found);
    r = reading_of(&work, mark_test_seller, &options);
    REQUIRE_OK(ald_watermark_extract(r, &f, &err), &err);
    CHECK(f.found && f.affine == 1 && memcmp(f.buyer_hash, mark_test_buyer, 32) == 0);
    REQUIRE_OK(ald_watermark_verify(r, mark_test_buyer, &f, &err), &err);
    CHECK(f.found && f.affine == 1);
    ald_watermark_reading_free(r);
}

/* Two buyers average: both are found in the list, nobody else is. */
static void test_list(void)
{
    static uint8_t hashes[3000][32];
    static table other;
    ald_watermark_rank ranks[4];
    ald_watermark_reading *r;
    size_t count;
    mark_random random = {77};
    for (size_t i = 0; i < sizeof hashes; i++)
        hashes[i / 32][i % 32] = (uint8_t)(mark_random_next(&random) >> 30);
    fill(&work, 3, 5000, 60);
    other = work;
    mark(&work, hashes[1234], 1e-3f);
    mark(&other, hashes[2999], 1e-3f);
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < work.rows; i++)
            work.v[c][i] = (work.v[c][i] + other.v[c][i]) / 2;
    }
    r = reading_of(&work, mark_test_seller, NULL);
    REQUIRE_OK(ald_watermark_list(r, hashes[0], 3000, ranks, 4, &count, &err), &err);
    REQUIRE_INT(count, 4);
    CHECK((ranks[0].buyer == 1234 && ranks[1].buyer == 2999) ||
          (ranks[0].buyer == 2999 && ranks[1].buyer == 1234));
    CHECK(ranks[1].log2_p < -40 && ranks[1].agreement > 0);
    CHECK(ranks[2].log2_p > -20);
    REQUIRE_OK(ald_watermark_list(r, hashes[0], 0, ranks, 4, &count, &err), &err);
    CHECK_UINT(count, 0);
    ald_watermark_reading_free(r);
}

/* Three buyers average: prices get more decimals, which do not hide the last digit that they had. */
static void test_averages(void)
{
    static uint8_t hashes[20][32];
    static table copies[3];
    ald_watermark_rank ranks[4];
    ald_watermark_reading *r;
    size_t count, found = 0;
    for (size_t b = 0; b < 20; b++)
        hashes[b][7] = (uint8_t)(b + 1);
    for (size_t b = 0; b < 3; b++) {
        fill(&copies[b], 2, 1200, 64);
        mark(&copies[b], hashes[5 * b], 1e-3f);
    }
    work = copies[0];
    for (size_t i = 0; i < work.rows; i++)
        work.v[0][i] = work.v[1][i] =
            (copies[0].v[1][i] + copies[1].v[1][i] + copies[2].v[1][i]) / 3;
    work.columns = 1;
    r = reading_of(&work, mark_test_seller, NULL);
    REQUIRE_OK(ald_watermark_list(r, hashes[0], 20, ranks, 4, &count, &err), &err);
    REQUIRE_INT(count, 4);
    for (size_t i = 0; i < 3; i++)
        found += ranks[i].buyer % 5 == 0 && ranks[i].buyer < 15 && ranks[i].log2_p < -40;
    CHECK_UINT(found, 3);
    CHECK(ranks[3].log2_p > -20);
    ald_watermark_reading_free(r);
}

/* Marked again by somebody else: the second mark is taken off, and the first one is there. */
static void test_marked_over(void)
{
    static uint8_t other_buyer[32] = {9}, other_key[32] = {1, 2};
    for (unsigned seed = 0; seed < 4; seed++) {
        ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
        struct ArrowArrayStream s;
        ald_watermark *w = NULL;
        ald_watermark_finding f;
        options.strength = 1e-3f;
        memcpy(options.buyer_hash, other_buyer, 32);
        other_key[3] = (uint8_t)seed;
        fill(&work, 1, 1500, 65 + seed);
        mark(&work, mark_test_buyer, seed % 2 ? 1e-3f : 5e-4f);
        stream_of(&work, 700, &s);
        REQUIRE_OK(ald_watermark_new(&options, other_key, &mark_host, &w, &err), &err);
        REQUIRE_OK(ald_watermark_embed(w, &s, &err), &err);
        read_table(&s, &work);
        ald_watermark_free(w);
        f = extract(&work, other_key);
        CHECK(f.found && memcmp(f.buyer_hash, other_buyer, 32) == 0);
        f = extract(&work, mark_test_seller);
        CHECK(f.found && memcmp(f.buyer_hash, mark_test_buyer, 32) == 0 && f.affine == -1);
        f = verify(&work, mark_test_buyer);
        CHECK(f.found && f.log2_p < -100);
        f = verify(&work, other_buyer);
        CHECK(!f.found && f.log2_p > -20);
    }
}

/* The last digits of whole numbers that follow one another cancel out but for two; under this key those two agree. */
static void test_row_numbers(void)
{
    static const uint8_t key[32] = {59, 3};
    ald_watermark_finding f;
    work.columns = 1;
    work.rows = 2369;
    for (size_t i = 0; i < work.rows; i++)
        work.v[0][i] = (double)(i + 1);
    f = extract(&work, key);
    CHECK(!f.found && !f.is_marked && f.presence < 6);
}

/* No buyer is named where there is no mark, or one of another key. */
static void test_clean(void)
{
    for (unsigned seed = 0; seed < 6; seed++) {
        ald_watermark_finding f;
        uint8_t key[32] = {(uint8_t)(seed + 1)};
        fill(&work, seed % 4 + 1, 3000, 70 + seed);
        if (seed >= 3)
            mark(&work, mark_test_buyer, 1e-3f);
        f = extract(&work, key);
        CHECK(!f.found && !f.is_marked);
        CHECK(f.confidence == 0);
        f = verify(&work, seed < 3 ? mark_test_buyer : mark_test_seller);
        CHECK(!f.found && f.log2_p > -20);
    }
}

static void test_few(void)
{
    ald_watermark_finding f;
    fill(&work, 1, 40, 80);
    mark(&work, mark_test_buyer, 5e-4f);
    f = extract(&work, mark_test_seller);
    CHECK(!f.found);
    f = verify(&work, mark_test_buyer);
    CHECK(f.found);
    work.rows = 3;
    f = extract(&work, mark_test_seller);
    CHECK(!f.found && f.carriers == 0);
    work.rows = 0;
    f = verify(&work, mark_test_buyer);
    CHECK(!f.found && f.log2_p == 0);
}

/* Numbers at the ends of what a double holds. */
static void test_extremes(void)
{
    mark_random r = {3};
    fill(&work, 2, 2000, 90);
    for (size_t i = 0; i < work.rows; i++) {
        work.v[0][i] = ald__mark_double(mark_random_next(&r));
        work.v[1][i] = ald__mark_double(mark_random_next(&r) >> 12);
    }
    CHECK(!extract(&work, mark_test_seller).found);
    work.v[0][0] = 1e308;
    work.v[0][1] = -1e308;
    CHECK(!verify(&work, mark_test_buyer).found);
}

/* Beyond the memory given, a sample is read. */
static void test_sampled(void)
{
    ald_watermark_read_options options = ALD_WATERMARK_READ_OPTIONS_INIT;
    ald_watermark_reading *r;
    ald_watermark_finding f;
    struct ArrowArrayStream s;
    ald_watermark *w = marker(mark_test_buyer, 1e-3f);
    options.memory_bytes = 1;
    mark_table(1u << MARK_FLOATS, 200000, 5000, &s);
    REQUIRE_OK(ald_watermark_embed(w, &s, &err), &err);
    REQUIRE_OK(ald_watermark_read(&s, mark_test_seller, &options, &mark_host, &r, &err), &err);
    REQUIRE_OK(ald_watermark_extract(r, &f, &err), &err);
    CHECK(f.found && memcmp(f.buyer_hash, mark_test_buyer, 32) == 0);
    ald_watermark_reading_free(r);
    ald_watermark_free(w);
}

/* Columns of all types, from a marked table to the buyer. */
static void test_types(void)
{
    for (unsigned kind = 0; kind < MARK_TEXT; kind++) {
        ald_watermark *w = marker(mark_test_buyer, 1e-3f);
        ald_watermark_reading *r = NULL;
        ald_watermark_finding f = {0};
        struct ArrowArrayStream s;
        mark_table(1u << kind, 6000, 500, &s);
        if (CHECK_OK(ald_watermark_embed(w, &s, &err), &err) &&
            CHECK_OK(ald_watermark_read(&s, mark_test_seller, NULL, &mark_host, &r, &err), &err))
            CHECK_OK(ald_watermark_extract(r, &f, &err), &err);
        if (!CHECK(f.found))
            printf("    %s\n", mark_types[kind]);
        ald_watermark_reading_free(r);
        ald_watermark_free(w);
    }
}

static void test_no_memory(void)
{
    check_heap heap;
    ald_status st = ALD_E_NOMEM;
    ald_watermark_finding f = {0};
    fill(&work, 2, 300, 95);
    mark(&work, mark_test_buyer, 1e-3f);
    for (int64_t n = 0; n < 4000 && st != ALD_OK; n += n < 100 ? 1 : 17) {
        ald_host host = mark_host;
        ald_watermark_reading *r = NULL;
        struct ArrowArrayStream s;
        stream_of(&work, 100, &s);
        host.alloc = check_heap_init(&heap, n);
        st = ald_watermark_read(&s, mark_test_seller, NULL, &host, &r, &err);
        if (st == ALD_OK)
            st = ald_watermark_verify(r, mark_test_seller, &f, &err);
        if (st == ALD_OK)
            st = ald_watermark_extract(r, &f, &err);
        ald_watermark_reading_free(r);
        CHECK_HEAP_EMPTY(&heap);
        if (st != ALD_OK)
            CHECK_INT(st, ALD_E_NOMEM);
    }
    CHECK_INT(st, ALD_OK); /* more allocations than this are not expected */
    CHECK(f.found);
}

int main(void)
{
    mark_host = ald_native_host(1);
    mark_test_init();
    RUN(test_whole);
    RUN(test_kinds_alone);
    RUN(test_noise);
    RUN(test_rounded);
    RUN(test_printed_floats);
    RUN(test_converted);
    RUN(test_list);
    RUN(test_averages);
    RUN(test_marked_over);
    RUN(test_row_numbers);
    RUN(test_clean);
    RUN(test_few);
    RUN(test_extremes);
    RUN(test_sampled);
    RUN(test_types);
    RUN(test_no_memory);
    return check_done();
}
