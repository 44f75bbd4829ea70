/* SPDX-License-Identifier: MIT */
/* Marking values: vectors of another implementation, batches against single values, and what must hold for any data. */
#include "ald/native.h"
#include "check.h"
#include "core/watermark/cells.h"
#include "core/watermark/mark_math.h"
#include "watermark_fixture.h"

#define MANY 20000

static ald_host host;
static ald_error err;
static ald__mark_keys keys;
static uint8_t bits[ALD__MARK_HASHES];
static ald__mark_scratch *scratch;
static double in[MANY], out[MANY];
static uint8_t planes[MANY];
static const ald__mark_type plain = {0, 0, -1}, floats = {1, 0, -1}, integers = {0, 1, -1};

static void make_plan(ald__mark_plan *plan, size_t count, ald__mark_type type, float strength,
                      uint32_t flags)
{
    ald__mark_tally tally;
    ald__mark_tally_init(&tally, &host.alloc, 1u << 20);
    CHECK_INT(ald__mark_tally_add(&tally, in, count, &err), ALD_OK);
    CHECK_INT(ald__mark_tally_sort(&tally, NULL, &err), ALD_OK);
    ald__mark_plan_init(plan, &keys, bits, &tally, type, strength, flags);
    ald__mark_tally_clear(&tally);
}

static size_t mark_all(const ald__mark_plan *plan, size_t count)
{
    size_t marked = 0;
    for (size_t at = 0; at < count; at += ALD__MARK_BATCH) {
        size_t n = count - at < ALD__MARK_BATCH ? count - at : ALD__MARK_BATCH;
        ald__mark_cells(plan, scratch, in + at, n, out + at, planes + at);
    }
    for (size_t i = 0; i < count; i++)
        marked += planes[i] > 0;
    return marked;
}

static void check_values(const double *want, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_UINT(ald__mark_bits(out[i]), ald__mark_bits(want[i]));
}

static void fill_uniform(size_t count)
{
    mark_random random = {UINT64_C(88172645463325252)};
    for (size_t i = 0; i < count; i++)
        in[i] = mark_random_unit(&random) * 8 - 4;
}

static void test_doubles(void)
{
    static const double want[6] = {-0x1.a5d48958c3af4p-3, -0x1.570ee58764fc5p+1,
                                   -0x1.4066dda01c5e1p+1, 0x1.90290373b8f8bp+1,
                                   -0x1.c455e4b8b669p-2,  0x1.dc0d1fd307edep+1};
    ald__mark_plan plan;
    fill_uniform(64);
    CHECK(in[0] == -0x1.a5bda281087cp-3 && in[5] == 0x1.dc2aecd061d4p+1);
    make_plan(&plan, 64, plain, 1e-3f, 0);
    CHECK_INT(plan.mode, ALD_WATERMARK_DOUBLES);
    CHECK_INT(plan.cap, 1);
    CHECK_INT(plan.first_plane, 10);
    CHECK_INT(mark_all(&plan, 64), 64);
    check_values(want, 6);
}

static void test_decimals(void)
{
    static const double want[10] = {125.23, 329.65, 51.79, 54.97,  406.22,
                                    300.2,  238.44, 23.26, 186.37, 169.08};
    ald__mark_plan plan;
    mark_random random = {UINT64_C(88172645463325252)};
    for (size_t i = 0; i < 64; i++)
        in[i] = (double)(1000 + (mark_random_next(&random) >> 11) % 40000) / 100;
    CHECK(in[0] == 125.22 && in[9] == 169.15);
    make_plan(&plan, 64, plain, 1e-3f, 0);
    CHECK_INT(plan.mode, ALD_WATERMARK_DECIMALS);
    CHECK_INT(plan.decimals, 2);
    CHECK_INT(plan.cap, 14);
    CHECK_INT(plan.first_plane, 10);
    CHECK_INT(mark_all(&plan, 64), 64);
    check_values(want, 10);
}

static void test_floats(void)
{
    static const float want[4] = {-0.205928043f, -2.68115544f, -2.50218344f, 3.12620759f};
    ald__mark_plan plan;
    fill_uniform(64);
    for (size_t i = 0; i < 64; i++)
        in[i] = (double)(float)in[i];
    make_plan(&plan, 64, floats, 1e-4f, 0);
    CHECK_INT(plan.mode, ALD_WATERMARK_FLOATS);
    CHECK_INT(plan.cap, 1);
    CHECK_INT(plan.first_plane, 13);
    CHECK_INT(mark_all(&plan, 64), 64);
    for (size_t i = 0; i < 4; i++)
        CHECK(out[i] == (double)want[i]);
}

