/* SPDX-License-Identifier: MIT */
/* Reading a file chunk by chunk: opened in microseconds, memory of a few chunks. For files written with STREAMING. */
#ifndef ALD_STREAMING_H
#define ALD_STREAMING_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/reader.h"

ALD_BEGIN_DECLS

/* An open file. All calls but open and close may come from several threads at once. */
typedef struct ald_streaming ald_streaming;

/* Reads header, metadata, schema, indices, prologue and epilogue, and checks them; no chunk. The CRC32 over the whole
 * file is not looked at (ald_load and `alimentar verify` do): a chunk is checked when it is loaded. `source` is copied and
 * must stay open until ald_streaming_close. A file without STREAMING is ALD_E_UNSUPPORTED. */
ALD_API ALD_NODISCARD ald_status ald_streaming_open(const ald_source *source,
                                                    const ald_load_options *options,
                                                    const ald_host *host, ald_streaming **out,
                                                    ald_error *err);
/* Opens what is left of a damaged file: header to indices must be whole; the rest may be cut or rotten, and neither CRC32 nor
 * signature nor license is looked at. Chunks that load are whole ones; the others fail. For `alimentar repair`. */
ALD_API ALD_NODISCARD ald_status ald_streaming_salvage(const ald_source *source,
                                                       const ald_host *host, ald_streaming **out,
                                                       ald_error *err);
/* NULL is fine. Batches that were given out stay valid. */
ALD_API void ald_streaming_close(ald_streaming *streaming);

/* Borrowed until close. */
ALD_API const ald_info *ald_streaming_info(const ald_streaming *streaming);
ALD_API const struct ArrowSchema *ald_streaming_schema(const ald_streaming *streaming);
ALD_API uint64_t ald_streaming_row_count(const ald_streaming *streaming);
ALD_API uint64_t ald_streaming_chunk_count(const ald_streaming *streaming);

/* The chunk that has this row, by binary search; ALD_E_INVALID_ARG past the last row. */
ALD_API ALD_NODISCARD ald_status ald_streaming_find_chunk(const ald_streaming *streaming,
                                                          uint64_t row, uint64_t *chunk,
                                                          ald_error *err);

/* Chunk `index` as a struct array, checked and validated. `columns` (NULL: all) has one byte for each top-level column; those
 * with 0 are left out, and where the file has column frames they are neither read nor decompressed nor validated. The
 * caller releases *out. */
ALD_API ALD_NODISCARD ald_status ald_streaming_chunk(ald_streaming *streaming, uint64_t index,
                                                     const uint8_t *columns, struct ArrowArray *out,
                                                     ald_error *err);

/* All chunks in order, loaded as they are asked for. `columns` as above, copied. The stream must be released before close. */
ALD_API ALD_NODISCARD ald_status ald_streaming_stream(ald_streaming *streaming,
                                                      const uint8_t *columns,
                                                      struct ArrowArrayStream *out, ald_error *err);

ALD_END_DECLS
#endif
