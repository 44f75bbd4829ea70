/* SPDX-License-Identifier: MIT */
/* Classes of tokens and exact conversions. What a double's digits are is written out here from other programs' output, or
 * follows from printf, which is exact in glibc, musl and Apple's library. */
#include <math.h>
#include <time.h>

#include "check.h"
#include "interchange/text/classify.h"
#include "interchange/text/number.h"
#include "interchange/text/quick.h"

static ald__token classify(const char *text)
{
    ald__token t;
    ald__token_classify(text, strlen(text), &t);
    return t;
}

static void kinds_are(int kind, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        if (!CHECK_INT(classify(*texts).kind, kind))
            printf("    %s\n", *texts);
    }
}

static void test_kinds(void)
{
    static const char *const text[] = {
        "abc",
        "01",
        "+5",
        "-01",
        "00",
        "0x1F",
        "1,234.5",
        "1.5 %",
        "31.01.2024",
        "01/02/2024",
        "yes",
        "NA",
        "1_000",
        "1e",
        "e5",
        ".",
        "-",
        "-.",
        "1.2.3",
        "1e5.0",
        "00.5",
        "1 ",
        " 1",
        "--1",
        "tRUE",
        "+inf",
        "-nan",
        "infinit",
        "2024-02-30",
        "2023-02-29",
        "0000-01-01",
        "2024-13-01",
        "2024-00-10",
        "2024-1-2",
        "12:30",
        "24:00:00",
        "12:60:00",
        "12:30:60",
        "12:30:00.",
        "12:30:00.1234567890",
        "2024-01-31 12",
        "2024-01-31 12:3",
        "2024-01-31t10:00",
        "2024-01-31 12:30:00 Z",
        "2024-01-31T10:00+24:00",
        "2024-01-31T10:00-00:00",
        "2024-01-31T10:00+1",
        "2024-01-31T10:00z",
        "1e999",
        "1e-999",
        "123456789012345678e-999",
        "0.12345678901234567890123456789012345678901234567890123456789012345678901234567",
        "0.1234567890123456789e5",
        "12345678901234567890123456789012345678901234567890123456789012345678901234567",
        NULL};
    static const char *const ints[] = {
        "0",
        "7",
        "-7",
        "9223372036854775807",
        "18446744073709551616",
        "1234567890123456789012345678901234567890123456789012345678901234567890123456",
        NULL};
    static const char *const floats[] = {"1.5",
                                         ".5",
                                         "5.",
                                         "-.5",
                                         "0.0",
                                         "-0",
                                         "-0.0",
                                         "1e5",
                                         "2.5E-3",
                                         "-4e+2",
                                         "0e5",
                                         "0.1",
                                         "0.30000000000000004",
                                         "1.7976931348623157e308",
                                         "5e-324",
                                         "1.000000000000000055511151231257827e-01",
                                         "2.000000000000000000e+00",
                                         "123456789012345.5",
                                         "1e22",
                                         "1e23",
                                         "0.10000000000000001",
                                         "0.5000000000000000000000",
                                         NULL};
    static const char *const decimals[] = {"0.1234567890123456789", "1234567890.12345678901",
                                           "0.10000000000000000", "9007199254740993.0", NULL};
    static const char *const specials[] = {"NaN",      "nan",       "inf", "-inf",
                                           "Infinity", "-Infinity", "INF", NULL};
    static const char *const bools[] = {"true", "True", "TRUE", "false", "False", "FALSE", NULL};
    static const char *const dates[] = {"2024-02-29", "1969-12-31", "0001-01-01",
                                        "9999-12-31", "1900-02-28", NULL};
    static const char *const times[] = {"00:00:00", "23:59:59", "12:30:00.5", "12:30:00.123456789",
                                        NULL};
    static const char *const stamps[] = {"2024-01-31 12:30", "2024-01-31T12:30:00",
                                         "2024-01-31 12:30:00.123", NULL};
    static const char *const zoned[] = {"2024-01-31T12:30Z", "2024-01-31 12:30:00.5+05:30",
                                        "2024-01-31T12:30:00-08", "2024-01-31T12:30:00+0130", NULL};
    kinds_are(ALD__TOKEN_TEXT, text);
    kinds_are(ALD__TOKEN_INT, ints);
    kinds_are(ALD__TOKEN_FLOAT, floats);
    kinds_are(ALD__TOKEN_DECIMAL, decimals);
    kinds_are(ALD__TOKEN_SPECIAL, specials);
    kinds_are(ALD__TOKEN_BOOL, bools);
    kinds_are(ALD__TOKEN_DATE, dates);
    kinds_are(ALD__TOKEN_TIME, times);
    kinds_are(ALD__TOKEN_STAMP, stamps);
    kinds_are(ALD__TOKEN_ZONED, zoned);
    CHECK_INT(classify("").kind, ALD__TOKEN_TEXT);
}

