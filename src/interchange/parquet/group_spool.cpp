/* SPDX-License-Identifier: MIT */
/* A piece is an Arrow IPC record batch of one column. */
#include "interchange/parquet/group_spool.hpp"

#include <algorithm>

#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

namespace ald_parquet
{

static std::shared_ptr<arrow::Schema> schema_of(const std::shared_ptr<arrow::DataType> &type)
{
    return arrow::schema({arrow::field("", type)});
}

GroupSpool::~GroupSpool()
{
    close();
}

void GroupSpool::close()
{
    if (file_.close != nullptr)
        file_.close(file_.ctx);
    file_ = {};
    size_ = 0;
}

arrow::Status GroupSpool::begin(size_t column_count, int64_t slice_rows)
{
    ald_error error{};
    close();
    columns_.assign(column_count, Column());
    slice_rows_ = slice_rows;
    ald_status status = host_.spool_open(host_.ctx, &file_, &error);
    return status == ALD_OK ? arrow::Status::OK() : error_->keep(status, error);
}

arrow::Status GroupSpool::put_piece(Column *column, const std::shared_ptr<arrow::Array> &rows)
{
    auto options = arrow::ipc::IpcWriteOptions::Defaults();
    options.memory_pool = pool_;
    options.use_threads = false;
    auto batch = arrow::RecordBatch::Make(schema_of(column->type), rows->length(), {rows});
    ARROW_ASSIGN_OR_RAISE(auto bytes, arrow::ipc::SerializeRecordBatch(*batch, options));
    ald_error error{};
    std::lock_guard<std::mutex> guard(lock_);
    ald_status status =
        file_.append(file_.ctx, bytes->data(), static_cast<size_t>(bytes->size()), &error);
    if (status != ALD_OK)
        return error_->keep(status, error);
    column->slices.back().push_back({size_, static_cast<uint64_t>(bytes->size())});
    size_ += static_cast<uint64_t>(bytes->size());
    return arrow::Status::OK();
}

arrow::Status GroupSpool::put(size_t index, const std::shared_ptr<arrow::Array> &rows)
{
    Column &column = columns_[index];
    column.type = rows->type();
    for (int64_t at = 0; at < rows->length();) {
        int64_t room = slice_rows_ - column.rows % slice_rows_;
        int64_t count = std::min(room, rows->length() - at);
        if (room == slice_rows_)
            column.slices.emplace_back();
        ARROW_RETURN_NOT_OK(put_piece(&column, rows->Slice(at, count)));
        column.rows += count;
        at += count;
    }
    return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> GroupSpool::read_piece(const Column &column,
                                                                    const Piece &piece)
{
    ald_error error{};
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bytes,
                          arrow::AllocateBuffer(static_cast<int64_t>(piece.size), pool_));
    {
        std::lock_guard<std::mutex> guard(lock_);
        ald_status status = file_.read_at(file_.ctx, piece.at, bytes->mutable_data(),
                                          static_cast<size_t>(piece.size), &error);
        if (status != ALD_OK)
            return error_->keep(status, error);
    }
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool_;
    options.use_threads = false;
    arrow::io::BufferReader reader(std::move(bytes));
    ARROW_ASSIGN_OR_RAISE(
        auto batch, arrow::ipc::ReadRecordBatch(schema_of(column.type), nullptr, options, &reader));
    return batch->column(0);
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> GroupSpool::get(size_t index, size_t slice,
                                                                 int64_t count)
{
    const Column &column = columns_[index];
    arrow::ArrayVector arrays;
    int64_t rows = 0;
    if (slice >= column.slices.size())
        return arrow::Status::Invalid("it ends early");
    for (const Piece &piece : column.slices[slice]) {
        ARROW_ASSIGN_OR_RAISE(auto array, read_piece(column, piece));
        rows += array->length();
        arrays.push_back(std::move(array));
    }
    if (rows != count)
        return arrow::Status::Invalid("it ends ", count - rows, " rows early");
    if (arrays.size() == 1)
        return arrays[0]->data();
    ARROW_ASSIGN_OR_RAISE(auto whole, arrow::Concatenate(arrays, pool_));
    return whole->data();
}

} // namespace ald_parquet
