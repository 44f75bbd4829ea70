/* SPDX-License-Identifier: MIT */
/* Each top-level column has a reader of its own that goes through all row groups; a batch is so many rows of each, decoded
 * by the host's tasks. What is in memory at a time is a page, its dictionary and the batch, for each column: it does not
 * depend on how large the row groups are. For a table of many columns that is more than a small row group takes: then each
 * column of it is read as a whole, and nothing of a column stays open. Of one with very many columns and large row groups,
 * each column of a group is decoded into a temporary file, and batches are put together from there. */
#include "interchange/parquet/parquet_reader.hpp"

#include <algorithm>

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/chunked_array.h>
#include <arrow/table.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

#include "interchange/parquet/stored_schema.hpp"

namespace ald_parquet
{

constexpr int64_t BATCH_BYTES = int64_t{16} << 20;
constexpr int64_t BATCH_ROWS = 65536;
constexpr int64_t FIRST_ROWS = 8192;              /* until it is known how large a row is */
constexpr int64_t READ_BYTES = int64_t{16} << 20; /* for all columns together … */
constexpr int64_t MOST_READ = int64_t{256} << 10,
                  LEAST_READ = int64_t{16} << 10; /* … and for one */
constexpr int64_t PIECE_BYTES = int64_t{256} << 20;
constexpr int64_t PIECE_RATIO = 16;
constexpr int WIDE_COLUMNS = 32;
constexpr int64_t OPEN_BYTES = int64_t{512}
                               << 10; /* what a column takes that is read page by page */
constexpr int64_t HELD_BYTES = int64_t{64} << 20; /* more than all columns may take together … */
constexpr int64_t SPOOL_BYTES = int64_t{8} << 30; /* … unless the disk would have to hold more */
constexpr int64_t SMALLEST_BYTES = 12;            /* magic twice, and the footer's length */

static int64_t piece_limit(const ald_source &source, const ald_parquet_options &options)
{
    if (options.buffer_bytes != 0)
        return static_cast<int64_t>(std::min<uint64_t>(options.buffer_bytes, INT64_MAX / 2));
    auto size = static_cast<int64_t>(
        std::min<uint64_t>(source.size_bytes, static_cast<uint64_t>(INT64_MAX / 2 / PIECE_RATIO)));
    return std::max(PIECE_BYTES, size * PIECE_RATIO);
}

Reader::Reader(const ald_source &source, const ald_parquet_options &options, const ald_host &host)
    : source_(source), some_columns_(options.columns != nullptr), host_(host),
      pool_(HostPool::create(host.alloc, piece_limit(source, options))),
      most_rows_(options.batch_rows != 0
                     ? static_cast<int64_t>(std::min<uint64_t>(options.batch_rows, INT32_MAX))
                     : BATCH_ROWS)
{
    for (uint32_t i = 0; some_columns_ && i < options.column_count; i++)
        wanted_.emplace_back(options.columns[i]);
}

arrow::Status Reader::open_file()
{
    parquet::ReaderProperties properties(pool_.get());
    properties.enable_buffered_stream();
    properties.set_page_checksum_verification(true);

    parquet::ArrowReaderProperties arrow_properties(false);
    arrow_properties.set_pre_buffer(false); /* it would hold whole row groups */
    arrow_properties.set_arrow_extensions_enabled(true);

    auto file = std::make_shared<SourceFile>(source_, pool_.get(), &error_);
    auto metadata = parquet::ParquetFileReader::Open(file, properties)->metadata();
    properties.set_buffer_size(
        std::clamp(READ_BYTES / std::max(metadata->num_columns(), 1), LEAST_READ, MOST_READ));

    parquet::arrow::FileReaderBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Open(file, properties, metadata));
    builder.memory_pool(pool_.get())->properties(arrow_properties);
    ARROW_RETURN_NOT_OK(builder.Build(&file_));
    ARROW_RETURN_NOT_OK(file_->GetSchema(&schema_));
    return restore_types(*file_->parquet_reader()->metadata(), &schema_);
}

void Reader::add_column(int field)
{
    Column column;
    column.field = field;
    column.name = schema_->field(field)->name();
    column.type = schema_->field(field)->type();
    columns_.push_back(std::move(column));
}

