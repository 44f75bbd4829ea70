/* SPDX-License-Identifier: MIT */
/* Types from text, by recursive descent. What stands before ": " is a name, whatever is in it; in a list the name may be
 * left out, so there a word that is a type's and is not followed by a colon is the type. */
#include <string.h>

#include "ald/schema.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/type.h"
#include "core/arrow/type_text.h"
#include "core/base/buf.h"
#include "core/base/fail.h"
#include "core/base/format.h"

typedef struct type_parser {
    const ald_allocator *alloc;
    const char *text;
    size_t size, at;
    ald_error *err;
} type_parser;

/* Fields read so far, to be moved into their parent once their number is known. */
typedef struct type_fields {
    ald_buffer list;   /* struct ArrowSchema */
    ald_buffer format; /* unions: NUL-terminated */
} type_fields;

static ald_status parse_type(type_parser *p, unsigned depth, struct ArrowSchema *out);

static ald_status parse_fail(const type_parser *p, const char *wanted)
{
    return ald__fail(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "type '%.*s': %s at character %zu",
                     p->size > 100 ? 100 : (int)p->size, p->text, wanted, p->at + 1);
}

static int parse_looking_at(const type_parser *p, const char *word)
{
    size_t size = strlen(word);
    return size <= p->size - p->at && memcmp(p->text + p->at, word, size) == 0;
}

static int parse_take(type_parser *p, const char *word)
{
    if (!parse_looking_at(p, word))
        return 0;
    p->at += strlen(word);
    return 1;
}

static void parse_blanks(type_parser *p)
{
    while (p->at < p->size && p->text[p->at] == ' ')
        p->at++;
}

static ald_status parse_expect(type_parser *p, const char *word)
{
    char wanted[64];
    parse_blanks(p);
    if (parse_take(p, word))
        return ALD_OK;
    (void)ald__format(wanted, sizeof wanted, "expected '%s'", word);
    return parse_fail(p, wanted);
}

static ald_status parse_number(type_parser *p, int32_t *out)
{
    int negative, digits = 0;
    int64_t value = 0;
    parse_blanks(p);
    negative = parse_take(p, "-");
    for (; p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9'; digits++, p->at++) {
        value = value * 10 + (p->text[p->at] - '0');
        if (value > INT32_MAX)
            return parse_fail(p, "number too large");
    }
    if (digits == 0)
        return parse_fail(p, "expected a number");
    *out = (int32_t)(negative ? -value : value);
    return ALD_OK;
}

static size_t word_size(const type_parser *p)
{
    size_t i = p->at;
    while (i < p->size && ((p->text[i] >= 'a' && p->text[i] <= 'z') || p->text[i] == '_' ||
                           (p->text[i] >= '0' && p->text[i] <= '9')))
        i++;
    return i - p->at;
}

/* The word at hand, the longest that fits (date32[day] before date32); NULL: none. */
static const ald__type_word *parse_find(const type_parser *p)
{
    size_t size = word_size(p), best = 0;
    const ald__type_word *found = NULL;
    for (size_t i = 0; i < ald__type_word_count; i++) {
        const ald__type_word *w = &ald__type_words[i];
        size_t n = strlen(w->word);
        if (n >= size && n > best && parse_looking_at(p, w->word)) {
            found = w;
            best = n;
        }
    }
    return found;
}

static ald_status new_node(const type_parser *p, const char *format, size_t children,
                           int has_dictionary, struct ArrowSchema *out)
{
    ald_status status = ald__schema_new(p->alloc, children, has_dictionary, out, p->err);
    if (status != ALD_OK)
        return status;
    status = ald__schema_set_format(out, format, strlen(format), p->err);
    if (status != ALD_OK)
        out->release(out);
    return status;
}

static ald_status parse_unit(type_parser *p, const ald__type_word *w, struct ArrowSchema *out)
{
    static const char *const units[] = {"ms", "us", "ns", "s"};
    char format[160];
    size_t unit = 0, zone = 0, zone_size = 0;
    int is_timestamp = w->format[1] == 's';
    ALD_TRY(parse_expect(p, "["));
    while (unit < 4 && !parse_looking_at(p, units[unit]))
        unit++;
    if (unit == 4 || (strlen(w->word) == 6 && (w->word[4] == '3') != (unit == 0 || unit == 3)))
        return parse_fail(p, w->word[0] == 't' && !is_timestamp ? "a unit that this type has not"
                                                                : "expected a unit, s ms us or ns");
    p->at += strlen(units[unit]);
    if (is_timestamp && parse_take(p, ",")) {
        ALD_TRY(parse_expect(p, "tz="));
        for (zone = p->at; p->at < p->size && p->text[p->at] != ']'; p->at++)
            zone_size++;
        if (zone_size == 0 || zone_size > 128)
            return parse_fail(p, "expected a time zone");
    }
    ALD_TRY(parse_expect(p, "]"));
    (void)ald__format(format, sizeof format, "%s%c%s%.*s", w->format, units[unit][0],
                      is_timestamp ? ":" : "", (int)zone_size, p->text + zone);
    return new_node(p, format, 0, 0, out);
}

