/* SPDX-License-Identifier: MIT */
/* Knows how faults are told to a person: file, line, column, the offending text, and what to do. Lines are counted only
 * when there is something to tell. */
#include <inttypes.h>
#include <string.h>

#include "ald/schema.h"
#include "interchange/csv/reader.h"
#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

#define SOURCE_NAME_SHOWN 60
#define VALUE_SHOWN 40
#define NULL_SHOWN 12      /* longest word that is offered as null, … */
#define NULL_NAME_SHOWN 24 /* … in columns of names up to this */
#define COLUMN_SHOWN 40
#define LINE_READ (256u << 10)

const char *ald__csv_source_name(const ald_source *source)
{
    size_t size = source->name == NULL ? 0 : strlen(source->name);
    const char *p;
    if (size == 0)
        return "CSV";
    if (size <= SOURCE_NAME_SHOWN)
        return source->name;
    p = source->name + size - SOURCE_NAME_SHOWN;
    while (((uint8_t)*p & 0xC0) == 0x80)
        p++;
    return p;
}

ald_status ald__csv_lines_of(const ald_source *source, const ald_allocator *alloc,
                             const uint64_t *offsets, size_t count, uint64_t *lines, ald_error *err)
{
    uint8_t *buffer = ald__text_alloc(alloc, LINE_READ, 1, err);
    uint64_t pos = 0, line = 1;
    ald_status st = buffer == NULL ? ALD_E_NOMEM : ALD_OK;
    int cr = 0;
    for (size_t i = 0; i < count && st == ALD_OK; i++) {
        while (pos < offsets[i] && st == ALD_OK) {
            uint64_t left = offsets[i] - pos;
            size_t n = left < LINE_READ ? (size_t)left : LINE_READ;
            st = source->read_at(source->ctx, pos, buffer, n, err);
            if (st == ALD_OK)
                line += ald__text_count_lines(buffer, n, &cr);
            pos += n;
        }
        lines[i] = line;
    }
    ald__text_free(alloc, buffer, LINE_READ, 1);
    return st;
}

/* As much of the text as is shown, not cutting a sequence; "…" is put by the caller. */
static int shown_size(const char *text, size_t size, size_t most)
{
    if (size <= most)
        return (int)size;
    while (most > 0 && ((uint8_t)text[most] & 0xC0) == 0x80)
        most--;
    return (int)most;
}

/* A word that somebody may have written for null. */
static int is_null_like(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] <= ' ' || text[i] > '~' || text[i] == '\'')
            return 0;
    }
    return size <= NULL_SHOWN && !ald__csv_is_number_like(text, size);
}

/* Whether the field at `offset`, behind the quote that may open it, is no null whatever it says. */
static int is_kept_by_quotes(const ald__csv_reader *reader, uint64_t offset)
{
    uint8_t before;
    return !reader->all_quoted && offset > 0 &&
           reader->source.read_at(reader->source.ctx, offset - 1, &before, 1, NULL) == ALD_OK &&
           before == reader->dialect.quote;
}

/* ", or --null 'NA' …" where that may be meant, and there is room for it. */
static void null_hint(const ald__csv_reader *reader, const ald__csv_fault *fault, const char *text,
                      size_t size, ald_error *out)
{
    size_t name_size = reader->columns[fault->fields].name.size;
    (void)ald_error_set(out, ALD_OK, 0, "%s", "");
    if (is_null_like(text, size) && name_size <= NULL_NAME_SHOWN &&
        !is_kept_by_quotes(reader, fault->offset))
        (void)ald_error_set(out, ALD_OK, 0, ", or --null '%.*s'%s to read it as null", (int)size,
                            text, ald__csv_has_empty_nulls(reader) ? " --null ''" : "");
}

/* What is wrong with the value of a column, and its text. */
static ald_status value_error(ald__csv_reader *reader, const ald__csv_fault *fault, uint64_t line,
                              ald_error *err)
{
    const ald__csv_text *name = &reader->columns[fault->fields].name;
    const struct ArrowSchema *field = reader->fields.children[fault->fields];
    size_t size = fault->size < VALUE_SHOWN + 4 ? fault->size : VALUE_SHOWN + 4;
    int shown_name = shown_size(name->data, name->size, COLUMN_SHOWN), shown;
    char text[VALUE_SHOWN + 8];
    ald_error hint;
    ald_buffer type = {NULL, 0, 0, &reader->alloc};
    ald_status st = reader->source.read_at(reader->source.ctx, fault->offset, text, size, err);
    if (st != ALD_OK)
        return st;
    shown = shown_size(text, size, VALUE_SHOWN);
    if (reader->text.infer_rows != 0 && !reader->columns[fault->fields].declared)
        (void)ald_error_set(&hint, ALD_OK, 0, ", or leave out --infer-rows");
    else
        null_hint(reader, fault, text, size, &hint);
    st = ald_type_format(field, &type, err);
    if (st == ALD_OK)
        st =
            ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                          "%s: line %" PRIu64 ", column '%.*s': '%.*s'%s is not %.*s\npass --types "
                          "%.*s:string%s",
                          ald__csv_source_name(&reader->source), line, shown_name, name->data,
                          shown, text, (size_t)shown < fault->size ? "..." : "", (int)type.size,
                          (const char *)type.data, shown_name, name->data, hint.msg);
    ald_buffer_clear(&type);
    return st;
}

