/* SPDX-License-Identifier: MIT */
/* CSV out. A bare field is what it looks like and a quoted one is text, so a string is quoted not only where its characters
 * ask for it but also where it looks like a number, a date, a bool; the header stays bare where it can, which tells a reader
 * that quotes mean something in this file. */
#include "ald/csv.h"

#include "interchange/format/cell.h"
#include "interchange/format/options.h"
#include "interchange/format/row_writer.h"
#include "interchange/format/string_text.h"
#include "interchange/text/classify.h"

#define ANY_SIZE 255
#define LONGEST_WORD 8 /* of true, false, nan, infinity, sep= */

/* A delimiter, quote and line end stay free behind every cell that was put. */
#define CELL_SLACK 16

typedef struct csv_writer {
    ald_csv_write_options opts;
    ald__style style;
    ald__v16 delimiter;
    size_t null_size;
    uint8_t odd_delimiter;   /* numbers, dates, times may have it in them */
    uint8_t suspicious[256]; /* by first byte: texts up to this size may look like another type */
} csv_writer;

/* A NUL byte, which is refused; and beside the delimiter, those that a reader looking for one may try, so that `a;b` in every row of a one-column file
 * does not become two columns. */
static inline ald__v16 csv_special(const csv_writer *w, ald__v16 v)
{
    return (ald__v16)((v == w->delimiter) | (v == ald__v16_splat('"')) |
                      (v == ald__v16_splat(',')) | (v == ald__v16_splat(';')) |
                      (v == ald__v16_splat('\t')) | (v == ald__v16_splat('|')) |
                      (v == ald__v16_splat('\n')) | (v == ald__v16_splat('\r')) |
                      (v == ald__v16_splat('\0')));
}

/* n > 0 */
static inline int has_special(const csv_writer *w, const uint8_t *s, size_t n)
{
    size_t i = 0;
    for (; n - i > 16; i += 16) {
        if (ald__v16_any(csv_special(w, ald__v16_load(s + i))))
            return 1;
    }
    return ald__v16_any(csv_special(w, ald__v16_load_short(s + i, n - i)));
}

static int is_null_text(const csv_writer *w, const uint8_t *s, size_t n)
{
    return w->null_size > 0 && n == w->null_size && memcmp(s, w->opts.text.null_text, n) == 0;
}

static int is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* At the start of a file readers drop it. */
static int has_byte_order_mark(const uint8_t *s, size_t n)
{
    return n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0;
}

/* `sep=` and a delimiter, as a first line, names the delimiter. */
static int is_separator_word(const uint8_t *s, size_t n)
{
    return n == 4 && (memcmp(s, "sep=", 4) == 0 || memcmp(s, "SEP=", 4) == 0);
}

/* Would the bare text be taken for something else than this string? n > 0, no special bytes. */
static int looks_otherwise(const csv_writer *w, const uint8_t *s, size_t n)
{
    ald__token token;
    if (is_blank(s[n - 1]))
        return 1;
    if (n > w->suspicious[s[0]] && w->suspicious[s[0]] < ANY_SIZE)
        return 0;
    if (is_blank(s[0]) || is_null_text(w, s, n) || has_byte_order_mark(s, n) ||
        is_separator_word(s, n))
        return 1;
    ald__token_classify((const char *)s, n, &token);
    return token.kind != ALD__TOKEN_TEXT;
}

static int needs_quotes(const csv_writer *w, const uint8_t *s, size_t n)
{
    return n == 0 || has_special(w, s, n) || looks_otherwise(w, s, n);
}

/* A quoted number comes back as text; bare it would come back as a null or as two fields. */
static int scalar_needs_quotes(const csv_writer *w, const uint8_t *s, size_t n)
{
    return is_null_text(w, s, n) || (w->odd_delimiter && n > 0 && has_special(w, s, n));
}