static ald_status parse_width(type_parser *p, struct ArrowSchema *out)
{
    char format[32];
    int32_t width;
    ALD_TRY(parse_expect(p, "["));
    ALD_TRY(parse_number(p, &width));
    ALD_TRY(parse_expect(p, "]"));
    (void)ald__format(format, sizeof format, "w:%d", width);
    return new_node(p, format, 0, 0, out);
}

static ald_status parse_decimal_type(type_parser *p, const ald__type_word *w,
                                     struct ArrowSchema *out)
{
    const char *bits = w->word + strlen("decimal");
    char format[48];
    int32_t precision, scale;
    ALD_TRY(parse_expect(p, "("));
    ALD_TRY(parse_number(p, &precision));
    ALD_TRY(parse_expect(p, ","));
    ALD_TRY(parse_number(p, &scale));
    ALD_TRY(parse_expect(p, ")"));
    (void)ald__format(format, sizeof format, "d:%d,%d%s%s", precision, scale,
                      bits[0] == '\0' || bits[0] == '1' ? "" : ",", bits[0] == '1' ? "" : bits);
    return new_node(p, format, 0, 0, out);
}

static void fields_clear(type_fields *fields)
{
    struct ArrowSchema *list = (void *)fields->list.data;
    for (size_t i = 0; i < fields->list.size / sizeof *list; i++) {
        if (list[i].release != NULL)
            list[i].release(&list[i]);
    }
    ald_buffer_clear(&fields->list);
    ald_buffer_clear(&fields->format);
}

/* Takes the field over, also when this fails. */
static ald_status fields_add(const type_parser *p, type_fields *fields, struct ArrowSchema *field)
{
    ald_status status = ald__buffer_append(&fields->list, field, sizeof *field, p->err);
    if (status != ALD_OK)
        field->release(field);
    field->release = NULL;
    return status;
}

/* A node of this format that the fields move into. */
static ald_status fields_into(const type_parser *p, type_fields *fields, const char *format,
                              struct ArrowSchema *out)
{
    struct ArrowSchema *list = (void *)fields->list.data;
    size_t count = fields->list.size / sizeof *list;
    ALD_TRY(new_node(p, format, count, 0, out));
    for (size_t i = 0; i < count; i++)
        *out->children[i] = list[i];
    fields->list.size = 0;
    return ALD_OK;
}

/* "T", or "T not null", as a field of this name. */
static ald_status parse_value(type_parser *p, unsigned depth, const char *name, size_t name_size,
                              struct ArrowSchema *out)
{
    ald_status status;
    ALD_TRY(parse_type(p, depth, out));
    out->flags |= parse_take(p, " not null") ? 0 : ARROW_FLAG_NULLABLE;
    status = ald__schema_set_name(out, name, name_size, p->err);
    if (status != ALD_OK)
        out->release(out);
    return status;
}

/* "name: T" or "name: T not null". */
static ald_status parse_field(type_parser *p, unsigned depth, struct ArrowSchema *out)
{
    size_t name = p->at, name_size;
    while (p->at < p->size && !parse_looking_at(p, ": "))
        p->at++;
    name_size = p->at - name;
    if (p->at == p->size) {
        p->at = name;
        return parse_fail(p, "expected a name and ': '");
    }
    p->at += 2;
    return parse_value(p, depth, p->text + name, name_size, out);
}

static ald_status parse_item(type_parser *p, unsigned depth, struct ArrowSchema *out)
{
    const ald__type_word *w = parse_find(p);
    if (w != NULL && p->at + strlen(w->word) < p->size && p->text[p->at + strlen(w->word)] != ':')
        return parse_value(p, depth, "item", 4, out);
    return parse_field(p, depth, out);
}

static ald_status parse_list(type_parser *p, const ald__type_word *w, unsigned depth,
                             type_fields *fields, struct ArrowSchema *out)
{
    struct ArrowSchema item;
    char format[32];
    int32_t size;
    ALD_TRY(parse_expect(p, "<"));
    ALD_TRY(parse_item(p, depth, &item));
    ALD_TRY(fields_add(p, fields, &item));
    ALD_TRY(parse_expect(p, ">"));
    if (w->syntax == ALD__SYNTAX_LIST)
        return fields_into(p, fields, w->format, out);
    ALD_TRY(parse_expect(p, "["));
    ALD_TRY(parse_number(p, &size));
    ALD_TRY(parse_expect(p, "]"));
    (void)ald__format(format, sizeof format, "+w:%d", size);
    return fields_into(p, fields, format, out);
}