ald_status Reader::choose_columns(ald_error *err)
{
    if (!some_columns_) {
        for (int i = 0; i < schema_->num_fields(); i++)
            add_column(i);
        return ALD_OK;
    }
    std::vector<std::shared_ptr<arrow::Field>> fields;
    for (const std::string &name : wanted_) {
        std::vector<int> found = schema_->GetAllFieldIndices(name);
        if (found.size() != 1)
            return fail(ALD_E_INVALID_ARG,
                        found.empty() ? "there is no column '" + name + "'"
                                      : "several columns are named '" + name + "'",
                        err);
        add_column(found[0]);
        fields.push_back(schema_->field(found[0]));
    }
    schema_ = arrow::schema(std::move(fields), schema_->metadata());
    return ALD_OK;
}

static bool has_dictionary(const arrow::DataType &type)
{
    if (type.id() == arrow::Type::DICTIONARY)
        return true;
    return std::any_of(type.fields().begin(), type.fields().end(),
                       [](const auto &field) { return has_dictionary(*field->type()); });
}

/* Encoded sizes are a lower bound; the batches that come say more. */
void Reader::guess_rows()
{
    auto metadata = file_->parquet_reader()->metadata();
    int64_t bytes = 0;
    for (int i = 0; i < metadata->num_row_groups(); i++)
        bytes += std::max<int64_t>(metadata->RowGroup(i)->total_byte_size(), 0) / 1024;
    int64_t row_bytes = rows_left_ > 0 ? bytes / (rows_left_ / 1024 + 1) : 1;
    batch_rows_ = std::clamp<int64_t>(BATCH_BYTES / std::max<int64_t>(row_bytes, 1), 1,
                                      std::min(FIRST_ROWS, most_rows_));
}

arrow::Status Reader::count_rows()
{
    auto metadata = file_->parquet_reader()->metadata();
    for (int i = 0; i < metadata->num_row_groups(); i++) {
        int64_t rows = metadata->RowGroup(i)->num_rows();
        if (rows < 0 || rows_left_ > INT64_MAX - rows)
            return arrow::Status::Invalid("row group ", i, " claims ", rows, " rows");
        rows_left_ += rows;
    }
    /* Some writers leave the file's own count at 0. */
    if (rows_left_ != metadata->num_rows() && metadata->num_rows() != 0)
        return arrow::Status::Invalid("the file claims ", metadata->num_rows(),
                                      " rows, its row groups ", rows_left_);
    rows_left_at_first_ = rows_left_;
    return arrow::Status::OK();
}

/* Least bytes of a row in memory. */
static int64_t row_width(const arrow::DataType &type)
{
    int64_t width = type.num_fields() == 0 ? 12 : 4; /* text: an offset and some bytes */
    if (type.byte_width() > 0)
        width = type.byte_width();
    for (const auto &field : type.fields())
        width += row_width(*field->type());
    return width;
}

/* Bytes of the largest row group in memory, as far as the footer tells. */
int64_t Reader::largest_group() const
{
    auto metadata = file_->parquet_reader()->metadata();
    int64_t width = 0, largest = 0;
    for (const Column &column : columns_)
        width += row_width(*column.type);
    for (int i = 0; i < metadata->num_row_groups(); i++) {
        auto group = metadata->RowGroup(i);
        int64_t rows = std::min(group->num_rows(), INT64_MAX / std::max<int64_t>(width, 1));
        largest = std::max({largest, group->total_byte_size(), rows * width});
    }
    return largest;
}

/* How the row groups of a wide table are read with the least memory. */
void Reader::choose_way()
{
    auto metadata = file_->parquet_reader()->metadata();
    int64_t open = OPEN_BYTES * metadata->num_columns(), largest = largest_group(), rows = 0;
    if (metadata->num_columns() <= WIDE_COLUMNS)
        return;
    for (int i = 0; i < metadata->num_row_groups(); i++)
        rows = std::max(rows, metadata->RowGroup(i)->num_rows());
    whole_groups_ = rows <= std::min(OPEN_BYTES / 8, most_rows_) && largest <= open;
    if (std::min(open, whole_groups_ ? largest : open) > HELD_BYTES && largest <= SPOOL_BYTES &&
        !keeps_groups_ && host_.spool_open != nullptr) {
        whole_groups_ = false;
        spool_ = std::make_unique<GroupSpool>(host_, pool_.get(), &error_);
    }
}

static void add_leaves(const parquet::arrow::SchemaField &field, std::vector<int> *out)
{
    if (field.is_leaf())
        out->push_back(field.column_index);
    for (const auto &child : field.children)
        add_leaves(child, out);
}

