/* SPDX-License-Identifier: MIT */
/* A column before it was marked the last time.
 *
 * Marking moves a value to an eighth of its distance from a target, and targets are half a cell apart. Where they are shows without
 * the key: it is where values crowd. So a mark that was put over another can be taken off again, one plane after the other from the
 * finest on: away from the nearest target, to eight times the distance. What errors there are in finding the targets hide the finer
 * planes of the first mark, not the coarsest one. */
#include <string.h>

#include "core/base/buf.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/suspect.h"

#define CLASSES 16
#define LEAST_IN_CLASS 30
#define FOUND_VALUES 2048
#define LOOKED_AT 512 /* at first */
#define WORTH_A_LOOK 0.3
#define PLAIN 0.5 /* mean vector of phases in planes that are taken off */
#define DEPTH_DOUBLE 46
#define DEPTH_FLOAT 19

/* Vectors of doubled phases, by class. */
typedef struct crowd {
    double re[CLASSES], im[CLASSES], n[CLASSES];
} crowd;

typedef struct finder {
    const double *value;
    size_t count;
    int cap, depth;
    crowd crowd;
} finder;

/* Class of a magnitude, and the exponent that its cells are counted from; -1: it has no such plane. */
static int class_of(const finder *f, double a, int plane, int *exponent)
{
    int ex = ald__mark_exponent(a), e = ex < f->cap ? ex : f->cap, class = f->cap - e;
    *exponent = e;
    return class < CLASSES && plane <= e - ex + f->depth ? class : -1;
}

static void look(finder *f, int plane, size_t step)
{
    memset(&f->crowd, 0, sizeof f->crowd);
    for (size_t i = 0; i < f->count; i += step) {
        double a = ald__mark_abs(f->value[i]), turns;
        int e, class = a >= 0x1p-900 && a <= 0x1p900 ? class_of(f, a, plane, &e) : -1;
        if (class < 0)
            continue;
        turns = 2 * a * ald__mark_pow2(plane - e);
        f->crowd.re[class] += ald__mark_cos_about(turns);
        f->crowd.im[class] += ald__mark_cos_about(turns - 0.25);
        f->crowd.n[class] += 1;
    }
}

/* Length of the mean vector, 0 to 1. */
static double plainness(const crowd *c)
{
    double sum = 0, n = 0;
    for (int i = 0; i < CLASSES; i++) {
        if (c->n[i] < LEAST_IN_CLASS)
            continue;
        sum += (c->re[i] * c->re[i] + c->im[i] * c->im[i]) / c->n[i];
        n += c->n[i];
    }
    return n > 0 ? ald__mark_sqrt_about(sum / n) : 0;
}

/* Whether any plane shows in a few values, under a cap that may be the next one: what was not marked is done with quickly. */
static int is_worth_it(finder *f, int cap)
{
    f->cap = cap;
    for (int p = 0; p < ALD__MARK_PLANES; p++) {
        look(f, p + ALD__MARK_LEAST_PLANE, (f->count + LOOKED_AT - 1) / LOOKED_AT);
        if (plainness(&f->crowd) > WORTH_A_LOOK)
            return 1;
    }
    return 0;
}

/* The planes of the plainest family, finest last, and the cap that they show under. */
static int find_planes(finder *f, int cap, int planes[4])
{
    const size_t step = (f->count + FOUND_VALUES - 1) / FOUND_VALUES;
    double best = 0;
    int best_cap = cap, count = 0;
    for (int c = cap - 1; c <= cap + 1; c++) {
        double family[ALD__MARK_FAMILIES] = {0}, plain[ALD__MARK_PLANES];
        f->cap = c;
        for (int p = 0; p < ALD__MARK_PLANES; p++) {
            look(f, p + ALD__MARK_LEAST_PLANE, step);
            plain[p] = plainness(&f->crowd);
            family[p % ALD__MARK_FAMILIES] += plain[p] > PLAIN ? plain[p] : 0;
        }
        for (int i = 0; i < ALD__MARK_FAMILIES; i++) {
            if (family[i] <= best)
                continue;
            best = family[i];
            best_cap = c;
            count = 0;
            for (int p = i; p < ALD__MARK_PLANES && count < 4; p += ALD__MARK_FAMILIES) {
                if (plain[p] > PLAIN)
                    planes[count++] = p + ALD__MARK_LEAST_PLANE;
            }
        }
    }
    f->cap = best_cap;
    return count;
}

/* atan2(y, x) / (2 pi), to six digits: the first guess, made better twice by the derivative. */
static double turns_of(double x, double y)
{
    double size = ald__mark_sqrt_about(x * x + y * y), turns = x < 0 ? 0.5 : 0;
    if (!(size > 0))
        return 0;
    x /= size;
    y /= size;
    if (ald__mark_abs(y) > 0.7)
        turns = y > 0 ? 0.25 : -0.25;
    for (int i = 0; i < 4; i++) {
        double c = ald__mark_cos_about(turns), s = ald__mark_cos_about(turns - 0.25);
        turns += (y * c - x * s) / 6.283185307179586; /* sine of what is missing */
    }
    return turns;
}

static void take_off(finder *f, double *value, int plane)
{
    double middle[CLASSES];
    look(f, plane, 1);
    for (int c = 0; c < CLASSES; c++)
        middle[c] = turns_of(f->crowd.re[c], f->crowd.im[c]) / 2;
    for (size_t i = 0; i < f->count; i++) {
        double a = ald__mark_abs(value[i]), t, target;
        int e, class = a >= 0x1p-900 && a <= 0x1p900 ? class_of(f, a, plane, &e) : -1;
        if (class < 0 || f->crowd.n[class] < LEAST_IN_CLASS)
            continue;
        t = a * ald__mark_pow2(plane - e) - middle[class];
        target = ald__mark_floor(2 * t + 0.5) / 2;
        t = (target + 8 * (t - target) + middle[class]) * ald__mark_pow2(e - plane);
        if (t > 0)
            value[i] = value[i] < 0 ? -t : t;
    }
}

int ald__mark_take_off(double *value, size_t count, double spread, int is_f32)
{
    finder f = {value, count, 0, is_f32 ? DEPTH_FLOAT : DEPTH_DOUBLE, {{0}, {0}, {0}}};
    int planes[4], n;
    if (count < 2 * LEAST_IN_CLASS || !(spread > 0x1p-900) || !(spread < 0x1p900))
        return 0;
    if (!is_worth_it(&f, ald__mark_exponent(spread)))
        return 0;
    n = find_planes(&f, ald__mark_exponent(spread), planes);
    for (int i = n; i-- > 0;)
        take_off(&f, value, planes[i]);
    return n;
}
