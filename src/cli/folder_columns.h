/* SPDX-License-Identifier: MIT */
/* Columns whose values stand in the names of folders: year=2024/month=05/part.parquet. */
#ifndef CLI_FOLDER_COLUMNS_H
#define CLI_FOLDER_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"

typedef struct cli_folder_columns {
    size_t count, file_count;
    char **names;
    char **values; /* file_count times count; NULL: null */
    uint8_t *are_numbers;
} cli_folder_columns;

/* Reads the folders named key=value in each path, behind its first `root` bytes; all must have the same keys in the same
 * order. A column whose every value is a number as int64 is written is int64, else it is text; %20 and the like are
 * decoded; __HIVE_DEFAULT_PARTITION__ is null. cli_folder_columns_clear in any case. */
ALD_NODISCARD ald_status cli_folder_columns_find(char *const *paths, size_t count, size_t root,
                                                 cli_folder_columns *out, ald_error *err);
void cli_folder_columns_clear(cli_folder_columns *columns);

/* Puts the columns behind those of *schema. ALD_E_SCHEMA_MISMATCH when a name is there already. On failure *schema is as it
 * was. */
ALD_NODISCARD ald_status cli_folder_columns_schema(const cli_folder_columns *columns,
                                                   struct ArrowSchema *schema, ald_error *err);

/* Puts the values of file `file` behind the columns of *batch. On failure it is released. */
ALD_NODISCARD ald_status cli_folder_columns_add(const cli_folder_columns *columns, size_t file,
                                                struct ArrowArray *batch, ald_error *err);

#endif
