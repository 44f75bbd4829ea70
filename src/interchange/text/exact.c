/* SPDX-License-Identifier: MIT */
/* Knows when a decimal text and a double say the same digits, without rounding anywhere.
 *
 * With the double m·2^q and the text D·10^e of k digits, the text is what printing the double with k digits gives when
 * 2·|m·2^q − D·10^e| ≤ 10^e (on equality D must be even). Multiplied by powers of 2 and 5 all terms are integers: of 128
 * bits for what occurs, of up to 3,072 for the rest. */
#include <string.h>

#include "interchange/text/number.h"

#define BIG_LIMBS 48
/* More digits than any double has: the text must then equal the double. */
#define DIGITS_OF_ANY_DOUBLE 780

typedef struct big {
    size_t count; /* limbs in use; the top one is not 0 */
    uint64_t limb[BIG_LIMBS];
} big;

typedef struct halves {
    uint64_t m; /* below 2^53 */
    int q;
} halves;

static halves double_parts(double value)
{
    uint64_t bits;
    halves h;
    memcpy(&bits, &value, sizeof bits);
    h.q = (int)((bits >> 52) & 0x7FF);
    h.m = bits & ((1ull << 52) - 1);
    if (h.q == 0)
        h.q = 1;
    else
        h.m |= 1ull << 52;
    h.q -= 1075;
    return h;
}

static void big_set(big *b, uint64_t v)
{
    b->count = v != 0;
    b->limb[0] = v;
}

/* b = b × factor + add; the sizes worked out above never overflow, a broken caller loses high bits. */
static void big_mul_add(big *b, uint64_t factor, uint64_t add)
{
    unsigned __int128 carry = add;
    for (size_t i = 0; i < b->count; i++) {
        carry += (unsigned __int128)b->limb[i] * factor;
        b->limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    if (carry != 0 && b->count < BIG_LIMBS)
        b->limb[b->count++] = (uint64_t)carry;
}

static void big_mul_pow5(big *b, int64_t n)
{
    for (; n >= 27; n -= 27)
        big_mul_add(b, 7450580596923828125ull, 0); /* 5^27 */
    for (; n > 0; n--)
        big_mul_add(b, 5, 0);
}

static void big_shift_left(big *b, int64_t bits)
{
    size_t limbs = (size_t)(bits / 64);
    if (b->count == 0 || b->count + limbs > BIG_LIMBS)
        return;
    memmove(b->limb + limbs, b->limb, b->count * sizeof b->limb[0]);
    memset(b->limb, 0, limbs * sizeof b->limb[0]);
    b->count += limbs;
    big_mul_add(b, 1ull << (bits % 64), 0);
}

static int big_compare(const big *a, const big *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

/* a −= b, for a ≥ b. */
static void big_subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t take = i < b->count ? b->limb[i] : 0;
        uint64_t left = a->limb[i] - take - borrow;
        borrow = a->limb[i] < take || (borrow != 0 && a->limb[i] == take);
        a->limb[i] = left;
    }
    while (a->count > 0 && a->limb[a->count - 1] == 0)
        a->count--;
}

/* The first `digits` significant digits. */
static void big_set_digits(big *b, const ald__number *n, size_t digits)
{
    const char *p = n->sig;
    big_set(b, 0);
    for (size_t i = 0; i < digits; p++) {
        if (*p == '.')
            continue;
        if (b->count == 0)
            big_set(b, (uint64_t)(*p - '0'));
        else
            big_mul_add(b, 10, (uint64_t)(*p - '0'));
        i++;
    }
}

/* Digits without the zeros at the end. */
static size_t trimmed_digits(const ald__number *n)
{
    const char *p = n->sig;
    size_t kept = 0;
    for (size_t i = 0; i < n->sig_digits; p++) {
        if (*p == '.')
            continue;
        i++;
        if (*p != '0')
            kept = i;
    }
    return kept;
}

/* a = |value|, d = |n|, both × 2^twos × 5^fives. `kept` digits of n are not zeros at the end. */
static void big_scale(const ald__number *n, size_t kept, halves h, int64_t unit, big *a, big *d,
                      int64_t *twos, int64_t *fives)
{
    int64_t e = n->exponent + (int64_t)(n->sig_digits - kept);
    int64_t low = unit < e ? unit : e;
    *fives = low < 0 ? -low : 0;
    *twos = h.q < 0 && -h.q > *fives ? -h.q : *fives;
    big_set(a, h.m);
    big_mul_pow5(a, *fives);
    big_shift_left(a, h.q + *twos);
    big_set_digits(d, n, kept);
    big_mul_pow5(d, e + *fives);
    big_shift_left(d, e + *twos);
}