static void test_integer_facts(void)
{
    CHECK_UINT(classify("9223372036854775807").flags, ALD__TOKEN_INEXACT);
    CHECK_UINT(classify("9223372036854775808").flags, ALD__TOKEN_BIG);
    CHECK_UINT(classify("18446744073709551615").flags, ALD__TOKEN_BIG | ALD__TOKEN_INEXACT);
    CHECK_UINT(classify("18446744073709551616").flags, ALD__TOKEN_HUGE);
    CHECK_UINT(classify("-9223372036854775808").flags, ALD__TOKEN_NEGATIVE);
    CHECK_UINT(classify("-9223372036854775809").flags,
               ALD__TOKEN_NEGATIVE | ALD__TOKEN_HUGE | ALD__TOKEN_INEXACT);
    CHECK_UINT(classify("9007199254740992").flags, 0);
    CHECK_UINT(classify("9007199254740993").flags, ALD__TOKEN_INEXACT);
    CHECK_UINT(classify("9007199254740994").flags, 0);
    CHECK_UINT(classify("100000000000000000000").flags, ALD__TOKEN_HUGE);
    CHECK_UINT(classify("100000000000000000000").int_digits, 21);
    CHECK_UINT(classify("0").int_digits, 0);
    CHECK_UINT(classify("0.250").frac_digits, 3);
}

static uint64_t bits_of(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return bits;
}

static uint64_t random_state = 12345;

static uint64_t random_bits(void)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return random_state >> 32 ^ random_state << 21;
}

/* All doubles print and come back to the bit, and what printf gives with k digits is faithful. */
static void test_doubles_come_back(void)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = random_bits();
        char text[64];
        double want, got;
        int digits = 17 + i % 3;
        memcpy(&want, &bits, 8);
        if (i % 2)
            want = (double)(int64_t)(bits >> 20) / 1e6 / (double)(1 + i % 1000);
        if (!isfinite(want))
            continue;
        snprintf(text, sizeof text, "%.*e", digits - 1, want);
        if (!CHECK(ald__text_to_double(text, strlen(text), &got)) ||
            !CHECK_UINT(bits_of(got), bits_of(want)) ||
            !CHECK_INT(classify(text).kind, ALD__TOKEN_FLOAT)) {
            printf("    %s\n", text);
            return;
        }
    }
}

/* Random digits: strtod is the judge of the value, printf of the digits. */
static void test_digits_against_printf(void)
{
    for (int i = 0; i < 200000; i++) {
        char text[80], back[80], *p = text;
        int digits = 1 + (int)(random_bits() % 20), point = (int)(random_bits() % (uint64_t)digits);
        double got = 0, want;
        ald__number n;
        *p++ = (char)('1' + random_bits() % 9);
        for (int k = 1; k < digits; k++) {
            if (k == digits - point)
                *p++ = '.';
            *p++ = (char)('0' + random_bits() % 10);
        }
        p += snprintf(p, 8, "e%d", (int)(random_bits() % 60) - 30);
        want = strtod(text, NULL);
        if (!CHECK(ald__text_to_double(text, strlen(text), &got)) ||
            !CHECK_UINT(bits_of(got), bits_of(want)) ||
            !CHECK(ald__number_scan(text, strlen(text), &n))) {
            printf("    %s\n", text);
            return;
        }
        snprintf(back, sizeof back, "%.*e", digits - 1, want);
        size_t at = 0;
        int equal = 1;
        for (const char *q = text; *q != 'e'; q++) {
            if (*q == '.')
                continue;
            equal &= *q == back[at];
            at += at == 0 ? 2 : 1;
        }
        /* A double that is a power of two may have shorter digits that are not the nearest of their count. */
        if ((bits_of(want) & ((1ull << 52) - 1)) != 0 &&
            !CHECK_INT(ald__number_is_faithful(&n, want) != 0, equal)) {
            printf("    %s %s\n", text, back);
            return;
        }
    }
}

