/* SPDX-License-Identifier: MIT */
/* The steps of reading a column: soft values against sums made one value at a time, with every variant of the hashes; averages of
 * decimals; decimals of any size as doubles. */
#include <math.h>

#include "ald/native.h"
#include "check.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/suspect.h"
#include "core/watermark/wide_decimal.h"
#include "watermark_fixture.h"

#define VALUES 6000

static ald_host host;
static ald_error err;
static ald__mark_keys keys;

/* Both signs, many classes, dense and thin places, values that share cells. */
static void fill(ald__mark_tally *t, size_t count, uint64_t seed)
{
    mark_random r = {seed};
    ald__mark_tally_init(t, &host.alloc, count);
    for (size_t i = 0; i < count; i++) {
        double u = mark_random_unit(&r), v = pow(u, 6) * 40 - 4;
        v = i % 3 == 0 ? 1.5 + u / 64 : v;
        REQUIRE_OK(ald__mark_tally_add(t, &v, 1, &err), &err);
    }
    REQUIRE_OK(ald__mark_tally_sort(t, NULL, &err), &err);
}

typedef struct one_run {
    int e, negative;
    double cell, sum;
    unsigned count;
} one_run;

static void close_run(const one_run *run, int plane, double weight, ald__mark_soft *out)
{
    uint64_t h;
    double y;
    if (run->count == 0)
        return;
    y = fmin(sqrt(run->count), 3) * run->sum / run->count * weight;
    h = ald__sip16(&keys.carrier,
                   ald__mark_head((unsigned)plane, (unsigned)run->negative, 255, run->e),
                   (uint64_t)run->cell);
    out->y[h % 2048] += h >> 11 & 1 ? -y : y;
    out->squares += y * y;
    out->carriers++;
}

/* What a plane says, value by value. */
static void expect_plane(const ald__mark_suspect *s, int cap, int plane, const double *weights,
                         ald__mark_soft *out)
{
    one_run run = {0, 0, 0, 0, 0};
    for (size_t i = 0; i < s->count; i++) {
        double v = fabs(s->value[i]), t, cell;
        int ex = ilogb(v), e = ex < cap ? ex : cap, negative = s->value[i] < 0;
        if (plane > e - ex + 46)
            continue;
        t = (v * ldexp(1, -e) + (double)(ald__mark_origin(&keys, 255, e) >> 12) * 0x1p-52) *
            ldexp(1, plane);
        cell = floor(t);
        if (run.count == 0 || run.e != e || run.negative != negative || run.cell != cell) {
            close_run(&run, plane, weights[cap - run.e], out);
            run = (one_run){e, negative, cell, 0, 0};
        }
        run.sum += sin(2 * 3.14159265358979323846 * (t - cell));
        run.count++;
    }
    close_run(&run, plane, weights[cap - run.e], out);
}

static void test_soft(void)
{
    static ald__mark_weights weights;
    static ald__mark_soft want, got, portable;
    ald__mark_tally t;
    ald__mark_suspect s;
    ald__mark_guess guess = {-1, 2, 0};
    double most = 0;
    fill(&t, VALUES, 11);
    memset(&want, 0, sizeof want);
    for (int p = 0; p < ALD__MARK_PLANES; p += 2) {
        for (int c = 0; c < ALD__MARK_CLASSES; c++)
            weights.of[p][c] = 1 + 0.125 * c + p;
    }
    ald__mark_suspect_init(&s, &keys, &t);
    s.is_f32 = 0;
    for (int p = 0; p < ALD__MARK_PLANES; p += 2)
        expect_plane(&s, guess.cap, p + ALD__MARK_LEAST_PLANE, weights.of[p], &want);
    for (int level = 0; level <= ald__sip_level(2); level++) {
        keys.carrier.level = ald__sip_level(level);
        memset(&got, 0, sizeof got);
        REQUIRE_OK(ald__mark_suspect_read(&s, &guess, &weights, &got, &err), &err);
        CHECK_UINT(got.carriers, want.carriers);
        CHECK(fabs(got.squares - want.squares) < 1e-4 * want.squares);
        for (size_t j = 0; j < ALD__POLAR_BITS; j++)
            most = fmax(most, fabs(got.y[j] - want.y[j]));
        if (level == 0)
            portable = got;
        CHECK_MEM(&got, &portable, sizeof got);
    }
    CHECK(want.carriers > 4 * VALUES);
    CHECK(most < 1e-2 && most > 0);
    ald__mark_suspect_clear(&s);
    ald__mark_tally_clear(&t);
}

