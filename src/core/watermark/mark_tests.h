/* SPDX-License-Identifier: MIT */
/* Probabilities of statistical tests, to six digits where they matter. */
#ifndef CORE_WATERMARK_MARK_TESTS_H
#define CORE_WATERMARK_MARK_TESTS_H

#include "core/watermark/mark_math.h"

double ald__mark_exp_about(double x);
/* 1 - erf(x), x >= 0: relative error below 2e-7. */
double ald__mark_erfc_about(double x);
/* Chance of a value beyond z standard deviations, to either side. */
double ald__mark_normal_p(double z);
/* Kolmogorov's law for the largest distance d of n values from a distribution. */
double ald__mark_kolmogorov_p(double d, double n);
/* Upper tail of the sum of `shape` exponential variables. */
double ald__mark_gamma_p(double sum, unsigned shape);
/* Entropy in bits of a coin. */
double ald__mark_coin_entropy(double share);

#endif
