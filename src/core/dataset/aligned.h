/* SPDX-License-Identifier: MIT */
/* The array index of a TRUENO_NATIVE file against the record batches' own metadata. */
#ifndef CORE_DATASET_ALIGNED_H
#define CORE_DATASET_ALIGNED_H

#include "core/arrow/ipc_read.h"
#include "core/container/file.h"

#define ALD__DTYPE_NONE (-1)

/* The dtype of a top-level column that has entries, or ALD__DTYPE_NONE; *per_row: elements in a row, *bits of one. */
int ald__aligned_dtype(const struct ArrowSchema *field, uint64_t *per_row, uint32_t *bits);

/* Entry `index` of the array index against a record batch's own metadata: column, dtype, length, size, offset. The column has
 * a dtype. */
ALD_NODISCARD ald_status ald__aligned_check_entry(const ald__file *file,
                                                  const ald__ipc_schema *schema, uint64_t index,
                                                  uint32_t column, const ald__ipc_message *message,
                                                  const ald__ipc_span *span, uint64_t rows,
                                                  ald_error *err);

typedef struct ald__aligned_check {
    const ald__file *file;
    const ald__ipc_schema *schema;
    uint64_t next;    /* entry */
    uint64_t batches; /* record batches so far */
} ald__aligned_check;

void ald__aligned_check_init(ald__aligned_check *check, const ald__file *file,
                             const ald__ipc_schema *schema);
/* The entries of the next record batch: none left out, none added, each equal to what its metadata says. */
ALD_NODISCARD ald_status ald__aligned_check_batch(ald__aligned_check *check,
                                                  const ald__ipc_message *message, ald_error *err);
/* The same for batch `index` alone, whatever came before. */
ALD_NODISCARD ald_status ald__aligned_check_chunk(const ald__file *file,
                                                  const ald__ipc_schema *schema, uint64_t index,
                                                  const ald__ipc_message *message, ald_error *err);
/* As many entries as `batches` of this schema have. */
ALD_NODISCARD ald_status ald__aligned_check_count(const ald__file *file,
                                                  const ald__ipc_schema *schema, uint64_t batches,
                                                  ald_error *err);
/* No entry left; exactly one batch without STREAMING. */
ALD_NODISCARD ald_status ald__aligned_check_end(const ald__aligned_check *check, ald_error *err);

#endif