int ald__number_compare(const ald__number *n, double value)
{
    big a, d;
    int64_t twos, fives;
    size_t kept = trimmed_digits(n);
    halves h = double_parts(value);
    int64_t top = n->exponent + (int64_t)n->sig_digits;
    if (kept == 0 || h.m == 0)
        return (kept != 0) - (h.m != 0);
    if (top > 310)
        return 1;
    if (top < -330)
        return -1;
    if (kept > DIGITS_OF_ANY_DOUBLE) {
        /* The digits that are kept decide, save on equality: then the cut ones make it more. */
        ald__number cut = *n;
        int sign;
        cut.sig_digits = DIGITS_OF_ANY_DOUBLE;
        cut.exponent = top - DIGITS_OF_ANY_DOUBLE;
        sign = ald__number_compare(&cut, value);
        return sign == 0 ? 1 : sign;
    }
    big_scale(n, kept, h, 0, &a, &d, &twos, &fives);
    return big_compare(&d, &a);
}

/* The last significant digit as written is even. */
static int last_digit_even(const ald__number *n, size_t kept)
{
    const char *p = n->sig;
    char last = '0';
    if (kept < n->sig_digits)
        return 1;
    for (size_t i = 0; i < kept; p++) {
        if (*p != '.') {
            last = *p;
            i++;
        }
    }
    return (last - '0') % 2 == 0;
}

static int faithful_big(const ald__number *n, double value)
{
    big a, d, u;
    int64_t twos, fives, unit = n->exponent;
    size_t kept = trimmed_digits(n);
    halves h = double_parts(value);
    int order, even;
    if (kept > DIGITS_OF_ANY_DOUBLE)
        return 0;
    if (n->sig_digits > DIGITS_OF_ANY_DOUBLE)
        return ald__number_compare(n, value) == 0;
    /* Below a power of ten the digits of the double stand one place lower. */
    if (kept == 1 && *n->sig == '1' && ald__number_compare(n, value) > 0)
        unit--;
    big_scale(n, kept, h, unit, &a, &d, &twos, &fives);
    order = big_compare(&a, &d);
    if (order >= 0)
        big_subtract(&a, &d);
    else {
        big_subtract(&d, &a);
        a = d;
    }
    big_set(&u, 1);
    big_mul_pow5(&u, unit + fives);
    big_shift_left(&u, unit + twos);
    big_mul_add(&a, 2, 0);
    order = big_compare(&a, &u);
    even = unit == n->exponent ? last_digit_even(n, kept) : 1; /* …9.5 rounds up to the power */
    return order < 0 || (order == 0 && even);
}

static const uint64_t pow5[28] = {1ull,
                                  5ull,
                                  25ull,
                                  125ull,
                                  625ull,
                                  3125ull,
                                  15625ull,
                                  78125ull,
                                  390625ull,
                                  1953125ull,
                                  9765625ull,
                                  48828125ull,
                                  244140625ull,
                                  1220703125ull,
                                  6103515625ull,
                                  30517578125ull,
                                  152587890625ull,
                                  762939453125ull,
                                  3814697265625ull,
                                  19073486328125ull,
                                  95367431640625ull,
                                  476837158203125ull,
                                  2384185791015625ull,
                                  11920928955078125ull,
                                  59604644775390625ull,
                                  298023223876953125ull,
                                  1490116119384765625ull,
                                  7450580596923828125ull};

/* In 128 bits, for up to 19 digits and 0 to 27 decimals: with n decimals and s = −(q + n) ≥ 0 the question is
 * 2·|m·5^n − D·2^s| ≤ 2^s. m·5^n is below 2^116, and D·2^s is as large as that. -1: other sizes, or D a power of ten. */
static int faithful_small(const ald__number *n, double value)
{
    halves h = double_parts(value);
    int64_t decimals = -n->exponent;
    unsigned __int128 a, d, gap;
    int64_t s;
    if (n->sig_digits > 19 || decimals < 0 || decimals > 27)
        return -1;
    s = -(h.q + decimals);
    if (s < 0 || s > 63)
        return -1;
    a = (unsigned __int128)h.m * pow5[decimals];
    d = (unsigned __int128)n->mantissa << s;
    if (*n->sig == '1' && a < d && trimmed_digits(n) == 1)
        return -1;
    gap = (a > d ? a - d : d - a) * 2;
    d = (unsigned __int128)1 << s;
    return gap < d || (gap == d && n->mantissa % 2 == 0);
}

/* At a power of two the doubles below lie half as far apart as those above, so the shortest digits that read back need not
 * be the nearest of their count: 2^-1017 is 7.120236347223045e-307 in Python and JavaScript, and here. */
