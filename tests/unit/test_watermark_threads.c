/* SPDX-License-Identifier: MIT */
/* Long columns that are shared out to threads: what comes out is the same with one thread and with any number. */
#include "ald/ipc.h"
#include "ald/native.h"
#include "ald/watermark.h"
#include "core/watermark/mark_tally.h"
#include "watermark_tables.h"

#define VALUES 200003
#define ROWS 150000

static ald_error err;
static double values[VALUES];

static void fill_values(int kind)
{
    mark_random r = {UINT64_C(88172645463325252)};
    for (size_t i = 0; i < VALUES; i++) {
        double v = mark_normal(&r);
        values[i] = kind == 0   ? v
                    : kind == 1 ? (double)(int64_t)(v * 100) / 4 /* many equal, some 0 */
                    : kind == 2 ? 7.25
                    : kind == 3 ? (double)i - 1000.5                 /* rises, with a sign in it */
                    : kind == 4 ? (double)(VALUES - i) * 0x1p-60 + 1 /* differs in the last bits */
                    : kind == 5
                        ? (double)(int64_t)(v * 64) / 64 + v * 0x1p-30 /* near some values */
                    : kind == 6 ? (i % 5000 == 7 ? v * 1e200 : 1000 + v * 1e-9) /* and a few afar */
                                : (double)(int64_t)(v * 40000);                 /* some are equal */
    }
}

static void sorted(ald__mark_tally *t, unsigned threads)
{
    ald_host host = ald_native_host(threads);
    ald__mark_tally_init(t, &mark_host.alloc, 1u << 20);
    CHECK_OK(ald__mark_tally_add(t, values, VALUES, &err), &err);
    CHECK_OK(ald__mark_tally_sort(t, threads > 1 ? &host : NULL, &err), &err);
}

static void check_same(const ald__mark_tally *got, const ald__mark_tally *want)
{
    REQUIRE_INT(got->count, want->count);
    CHECK_UINT(got->kept, want->kept);
    CHECK_UINT(got->zeros, want->zeros);
    CHECK_UINT(got->total, want->total);
    CHECK_INT(got->rises * 4 + got->falls * 2 + got->is_f32,
              want->rises * 4 + want->falls * 2 + want->is_f32);
    CHECK(got->least == want->least && got->greatest == want->greatest && got->last == want->last);
    CHECK_MEM(got->value, want->value, want->count * sizeof(double));
    if (got->weight != NULL)
        CHECK_MEM(got->weight, want->weight, want->count * sizeof(uint64_t));
}

static void test_sort(void)
{
    static const unsigned threads[] = {2, 3, 4, 9};
    for (int kind = 0; kind < 8; kind++) {
        ald__mark_tally alone;
        size_t falls = 0;
        fill_values(kind);
        sorted(&alone, 1);
        for (size_t i = 1; i < alone.count; i++)
            falls += alone.value[i] <= alone.value[i - 1];
        CHECK_UINT(falls, 0);
        for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
            ald__mark_tally t;
            sorted(&t, threads[i]);
            check_same(&t, &alone);
            ald__mark_tally_clear(&t);
        }
        ald__mark_tally_clear(&alone);
    }
}

/* Parts that are filled by themselves are as the whole. */
static void test_parts(void)
{
    for (int kind = 0; kind < 4; kind++) {
        ald__mark_tally whole, joined, part[2];
        const size_t first = 1000, middle = 64000;
        int is_there;
        fill_values(kind);
        ald__mark_tally_init(&whole, &mark_host.alloc, VALUES);
        ald__mark_tally_init(&joined, &mark_host.alloc, VALUES);
        REQUIRE_OK(ald__mark_tally_add(&whole, values, VALUES, &err), &err);
        REQUIRE_OK(ald__mark_tally_add(&joined, values, first, &err), &err);
        REQUIRE_OK(ald__mark_tally_reserve(&joined, VALUES - first, &is_there, &err), &err);
        REQUIRE_INT(is_there, 1);
        ald__mark_tally_part(&joined, 0, middle - first, &part[0]);
        ald__mark_tally_part(&joined, middle - first, VALUES - middle, &part[1]);
        REQUIRE_OK(ald__mark_tally_add(&part[1], values + middle, VALUES - middle, &err), &err);
        REQUIRE_OK(ald__mark_tally_add(&part[0], values + first, middle - first, &err), &err);
        ald__mark_tally_join(&joined, &part[0]);
        ald__mark_tally_join(&joined, &part[1]);
        check_same(&joined, &whole);
        REQUIRE_OK(ald__mark_tally_reserve(&joined, VALUES, &is_there, &err), &err);
        CHECK_INT(is_there, 0);
        ald__mark_tally_clear(&whole);
        ald__mark_tally_clear(&joined);
    }
}