/* Columns of every kind. */
static double value_of_kind(unsigned kind, mark_random *random)
{
    double u = mark_random_unit(random) - 0.5, v = mark_random_unit(random) - 0.5;
    switch (kind) {
    case 0:
        return u + v;
    case 1:
        return (double)(int64_t)(u * 100000) / 100;
    case 2:
        return (double)(float)(u * v * 1e-3);
    case 3:
        return (double)(int64_t)(u * 1e9);
    case 4:
        return (double)(1600000000 + (int64_t)(mark_random_unit(random) * 3e7));
    case 5: /* many binades */
        return ald__mark_exp2_about(200 * u) * (1 + v);
    case 6:
        return (double)(int64_t)(u * 1e14) / 1e5;
    default: /* powers of two: the edges of every class */
        return ald__mark_pow2((int)(u * 20)) * (v > 0 ? 1 : -1) *
               (1 + (double)(int64_t)(v * 2000) * 0x1p-52);
    }
}

#define KINDS 8

static void fill_kind(unsigned kind, size_t count)
{
    mark_random random = {kind * 1000 + 17};
    for (size_t i = 0; i < count; i++)
        in[i] = value_of_kind(kind, &random);
    in[3] = 0;
    in[4] = ald__mark_double(UINT64_C(0x7ff8000000000123));
    in[5] = ald__mark_double(UINT64_C(0xfff0000000000000));
    in[6] = -0.0;
    for (size_t i = 0; i < count / 50; i++)
        in[i * 50 + 7] = in[8];
}

static void test_batches(void)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (int level = 0; level <= 2; level++) {
            ald__mark_plan plan;
            keys.carrier.level = keys.lsb.level = ald__sip_level(level);
            fill_kind(kind, MANY);
            make_plan(&plan, MANY, kind == 2 ? floats : plain, kind % 2 ? 1e-3f : 2e-4f, 0);
            CHECK_INT(plan.reason, ALD_WATERMARK_NONE);
            CHECK(mark_all(&plan, MANY) > MANY / 5);
            for (size_t i = 0; i < MANY; i++) {
                unsigned one;
                double want = ald__mark_cell(&plan, in[i], &one);
                if (ald__mark_bits(out[i]) == ald__mark_bits(want) && planes[i] == one)
                    continue;
                CHECK_UINT(ald__mark_bits(out[i]), ald__mark_bits(want));
                CHECK_UINT(planes[i], one);
                return;
            }
        }
    }
    keys.carrier.level = keys.lsb.level = ald__sip_level(2);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* No value changes by more than the strength (decimals: one unit in 2^10), sign and order stay, equal values stay equal. */
static void test_change(void)
{
    for (unsigned kind = 0; kind < KINDS - 1; kind++) {
        ald__mark_plan plan;
        double bound;
        size_t swapped = 0;
        fill_kind(kind, MANY);
        in[4] = in[5] = 0;
        qsort(in, MANY, sizeof *in, by_value);
        make_plan(&plan, MANY, kind == 2 ? floats : plain, 1e-3f, ALD_WATERMARK_KEYS);
        bound = plan.mode == ALD_WATERMARK_DECIMALS ? 0x1p-10 : 1e-3;
        (void)mark_all(&plan, MANY);
        for (size_t i = 0; i < MANY; i++) {
            CHECK(in[i] == 0 ? ald__mark_bits(out[i]) == ald__mark_bits(in[i])
                             : ald__mark_abs(out[i] / in[i] - 1) <= bound * (1 + 1e-12));
            if (i > 0 && in[i] == in[i - 1])
                CHECK(out[i] == out[i - 1]);
            swapped += i > 0 && out[i] < out[i - 1];
        }
        CHECK(swapped <= MANY / 2000);
    }
}

static void test_special(void)
{
    ald__mark_plan plan;
    fill_kind(0, MANY);
    make_plan(&plan, MANY, plain, 1e-3f, 0);
    CHECK_UINT(plan.frequent_count, 1); /* 2 % of the rows */
    (void)mark_all(&plan, MANY);
    CHECK_INT(memcmp(in + 3, out + 3, 6 * sizeof *in), 0);
    CHECK(in[2] != out[2]);
}

/* A few values with more decimals than the others stay as they are. */
static void test_off_grid(void)
{
    ald__mark_plan plan;
    fill_kind(1, MANY);
    for (size_t i = 100; i < MANY; i += 100)
        in[i] += 0.00123;
    make_plan(&plan, MANY, plain, 1e-3f, 0);
    CHECK_INT(plan.mode, ALD_WATERMARK_DECIMALS);
    CHECK(mark_all(&plan, MANY) > MANY / 2);
    for (size_t i = 100; i < MANY; i += 100)
        CHECK(out[i] == in[i] && planes[i] == 0);
}

