/* SPDX-License-Identifier: MIT */
/* One Parquet file as a stream of batches. */
#ifndef INTERCHANGE_PARQUET_READER_HPP
#define INTERCHANGE_PARQUET_READER_HPP

#include <memory>
#include <string>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>

#include "ald/parquet.h"
#include "interchange/parquet/group_spool.hpp"
#include "interchange/parquet/parquet_error.hpp"

namespace ald_parquet
{

class Reader
{
  public:
    Reader(const ald_source &source, const ald_parquet_options &options, const ald_host &host);
    ald_status open(ald_error *err);

    const std::shared_ptr<arrow::Schema> &schema() const
    {
        return schema_;
    }
    uint64_t row_count() const
    {
        return static_cast<uint64_t>(rows_left_at_first_);
    }
    /* The next batch; none at the end. */
    ald_status next(std::shared_ptr<arrow::RecordBatch> *out, ald_error *err);

  private:
    struct Column {
        int field = 0; /* in the file's schema */
        std::string name;
        std::shared_ptr<arrow::DataType> type;
        std::unique_ptr<parquet::arrow::ColumnReader> reader; /* none: read by whole row groups */
        std::vector<int> leaves;
        std::shared_ptr<arrow::ArrayData> next;
        arrow::Status status;
    };

    arrow::Status open_file();
    void add_column(int field);
    ald_status choose_columns(ald_error *err);
    arrow::Status count_rows();
    arrow::Status open_columns();
    int64_t largest_group() const;
    void choose_way();
    ald_status spool_group(ald_error *err);
    void spool_column(Column *column);
    ald_status run_columns(void (*task)(void *reader, uint32_t index), ald_error *err);
    void guess_rows();
    int64_t rows_of_next();
    arrow::Status next_chunks(Column *column, std::shared_ptr<arrow::ChunkedArray> *out);
    void read_column(Column *column);
    ald_status read_columns(ald_error *err);
    void adapt_rows(const arrow::RecordBatch &batch);

    ald_source source_;
    std::vector<std::string> wanted_;
    bool some_columns_;
    ald_host host_;
    HostError error_;
    PoolPtr pool_;
    std::unique_ptr<parquet::arrow::FileReader> file_;
    std::shared_ptr<arrow::Schema> schema_;
    std::vector<Column> columns_;
    int64_t most_rows_, batch_rows_ = 0;
    int64_t rows_left_ = 0, rows_left_at_first_ = 0;
    bool whole_groups_ = false;         /* a batch is a row group */
    std::unique_ptr<GroupSpool> spool_; /* row groups go through it; none: they do not */
    int64_t slice_rows_ = 0;
    size_t slice_ = 0; /* of the spool, the next */
    /* Where a column has a dictionary: batches end with their row group, whose dictionary is its own. */
    bool keeps_groups_ = false;
    int group_ = -1;
    int64_t group_left_ = 0;
};

} // namespace ald_parquet
#endif
