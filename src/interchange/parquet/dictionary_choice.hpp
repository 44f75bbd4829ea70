/* SPDX-License-Identifier: MIT */
/* Which columns of a Parquet file are written without a dictionary. */
#ifndef INTERCHANGE_PARQUET_DICTIONARY_CHOICE_HPP
#define INTERCHANGE_PARQUET_DICTIONARY_CHOICE_HPP

#include <memory>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <parquet/properties.h>

namespace ald_parquet
{

/* So many rows show whether a dictionary outgrows its limit, unless its values have less than 4 bytes. */
constexpr int64_t PROBE_ROWS = (int64_t{1} << 18) + (int64_t{1} << 16);

/* Turns dictionaries off where the first rows alone have more values than one may hold. */
arrow::Status choose_dictionaries(const std::vector<std::shared_ptr<arrow::RecordBatch>> &first,
                                  arrow::MemoryPool *pool,
                                  parquet::WriterProperties::Builder *properties);

} // namespace ald_parquet
#endif