static int is_shortest_of_power(const ald__number *n, double value)
{
    char text[64], *end;
    ald__number shortest;
    size_t kept = trimmed_digits(n);
    big a, b;
    if (double_parts(value).m != 1ull << 52 || kept > 17)
        return 0;
    end = ald__shortest_digits(value, 0, text);
    if (!ald__number_scan(text, (size_t)(end - text), &shortest) ||
        trimmed_digits(&shortest) != kept)
        return 0;
    big_set_digits(&a, n, kept);
    big_set_digits(&b, &shortest, kept);
    return big_compare(&a, &b) == 0;
}

int ald__number_is_faithful(const ald__number *n, double value)
{
    int small;
    int64_t top = n->exponent + (int64_t)n->sig_digits;
    if (n->sig_digits == 0)
        return 1;
    if (value == 0)
        return 0;
    /* The distance to the nearest double is at most 2^-53 of the value where doubles are normal. Half a unit of the last
     * digit is more than that for a mantissa up to 2^52; below a power of ten it is a tenth, enough for 15 digits. */
    if (top > -300 && top < 300 &&
        (n->sig_digits <= 15 || (n->sig_digits == 16 && n->mantissa <= (1ull << 52) &&
                                 n->mantissa != 1000000000000000ull)))
        return 1;
    value = value < 0 ? -value : value;
    small = faithful_small(n, value);
    if (small < 0)
        small = faithful_big(n, value);
    return small != 0 || is_shortest_of_power(n, value);
}

int ald__number_is_exact(const ald__number *n)
{
    double d;
    if (n->sig_digits <= 15)
        return 1;
    if (n->sig_digits <= 19 && n->mantissa <= (1ull << 53))
        return 1;
    return ald__number_to_double(n, &d) && ald__number_compare(n, d < 0 ? -d : d) == 0;
}

/* A quotient, on the way to the nearest double: m·2^q is about digits·10^-decimals, and s = −(q + decimals). The distance is
 * m·5^decimals − digits·2^s, and one unit of m is 5^decimals: exact integers say how far off m is. */
typedef struct quotient {
    uint64_t digits, m;
    uint32_t decimals;
    int s;
} quotient;

/* Rounds q->m; whether the result gives the digits back. */
static int nearest_wide(quotient *q)
{
    const __int128 unit = pow5[q->decimals], half = (__int128)1 << (q->s - 1);
    __int128 gap =
        (__int128)((unsigned __int128)q->m * pow5[q->decimals]) - ((__int128)q->digits << q->s);
    for (; 2 * gap > unit || (2 * gap == unit && q->m % 2 != 0); gap -= unit)
        q->m--;
    for (; 2 * gap < -unit || (2 * gap == -unit && q->m % 2 != 0); gap += unit)
        q->m++;
    gap = gap < 0 ? -gap : gap;
    return gap < half || (gap == half && q->digits % 2 == 0);
}

/* The same for up to 25 decimals where one unit is enough, -1: it is not. The operands of the division are a half of their
 * last place off at most, and so is its result: three units are less than 2^60, so that what the products have above 64 bits
 * does not matter. A sign is as good as random here, so nothing branches on it. */
static int nearest_narrow(quotient *q)
{
    const int64_t unit = (int64_t)pow5[q->decimals], half = (int64_t)1 << (q->s - 1);
    int64_t gap = (int64_t)(q->m * (uint64_t)unit - (q->digits << q->s)), step, sign;
    step = (2 * gap > unit) - (2 * gap < -unit);
    gap -= step * unit;
    sign = gap >> 63;
    gap = (gap ^ sign) - sign;
    if (2 * gap >= unit)
        return -1;
    q->m -= (uint64_t)step;
    return (gap < half) | ((gap == half) & (q->digits % 2 == 0));
}

int ald__number_nearest(uint64_t digits, uint32_t decimals, double *out, int *faithful)
{
    static const double powers[28] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
                                      1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27};
    quotient q = {digits, 0, decimals, 0};
    halves h;
    uint64_t bits;
    int gives_back = -1;
    if (decimals > 27 || digits < 10 || digits % 1000000000000000 == 0)
        return 0; /* powers of ten have digits at two places */
    h = double_parts((double)digits / powers[decimals]);
    q.m = h.m;
    q.s = -(h.q + (int)decimals);
    if (q.s < 1 || q.s > 62 || h.m < (1ull << 52) + 4 || h.m > (1ull << 53) - 4)
        return 0;
    if (decimals <= 25)
        gives_back = nearest_narrow(&q);
    if (gives_back < 0)
        gives_back = nearest_wide(&q);
    *faithful = gives_back;
    bits = (uint64_t)(h.q + 1075) << 52 | (q.m & ((1ull << 52) - 1));
    memcpy(out, &bits, sizeof *out);
    return 1;
}
