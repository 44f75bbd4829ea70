/* SPDX-License-Identifier: MIT */
/* Tables of SQLite databases. SQLite gives each value a type of its own, so types come from all values of a column: the
 * table is read twice, within one transaction. docs/INPUTS.md says which types. */
#ifndef ALD_SQLITE_H
#define ALD_SQLITE_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

typedef struct ald_sqlite_options {
    uint32_t struct_size;
    uint32_t batch_rows; /* 0: 65,536, or fewer to keep a batch near 16 MiB */
    const char *table;   /* a table or view; NULL: the only one there is */
    const char *query;   /* one SELECT in place of a table; NULL: none */
    uint8_t mixed_text;  /* a column of several kinds becomes text; else it is refused */
    uint8_t reserved[7];
    const struct ArrowSchema *schema; /* all columns declared: types are not found out; or NULL */
    const struct ArrowSchema *types;  /* a struct of some columns, by name; or NULL */
    uint64_t max_value_bytes;         /* of a text or blob; 0: 256 MiB */
    uint64_t
        max_steps; /* of SQLite's machine for one row, so that a view cannot keep it busy; 0: 4e9 */
    const char *const *columns; /* of a table, not of a query: only these are read; NULL: all */
    uint32_t column_count;
    uint32_t reserved2;
} ald_sqlite_options;

#define ALD_SQLITE_OPTIONS_INIT                                                                    \
    {sizeof(ald_sqlite_options), 0, NULL, NULL, 0, {0}, NULL, NULL, 0, 0, NULL, 0, 0}

/* Opens the file at `path` for reading only, and reads it as one that others may write: for as long as the stream lives it
 * gives the state of its beginning. A hostile database cannot load extensions, run triggers, use virtual tables, write,
 * attach other files, or give more rows than its pages hold. ALD_E_UNSUPPORTED where the SQLite library, which is opened at
 * the first call, is not there. Strings are copied. */
ALD_API ALD_NODISCARD ald_status ald_sqlite_open(const char *path,
                                                 const ald_sqlite_options *options,
                                                 const ald_host *host, struct ArrowArrayStream *out,
                                                 ald_error *err);

/* The columns, without a look at the rows: their types are the declared ones, which values need not have. The caller releases
 * *out. */
ALD_API ALD_NODISCARD ald_status ald_sqlite_columns(const char *path,
                                                    const ald_sqlite_options *options,
                                                    const ald_host *host, struct ArrowSchema *out,
                                                    ald_error *err);

ALD_END_DECLS
#endif
