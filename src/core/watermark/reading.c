/* SPDX-License-Identifier: MIT */
/* The columns of a suspect copy, and the profiles that are made of them. */
#include "core/watermark/reading.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_math.h"

#define LEAST_CARRIERS 20
#define PRESENCE_CARRIERS 200
#define COLUMN_VALUES 60
#define COLUMNS_ALONE 64
#define NOISE_VALUES 400
#define NOISE_FIRST_PLANE 8
#define NOISE_LAST_PLANE 14
#define WAVE 8      /* pieces of columns that are read at once, each into memory of its own */
#define PIECE 65536 /* values */

ald__mark_profile *ald__mark_reading_profile(const ald_watermark_reading *reading, size_t index)
{
    return ((ald__mark_profile **)(void *)reading->profiles.data)[index];
}

/* The last two variants. The others are converted, but for the first one. */
static int is_rounded(const ald_watermark_reading *r, size_t variant)
{
    return variant + 2 == r->variant_count;
}

static int is_undone(const ald_watermark_reading *r, size_t variant)
{
    return variant + 1 == r->variant_count;
}

/* ---- profiles */

/* How much more often carriers of one position agree than those at random would, in standard deviations. */
static double coherence_of(const ald__mark_soft *soft)
{
    const double n = ALD__POLAR_BITS;
    double power = 0;
    for (size_t j = 0; j < ALD__POLAR_BITS; j++)
        power += soft->y[j] * soft->y[j];
    if (!(soft->squares > 0))
        return 0;
    return (power - soft->squares) / (ald__mark_sqrt_about(2 * n) * soft->squares / n);
}

/* How many carriers of one size would say as much. In whole numbers that follow one another nearly all cancel out, and the few
 * that are left agree by chance. */
static double effective_carriers(const ald__mark_soft *soft)
{
    return soft->fourths > 0 ? soft->squares / soft->fourths * soft->squares : 0;
}

/* A mark of this key shows in a column alone. Columns together may share cells, and then agree also under a mark of another
 * key. */
static void note_presence(ald_watermark_reading *r, const ald__mark_soft *column)
{
    double coherence = effective_carriers(column) >= PRESENCE_CARRIERS ? coherence_of(column) : 0;
    r->presence = coherence > r->presence ? coherence : r->presence;
}

static ald_status add_profile(ald_watermark_reading *r, const ald__mark_soft *soft, size_t variant,
                              int is_noise, ald_error *err)
{
    ald__mark_profile *p;
    ald_status st;
    if (soft->carriers < LEAST_CARRIERS)
        return ALD_OK;
    p = ald__alloc_zero(&r->host.alloc, sizeof *p, err);
    if (p == NULL)
        return ALD_E_NOMEM;
    for (size_t j = 0; j < ALD__POLAR_BITS; j++) {
        p->y[j] = (float)soft->y[j];
        p->size += ald__mark_abs(soft->y[j]);
        p->power += (double)p->y[j] * (double)p->y[j];
        p->positions += p->y[j] < 0 || p->y[j] > 0;
    }
    p->carriers = soft->carriers;
    p->variant = variant;
    p->affine = variant > r->affine_count ? -1 : (int32_t)variant - 1;
    p->coherence = coherence_of(soft);
    p->is_noise = (uint8_t)is_noise;
    if (!(p->power > 0)) {
        ald__release(&r->host.alloc, p, sizeof *p);
        return ALD_OK;
    }
    r->carriers = p->carriers > r->carriers ? p->carriers : r->carriers;
    st = ald__buffer_append(&r->profiles, &p, sizeof(ald__mark_profile *), err);
    if (st != ALD_OK) {
        ald__release(&r->host.alloc, p, sizeof *p);
        return st;
    }
    r->profile_count++;
    return ALD_OK;
}

/* ---- work on columns, side by side */

typedef struct columns_work {
    ald_watermark_reading *reading;
    size_t index; /* of the variant */
    ald__mark_variant *variant;
    ald_error *errors;
} columns_work;

