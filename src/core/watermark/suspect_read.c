/* SPDX-License-Identifier: MIT */
/* From the phases of a column to soft values of the codeword's bits. */
#include <string.h>

#include "core/base/buf.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/phases.h"

/* Carriers that wait for their hashes. */
typedef struct waiting {
    const ald__sip_key *key;
    ald__mark_soft *out;
    size_t count;
    double y[ALD__MARK_BATCH];
    uint64_t message[ALD__MARK_BATCH], number[ALD__MARK_BATCH], hash[ALD__MARK_BATCH];
} waiting;

/* The hash's bit 11 turns the sign over. */
static void add_soft(ald__mark_soft *out, const uint64_t *hash, const double *y, size_t count,
                     double weight)
{
    double squares = 0, fourths = 0;
    for (size_t i = 0; i < count; i++) {
        double v = y[i] * weight;
        squares += v * v;
        fourths += v * v * v * v;
        out->y[hash[i] % ALD__POLAR_BITS] +=
            ald__mark_double(ald__mark_bits(v) ^ (hash[i] & 2048) << 52);
    }
    out->squares += squares;
    out->fourths += fourths;
    out->carriers += count;
}

static void flush_carriers(waiting *w)
{
    ald__sip16_many(w->key, w->message, w->number, w->count, w->hash);
    add_soft(w->out, w->hash, w->y, w->count, 1);
    w->count = 0;
}

static void add_carrier(waiting *w, uint64_t message, uint64_t number, double y)
{
    w->message[w->count] = message;
    w->number[w->count] = number;
    w->y[w->count] = y;
    if (++w->count == ALD__MARK_BATCH)
        flush_carriers(w);
}

void ald__mark_soft_add(ald__mark_soft *to, const ald__mark_soft *from, double scale)
{
    if (from->carriers == 0)
        return;
    for (size_t j = 0; j < ALD__POLAR_BITS; j++)
        to->y[j] += scale * from->y[j];
    to->squares += scale * scale * from->squares;
    to->fourths += scale * scale * scale * scale * from->fourths;
    to->carriers += from->carriers;
}

typedef struct plane_reader {
    waiting wait[ALD__MARK_NOISE_CLASSES];
    int cap;
    const ald__mark_weights *weights; /* NULL: each class has its own place, and weight 1 */
} plane_reader;

static void read_runs(void *ctx, int plane, const ald__mark_run *runs, size_t count)
{
    plane_reader *r = ctx;
    const int last = r->weights != NULL ? ALD__MARK_CLASSES : ALD__MARK_NOISE_CLASSES;
    for (size_t i = 0; i < count; i++) {
        int class = r->cap - ald__mark_run_exponent(&runs[i]);
        double y = runs[i].sum;
        if (class < 0 || class >= last)
            continue;
        if (r->weights != NULL)
            y *= r->weights->of[plane - ALD__MARK_LEAST_PLANE][class];
        if (runs[i].count > 1)
            y *= ald__mark_run_weight(runs[i].count) / runs[i].count;
        if (r->weights == NULL || r->weights->of[plane - ALD__MARK_LEAST_PLANE][class] > 0)
            add_carrier(&r->wait[r->weights != NULL ? 0 : class],
                        runs[i].head | (uint64_t)(unsigned)plane, runs[i].number, y);
    }
}

static void read_group(void *ctx, int plane, ald__mark_scratch *s, size_t first, size_t count,
                       double of_runs)
{
    plane_reader *r = ctx;
    const int class = r->cap - ald__mark_head_exponent(s->head[first]);
    const int last = r->weights != NULL ? ALD__MARK_CLASSES : ALD__MARK_NOISE_CLASSES;
    double weight = 1;
    (void)of_runs;
    if (class < 0 || class >= last)
        return;
    if (r->weights != NULL)
        weight = r->weights->of[plane - ALD__MARK_LEAST_PLANE][class];
    if (weight <= 0)
        return;
    ald__sip16_many(r->wait[0].key, s->message + first, s->number + first, count, s->hash);
    add_soft(r->wait[r->weights != NULL ? 0 : class].out, s->hash, s->wave + first, count, weight);
}

static uint32_t planes_with_weights(const ald__mark_weights *w)
{
    uint32_t planes = 0;
    for (int p = 0; p < ALD__MARK_PLANES; p++) {
        for (int c = 0; c < ALD__MARK_CLASSES; c++) {
            if (w->of[p][c] > 0)
                planes |= UINT32_C(1) << p;
        }
    }
    return planes;
}