/* "=id" behind a union's field, added to the format. */
static ald_status parse_union_id(type_parser *p, type_fields *fields, size_t index)
{
    char text[16];
    int32_t id;
    size_t size;
    ALD_TRY(parse_expect(p, "="));
    ALD_TRY(parse_number(p, &id));
    if (id < 0 || id > 127 || index >= 127)
        return parse_fail(p, "a type id beyond 127");
    size = ald__format(text, sizeof text, "%s%d", index > 0 ? "," : "", id);
    return ald__buffer_append(&fields->format, text, size, p->err);
}

/* Fields of a struct or, with their ids in the format, of a union. */
static ald_status parse_fields(type_parser *p, const ald__type_word *w, unsigned depth,
                               type_fields *fields, struct ArrowSchema *out)
{
    struct ArrowSchema field;
    ALD_TRY(ald__buffer_append_text(&fields->format, w->format, p->err));
    ALD_TRY(parse_expect(p, "<"));
    while (!parse_take(p, ">")) {
        size_t count = fields->list.size / sizeof field;
        if (count > 0)
            ALD_TRY(parse_expect(p, ","));
        parse_blanks(p);
        ALD_TRY(parse_field(p, depth, &field));
        ALD_TRY(fields_add(p, fields, &field));
        parse_blanks(p);
        if (w->syntax == ALD__SYNTAX_UNION)
            ALD_TRY(parse_union_id(p, fields, count));
    }
    ALD_TRY(ald__buffer_append_zeros(&fields->format, 1, p->err));
    return fields_into(p, fields, (const char *)fields->format.data, out);
}

/* " ('name')" behind a type or, at the end of a map, behind all. */
static ald_status parse_odd_name(type_parser *p, struct ArrowSchema *field)
{
    size_t name;
    if (!parse_take(p, " ('"))
        return ALD_OK;
    for (name = p->at; !parse_looking_at(p, "')"); p->at++) {
        if (p->at == p->size)
            return parse_fail(p, "expected ')");
    }
    ALD_TRY(ald__schema_set_name(field, p->text + name, p->at - name, p->err));
    p->at += 2;
    return ALD_OK;
}

static ald_status parse_map_sides(type_parser *p, unsigned depth, struct ArrowSchema *entries)
{
    struct ArrowSchema *key = entries->children[0], *value = entries->children[1];
    ALD_TRY(parse_expect(p, "<"));
    ALD_TRY(parse_value(p, depth, "key", 3, key));
    key->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    ALD_TRY(parse_odd_name(p, key));
    ALD_TRY(parse_expect(p, ","));
    parse_blanks(p);
    ALD_TRY(parse_value(p, depth, "value", 5, value));
    return parse_odd_name(p, value);
}

static ald_status parse_map(type_parser *p, unsigned depth, struct ArrowSchema *out)
{
    struct ArrowSchema *entries;
    ald_status status;
    ALD_TRY(new_node(p, "+m", 1, 0, out));
    entries = out->children[0];
    status = new_node(p, "+s", 2, 0, entries);
    if (status == ALD_OK)
        status = ald__schema_set_name(entries, "entries", 7, p->err);
    if (status == ALD_OK)
        status = parse_map_sides(p, depth + 1, entries);
    if (status == ALD_OK && parse_take(p, ", keys_sorted"))
        out->flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    if (status == ALD_OK)
        status = parse_odd_name(p, entries);
    if (status == ALD_OK)
        status = parse_expect(p, ">");
    if (status != ALD_OK)
        out->release(out);
    return status;
}

static ald_status parse_run_end(type_parser *p, unsigned depth, type_fields *fields,
                                struct ArrowSchema *out)
{
    struct ArrowSchema child;
    ALD_TRY(parse_expect(p, "<"));
    ALD_TRY(parse_expect(p, "run_ends: "));
    ALD_TRY(parse_value(p, depth, "run_ends", 8, &child));
    child.flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    ALD_TRY(fields_add(p, fields, &child));
    ALD_TRY(parse_expect(p, ","));
    ALD_TRY(parse_expect(p, "values: "));
    ALD_TRY(parse_value(p, depth, "values", 6, &child));
    ALD_TRY(fields_add(p, fields, &child));
    ALD_TRY(parse_expect(p, ">"));
    return fields_into(p, fields, "+r", out);
}

