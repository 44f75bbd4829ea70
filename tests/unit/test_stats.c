/* SPDX-License-Identifier: MIT */
/* Statistics of columns against values worked out another way. */
#include <math.h>

#include "ald/stats.h"
#include "format_fixture.h"
#include "interchange/format/stats_sketch.h"

static ald_stats *stats_of(fixture_table *t, size_t batches, const ald_host *host,
                           const ald_stats_options *options)
{
    struct ArrowArrayStream stream;
    ald_stats *stats = NULL;
    ald_error err = {0};
    if (!CHECK_OK(fixture_stream(t, batches, host, &stream, &err), &err))
        return NULL;
    (void)CHECK_OK(ald_stats_compute(&stream, options, host, &stats, &err), &err);
    CHECK(stream.release == NULL);
    return stats;
}

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-300;
}

static uint64_t bins_total(const ald_column_stats *c)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < c->bin_count; i++)
        total += c->bins[i];
    return total;
}

static void test_numbers(void)
{
    ald_host host = fixture_host();
    fixture_table t;
    uint8_t valid[] = {0xFD, 0x03};
    int32_t i32[] = {5, 99, -3, 5, 5, 0, 7, 7, 1, 5};
    uint64_t u64[] = {1, UINT64_MAX, 2, 3, 4, 5, 6, 7, 8, 9};
    double f64[] = {0.5, NAN, -0.0, 0.0, INFINITY, 1.5, -2.5, 0.5, 0.5, NAN};
    int64_t dec[] = {100, -250, 0, 1, 2, 3, 4, 5, 6, 7};
    int32_t days[] = {19753, 19753, 0, 1, 2, 3, 4, 5, 6, -1};
    struct ArrowSchema fields[] = {fixture_field("i", "int"),   fixture_field("L", "uint"),
                                   fixture_field("g", "float"), fixture_field("d:10,2,64", "dec"),
                                   fixture_field("tdD", "day"), fixture_field("n", "nothing")};
    struct ArrowArray arrays[] = {
        fixture_array(10, 2, BUFFERS(valid, i32)), fixture_array(10, 2, BUFFERS(NULL, u64)),
        fixture_array(10, 2, BUFFERS(NULL, f64)),  fixture_array(10, 2, BUFFERS(NULL, dec)),
        fixture_array(10, 2, BUFFERS(NULL, days)), fixture_array(10, 0, NULL)};
    const ald_column_stats *c;
    ald_stats *s;
    fixture_table_init(&t, 10);
    for (int i = 0; i < 6; i++)
        fixture_add(&t, fields + i, arrays + i);
    s = stats_of(&t, 2, &host, NULL);
    REQUIRE(s != NULL);
    CHECK_UINT(s->row_count, 20);
    CHECK_UINT(s->column_count, 6);
    c = s->columns;
    CHECK_STR(c->name, "int");
    CHECK_UINT(c->null_count, 2);
    CHECK_STR(c->min, "-3");
    CHECK_STR(c->max, "7");
    CHECK_UINT(c->distinct_count, 5);
    CHECK(!c->distinct_is_estimate);
    CHECK(c->has_mean && near(c->mean, 32.0 / 9) &&
          near(c->stddev, sqrt(208.0 / 9 - 32.0 * 32 / 81)));
    CHECK_UINT(bins_total(c), 18);
    CHECK(c->bin_width == 1 && c->bin_start == -3 && c->bin_count == 11);
    CHECK_UINT(c->bins[0], 2);
    CHECK_UINT(c->bins[8], 8);
    c++;
    CHECK_STR(c->min, "1");
    CHECK_STR(c->max, "18446744073709551615");
    CHECK_UINT(c->distinct_count, 10);
    CHECK_UINT(bins_total(c), 20);
    c++;
    CHECK_UINT(c->nan_count, 4);
    CHECK_UINT(c->infinite_count, 2);
    CHECK_STR(c->min, "-2.5");
    CHECK_STR(c->max, "Infinity");
    CHECK_UINT(c->distinct_count, 6); /* NaN, both zeros as one, infinity, 0.5, 1.5, -2.5 */
    CHECK(near(c->mean, 0.5 / 7));
    CHECK_UINT(bins_total(c), 14);
    c++;
    CHECK_STR(c->min, "-2.50");
    CHECK_STR(c->max, "1.00");
    CHECK(near(c->mean, -1.22 / 10));
    c++;
    CHECK_STR(c->min, "1969-12-31");
    CHECK_STR(c->max, "2024-01-31");
    CHECK(!c->has_mean && c->bin_count > 0 && bins_total(c) == 20);
    c++;
    CHECK_UINT(c->null_count, 20);
    CHECK(!c->has_range && !c->has_mean && c->bin_count == 0 && c->distinct_count == 0);
    ald_stats_free(s);
    CHECK_INT(fixture_live, 0);
}