static ald_status put_quoted(ald__pen *pen, const uint8_t *s, size_t n)
{
    size_t quotes = 0, nuls = 0;
    uint8_t *p;
    for (size_t i = 0; i < n; i++) {
        quotes += s[i] == '"';
        nuls += s[i] == '\0';
    }
    if (nuls > 0)
        return ald_error_set(pen->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "a text has a NUL byte, which readers of CSV refuse: '%.*s'\n"
                             "write JSON, Arrow or .ald",
                             n < 40 ? (int)n : 40, (const char *)s);
    ALD__PEN_TRY(ald__pen_need(pen, n + quotes + 2 + CELL_SLACK));
    p = pen->at;
    *p++ = '"';
    if (quotes == 0) {
        ald__copy(p, s, n);
        p += n;
    } else {
        for (size_t i = 0; i < n; i++) {
            *p++ = s[i];
            if (s[i] == '"')
                *p++ = '"';
        }
    }
    *p++ = '"';
    pen->at = p;
    return ALD_OK;
}

static ald_status put_csv_string(const csv_writer *w, ald__pen *pen, const uint8_t *s, size_t n)
{
    if (needs_quotes(w, s, n))
        return put_quoted(pen, s, n);
    ALD__PEN_TRY(ald__pen_need(pen, n + CELL_SLACK));
    ald__copy(pen->at, s, n);
    pen->at += n;
    return ALD_OK;
}

/* Puts quotes around, and doubles them within, what was written since the buffer had `start` bytes. */
static ald_status quote_written(ald__pen *pen, size_t start)
{
    size_t n = ald__pen_size(pen) - start, quotes = 0;
    const uint8_t *from;
    uint8_t *to;
    for (const uint8_t *p = pen->at - n; p < pen->at; p++)
        quotes += *p == '"';
    ALD__PEN_TRY(ald__pen_need(pen, quotes + 2 + CELL_SLACK));
    from = pen->at;
    pen->at += quotes + 2;
    to = pen->at;
    *--to = '"';
    while (n-- > 0) { /* backwards: the text moves up over itself */
        uint8_t c = *--from;
        *--to = c;
        if (c == '"')
            *--to = '"';
    }
    *--to = '"';
    return ALD_OK;
}

/* Alone in its row it is a blank line, which in a file of one column is a null to our reader. */
static ald_status put_csv_null(const csv_writer *w, ald__pen *pen)
{
    ALD__PEN_TRY(ald__pen_need(pen, w->null_size + CELL_SLACK));
    ald__pen_bytes(pen, w->opts.text.null_text, w->null_size);
    return ALD_OK;
}

static ald_status put_csv_cell(const csv_writer *w, const ald__view *view, int64_t row,
                               ald__pen *pen)
{
    ald__cell_ref at;
    ald__bytes bytes;
    size_t start, n;
    ALD__PEN_TRY(ald__view_resolve(view, row, &at, pen->err));
    if (at.column == NULL)
        return put_csv_null(w, pen);
    if (ald__cell_is_text(at.column->cell)) {
        bytes = ald__cell_bytes(at.column, at.row);
        return put_csv_string(w, pen, bytes.data, bytes.size);
    }
    if (at.column->cell < ALD__CELL_BINARY) {
        ALD__PEN_TRY(ald__pen_need(pen, ALD__PEN_SCALAR));
        if (w->null_size == 0 && !w->odd_delimiter) {
            ald__put_scalar(pen, at.column, at.row);
            return ALD_OK;
        }
    }
    start = ald__pen_size(pen);
    ALD__PEN_TRY(ald__put_value_text(pen, at.column, at.row, &w->style));
    n = ald__pen_size(pen) - start;
    ALD__PEN_TRY(ald__pen_need(pen, CELL_SLACK));
    if (at.column->cell < ALD__CELL_BINARY ? scalar_needs_quotes(w, pen->at - n, n)
                                           : needs_quotes(w, pen->at - n, n))
        return quote_written(pen, start);
    return ALD_OK;
}

static void put_line_end(const csv_writer *w, ald__pen *pen)
{
    if (w->opts.crlf)
        ald__pen_byte(pen, '\r');
    ald__pen_byte(pen, '\n');
}