/* A column that falls at the border of two parts alone does not rise. */
static void test_border(void)
{
    static const double rising[4] = {1, 2, 1.5, 3};
    ald__mark_tally t, part[2];
    int is_there;
    ald__mark_tally_init(&t, &mark_host.alloc, 100);
    REQUIRE_OK(ald__mark_tally_reserve(&t, 4, &is_there, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        ald__mark_tally_part(&t, 2 * i, 2, &part[i]);
        REQUIRE_OK(ald__mark_tally_add(&part[i], rising + 2 * i, 2, &err), &err);
    }
    CHECK(part[0].rises && part[1].rises);
    ald__mark_tally_join(&t, &part[0]);
    CHECK_INT(t.rises, 1);
    ald__mark_tally_join(&t, &part[1]);
    CHECK_INT(t.rises, 0);
    ald__mark_tally_clear(&t);
}

/* ---- whole columns */

typedef struct outcome {
    ald_buffer marked; /* as an Arrow IPC stream */
    ald_watermark_column report;
    ald_watermark_finding finding;
} outcome;

static void mark_and_read(unsigned kind, int64_t batch, uint64_t memory, unsigned threads,
                          outcome *out)
{
    ald_host host = ald_native_host(threads);
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    ald_watermark_read_options read_options = ALD_WATERMARK_READ_OPTIONS_INIT;
    ald_ipc_options ipc = ALD_IPC_OPTIONS_INIT;
    ald_watermark_reading *r = NULL;
    ald_watermark *w = NULL;
    struct ArrowArrayStream s;
    ald_sink sink;
    ald_source source;
    memset(out, 0, sizeof *out);
    out->marked.alloc = &mark_host.alloc;
    sink = ald_buffer_sink(&out->marked);
    memcpy(options.buyer_hash, mark_test_buyer, 32);
    options.memory_bytes = read_options.memory_bytes = memory;
    mark_table(1u << kind, ROWS, batch, &s);
    REQUIRE_OK(ald_watermark_new(&options, mark_test_seller, &host, &w, &err), &err);
    REQUIRE_OK(ald_watermark_survey(w, &s, &err), &err);
    mark_table(1u << kind, ROWS, batch, &s);
    REQUIRE_OK(ald_watermark_apply(w, &s, &err), &err);
    out->report = ald_watermark_get_report(w)->columns[0];
    REQUIRE_OK(ald_ipc_write(&s, &sink, &ipc, &host, &err), &err);
    ald_watermark_free(w);
    source = ald_source_memory(out->marked.data, out->marked.size);
    REQUIRE_OK(ald_ipc_open(&source, ALD_IPC_STREAM, &host, &s, &err), &err);
    REQUIRE_OK(ald_watermark_read(&s, mark_test_seller, &read_options, &host, &r, &err), &err);
    CHECK_OK(ald_watermark_extract(r, &out->finding, &err), &err);
    ald_watermark_reading_free(r);
}

static void check_outcome(const outcome *got, const outcome *want)
{
    REQUIRE_INT(got->marked.size, want->marked.size);
    CHECK_MEM(got->marked.data, want->marked.data, want->marked.size);
    CHECK_UINT(got->report.carrier_count, want->report.carrier_count);
    CHECK(got->report.mean_shift == want->report.mean_shift &&
          got->report.deviation_shift == want->report.deviation_shift &&
          got->report.largest_change == want->report.largest_change);
    CHECK_UINT(got->finding.carriers, want->finding.carriers);
    CHECK(got->finding.log2_p == want->finding.log2_p &&
          got->finding.agreement == want->finding.agreement &&
          got->finding.presence == want->finding.presence);
}

static void test_columns(void)
{
    static const unsigned kinds[] = {MARK_DOUBLES, MARK_PRICES, MARK_INTS,
                                     MARK_LISTS,   MARK_CODED,  MARK_RUNS};
    static const int64_t batches[] = {ROWS, 70001, 20011}; /* the last ones are held together */
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (int i = 0; i < 3; i++) {
            const uint64_t memory = i == 1; /* 1: a sample */
            outcome alone, shared;
            mark_and_read(kinds[k], batches[i], memory, 1, &alone);
            CHECK(alone.finding.found &&
                  memcmp(alone.finding.buyer_hash, mark_test_buyer, 32) == 0);
            mark_and_read(kinds[k], batches[i], memory, 3, &shared);
            check_outcome(&shared, &alone);
            ald_buffer_clear(&shared.marked);
            ald_buffer_clear(&alone.marked);
        }
    }
}

int main(void)
{
    mark_host = ald_native_host(1);
    mark_test_init();
    RUN(test_sort);
    RUN(test_parts);
    RUN(test_border);
    RUN(test_columns);
    return check_done();
}
