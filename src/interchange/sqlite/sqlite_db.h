/* SPDX-License-Identifier: MIT */
/* An open database and the statement whose rows are read. */
#ifndef INTERCHANGE_SQLITE_SQLITE_DB_H
#define INTERCHANGE_SQLITE_SQLITE_DB_H

#include "interchange/sqlite/sqlite_library.h"

#ifdef ALD__HAVE_SQLITE

#include "ald/sqlite.h"
#include "interchange/sqlite/sqlite_file.h"

typedef struct ald__sqlite_db {
    const ald__sqlite_library *lib;
    ald_allocator alloc;
    sqlite3 *db;
    sqlite3_stmt *rows;
    ald__sqlite_file file;
    uint64_t max_steps, steps; /* of the machine, since the last row */
    uint64_t max_value_bytes;
    uint64_t max_rows,
        max_bytes; /* of a table, by the pages that there are; UINT64_MAX: of a view or query */
    uint8_t is_query;
    uint8_t is_strict; /* a table whose declared types are those of its values */
} ald__sqlite_db;

/* Opens the file and prepares what options choose. ald__sqlite_db_close in any case. */
ALD_NODISCARD ald_status ald__sqlite_db_open(ald__sqlite_db *d, const char *path,
                                             const ald_sqlite_options *options,
                                             const ald_host *host, ald_error *err);
void ald__sqlite_db_close(ald__sqlite_db *d);

/* What SQLite says is wrong. */
ALD_NODISCARD ald_status ald__sqlite_failed(const ald__sqlite_db *d, ald_error *err);

/* The next row: *more is 0 at the end. */
ALD_NODISCARD ald_status ald__sqlite_db_step(ald__sqlite_db *d, int *more, ald_error *err);

/* A text or blob of the row: borrowed until the next step. */
ALD_NODISCARD ald_status ald__sqlite_db_bytes(const ald__sqlite_db *d, int column,
                                              const uint8_t **out, size_t *size, ald_error *err);

#endif
#endif
