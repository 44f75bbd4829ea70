/* SPDX-License-Identifier: MIT */
/* The SQLite library, opened when the first database is. Where its header was not there when this was compiled, or the
 * library is not where this runs, reading says so. */
#ifndef INTERCHANGE_SQLITE_SQLITE_LIBRARY_H
#define INTERCHANGE_SQLITE_SQLITE_LIBRARY_H

#include "ald/error.h"

#if !defined(ALD_WITHOUT_SQLITE) && defined(__has_include)
#if __has_include(<sqlite3.h>)
#define ALD__HAVE_SQLITE 1
#endif
#endif

#ifdef ALD__HAVE_SQLITE
#include <sqlite3.h>

/* X(name). All are there since 3.31 (2020). */
#define ALD__SQLITE_FUNCTIONS(X)                                                                   \
    X(sqlite3_open_v2)                                                                             \
    X(sqlite3_close_v2)                                                                            \
    X(sqlite3_db_config)                                                                           \
    X(sqlite3_extended_result_codes)                                                               \
    X(sqlite3_busy_timeout)                                                                        \
    X(sqlite3_limit)                                                                               \
    X(sqlite3_drop_modules)                                                                        \
    X(sqlite3_set_authorizer)                                                                      \
    X(sqlite3_progress_handler)                                                                    \
    X(sqlite3_exec)                                                                                \
    X(sqlite3_prepare_v2)                                                                          \
    X(sqlite3_step)                                                                                \
    X(sqlite3_reset)                                                                               \
    X(sqlite3_finalize)                                                                            \
    X(sqlite3_errmsg)                                                                              \
    X(sqlite3_extended_errcode)                                                                    \
    X(sqlite3_stmt_readonly)                                                                       \
    X(sqlite3_column_count)                                                                        \
    X(sqlite3_column_name)                                                                         \
    X(sqlite3_column_decltype)                                                                     \
    X(sqlite3_column_type)                                                                         \
    X(sqlite3_column_int64)                                                                        \
    X(sqlite3_column_double)                                                                       \
    X(sqlite3_column_text)                                                                         \
    X(sqlite3_column_blob)                                                                         \
    X(sqlite3_column_bytes)

typedef struct ald__sqlite_library {
#define ALD_X(name) __typeof__(&name) name;
    ALD__SQLITE_FUNCTIONS(ALD_X)
#undef ALD_X
} ald__sqlite_library;

ALD_NODISCARD ald_status ald__sqlite_library_get(const ald__sqlite_library **out, ald_error *err);
#endif

#endif
