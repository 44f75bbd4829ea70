/* SPDX-License-Identifier: MIT */
/* The profiles that are made of the columns of a suspect copy, in stages. */
#include "core/watermark/reading.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_math.h"

#define LEAST_CARRIERS 20
#define COLUMN_VALUES 60
#define COLUMNS_ALONE 64
#define NOISE_VALUES 400
#define NOISE_FIRST_PLANE 8
#define NOISE_LAST_PLANE 14

ald__mark_profile *ald__mark_reading_profile(const ald_watermark_reading *reading, size_t index)
{
    return ((ald__mark_profile **)(void *)reading->profiles.data)[index];
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
    p->coherence = ald__mark_coherence(soft);
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
            ALD_TRY(ald__mark_suspect_guess(&v->suspects[i], NULL, err));
        }
    }
    ald__mark_choose_family(v, count);
    for (size_t i = 0; i < count; i++) /* last digits apart: they are left out */
        ALD_TRY(ald__mark_read_soft(&v->suspects[i], v->family, soft, v->parity, err));
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
    ald__mark_note_presence(r, soft);
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
        ALD_TRY(ald__mark_suspect_guess(&without, NULL, err));
        ALD_TRY(planes_alone(r, variant, &without, weights, soft, err));
    }
    if (ald__mark_suspect_parity(s, &decimals) <= 0)
        return ALD_OK;
    memset(soft, 0, sizeof *soft);
    ALD_TRY(
        ald__mark_suspect_read_parity(s, decimals, 12, ALD__MARK_PARITY_LEAST, 1e300, soft, err));
    ald__mark_note_presence(r, soft);
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
        ALD_TRY(ald__mark_ready_variant(reading, 0, err));
    if (ald__mark_is_rounded(reading, variant) && !has_averages(reading)) {
        v->stages = ALD__MARK_STAGES;
        return ALD_OK;
    }
    ALD_TRY(ald__mark_ready_variant(reading, variant, err));
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
