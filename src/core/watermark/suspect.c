/* SPDX-License-Identifier: MIT */
#include "core/watermark/suspect.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/marker.h"
#include "core/watermark/phases.h"

#define GUESS_VALUES 4096
#define WEIGH_VALUES 8192
#define OFFSETS 3
#define DOMAINS_MOST (ALD__MARK_DECIMALS_MOST + 2)
#define NEAR_FLOAT 0x1p-27 /* half a unit of the 9th digit, or less */
#define NEAR_FLOATS_LEAST 16
#define USUAL_BONUS 16
#define PLAIN_RUNS 200
#define PLAIN_SHARE 0.8
#define PLAIN_FINER 0.3
#define PLAIN_PLANES 3
#define ALL_PLANES ((UINT32_C(1) << ALD__MARK_PLANES) - 1)

/* ---- facts */

/* Mean of cos(2 pi a 10^d): 1 where all values have d decimals, near 0 where the digits behind are any. */
static double softness_of(const double *value, size_t count, size_t step, int decimals)
{
    double power = ald__mark_pow10(decimals), sum = 0;
    size_t used = 0, seen = 0;
    for (size_t i = 0; i < count; i += step) {
        double scaled = ald__mark_abs(value[i]) * power;
        seen++;
        if (scaled < 16 || scaled > 1e13)
            continue;
        used++;
        sum += ald__mark_cos_about(scaled);
    }
    return 2 * used < seen || used == 0 ? -1 : sum / (double)used;
}

/* What is worth a look before all domains are tried. */
typedef struct first_look {
    ald__mark_suspect *suspect;
    ald__mark_pass *pass;
    struct phase_stats *stats;
    int is_plain;
    double soft[ALD__MARK_DECIMALS_MOST + 1];
} first_look;

static void find_soft(ald__mark_suspect *s, const double *soft)
{
    const size_t step = (s->count + GUESS_VALUES - 1) / GUESS_VALUES, seen = s->count / step;
    double most = -1, least = 4 / ald__mark_sqrt_about(2 * (double)seen);
    s->soft_is_known = 1;
    for (int d = 0; d <= ALD__MARK_DECIMALS_MOST; d++)
        most = soft[d] > most ? soft[d] : most;
    if (most < (least > 0.05 ? least : 0.05))
        return;
    for (int d = ALD__MARK_DECIMALS_MOST; d >= 0; d--) {
        if (soft[d] >= 0.8 * most) {
            s->soft = d;
            s->softness = soft[d];
        }
    }
}

/* Floats that went through text of 9 digits or more, or through a conversion and back. Their grid would pass for a lattice in planes
 * that floats do not have. Other numbers are so close to a float once in four to eight times. */
static int is_nearly_f32(const ald__mark_tally *t)
{
    const size_t step = (t->count + GUESS_VALUES - 1) / GUESS_VALUES;
    size_t seen = 0, near = 0;
    for (size_t i = 0; i < t->count; i += step) {
        const double v = t->value[i];
        seen++;
        near += ald__mark_abs(v - (double)(float)v) <= NEAR_FLOAT * ald__mark_abs(v);
    }
    return seen >= NEAR_FLOATS_LEAST && 20 * near >= 19 * seen;
}

void ald__mark_suspect_describe(ald__mark_suspect *s, const ald__mark_tally *t)
{
    int of_floats;
    if (!s->is_f32)
        s->is_f32 = (uint8_t)is_nearly_f32(t);
    s->count = t->count;
    s->spread = ald__mark_tally_spread(t);
    s->decimals = ald__mark_tally_decimals(t, s->is_f32, &of_floats);
    s->soft = -1;
    s->soft_is_known =
        s->decimals >= 0 && s->decimals <= ALD__MARK_DECIMALS_MOST; /* not asked for */
}

void ald__mark_suspect_init(ald__mark_suspect *s, const ald__mark_keys *keys,
                            const ald__mark_tally *tally)
{
    memset(s, 0, sizeof *s);
    s->keys = keys;
    s->alloc = tally->alloc;
    s->value = tally->value;
    s->is_f32 = tally->is_f32;
    ald__mark_suspect_describe(s, tally);
}

