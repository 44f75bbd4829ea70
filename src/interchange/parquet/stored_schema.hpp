/* SPDX-License-Identifier: MIT */
/* What Arrow's own reader does not bring back of the Arrow schema in a file: names and metadata inside lists and maps,
 * seconds, date64, dictionaries of anything but short strings. */
#ifndef INTERCHANGE_PARQUET_STORED_SCHEMA_HPP
#define INTERCHANGE_PARQUET_STORED_SCHEMA_HPP

#include <memory>

#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <parquet/metadata.h>

namespace ald_parquet
{

/* *schema is what Arrow reads. Types of the stored schema take its place where nothing is lost by it; whether there can be
 * nulls is always what the file itself says. */
arrow::Status restore_types(const parquet::FileMetaData &metadata,
                            std::shared_ptr<arrow::Schema> *schema);

/* An array as it was read, in the type that restore_types gave its column. */
arrow::Result<std::shared_ptr<arrow::ArrayData>>
fit_type(const std::shared_ptr<arrow::ArrayData> &data, const std::shared_ptr<arrow::DataType> &to,
         arrow::MemoryPool *pool);

} // namespace ald_parquet
#endif
