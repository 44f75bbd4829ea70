/* SPDX-License-Identifier: MIT */
/* What marking would do to a column: how much its values, their mean and their deviation would change. */
#include "core/watermark/mark_change.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/crypto/secret.h"
#include "core/watermark/cells.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/marker.h"

#define SHIFT_MOST 1e-4
#define MEASURED_PIECE 8192 /* values */

typedef struct moments {
    double first, second; /* of weight * (value - center), and squared */
} moments;

static void add_moment(moments *m, double centered, double weight)
{
    m->first += weight * centered;
    m->second += weight * centered * centered;
}

static double deviation(moments m, double rows)
{
    double mean = m.first / rows, variance = m.second / rows - mean * mean;
    return ald__mark_sqrt_about(variance > 0 ? variance : 0);
}

typedef struct change {
    moments before, after;
    double center;
    double marked_rows, change_sum, change_most, move_most;
    uint64_t carriers;
    unsigned planes;
    uint8_t is_measured;
} change;

static void note_changes(change *c, const double *in, const double *out, const uint8_t *planes,
                         const uint64_t *weight, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double rows = (double)weight[i];
        add_moment(&c->before, in[i] - c->center, rows);
        add_moment(&c->after, out[i] - c->center, rows);
        if (planes[i] > 0) {
            double move = ald__mark_abs(out[i] - in[i]);
            double moved = move / ald__mark_abs(in[i]);
            c->marked_rows += rows;
            c->change_sum += rows * moved;
            c->change_most = moved > c->change_most ? moved : c->change_most;
            c->move_most = move > c->move_most ? move : c->move_most;
            c->carriers += planes[i];
            c->planes = planes[i] > c->planes ? planes[i] : c->planes;
        }
    }
}

/* A column in pieces, which do not depend on threads: so the sums do not either. */
typedef struct measuring {
    const ald_host *host; /* NULL: no threads */
    const ald__mark_plan *plan;
    const ald__mark_tally *tally;
    change *changes; /* one for each piece */
    size_t pieces;
    double center;
} measuring;

static void measure_some(const measuring *m, size_t at, size_t end, void *scratch, change *c)
{
    const ald__mark_tally *t = m->tally;
    double out[ALD__MARK_BATCH];
    uint8_t planes[ALD__MARK_BATCH];
    for (; at < end; at += ALD__MARK_BATCH) {
        size_t n = end - at < ALD__MARK_BATCH ? end - at : ALD__MARK_BATCH;
        ald__mark_cells(m->plan, ald__mark_scratch_at(scratch), t->value + at, n, out, planes);
        for (size_t i = 0; i < n && m->plan->plane_count < ALD__MARK_PLANES_MOST; i++)
            planes[i] =
                planes[i] == 0 ? 0 : (uint8_t)ald__mark_plan_planes(m->plan, t->value[at + i]);
        note_changes(c, t->value + at, out, planes, t->weight + at, n);
    }
}

static void measure_piece(void *arg, uint32_t index)
{
    const measuring *m = arg;
    const size_t bytes = ald__mark_scratch_bytes(), count = m->tally->count;
    const size_t begin = (size_t)index * MEASURED_PIECE;
    const size_t end = count - begin < MEASURED_PIECE ? count : begin + MEASURED_PIECE;
    change *c = &m->changes[index];
    void *scratch = ald__alloc_zero(m->tally->alloc, bytes, NULL);
    memset(c, 0, sizeof *c);
    c->center = m->center;
    if (scratch == NULL)
        return;
    measure_some(m, begin, end, scratch, c);
    c->is_measured = 1;
    ald__wipe(scratch, bytes);
    ald__release(m->tally->alloc, scratch, bytes);
}

static void add_moments(moments *to, const moments *from)
{
    to->first += from->first;
    to->second += from->second;
}

static void add_change(change *to, const change *from)
{
    add_moments(&to->before, &from->before);
    add_moments(&to->after, &from->after);
    to->marked_rows += from->marked_rows;
    to->change_sum += from->change_sum;
    to->change_most = from->change_most > to->change_most ? from->change_most : to->change_most;
    to->move_most = from->move_most > to->move_most ? from->move_most : to->move_most;
    to->carriers += from->carriers;
    to->planes = from->planes > to->planes ? from->planes : to->planes;
}

