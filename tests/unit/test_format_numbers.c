/* SPDX-License-Identifier: MIT */
/* Floating point text over many values: it reads back, it is yyjson's shortest, and the CSV table takes it as float64. */
#include <math.h>
#include <yyjson.h>

#include "check.h"
#include "interchange/format/number_text.h"
#include "interchange/text/classify.h"

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int bits_equal(double a, double b)
{
    return memcmp(&a, &b, 8) == 0;
}

/* The significant digits of a number's text, without zeros at either end. */
static const char *digits_of(const char *text, char *out)
{
    size_t n = 0, kept = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && n == 0))
            continue;
        out[n++] = *text;
        kept = *text != '0' ? n : kept;
    }
    out[kept] = '\0';
    return out;
}

static int check_double(double v)
{
    char text[ALD__NUMBER_BYTES + 1], shortest[64], digits[64], want[64];
    yyjson_val number = {YYJSON_TYPE_NUM, {0}};
    ald__token token;
    uint8_t *end = ald__put_f64((uint8_t *)text, v);
    *end = '\0';
    (void)yyjson_set_real(&number, v);
    (void)yyjson_write_number(&number, shortest);
    ald__token_classify(text, strlen(text), &token);
    if (!CHECK(bits_equal(strtod(text, NULL), v)) || !CHECK(strpbrk(text, ".e") != NULL) ||
        !CHECK_STR(digits_of(text, digits), digits_of(shortest, want)) ||
        !CHECK(fabs(v) >= 1e16 || strcmp(text, shortest) == 0) ||
        !CHECK_INT(token.kind, ALD__TOKEN_FLOAT)) {
        printf("%s\n", text);
        return 0;
    }
    return 1;
}

static void test_any_bits(void)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random();
        double v;
        memcpy(&v, &bits, 8);
        if (isfinite(v) && !check_double(v))
            return;
    }
}

static void test_powers_of_two_and_neighbours(void)
{
    for (int e = -1074; e <= 1023; e++) {
        double v = ldexp(1.0, e);
        if (!check_double(v) || !check_double(nextafter(v, 0)) ||
            !check_double(nextafter(v, 2 * v)))
            return;
    }
}

static void test_powers_of_ten_and_neighbours(void)
{
    for (int e = -323; e <= 308; e++) {
        char text[16];
        double v;
        snprintf(text, sizeof text, "1e%d", e);
        v = strtod(text, NULL);
        if (!check_double(v) || !check_double(-nextafter(v, 0)) ||
            !check_double(nextafter(v, 1e308)))
            return;
    }
}

static void test_short_decimals_and_neighbours(void)
{
    static const double scales[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    for (int i = 0; i < 300000; i++) {
        uint64_t digits = next_random() >> (next_random() % 50 + 14);
        double v = (double)digits / scales[next_random() % 10];
        if (!check_double(v) || !check_double(-v) || !check_double(nextafter(v, 1e300)))
            return;
    }
}

static void test_floats(void)
{
    for (uint64_t i = 0; i < 400000; i++) {
        uint32_t bits = (uint32_t)next_random();
        char text[ALD__NUMBER_BYTES + 1];
        float v, back;
        memcpy(&v, &bits, 4);
        *ald__put_f32((uint8_t *)text, v) = '\0';
        back = strtof(text, NULL);
        if (isfinite(v) && (!CHECK(memcmp(&v, &back, 4) == 0) || !CHECK(strlen(text) <= 19)))
            return;
    }
}

/* Against the definition of a half, for all of them. */
static void test_every_half(void)
{
    for (uint32_t h = 0; h < 65536; h++) {
        int exponent = h >> 10 & 31, fraction = h & 1023;
        double want = exponent == 0    ? ldexp(fraction, -24)
                      : exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                                       : ldexp(1024 + fraction, exponent - 25);
        double got = ald__half_to_double((uint16_t)h);
        if (h >> 15)
            want = -want;
        if (isnan(want) ? !CHECK(isnan(got)) : !CHECK(bits_equal(got, want)))
            return;
    }
}

static void test_padded(void)
{
    for (int width = 1; width <= 9; width++) {
        uint32_t power = 1;
        for (int digits = 0; digits < width; digits++, power *= 10) {
            char got[16] = {0}, want[16];
            *ald__put_padded((uint8_t *)got, power + power / 7, width) = '\0';
            snprintf(want, sizeof want, "%0*u", width, power + power / 7);
            CHECK_STR(got, want);
        }
    }
}

int main(void)
{
    RUN(test_any_bits);
    RUN(test_powers_of_two_and_neighbours);
    RUN(test_powers_of_ten_and_neighbours);
    RUN(test_short_decimals_and_neighbours);
    RUN(test_floats);
    RUN(test_every_half);
    RUN(test_padded);
    return check_done();
}
