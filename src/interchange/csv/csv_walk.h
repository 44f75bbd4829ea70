/* SPDX-License-Identifier: MIT */
/* Records of a stretch of the source, a slab at a time, in bounded memory. One walk per task; walks are independent. */
#ifndef INTERCHANGE_CSV_WALK_H
#define INTERCHANGE_CSV_WALK_H

#include "ald/io.h"
#include "interchange/csv/csv_rows.h"

typedef struct ald__csv_walk {
    const ald_source *source;
    ald_allocator alloc;
    uint64_t pos;   /* where the next record begins */
    uint64_t limit; /* records that begin here or later are not taken */
    size_t fill;    /* bytes to read at once when the source has no view */

    const uint8_t *window; /* window_size bytes of the source from window_at on, and padding */
    uint64_t window_at;
    size_t window_size;
    uint8_t *buffer;
    size_t buffer_capacity;

    ald__csv_rows rows; /* what the last step found, in slab[] */
    const uint8_t *slab;
    uint64_t slab_at;
    ald__csv_fault fault; /* offset in the source */
} ald__csv_walk;

ALD_NODISCARD ald_status ald__csv_walk_init(ald__csv_walk *walk, const ald_source *source,
                                            const ald__csv_dialect *dialect, size_t columns,
                                            size_t fill, const ald_allocator *alloc,
                                            ald_error *err);
void ald__csv_walk_clear(ald__csv_walk *walk);

/* `size` bytes at `at` (fewer at the end of the source: *got), with padding behind them. Valid until the next call. */
ALD_NODISCARD ald_status ald__csv_walk_peek(ald__csv_walk *walk, uint64_t at, size_t size,
                                            const uint8_t **out, size_t *got, ald_error *err);

/* The next rows, at most `row_limit`, checked for NUL bytes, UTF-8 and the size of fields. Zero rows with pos at or behind
 * the limit (or the end): no more. A fault stands behind the rows that are handed out, and pos does not pass it. */
ALD_NODISCARD ald_status ald__csv_walk_next(ald__csv_walk *walk, size_t row_limit, ald_error *err);

#endif
