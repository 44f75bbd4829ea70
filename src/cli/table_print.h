/* SPDX-License-Identifier: MIT */
/* Tables of text on stdout: aligned, escaped, cut to a width. */
#ifndef CLI_TABLE_PRINT_H
#define CLI_TABLE_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

typedef struct table_column {
    size_t title_off, title_size; /* in `text` */
    size_t natural;               /* widest cell so far */
    size_t width;                 /* as printed */
    uint8_t right;                /* numbers */
} table_column;

typedef struct table_cell {
    size_t off, size; /* in `text` */
    size_t width;
} table_cell;

/* Zero-initialise. Cells are given row by row; print shows those given since the last print. */
typedef struct cli_table {
    table_column *columns;
    size_t column_count;
    table_cell *cells;
    size_t cell_count, cell_capacity;
    char *text;
    size_t text_size, text_capacity;
    size_t titles_size; /* of `text`: kept by print */
    size_t shown_count; /* columns that fit */
    uint8_t header_done;
    uint8_t no_memory;
} cli_table;

void cli_table_column(cli_table *table, const char *title, int right);
void cli_table_cell(cli_table *table, const char *data, size_t size);
void cli_table_text(cli_table *table, const char *text);
/* `max_width` 0: no limit. The header comes with the first print, which also settles the columns' widths. */
void cli_table_print(cli_table *table, size_t max_width);
void cli_table_clear(cli_table *table);
/* ALD_E_NOMEM when something could not be kept. */
ALD_NODISCARD ald_status cli_table_check(const cli_table *table, ald_error *err);

/* Columns of the terminal on stdout; 80 where it is none. */
size_t cli_terminal_width(void);

#endif
