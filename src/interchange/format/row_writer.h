/* SPDX-License-Identifier: MIT */
/* From a stream of batches to text rows in a sink: what CSV and JSON writers share. Ranges of rows are formatted side by
 * side through the host's run_tasks, each into its own buffer, and written in order: the bytes do not depend on threads. */
#ifndef INTERCHANGE_FORMAT_ROW_WRITER_H
#define INTERCHANGE_FORMAT_ROW_WRITER_H

#include "ald/io.h"
#include "interchange/format/column_view.h"
#include "interchange/format/pen.h"

typedef struct ald__row_form {
    /* Each appends to the pen; the view is the struct of the stream. open and close may be NULL. */
    ald_status (*open)(const void *ctx, const ald__view *table, ald__pen *pen);
    /* Rows first … first + count − 1 of the bound batch; `before` rows of the stream come before `first`. Called from
     * several threads. */
    ald_status (*rows)(const void *ctx, const ald__view *table, int64_t first, int64_t count,
                       uint64_t before, ald__pen *pen);
    ald_status (*close)(const void *ctx, uint64_t rows, ald__pen *pen);
    const void *ctx;
} ald__row_form;

/* Reads `batches` to its end and releases it, also on failure. */
ALD_NODISCARD ald_status ald__rows_write(struct ArrowArrayStream *batches, const ald_sink *sink,
                                         const ald__row_form *form, const ald_host *host,
                                         ald_error *err);

#endif