void ald__mark_suspect_clear(ald__mark_suspect *s)
{
    if (s->own != NULL)
        ald__release(s->alloc, s->own, s->own_capacity * sizeof *s->own);
    s->own = s->value = NULL;
    s->count = 0;
}

/* ---- phases */

typedef struct phase_stats {
    int cap;
    double n[ALD__MARK_PLANES][ALD__MARK_CLASSES]; /* weights */
    double r[ALD__MARK_PLANES]
            [ALD__MARK_CLASSES]; /* weighted waves: as large where all is marked */
    double q[ALD__MARK_PLANES][ALD__MARK_CLASSES]; /* runs */
} phase_stats;

static void count_runs(void *ctx, int plane, const ald__mark_run *runs, size_t count)
{
    phase_stats *stats = ctx;
    double *n = stats->n[plane - ALD__MARK_LEAST_PLANE];
    double *r = stats->r[plane - ALD__MARK_LEAST_PLANE];
    double *q = stats->q[plane - ALD__MARK_LEAST_PLANE];
    for (size_t i = 0; i < count; i++) {
        int class = stats->cap - ald__mark_run_exponent(&runs[i]);
        double weight = 1, mean = runs[i].sum;
        if (class < 0 || class >= ALD__MARK_CLASSES)
            continue;
        if (runs[i].count > 1) {
            weight = ald__mark_run_weight(runs[i].count);
            mean /= runs[i].count;
        }
        n[class] += weight;
        r[class] += weight * mean;
        q[class] += 1;
    }
}

static void count_group(void *ctx, int plane, ald__mark_scratch *s, size_t first, size_t count,
                        double weight)
{
    phase_stats *stats = ctx;
    const double *wave = s->wave + first;
    const int class = stats->cap - ald__mark_head_exponent(s->head[first]);
    double part[4] = {0}; /* in an order that vectors can keep */
    size_t i = 0;
    plane -= ALD__MARK_LEAST_PLANE;
    if (class < 0 || class >= ALD__MARK_CLASSES)
        return;
    for (; i + 4 <= count; i += 4) {
        for (size_t k = 0; k < 4; k++)
            part[k] += wave[i + k];
    }
    for (; i < count; i++)
        part[0] += wave[i];
    stats->n[plane][class] += weight;
    stats->r[plane][class] += (part[0] + part[1]) + (part[2] + part[3]);
    stats->q[plane][class] += (double)count;
}

static void take_stats(ald__mark_pass *pass, const ald__mark_guess *guess, uint32_t planes,
                       phase_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    stats->cap = guess->cap;
    pass->planes = planes;
    pass->twice = 1;
    pass->take = count_runs;
    pass->take_group = count_group;
    pass->ctx = stats;
    ald__mark_pass_aim(pass, guess);
    ald__mark_pass_run(pass);
}

/* From the statistics under the highest cap to those under a lower one: classes move up, and the first is counted again, as the
 * values above it fall into it. */
static void lower_cap(ald__mark_pass *pass, const phase_stats *highest,
                      const ald__mark_guess *guess, phase_stats *stats)
{
    size_t by = (size_t)(highest->cap - guess->cap);
    take_stats(pass, guess, ALL_PLANES, stats);
    for (int p = 0; p < ALD__MARK_PLANES; p++) {
        for (size_t c = 1; c + by < ALD__MARK_CLASSES; c++) {
            stats->n[p][c] = highest->n[p][c + by];
            stats->r[p][c] = highest->r[p][c + by];
            stats->q[p][c] = highest->q[p][c + by];
        }
    }
}

/* How far plane p stands out of the next finer one, in standard deviations, over the first `classes`. */
static double stands_out(const phase_stats *s, int p, int classes)
{
    double sum = 0, runs = 0;
    for (int c = 0; c < classes; c++) {
        double finer = 0;
        if (p + 1 < ALD__MARK_PLANES && s->n[p + 1][c] > s->n[p][c] / 2)
            finer = s->r[p + 1][c] / s->n[p + 1][c];
        sum += s->r[p][c] - s->n[p][c] * finer;
        runs += s->q[p][c];
    }
    return runs > 0 ? sum / ald__mark_sqrt_about(runs) : 0;
}

