/* SPDX-License-Identifier: MIT */
/* Saving with STREAMING or TRUENO_NATIVE: chunk after chunk, several compressed at once, memory of a few chunks. */
#ifndef CORE_DATASET_SAVE_STREAM_H
#define CORE_DATASET_SAVE_STREAM_H

#include "ald/arrow.h"
#include "ald/io.h"
#include "ald/streaming.h"
#include "ald/writer.h"
#include "core/dataset/protect.h"

typedef struct ald__stream_save ald__stream_save;

/* `schema`, `options`, `protecting` and `host` are borrowed. `row_count`: of the whole table, or 0: not known (the payload then waits in
 * a spool). options->layout must be decided: WHOLE here means one aligned batch without a chunk index. */
ALD_NODISCARD ald_status ald__stream_save_new(const struct ArrowSchema *schema,
                                              const ald_save_options *options,
                                              const ald__protecting *protecting, uint64_t row_count,
                                              const ald_sink *sink, const ald_host *host,
                                              ald__stream_save **out, ald_error *err);
/* Moves a batch in, also on failure; `bytes` is what it takes as IPC. */
ALD_NODISCARD ald_status ald__stream_save_put(ald__stream_save *save, struct ArrowArray *batch,
                                              uint64_t bytes, ald_error *err);
/* Chunks of another file that will be copied first: room is left for them. */
void ald__stream_save_expect(ald__stream_save *save, uint64_t chunk_count);
/* Before any batch: all chunks of `base` as they are stored, but for their encryption. *done 0: they would not fit, and nothing
 * was written. */
ALD_NODISCARD ald_status ald__stream_save_copy(ald__stream_save *save, const ald_streaming *base,
                                               int *done, ald_error *err);
/* The rest, then prefix and CRC32. */
ALD_NODISCARD ald_status ald__stream_save_finish(ald__stream_save *save, ald_error *err);
void ald__stream_save_free(ald__stream_save *save);

#endif
