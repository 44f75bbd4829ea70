/* SPDX-License-Identifier: MIT */
/* Parquet files. The work is done by Apache Arrow's C++ library, in a module of its own (libald_parquet.so) that is opened
 * at the first call: a program that never touches Parquet never loads it. Where it is not installed, both calls fail with
 * ALD_E_UNSUPPORTED and say how to get it. */
#ifndef ALD_PARQUET_H
#define ALD_PARQUET_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

typedef struct ald_parquet_options {
    uint32_t struct_size;
    uint32_t column_count;
    /* Names of top-level columns, each once in the file, in the order that is wanted: only their bytes are read. NULL: all
     * columns. */
    const char *const *columns;
    uint64_t batch_rows; /* at most so many rows a batch; 0: as many as fit 16 MiB, up to 65,536 */
    uint64_t
        buffer_bytes; /* the largest piece of memory asked for at once, so that a page that lies about its size is an
                            * error; 0: 256 MiB, or 16 times the file's size if that is more */
} ald_parquet_options;

#define ALD_PARQUET_OPTIONS_INIT {sizeof(ald_parquet_options), 0, NULL, 0, 0}

/* A stream of the file's rows. All encodings and the codecs Snappy, gzip, zstd, LZ4 and Brotli are read; types are those of
 * the Arrow schema where the file keeps one. Page checksums are verified where pages have them, and every batch is
 * validated before it is handed on. Pages are read as they are needed; the columns of a batch are decoded by run_tasks of
 * the host. `source` must stay open until the stream is released; it is copied. The stream knows its rows beforehand. */
ALD_API ALD_NODISCARD ald_status ald_parquet_open(const ald_source *source,
                                                  const ald_parquet_options *options,
                                                  const ald_host *host,
                                                  struct ArrowArrayStream *out, ald_error *err);

typedef enum ald_parquet_codec {
    ALD_PARQUET_ZSTD = 0,
    ALD_PARQUET_NONE = 1,
    ALD_PARQUET_SNAPPY = 2,
    ALD_PARQUET_GZIP = 3,
    ALD_PARQUET_LZ4 = 4, /* LZ4_RAW */
    ALD_PARQUET_BROTLI = 5
} ald_parquet_codec;

typedef struct ald_parquet_write_options {
    uint32_t struct_size;
    uint8_t codec; /* an ald_parquet_codec */
    uint8_t reserved[3];
    int32_t level; /* of the codec; 0: its usual one */
    uint32_t reserved2;
    uint64_t row_group_rows; /* at most; 0: 1,048,576, fewer where they take much memory */
} ald_parquet_write_options;

#define ALD_PARQUET_WRITE_OPTIONS_INIT                                                             \
    {sizeof(ald_parquet_write_options), ALD_PARQUET_ZSTD, {0, 0, 0}, 0, 0, 0}

/* Reads `batches` to its end, releases it (also on failure) and writes one file, row group by row group, with page checksums
 * and with the Arrow schema, which brings types and the metadata of fields back. Types that Parquet has no form for
 * (unions, run-end encoding, intervals) are ALD_E_UNSUPPORTED. Columns are encoded on host->thread_count threads. */
ALD_API ALD_NODISCARD ald_status ald_parquet_write(struct ArrowArrayStream *batches,
                                                   const ald_sink *sink,
                                                   const ald_parquet_write_options *options,
                                                   const ald_host *host, ald_error *err);

ALD_END_DECLS
#endif
