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
 * must stay open until ald_streaming_close. A file without STREAMING is ALD_E_UNSUPPORTED.
 *
 * Chunks that rows, take or prefetch loaded are kept in memory up to options->cache_bytes; those used longest ago go first,
 * and a chunk larger than that is not kept. A chunk loaded with some columns serves calls for these columns only. The handle
 * has neither threads nor locks nor process-wide state: it works in a child after fork, as long as its source does (a file
 * read with pread or mapped does), even if other threads were inside calls when the process forked. Two threads that miss
 * the same chunk at the same time both load it. */
ALD_API ALD_NODISCARD ald_status ald_streaming_open(const ald_source *source,
                                                    const ald_load_options *options,
                                                    const ald_host *host, ald_streaming **out,
                                                    ald_error *err);
/* Opens what is left of a damaged file: header to indices must be whole; the rest may be cut or rotten, and neither CRC32 nor
 * signature nor license is looked at: info.license is NULL. Where the file has a seal and it is right, info.signer_public_key
 * is its key, trusted or not, and each chunk is compared with the hash that this key signed; else it is NULL. Of the options, limits, cache and the secrets of an encrypted file count. Chunks that
 * load are whole ones; the others fail. For `alimentar repair`. */
ALD_API ALD_NODISCARD ald_status ald_streaming_salvage(const ald_source *source,
                                                       const ald_load_options *options,
                                                       const ald_host *host, ald_streaming **out,
                                                       ald_error *err);
/* The payload has a piece before its first chunk, the prologue, and one behind the last, the epilogue (`at_end`). A salvaged
 * file is read without them; this checks one as ald_streaming_open would. *bytes, also after a failure: where the file has it. */
ALD_API ALD_NODISCARD ald_status ald_streaming_check_edge(const ald_streaming *streaming,
                                                          int at_end, ald_range *bytes,
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

/* Chunk `index` as a struct array, checked and validated: from the cache if it is there, else loaded and not kept, so that
 * reading a whole file does not empty the cache. `columns` (NULL: all) has one byte for each top-level column; those
 * with 0 are left out, and where the file has column frames they are neither read nor decompressed nor validated. The
 * caller releases *out. */
ALD_API ALD_NODISCARD ald_status ald_streaming_chunk(ald_streaming *streaming, uint64_t index,
                                                     const uint8_t *columns, struct ArrowArray *out,
                                                     ald_error *err);

/* What packed chunks make of a column before they compress it; a chunk has one for each node. */
typedef enum ald_packing {
    ALD_PACKING_RAW = 0,
    ALD_PACKING_INTS = 1,
    ALD_PACKING_DICT = 2,
    ALD_PACKING_DECIMAL = 3,
    ALD_PACKING_PLANES = 4,
    ALD_PACKING_LENS = 5,
    ALD_PACKING_STR = 6,
    ALD_PACKING_STRFIX = 7,
    ALD_PACKING_STRDICT = 8,
    ALD_PACKING_STRNUM = 9,
    ALD_PACKING_STRFRONT = 10,
    ALD_PACKING_COUNT = 11
} ald_packing;

/* "RAW", "INTS", … or NULL. Static storage. */
ALD_API const char *ald_packing_name(uint32_t packing);

/* What one column takes in a file, all chunks together. Of a frame that several columns share, each has its part by what it
 * inflates to. Directories, and what is not a column's (metadata, dictionaries' values), are not counted. */
typedef struct ald_column_storage {
    uint64_t plain_bytes;  /* its Arrow buffers */
    uint64_t stored_bytes; /* in the file */
    uint64_t
        packing_chunks[ALD_PACKING_COUNT]; /* packed: chunks in which most of its bytes went so */
} ald_column_storage;

/* Fills out[0 .. columns). Every chunk is read; of packed ones no column is inflated. */
ALD_API ALD_NODISCARD ald_status ald_streaming_column_storage(const ald_streaming *streaming,
                                                              ald_column_storage *out,
                                                              ald_error *err);

/* The same of a file without chunks: it is one piece, of which each column has its part by its plain bytes. */
ALD_API ALD_NODISCARD ald_status ald_dataset_column_storage(const ald_dataset *dataset,
                                                            ald_column_storage *out,
                                                            ald_error *err);

/* Rows [start, start + count) across chunks as one struct array. A range that is one whole chunk is that chunk; else the
 * result is in memory of its own, save dictionaries, which may keep a chunk's memory alive. Where the chunks have different
 * dictionaries, the result's is one behind the other. ALD_E_LIMIT_EXCEEDED with the column's name when offsets or indices of
 * a column's type cannot count what was asked for at once; ALD_E_INVALID_ARG past the last row. Beside the result, chunks of
 * 64 MiB (or cache_bytes, if that is more; one chunk at least) are in memory at a time. Several missing chunks are loaded at
 * once on the host's threads. */
ALD_API ALD_NODISCARD ald_status ald_streaming_rows(ald_streaming *streaming, uint64_t start,
                                                    uint64_t count, const uint8_t *columns,
                                                    struct ArrowArray *out, ald_error *err);

/* The rows of these indices in the order given, repeats allowed, as one struct array; otherwise like ald_streaming_rows.
 * Each chunk that has one of the rows is loaded once. */
ALD_API ALD_NODISCARD ald_status ald_streaming_take(ald_streaming *streaming, const uint64_t *rows,
                                                    size_t count, const uint8_t *columns,
                                                    struct ArrowArray *out, ald_error *err);

/* Loads chunks [first, first + count) into the cache, as many of them as fit by their uncompressed sizes, and returns when
 * they are there. The library has no threads of its own, so nothing goes on behind the caller's back: the gain over loading
 * when a chunk is needed is that several are decoded at once on the host's threads, and that a thread of the caller's can do
 * it while others work. */
ALD_API ALD_NODISCARD ald_status ald_streaming_prefetch(ald_streaming *streaming, uint64_t first,
                                                        uint64_t count, const uint8_t *columns,
                                                        ald_error *err);

/* All chunks in order, loaded as they are asked for: on a host with threads, the next two for each thread at once. `columns`
 * as above, copied. The stream must be released before close. */
ALD_API ALD_NODISCARD ald_status ald_streaming_stream(ald_streaming *streaming,
                                                      const uint8_t *columns,
                                                      struct ArrowArrayStream *out, ald_error *err);

ALD_END_DECLS
#endif