static void test_reasons(void)
{
    ald__mark_plan plan;
    fill_uniform(15);
    make_plan(&plan, 15, plain, 1e-3f, 0);
    CHECK_INT(plan.reason, ALD_WATERMARK_TOO_FEW);
    for (size_t i = 0; i < 1000; i++)
        in[i] = i < 950 ? 3.25 : 4;
    make_plan(&plan, 1000, plain, 1e-3f, 0);
    CHECK_INT(plan.reason, ALD_WATERMARK_NO_SPREAD);
    for (size_t i = 0; i < 1000; i++)
        in[i] = (double)(5000 + 3 * i);
    make_plan(&plan, 1000, integers, 1e-3f, 0);
    CHECK_INT(plan.reason, ALD_WATERMARK_KEY);
    make_plan(&plan, 1000, integers, 1e-3f, ALD_WATERMARK_KEYS);
    CHECK_INT(plan.reason, ALD_WATERMARK_NONE);
    for (size_t i = 0; i < 1000; i++)
        in[i] = (double)(5000 + 10 * (i * 7919 % 1000)) / 100;
    make_plan(&plan, 1000, plain, 1e-3f, 0);
    CHECK_INT(plan.reason, ALD_WATERMARK_NONE); /* one decimal, then */
    CHECK_INT(plan.decimals, 1);
    for (size_t i = 0; i < 1000; i++)
        in[i] = (double)(5000 + 5 * (i * 7919 % 1000)) / 100;
    make_plan(&plan, 1000, plain, 1e-3f, 0);
    CHECK_INT(plan.reason, ALD_WATERMARK_GRID);
}

/* Thinning: a sample that does not depend on how values come, about all values where that is asked for. */
static void test_sample(void)
{
    ald__mark_tally one, two;
    fill_uniform(MANY);
    ald__mark_tally_init(&one, &host.alloc, 1000);
    ald__mark_tally_init(&two, &host.alloc, 1000);
    REQUIRE_OK(ald__mark_tally_add(&one, in, MANY, &err), &err);
    for (size_t i = 0; i < MANY; i++)
        REQUIRE_OK(ald__mark_tally_add(&two, in + i, 1, &err), &err);
    CHECK_UINT(one.total, MANY);
    CHECK(one.count > 400 && one.count <= 1000);
    REQUIRE_INT(one.count, two.count);
    CHECK_MEM(one.value, two.value, one.count * sizeof(double));
    REQUIRE_OK(ald__mark_tally_sort(&one, NULL, &err), &err);
    CHECK(ald__mark_abs(ald__mark_tally_spread(&one) - 4) < 0.5);
    ald__mark_tally_clear(&one);
    ald__mark_tally_clear(&two);
}

/* Runs count as their rows do. */
static void test_runs(void)
{
    ald__mark_tally runs, rows;
    ald__mark_tally_init(&runs, &host.alloc, 1u << 20);
    ald__mark_tally_init(&rows, &host.alloc, 1u << 20);
    fill_uniform(1000);
    for (size_t i = 0; i < 1000; i++) {
        REQUIRE_OK(ald__mark_tally_add_run(&runs, in[i % 400], i % 7 + 1, &err), &err);
        for (size_t n = 0; n < i % 7 + 1; n++)
            REQUIRE_OK(ald__mark_tally_add(&rows, in + i % 400, 1, &err), &err);
    }
    REQUIRE_OK(ald__mark_tally_sort(&runs, NULL, &err), &err);
    REQUIRE_OK(ald__mark_tally_sort(&rows, NULL, &err), &err);
    REQUIRE_INT(runs.count, rows.count);
    CHECK_UINT(runs.kept, rows.kept);
    CHECK_MEM(runs.value, rows.value, rows.count * sizeof(double));
    CHECK_MEM(runs.weight, rows.weight, rows.count * sizeof(uint64_t));
    ald__mark_tally_clear(&runs);
    ald__mark_tally_clear(&rows);
}

int main(void)
{
    uint64_t codeword[ALD__POLAR_WORDS];
    host = ald_native_host(1);
    mark_test_init();
    void *memory = calloc(1, ald__mark_scratch_bytes());
    if (memory == NULL ||
        ald__mark_keys_init(&keys, mark_test_seller, &host, ald__sip_level(2), &err) != ALD_OK ||
        ald__mark_codeword(&keys, mark_test_buyer, codeword, &err) != ALD_OK)
        return 1;
    ald__mark_bits_init(bits, codeword);
    scratch = ald__mark_scratch_at(memory);
    RUN(test_doubles);
    RUN(test_decimals);
    RUN(test_floats);
    RUN(test_batches);
    RUN(test_change);
    RUN(test_special);
    RUN(test_off_grid);
    RUN(test_reasons);
    RUN(test_sample);
    RUN(test_runs);
    ald__mark_keys_clear(&keys);
    free(memory);
    return check_done();
}