static void test_nearest(void)
{
    int taken = 0;
    for (int i = 0; i < 300000; i++) {
        uint64_t digits = random_bits() % 10000000000000000000ull;
        uint32_t decimals = (uint32_t)(random_bits() % 28);
        char text[64];
        double got, want;
        int faithful;
        ald__number n;
        if (i % 3 == 0)
            digits /= 100;
        if (!ald__number_nearest(digits, decimals, &got, &faithful))
            continue;
        taken++;
        snprintf(text, sizeof text, "%" PRIu64 "e-%u", digits, decimals);
        want = strtod(text, NULL);
        if (!CHECK_UINT(bits_of(got), bits_of(want)) ||
            !CHECK(ald__number_scan(text, strlen(text), &n)) ||
            !CHECK_INT(faithful != 0, ald__number_is_faithful(&n, want) != 0)) {
            printf("    %s\n", text);
            return;
        }
    }
    CHECK(taken > 200000);
}

/* A text as programs print numbers, and now and then as they do not. */
static void random_number(char *text, size_t size)
{
    static const struct {
        char form;
        int digits;
    } forms[] = {{'g', 17}, {'g', 16}, {'g', 15}, {'f', 6}, {'f', 2},  {'f', 0},
                 {'e', 18}, {'g', 6},  {'f', 12}, {'e', 1}, {'f', 20}, {'e', 16}};
    static const char odd[] = "0123456789.-+eE";
    double scale = 1, v;
    uint64_t bits = random_bits();
    unsigned k;
    for (unsigned i = (unsigned)(bits % 14); i > 0; i--)
        scale *= bits & 1024 ? 10 : 0.1;
    v = ((double)(random_bits() % 2000001) - 1000000 + (double)(random_bits() % 1000) / 1000) *
        scale;
    if (bits & 2048)
        v = (double)(int64_t)v;
    k = (unsigned)(bits / 4096 % 12);
    if (forms[k].form == 'g')
        snprintf(text, size, "%.*g", forms[k].digits, v);
    else if (forms[k].form == 'e')
        snprintf(text, size, "%.*e", forms[k].digits, v);
    else
        snprintf(text, size, "%.*f", forms[k].digits, v);
    if (bits / 65536 % 8 == 0)
        text[random_bits() % strlen(text)] = odd[random_bits() % (sizeof odd - 1)];
    if (bits / 1048576 % 16 == 0 && text[0] == '0')
        memmove(text, text + 1, strlen(text));
}

static void test_quick(void)
{
    int taken = 0;
    for (int i = 0; i < 300000; i++) {
        char text[96];
        ald__quick q;
        ald__token token;
        ald__number number;
        double want;
        memset(text, '7', sizeof text); /* what stands behind is digits */
        random_number(text, 64);
        size_t n = strlen(text);
        text[n] = i % 2 ? '7' : ',';
        if (n == 0 || !ald__quick_number((const uint8_t *)text, (uint32_t)n, &q))
            continue;
        taken++;
        ald__token_number(text, n, &token);
        text[n] = '\0';
        want = strtod(text, NULL);
        if (!CHECK_UINT(bits_of(q.value), bits_of(want)) ||
            !CHECK(ald__number_scan(text, n, &number)) ||
            !CHECK_INT(q.is_int, token.kind == ALD__TOKEN_INT) ||
            !CHECK_INT(q.is_faithful,
                       token.kind == ALD__TOKEN_INT || token.kind == ALD__TOKEN_FLOAT) ||
            !CHECK_INT(q.has_exponent, (token.flags & ALD__TOKEN_EXPONENT) != 0) ||
            !CHECK_UINT(q.whole, token.int_digits) || !CHECK_UINT(q.decimals, token.frac_digits) ||
            !CHECK(!(token.flags & (ALD__TOKEN_INEXACT | ALD__TOKEN_NEG_ZERO)))) {
            printf("    %s\n", text);
            return;
        }
    }
    CHECK(taken > 150000);
}