arrow::Status Reader::open_columns()
{
    ARROW_RETURN_NOT_OK(count_rows());
    keeps_groups_ = std::any_of(columns_.begin(), columns_.end(),
                                [](const Column &column) { return has_dictionary(*column.type); });
    choose_way();
    for (Column &column : columns_) {
        if (whole_groups_ || spool_ != nullptr)
            add_leaves(file_->manifest().schema_fields[static_cast<size_t>(column.field)],
                       &column.leaves);
        else
            ARROW_RETURN_NOT_OK(file_->GetColumn(column.field, &column.reader));
    }
    guess_rows();
    return arrow::Status::OK();
}

ald_status Reader::open(ald_error *err)
{
    arrow::Status status;
    if (source_.size_bytes < SMALLEST_BYTES)
        return fail(ALD_E_TRUNCATED, "too short for a Parquet file", err);
    try {
        status = enter_thread();
        if (status.ok())
            status = open_file();
        if (status.ok()) {
            ald_status chosen = choose_columns(err);
            if (chosen != ALD_OK)
                return chosen;
            status = open_columns();
        }
    } catch (...) {
        status = status_of_exception();
    }
    return status.ok() ? ALD_OK : fail(status, "", error_, pool_.get(), err);
}

/* ---- batches */

static arrow::Status one_array(const arrow::ChunkedArray &chunks, int64_t rows,
                               arrow::MemoryPool *pool, std::shared_ptr<arrow::ArrayData> *out)
{
    if (chunks.length() != rows)
        return arrow::Status::Invalid("it ends ", rows - chunks.length(), " rows early");
    if (chunks.num_chunks() == 1) {
        *out = chunks.chunk(0)->data();
        return arrow::Status::OK();
    }
    ARROW_ASSIGN_OR_RAISE(auto whole, arrow::Concatenate(chunks.chunks(), pool));
    *out = whole->data();
    return arrow::Status::OK();
}

arrow::Status Reader::next_chunks(Column *column, std::shared_ptr<arrow::ChunkedArray> *out)
{
    if (column->reader != nullptr)
        return column->reader->NextBatch(batch_rows_, out);
    ARROW_ASSIGN_OR_RAISE(auto table, file_->ReadRowGroup(group_, column->leaves));
    if (table->num_columns() != 1)
        return arrow::Status::Invalid("it has ", table->num_columns(), " parts");
    *out = table->column(0);
    return arrow::Status::OK();
}

void Reader::read_column(Column *column)
{
    try {
        std::shared_ptr<arrow::ChunkedArray> chunks;
        column->status = enter_thread();
        if (!column->status.ok())
            return;
        if (spool_ != nullptr) {
            auto index = static_cast<size_t>(column - columns_.data());
            column->status = spool_->get(index, slice_, batch_rows_).Value(&column->next);
            return;
        }
        column->status = next_chunks(column, &chunks);
        if (column->status.ok() && chunks == nullptr)
            column->status = arrow::Status::Invalid("it ends early");
        if (column->status.ok())
            column->status = one_array(*chunks, batch_rows_, pool_.get(), &column->next);
        if (column->status.ok())
            column->status = fit_type(column->next, column->type, pool_.get()).Value(&column->next);
    } catch (...) {
        column->status = status_of_exception();
    }
}

/* One column of the row group at hand, a few rows at a time, into the spool. */
static arrow::Status spool_rows(parquet::arrow::FileReader *file, int group,
                                const std::vector<int> &leaves,
                                const std::shared_ptr<arrow::DataType> &type,
                                arrow::MemoryPool *pool, size_t index, GroupSpool *spool)
{
    ARROW_ASSIGN_OR_RAISE(auto reader, file->GetRecordBatchReader({group}, leaves));
    for (;;) {
        std::shared_ptr<arrow::RecordBatch> batch;
        ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
        if (batch == nullptr)
            break;
        if (batch->num_columns() != 1)
            return arrow::Status::Invalid("it has ", batch->num_columns(), " parts");
        ARROW_ASSIGN_OR_RAISE(auto data, fit_type(batch->column_data(0), type, pool));
        ARROW_RETURN_NOT_OK(spool->put(index, arrow::MakeArray(data)));
    }
    return arrow::Status::OK();
}