/* As in the first variant, or rounded. */
static ald_status round_column(columns_work *w, size_t column, ald_error *err)
{
    ald_watermark_reading *r = w->reading;
    ald__mark_suspect *s = &w->variant->suspects[column];
    ald__mark_tally *tally = &r->survey.tallies[column];
    int decimals = ald__mark_average_decimals(tally);
    if (decimals < 0) {
        *s = r->variants[0].suspects[column];
        return ALD_OK;
    }
    ALD_TRY(ald__mark_suspect_round(s, &r->keys, tally, decimals, err));
    return ald__mark_suspect_guess(s, err);
}

static ald_status guess_column(columns_work *w, size_t column, ald_error *err)
{
    ald_watermark_reading *r = w->reading;
    ald__mark_suspect *s = &w->variant->suspects[column];
    ald__mark_tally *tally = &r->survey.tallies[column];
    if (r->survey.reasons[column] != ALD_WATERMARK_NONE)
        return ALD_OK;
    if (is_rounded(r, w->index))
        return round_column(w, column, err);
    if (is_undone(r, w->index)) {
        ALD_TRY(ald__mark_suspect_undo(s, &r->keys, tally, err));
    } else if (w->index == 0) {
        if (!tally->is_sorted)
            ALD_TRY(ald__mark_tally_sort(tally, NULL, err));
        ald__mark_suspect_init(s, &r->keys, tally);
    } else {
        const ald_watermark_affine *a = &r->affine[w->index - 1];
        ALD_TRY(ald__mark_suspect_convert(s, &r->keys, tally, a->factor, a->offset, err));
    }
    return ald__mark_suspect_guess(s, err);
}

static void guess_task(void *arg, uint32_t index)
{
    columns_work *w = arg;
    w->errors[index].status = (int32_t)guess_column(w, index, &w->errors[index]);
}

/* The values of one piece, as a column. */
static ald__mark_suspect piece_of(const ald__mark_suspect *s, size_t begin)
{
    ald__mark_suspect piece = *s;
    piece.value += begin;
    piece.count = s->count - begin < PIECE ? s->count - begin : PIECE;
    return piece;
}

static ald_status weigh_soft(const ald__mark_suspect *s, int family, ald__mark_weights *weights,
                             ald_error *err)
{
    return ald__mark_suspect_weigh(s, &s->guess[family], family, weights, err);
}

static ald_status read_piece(const ald__mark_suspect *s, size_t begin, int family,
                             const ald__mark_weights *weights, ald__mark_soft *groups,
                             ald__mark_soft *parity, ald_error *err)
{
    const ald__mark_suspect piece = piece_of(s, begin);
    int decimals;
    double weight = ald__mark_suspect_parity(s, &decimals);
    ALD_TRY(ald__mark_suspect_read(&piece, &s->guess[family], weights, groups, err));
    if (weight > 0)
        ALD_TRY(ald__mark_suspect_read_parity(&piece, decimals, weight, ALD__MARK_PARITY_LEAST,
                                              1e300, parity, err));
    return ALD_OK;
}

/* What a column says in the planes of a family, and by its last digits. */
static ald_status read_soft(const ald__mark_suspect *s, int family, ald__mark_soft *groups,
                            ald__mark_soft *parity, ald_error *err)
{
    ald__mark_weights *weights;
    ald_status st;
    if (s->count == 0)
        return ALD_OK;
    weights = ald__alloc(s->alloc, sizeof *weights, err);
    if (weights == NULL)
        return ALD_E_NOMEM;
    st = weigh_soft(s, family, weights, err);
    for (size_t at = 0; at < s->count && st == ALD_OK; at += PIECE)
        st = read_piece(s, at, family, weights, groups, parity, err);
    ald__release(s->alloc, weights, sizeof *weights);
    return st;
}

ald_status ald__mark_reading_soft(ald_watermark_reading *reading, size_t variant, size_t column,
                                  ald__mark_soft *out, ald_error *err)
{
    const ald__mark_variant *v = &reading->variants[variant];
    return read_soft(&v->suspects[column], v->family, out, out, err);
}

static ald_status first_error(const ald_error *errors, size_t count, ald_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (errors[i].status != ALD_OK) {
            if (err != NULL)
                *err = errors[i];
            return (ald_status)errors[i].status;
        }
    }
    return ALD_OK;
}

