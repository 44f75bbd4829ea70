/* SPDX-License-Identifier: MIT */
/* The lattice of a mark without its key: values keep to the middle of half cells, so twice their phase is the same for all of one
 * class, wherever the lattice begins. */
#include "core/watermark/entropy.h"
#include "core/watermark/mark_tests.h"

#define CLASSES 6
#define LEAST_IN_CLASS 30
#define VALUES_MOST 65536
#define TESTS 27                             /* planes and cap exponents that are judged together */
#define LAST_JUDGED (ALD_ENTROPY_PLANES - 5) /* plane 20: there must be one four planes finer */

typedef struct phase_column {
    const ald__mark_tally *tally;
    size_t step;
    double power; /* units in 1 of decimals, whose cells must have many; 0: no decimals */
    int depth;
    int cap;
} phase_column;

typedef struct phase_sum {
    double sum, values; /* of |sum of unit vectors|^2 / n over classes; n */
    unsigned classes;
} phase_sum;

static phase_sum sum_phases(const phase_column *c, int k)
{
    double re[CLASSES] = {0}, im[CLASSES] = {0}, n[CLASSES] = {0};
    phase_sum out = {0, 0, 0};
    for (size_t i = 0; i < c->tally->count; i += c->step) {
        double a = ald__mark_abs(c->tally->value[i]), turns;
        int ex, e, class;
        if (a < 0x1p-900 || a > 0x1p900)
            continue;
        ex = ald__mark_exponent(a);
        e = ex < c->cap ? ex : c->cap;
        class = c->cap - e;
        if (class >= CLASSES || ex - e > c->depth)
            continue;
        if (c->power > 0 && ald__mark_pow2(e - k) * c->power < (k < 12 ? 64 : 16))
            continue;
        turns = 2 * a * ald__mark_pow2(k - e);
        re[class] += ald__mark_cos_about(turns);
        im[class] += ald__mark_cos_about(turns - 0.25);
        n[class] += 1;
    }
    for (int class = 0; class < CLASSES; class ++) {
        if (n[class] < LEAST_IN_CLASS)
            continue;
        out.sum += (re[class] * re[class] + im[class] * im[class]) / n[class];
        out.values += n[class];
        out.classes++;
    }
    return out;
}

static double excess(const phase_sum *s)
{
    double over = s->sum - s->classes;
    return over > 0 ? over : 0;
}

/* One cap exponent. */
static uint8_t judge_cap(const phase_column *c, ald_column_entropy *out, double *best_p)
{
    phase_sum sums[ALD_ENTROPY_PLANES];
    double p[ALD_ENTROPY_PLANES], strength[ALD_ENTROPY_PLANES];
    uint8_t sign = 0;
    for (int i = 0; i < ALD_ENTROPY_PLANES; i++) {
        sums[i] = sum_phases(c, i + ALD_ENTROPY_PLANE);
        p[i] = ald__mark_gamma_p(sums[i].sum, sums[i].classes);
        strength[i] =
            sums[i].values > 0 ? ald__mark_sqrt_about(excess(&sums[i]) / sums[i].values) : 0;
        if (p[i] < out->phase_p[i]) {
            out->phase_p[i] = p[i];
            out->phase_strength[i] = strength[i];
        }
    }
    for (int i = 0; i < LAST_JUDGED + 1; i++) {
        int nested =
            TESTS * p[i] < 1e-9 && strength[i] > 0.15 && p[i + 4] < 1e-4 && strength[i + 4] > 0.15;
        if (i + 7 < ALD_ENTROPY_PLANES && excess(&sums[i + 7]) > excess(&sums[i + 4]) / 4)
            nested = 0; /* a natural grid shows in planes of every width */
        int strong = out->entropy_class == ALD_ENTROPY_FULL && out->distinct_count >= 500 &&
                     TESTS * p[i] < 1e-6 && strength[i] > 0.3;
        if (excess(&sums[i + 3]) > excess(&sums[i]) / 4) /* a natural grid */
            continue;
        if (nested || strong) {
            sign = ALD_SIGN_PHASE;
            *best_p = TESTS * p[i] < *best_p ? TESTS * p[i] : *best_p;
        }
    }
    return sign;
}

uint8_t ald__entropy_phase(const ald__mark_tally *tally, int is_f32, int decimals,
                           ald_column_entropy *out, double *p)
{
    phase_column c = {tally, 1, 0, is_f32 ? 8 : 30, 0};
    double spread;
    uint8_t sign = 0;
    int cap;
    *p = 1;
    for (int i = 0; i < ALD_ENTROPY_PLANES; i++)
        out->phase_p[i] = 1;
    if (tally->count < 2)
        return 0;
    c.step = (tally->count + VALUES_MOST - 1) / VALUES_MOST;
    c.power = decimals >= 0 ? ald__mark_pow10(decimals) : 0;
    spread = tally->value[3 * (tally->count / 4) + 3 * (tally->count % 4) / 4] -
             tally->value[tally->count / 4];
    if (!(spread > 0x1p-900) || !(spread < 0x1p900))
        return 0;
    cap = ald__mark_exponent(spread);
    for (int offset = -1; offset <= 1; offset++) {
        c.cap = cap + offset;
        sign |= judge_cap(&c, out, p);
    }
    return sign;
}
