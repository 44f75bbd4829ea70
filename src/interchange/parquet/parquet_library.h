/* SPDX-License-Identifier: MIT */
/* Finds and opens libald_parquet.so. */
#ifndef INTERCHANGE_PARQUET_LIBRARY_H
#define INTERCHANGE_PARQUET_LIBRARY_H

#include "interchange/parquet/parquet_module.h"

typedef struct ald__parquet_library {
    ald_parquet_module_open_fn *open;
    ald_parquet_module_write_fn *write;
} ald__parquet_library;

/* The module's functions, opened once and never closed. ALD_E_UNSUPPORTED, with a hint, when it is not installed or cannot
 * be loaded; the next call looks again. From any thread. */
ALD_NODISCARD ald_status ald__parquet_library_get(const ald__parquet_library **out, ald_error *err);

#endif