static void score_guess(ald__mark_suspect *s, const phase_stats *stats, ald__mark_guess guess,
                        double bonus)
{
    double score[ALD__MARK_FAMILIES] = {0};
    for (int p = 0; p < ALD__MARK_PLANES; p++) {
        double all = stands_out(stats, p, ALD__MARK_CLASSES), first = stands_out(stats, p, 2);
        double t = all > first ? all : first;
        if (t > 1)
            score[(p + ALD__MARK_LEAST_PLANE) % ALD__MARK_FAMILIES] += t * t - 1;
    }
    for (int f = 0; f < ALD__MARK_FAMILIES; f++) {
        if (score[f] + bonus > s->guess[f].score) {
            s->guess[f] = guess;
            s->guess[f].score = score[f] + bonus;
        }
    }
}

/* `stats` is room for two. */
static void try_domain(ald__mark_suspect *s, ald__mark_pass *pass, phase_stats *stats, int decimals)
{
    double units = s->spread * (decimals >= 0 ? ald__mark_pow10(decimals) : 1);
    int usual = s->decimals >= 0 && s->decimals <= ALD__MARK_DECIMALS_MOST ? s->decimals : -1;
    int cap = ald__mark_exponent(units);
    ald__mark_guess guess = {decimals, cap + OFFSETS, 0};
    pass->only_capped = 0;
    take_stats(pass, &guess, ALL_PLANES, &stats[0]);
    pass->only_capped = 1;
    for (int offset = OFFSETS; offset >= -OFFSETS; offset--) {
        double bonus = decimals == usual ? (offset == 0 ? USUAL_BONUS : 8) : offset == 0 ? 3 : 0;
        guess.cap = cap + offset;
        if (decimals >= 0 && guess.cap < ALD__MARK_LEAST_PLANE + 4) /* no plane at all */
            memset(&stats[1], 0, sizeof stats[1]);
        else if (offset < OFFSETS)
            lower_cap(pass, &stats[0], &guess, &stats[1]);
        score_guess(s, &stats[offset < OFFSETS], guess, bonus);
    }
}

/* Whether three planes of one family show the lattice in the values of the cap's class. Another lattice is next to this one by
 * chance in one plane of ten, in three nested ones (each is 16 times finer) about never: nothing else need be tried. */
static int is_plain(const phase_stats *stats)
{
    unsigned planes[ALD__MARK_FAMILIES] = {0};
    int found = 0;
    for (int p = 0; p < ALD__MARK_PLANES; p++) {
        double all = 0, capped = stats->n[p][0], finer = 0;
        for (int c = 0; c < ALD__MARK_CLASSES; c++)
            all += stats->n[p][c];
        if (p + 1 < ALD__MARK_PLANES) /* where marked phases lie between the waves */
            finer = stats->r[p + 1][0] + PLAIN_FINER * stats->n[p + 1][0];
        if (capped >= PLAIN_RUNS && 4 * capped >= all && stats->r[p][0] >= PLAIN_SHARE * capped &&
            finer <= 0)
            found |= ++planes[p % ALD__MARK_FAMILIES] >= PLAIN_PLANES;
    }
    return found;
}

/* Tries what is likeliest, and tells whether it is so plain that the rest can be left out. */
static int try_usual(ald__mark_suspect *s, ald__mark_pass *pass, phase_stats *stats)
{
    int usual = s->decimals >= 0 && s->decimals <= ALD__MARK_DECIMALS_MOST ? s->decimals : -1;
    double units = s->spread * (usual >= 0 ? ald__mark_pow10(usual) : 1);
    ald__mark_guess guess = {usual, ald__mark_exponent(units), 0};
    take_stats(pass, &guess, ALL_PLANES, stats);
    if (!is_plain(stats))
        return 0;
    score_guess(s, stats, guess, USUAL_BONUS);
    return 1;
}

/* Domains that are tried side by side. */
typedef struct domain_tries {
    const ald__mark_suspect *suspect;
    size_t count, strands; /* strand i tries every so manieth */
    int decimals[DOMAINS_MOST];
    uint8_t has_failed[DOMAINS_MOST];
    ald__mark_guess best[DOMAINS_MOST][ALD__MARK_FAMILIES];
} domain_tries;