static void choose_family(ald__mark_variant *v, size_t count)
{
    double most = -1;
    for (int f = 0; f < ALD__MARK_FAMILIES; f++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            if (v->suspects[i].count > 0 && v->suspects[i].guess[f].score > 0)
                sum += v->suspects[i].guess[f].score;
        }
        if (sum > most) {
            most = sum;
            v->family = f;
        }
    }
}

/* ---- the sum of what columns say: their pieces, WAVE at a time */

typedef struct wave_piece {
    size_t column, begin;
    size_t first; /* piece of the wave that has the column's weights */
    ald__mark_weights weights;
    ald__mark_soft groups, parity;
    ald_error error;
} wave_piece;

typedef struct wave {
    ald__mark_variant *variant;
    ald__mark_soft groups, parity; /* of the column so far */
    wave_piece pieces[WAVE];
} wave;

static void weigh_task(void *arg, uint32_t index)
{
    wave *w = arg;
    wave_piece *p = &w->pieces[index];
    if (p->first == index)
        p->error.status = (int32_t)weigh_soft(&w->variant->suspects[p->column], w->variant->family,
                                              &p->weights, &p->error);
}

static void read_task(void *arg, uint32_t index)
{
    wave *w = arg;
    wave_piece *p = &w->pieces[index];
    if (w->pieces[p->first].error.status == ALD_OK)
        p->error.status =
            (int32_t)read_piece(&w->variant->suspects[p->column], p->begin, w->variant->family,
                                &w->pieces[p->first].weights, &p->groups, &p->parity, &p->error);
}

/* The next pieces, from *column and *begin on; returns how many. */
static size_t fill_wave(wave *w, size_t *column, size_t *begin, size_t count)
{
    size_t n = 0;
    while (n < WAVE && *column < count) {
        wave_piece *p = &w->pieces[n];
        if (*begin >= w->variant->suspects[*column].count) {
            ++*column;
            *begin = 0;
            continue;
        }
        memset(p, 0, sizeof *p);
        p->column = *column;
        p->begin = *begin;
        p->first = n > 0 && w->pieces[n - 1].column == *column ? w->pieces[n - 1].first : n;
        *begin += PIECE;
        n++;
    }
    return n;
}

static void end_column(ald_watermark_reading *r, wave *w)
{
    note_presence(r, &w->groups);
    note_presence(r, &w->parity);
    ald__mark_soft_add(w->variant->groups, &w->groups, 1);
    ald__mark_soft_add(w->variant->parity, &w->parity, 1);
    memset(&w->groups, 0, sizeof w->groups);
    memset(&w->parity, 0, sizeof w->parity);
}

static ald_status run_wave(ald_watermark_reading *r, wave *w, size_t n, ald_error *err)
{
    ald__mark_run_tasks(&r->host, n, weigh_task, w);
    ald__mark_run_tasks(&r->host, n, read_task, w);
    for (size_t i = 0; i < n; i++) {
        const wave_piece *p = &w->pieces[i];
        ALD_TRY(first_error(&p->error, 1, err));
        ald__mark_soft_add(&w->groups, &p->groups, 1);
        ald__mark_soft_add(&w->parity, &p->parity, 1);
        if (w->variant->suspects[p->column].count - p->begin <= PIECE)
            end_column(r, w);
    }
    return ALD_OK;
}

static ald_status sum_columns(ald_watermark_reading *r, ald__mark_variant *v, size_t count,
                              ald_error *err)
{
    size_t column = 0, begin = 0, n;
    wave *w = ald__alloc_zero(&r->host.alloc, sizeof *w, err);
    ald_status st = w == NULL ? ALD_E_NOMEM : ALD_OK;
    if (w == NULL)
        return st;
    w->variant = v;
    while (st == ALD_OK && (n = fill_wave(w, &column, &begin, count)) > 0)
        st = run_wave(r, w, n, err);
    ald__wipe(w, sizeof *w);
    ald__release(&r->host.alloc, w, sizeof *w);
    return st;
}

/* Long columns are sorted one after the other, each on all threads, if there are few. */
static ald_status sort_long(ald_watermark_reading *r, size_t count, ald_error *err)
{
    for (size_t i = 0; i < count; i++) {
        ald__mark_tally *tally = &r->survey.tallies[i];
        if (r->survey.reasons[i] == ALD_WATERMARK_NONE && !tally->is_sorted &&
            ald__mark_is_shared_out(&r->host, tally->count, count))
            ALD_TRY(ald__mark_tally_sort(tally, &r->host, err));
    }
    return ALD_OK;
}