/* Just above, at and below the middle between two floats, where rounding twice goes wrong. */
static void test_floats(void)
{
    static const char *const texts[] = {"1.000000059604644775390625",
                                        "1.00000005960464477539062500000001",
                                        "1.00000005960464477539062499999",
                                        "0.1",
                                        "3.4028235e38",
                                        "16777217",
                                        "16777219",
                                        "1e-45",
                                        "7.006492321624085e-46",
                                        "-1.5",
                                        NULL};
    for (int i = 0; texts[i] != NULL; i++) {
        float got;
        float want = strtof(texts[i], NULL);
        if (!CHECK(ald__text_to_float(texts[i], strlen(texts[i]), &got)) ||
            !CHECK_MEM(&got, &want, sizeof got))
            printf("    %s\n", texts[i]);
    }
    for (int i = 0; i < 100000; i++) {
        char text[64];
        float got, want;
        uint32_t bits = (uint32_t)random_bits();
        double d;
        memcpy(&want, &bits, 4);
        if (!isfinite(want))
            continue;
        d = ((double)want + (double)nextafterf(want, 0)) / 2;
        snprintf(text, sizeof text, "%.*e", 5 + i % 25, d);
        want = strtof(text, NULL);
        if (!isfinite(want))
            continue;
        if (!CHECK(ald__text_to_float(text, strlen(text), &got)) ||
            !CHECK_MEM(&got, &want, sizeof got)) {
            printf("    %s\n", text);
            return;
        }
    }
    float beyond;
    CHECK(!ald__text_to_float("3.5e38", 6, &beyond));
}

static void test_integers(void)
{
    int64_t i;
    uint64_t u;
    CHECK(ald__text_to_int64("-9223372036854775808", 20, &i));
    CHECK_INT(i, INT64_MIN);
    CHECK(!ald__text_to_int64("-9223372036854775809", 20, &i));
    CHECK(!ald__text_to_int64("9223372036854775808", 19, &i));
    CHECK(ald__text_to_uint64("18446744073709551615", 20, &u));
    CHECK_UINT(u, UINT64_MAX);
    CHECK(!ald__text_to_uint64("18446744073709551616", 20, &u));
    CHECK(!ald__text_to_uint64("-1", 2, &u));
    CHECK(!ald__text_to_int64("01", 2, &i));
    CHECK(!ald__text_to_int64("+1", 2, &i));
    CHECK(!ald__text_to_int64("1.0", 3, &i));
    CHECK(!ald__text_to_int64("", 0, &i));
    CHECK(!ald__text_to_int64("-", 1, &i));
}

static int decimal_is(const char *text, int precision, int scale, int limbs, int64_t low,
                      int64_t high)
{
    uint64_t words[4] = {1, 2, 3, 4};
    if (!ald__text_to_decimal(text, strlen(text), precision, scale, limbs, words))
        return 0;
    for (int k = limbs > 1 ? 2 : 1; k < limbs; k++) {
        if (words[k] != (uint64_t)(high < 0 ? -1 : 0))
            return 0;
    }
    return words[0] == (uint64_t)low && (limbs == 1 || words[1] == (uint64_t)high);
}

