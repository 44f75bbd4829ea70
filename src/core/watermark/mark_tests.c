/* SPDX-License-Identifier: MIT */
#include "core/watermark/mark_tests.h"

#define LOG2_E 1.4426950408889634

double ald__mark_exp_about(double x)
{
    return ald__mark_exp2_about(x * LOG2_E);
}

/* A Chebyshev fit of ln(erfc(x) / t) + x^2 in t = 1 / (1 + x / 2) (Press et al., Numerical Recipes, 6.2). */
double ald__mark_erfc_about(double x)
{
    static const double fit[10] = {0.17087277,  -0.82215223, 1.48851587, -1.13520398, 0.27886807,
                                   -0.18628806, 0.09678418,  0.37409196, 1.00002368,  -1.26551223};
    double t = 1 / (1 + 0.5 * x), sum = 0;
    for (int i = 0; i < 10; i++)
        sum = sum * t + fit[i];
    return t * ald__mark_exp_about(-x * x + sum);
}

double ald__mark_normal_p(double z)
{
    double p = ald__mark_erfc_about(ald__mark_abs(z) * 0.7071067811865476);
    return p < 1 ? p : 1;
}

double ald__mark_kolmogorov_p(double d, double n)
{
    double root = ald__mark_sqrt_about(n), lambda = (root + 0.12 + 0.11 / root) * d, sum = 0;
    if (!(n > 0) || lambda < 0.2)
        return 1;
    for (int j = 1; j <= 100; j++) {
        double term = ald__mark_exp_about(-2 * (double)(j * j) * lambda * lambda);
        sum += j % 2 == 1 ? term : -term;
        if (term < 1e-17)
            break;
    }
    sum *= 2;
    return sum < 0 ? 0 : sum > 1 ? 1 : sum;
}

double ald__mark_gamma_p(double sum, unsigned shape)
{
    double term = 1, all = 0;
    if (shape == 0 || !(sum > 0))
        return 1;
    for (unsigned i = 0; i < shape; i++) {
        all += term;
        term *= sum / (i + 1);
    }
    all *= ald__mark_exp_about(-sum);
    return all < 1 ? all : 1;
}

double ald__mark_coin_entropy(double share)
{
    if (!(share > 0) || !(share < 1))
        return 0;
    return -share * ald__mark_log2_about(share) - (1 - share) * ald__mark_log2_about(1 - share);
}
