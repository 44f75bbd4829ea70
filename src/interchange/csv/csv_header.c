/* SPDX-License-Identifier: MIT */
/* Knows how the first record becomes columns, and how declared fields find theirs. */
#include "interchange/csv/csv_header.h"

#include <inttypes.h>

#include "ald/schema.h"
#include "interchange/csv/quotes.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

#define MOST_NAME_BYTES (64u << 20) /* of all names together */
#define MOST_COLUMNS (1u << 18)
#define HEADER_NAME_SHOWN 40

/* The first record as the automaton sees it: where its fields end. */
typedef struct first_record {
    const uint8_t *data; /* from data_begin on */
    size_t size;
    size_t start, end, next; /* of the record; the one behind it */
    size_t fields;
    int complete;
} first_record;

/* Calls `each` for every field; with NULL only counts. */
typedef void (*field_fn)(void *arg, size_t index, const uint8_t *text, size_t size);

/* Byte by byte through the slow path's automaton: the header is read once. A fault leaves `fault` set. */
static void scan_first(first_record *f, const ald__csv_dialect *d, int last, field_fn each,
                       void *arg, ald__csv_fault *fault)
{
    ald__csv_state state = ALD__CSV_STATE_RECORD;
    size_t field = f->start;
    f->fields = 0;
    for (size_t i = f->start; i <= f->size; i++) {
        uint8_t c = i < f->size ? f->data[i] : '\n';
        ald__csv_word w = {c == d->quote, c == d->delimiter, c == '\r', c == '\n'};
        ald__csv_cut cut = {0, 0, -1};
        if (i == f->size && (!last || state.in_quote)) {
            if (last)
                *fault = (ald__csv_fault){field, 0, 0, ALD__CSV_FAULT_UNCLOSED};
            return;
        }
        cut = ald__csv_step_slow(&state, &w, &c, 1, d);
        if (cut.fault >= 0) {
            *fault = (ald__csv_fault){i, 0, 0, ALD__CSV_FAULT_AFTER_QUOTE};
            return;
        }
        if (cut.structural == 0)
            continue;
        if (each != NULL)
            each(arg, f->fields, f->data + field, i - field);
        f->fields++;
        field = i + 1;
        if (cut.newline != 0) {
            if (c == '\r' && i + 1 == f->size && !last)
                return; /* an LF may follow */
            f->end = i;
            f->next = i + 1 + (c == '\r' && i + 1 < f->size && f->data[i + 1] == '\n');
            f->next = f->next < f->size ? f->next : f->size;
            f->complete = 1;
            return;
        }
    }
}

typedef struct name_sink {
    ald__csv_reader *reader;
    char *out;
} name_sink;

static int name_is_quoted(const ald__csv_reader *r, const uint8_t *text, size_t size)
{
    return size >= 2 && text[0] == r->dialect.quote;
}

static void take_name(void *arg, size_t index, const uint8_t *text, size_t size)
{
    name_sink *sink = arg;
    ald__csv_reader *r = sink->reader;
    ald__csv_column *column = &r->columns[index];
    size_t n = size;
    if (name_is_quoted(r, text, size)) {
        n = ald__csv_unquote(text + 1, size - 2, r->dialect.quote, (uint8_t *)sink->out);
    } else {
        r->header_quoted = 0;
        memcpy(sink->out, text, size);
    }
    column->name = (ald__csv_text){sink->out, n};
    sink->out += n;
}

/* f0, f1, … */
static void number_name(name_sink *sink, size_t index)
{
    char digits[20];
    size_t n = 0, size = 0;
    ald__csv_column *column = &sink->reader->columns[index];
    do {
        digits[n++] = (char)('0' + index % 10);
        index /= 10;
    } while (index != 0);
    column->name.data = sink->out;
    sink->out[size++] = 'f';
    while (n > 0)
        sink->out[size++] = digits[--n];
    column->name.size = size;
    sink->out += size;
}