static ald_status csv_rows(const void *ctx, const ald__view *table, int64_t first, int64_t count,
                           uint64_t before, ald__pen *pen)
{
    const csv_writer *w = ctx;
    (void)before;
    if (table->child_count == 0)
        return ald_error_set(pen->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "CSV cannot hold rows without columns");
    first += table->offset;
    for (int64_t row = first; row < first + count; row++) {
        ALD__PEN_TRY(put_csv_cell(w, table->children, row, pen));
        for (int32_t i = 1; i < table->child_count; i++) {
            ald__pen_byte(pen, w->opts.delimiter);
            ALD__PEN_TRY(put_csv_cell(w, table->children + i, row, pen));
        }
        put_line_end(w, pen);
    }
    return ALD_OK;
}

/* A name is text whatever it looks like, so only its characters ask for quotes. */
static ald_status csv_header(const void *ctx, const ald__view *table, ald__pen *pen)
{
    const csv_writer *w = ctx;
    if (w->opts.no_header || table->child_count == 0)
        return ALD_OK;
    for (int32_t i = 0; i < table->child_count; i++) {
        const uint8_t *name = (const uint8_t *)table->children[i].name;
        size_t n = strlen(table->children[i].name);
        int quoted = n == 0
                         ? table->child_count == 1
                         : has_special(w, name, n) || is_blank(name[0]) || is_blank(name[n - 1]) ||
                               has_byte_order_mark(name, n) || is_separator_word(name, n);
        ALD__PEN_TRY(ald__pen_need(pen, n + CELL_SLACK));
        if (i > 0)
            ald__pen_byte(pen, w->opts.delimiter);
        if (quoted)
            ALD__PEN_TRY(put_quoted(pen, name, n));
        else
            ald__pen_bytes(pen, name, n);
    }
    put_line_end(w, pen);
    return ALD_OK;
}

static void mark_suspicious(csv_writer *w)
{
    static const char words[] = "tTfFnNiIsS", starts[] = "0123456789+-. \t\xEF";
    for (const char *p = words; *p != '\0'; p++)
        w->suspicious[(uint8_t)*p] = LONGEST_WORD;
    for (const char *p = starts; *p != '\0'; p++)
        w->suspicious[(uint8_t)*p] = ANY_SIZE;
    if (w->null_size > 0)
        w->suspicious[(uint8_t)w->opts.text.null_text[0]] = ANY_SIZE;
}

static int is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static ald_status prepare(csv_writer *w, const ald_csv_write_options *options, ald_error *err)
{
    static const ald_csv_write_options defaults = ALD_CSV_WRITE_OPTIONS_INIT;
    char delimiter;
    w->opts = defaults;
    ALD__PEN_TRY(ald__options_copy(&w->opts, sizeof w->opts, sizeof w->opts, options, err));
    if (w->opts.delimiter == 0)
        w->opts.delimiter = ',';
    delimiter = w->opts.delimiter;
    if (delimiter == '"' || delimiter == '\n' || delimiter == '\r' || (uint8_t)delimiter >= 0x80)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a delimiter is one ASCII character, no quote and no line end");
    w->delimiter = ald__v16_splat((uint8_t)delimiter);
    w->odd_delimiter = is_alphanumeric(delimiter) || delimiter == '+' || delimiter == '-' ||
                       delimiter == '.' || delimiter == ':';
    w->style = ald__style_of(&w->opts.text);
    w->null_size = w->opts.text.null_text != NULL ? strlen(w->opts.text.null_text) : 0;
    if (w->null_size > 0 && has_special(w, (const uint8_t *)w->opts.text.null_text, w->null_size))
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the text for nulls would need quotes: '%s'", w->opts.text.null_text);
    mark_suspicious(w);
    return ALD_OK;
}

ald_status ald_csv_write(struct ArrowArrayStream *batches, const ald_sink *sink,
                         const ald_csv_write_options *options, const ald_host *host, ald_error *err)
{
    csv_writer w = {0};
    ald__row_form form = {csv_header, csv_rows, NULL, &w};
    ald_status status;
    status = prepare(&w, options, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    return ald__rows_write(batches, sink, &form, host, err);
}