static void test_decimals(void)
{
    CHECK(decimal_is("1.5", 10, 3, 2, 1500, 0));
    CHECK(decimal_is("-1.5", 10, 3, 4, -1500, -1));
    CHECK(decimal_is("0", 1, 0, 2, 0, 0));
    CHECK(decimal_is("-0.00", 3, 2, 2, 0, 0));
    CHECK(decimal_is("18446744073709551616", 38, 0, 2, 0, 1));
    CHECK(decimal_is("-18446744073709551616", 38, 0, 4, 0, -1));
    CHECK(decimal_is("1500", 5, -2, 1, 15, 0));
    CHECK(decimal_is("1.50", 2, 1, 1, 15, 0));
    CHECK(decimal_is("15e2", 6, 0, 2, 1500, 0));
    CHECK(decimal_is("999999999999999999", 18, 0, 1, 999999999999999999, 0));
    CHECK(!decimal_is("1.55", 10, 1, 2, 0, 0)); /* a digit would be lost */
    CHECK(!decimal_is("1000", 3, 0, 2, 0, 0));  /* too many digits */
    CHECK(!decimal_is("99.9", 3, 2, 2, 0, 0));
    CHECK(!decimal_is("1550", 5, -2, 1, 0, 0));
    CHECK(!decimal_is("abc", 5, 0, 2, 0, 0));
    CHECK(!decimal_is("1e999999999", 38, 0, 2, 0, 0));
    CHECK(!decimal_is("1e-999999999", 38, 0, 2, 0, 0));
}

static int64_t ticks_of(const char *text, int digits)
{
    ald__moment m;
    int64_t ticks = 0;
    if (!ald__text_to_moment(text, strlen(text), &m) || !ald__moment_to_ticks(&m, digits, &ticks))
        return -1;
    return ticks;
}

static void test_moments(void)
{
    ald__moment m;
    int64_t t;
    CHECK_INT(ticks_of("1970-01-01T00:00:01", 6), 1000000);
    CHECK_INT(ticks_of("1969-12-31T23:59:59.5", 3), -500);
    CHECK_INT(ticks_of("2000-03-01", 0), 951868800);
    CHECK_INT(ticks_of("2024-05-06T07:08:09+02:00", 0), 1714972089);
    CHECK_INT(ticks_of("2024-05-06T07:08:09-05:30", 0), 1714999089);
    CHECK_INT(ticks_of("12:30:00.123456789", 9), 45000123456789);
    CHECK_INT(ticks_of("0001-01-01T00:00:00", 0), -62135596800);
    CHECK_INT(ticks_of("9999-12-31T23:59:59.999999", 6), 253402300799999999);
    CHECK(ald__text_to_moment("1677-09-21T00:12:43.145224193", 29, &m));
    CHECK(ald__moment_to_ticks(&m, 9, &t));
    CHECK_INT(t, INT64_MIN + 1);
    CHECK(ald__text_to_moment("1677-09-21T00:12:43.145224192", 29, &m));
    CHECK(ald__moment_to_ticks(&m, 9, &t));
    CHECK_INT(t, INT64_MIN);
    CHECK(ald__text_to_moment("1677-09-21T00:12:43.145224191", 29, &m));
    CHECK(!ald__moment_to_ticks(&m, 9, &t));
    CHECK(ald__text_to_moment("2262-04-11T23:47:16.854775807", 29, &m));
    CHECK(ald__moment_to_ticks(&m, 9, &t));
    CHECK_INT(t, INT64_MAX);
    CHECK(ald__text_to_moment("2262-04-11T23:47:16.854775808", 29, &m));
    CHECK(!ald__moment_to_ticks(&m, 9, &t));
    CHECK(ald__text_to_moment("12:30:00.1234", 13, &m));
    CHECK(!ald__moment_to_ticks(&m, 3, &t)); /* a decimal would be lost */
    /* Every day of 800 years follows the one before. */
    int32_t last = 0;
    for (int day = 0; day < 292194; day++) {
        char text[16];
        time_t seconds = ((time_t)day - 146097) * 86400;
        struct tm tm;
        gmtime_r(&seconds, &tm);
        strftime(text, sizeof text, "%Y-%m-%d", &tm);
        if (!CHECK(ald__text_to_moment(text, strlen(text), &m)) ||
            !CHECK(day == 0 || m.days == last + 1) || !CHECK_INT(m.days, day - 146097))
            return;
        last = m.days;
    }
}

int main(void)
{
    RUN(test_kinds);
    RUN(test_integer_facts);
    RUN(test_doubles_come_back);
    RUN(test_digits_against_printf);
    RUN(test_nearest);
    RUN(test_quick);
    RUN(test_floats);
    RUN(test_integers);
    RUN(test_decimals);
    RUN(test_moments);
    return check_done();
}
