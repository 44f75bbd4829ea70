/* SPDX-License-Identifier: MIT */
/* Batches go into an open row group as they come, all columns at once on the given threads; its pages are compressed at once
 * and wait in memory until it is full. So memory is a batch, the compressed pages of one row group, and what each column needs
 * to encode, some MiB: a row group ends when these are too many together. A table of many columns is held as it is until a
 * row group is full, and then written column by column. The first batches are held, too, until it is known which columns get
 * a dictionary. */
#include "interchange/parquet/parquet_writer.hpp"

#include <algorithm>
#include <utility>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/c/bridge.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/type_traits.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/compression.h>
#include <parquet/properties.h>

#include "interchange/parquet/dictionary_choice.hpp"

namespace ald_parquet
{

constexpr int64_t GROUP_ROWS = int64_t{1} << 20;
constexpr int64_t GROUP_BYTES = int64_t{256} << 20;   /* in memory, of whoever reads it at once */
constexpr int64_t HELD_BYTES = int64_t{64} << 20;     /* … of ours, encoded or waiting to be */
constexpr int64_t MOST_HELD = 2 * HELD_BYTES;         /* … even where a row group would be small */
constexpr int64_t DICTIONARY_MOST = int64_t{1} << 20; /* of a column, … */
constexpr int64_t DICTIONARY_BYTES = int64_t{8}
                                     << 20; /* … of all: making them takes ten times that */
constexpr int64_t PROBE_BYTES = int64_t{32} << 20;
constexpr int WIDE_COLUMNS = 32;
constexpr int64_t SLICE_BYTES = int64_t{16} << 20;

Writer::Writer(struct ArrowArrayStream *batches, const ald_sink &sink,
               const ald_parquet_write_options &options, const ald_host &host)
    : batches_(batches), options_(options), thread_count_(host.thread_count),
      pool_(HostPool::create(host.alloc, INT64_MAX / 2)),
      out_(std::make_shared<SinkStream>(sink, &error_)),
      most_rows_(options.row_group_rows != 0
                     ? static_cast<int64_t>(std::min<uint64_t>(options.row_group_rows, INT64_MAX))
                     : GROUP_ROWS),
      keeps_rows_(options.row_group_rows != 0)
{
}

static arrow::Compression::type codec_of(uint8_t codec)
{
    switch (codec) {
    case ALD_PARQUET_NONE:
        return arrow::Compression::UNCOMPRESSED;
    case ALD_PARQUET_SNAPPY:
        return arrow::Compression::SNAPPY;
    case ALD_PARQUET_GZIP:
        return arrow::Compression::GZIP;
    case ALD_PARQUET_LZ4:
        return arrow::Compression::LZ4;
    case ALD_PARQUET_BROTLI:
        return arrow::Compression::BROTLI;
    default:
        return arrow::Compression::ZSTD;
    }
}

/* The type inside `type` that Parquet has no form for; NULL: none. */
static const arrow::DataType *without_form(const arrow::DataType &type)
{
    switch (type.id()) {
    case arrow::Type::SPARSE_UNION:
    case arrow::Type::DENSE_UNION:
    case arrow::Type::RUN_END_ENCODED:
    case arrow::Type::INTERVAL_MONTHS:
    case arrow::Type::INTERVAL_DAY_TIME:
    case arrow::Type::INTERVAL_MONTH_DAY_NANO:
        return &type;
    case arrow::Type::STRUCT:
        if (type.num_fields() == 0)
            return &type;
        break;
    case arrow::Type::DICTIONARY:
        return without_form(*static_cast<const arrow::DictionaryType &>(type).value_type());
    case arrow::Type::EXTENSION:
        return without_form(*static_cast<const arrow::ExtensionType &>(type).storage_type());
    default:
        break;
    }
    for (const auto &field : type.fields()) {
        const arrow::DataType *found = without_form(*field->type());
        if (found != nullptr)
            return found;
    }
    return nullptr;
}

static arrow::Status check_types(const arrow::Schema &schema)
{
    for (const auto &field : schema.fields()) {
        const arrow::DataType *found = without_form(*field->type());
        if (found != nullptr)
            return arrow::Status::NotImplemented("column '", field->name(),
                                                 "': Parquet has no form for ", found->ToString());
    }
    return arrow::Status::OK();
}

static int count_leaves(const arrow::DataType &type)
{
    int count = type.num_fields() == 0;
    for (const auto &field : type.fields())
        count += count_leaves(*field->type());
    return count;
}

arrow::Status Writer::open_schema()
{
    struct ArrowSchema schema = {};
    if (batches_->get_schema(batches_, &schema) != 0)
        return arrow::Status::IOError("the batch stream has no schema");
    ARROW_ASSIGN_OR_RAISE(schema_, arrow::ImportSchema(&schema));
    is_wide_ = count_leaves(*arrow::struct_(schema_->fields())) > WIDE_COLUMNS;
    return check_types(*schema_);
}

/* Takes batches until they tell enough, or are too large to hold more. */
arrow::Status Writer::take_first()
{
    int64_t rows = 0, bytes = 0;
    while (rows < PROBE_ROWS && bytes < PROBE_BYTES) {
        std::shared_ptr<arrow::RecordBatch> batch;
        ARROW_RETURN_NOT_OK(next(&batch));
        if (batch == nullptr)
            break;
        rows += batch->num_rows();
        bytes += arrow::util::TotalBufferSize(*batch);
        first_.push_back(std::move(batch));
    }
    return arrow::Status::OK();
}

/* Those of a wide table are made one after the other. */
int64_t Writer::dictionary_limit() const
{
    int64_t columns = std::max(count_leaves(*arrow::struct_(schema_->fields())), 1);
    return is_wide_ ? DICTIONARY_MOST : std::min(DICTIONARY_BYTES / columns, DICTIONARY_MOST);
}

arrow::Status Writer::open_file()
{
    parquet::WriterProperties::Builder properties;
    properties.memory_pool(pool_.get())
        ->compression(codec_of(options_.codec))
        ->max_row_group_length(most_rows_)
        ->dictionary_pagesize_limit(dictionary_limit())
        ->enable_page_checksum();
    if (options_.level != 0)
        properties.compression_level(options_.level);
    ARROW_RETURN_NOT_OK(choose_dictionaries(first_, pool_.get(), &properties));

    parquet::ArrowWriterProperties::Builder arrow_properties;
    arrow_properties.store_schema();
    if (thread_count_ > 1 && !is_wide_) {
        ARROW_ASSIGN_OR_RAISE(threads_, start_threads(static_cast<int>(thread_count_)));
        arrow_properties.set_use_threads(true)->set_executor(threads_.get());
    }
    ARROW_ASSIGN_OR_RAISE(file_, parquet::arrow::FileWriter::Open(*schema_, pool_.get(), out_,
                                                                  properties.build(),
                                                                  arrow_properties.build()));
    return arrow::Status::OK();
}

arrow::Status Writer::next(std::shared_ptr<arrow::RecordBatch> *out)
{
    struct ArrowArray array = {};
    out->reset();
    if (batches_->get_next(batches_, &array) != 0) {
        stream_failed_ = true;
        return arrow::Status::IOError("the batch stream failed");
    }
    if (array.release == nullptr)
        return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(arrow::ImportRecordBatch(&array, schema_).Value(out));
    if (schema_->num_fields() == 0 && (*out)->num_rows() > 0) {
        stream_failed_ = true; /* Arrow would write a file without rows */
        return arrow::Status::NotImplemented("Parquet cannot hold rows without columns");
    }
    return arrow::Status::OK();
}

static void find_dictionaries(const std::shared_ptr<arrow::ArrayData> &data,
                              std::vector<SmallDictionary> *out)
{
    const arrow::DataType *type = data->type.get();
    if (type->id() == arrow::Type::EXTENSION)
        type = static_cast<const arrow::ExtensionType *>(type)->storage_type().get();
    if (type->id() == arrow::Type::DICTIONARY) {
        const auto &index = *static_cast<const arrow::DictionaryType *>(type)->index_type();
        int bits = index.bit_width() - (arrow::is_signed_integer(index.id()) ? 1 : 0);
        if (bits <= 16)
            out->push_back({data->dictionary, int64_t{1} << bits, data->dictionary->length});
    }
    for (const auto &child : data->child_data)
        find_dictionaries(child, out);
}

/* A row group has one dictionary, made of all that its batches brought: their indices must have room for it. */
bool Writer::fits_group(const arrow::RecordBatch &batch)
{
    std::vector<SmallDictionary> found;
    bool fits = true;
    for (const auto &column : batch.column_data())
        find_dictionaries(column, &found);
    for (size_t i = 0; i < found.size() && i < dictionaries_.size(); i++) {
        SmallDictionary &last = dictionaries_[i];
        bool same = found[i].values == last.values ||
                    arrow::MakeArray(found[i].values)->Equals(arrow::MakeArray(last.values));
        if (same)
            found[i].group_count = last.group_count;
        else if (last.group_count + found[i].group_count <= found[i].most)
            found[i].group_count += last.group_count;
        else
            fits = false;
    }
    for (SmallDictionary &dictionary : found) {
        if (!fits)
            dictionary.group_count = dictionary.values->length;
    }
    dictionaries_ = std::move(found);
    return fits;
}

arrow::Status Writer::end_group()
{
    arrow::Status status;
    if (is_wide_ && !held_.empty()) {
        ARROW_ASSIGN_OR_RAISE(auto table, arrow::Table::FromRecordBatches(schema_, held_));
        status = file_->WriteTable(*table, most_rows_);
    } else if (group_rows_ > 0) {
        status = file_->NewBufferedRowGroup();
    }
    held_.clear();
    group_rows_ = group_bytes_ = 0;
    return status;
}

bool Writer::group_is_full() const
{
    int64_t held = pool_->bytes_allocated();
    if (keeps_rows_ || group_rows_ >= most_rows_)
        return group_rows_ >= most_rows_;
    return held >= MOST_HELD || group_bytes_ >= GROUP_BYTES ||
           (group_bytes_ >= HELD_BYTES && (is_wide_ || held >= HELD_BYTES));
}

arrow::Status Writer::write_piece(const std::shared_ptr<arrow::RecordBatch> &piece, int64_t bytes)
{
    if (group_is_full())
        ARROW_RETURN_NOT_OK(end_group());
    group_rows_ += piece->num_rows();
    group_bytes_ += bytes;
    if (!is_wide_)
        return file_->WriteRecordBatch(*piece);
    held_.push_back(piece);
    return arrow::Status::OK();
}

arrow::Status Writer::write(const arrow::RecordBatch &batch)
{
    int64_t bytes = arrow::util::TotalBufferSize(batch);
    /* A whole table may come as one batch: it is cut, so that row groups keep to their size. */
    int64_t pieces =
        std::clamp<int64_t>(bytes / SLICE_BYTES + 1, 1, std::max<int64_t>(batch.num_rows(), 1));
    int64_t rows = (batch.num_rows() + pieces - 1) / pieces;
    if (!fits_group(batch))
        ARROW_RETURN_NOT_OK(end_group());
    for (int64_t at = 0; at < batch.num_rows(); at += rows)
        ARROW_RETURN_NOT_OK(write_piece(batch.Slice(at, rows), bytes / pieces));
    return arrow::Status::OK();
}

arrow::Status Writer::write_all()
{
    ARROW_RETURN_NOT_OK(enter_thread());
    ARROW_RETURN_NOT_OK(open_schema());
    ARROW_RETURN_NOT_OK(take_first());
    ARROW_RETURN_NOT_OK(open_file());
    for (auto &batch : first_)
        ARROW_RETURN_NOT_OK(write(*std::exchange(batch, nullptr)));
    for (;;) {
        std::shared_ptr<arrow::RecordBatch> batch;
        ARROW_RETURN_NOT_OK(next(&batch));
        if (batch == nullptr)
            break;
        ARROW_RETURN_NOT_OK(write(*batch));
    }
    if (is_wide_)
        ARROW_RETURN_NOT_OK(end_group());
    return file_->Close();
}

/* Arrow's writer ends its file in its destructor, whatever happened, and goes through columns that were left half made when
 * memory was short: that crashes. Then it is left alone, memory and all. Only its own failures are such: after those of the
 * input and of the sink it is whole, and its destructor finds that nothing can be written any more. */
void Writer::give_up()
{
    out_->refuse();
    if (!stream_failed_ && !error_.is_set())
        (void)file_.release();
}

ald_status Writer::run(ald_error *err)
{
    arrow::Status status;
    try {
        status = write_all();
    } catch (...) {
        status = status_of_exception();
    }
    if (status.ok())
        return ALD_OK;
    give_up();
    return fail(status, "", error_, pool_.get(), err);
}

} // namespace ald_parquet
