/* SPDX-License-Identifier: MIT */
/* Arrow gives every column a dictionary, anew in each row group, and drops it once its values take a MiB. Where that is bound
 * to happen it costs a tenth of the time and, while it grows, 30 MiB of memory, and leaves a column that is larger than one
 * without. It is bound to happen where the first rows have so many values; where they have not, Arrow finds out. */
#include "interchange/parquet/dictionary_choice.hpp"

#include <algorithm>
#include <string>

#include <arrow/array/array_base.h>
#include <arrow/array/util.h>
#include <arrow/chunked_array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/extension_type.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/schema.h>
#include <parquet/schema.h>

namespace ald_parquet
{

constexpr int64_t FIRST_LOOK = 8192; /* values that tell most columns with few */

/* What a column of the file takes its values from, in pieces. */
struct Leaf {
    arrow::ArrayVector pieces;
    int64_t length = 0;
};

/* Leaves are in the order of the file's columns. */
static void add_leaves(const std::shared_ptr<arrow::ArrayData> &data, std::vector<Leaf> *out,
                       size_t *at)
{
    std::shared_ptr<arrow::ArrayData> own = data;
    if (data->type->id() == arrow::Type::EXTENSION) {
        own = data->Copy();
        own->type = static_cast<const arrow::ExtensionType &>(*data->type).storage_type();
    }
    for (const auto &child : own->child_data)
        add_leaves(child, out, at);
    if (!own->child_data.empty())
        return;
    if (*at == out->size())
        out->emplace_back();
    Leaf &leaf = (*out)[(*at)++];
    int64_t length = std::min(own->length, PROBE_ROWS - leaf.length);
    if (length > 0)
        leaf.pieces.push_back(arrow::MakeArray(own)->Slice(0, length));
    leaf.length += length;
}

/* Bytes of a value in a dictionary of the file; 0: there is none. */
static arrow::Result<int64_t> value_bytes(const parquet::ColumnDescriptor &column, const Leaf &leaf)
{
    switch (column.physical_type()) {
    case parquet::Type::INT32:
    case parquet::Type::FLOAT:
        return 4;
    case parquet::Type::INT64:
    case parquet::Type::DOUBLE:
        return 8;
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
        return column.type_length();
    case parquet::Type::BYTE_ARRAY: {
        int64_t bytes = 0; /* with offsets, which are as large as the lengths in a dictionary */
        for (const auto &piece : leaf.pieces) {
            ARROW_ASSIGN_OR_RAISE(int64_t size, arrow::util::ReferencedBufferSize(*piece));
            bytes += size;
        }
        return bytes / leaf.length;
    }
    default:
        return 0;
    }
}

/* Different values among the first `rows`. */
static arrow::Result<int64_t> count_values(const arrow::ChunkedArray &values, int64_t rows,
                                           arrow::MemoryPool *pool)
{
    arrow::compute::ExecContext context(pool, nullptr);
    context.set_use_threads(false);
    ARROW_ASSIGN_OR_RAISE(auto unique, arrow::compute::Unique(values.Slice(0, rows), &context));
    return unique->length();
}

/* Looks at ever more values, as many as would be enough if it went on as it began. */
static arrow::Result<bool> outgrows(const parquet::ColumnDescriptor &column, const Leaf &leaf,
                                    int64_t limit_bytes, arrow::MemoryPool *pool)
{
    if (leaf.length == 0 || leaf.pieces[0]->type_id() == arrow::Type::DICTIONARY)
        return false;
    ARROW_ASSIGN_OR_RAISE(int64_t width, value_bytes(column, leaf));
    if (width == 0 || leaf.length <= limit_bytes / width)
        return false;
    ARROW_ASSIGN_OR_RAISE(auto values, arrow::ChunkedArray::Make(leaf.pieces));
    int64_t most = limit_bytes / width, rows = std::min(FIRST_LOOK, leaf.length);
    for (;;) {
        ARROW_ASSIGN_OR_RAISE(int64_t count, count_values(*values, rows, pool));
        if (count > most || rows == leaf.length || count < rows / 2)
            return count > most;
        rows = std::min(rows * most / count + rows / 8 + 1, leaf.length);
    }
}

arrow::Status choose_dictionaries(const std::vector<std::shared_ptr<arrow::RecordBatch>> &first,
                                  arrow::MemoryPool *pool,
                                  parquet::WriterProperties::Builder *properties)
{
    std::shared_ptr<parquet::SchemaDescriptor> schema;
    std::vector<Leaf> leaves;
    if (first.empty())
        return arrow::Status::OK();
    auto plain = properties->build();
    ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(first[0]->schema().get(), *plain, &schema));
    for (const auto &batch : first) {
        size_t at = 0;
        for (const auto &column : batch->column_data())
            add_leaves(column, &leaves, &at);
    }
    auto count = static_cast<size_t>(schema->num_columns());
    for (size_t i = 0; i < count && leaves.size() == count; i++) {
        const parquet::ColumnDescriptor *column = schema->Column(static_cast<int>(i));
        auto answer = outgrows(*column, leaves[i], plain->dictionary_pagesize_limit(), pool);
        if (answer.ok() && *answer) /* what cannot be counted is left to Arrow */
            properties->disable_dictionary(column->path()->ToDotString());
    }
    return arrow::Status::OK();
}

} // namespace ald_parquet
