/* SPDX-License-Identifier: MIT */
/* What marking a table keeps between its passes. */
#ifndef CORE_WATERMARK_MARKER_H
#define CORE_WATERMARK_MARKER_H

#include "ald/watermark.h"
#include "core/watermark/leaf_values.h"
#include "core/watermark/leaves.h"
#include "core/watermark/mark_keys.h"
#include "core/watermark/plan.h"
#include "core/watermark/row_bits.h"

#define ALD__MARK_MEMORY (UINT64_C(512) << 20)
#define ALD__MARK_CARRIERS_NEEDED 450 /* of extraction */

struct ald_watermark {
    ald_host host;
    ald_watermark_options options; /* columns is a copy */
    uint32_t *columns;
    uint64_t memory_bytes;
    ald__mark_keys keys;
    uint8_t bits[ALD__MARK_HASHES];
    uint8_t is_surveyed;
    struct ArrowSchema schema;
    ald__mark_leaves leaves;
    ald__mark_plan *plans;         /* one for each leaf */
    ald_watermark_column *reports; /* one for each leaf */
    ald_watermark_report report;
};

/* Calls task(arg, i) for i below count: on the host's threads, or in turn (always when `host` is NULL). */
void ald__mark_run_tasks(const ald_host *host, size_t count,
                         void (*task)(void *arg, uint32_t index), void *arg);

/* Whether a column of so many values is worth the threads of `host` by itself: a long one, and one of few. Tasks do not share out
 * their own work. */
int ald__mark_is_shared_out(const ald_host *host, size_t values, size_t columns);

/* How many batches of such a table may be held, so that there is work enough for threads: more than one where they are of numbers
 * only, and columns are shared out. */
#define ALD__MARK_HELD_MOST 16
#define ALD__MARK_HELD_VALUES (1 << 20) /* and no more, once they have so many */
size_t ald__mark_batches_held(const ald_host *host, const ald__mark_leaves *leaves);

/* How many values of a column fit, when `columns` of them share the memory. */
size_t ald__mark_value_limit(uint64_t memory_bytes, size_t columns);

typedef enum ald__mark_use {
    ALD__MARK_FOR_MARKING,
    ALD__MARK_FOR_READING, /* also numbers that could not be written back */
    ALD__MARK_FOR_ENTROPY  /* the bits of rows too */
} ald__mark_use;

/* The tallies of all leaves of a stream, which is read to its end. */
typedef struct ald__mark_survey {
    const ald_host *host;
    ald__mark_leaves leaves;
    struct ArrowSchema schema;
    ald__mark_tally *tallies; /* one for each leaf */
    uint8_t *reasons;         /* those of the leaves, and what values gave */
    ald__row_bits *rows;      /* one for each leaf; NULL: not asked for */
} ald__mark_survey;

/* `out` is clear on failure. The stream is not released. `columns` NULL: all. */
ALD_NODISCARD ald_status ald__mark_survey_read(ald__mark_survey *out, const ald_host *host,
                                               struct ArrowArrayStream *batches,
                                               uint64_t memory_bytes, const uint32_t *columns,
                                               size_t column_count, ald__mark_use use,
                                               ald_error *err);
void ald__mark_survey_clear(ald__mark_survey *survey);

#endif