static ald_status make_names(ald__csv_reader *r, first_record *f, const struct ArrowSchema *schema,
                             ald_error *err)
{
    name_sink sink = {r, NULL};
    ald__csv_fault unused = {0, 0, 0, ALD__CSV_FINE};
    size_t size = r->no_header ? f->fields * 8 : f->end - f->start;
    for (size_t i = 0; r->no_header && schema != NULL && i < (size_t)schema->n_children; i++)
        size += strlen(schema->children[i]->name);
    r->columns = ald__text_alloc(&r->alloc, f->fields, sizeof *r->columns, err);
    if (r->columns == NULL)
        return ALD_E_NOMEM;
    r->column_count = f->fields;
    r->names_size = size;
    sink.out = r->names = ald__text_alloc(&r->alloc, size, 1, err);
    if (r->names == NULL)
        return ALD_E_NOMEM;
    r->header_quoted = 1;
    if (!r->no_header) {
        scan_first(f, &r->dialect, 1, take_name, &sink, &unused);
        r->data_begin += f->next;
        return ALD_OK;
    }
    for (size_t i = 0; i < f->fields; i++) {
        if (schema != NULL && i < (size_t)schema->n_children) {
            size_t n = strlen(schema->children[i]->name);
            memcpy(sink.out, schema->children[i]->name, n);
            r->columns[i].name = (ald__csv_text){sink.out, n};
            sink.out += n;
        } else {
            number_name(&sink, i);
        }
    }
    r->data_begin += f->start;
    return ALD_OK;
}

/* Skips blank and comment lines at f->start. 0: they reach to the end of what is there. */
static int skip_to_record(first_record *f, const ald__csv_dialect *d)
{
    for (;;) {
        while (f->start < f->size && (f->data[f->start] == '\n' || f->data[f->start] == '\r'))
            f->start++;
        if (f->start == f->size)
            return 0;
        if (d->comment == 0 || f->data[f->start] != d->comment)
            return 1;
        while (f->start < f->size && f->data[f->start] != '\n' && f->data[f->start] != '\r')
            f->start++;
    }
}

/* The header's own bytes: no NUL, UTF-8. */
static ald_status check_header(ald__csv_reader *r, const first_record *f, ald_error *err)
{
    const uint8_t *p = f->data + f->start;
    size_t n = f->end - f->start, nul = ald__text_nul_check(p, n), bad = ald__text_utf8_check(p, n);
    ald__csv_fault fault = {r->data_begin + f->start, 0, 0, ALD__CSV_FINE};
    if (nul < n) {
        fault.kind = ALD__CSV_FAULT_NUL;
        fault.offset += nul;
    } else if (bad < n) {
        fault.kind = ALD__CSV_FAULT_UTF8;
        fault.offset += bad;
    }
    if (fault.kind != ALD__CSV_FINE)
        return ald__csv_fault_error(r, &fault, err);
    if (f->fields > MOST_COLUMNS)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, r->data_begin,
                             "%s: %zu columns, and no more than %u are read",
                             ald__csv_source_name(&r->source), f->fields, MOST_COLUMNS);
    return ALD_OK;
}

/* Looks at ever more of the beginning until the first record is whole. */
static ald_status find_first(ald__csv_reader *r, ald__csv_walk *walk, first_record *f,
                             ald_error *err)
{
    uint64_t left = r->source.size_bytes - r->data_begin;
    size_t want = 64u << 10;
    for (;; want *= 2) {
        ald__csv_fault fault = {0, 0, 0, ALD__CSV_FINE};
        int last;
        ald_status st = ald__csv_walk_peek(walk, r->data_begin, want, &f->data, &f->size, err);
        if (st != ALD_OK)
            return st;
        last = f->size == left;
        f->start = 0;
        int begun = skip_to_record(f, &r->dialect);
        if (begun)
            scan_first(f, &r->dialect, last, NULL, NULL, &fault);
        else if (last)
            return ald_error_set(err, ALD_E_INVALID_FORMAT, 0,
                                 "%s: no header and no data: only "
                                 "blank lines",
                                 ald__csv_source_name(&r->source));
        if (fault.kind != ALD__CSV_FINE) {
            fault.offset += r->data_begin;
            return ald__csv_fault_error(r, &fault, err);
        }
        if (begun && !r->no_header && (f->complete ? f->end : f->size) - f->start > MOST_NAME_BYTES)
            return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, r->data_begin,
                                 "%s: line 1: a header of more than %u MiB\npass --no-header if it "
                                 "is data",
                                 ald__csv_source_name(&r->source), MOST_NAME_BYTES >> 20);
        if (f->complete)
            return check_header(r, f, err);
        if (want > r->dialect.max_field_bytes * 2 || want > (1u << 30)) {
            fault = (ald__csv_fault){r->data_begin, 0, 0, ALD__CSV_FAULT_FIELD_SIZE};
            return ald__csv_fault_error(r, &fault, err);
        }
    }
}