/* Guesses the lattice of every column, and sums up what they say on it. */
static ald_status ready_variant(ald_watermark_reading *r, size_t variant, ald_error *err)
{
    ald__mark_variant *v = &r->variants[variant];
    size_t count = r->survey.leaves.count;
    columns_work w = {r, variant, v, NULL};
    const ald_allocator *alloc = &r->host.alloc;
    ald_status st = ALD_E_NOMEM;
    if (v->is_ready)
        return ALD_OK;
    ALD_TRY(sort_long(r, count, err));
    v->suspects = ald__alloc_zero(alloc, (count + 1) * sizeof *v->suspects, err);
    v->groups = ald__alloc_zero(alloc, sizeof *v->groups, err);
    v->parity = ald__alloc_zero(alloc, sizeof *v->parity, err);
    w.errors = ald__alloc_zero(alloc, (count + 1) * sizeof *w.errors, err);
    if (v->suspects != NULL && v->groups != NULL && v->parity != NULL && w.errors != NULL) {
        ald__mark_run_tasks(&r->host, count, guess_task, &w);
        st = first_error(w.errors, count, err);
        choose_family(v, count);
        if (st == ALD_OK)
            st = sum_columns(r, v, count, err);
    }
    if (w.errors != NULL)
        ald__release(alloc, w.errors, (count + 1) * sizeof *w.errors);
    v->is_ready = st == ALD_OK;
    return st;
}

/* ---- the stages */

/* groups * a + parity * b + extra (may be NULL) */
static ald_status add_mixture(ald_watermark_reading *r, size_t variant, double a, double b,
                              const ald__mark_soft *extra, ald_error *err)
{
    const ald__mark_variant *v = &r->variants[variant];
    ald__mark_soft *mix = ald__alloc_zero(&r->host.alloc, sizeof *mix, err);
    ald_status st;
    if (mix == NULL)
        return ALD_E_NOMEM;
    if (a > 0)
        ald__mark_soft_add(mix, v->groups, a);
    if (b > 0)
        ald__mark_soft_add(mix, v->parity, b);
    if (extra != NULL)
        ald__mark_soft_add(mix, extra, 1);
    st = add_profile(r, mix, variant, 0, err);
    ald__release(&r->host.alloc, mix, sizeof *mix);
    return st;
}

static int has_soft_grid(const ald__mark_suspect *s)
{
    return s->count > 0 && s->decimals < 0 && s->softness > 0;
}

static ald_status read_without_grids(ald__mark_variant *v, size_t count, ald__mark_soft *soft,
                                     ald_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (has_soft_grid(&v->suspects[i])) {
            v->suspects[i].softness = 0;
            ALD_TRY(ald__mark_suspect_guess(&v->suspects[i], err));
        }
    }
    choose_family(v, count);
    for (size_t i = 0; i < count; i++) /* last digits apart: they are left out */
        ALD_TRY(read_soft(&v->suspects[i], v->family, soft, v->parity, err));
    return ALD_OK;
}

/* What looks like a grid under a little noise may be decimals of floats, which were marked as any numbers are: all columns
 * once more, without such grids. */
static ald_status mixture_without_grids(ald_watermark_reading *r, size_t variant, ald_error *err)
{
    const ald_allocator *alloc = &r->host.alloc;
    const size_t count = r->survey.leaves.count, bytes = (count + 1) * sizeof(ald__mark_suspect);
    ald__mark_variant v = r->variants[variant];
    ald_status st = ALD_E_NOMEM;
    int any = 0;
    for (size_t i = 0; i < count; i++)
        any |= has_soft_grid(&v.suspects[i]);
    if (!any)
        return ALD_OK;
    v.suspects = ald__alloc(alloc, bytes, err);
    v.groups = ald__alloc_zero(alloc, sizeof *v.groups, err);
    v.parity = ald__alloc_zero(alloc, sizeof *v.parity, err);
    if (v.suspects != NULL && v.groups != NULL && v.parity != NULL) {
        memcpy(v.suspects, r->variants[variant].suspects, count * sizeof *v.suspects);
        st = read_without_grids(&v, count, v.groups, err);
    }
    if (st == ALD_OK)
        st = add_profile(r, v.groups, variant, 0, err);
    if (v.suspects != NULL)
        ald__release(alloc, v.suspects, bytes);
    if (v.groups != NULL)
        ald__release(alloc, v.groups, sizeof *v.groups);
    if (v.parity != NULL)
        ald__release(alloc, v.parity, sizeof *v.parity);
    return st;
}