/* ---- averages */

static int decimals_of_average(unsigned copies, unsigned decimals)
{
    mark_random r = {5};
    ald__mark_tally t;
    double power = pow(10, decimals);
    int found;
    ald__mark_tally_init(&t, &host.alloc, VALUES);
    for (size_t i = 0; i < 1000; i++) {
        double sum = 0, price = floor(mark_random_unit(&r) * 50000);
        for (unsigned c = 0; c < copies; c++)
            sum += (price + (double)(mark_random_next(&r) >> 20 & 3)) / power;
        sum /= copies;
        CHECK_OK(ald__mark_tally_add(&t, &sum, 1, &err), &err);
    }
    CHECK_OK(ald__mark_tally_sort(&t, NULL, &err), &err);
    found = ald__mark_average_decimals(&t);
    ald__mark_tally_clear(&t);
    return found;
}

static void test_averages(void)
{
    ald__mark_tally t;
    CHECK_INT(decimals_of_average(1, 2), -1);
    CHECK_INT(decimals_of_average(2, 2), 2);
    CHECK_INT(decimals_of_average(3, 2), 2);
    CHECK_INT(decimals_of_average(5, 1), 1);
    CHECK_INT(decimals_of_average(7, 0), 0);
    fill(&t, 1000, 3);
    CHECK_INT(ald__mark_average_decimals(&t), -1);
    ald__mark_tally_clear(&t);
}

/* ---- decimals */

static void check_wide(const uint8_t *magnitude, int width, int scale, int negative)
{
    uint8_t bytes[32];
    char text[128];
    double want;
    unsigned borrow = 0;
    uint8_t left[32];
    char *at = text + sizeof text;
    memcpy(left, magnitude, sizeof left);
    *--at = 0;
    for (int digits = 0; digits < 90; digits++) { /* by long division */
        unsigned rest = 0;
        for (int i = width; i-- > 0;) {
            unsigned all = rest << 8 | left[i];
            left[i] = (uint8_t)(all / 10);
            rest = all % 10;
        }
        if (digits == scale && scale > 0)
            *--at = '.';
        *--at = (char)('0' + rest);
    }
    want = strtod(at, NULL);
    for (int i = 0; i < width; i++) {
        unsigned byte = magnitude[i];
        if (negative) {
            unsigned less = 0u - byte - borrow;
            borrow = less >> 31;
            byte = less & 0xff;
        }
        bytes[i] = (uint8_t)byte;
    }
    if (!CHECK(ald__wide_decimal(bytes, width, scale) == (negative ? -want : want)))
        printf("%s / 10^%d: %.17g\n", at, scale, ald__wide_decimal(bytes, width, scale));
}

static void test_wide_decimals(void)
{
    mark_random r = {99};
    for (int i = 0; i < 20000; i++) {
        static const int widths[4] = {4, 8, 16, 32};
        const int width = widths[i % 4];
        uint8_t magnitude[32] = {0};
        int used = 1 + (int)(mark_random_next(&r) >> 40) % (width < 24 ? width : 24);
        for (int b = 0; b < used; b++)
            magnitude[b] = (uint8_t)(mark_random_next(&r) >> 30);
        magnitude[width - 1] &= 0x7f;
        check_wide(magnitude, width, (int)(mark_random_next(&r) >> 33) % 31, i / 4 % 2);
    }
}

int main(void)
{
    host = ald_native_host(1);
    mark_test_init();
    CHECK_OK(ald__mark_keys_init(&keys, mark_test_seller, &host, ald__sip_level(2), &err), &err);
    RUN(test_soft);
    RUN(test_averages);
    RUN(test_wide_decimals);
    return check_done();
}
