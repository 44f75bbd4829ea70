/* SPDX-License-Identifier: MIT */
/* A stream of batches as one Parquet file. */
#ifndef INTERCHANGE_PARQUET_WRITER_HPP
#define INTERCHANGE_PARQUET_WRITER_HPP

#include <memory>

#include <arrow/type.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/writer.h>

#include "ald/parquet.h"
#include "interchange/parquet/parquet_error.hpp"

namespace ald_parquet
{

class Writer
{
  public:
    Writer(struct ArrowArrayStream *batches, const ald_sink &sink,
           const ald_parquet_write_options &options, const ald_host &host);
    ald_status run(ald_error *err);

  private:
    arrow::Status open();
    arrow::Status next(std::shared_ptr<arrow::RecordBatch> *out);
    arrow::Status write(const arrow::RecordBatch &batch);
    arrow::Status write_all();

    struct ArrowArrayStream *batches_;
    ald_sink sink_;
    ald_parquet_write_options options_;
    uint32_t thread_count_;
    HostError error_;
    PoolPtr pool_;
    std::shared_ptr<arrow::Schema> schema_;
    std::shared_ptr<arrow::internal::ThreadPool> threads_; /* its end joins them */
    std::unique_ptr<parquet::arrow::FileWriter> file_;
    int64_t group_rows_ = 0, group_bytes_ = 0;
};

} // namespace ald_parquet
#endif
