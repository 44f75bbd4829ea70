/* SPDX-License-Identifier: MIT */
/* Knows how the profiles become the stream's schema, and which of that a person should be told. */
#include <inttypes.h>

#include "interchange/csv/reader.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"

#define MOST_TYPE_NOTES 20
#define NOTE_TEXT_SHOWN 36
#define NOTE_NAME_SHOWN 36

typedef struct type_note {
    ald__text_type type;
    uint64_t line;
    size_t column;
} type_note;

static void note(const ald__csv_reader *reader, const ald_error *text)
{
    reader->text.note(reader->text.note_ctx, text->msg);
}

/* What the column would be without the values that are text. */
static const char *other_kind(const ald__csv_reader *reader, size_t column)
{
    ald__profile rest = reader->columns[column].bare;
    rest.count[ALD__TOKEN_TEXT] = 0;
    return ald__text_kind_name(ald__profile_resolve(&rest).kind);
}

static int other_is_text(const ald__csv_reader *reader, size_t column)
{
    ald__profile rest = reader->columns[column].bare;
    rest.count[ALD__TOKEN_TEXT] = 0;
    return ald__profile_resolve(&rest).kind == ALD__KIND_STRING;
}

/* The text of the field at `at`, up to what is shown; its quotes are not known here, so it ends at the first of anything
 * that may end it. */
static ald_status field_text(ald__csv_reader *reader, uint64_t at, char *out, int *size,
                             ald_error *err)
{
    uint64_t left = reader->source.size_bytes - at;
    size_t n = left < NOTE_TEXT_SHOWN ? (size_t)left : NOTE_TEXT_SHOWN, i = 0;
    ald_status st = reader->source.read_at(reader->source.ctx, at, out, n, err);
    if (st != ALD_OK)
        return st;
    while (i < n && (uint8_t)out[i] != reader->dialect.delimiter && out[i] != '\n' &&
           out[i] != '\r' && (uint8_t)out[i] != reader->dialect.quote)
        i++;
    while (i == n && i > 0 && left > n && ((uint8_t)out[i - 1] & 0xC0) == 0x80)
        i = --n; /* a sequence may be cut */
    *size = (int)i;
    return ALD_OK;
}

static ald_status tell_type(ald__csv_reader *reader, const type_note *n, ald_error *err)
{
    const ald__csv_text *name = &reader->columns[n->column].name;
    const char *kind = ald__text_kind_name(n->type.kind);
    int shown = name->size < NOTE_NAME_SHOWN ? (int)name->size : NOTE_NAME_SHOWN, size = 0;
    char text[NOTE_TEXT_SHOWN];
    ald_error line;
    ald_status st = field_text(reader, n->type.culprit, text, &size, err);
    if (st != ALD_OK)
        return st;
    if (n->type.kind == ALD__KIND_STAMP)
        (void)ald_error_set(&line, ALD_OK, 0,
                            "column '%.*s' has several offsets from UTC (line %" PRIu64
                            ": '%.*s'): kept as the same instants in UTC",
                            shown, name->data, n->line, size, text);
    else if (n->type.kind == ALD__KIND_DECIMAL)
        (void)ald_error_set(&line, ALD_OK, 0,
                            "column '%.*s' is decimal: line %" PRIu64
                            " has '%.*s', more than a float64 or 64 bits hold; --types "
                            "%.*s:float64 rounds it",
                            shown, name->data, n->line, size, text, shown, name->data);
    else if (n->type.kind == ALD__KIND_STRING && other_is_text(reader, n->column))
        (void)ald_error_set(&line, ALD_OK, 0,
                            "column '%.*s' is string: line %" PRIu64
                            " has '%.*s', which fits no type of the other values",
                            shown, name->data, n->line, size, text);
    else if (ald__csv_is_number_like(text, (size_t)size))
        (void)ald_error_set(&line, ALD_OK, 0,
                            "column '%.*s' is %s: line %" PRIu64
                            " has '%.*s' (others: %s); --types %.*s:%s takes it as it is, --types "
                            "%.*s:%s refuses it",
                            shown, name->data, kind, n->line, size, text,
                            other_kind(reader, n->column), shown, name->data, kind, shown,
                            name->data, other_kind(reader, n->column));
    else
        (void)ald_error_set(&line, ALD_OK, 0,
                            "column '%.*s' is %s: line %" PRIu64
                            " has '%.*s' (others: %s); --null '%.*s'%s reads that as null, --types "
                            "%.*s:%s refuses it",
                            shown, name->data, kind, n->line, size, text,
                            other_kind(reader, n->column), size, text,
                            ald__csv_has_empty_nulls(reader) ? " --null ''" : "", shown, name->data,
                            other_kind(reader, n->column));
    note(reader, &line);
    return ALD_OK;
}