static void forget_guesses(ald__mark_suspect *s)
{
    for (int f = 0; f < ALD__MARK_FAMILIES; f++)
        s->guess[f] = (ald__mark_guess){-1, 0, -1};
}

static void try_strand(void *arg, uint32_t index)
{
    domain_tries *t = arg;
    ald__mark_suspect own = *t->suspect;
    ald__mark_pass *pass = ald__mark_pass_new(&own, GUESS_VALUES, NULL);
    phase_stats *stats = pass != NULL ? ald__alloc(own.alloc, 2 * sizeof *stats, NULL) : NULL;
    t->has_failed[index] = stats == NULL;
    for (size_t n = index; n < t->count && stats != NULL; n += t->strands) {
        const size_t i = n > 0 ? t->count - n : 0; /* those that take longest come first */
        forget_guesses(&own);
        try_domain(&own, pass, stats, t->decimals[i]);
        memcpy(t->best[i], own.guess, sizeof own.guess);
    }
    if (stats != NULL)
        ald__release(own.alloc, stats, 2 * sizeof *stats);
    if (pass != NULL)
        ald__mark_pass_free(pass);
}

/* The first of those with the best score. */
static ald_status run_tries(ald__mark_suspect *s, domain_tries *t, const ald_host *host,
                            ald_error *err)
{
    t->strands = host != NULL ? t->count : 1;
    ald__mark_run_tasks(host, t->strands, try_strand, t);
    for (size_t i = 0; i < t->strands; i++) {
        if (t->has_failed[i])
            return ald__no_memory(err, sizeof(ald__mark_pass));
    }
    for (size_t i = 0; i < t->count; i++) {
        for (int f = 0; f < ALD__MARK_FAMILIES; f++) {
            if (t->best[i][f].score > s->guess[f].score)
                s->guess[f] = t->best[i][f];
        }
    }
    return ALD_OK;
}

static ald_status try_all(ald__mark_suspect *s, const ald_host *host, ald_error *err)
{
    domain_tries t = {s, 1, 0, {-1}, {0}, {{{0, 0, 0}}}};
    for (int d = s->decimals >= 0 ? s->decimals : 0; d <= ALD__MARK_DECIMALS_MOST; d++) {
        double units = s->spread * ald__mark_pow10(d);
        /* cells of 16 units at the least: with a smaller spread there are none, and only the usual domain is worth a guess */
        if (d != s->decimals && ald__mark_exponent(units) + OFFSETS < ALD__MARK_LEAST_PLANE + 4)
            continue;
        if (s->decimals >= 0 ? d <= s->decimals + 3 : units < 4194304)
            t.decimals[t.count++] = d;
    }
    return run_tries(s, &t, host, err);
}

/* The usual lattice (task 0), and decimals under a little noise. */
static void look_first(void *arg, uint32_t task)
{
    first_look *l = arg;
    const ald__mark_suspect *s = l->suspect;
    const size_t step = (s->count + GUESS_VALUES - 1) / GUESS_VALUES;
    if (task == 0)
        l->is_plain = try_usual(l->suspect, l->pass, l->stats);
    else
        l->soft[task - 1] = softness_of(s->value, s->count, step, (int)task - 1);
}

/* The decimals are of no interest where the lattice is plain: threads look for both at once. */
static ald_status guess_with(ald__mark_suspect *s, first_look *l, const ald_host *host,
                             ald_error *err)
{
    const uint32_t tasks = s->soft_is_known ? 1 : ALD__MARK_DECIMALS_MOST + 2;
    ald__mark_run_tasks(host, host != NULL ? tasks : 1, look_first, l);
    if (l->is_plain)
        return ALD_OK;
    for (uint32_t i = 1; i < tasks && host == NULL; i++)
        look_first(l, i);
    if (!s->soft_is_known)
        find_soft(s, l->soft);
    return try_all(s, host, err);
}

