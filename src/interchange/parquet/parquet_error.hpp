/* SPDX-License-Identifier: MIT */
/* What Arrow says went wrong, as a status of this library. */
#ifndef INTERCHANGE_PARQUET_ERROR_HPP
#define INTERCHANGE_PARQUET_ERROR_HPP

#include <string>

#include <arrow/status.h>

#include "ald/error.h"
#include "interchange/parquet/parquet_io.hpp"

namespace ald_parquet
{

/* Fills *err. `column` (or empty) is named in the message. An error of the host, if there was one, is the cause. */
ald_status fail(const arrow::Status &status, const std::string &column, const HostError &host,
                const HostPool *pool, ald_error *err);

ald_status fail(ald_status status, const std::string &text, ald_error *err);

/* The status of an exception; Parquet throws some. Called in a catch block. */
arrow::Status status_of_exception();

} // namespace ald_parquet
#endif
