/* SPDX-License-Identifier: MIT */
/* What columns say together: the lattice of each is guessed, columns side by side, and then they are read, long ones in pieces. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/reading.h"

#define PRESENCE_CARRIERS 200
#define WAVE 32    /* pieces of columns that are read at once, each into memory of its own */
#define PIECE 8192 /* values of one, or more: a column has so many pieces at most */

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
    uint8_t *is_alone; /* columns that are not worked on beside others */
} columns_work;

/* As in the first variant, or rounded. */
static ald_status round_column(columns_work *w, size_t column, const ald_host *host, ald_error *err)
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
    return ald__mark_suspect_guess(s, host, err);
}

static ald_status guess_column(columns_work *w, size_t column, const ald_host *host, ald_error *err)
{
    ald_watermark_reading *r = w->reading;
    ald__mark_suspect *s = &w->variant->suspects[column];
    ald__mark_tally *tally = &r->survey.tallies[column];
    if (ald__mark_is_rounded(r, w->index))
        return round_column(w, column, host, err);
    if (is_undone(r, w->index)) {
        ALD_TRY(ald__mark_suspect_undo(s, &r->keys, tally, err));
    } else if (w->index == 0) {
        if (!tally->is_sorted)
            ALD_TRY(ald__mark_tally_sort(tally, host, err));
        ald__mark_suspect_init(s, &r->keys, tally);
    } else {
        const ald_watermark_affine *a = &r->affine[w->index - 1];
        ALD_TRY(ald__mark_suspect_convert(s, &r->keys, tally, a->factor, a->offset, err));
    }
    return ald__mark_suspect_guess(s, host, err);
}

static void guess_one(columns_work *w, size_t column, const ald_host *host)
{
    if (w->reading->survey.reasons[column] == ALD_WATERMARK_NONE)
        w->errors[column].status = (int32_t)guess_column(w, column, host, &w->errors[column]);
}

static void guess_task(void *arg, uint32_t index)
{
    columns_work *w = arg;
    if (!w->is_alone[index])
        guess_one(w, index, NULL);
}

/* Long columns one after the other, each on all threads, if there are few; then the others side by side. */
static void guess_columns(columns_work *w, size_t count)
{
    const ald_host *host = &w->reading->host;
    for (size_t i = 0; i < count; i++) {
        const ald__mark_tally *t = &w->reading->survey.tallies[i];
        w->is_alone[i] = (uint8_t)ald__mark_is_shared_out(
            host, (size_t)(t->is_sorted ? t->kept : t->count), count);
        if (w->is_alone[i])
            guess_one(w, i, host);
    }
    ald__mark_run_tasks(host, count, guess_task, w);
}

/* How many values a piece of the column has. Threads do not matter, so what comes out is always the same. */
static size_t piece_size(const ald__mark_suspect *s)
{
    const size_t least = s->count / WAVE + (s->count % WAVE != 0);
    return least > PIECE ? least : PIECE;
}

/* The values of one piece, as a column. */
static ald__mark_suspect piece_of(const ald__mark_suspect *s, size_t begin)
{
    const size_t size = piece_size(s);
    ald__mark_suspect piece = *s;
    piece.value += begin;
    piece.count = s->count - begin < size ? s->count - begin : size;
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
    for (size_t at = 0; at < s->count && st == ALD_OK; at += piece_size(s))
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
    size_t weighed, firsts[WAVE];  /* pieces whose columns are to be weighed */
    wave_piece pieces[];
} wave;

static void weigh_task(void *arg, uint32_t index)
{
    wave *w = arg;
    wave_piece *p = &w->pieces[w->firsts[index]];
    p->error.status = (int32_t)weigh_soft(&w->variant->suspects[p->column], w->variant->family,
                                          &p->weights, &p->error);
}

static void read_task(void *arg, uint32_t index)
{
    wave *w = arg;
    wave_piece *p = &w->pieces[index];
    memset(&p->groups, 0, sizeof p->groups);
    memset(&p->parity, 0, sizeof p->parity);
    if (p->error.status == ALD_OK)
        p->error.status =
            (int32_t)read_piece(&w->variant->suspects[p->column], p->begin, w->variant->family,
                                &w->pieces[p->first].weights, &p->groups, &p->parity, &p->error);
}