/* Whether the file's last `left` bytes are the beginning of a character. */
static int cut_character(const uint8_t *bytes, uint64_t left)
{
    uint8_t lead = bytes[0];
    if (left >= 4 || lead < 0xC2 || lead > 0xF4 ||
        left >= (lead >= 0xF0   ? 4u
                 : lead >= 0xE0 ? 3u
                                : 2u))
        return 0;
    for (uint64_t i = 1; i < left; i++) {
        if ((bytes[i] & 0xC0) != 0x80)
            return 0;
    }
    return 1;
}

static ald_status utf8_error(ald__csv_reader *reader, const ald__csv_fault *fault, uint64_t line,
                             ald_error *err)
{
    uint8_t bytes[4] = {0, 0, 0, 0};
    uint64_t left = reader->source.size_bytes - fault->offset;
    size_t n = left < 4 ? (size_t)left : 4;
    uint8_t lead;
    ald_status st = reader->source.read_at(reader->source.ctx, fault->offset, bytes, n, err);
    if (st != ALD_OK)
        return st;
    lead = bytes[0];
    if (cut_character(bytes, left))
        return ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                             "%s: line %" PRIu64 ": the file ends within a UTF-8 character\nit may "
                             "be cut off; or pass --encoding latin-1 or windows-1252",
                             ald__csv_source_name(&reader->source), line);
    return ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                         "%s: line %" PRIu64 ": byte 0x%02x is not valid UTF-8\npass --encoding "
                         "latin-1, windows-1252 or utf-16",
                         ald__csv_source_name(&reader->source), line, lead);
}

static ald_status plain_error(ald__csv_reader *reader, const ald__csv_fault *fault, uint64_t line,
                              ald_error *err)
{
    const char *name = ald__csv_source_name(&reader->source);
    const ald__csv_text *column;
    switch (fault->kind) {
    case ALD__CSV_FAULT_RAGGED:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                             "%s: line %" PRIu64 ": %zu field%s, but the %s has %zu\npass --ragged "
                             "pad or --ragged skip; or --delimiter if it is not '%c'",
                             name, line, fault->fields, fault->fields == 1 ? "" : "s",
                             reader->no_header ? "first record" : "header", reader->column_count,
                             reader->dialect.delimiter);
    case ALD__CSV_FAULT_AFTER_QUOTE:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                             "%s: line %" PRIu64 ": text after a closing quote\ninside a quoted "
                             "field a quote is written twice; pass --quote if it is another "
                             "character",
                             name, line);
    case ALD__CSV_FAULT_UNCLOSED:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                             "%s: line %" PRIu64 ": the quote that opens here never closes\nclose "
                             "it, or pass --quote if quotes are another character",
                             name, line);
    case ALD__CSV_FAULT_NUL:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, fault->offset,
                             "%s: line %" PRIu64 ": a NUL byte\nthis is no text file, or it is "
                             "damaged; UTF-16 needs --encoding utf-16",
                             name, line);
    case ALD__CSV_FAULT_FIELD_SIZE:
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, fault->offset,
                             "%s: line %" PRIu64 ": a field of more than %" PRIu64
                             " bytes\npass --max-field-bytes for longer ones",
                             name, line, reader->dialect.max_field_bytes);
    case ALD__CSV_FAULT_NULL:
        column = &reader->columns[fault->fields].name;
        return ald_error_set(
            err, ALD_E_INVALID_FORMAT, fault->offset,
            "%s: line %" PRIu64 ", column '%.*s': null, but the schema says not null", name, line,
            shown_size(column->data, column->size, COLUMN_SHOWN), column->data);
    default:
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, fault->offset,
                             "%s: line %" PRIu64 ": a record of more than 2 GiB", name, line);
    }
}

ald_status ald__csv_fault_error(ald__csv_reader *reader, const ald__csv_fault *fault,
                                ald_error *err)
{
    uint64_t line = 0;
    ald_status st =
        ald__csv_lines_of(&reader->source, &reader->alloc, &fault->offset, 1, &line, err);
    if (st != ALD_OK)
        return st;
    if (fault->kind == ALD__CSV_FAULT_VALUE)
        return value_error(reader, fault, line, err);
    if (fault->kind == ALD__CSV_FAULT_UTF8)
        return utf8_error(reader, fault, line, err);
    return plain_error(reader, fault, line, err);
}

ald_status ald__csv_progress(ald__csv_reader *reader, uint64_t done, ald_error *err)
{
    reader->done_bytes = done;
    if (reader->text.progress == NULL ||
        reader->text.progress(reader->text.note_ctx, done, 2 * reader->source.size_bytes) == 0)
        return ALD_OK;
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cancelled");
}

void ald__csv_run(const ald__csv_reader *reader, uint32_t count,
                  void (*task)(void *arg, uint32_t index), void *arg)
{
    if (count > 1 && reader->host.run_tasks != NULL) {
        reader->host.run_tasks(reader->host.ctx, count, task, arg);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(arg, i);
}
