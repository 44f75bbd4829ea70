/* SPDX-License-Identifier: MIT */
/* Which Arrow type each column gets. */
#ifndef INTERCHANGE_SQLITE_SQLITE_TYPES_H
#define INTERCHANGE_SQLITE_SQLITE_TYPES_H

#include "interchange/sqlite/sqlite_db.h"

#ifdef ALD__HAVE_SQLITE

/* A column while types are found out. Rows count from 1; 0: no such value. */
typedef struct ald__sqlite_survey {
    uint64_t first[6]; /* the first row that has a value of SQLite's type (1 to 5) */
    uint64_t counts[6];
    uint64_t inexact; /* the first integer that no double is */
} ald__sqlite_survey;

/* The fields of all columns of the statement, in order: `out` is a struct of them, which the caller releases. Reads all rows
 * unless every type is declared, then stands before the first row again. */
ALD_NODISCARD ald_status ald__sqlite_types(ald__sqlite_db *d, const ald_sqlite_options *options,
                                           const ald_host *host, struct ArrowSchema *out,
                                           ald_error *err);

/* The same by the declared types alone, without a look at the rows. */
ALD_NODISCARD ald_status ald__sqlite_declared_types(ald__sqlite_db *d, const ald_host *host,
                                                    struct ArrowSchema *out, ald_error *err);

/* Counts rows and bytes of a table against its pages; *bytes grows by those of the row. */
ALD_NODISCARD ald_status ald__sqlite_count(const ald__sqlite_db *d, uint64_t row, uint64_t *bytes,
                                           ald_error *err);

#endif
#endif
