/* SPDX-License-Identifier: MIT */
/* The inside of an ald_mapped. */
#ifndef CORE_DATASET_MAPPING_H
#define CORE_DATASET_MAPPING_H

#include <stdatomic.h>

#include "ald/mapped.h"
#include "core/arrow/ipc_read.h"
#include "core/container/file.h"
#include "core/dataset/guard.h"

struct ald_mapped {
    ald_host host;
    ald__file file;
    ald__hashes hashes; /* of a sealed file: pieces are checked when they are first touched */
    ald__ipc_schema *schema;
    ald_info info;
    const uint8_t *bytes;       /* the whole file */
    uint32_t entries_per_batch; /* of the array index */
    uint32_t *entry_of_column;  /* index of a column's entry within a batch, or UINT32_MAX */
    uint64_t batch_count;
    uint64_t first_batch; /* without STREAMING: payload offset of the record batch's message */
    _Atomic(ald_vector *)
        *vectors; /* of each batch, once it was asked for: entries_per_batch of them */
};

/* All vectors of a batch, made at the first call and kept: entries_per_batch of them. */
ALD_NODISCARD ald_status ald__mapped_vectors(const ald_mapped *mapped, uint64_t batch,
                                             const ald_vector **out, ald_error *err);

#endif
