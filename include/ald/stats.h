/* SPDX-License-Identifier: MIT */
/* What the columns of a stream hold: one pass, memory bounded by the number of columns. */
#ifndef ALD_STATS_H
#define ALD_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

#define ALD_STATS_BINS 32

typedef struct ald_stats_value {
    const char *
        text; /* as a CSV field's content (nested values: JSON), NUL-terminated; may hold NULs before */
    size_t size;
    uint64_t count;
} ald_stats_value;

/* A member whose `has_` is 0 is zero. Nulls are in null_count alone. */
typedef struct ald_column_stats {
    const char *name;
    uint64_t null_count;
    uint64_t nan_count;      /* floats; NaN is in none of the numbers below save distinct_count */
    uint64_t infinite_count; /* floats; in min and max, not in mean, stddev and bins */
    uint64_t distinct_count;
    uint8_t
        distinct_is_estimate; /* within about 1 % (2 % with over 1,000 columns): print a `~` before it */
    uint8_t has_range;        /* min, max: numbers, dates, times, bool, text, binary (by bytes) */
    uint8_t has_mean;         /* mean, stddev: numbers and durations */
    uint8_t has_size; /* shortest, longest: bytes of text and binary, items of lists and maps */
    uint8_t
        has_common; /* text, binary, bool, nested and mixed values, while they are few and short */
    uint8_t reserved[3];
    const char *min, *max; /* as in ald_stats_value; text and binary are cut to 256 bytes */
    size_t min_size, max_size;
    double mean, stddev; /* of the population */
    uint64_t shortest, longest;
    /* Counts of the finite values v with bin_start + i·bin_width ≤ v < bin_start + (i + 1)·bin_width. Numbers, and dates
     * and times in the unit of their type. bin_width is a power of two. 0 bins: no such values. */
    double bin_start, bin_width;
    uint32_t bin_count;
    uint32_t common_count;
    uint64_t bins[ALD_STATS_BINS];
    const ald_stats_value
        *common; /* all distinct values, or the most frequent common_limit, most frequent first */
} ald_column_stats;

typedef struct ald_stats {
    uint64_t row_count;
    size_t column_count;
    ald_column_stats *columns;
} ald_stats;

typedef struct ald_stats_options {
    uint32_t struct_size;
    uint32_t common_limit; /* most frequent values reported for a column; 0: 10 */
} ald_stats_options;

#define ALD_STATS_OPTIONS_INIT {sizeof(ald_stats_options), 0}

/* Reads `batches` to its end, releases it (also on failure). Columns are worked on side by side through host->run_tasks.
 * *out is the caller's to free. */
ALD_API ALD_NODISCARD ald_status ald_stats_compute(struct ArrowArrayStream *batches,
                                                   const ald_stats_options *options,
                                                   const ald_host *host, ald_stats **out,
                                                   ald_error *err);
/* NULL is fine. The host's allocator must still be there. */
ALD_API void ald_stats_free(ald_stats *stats);

ALD_END_DECLS
#endif
