/* SPDX-License-Identifier: MIT */
#include "interchange/parquet/parquet_error.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <parquet/exception.h>

namespace ald_parquet
{

ald_status fail(ald_status status, const std::string &text, ald_error *err)
{
    size_t size = std::min(text.size(), sizeof err->msg - 1);
    *err = ald_error{};
    err->status = status;
    err->offset = ALD_NO_OFFSET;
    while (size < text.size() && size > 0 && (static_cast<uint8_t>(text[size]) & 0xC0) == 0x80)
        size--;
    std::memcpy(err->msg, text.data(), size);
    return status;
}

/* Arrow has one code for all that is wrong with the bytes. */
static ald_status status_of_text(const std::string &text)
{
    if (text.find("decrypt") != std::string::npos || text.find("Decrypt") != std::string::npos)
        return ALD_E_UNSUPPORTED;
    if (text.find("worker thread") != std::string::npos ||
        text.find("not enough memory") != std::string::npos) /* zstd's */
        return ALD_E_NOMEM;
    return text.find("CRC checksum") != std::string::npos ? ALD_E_CHECKSUM_MISMATCH
                                                          : ALD_E_INVALID_FORMAT;
}

static ald_status status_of(const arrow::Status &status)
{
    switch (status.code()) {
    case arrow::StatusCode::OutOfMemory:
        return ALD_E_NOMEM;
    case arrow::StatusCode::NotImplemented:
        return ALD_E_UNSUPPORTED;
    default:
        return status_of_text(status.message());
    }
}

ald_status fail(const arrow::Status &status, const std::string &column, const HostError &host,
                const HostPool *pool, ald_error *err)
{
    if (host.is_set())
        return host.give(err);
    std::string where = column.empty() ? "" : "column '" + column + "': ";
    if (status.IsOutOfMemory() && pool != nullptr && pool->refused_bytes() > 0)
        return fail(ALD_E_LIMIT_EXCEEDED,
                    where + "it asks for " + std::to_string(pool->refused_bytes()) +
                        " bytes at once; either the file is damaged, or its pages are huge",
                    err);
    return fail(status_of(status), where + status.message(), err);
}

arrow::Status status_of_exception()
{
    try {
        throw;
    } catch (const parquet::ParquetStatusException &e) {
        return e.status();
    } catch (const std::bad_alloc &) {
        return arrow::Status::OutOfMemory("no memory");
    } catch (const std::exception &e) {
        return arrow::Status::Invalid(e.what());
    } catch (...) {
        return arrow::Status::Invalid("an unknown failure");
    }
}

} // namespace ald_parquet