/* By place, so that the file is gone through once. */
static void sort_notes(type_note *notes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        type_note n = notes[i];
        size_t j = i;
        for (; j > 0 && notes[j - 1].type.culprit > n.type.culprit; j--)
            notes[j] = notes[j - 1];
        notes[j] = n;
    }
}

static ald_status tell_types(ald__csv_reader *reader, type_note *notes, size_t count, size_t unsaid,
                             ald_error *err)
{
    uint64_t offsets[MOST_TYPE_NOTES], lines[MOST_TYPE_NOTES];
    ald_error line;
    ald_status st;
    sort_notes(notes, count);
    for (size_t i = 0; i < count; i++)
        offsets[i] = notes[i].type.culprit;
    st = ald__csv_lines_of(&reader->source, &reader->alloc, offsets, count, lines, err);
    for (size_t i = 0; i < count && st == ALD_OK; i++) {
        notes[i].line = lines[i];
        st = tell_type(reader, &notes[i], err);
    }
    if (st == ALD_OK && unsaid > 0) {
        (void)ald_error_set(&line, ALD_OK, 0, "the same goes for %zu more columns", unsaid);
        note(reader, &line);
    }
    return st;
}

static int worth_telling(const ald__csv_column *column, const ald__text_type *type)
{
    if (type->culprit == ALD__NEVER || column->many_text)
        return 0;
    return type->kind == ALD__KIND_DECIMAL || type->kind == ALD__KIND_STAMP || type->few;
}

static void tell_ragged(const ald__csv_reader *reader)
{
    ald_error line;
    if (reader->padded > 0)
        (void)ald_error_set(&line, ALD_OK, 0,
                            "%" PRIu64 " record%s had too few or too many fields: padded with null "
                            "or cut to %zu columns",
                            reader->padded, reader->padded == 1 ? "" : "s", reader->column_count);
    else
        (void)ald_error_set(&line, ALD_OK, 0,
                            "%" PRIu64 " record%s had too few or too many fields: skipped",
                            reader->skipped, reader->skipped == 1 ? "" : "s");
    note(reader, &line);
}

ald_status ald__csv_resolve_types(ald__csv_reader *reader, ald_error *err)
{
    for (size_t c = 0; c < reader->column_count; c++) {
        const ald__csv_column *column = &reader->columns[c];
        struct ArrowSchema *field = reader->fields.children[c];
        char format[ALD__FORMAT_BYTES];
        ald__text_type type;
        ald_status st;
        if (column->declared)
            continue;
        if (field->release != NULL)
            field->release(field);
        type = ald__profile_resolve(&column->bare);
        ald__text_type_format(&type, format);
        st = ald__field_new(&reader->alloc, column->name.data, column->name.size, format, 1, 0,
                            field, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

ald_status ald__csv_tell(ald__csv_reader *reader, ald_error *err)
{
    type_note notes[MOST_TYPE_NOTES];
    size_t count = 0, unsaid = 0;
    if (reader->text.note == NULL)
        return ALD_OK;
    for (size_t c = 0; c < reader->column_count; c++) {
        const ald__csv_column *column = &reader->columns[c];
        ald__text_type type;
        if (column->declared)
            continue;
        type = ald__profile_resolve(&column->bare);
        if (!worth_telling(column, &type))
            continue;
        if (count == MOST_TYPE_NOTES)
            unsaid++;
        else
            notes[count++] = (type_note){type, 0, c};
    }
    if (reader->padded + reader->skipped > 0)
        tell_ragged(reader);
    return count == 0 ? ALD_OK : tell_types(reader, notes, count, unsaid, err);
}
