/* SPDX-License-Identifier: MIT */
/* Knows the grammar of numbers and how a decimal text becomes the nearest double.
 *
 * Few digits and a small power of ten make both operands of one multiplication or division exact, so that its one rounding
 * is the right one (Clinger 1990). Everything else goes to yyjson's reader, which is correctly rounded too. */
#include "interchange/text/number.h"

#include <string.h>

#include "yyjson.h"

/* No double has more than 767 significant digits, so digits beyond these can only say "a little more". */
#define KEPT_DIGITS 800
#define EXPONENT_CLAMP 1000000000

static int number_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent behind `e`; 0: malformed. */
static int scan_exponent(const char *p, const char *end, int64_t *out)
{
    int64_t e = 0;
    int negative = 0;
    if (p < end && (*p == '+' || *p == '-'))
        negative = *p++ == '-';
    if (p == end)
        return 0;
    for (; p < end; p++) {
        if (!number_digit(*p))
            return 0;
        if (e < EXPONENT_CLAMP)
            e = e * 10 + (*p - '0');
    }
    *out = negative ? -e : e;
    return 1;
}

/* Skips zeros (and the point) in front, then fills sig, sig_digits and mantissa from the digits of [p, end). */
static void scan_significant(ald__number *n, const char *p, const char *end)
{
    uint64_t m = 0;
    size_t digits = 0;
    while (p < end && (*p == '0' || *p == '.'))
        p++;
    n->sig = p;
    for (; p < end; p++) {
        if (*p == '.')
            continue;
        if (digits < 19)
            m = m * 10 + (uint64_t)(*p - '0');
        digits++;
    }
    n->sig_digits = digits;
    n->mantissa = m;
}

int ald__number_scan(const char *text, size_t size, ald__number *out)
{
    const char *p = text, *end = text + size, *whole, *frac;
    int64_t e = 0;
    size_t whole_digits;
    *out = (ald__number){0};
    if (p < end && *p == '-') {
        out->negative = 1;
        p++;
    }
    whole = p;
    while (p < end && number_digit(*p))
        p++;
    whole_digits = (size_t)(p - whole);
    if (whole_digits > 1 && *whole == '0')
        return 0;
    out->int_digits = whole_digits == 1 && *whole == '0' ? 0 : whole_digits;
    if (p < end && *p == '.') {
        out->has_point = 1;
        frac = ++p;
        while (p < end && number_digit(*p))
            p++;
        out->frac_digits = (size_t)(p - frac);
    }
    if (whole_digits + out->frac_digits == 0)
        return 0;
    scan_significant(out, whole, p);
    if (p < end && (*p == 'e' || *p == 'E')) {
        out->has_exponent = 1;
        if (!scan_exponent(p + 1, end, &e))
            return 0;
        p = end;
    }
    if (out->frac_digits > EXPONENT_CLAMP || out->sig_digits > EXPONENT_CLAMP)
        return 0;
    out->exponent = e - (int64_t)out->frac_digits;
    return p == end;
}

static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Writes `v` in decimal at p; returns the end. */
static char *put_exponent(char *p, int64_t v)
{
    char digits[24];
    int count = 0;
    uint64_t u = v < 0 ? (uint64_t)-v : (uint64_t)v;
    if (v < 0)
        *p++ = '-';
    do {
        digits[count++] = (char)('0' + u % 10);
        u /= 10;
    } while (u != 0);
    while (count > 0)
        *p++ = digits[--count];
    return p;
}

/* Through yyjson, from a normalised copy: digits, `e`, exponent. Cut digits leave a 1 behind ("a little more"). */
static int number_by_yyjson(const ald__number *n, double *out)
{
    char text[KEPT_DIGITS + 40];
    char *p = text;
    const char *from = n->sig;
    size_t keep = n->sig_digits > KEPT_DIGITS ? KEPT_DIGITS : n->sig_digits;
    int64_t exponent = n->exponent + (int64_t)(n->sig_digits - keep);
    yyjson_val val;
    for (size_t i = 0; i < keep; from++) {
        if (*from != '.') {
            *p++ = *from;
            i++;
        }
    }
    if (n->sig_digits > keep) {
        *p++ = '1';
        exponent--;
    }
    *p++ = 'e';
    p = put_exponent(p, exponent);
    *p = '\0';
    if (yyjson_read_number(text, &val, 0, NULL, NULL) != p)
        return 0;
    *out = yyjson_get_num(&val);
    return 1;
}

int ald__number_to_double(const ald__number *n, double *out)
{
    double d = 0;
    int64_t e = n->exponent;
    if (n->sig_digits != 0) {
        int64_t top = e + (int64_t)n->sig_digits; /* value < 10^top */
        if (top > 310)
            return 0;
        if (n->sig_digits <= 19 && n->mantissa < (1ull << 53) && e >= -22 && e <= 22) {
            d = (double)n->mantissa;
            d = e < 0 ? d / exact_powers[-e] : d * exact_powers[e];
        } else if (top >= -330 && !number_by_yyjson(n, &d)) {
            return 0;
        }
    }
    *out = n->negative ? -d : d;
    return 1;
}
