/* SPDX-License-Identifier: MIT */
#include "core/watermark/mark_math.h"

#define LN2 0.693147180559945309417

double ald__mark_pow10(int n)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return powers[n];
}

double ald__mark_sqrt_about(double x)
{
    double root;
    if (!(x > 0))
        return 0;
    root = ald__mark_double((ald__mark_bits(x) >> 1) + (UINT64_C(1023) << 51));
    for (int i = 0; i < 5; i++) /* the guess is within 4 %: the digits double each time */
        root = 0.5 * (root + x / root);
    return root;
}

double ald__mark_log2_about(double x)
{
    int exponent = ald__mark_exponent(x);
    double m = exponent < -1000
                   ? x * 0x1p1000 * ald__mark_pow2(-exponent - 1000)
                   : x * ald__mark_pow2(-exponent / 2) * ald__mark_pow2(-exponent - -exponent / 2);
    double z, z2, sum = 0;
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    z = (m - 1) / (m + 1); /* ln m is 2 atanh z, |z| < 0.172 */
    z2 = z * z;
    for (int i = 17; i >= 1; i -= 2)
        sum = sum * z2 + 1.0 / i;
    return (double)exponent + 2 * z * sum / LN2;
}

double ald__mark_exp2_about(double x)
{
    double rest, sum = 1;
    int whole;
    if (!(x > -1022))
        return 0;
    if (x > 1023)
        x = 1023;
    whole = (int)x;
    rest = (x - whole) * LN2; /* |rest| < 0.694 */
    for (int i = 16; i >= 1; i--)
        sum = 1 + rest / i * sum;
    return sum * ald__mark_pow2(whole);
}

double ald__mark_cos_about(double turns)
{
    double y = ald__mark_abs(turns), x, s, sum = 1;
    int negative;
    y -= ald__mark_floor(y);
    y = y > 0.5 ? 1 - y : y; /* cos is even around 0 and 1/2 */
    negative = y > 0.25;
    y = negative ? 0.5 - y : y;
    x = 6.283185307179586 * y;
    s = x * x;
    for (int i = 18; i >= 2; i -= 2)
        sum = 1 - s / (double)(i * (i - 1)) * sum;
    return negative ? -sum : sum;
}
