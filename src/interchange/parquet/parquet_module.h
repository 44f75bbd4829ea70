/* SPDX-License-Identifier: MIT */
/* What the library and libald_parquet.so know of each other. The module sees public headers only and calls nothing of the
 * library; errors are plain text in an ald_error, escaped by the library when it passes them on. */
#ifndef INTERCHANGE_PARQUET_MODULE_H
#define INTERCHANGE_PARQUET_MODULE_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/io.h"
#include "ald/parquet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both must agree; raised with every change of this file or of a struct in it. */
#define ALD_PARQUET_MODULE_VERSION 1u

/* The private_data of a stream of the module begins so. `error` is that of the last call that failed. */
typedef struct ald_parquet_state {
    ald_error error;
    uint64_t row_count;
} ald_parquet_state;

/* Options are complete and checked. ALD_E_UNSUPPORTED for another version. */
typedef ald_status ald_parquet_module_open_fn(uint32_t version, const ald_source *source,
                                              const ald_parquet_options *options,
                                              const ald_host *host, struct ArrowArrayStream *out,
                                              ald_error *err);
/* Releases `batches`. A stream that fails with EIO or any other code ends the writing. */
typedef ald_status ald_parquet_module_write_fn(uint32_t version, struct ArrowArrayStream *batches,
                                               const ald_sink *sink,
                                               const ald_parquet_write_options *options,
                                               const ald_host *host, ald_error *err);

#define ALD_PARQUET_MODULE_OPEN "ald_parquet_module_open"
#define ALD_PARQUET_MODULE_WRITE "ald_parquet_module_write"

#ifdef __cplusplus
}
#endif
#endif