static ald_status stage_mixtures(ald_watermark_reading *r, size_t variant, ald_error *err)
{
    const ald__mark_variant *v = &r->variants[variant];
    ald__mark_soft *small;
    ald_status st = ALD_OK;
    int has_parity = 0;
    small = ald__alloc_zero(&r->host.alloc, sizeof *small, err);
    if (small == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < r->survey.leaves.count && st == ALD_OK; i++) {
        int decimals;
        double weight = ald__mark_suspect_parity(&v->suspects[i], &decimals);
        if (weight <= 0)
            continue;
        has_parity = 1;
        st =
            ald__mark_suspect_read_parity(&v->suspects[i], decimals, weight, ALD__MARK_PARITY_LOWER,
                                          ALD__MARK_PARITY_LEAST, small, err);
    }
    if (st == ALD_OK && has_parity) {
        st = add_mixture(r, variant, 1, 0, NULL, err);
        if (st == ALD_OK)
            st = add_mixture(r, variant, 0, 1, NULL, err);
        if (st == ALD_OK)
            st = add_mixture(r, variant, 1, 0.25, NULL, err);
        if (st == ALD_OK && small->carriers > 0)
            st = add_mixture(r, variant, 1, 1, small, err);
    }
    ald__release(&r->host.alloc, small, sizeof *small);
    return st == ALD_OK ? mixture_without_grids(r, variant, err) : st;
}

/* The planes of a column, on its own best guess. */
static ald_status planes_alone(ald_watermark_reading *r, size_t variant, const ald__mark_suspect *s,
                               ald__mark_weights *weights, ald__mark_soft *soft, ald_error *err)
{
    int family = 0;
    for (int f = 1; f < ALD__MARK_FAMILIES; f++)
        family = s->guess[f].score > s->guess[family].score ? f : family;
    memset(soft, 0, sizeof *soft);
    ALD_TRY(ald__mark_suspect_weigh(s, &s->guess[family], family, weights, err));
    ALD_TRY(ald__mark_suspect_read(s, &s->guess[family], weights, soft, err));
    note_presence(r, soft);
    return add_profile(r, soft, variant, 0, err);
}

static ald_status column_alone(ald_watermark_reading *r, size_t variant, const ald__mark_suspect *s,
                               ald__mark_weights *weights, ald__mark_soft *soft, ald_error *err)
{
    int decimals;
    ALD_TRY(planes_alone(r, variant, s, weights, soft, err));
    if (has_soft_grid(s)) {
        ald__mark_suspect without = *s;
        without.softness = 0;
        ALD_TRY(ald__mark_suspect_guess(&without, err));
        ALD_TRY(planes_alone(r, variant, &without, weights, soft, err));
    }
    if (ald__mark_suspect_parity(s, &decimals) <= 0)
        return ALD_OK;
    memset(soft, 0, sizeof *soft);
    ALD_TRY(
        ald__mark_suspect_read_parity(s, decimals, 12, ALD__MARK_PARITY_LEAST, 1e300, soft, err));
    note_presence(r, soft);
    return add_profile(r, soft, variant, 0, err);
}

static ald_status stage_columns(ald_watermark_reading *r, size_t variant, ald_error *err)
{
    const ald_allocator *alloc = &r->host.alloc;
    ald__mark_weights *weights = ald__alloc(alloc, sizeof *weights, err);
    ald__mark_soft *soft = ald__alloc(alloc, sizeof *soft, err);
    ald_status st = weights != NULL && soft != NULL ? ALD_OK : ALD_E_NOMEM;
    size_t alone = 0;
    for (size_t i = 0; i < r->survey.leaves.count && st == ALD_OK && alone < COLUMNS_ALONE; i++) {
        const ald__mark_suspect *s = &r->variants[variant].suspects[i];
        if (s->count < COLUMN_VALUES)
            continue;
        alone++;
        st = column_alone(r, variant, s, weights, soft, err);
    }
    if (weights != NULL)
        ald__release(alloc, weights, sizeof *weights);
    if (soft != NULL)
        ald__release(alloc, soft, sizeof *soft);
    return st;
}