ald_status ald__mark_suspect_guess(ald__mark_suspect *s, const ald_host *host, ald_error *err)
{
    first_look l = {s, NULL, NULL, 0, {0}};
    ald_status st = ALD_E_NOMEM;
    forget_guesses(s);
    if (s->count == 0 || !(s->spread > 0x1p-900) || !(s->spread < 0x1p900))
        return ALD_OK;
    l.pass = ald__mark_pass_new(s, GUESS_VALUES, err);
    if (l.pass == NULL)
        return ALD_E_NOMEM;
    l.stats = ald__alloc(s->alloc, sizeof *l.stats, err);
    if (l.stats != NULL) {
        st = guess_with(s, &l, host, err);
        ald__release(s->alloc, l.stats, sizeof *l.stats);
    }
    ald__mark_pass_free(l.pass);
    return st;
}

/* ---- weights */

static double weight_of(double r, double n, double q, double plane_r, double plane_n,
                        double plane_q)
{
    double average = plane_n > 0 ? plane_r / plane_n : 0, strength, a, variance;
    double z = q > 0 ? r * 1.4142135623730951 / ald__mark_sqrt_about(q) : 0;
    double plane_z = plane_q > 0 ? plane_r * 1.4142135623730951 / ald__mark_sqrt_about(plane_q) : 0;
    if (q <= 0 || !(z > 2.5 || (plane_z > 4 && q < 40 && z > -0.5)))
        return 0;
    strength = (r + 10 * (average > 0 ? average : 0)) / (n + 10);
    if (!(strength > 0.01))
        return 0;
    strength = strength < 0.98 ? strength : 0.98;
    a = ald__mark_exp2_about(0.4 * ald__mark_log2_about(strength));
    variance = (1 + strength) / 2 - a * a;
    return 2 * a / (variance > 0.12 ? variance : 0.12);
}

static void set_weights(const phase_stats *s, int p, double *weights)
{
    double r = 0, n = 0, q = 0;
    for (int c = 0; c < ALD__MARK_CLASSES; c++) {
        r += s->r[p][c];
        n += s->n[p][c];
        q += s->q[p][c];
    }
    for (int c = 0; c < ALD__MARK_CLASSES; c++)
        weights[c] = weight_of(s->r[p][c], s->n[p][c], s->q[p][c], r, n, q);
}

static uint32_t family_planes(int family)
{
    uint32_t planes = 0;
    for (int p = 0; p < ALD__MARK_PLANES; p++) {
        if ((p + ALD__MARK_LEAST_PLANE) % ALD__MARK_FAMILIES == family)
            planes |= UINT32_C(1) << p;
    }
    return planes;
}

ald_status ald__mark_suspect_weigh(const ald__mark_suspect *s, const ald__mark_guess *guess,
                                   int family, ald__mark_weights *out, ald_error *err)
{
    uint32_t planes = family_planes(family);
    ald__mark_pass *pass;
    phase_stats *stats;
    memset(out, 0, sizeof *out);
    if (s->count == 0 || guess->score < 0)
        return ALD_OK;
    pass = ald__mark_pass_new(s, WEIGH_VALUES, err);
    if (pass == NULL)
        return ALD_E_NOMEM;
    stats = ald__alloc(s->alloc, sizeof *stats, err);
    if (stats != NULL) {
        take_stats(pass, guess, planes, stats);
        for (int p = 0; p < ALD__MARK_PLANES; p++) {
            if (planes >> p & 1)
                set_weights(stats, p, out->of[p]);
        }
        ald__release(s->alloc, stats, sizeof *stats);
    }
    ald__mark_pass_free(pass);
    return stats != NULL ? ALD_OK : ALD_E_NOMEM;
}

double ald__mark_suspect_parity(const ald__mark_suspect *s, int *decimals)
{
    double r, a, variance;
    if (s->count == 0)
        return 0;
    if (s->decimals >= 0 && s->decimals <= ALD__MARK_DECIMALS_MOST) {
        *decimals = s->decimals;
        return 12;
    }
    if (s->soft < 0)
        return 0;
    *decimals = s->soft;
    r = s->softness < 0.98 ? s->softness : 0.98;
    a = ald__mark_sqrt_about(ald__mark_sqrt_about(r));
    variance = (1 + r) / 2 - a * a;
    return 1.5 * a / (variance > 0.12 ? variance : 0.12);
}