/* The n-th piece. The first one may go on with a column that was weighed in the wave before. */
static void start_piece(wave *w, size_t n, size_t column, size_t begin, size_t last)
{
    wave_piece *p = &w->pieces[n];
    p->first = n;
    if (n > 0 && w->pieces[n - 1].column == column)
        p->first = w->pieces[n - 1].first;
    else if (begin > 0)
        memmove(&p->weights, &w->pieces[last].weights, sizeof p->weights);
    else
        w->firsts[w->weighed++] = n;
    p->column = column;
    p->begin = begin;
    memset(&p->error, 0, sizeof p->error);
}

/* The next pieces, from *column and *begin on; returns how many. `last` is where the last piece so far had its weights. */
static size_t fill_wave(wave *w, size_t *column, size_t *begin, size_t count, size_t last)
{
    size_t n = 0;
    w->weighed = 0;
    while (n < WAVE && *column < count) {
        const ald__mark_suspect *s = &w->variant->suspects[*column];
        if (*begin >= s->count) {
            ++*column;
            *begin = 0;
            continue;
        }
        start_piece(w, n++, *column, *begin, last);
        *begin += piece_size(s);
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
    ald__mark_run_tasks(&r->host, w->weighed, weigh_task, w);
    ald__mark_run_tasks(&r->host, n, read_task, w);
    for (size_t i = 0; i < n; i++) {
        const wave_piece *p = &w->pieces[i];
        const ald__mark_suspect *s = &w->variant->suspects[p->column];
        ALD_TRY(first_error(&p->error, 1, err));
        ald__mark_soft_add(&w->groups, &p->groups, 1);
        ald__mark_soft_add(&w->parity, &p->parity, 1);
        if (s->count - p->begin <= piece_size(s))
            end_column(r, w);
    }
    return ALD_OK;
}

static ald_status sum_columns(ald_watermark_reading *r, ald__mark_variant *v, size_t count,
                              ald_error *err)
{
    size_t column = 0, begin = 0, n, pieces = 0, bytes, last = 0;
    ald_status st = ALD_OK;
    wave *w;
    for (size_t i = 0; i < count && pieces < WAVE; i++)
        pieces +=
            (v->suspects[i].count + piece_size(&v->suspects[i]) - 1) / piece_size(&v->suspects[i]);
    pieces = pieces < WAVE ? pieces : WAVE;
    bytes = sizeof *w + pieces * sizeof *w->pieces;
    w = ald__alloc(&r->host.alloc, bytes, err);
    if (w == NULL)
        return ALD_E_NOMEM;
    memset(w, 0, sizeof *w);
    w->variant = v;
    while (st == ALD_OK && (n = fill_wave(w, &column, &begin, count, last)) > 0) {
        last = w->pieces[n - 1].first;
        st = run_wave(r, w, n, err);
    }
    ald__wipe(w, bytes);
    ald__release(&r->host.alloc, w, bytes);
    return st;
}

ald_status ald__mark_ready_variant(ald_watermark_reading *r, size_t variant, ald_error *err)
{
    ald__mark_variant *v = &r->variants[variant];
    size_t count = r->survey.leaves.count;
    columns_work w = {r, variant, v, NULL, NULL};
    const ald_allocator *alloc = &r->host.alloc;
    ald_status st = ALD_E_NOMEM;
    if (v->is_ready)
        return ALD_OK;
    v->suspects = ald__alloc_zero(alloc, (count + 1) * sizeof *v->suspects, err);
    v->groups = ald__alloc_zero(alloc, sizeof *v->groups, err);
    v->parity = ald__alloc_zero(alloc, sizeof *v->parity, err);
    w.errors = ald__alloc_zero(alloc, (count + 1) * sizeof *w.errors, err);
    w.is_alone = ald__alloc_zero(alloc, count + 1, err);
    if (v->suspects != NULL && v->groups != NULL && v->parity != NULL && w.errors != NULL &&
        w.is_alone != NULL) {
        guess_columns(&w, count);
        st = first_error(w.errors, count, err);
        ald__mark_choose_family(v, count);
        if (st == ALD_OK)
            st = sum_columns(r, v, count, err);
    }
    if (w.errors != NULL)
        ald__release(alloc, w.errors, (count + 1) * sizeof *w.errors);
    if (w.is_alone != NULL)
        ald__release(alloc, w.is_alone, count + 1);
    v->is_ready = st == ALD_OK;
    return st;
}