static ald_status parse_dictionary(type_parser *p, unsigned depth, type_fields *fields,
                                   struct ArrowSchema *out)
{
    struct ArrowSchema field, *list;
    int32_t ordered = 0;
    ALD_TRY(parse_expect(p, "<"));
    ALD_TRY(parse_expect(p, "values="));
    ALD_TRY(parse_value(p, depth, "", 0, &field));
    ALD_TRY(fields_add(p, fields, &field));
    ALD_TRY(parse_expect(p, ","));
    ALD_TRY(parse_expect(p, "indices="));
    ALD_TRY(parse_value(p, depth, "", 0, &field));
    ALD_TRY(fields_add(p, fields, &field));
    parse_blanks(p);
    if (parse_take(p, ",")) {
        ALD_TRY(parse_expect(p, "ordered="));
        ALD_TRY(parse_number(p, &ordered));
    }
    ALD_TRY(parse_expect(p, ">"));
    list = (void *)fields->list.data;
    ALD_TRY(new_node(p, list[1].format, 0, 1, out));
    *out->dictionary = list[0];
    list[0].release = NULL;
    out->flags |= ordered != 0 ? ARROW_FLAG_DICTIONARY_ORDERED : 0;
    return ALD_OK;
}

static ald_status parse_word(type_parser *p, const ald__type_word *w, unsigned depth,
                             struct ArrowSchema *out)
{
    type_fields fields = {{NULL, 0, 0, p->alloc}, {NULL, 0, 0, p->alloc}};
    ald_status status;
    switch (w->syntax) {
    case ALD__SYNTAX_PLAIN:
        return new_node(p, w->format, 0, 0, out);
    case ALD__SYNTAX_UNIT:
        return parse_unit(p, w, out);
    case ALD__SYNTAX_WIDTH:
        return parse_width(p, out);
    case ALD__SYNTAX_DECIMAL:
        return parse_decimal_type(p, w, out);
    case ALD__SYNTAX_MAP:
        return parse_map(p, depth, out);
    case ALD__SYNTAX_STRUCT:
    case ALD__SYNTAX_UNION:
        status = parse_fields(p, w, depth, &fields, out);
        break;
    case ALD__SYNTAX_RUN_END:
        status = parse_run_end(p, depth, &fields, out);
        break;
    case ALD__SYNTAX_DICTIONARY:
        status = parse_dictionary(p, depth, &fields, out);
        break;
    default:
        status = parse_list(p, w, depth, &fields, out);
    }
    fields_clear(&fields);
    return status;
}

/* Not inlined: the array must not be in every frame of the descent. */
__attribute__((noinline)) static ald_status check_union(const struct ArrowSchema *type,
                                                        ald_error *err)
{
    int8_t ids[128];
    return ald__type_union_ids(type, ids, err);
}

/* Parses and checks one type; *out is released on failure. */
static ald_status parse_type(type_parser *p, unsigned depth, struct ArrowSchema *out)
{
    const ald__type_word *w = parse_find(p);
    ald__type type;
    ald_status status;
    memset(out, 0, sizeof *out);
    if (depth > ALD__MAX_TYPE_DEPTH)
        return ald__fail(p->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a type that nests deeper than %d levels", ALD__MAX_TYPE_DEPTH);
    if (w == NULL)
        return ald__fail(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "type '%.*s': no such type\ntypes are bool, int64 (8, 16, 32; uint64), "
                         "float64, string, binary, date32, time64[us], timestamp[us], "
                         "timestamp[us, tz=UTC], decimal128(10, 2), ...",
                         p->size - p->at > 40 ? 40 : (int)(p->size - p->at), p->text + p->at);
    p->at += strlen(w->word);
    status = parse_word(p, w, depth + 1, out);
    if (status != ALD_OK) {
        out->release = NULL;
        return status;
    }
    status = ald__type_of(out, &type, p->err);
    if (status == ALD_OK && w->syntax == ALD__SYNTAX_UNION)
        status = check_union(out, p->err);
    if (status != ALD_OK)
        out->release(out);
    return status;
}

ald_status ald_type_parse(const ald_host *host, const char *text, size_t text_size,
                          const char *name, int nullable, struct ArrowSchema *out, ald_error *err)
{
    type_parser p = {&host->alloc, text, text_size, 0, err};
    ald_status status;
    memset(out, 0, sizeof *out);
    parse_blanks(&p);
    status = parse_type(&p, 1, out);
    if (status != ALD_OK)
        return status;
    parse_blanks(&p);
    if (p.at < p.size)
        status = parse_fail(&p, "something behind the type");
    if (status == ALD_OK)
        status = ald__schema_set_name(out, name, strlen(name), err);
    if (status != ALD_OK)
        out->release(out);
    else
        out->flags |= nullable ? ARROW_FLAG_NULLABLE : 0;
    return status;
}
