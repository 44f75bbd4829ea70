/* SPDX-License-Identifier: MIT */
/* What columns say together: the lattice of each is guessed, columns side by side, and then they are read, long ones in pieces. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/reading.h"

#define PRESENCE_CARRIERS 200
#define WAVE 8      /* pieces of columns that are read at once, each into memory of its own */
#define PIECE 65536 /* values */

/* The last two variants. The others are converted, but for the first one. */
int ald__mark_is_rounded(const ald_watermark_reading *r, size_t variant)
{
    return variant + 2 == r->variant_count;
}

static int is_undone(const ald_watermark_reading *r, size_t variant)
{
    return variant + 1 == r->variant_count;
}

double ald__mark_coherence(const ald__mark_soft *soft)
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

void ald__mark_note_presence(ald_watermark_reading *r, const ald__mark_soft *column)
{
    double coherence =
        effective_carriers(column) >= PRESENCE_CARRIERS ? ald__mark_coherence(column) : 0;
    r->presence = coherence > r->presence ? coherence : r->presence;
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
    if (ald__mark_is_rounded(r, w->index))
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

ald_status ald__mark_read_soft(const ald__mark_suspect *s, int family, ald__mark_soft *groups,
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
    return ald__mark_read_soft(&v->suspects[column], v->family, out, out, err);
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

void ald__mark_choose_family(ald__mark_variant *v, size_t count)
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
    ald__mark_note_presence(r, &w->groups);
    ald__mark_note_presence(r, &w->parity);
    ald__mark_soft_add(w->variant->groups, &w->groups, 1);
    ald__mark_soft_add(w->variant->parity, &w->parity, 1);
    memset(&w->groups, 0, sizeof w->groups);
    memset(&w->parity, 0, sizeof w->parity);
}

static ald_status run_wave(ald_watermark_reading *r, wave *w, size_t n, ald_error *err)
{
    ald__mark_run_tasks(&r->host, n, weigh_task, w);
    for (size_t i = 0; i < n; i++)
        ALD_TRY(first_error(&w->pieces[i].error, 1, err));
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

ald_status ald__mark_ready_variant(ald_watermark_reading *r, size_t variant, ald_error *err)
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
        ald__mark_choose_family(v, count);
        if (st == ALD_OK)
            st = sum_columns(r, v, count, err);
    }
    if (w.errors != NULL)
        ald__release(alloc, w.errors, (count + 1) * sizeof *w.errors);
    v->is_ready = st == ALD_OK;
    return st;
}
