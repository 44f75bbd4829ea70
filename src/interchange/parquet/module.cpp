/* SPDX-License-Identifier: MIT */
/* The two functions of libald_parquet.so. No exception leaves them. */
#include <memory>

#include <arrow/c/bridge.h>

#include "interchange/parquet/parquet_module.h"
#include "interchange/parquet/parquet_reader.hpp"
#include "interchange/parquet/parquet_writer.hpp"

#define MODULE_API extern "C" __attribute__((visibility("default")))

using ald_parquet::Reader;
using ald_parquet::Writer;

namespace
{

/* Linux's, as Arrow's own streams use them. */
constexpr int CODE_INVALID = 22;

struct Stream {
    ald_parquet_state state; /* first: the library looks at it */
    std::unique_ptr<Reader> reader;
};

int code_of(Stream *stream, const arrow::Status &status)
{
    if (status.ok())
        return 0;
    (void)ald_parquet::fail(ALD_E_INVALID_FORMAT, status.message(), &stream->state.error);
    return CODE_INVALID;
}

int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    auto *stream = static_cast<Stream *>(s->private_data);
    try {
        return code_of(stream, arrow::ExportSchema(*stream->reader->schema(), out));
    } catch (...) {
        return code_of(stream, ald_parquet::status_of_exception());
    }
}

int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    auto *stream = static_cast<Stream *>(s->private_data);
    std::shared_ptr<arrow::RecordBatch> batch;
    out->release = nullptr;
    try {
        if (stream->reader->next(&batch, &stream->state.error) != ALD_OK)
            return CODE_INVALID;
        return batch == nullptr ? 0 : code_of(stream, arrow::ExportRecordBatch(*batch, out));
    } catch (...) {
        return code_of(stream, ald_parquet::status_of_exception());
    }
}

const char *get_last_error(struct ArrowArrayStream *s)
{
    return static_cast<Stream *>(s->private_data)->state.error.msg;
}

void release(struct ArrowArrayStream *s)
{
    delete static_cast<Stream *>(s->private_data);
    s->release = nullptr;
}

ald_status check_version(uint32_t version, ald_error *err)
{
    return version == ALD_PARQUET_MODULE_VERSION
               ? ALD_OK
               : ald_parquet::fail(ALD_E_UNSUPPORTED,
                                   "the Parquet module is of another version of this library", err);
}

} // namespace

MODULE_API ald_status ald_parquet_module_open(uint32_t version, const ald_source *source,
                                              const ald_parquet_options *options,
                                              const ald_host *host, struct ArrowArrayStream *out,
                                              ald_error *err)
{
    ald_status status = check_version(version, err);
    if (status != ALD_OK)
        return status;
    try {
        auto stream = std::make_unique<Stream>();
        stream->state = {};
        stream->reader = std::make_unique<Reader>(*source, *options, *host);
        status = stream->reader->open(err);
        if (status != ALD_OK)
            return status;
        stream->state.row_count = stream->reader->row_count();
        *out = {get_schema, get_next, get_last_error, release, stream.release()};
        return ALD_OK;
    } catch (...) {
        return ald_parquet::fail(ALD_E_NOMEM, ald_parquet::status_of_exception().message(), err);
    }
}

MODULE_API ald_status ald_parquet_module_write(uint32_t version, struct ArrowArrayStream *batches,
                                               const ald_sink *sink,
                                               const ald_parquet_write_options *options,
                                               const ald_host *host, ald_error *err)
{
    ald_status status = check_version(version, err);
    if (status == ALD_OK) {
        try {
            status = Writer(batches, *sink, *options, *host).run(err);
        } catch (...) {
            status =
                ald_parquet::fail(ALD_E_NOMEM, ald_parquet::status_of_exception().message(), err);
        }
    }
    batches->release(batches);
    return status;
}