ald_status ald__csv_read_header(ald__csv_reader *reader, ald__csv_walk *walk,
                                const struct ArrowSchema *schema, ald_error *err)
{
    first_record f = {NULL, 0, 0, 0, 0, 0, 0};
    ald_status st = find_first(reader, walk, &f, err);
    return st == ALD_OK ? make_names(reader, &f, schema, err) : st;
}

static int name_equals(const ald__csv_text *name, const char *text)
{
    return strlen(text) == name->size && memcmp(text, name->data, name->size) == 0;
}

/* A declared field for column `c`. */
static ald_status declare_one(ald__csv_reader *r, size_t c, const struct ArrowSchema *field,
                              ald_error *err)
{
    ald__column probe;
    ald_status st = ALD_OK;
    if (field->dictionary != NULL || field->n_children != 0)
        st = ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                           "column '%.*s': CSV is not read into nested or dictionary types\n"
                           "declare it as string",
                           HEADER_NAME_SHOWN, field->name);
    if (st == ALD_OK)
        st = ald__column_init(&probe, field->format, &r->alloc, err);
    if (st == ALD_OK)
        st = ald_schema_copy(&r->host, field, r->fields.children[c], err);
    r->columns[c].declared = 1;
    r->columns[c].nullable = (field->flags & ARROW_FLAG_NULLABLE) != 0;
    return st;
}

static ald_status declare_all(ald__csv_reader *r, const struct ArrowSchema *schema, ald_error *err)
{
    const char *name = ald__csv_source_name(&r->source);
    if ((uint64_t)schema->n_children != r->column_count)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "%s: %zu columns, but the schema has %" PRId64, name, r->column_count,
                             schema->n_children);
    for (size_t c = 0; c < r->column_count; c++) {
        const struct ArrowSchema *field = schema->children[c];
        ald_status st;
        if (!name_equals(&r->columns[c].name, field->name))
            return ald_error_set(
                err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                "%s: column %zu is '%.*s', but the schema has '%.*s' there", name, c + 1,
                r->columns[c].name.size < HEADER_NAME_SHOWN ? (int)r->columns[c].name.size
                                                            : HEADER_NAME_SHOWN,
                r->columns[c].name.data, HEADER_NAME_SHOWN, field->name);
        st = declare_one(r, c, field, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

static ald_status declare_some(ald__csv_reader *r, const struct ArrowSchema *types, ald_error *err)
{
    for (int64_t i = 0; i < types->n_children; i++) {
        const struct ArrowSchema *field = types->children[i];
        int found = 0;
        for (size_t c = 0; c < r->column_count; c++) {
            ald_status st;
            if (!name_equals(&r->columns[c].name, field->name) || r->columns[c].declared)
                continue;
            found = 1;
            st = declare_one(r, c, field, err);
            if (st != ALD_OK)
                return st;
        }
        if (!found)
            return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                                 "%s: no column '%.*s' to give a type to",
                                 ald__csv_source_name(&r->source), HEADER_NAME_SHOWN, field->name);
    }
    return ALD_OK;
}

ald_status ald__csv_declare(ald__csv_reader *reader, const struct ArrowSchema *schema,
                            const struct ArrowSchema *types, ald_error *err)
{
    ald_status st =
        ald__field_new(&reader->alloc, "", 0, "+s", 0, reader->column_count, &reader->fields, err);
    for (size_t c = 0; c < reader->column_count; c++)
        reader->columns[c].nullable = 1;
    if (st == ALD_OK && schema != NULL)
        st = declare_all(reader, schema, err);
    if (st == ALD_OK && types != NULL)
        st = declare_some(reader, types, err);
    return st;
}