/* Soft values of noise of so many cells: coarse classes are hurt less. */
static ald_status add_noise(ald_watermark_reading *r, size_t variant, const ald__mark_soft *classes,
                            ald__mark_soft *sum, double sigma, ald_error *err)
{
    memset(sum, 0, sizeof *sum);
    for (int c = 0; c < ALD__MARK_NOISE_CLASSES; c++) {
        double wide = sigma * (double)(1u << c);
        /* exp(-2 pi^2 s^2) */
        double a = ald__mark_exp2_about(-28.477658649975 * wide * wide);
        if (a > 0.02)
            ald__mark_soft_add(sum, &classes[c], 4 * a / (1 - 0.9 * a * a));
    }
    return add_profile(r, sum, variant, 1, err);
}

static ald_status noise_plane(ald_watermark_reading *r, size_t variant, int plane, int offset,
                              ald__mark_soft *classes, ald_error *err)
{
    static const double sigmas[4] = {0.12, 0.2, 0.28, 0.4};
    memset(classes, 0, (ALD__MARK_NOISE_CLASSES + 1) * sizeof *classes);
    for (size_t i = 0; i < r->survey.leaves.count; i++) {
        const ald__mark_suspect *s = &r->variants[variant].suspects[i];
        ald__mark_guess guess = {-1, 0, 0};
        double units = s->spread;
        if (s->count == 0 || !(units > 0x1p-900) || !(units < 0x1p900))
            continue;
        if (s->decimals >= 0 && s->decimals <= 8) {
            guess.decimals = s->decimals;
            units *= ald__mark_pow10(s->decimals);
        }
        guess.cap = ald__mark_exponent(units) + offset;
        ALD_TRY(ald__mark_suspect_read_classes(s, &guess, plane, classes, err));
    }
    for (int i = 0; i < 4; i++)
        ALD_TRY(add_noise(r, variant, classes, &classes[ALD__MARK_NOISE_CLASSES], sigmas[i], err));
    return ALD_OK;
}

static ald_status stage_noise(ald_watermark_reading *r, size_t variant, ald_error *err)
{
    static const int offsets[3] = {0, -1, 1};
    const size_t bytes = (ALD__MARK_NOISE_CLASSES + 1) * sizeof(ald__mark_soft);
    ald__mark_soft *classes;
    ald_status st = ALD_OK;
    uint64_t values = 0;
    for (size_t i = 0; i < r->survey.leaves.count; i++)
        values += r->variants[variant].suspects[i].count;
    if (values < NOISE_VALUES)
        return ALD_OK;
    classes = ald__alloc(&r->host.alloc, bytes, err);
    if (classes == NULL)
        return ALD_E_NOMEM;
    for (int o = 0; o < 3; o++) {
        for (int k = NOISE_FIRST_PLANE; k <= NOISE_LAST_PLANE && st == ALD_OK; k++)
            st = noise_plane(r, variant, k, offsets[o], classes, err);
    }
    ald__release(&r->host.alloc, classes, bytes);
    return st;
}

static int has_averages(const ald_watermark_reading *r)
{
    for (size_t i = 0; i < r->survey.leaves.count; i++) {
        if (r->survey.reasons[i] == ALD_WATERMARK_NONE &&
            ald__mark_average_decimals(&r->survey.tallies[i]) >= 0)
            return 1;
    }
    return 0;
}

ald_status ald__mark_reading_stage(ald_watermark_reading *reading, size_t variant, unsigned stage,
                                   ald_error *err)
{
    ald__mark_variant *v = &reading->variants[variant];
    if (v->stages > stage)
        return ALD_OK;
    if (variant > 0) /* sorts the values */
        ALD_TRY(ready_variant(reading, 0, err));
    if (is_rounded(reading, variant) && !has_averages(reading)) {
        v->stages = ALD__MARK_STAGES;
        return ALD_OK;
    }
    ALD_TRY(ready_variant(reading, variant, err));
    v->stages = (uint8_t)(stage + 1);
    switch (stage) {
    case 0:
        return add_mixture(reading, variant, 1, 1, NULL, err);
    case 1:
        return stage_mixtures(reading, variant, err);
    case 2:
        return stage_columns(reading, variant, err);
    default:
        return stage_noise(reading, variant, err);
    }
}

