/* SPDX-License-Identifier: MIT */
/* The values of a column on a lattice: runs of neighbours in one cell, and what their phases say. */
#ifndef CORE_WATERMARK_PHASES_H
#define CORE_WATERMARK_PHASES_H

#include "core/watermark/cells_scratch.h"
#include "core/watermark/suspect.h"

/* Values of one cell that follow one another. */
typedef struct ald__mark_run {
    uint64_t head, number; /* of the carrier's message, without the plane */
    double sum;            /* of the wave of their phases */
    uint32_t count;
} ald__mark_run;

/* One pass over some planes of a column. */
typedef struct ald__mark_pass {
    ald__mark_plan lattice;
    const ald__mark_suspect *suspect;
    size_t step;     /* every how manieth value is looked at */
    int width_limit; /* planes up to e - this */
    uint32_t planes; /* bit k - ALD__MARK_LEAST_PLANE: plane k */
    int twice;       /* the wave: see ald__mark_steps */
    int only_capped; /* values of the cap's class alone, large ones included */
    void (*take)(void *ctx, int plane, const ald__mark_run *runs, size_t count);
    /* Runs of one class: [first, first + count) of message, number and wave of the scratch, the wave being the mean times the
     * run's weight. `weight` is the sum of those. */
    void (*take_group)(void *ctx, int plane, ald__mark_scratch *s, size_t first, size_t count,
                       double weight);
    void *ctx;
    ald__mark_run runs[ALD__MARK_BATCH + 1];
    ald__mark_run open[ALD__MARK_PLANES];
    _Alignas(ALD__MARK_LINE) ald__mark_scratch scratch;
} ald__mark_pass;

/* NULL with err set. At most `most` values (0: all) will be looked at. */
ald__mark_pass *ald__mark_pass_new(const ald__mark_suspect *s, size_t most, ald_error *err);
void ald__mark_pass_free(ald__mark_pass *pass);
void ald__mark_pass_aim(ald__mark_pass *pass, const ald__mark_guess *guess);
/* Calls take or take_group with the runs of the chosen planes, many at a time. */
void ald__mark_pass_run(ald__mark_pass *pass);

/* min(sqrt(count), 3), count > 0: neighbours in one cell say little more than one of them. */
double ald__mark_run_weight(uint32_t count);

static inline int ald__mark_head_exponent(uint64_t head)
{
    return (int)(int32_t)(uint32_t)(head >> 32);
}

static inline int ald__mark_run_exponent(const ald__mark_run *run)
{
    return ald__mark_head_exponent(run->head);
}

#endif
