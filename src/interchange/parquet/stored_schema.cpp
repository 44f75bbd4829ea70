/* SPDX-License-Identifier: MIT */
#include "interchange/parquet/stored_schema.hpp"

#include <arrow/array/util.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/exec.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>

namespace ald_parquet
{

using TypePtr = std::shared_ptr<arrow::DataType>;
using FieldPtr = std::shared_ptr<arrow::Field>;

static TypePtr restore_type(const TypePtr &read, const TypePtr &stored);

static FieldPtr restore_field(const FieldPtr &read, const FieldPtr &stored)
{
    FieldPtr field =
        read->WithName(stored->name())->WithType(restore_type(read->type(), stored->type()));
    return stored->metadata() != nullptr ? field->WithMergedMetadata(stored->metadata()) : field;
}

static TypePtr restore_struct(const TypePtr &read, const TypePtr &stored)
{
    std::vector<FieldPtr> fields;
    if (read->num_fields() != stored->num_fields())
        return read;
    for (int i = 0; i < read->num_fields(); i++) {
        if (read->field(i)->name() != stored->field(i)->name())
            return read;
        fields.push_back(restore_field(read->field(i), stored->field(i)));
    }
    return arrow::struct_(std::move(fields));
}

/* The entries of a map are a struct whose fields may be named anything. */
static TypePtr restore_map(const arrow::MapType &read, const arrow::MapType &stored)
{
    FieldPtr key = restore_field(read.key_field(), stored.key_field());
    FieldPtr item = restore_field(read.item_field(), stored.item_field());
    FieldPtr entries = read.value_field()
                           ->WithName(stored.value_field()->name())
                           ->WithType(arrow::struct_({key, item}));
    return std::make_shared<arrow::MapType>(entries, stored.keys_sorted());
}

/* Indices get 32 bits: rows are not cut into batches as they were, so a batch may have more values than before. */
static TypePtr restore_dictionary(const TypePtr &read, const arrow::DictionaryType &stored)
{
    if (read->id() == arrow::Type::DICTIONARY) {
        const auto &dictionary = static_cast<const arrow::DictionaryType &>(*read);
        return arrow::dictionary(dictionary.index_type(),
                                 restore_type(dictionary.value_type(), stored.value_type()),
                                 stored.ordered());
    }
    if (read->num_fields() > 0 ||
        !restore_type(read, stored.value_type())->Equals(stored.value_type()))
        return read;
    return arrow::dictionary(arrow::int32(), stored.value_type(), stored.ordered());
}

static bool is_coarser(const arrow::DataType &read, const arrow::DataType &stored)
{
    if (stored.id() == arrow::Type::DATE64)
        return read.id() == arrow::Type::DATE32;
    if (stored.id() == arrow::Type::TIME32 && read.id() == arrow::Type::TIME32)
        return true;
    if (stored.id() == arrow::Type::TIMESTAMP && read.id() == arrow::Type::TIMESTAMP) {
        const auto &a = static_cast<const arrow::TimestampType &>(read);
        const auto &b = static_cast<const arrow::TimestampType &>(stored);
        return a.unit() == arrow::TimeUnit::MILLI && b.unit() == arrow::TimeUnit::SECOND &&
               a.timezone() == b.timezone();
    }
    return (stored.id() == arrow::Type::LARGE_STRING && read.id() == arrow::Type::STRING) ||
           (stored.id() == arrow::Type::LARGE_BINARY && read.id() == arrow::Type::BINARY);
}

static TypePtr restore_type(const TypePtr &read, const TypePtr &stored)
{
    if (stored->id() == arrow::Type::DICTIONARY)
        return restore_dictionary(read, static_cast<const arrow::DictionaryType &>(*stored));
    if (is_coarser(*read, *stored))
        return stored;
    if (read->id() != stored->id())
        return read;
    switch (read->id()) {
    case arrow::Type::STRUCT:
        return restore_struct(read, stored);
    case arrow::Type::MAP:
        return restore_map(static_cast<const arrow::MapType &>(*read),
                           static_cast<const arrow::MapType &>(*stored));
    case arrow::Type::LIST:
        return arrow::list(restore_field(read->field(0), stored->field(0)));
    case arrow::Type::LARGE_LIST:
        return arrow::large_list(restore_field(read->field(0), stored->field(0)));
    case arrow::Type::LIST_VIEW:
        return arrow::list_view(restore_field(read->field(0), stored->field(0)));
    case arrow::Type::LARGE_LIST_VIEW:
        return arrow::large_list_view(restore_field(read->field(0), stored->field(0)));
    case arrow::Type::FIXED_SIZE_LIST:
        return arrow::fixed_size_list(
            restore_field(read->field(0), stored->field(0)),
            static_cast<const arrow::FixedSizeListType &>(*read).list_size());
    default:
        return read;
    }
}

arrow::Status restore_types(const parquet::FileMetaData &metadata,
                            std::shared_ptr<arrow::Schema> *schema)
{
    if (metadata.key_value_metadata() == nullptr)
        return arrow::Status::OK();
    auto text = metadata.key_value_metadata()->Get("ARROW:schema");
    if (!text.ok())
        return arrow::Status::OK();
    arrow::ipc::DictionaryMemo memo;
    ARROW_ASSIGN_OR_RAISE(auto bytes, arrow::util::base64_decode(*text));
    arrow::io::BufferReader reader(arrow::Buffer::FromString(std::move(bytes)));
    ARROW_ASSIGN_OR_RAISE(auto stored, arrow::ipc::ReadSchema(&reader, &memo));
    if (stored->num_fields() != (*schema)->num_fields())
        return arrow::Status::OK();
    std::vector<FieldPtr> fields;
    for (int i = 0; i < stored->num_fields(); i++) {
        if (stored->field(i)->name() != (*schema)->field(i)->name())
            return arrow::Status::OK();
        fields.push_back(restore_field((*schema)->field(i), stored->field(i)));
    }
    *schema = arrow::schema(std::move(fields), (*schema)->metadata());
    return arrow::Status::OK();
}

static arrow::Result<std::shared_ptr<arrow::ArrayData>>
encode(const std::shared_ptr<arrow::ArrayData> &data, const TypePtr &to,
       arrow::compute::ExecContext *context, arrow::MemoryPool *pool)
{
    const auto &dictionary = static_cast<const arrow::DictionaryType &>(*to);
    ARROW_ASSIGN_OR_RAISE(auto values, fit_type(data, dictionary.value_type(), pool));
    ARROW_ASSIGN_OR_RAISE(
        auto encoded,
        arrow::compute::DictionaryEncode(
            arrow::Datum(values), arrow::compute::DictionaryEncodeOptions::Defaults(), context));
    auto out = encoded.array()->Copy();
    out->type = to;
    return out;
}

arrow::Result<std::shared_ptr<arrow::ArrayData>>
fit_type(const std::shared_ptr<arrow::ArrayData> &data, const TypePtr &to, arrow::MemoryPool *pool)
{
    const TypePtr &from = data->type;
    if (from->Equals(*to, true))
        return data;
    arrow::compute::ExecContext context(pool, nullptr);
    context.set_use_threads(false);
    bool to_dictionary = to->id() == arrow::Type::DICTIONARY;
    if (from->id() != to->id() && to_dictionary)
        return encode(data, to, &context, pool);
    if (from->id() != to->id() || (from->num_fields() == 0 && !to_dictionary)) {
        ARROW_ASSIGN_OR_RAISE(auto cast,
                              arrow::compute::Cast(arrow::Datum(data), to,
                                                   arrow::compute::CastOptions::Safe(), &context));
        return cast.array();
    }
    auto out = data->Copy();
    out->type = to;
    if (to_dictionary) {
        ARROW_ASSIGN_OR_RAISE(out->dictionary,
                              fit_type(data->dictionary,
                                       static_cast<const arrow::DictionaryType &>(*to).value_type(),
                                       pool));
    }
    for (int i = 0; i < to->num_fields(); i++) {
        ARROW_ASSIGN_OR_RAISE(
            out->child_data[static_cast<size_t>(i)],
            fit_type(data->child_data[static_cast<size_t>(i)], to->field(i)->type(), pool));
    }
    return out;
}

} // namespace ald_parquet
