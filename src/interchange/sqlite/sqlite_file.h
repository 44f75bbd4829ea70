/* SPDX-License-Identifier: MIT */
/* The file of a database, as this process sees it beside SQLite. */
#ifndef INTERCHANGE_SQLITE_SQLITE_FILE_H
#define INTERCHANGE_SQLITE_SQLITE_FILE_H

#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"

typedef struct ald__sqlite_file {
    char *name; /* as SQLite is to open it */
    size_t name_size;
    char *path; /* as stat takes it; NULL: nothing is compared */
    size_t path_size;
    uint64_t size;
    int64_t seconds, nanoseconds; /* of its last change */
} ald__sqlite_file;

/* A name that SQLite takes for this path and nothing else. SQLite makes files beside a database with a write-ahead log, even
 * to read it, and leaves them there. Where there is no log, and so nobody who writes, it is opened as one that does not
 * change; ald__sqlite_file_check then tells whether that was so. Called before SQLite opens it: closing a file drops the
 * process's locks on it. ald__sqlite_file_clear in any case. */
ALD_NODISCARD ald_status ald__sqlite_file_look(ald__sqlite_file *f, const char *path,
                                               const ald_allocator *alloc, ald_error *err);
ALD_NODISCARD ald_status ald__sqlite_file_check(const ald__sqlite_file *f, ald_error *err);
void ald__sqlite_file_clear(ald__sqlite_file *f, const ald_allocator *alloc);

#endif
