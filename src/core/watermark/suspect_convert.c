/* SPDX-License-Identifier: MIT */
/* A column as it was before it was converted or averaged. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/suspect.h"

#define TESTED_VALUES 4096
#define COPIES_MOST 8 /* that an average is made of */

/* How many of every so manieth value are tested. */
static size_t step_of(size_t count)
{
    return (count + TESTED_VALUES - 1) / TESTED_VALUES;
}

/* Whether 95 of 100 values are next to a multiple of 1 / power. */
static int are_multiples(const double *value, size_t count, double power)
{
    const size_t step = step_of(count), tested = count > 0 ? (count + step - 1) / step : 0;
    size_t missed = 0;
    for (size_t i = 0; i < count && missed <= tested / 20; i += step) {
        double scaled = ald__mark_abs(value[i]) * power;
        missed += !(scaled < 0x1p40 && ald__mark_abs(scaled - ald__mark_round(scaled)) < 1e-4);
    }
    return tested > 0 && missed <= tested / 20;
}

static void round_all(double *value, size_t count, int decimals)
{
    const double power = ald__mark_pow10(decimals);
    for (size_t i = 0; i < count; i++) {
        double near = ald__mark_round(ald__mark_abs(value[i]) * power) / power;
        value[i] = value[i] < 0 ? -near : near;
    }
}

/* Rounds to decimals that most values are next to: division has taken them off. */
static void snap(double *value, size_t count)
{
    for (int d = 0; d <= ALD__MARK_DECIMALS_MOST; d++) {
        if (are_multiples(value, count, ald__mark_pow10(d))) {
            round_all(value, count, d);
            return;
        }
    }
}

static ald_status start(ald__mark_suspect *s, const ald__mark_keys *keys,
                        const ald__mark_tally *tally, ald_error *err)
{
    size_t bytes;
    memset(s, 0, sizeof *s);
    s->keys = keys;
    s->alloc = tally->alloc;
    if (tally->count == 0)
        return ALD_OK;
    if (!ald__mul_size(tally->count, sizeof(double), &bytes))
        return ald__no_memory(err, SIZE_MAX);
    s->own = ald__alloc(s->alloc, bytes, err);
    if (s->own == NULL)
        return ALD_E_NOMEM;
    s->own_capacity = tally->count;
    return ALD_OK;
}

/* From `count` values in own. */
static ald_status finish(ald__mark_suspect *s, size_t count, ald_error *err)
{
    ald__mark_tally turned;
    ald_status st;
    ald__mark_tally_init(&turned, s->alloc, count > 0 ? count : 1);
    st = ald__mark_tally_add(&turned, s->own, count, err);
    if (st == ALD_OK && turned.count > 0)
        st = ald__mark_tally_sort(&turned, NULL, err);
    if (st == ALD_OK) {
        s->is_f32 = turned.is_f32;
        s->value = s->own;
        ald__mark_suspect_describe(s, &turned);
        if (turned.count > 0)
            memcpy(s->own, turned.value, turned.count * sizeof *s->own);
    }
    ald__mark_tally_clear(&turned);
    return st;
}

ald_status ald__mark_suspect_convert(ald__mark_suspect *s, const ald__mark_keys *keys,
                                     const ald__mark_tally *tally, double factor, double offset,
                                     ald_error *err)
{
    size_t n = 0;
    ALD_TRY(start(s, keys, tally, err));
    for (size_t i = 0; i < tally->count; i++) {
        size_t from = factor < 0 ? tally->count - 1 - i : i;
        double v = (tally->value[from] - offset) / factor;
        if (ald__mark_usable(v))
            s->own[n++] = v;
    }
    snap(s->own, n);
    return finish(s, n, err);
}

int ald__mark_average_decimals(const ald__mark_tally *tally)
{
    for (int d = 0; d <= ALD__MARK_DECIMALS_MOST; d++) {
        const double power = ald__mark_pow10(d);
        if (are_multiples(tally->value, tally->count, power))
            return -1;
        for (int copies = 2; copies <= COPIES_MOST; copies++) {
            if (are_multiples(tally->value, tally->count, power * copies))
                return d;
        }
    }
    return -1;
}

ald_status ald__mark_suspect_round(ald__mark_suspect *s, const ald__mark_keys *keys,
                                   const ald__mark_tally *tally, int decimals, ald_error *err)
{
    ALD_TRY(start(s, keys, tally, err));
    if (tally->count > 0)
        memcpy(s->own, tally->value, tally->count * sizeof *s->own);
    round_all(s->own, tally->count, decimals);
    return finish(s, tally->count, err);
}

ald_status ald__mark_suspect_undo(ald__mark_suspect *s, const ald__mark_keys *keys,
                                  const ald__mark_tally *tally, ald_error *err)
{
    ALD_TRY(start(s, keys, tally, err));
    if (tally->count == 0)
        return ALD_OK;
    memcpy(s->own, tally->value, tally->count * sizeof *s->own);
    if (ald__mark_take_off(s->own, tally->count, ald__mark_tally_spread(tally), tally->is_f32) == 0)
        return ALD_OK;
    return finish(s, tally->count, err);
}
