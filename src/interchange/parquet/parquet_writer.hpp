/* SPDX-License-Identifier: MIT */
/* A stream of batches as one Parquet file. */
#ifndef INTERCHANGE_PARQUET_WRITER_HPP
#define INTERCHANGE_PARQUET_WRITER_HPP

#include <memory>
#include <vector>

#include <arrow/array/data.h>
#include <arrow/type.h>
#include <arrow/util/thread_pool.h>
#include <parquet/arrow/writer.h>

#include "ald/parquet.h"
#include "interchange/parquet/parquet_error.hpp"

namespace ald_parquet
{

/* A dictionary whose indices have 8 or 16 bits. */
struct SmallDictionary {
    std::shared_ptr<arrow::ArrayData> values;
    int64_t most;            /* values that the indices can tell apart */
    int64_t group_count = 0; /* values of all such dictionaries in the row group, at most */
};

class Writer
{
  public:
    Writer(struct ArrowArrayStream *batches, const ald_sink &sink,
           const ald_parquet_write_options &options, const ald_host &host);
    ald_status run(ald_error *err);

  private:
    arrow::Status open_schema();
    arrow::Status take_first();
    int64_t dictionary_limit() const;
    arrow::Status open_file();
    arrow::Status next(std::shared_ptr<arrow::RecordBatch> *out);
    bool fits_group(const arrow::RecordBatch &batch);
    arrow::Status write(const arrow::RecordBatch &batch);
    arrow::Status write_piece(const std::shared_ptr<arrow::RecordBatch> &piece, int64_t bytes);
    arrow::Status end_group();
    bool group_is_full() const;
    arrow::Status write_all();
    void give_up();

    struct ArrowArrayStream *batches_;
    ald_parquet_write_options options_;
    uint32_t thread_count_;
    HostError error_;
    PoolPtr pool_;
    std::shared_ptr<arrow::Schema> schema_;
    std::shared_ptr<arrow::internal::ThreadPool> threads_; /* its end joins them */
    std::shared_ptr<SinkStream> out_;
    std::unique_ptr<parquet::arrow::FileWriter> file_;
    bool stream_failed_ = false;
    int64_t most_rows_; /* of a row group */
    bool keeps_rows_;   /* whatever they take */
    bool is_wide_ = false;
    std::vector<std::shared_ptr<arrow::RecordBatch>> first_;
    std::vector<std::shared_ptr<arrow::RecordBatch>> held_; /* of a wide table: the row group */
    int64_t group_rows_ = 0, group_bytes_ = 0;
    std::vector<SmallDictionary> dictionaries_; /* of the last batch, in the order of the schema */
};

} // namespace ald_parquet
#endif
