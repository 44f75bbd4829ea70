/* SPDX-License-Identifier: MIT */
#include "cli/table_print.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/escape.h"

#define GAP 2       /* spaces between columns */
#define NARROWEST 8 /* a column is cut to this before whole columns are left out */

size_t cli_terminal_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

/* ---- keeping cells */

static int reserve(cli_table *t, size_t extra)
{
    if (extra > t->text_capacity - t->text_size) {
        size_t capacity = t->text_capacity * 2 + extra + 1024;
        char *text = realloc(t->text, capacity);
        if (text == NULL) {
            t->no_memory = 1;
            return 0;
        }
        t->text = text;
        t->text_capacity = capacity;
    }
    return 1;
}

/* Columns of the terminal that escaped text takes. */
static size_t text_width(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *end = s + size;
    size_t width = 0;
    while (s < end) {
        uint32_t code = 0;
        size_t step = cli_utf8_next(s, end, &code);
        width += step > 0 ? cli_code_width(code) : 1;
        s += step > 0 ? step : 1;
    }
    return width;
}

/* Appends escaped text. */
static table_cell keep(cli_table *t, const char *data, size_t size)
{
    table_cell cell = {t->text_size, 0, 0};
    if (!reserve(t, size * 8 + 16)) {
        return cell;
    }
    cell.size = cli_escape(t->text + t->text_size, t->text_capacity - t->text_size, data, size);
    cell.width = text_width(t->text + cell.off, cell.size);
    t->text_size += cell.size;
    return cell;
}

void cli_table_column(cli_table *t, const char *title, int right)
{
    table_column *columns = realloc(t->columns, (t->column_count + 1) * sizeof(*columns));
    if (columns == NULL) {
        t->no_memory = 1;
        return;
    }
    t->columns = columns;
    table_cell cell = keep(t, title, strlen(title));
    t->titles_size = t->text_size;
    t->columns[t->column_count++] =
        (table_column){cell.off, cell.size, cell.width, cell.width, (uint8_t)(right != 0)};
}

void cli_table_cell(cli_table *t, const char *data, size_t size)
{
    if (t->cell_count == t->cell_capacity) {
        size_t capacity = t->cell_capacity * 2 + 64;
        table_cell *cells = realloc(t->cells, capacity * sizeof(*cells));
        if (cells == NULL) {
            t->no_memory = 1;
            return;
        }
        t->cells = cells;
        t->cell_capacity = capacity;
    }
    table_cell cell = keep(t, data, size);
    table_column *column = &t->columns[t->cell_count % t->column_count];
    column->natural = cell.width > column->natural ? cell.width : column->natural;
    t->cells[t->cell_count++] = cell;
}

void cli_table_text(cli_table *t, const char *text)
{
    cli_table_cell(t, text, strlen(text));
}

/* ---- widths */

static size_t total_width(const cli_table *t, size_t count, size_t cap)
{
    size_t total = count > 0 ? GAP * (count - 1) : 0;
    for (size_t i = 0; i < count; i++) {
        total += t->columns[i].natural < cap ? t->columns[i].natural : cap;
    }
    return total;
}

/* The widest columns are cut first; when all are NARROWEST and it is still too much, the last ones are left out. */
static void settle(cli_table *t, size_t max_width)
{
    size_t count = t->column_count;
    size_t cap = SIZE_MAX;
    if (max_width > 0) {
        size_t total = 0;
        for (count = 0; count < t->column_count; count++) {
            size_t natural = t->columns[count].natural;
            total += (natural < NARROWEST ? natural : NARROWEST) + (count > 0 ? GAP : 0);
            if (total > max_width && count > 0) {
                break;
            }
        }
        cap = max_width;
        while (cap > NARROWEST && total_width(t, count, cap) > max_width) {
            cap--;
        }
    }
    for (size_t i = 0; i < count; i++) {
        t->columns[i].width = t->columns[i].natural < cap ? t->columns[i].natural : cap;
    }
    t->shown_count = count;
}

/* ---- printing */

/* Bytes of `text` that fit `width`, and the columns they take. */
static size_t fitting(const char *text, size_t size, size_t width, size_t *used)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *end = s + size;
    *used = 0;
    while (s < end) {
        uint32_t code = 0;
        size_t step = cli_utf8_next(s, end, &code);
        size_t w = step > 0 ? cli_code_width(code) : 1;
        if (*used + w > width) {
            break;
        }
        *used += w;
        s += step > 0 ? step : 1;
    }
    return (size_t)(s - (const unsigned char *)text);
}

static void pad(size_t count)
{
    static const char spaces[] = "                                ";
    while (count > 0) {
        size_t n = count < sizeof(spaces) - 1 ? count : sizeof(spaces) - 1;
        cli_print(spaces, n);
        count -= n;
    }
}

static void print_cell(const table_column *column, const char *text, size_t size, size_t width,
                       int is_last, int can_cut)
{
    if (width > column->width && can_cut) {
        size_t used = 0;
        size = fitting(text, size, column->width - 1, &used);
        cli_print(text, size);
        cli_print("\xE2\x80\xA6", 3); /* an ellipsis */
        width = used + 1;
    } else if (column->right) {
        pad(width < column->width ? column->width - width : 0);
        cli_print(text, size);
        width = column->width;
    } else {
        cli_print(text, size);
    }
    if (!is_last) {
        pad((width < column->width ? column->width - width : 0) + GAP);
    }
}

static void print_header(const cli_table *t, int can_cut)
{
    static const char dashes[] = "--------------------------------";
    for (size_t i = 0; i < t->shown_count; i++) {
        const table_column *c = &t->columns[i];
        const char *title = t->text + c->title_off;
        print_cell(c, title, c->title_size, text_width(title, c->title_size),
                   i + 1 == t->shown_count, can_cut);
    }
    cli_print("\n", 1);
    for (size_t i = 0; i < t->shown_count; i++) {
        size_t left = t->columns[i].width;
        while (left > 0) {
            size_t n = left < sizeof(dashes) - 1 ? left : sizeof(dashes) - 1;
            cli_print(dashes, n);
            left -= n;
        }
        pad(i + 1 < t->shown_count ? GAP : 0);
    }
    cli_print("\n", 1);
}

void cli_table_print(cli_table *t, size_t max_width)
{
    if (t->no_memory || t->column_count == 0) {
        return;
    }
    if (!t->header_done) {
        settle(t, max_width);
        print_header(t, max_width > 0);
        t->header_done = 1;
    }
    for (size_t row = 0; row + t->column_count <= t->cell_count; row += t->column_count) {
        for (size_t i = 0; i < t->shown_count; i++) {
            const table_cell *cell = &t->cells[row + i];
            print_cell(&t->columns[i], t->text + cell->off, cell->size, cell->width,
                       i + 1 == t->shown_count, max_width > 0);
        }
        cli_print("\n", 1);
    }
    t->cell_count = 0;
    t->text_size = t->titles_size;
}

void cli_table_clear(cli_table *t)
{
    free(t->columns);
    free(t->cells);
    free(t->text);
    memset(t, 0, sizeof(*t));
}

ald_status cli_table_check(const cli_table *t, ald_error *err)
{
    return t->no_memory ? ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the table")
                        : ALD_OK;
}