void Reader::spool_column(Column *column)
{
    auto index = static_cast<size_t>(column - columns_.data());
    try {
        column->status = enter_thread();
        if (column->status.ok())
            column->status = spool_rows(file_.get(), group_, column->leaves, column->type,
                                        pool_.get(), index, spool_.get());
        if (column->status.ok() && spool_->rows_of(index) != group_left_)
            column->status = arrow::Status::Invalid(
                "it ends ", group_left_ - spool_->rows_of(index), " rows early");
    } catch (...) {
        column->status = status_of_exception();
    }
}

/* Every column, on the given threads. */
ald_status Reader::run_columns(void (*task)(void *reader, uint32_t index), ald_error *err)
{
    auto count = static_cast<uint32_t>(columns_.size());
    if (host_.run_tasks != nullptr && host_.thread_count > 1 && count > 1) {
        host_.run_tasks(host_.ctx, count, task, this);
    } else {
        for (uint32_t i = 0; i < count; i++)
            task(this, i);
    }
    for (const Column &column : columns_) {
        if (!column.status.ok())
            return fail(column.status, column.name, error_, pool_.get(), err);
    }
    return ALD_OK;
}

ald_status Reader::read_columns(ald_error *err)
{
    return run_columns(
        [](void *arg, uint32_t index) {
            auto *reader = static_cast<Reader *>(arg);
            reader->read_column(&reader->columns_[index]);
        },
        err);
}

/* Decodes the next row group that has rows. */
ald_status Reader::spool_group(ald_error *err)
{
    int64_t width = 0;
    slice_ = 0;
    while (group_left_ == 0)
        group_left_ = file_->parquet_reader()->metadata()->RowGroup(++group_)->num_rows();
    for (const Column &column : columns_)
        width += row_width(*column.type);
    width =
        std::max(width, file_->parquet_reader()->metadata()->RowGroup(group_)->total_byte_size() /
                            group_left_);
    slice_rows_ = std::clamp<int64_t>(BATCH_BYTES / std::max<int64_t>(width, 1), 1, most_rows_);
    file_->set_batch_size(slice_rows_);
    arrow::Status status = spool_->begin(columns_.size(), slice_rows_);
    if (!status.ok())
        return fail(status, "", error_, pool_.get(), err);
    return run_columns(
        [](void *arg, uint32_t index) {
            auto *reader = static_cast<Reader *>(arg);
            reader->spool_column(&reader->columns_[index]);
        },
        err);
}

void Reader::adapt_rows(const arrow::RecordBatch &batch)
{
    int64_t row_bytes =
        arrow::util::TotalBufferSize(batch) / std::max<int64_t>(batch.num_rows(), 1);
    batch_rows_ = std::clamp<int64_t>(BATCH_BYTES / std::max<int64_t>(row_bytes, 1), 1, most_rows_);
}

/* Dictionaries of two row groups may be too large together for their indices, and Arrow does not join those inside lists.
 * Batches end where a writer's chunks do: else a small first one would make it join parts of two batches for every chunk. */
int64_t Reader::rows_of_next()
{
    int64_t to_boundary = most_rows_ - (rows_left_at_first_ - rows_left_) % most_rows_;
    int64_t rows = std::min({batch_rows_, rows_left_, to_boundary});
    if (spool_ != nullptr) {
        rows = std::min(slice_rows_, group_left_);
        group_left_ -= rows;
        return rows;
    }
    if (!keeps_groups_ && !whole_groups_)
        return rows;
    while (group_left_ == 0)
        group_left_ = file_->parquet_reader()->metadata()->RowGroup(++group_)->num_rows();
    rows = whole_groups_ ? group_left_ : std::min(rows, group_left_);
    group_left_ -= rows;
    return rows;
}

ald_status Reader::next(std::shared_ptr<arrow::RecordBatch> *out, ald_error *err)
{
    std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
    out->reset();
    if (rows_left_ == 0)
        return ALD_OK;
    ald_status status = ALD_OK;
    if (spool_ != nullptr && group_left_ == 0)
        status = spool_group(err);
    if (status != ALD_OK)
        return status;
    batch_rows_ = rows_of_next();
    status = read_columns(err);
    if (status != ALD_OK)
        return status;
    slice_++;
    for (Column &column : columns_)
        arrays.push_back(std::move(column.next));
    *out = arrow::RecordBatch::Make(schema_, batch_rows_, std::move(arrays));
    rows_left_ -= batch_rows_;
    adapt_rows(**out);
    return ALD_OK;
}

} // namespace ald_parquet
