/* SPDX-License-Identifier: MIT */
/* A stream cut into streams of so many rows each, one read after the other. Values are not copied. */
#ifndef CLI_ROW_CUTTER_H
#define CLI_ROW_CUTTER_H

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"

typedef struct row_cutter row_cutter;

/* `from` is moved in (also on failure it is released). `host` is borrowed. */
ALD_NODISCARD ald_status row_cutter_new(struct ArrowArrayStream *from, const ald_host *host,
                                        row_cutter **out, ald_error *err);
/* Whether rows are left. */
ALD_NODISCARD ald_status row_cutter_look(row_cutter *cutter, int *has_rows, ald_error *err);
/* The next `row_count` rows, or as many as are left. The stream is read before the next one is asked for, and does not outlive
 * the cutter; its batches may. */
ALD_NODISCARD ald_status row_cutter_take(row_cutter *cutter, uint64_t row_count,
                                         struct ArrowArrayStream *out, ald_error *err);
/* Rows that were given out by all streams so far. */
uint64_t row_cutter_rows(const row_cutter *cutter);
void row_cutter_free(row_cutter *cutter);

#endif
