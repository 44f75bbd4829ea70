/* SPDX-License-Identifier: MIT */
/* How the columns of the chunks that are written are compressed: tried out on the first chunk of each group; those before the
 * first group have level 3. A chunk's bytes depend on what it and the group's first chunk hold, never on how many slots
 * there are. */
#ifndef CORE_DATASET_CHUNK_TUNINGS_H
#define CORE_DATASET_CHUNK_TUNINGS_H

#include "core/dataset/chunk_write.h"

/* Chunks of a group; the slots that are filled at once never hold more than two groups, so there are at most as many. */
#define ALD__TUNED_GROUP 64u

typedef struct ald__chunk_tunings {
    const ald_host *host;
    uint64_t first; /* chunk of the first group; later by as many as are copied before */
    uint8_t for_readers;
    size_t bytes; /* of a group's tunings */
    ald__tuning
        *groups[2]; /* by column: of groups of even and odd number; NULL: nothing is tried */
} ald__chunk_tunings;

/* For slots like this one. `effort` is an ald_effort. Clear also after a failure. */
ALD_NODISCARD ald_status ald__chunk_tunings_init(ald__chunk_tunings *tunings, const ald_host *host,
                                                 const ald__chunk_slot *slot, size_t columns,
                                                 uint8_t effort, ald_error *err);
void ald__chunk_tunings_clear(ald__chunk_tunings *tunings);
/* Tells the first `filled` slots, chunks in a row, what theirs are; all `count` help where something is tried. */
ALD_NODISCARD ald_status ald__chunk_tunings_set(ald__chunk_tunings *tunings, ald__chunk_slot *slots,
                                                uint32_t count, uint32_t filled, ald_error *err);

#endif