/* ---- the object */

void ald_watermark_reading_free(ald_watermark_reading *reading)
{
    ald_allocator alloc;
    if (reading == NULL)
        return;
    alloc = reading->host.alloc;
    for (size_t i = 0; reading->variants != NULL && i < reading->variant_count; i++) {
        ald__mark_variant *v = &reading->variants[i];
        size_t count = reading->survey.leaves.count;
        for (size_t c = 0; v->suspects != NULL && c < count; c++)
            ald__mark_suspect_clear(&v->suspects[c]);
        if (v->suspects != NULL)
            ald__release(&alloc, v->suspects, (count + 1) * sizeof *v->suspects);
        if (v->groups != NULL)
            ald__release(&alloc, v->groups, sizeof *v->groups);
        if (v->parity != NULL)
            ald__release(&alloc, v->parity, sizeof *v->parity);
    }
    for (size_t i = 0; i < reading->profile_count; i++)
        ald__release(&alloc, ald__mark_reading_profile(reading, i), sizeof(ald__mark_profile));
    ald_buffer_clear(&reading->profiles);
    if (reading->variants != NULL)
        ald__release(&alloc, reading->variants, reading->variant_count * sizeof *reading->variants);
    if (reading->affine != NULL)
        ald__release(&alloc, reading->affine, reading->affine_count * sizeof *reading->affine);
    ald__mark_survey_clear(&reading->survey);
    ald__wipe(reading, sizeof *reading);
    ald__release(&alloc, reading, sizeof *reading);
}

static ald_status take_affine(ald_watermark_reading *r, const ald_watermark_read_options *options,
                              ald_error *err)
{
    size_t count = options != NULL ? options->affine_count : 0;
    if (count > 1000)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "too many unit conversions");
    for (size_t i = 0; i < count; i++) {
        const ald_watermark_affine *a = &options->affine[i];
        if (!ald__mark_usable(a->factor) || !(a->offset == 0 || ald__mark_usable(a->offset)))
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "unit conversion %zu cannot be undone", i);
    }
    r->variants = ald__alloc_zero(&r->host.alloc, (count + 3) * sizeof *r->variants, err);
    if (r->variants == NULL)
        return ALD_E_NOMEM;
    r->variant_count = count + 3;
    if (count == 0)
        return ALD_OK;
    r->affine = ald__alloc(&r->host.alloc, count * sizeof *r->affine, err);
    if (r->affine == NULL)
        return ALD_E_NOMEM;
    memcpy(r->affine, options->affine, count * sizeof *r->affine);
    r->affine_count = count;
    return ALD_OK;
}

ald_status ald_watermark_read(struct ArrowArrayStream *batches,
                              const uint8_t key[ALD_WATERMARK_KEY_BYTES],
                              const ald_watermark_read_options *options, const ald_host *host,
                              ald_watermark_reading **out, ald_error *err)
{
    ald_watermark_reading *r = ald__alloc_zero(&host->alloc, sizeof *r, err);
    ald_status st = r == NULL ? ALD_E_NOMEM : ALD_OK;
    *out = NULL;
    if (st == ALD_OK && options != NULL && options->struct_size < sizeof *options)
        st = ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "read options are too short");
    if (st == ALD_OK) {
        r->host = *host;
        r->profiles.alloc = &r->host.alloc;
        st = take_affine(r, options, err);
    }
    if (st == ALD_OK)
        st = ald__mark_keys_init(&r->keys, key, &r->host, ald__sip_level(2), err);
    if (st == ALD_OK)
        st = ald__mark_survey_read(&r->survey, &r->host, batches,
                                   options != NULL ? options->memory_bytes : 0, NULL, 0,
                                   ALD__MARK_FOR_READING, err);
    batches->release(batches);
    if (st != ALD_OK)
        ald_watermark_reading_free(r);
    else
        *out = r;
    return st;
}