static ald_status measure(measuring *m, change *c, ald_error *err)
{
    ald__mark_run_tasks(m->host, m->pieces, measure_piece, m);
    memset(c, 0, sizeof *c);
    c->center = m->center;
    for (size_t i = 0; i < m->pieces; i++) {
        if (!m->changes[i].is_measured)
            return ald__no_memory(err, ald__mark_scratch_bytes());
        add_change(c, &m->changes[i]);
    }
    return ALD_OK;
}

static void report_changes(const ald__mark_tally *t, const change *c, ald_watermark_column *report)
{
    double rows = (double)t->kept, scale = (double)t->total / rows;
    double mean = c->center + c->before.first / rows, std = deviation(c->before, rows);
    double size = ald__mark_abs(mean) > std ? ald__mark_abs(mean) : std;
    double marked = c->marked_rows * scale + 0.5;
    report->is_estimate = t->thin > 0;
    report->planes = (uint8_t)c->planes;
    report->marked_count = marked < 1.8e19 ? (uint64_t)marked : UINT64_MAX;
    report->carrier_count = c->carriers;
    report->largest_change = c->change_most;
    report->largest_move = c->move_most;
    report->mean_change = c->marked_rows > 0 ? c->change_sum / c->marked_rows : 0;
    report->mean_shift =
        size > 0 ? ald__mark_abs(c->after.first - c->before.first) / rows / size : 0;
    report->deviation_shift = std > 0 ? ald__mark_abs(deviation(c->after, rows) - std) / std : 0;
}

int ald__mark_is_distorted(const ald_watermark_column *report, double slack)
{
    return report->mean_shift + slack > SHIFT_MOST || report->deviation_shift + slack > SHIFT_MOST;
}

/* The two coarsest planes tell nearly all of the change: where that is well within bounds the others, which add 2^-8 of a
 * cell, are not needed. */
static ald_status measure_planes(measuring *m, ald__mark_plan *plan, ald_watermark_column *report,
                                 ald_error *err)
{
    const uint8_t has_lsb = plan->has_lsb;
    change c;
    if (plan->mode != ALD_WATERMARK_DECIMALS) {
        double rest = 0.75 * ald__mark_pow2(-plan->first_plane - 2 * ALD__MARK_PLANE_STEP);
        double slack;
        plan->plane_count = 2;
        plan->has_lsb = 0;
        ald_status st = measure(m, &c, err);
        plan->plane_count = ALD__MARK_PLANES_MOST;
        plan->has_lsb = has_lsb;
        if (st != ALD_OK)
            return st;
        report_changes(m->tally, &c, report);
        report->largest_change += c.carriers > 0 ? rest : 0;
        report->largest_move += c.carriers > 0 ? rest * ald__mark_pow2(plan->cap) : 0;
        slack = deviation(c.before, (double)m->tally->kept);
        slack = slack > 0 ? 2 * rest * ald__mark_pow2(plan->cap) / slack : 1;
        if (!ald__mark_is_distorted(report, slack))
            return ALD_OK;
    }
    ALD_TRY(measure(m, &c, err));
    report_changes(m->tally, &c, report);
    return ALD_OK;
}

ald_status ald__mark_measure_change(ald__mark_plan *plan, const ald__mark_tally *tally,
                                    const ald_host *host, ald_watermark_column *report,
                                    ald_error *err)
{
    measuring m = {host, plan, tally, NULL, 0, 0};
    ald_status st;
    m.pieces = (tally->count + MEASURED_PIECE - 1) / MEASURED_PIECE;
    m.center = ald__mark_tally_at(tally, tally->kept / 2);
    m.changes = ald__alloc(tally->alloc, m.pieces * sizeof *m.changes, err);
    if (m.changes == NULL)
        return ALD_E_NOMEM;
    st = measure_planes(&m, plan, report, err);
    ald__release(tally->alloc, m.changes, m.pieces * sizeof *m.changes);
    return st;
}