static void test_texts_and_bools(void)
{
    ald_host host = fixture_host();
    fixture_table t;
    int32_t offsets[] = {0, 1, 2, 2, 4, 5}, list_offsets[] = {0, 2, 2, 5, 5, 5};
    uint8_t bits[] = {0x16};
    struct ArrowSchema item = fixture_field("i", "item"), *items[] = {&item};
    struct ArrowSchema fields[] = {fixture_field("u", "s"), fixture_field("b", "b"),
                                   fixture_field("+l", "l"), fixture_field("z", "bin")};
    int32_t numbers[] = {1, 2, 3, 4, 5};
    struct ArrowArray child = fixture_array(5, 2, BUFFERS(NULL, numbers)), *children[] = {&child};
    struct ArrowArray arrays[] = {fixture_array(5, 3, BUFFERS(NULL, offsets, "bbabb")),
                                  fixture_array(5, 2, BUFFERS(NULL, bits)),
                                  fixture_array(5, 2, BUFFERS(NULL, list_offsets)),
                                  fixture_array(5, 3, BUFFERS(NULL, offsets, "bbabb"))};
    ald_stats_options options = ALD_STATS_OPTIONS_INIT;
    const ald_column_stats *c;
    ald_stats *s;
    fields[2].n_children = arrays[2].n_children = 1;
    fields[2].children = items;
    arrays[2].children = children;
    fixture_table_init(&t, 5);
    for (int i = 0; i < 4; i++)
        fixture_add(&t, fields + i, arrays + i);
    options.common_limit = 3;
    s = stats_of(&t, 1, &host, &options);
    REQUIRE(s != NULL);
    c = s->columns;
    CHECK_STR(c->min, "");
    CHECK_STR(c->max, "b");
    CHECK_UINT(c->distinct_count, 3);
    CHECK(c->has_size && c->shortest == 0 && c->longest == 2);
    REQUIRE_INT(c->common_count, 3);
    CHECK_STR(c->common[0].text, "b");
    CHECK_UINT(c->common[0].count, 3);
    CHECK_STR(c->common[1].text, "");
    CHECK_STR(c->common[2].text, "ab");
    c++;
    CHECK_STR(c->min, "false");
    CHECK_STR(c->max, "true");
    REQUIRE_INT(c->common_count, 2);
    CHECK_STR(c->common[0].text, "true");
    CHECK_UINT(c->common[0].count, 3);
    CHECK_UINT(c->common[1].count, 2);
    c++;
    CHECK(!c->has_range && c->has_size && c->shortest == 0 && c->longest == 3);
    CHECK_UINT(c->distinct_count, 3);
    REQUIRE_INT(c->common_count, 3);
    CHECK_STR(c->common[0].text, "[]");
    CHECK_STR(c->common[2].text, "[3,4,5]");
    c++;
    CHECK_STR(c->max, "Yg==");
    CHECK_STR(c->common[2].text, "YWI=");
    ald_stats_free(s);
    CHECK_INT(fixture_live, 0);
}

static void test_long_texts_are_cut(void)
{
    static char bytes[3 * 400];
    int32_t offsets[] = {0, 400, 800, 1200};
    ald_host host = fixture_host();
    fixture_table t;
    struct ArrowSchema field = fixture_field("u", "s");
    struct ArrowArray array = fixture_array(3, 3, BUFFERS(NULL, offsets, bytes));
    ald_stats *s;
    memset(bytes, 'm', sizeof bytes);
    memcpy(bytes + 400 + 255, "\xC3\xA9", 2); /* the cut goes through it */
    fixture_table_init(&t, 3);
    fixture_add(&t, &field, &array);
    s = stats_of(&t, 1, &host, NULL);
    REQUIRE(s != NULL);
    CHECK_UINT(s->columns[0].max_size, 255);
    CHECK_UINT(s->columns[0].min_size, 256);
    CHECK_UINT(s->columns[0].distinct_count, 2);
    CHECK(!s->columns[0].has_common);
    ald_stats_free(s);
    CHECK_INT(fixture_live, 0);
}

static void test_distinct_exact_then_estimated(void)
{
    static const size_t sizes[] = {10, 1000, 4096, 4097, 20000, 300000, 2000000};
    ald_host host = fixture_host();
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        ald__distinct d = {NULL, 0, 0, 4096, NULL, 14};
        ald_error err;
        double got;
        for (size_t i = 0; i < sizes[k] * 2; i++)
            REQUIRE_OK(ald__distinct_add(&d, ald__mix_u64(i / 2 * 8), &host.alloc, &err), &err);
        got = (double)ald__distinct_count(&d);
        CHECK((d.registers == NULL) == (sizes[k] <= 4096));
        if (d.registers == NULL)
            CHECK_UINT((uint64_t)got, sizes[k]);
        else if (!CHECK(fabs(got / (double)sizes[k] - 1) < 0.03))
            printf("%zu: %f\n", sizes[k], got);
        ald__distinct_clear(&d, &host.alloc);
    }
    CHECK_INT(fixture_live, 0);
}

