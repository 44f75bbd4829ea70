/* SPDX-License-Identifier: MIT */
/* The columns of one row group, decoded, in a temporary file of the host: written column by column, read back some rows of all
 * columns at a time. */
#ifndef INTERCHANGE_PARQUET_GROUP_SPOOL_HPP
#define INTERCHANGE_PARQUET_GROUP_SPOOL_HPP

#include <memory>
#include <mutex>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/array/data.h>
#include <arrow/memory_pool.h>
#include <arrow/result.h>

#include "ald/io.h"
#include "interchange/parquet/parquet_io.hpp"

namespace ald_parquet
{

class GroupSpool
{
  public:
    GroupSpool(const ald_host &host, arrow::MemoryPool *pool, HostError *error)
        : host_(host), pool_(pool), error_(error)
    {
    }
    ~GroupSpool();
    GroupSpool(const GroupSpool &) = delete;
    GroupSpool &operator=(const GroupSpool &) = delete;

    /* Forgets what was there. Rows are read back `slice_rows` at a time. */
    arrow::Status begin(size_t column_count, int64_t slice_rows);
    /* The next rows of a column. Columns may come from several threads, each from one. */
    arrow::Status put(size_t column, const std::shared_ptr<arrow::Array> &rows);
    int64_t rows_of(size_t column) const
    {
        return columns_[column].rows;
    }
    /* Rows [slice · slice_rows, …) of a column, `count` of them. From any thread. */
    arrow::Result<std::shared_ptr<arrow::ArrayData>> get(size_t column, size_t slice,
                                                         int64_t count);

  private:
    struct Piece {
        uint64_t at, size;
    };
    struct Column {
        std::shared_ptr<arrow::DataType> type;
        int64_t rows = 0;
        std::vector<std::vector<Piece>> slices;
    };

    void close();
    arrow::Status put_piece(Column *column, const std::shared_ptr<arrow::Array> &rows);
    arrow::Result<std::shared_ptr<arrow::Array>> read_piece(const Column &column,
                                                            const Piece &piece);

    ald_host host_;
    arrow::MemoryPool *pool_;
    HostError *error_;
    std::mutex lock_; /* of the file */
    ald_spool file_{};
    uint64_t size_ = 0;
    int64_t slice_rows_ = 1;
    std::vector<Column> columns_;
};

} // namespace ald_parquet
#endif
