/* SPDX-License-Identifier: MIT */
/* A few rows of many chunks, which need not be in memory together. */
#ifndef CORE_DATASET_SLICES_H
#define CORE_DATASET_SLICES_H

#include "core/arrow/gather.h"
#include "core/dataset/lazy.h"

/* Rows of one chunk: the runs' source is 0. The rest is for ald__slices_take alone. */
typedef struct ald__slice {
    uint64_t chunk;
    const ald__run *runs;
    size_t run_count;
    struct ArrowArray rows;
} ald__slice;

/* The rows of all slices, one behind the other. Chunks that are not in the cache are loaded, one for each thread of the host
 * at a time, and let go as soon as their rows are copied: their memory then serves the next ones. `schema` has the wanted
 * columns only. The failure is that of the first slice that fails. */
ALD_NODISCARD ald_status ald__slices_take(const ald_streaming *streaming,
                                          const struct ArrowSchema *schema, const uint8_t *columns,
                                          ald__slice *slices, size_t count, struct ArrowArray *out,
                                          ald_error *err);

#endif