/* Mixes made to meet in one slot do not make it slow. */
static void test_crowded_set(void)
{
    ald_host host = fixture_host();
    ald__distinct d = {NULL, 0, 0, 65536, NULL, 12};
    ald_error err;
    for (uint64_t i = 1; i < 5000; i++)
        REQUIRE_OK(ald__distinct_add(&d, i << 32, &host.alloc, &err), &err);
    CHECK(d.registers != NULL);
    ald__distinct_clear(&d, &host.alloc);
    CHECK_INT(fixture_live, 0);
}

static void test_bins_any_order(void)
{
    static const double values[] = {0, 1, -1, 1e-300, 3.5, 1e10, -1e10, 0.1, 1e10, 77, -3, 5e-324};
    enum { N = sizeof values / sizeof *values };
    ald__bins first = {0};
    for (size_t start = 0; start < N; start++) {
        ald__bins b = {0};
        uint64_t total = 0;
        for (size_t i = 0; i < N; i++) {
            ald__bins_add(&b, values[(start + i * 5) % N]);
            CHECK(b.used <= ALD_STATS_BINS);
        }
        if (start == 0)
            first = b;
        CHECK(b.width == first.width && b.first == first.first && b.used == first.used);
        CHECK_MEM(b.bins, first.bins, sizeof b.bins);
        for (uint32_t i = 0; i < b.used; i++)
            total += b.bins[i];
        CHECK_UINT(total, N);
    }
    CHECK(first.width == ldexp(1, 30));
    CHECK_INT(first.first, -10);
}

static void test_bins_extremes(void)
{
    ald__bins b = {0};
    ald__bins_add(&b, -1.7976931348623157e308);
    ald__bins_add(&b, 1.7976931348623157e308);
    ald__bins_add(&b, 0);
    CHECK_UINT(b.used, 32);
    CHECK_UINT(b.bins[0], 1);
    CHECK_UINT(b.bins[31], 1);
    CHECK_UINT(b.bins[16], 1);
}

static void run_backwards(void *ctx, uint32_t count, void (*task)(void *arg, uint32_t index),
                          void *arg)
{
    (void)ctx;
    while (count-- > 0)
        task(arg, count);
}

static void test_every_allocation_fails_once(void)
{
    fixture_table t;
    int32_t offsets[] = {0, 1, 2, 2, 4, 5}, numbers[] = {5, 4, 3, 2, 1};
    struct ArrowSchema fields[] = {fixture_field("u", "s"), fixture_field("i", "n")};
    struct ArrowArray arrays[] = {fixture_array(5, 3, BUFFERS(NULL, offsets, "bbabb")),
                                  fixture_array(5, 2, BUFFERS(NULL, numbers))};
    fixture_table_init(&t, 5);
    fixture_add(&t, fields, arrays);
    fixture_add(&t, fields + 1, arrays + 1);
    for (int64_t n = 0;; n++) {
        ald_host host = fixture_host();
        struct ArrowArrayStream stream;
        ald_error err;
        ald_stats *s = NULL;
        ald_status status;
        host.run_tasks = run_backwards;
        fixture_fail_after = n;
        status = fixture_stream(&t, 1, &host, &stream, &err);
        if (status == ALD_OK)
            status = ald_stats_compute(&stream, NULL, &host, &s, &err);
        CHECK((s != NULL) == (status == ALD_OK));
        ald_stats_free(s);
        CHECK_INT(fixture_live, 0);
        if (status == ALD_OK) {
            CHECK(n > 15);
            break;
        }
        REQUIRE_INT(status, ALD_E_NOMEM);
    }
}

static void test_no_rows_no_columns(void)
{
    ald_host host = fixture_host();
    fixture_table t;
    struct ArrowSchema field = fixture_field("g", "x");
    struct ArrowArray array = fixture_array(0, 2, BUFFERS(NULL, NULL));
    ald_stats *s;
    fixture_table_init(&t, 0);
    s = stats_of(&t, 1, &host, NULL);
    REQUIRE(s != NULL);
    CHECK_UINT(s->column_count, 0);
    ald_stats_free(s);
    fixture_add(&t, &field, &array);
    s = stats_of(&t, 1, &host, NULL);
    REQUIRE(s != NULL);
    CHECK(!s->columns[0].has_range && s->columns[0].bin_count == 0 && !s->columns[0].has_mean);
    ald_stats_free(s);
    CHECK_INT(fixture_live, 0);
}

int main(void)
{
    RUN(test_numbers);
    RUN(test_texts_and_bools);
    RUN(test_long_texts_are_cut);
    RUN(test_distinct_exact_then_estimated);
    RUN(test_crowded_set);
    RUN(test_bins_any_order);
    RUN(test_bins_extremes);
    RUN(test_every_allocation_fails_once);
    RUN(test_no_rows_no_columns);
    return check_done();
}