/* `out` is one place, or without weights one for each class. */
static ald_status read_planes(const ald__mark_suspect *s, const ald__mark_guess *guess,
                              const ald__mark_weights *weights, uint32_t planes,
                              ald__mark_soft *out, ald_error *err)
{
    size_t places = weights != NULL ? 1 : ALD__MARK_NOISE_CLASSES;
    ald__mark_pass *pass;
    plane_reader *reader;
    if (planes == 0 || s->count == 0)
        return ALD_OK;
    pass = ald__mark_pass_new(s, 0, err);
    if (pass == NULL)
        return ALD_E_NOMEM;
    reader = ald__alloc(s->alloc, sizeof *reader, err);
    if (reader != NULL) {
        for (size_t i = 0; i < places; i++) {
            reader->wait[i].key = &s->keys->carrier;
            reader->wait[i].out = &out[i];
            reader->wait[i].count = 0;
        }
        reader->cap = guess->cap;
        reader->weights = weights;
        pass->planes = planes;
        pass->twice = 0;
        pass->take = read_runs;
        pass->take_group = read_group;
        pass->ctx = reader;
        ald__mark_pass_aim(pass, guess);
        ald__mark_pass_run(pass);
        for (size_t i = 0; i < places; i++)
            flush_carriers(&reader->wait[i]);
        ald__wipe(reader, sizeof *reader);
        ald__release(s->alloc, reader, sizeof *reader);
    }
    ald__mark_pass_free(pass);
    return reader != NULL ? ALD_OK : ALD_E_NOMEM;
}

ald_status ald__mark_suspect_read(const ald__mark_suspect *s, const ald__mark_guess *guess,
                                  const ald__mark_weights *weights, ald__mark_soft *out,
                                  ald_error *err)
{
    return read_planes(s, guess, weights, planes_with_weights(weights), out, err);
}

ald_status ald__mark_suspect_read_classes(const ald__mark_suspect *s, const ald__mark_guess *guess,
                                          int plane, ald__mark_soft *out, ald_error *err)
{
    return read_planes(s, guess, NULL, UINT32_C(1) << (plane - ALD__MARK_LEAST_PLANE), out, err);
}

/* ---- the last digits */

typedef struct last_digit_reader {
    waiting wait;
    ald__mark_run open;
    double weight;
} last_digit_reader;

static void close_digits(last_digit_reader *r)
{
    const ald__mark_run *run = &r->open;
    if (run->count > 0)
        add_carrier(&r->wait, run->head, run->number,
                    r->weight * ald__mark_run_weight(run->count) * run->sum / run->count);
    r->open.count = 0;
}

static void read_digits(const ald__mark_suspect *s, int decimals, double least, double most,
                        last_digit_reader *r)
{
    const double power = ald__mark_pow10(decimals);
    const double parity =
        (double)(ald__mark_origin(s->keys, (unsigned)decimals, ALD__MARK_CODE_PARITY) & 1);
    for (size_t i = 0; i < s->count; i++) {
        double n = ald__mark_abs(s->value[i]) * power, t = (n + parity + 0.5) / 2, cell;
        uint64_t head = ald__mark_head(0, s->value[i] < 0, (unsigned)decimals, 0), number;
        if (!(n >= least && n < most))
            continue;
        cell = ald__mark_floor(t);
        number = (uint64_t)cell;
        if (r->open.count > 0 && (r->open.number != number || r->open.head != head))
            close_digits(r);
        if (r->open.count == 0) {
            r->open.head = head;
            r->open.number = number;
            r->open.sum = 0;
        }
        r->open.sum += ald__mark_sin_phase(t - cell);
        r->open.count++;
    }
    close_digits(r);
}

ald_status ald__mark_suspect_read_parity(const ald__mark_suspect *s, int decimals, double weight,
                                         double least, double most, ald__mark_soft *out,
                                         ald_error *err)
{
    last_digit_reader *reader;
    if (s->count == 0 || weight <= 0)
        return ALD_OK;
    reader = ald__alloc_zero(s->alloc, sizeof *reader, err);
    if (reader == NULL)
        return ALD_E_NOMEM;
    reader->wait.key = &s->keys->carrier;
    reader->wait.out = out;
    reader->weight = weight;
    read_digits(s, decimals, least, most < ALD__MARK_2P52 ? most : ALD__MARK_2P52, reader);
    flush_carriers(&reader->wait);
    ald__wipe(reader, sizeof *reader);
    ald__release(s->alloc, reader, sizeof *reader);
    return ALD_OK;
}
