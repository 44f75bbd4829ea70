/* SPDX-License-Identifier: MIT */
/* Types as pyarrow prints them. It escapes nothing, so a name with ": " or ">" in it can be printed, not always read back;
 * and it does not say whether a map's value is nullable. */
#include "core/arrow/type_text.h"

#include <string.h>

#include "ald/schema.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/type.h"
#include "core/base/buf.h"
#include "core/base/fail.h"
#include "core/base/format.h"

const ald__type_word ald__type_words[] = {
    {"null", "n", ALD__SYNTAX_PLAIN, 0},
    {"bool", "b", ALD__SYNTAX_PLAIN, 0},
    {"int8", "c", ALD__SYNTAX_PLAIN, 0},
    {"uint8", "C", ALD__SYNTAX_PLAIN, 0},
    {"int16", "s", ALD__SYNTAX_PLAIN, 0},
    {"uint16", "S", ALD__SYNTAX_PLAIN, 0},
    {"int32", "i", ALD__SYNTAX_PLAIN, 0},
    {"uint32", "I", ALD__SYNTAX_PLAIN, 0},
    {"int64", "l", ALD__SYNTAX_PLAIN, 0},
    {"uint64", "L", ALD__SYNTAX_PLAIN, 0},
    {"halffloat", "e", ALD__SYNTAX_PLAIN, 0},
    {"float", "f", ALD__SYNTAX_PLAIN, 0},
    {"double", "g", ALD__SYNTAX_PLAIN, 0},
    {"string", "u", ALD__SYNTAX_PLAIN, 0},
    {"large_string", "U", ALD__SYNTAX_PLAIN, 0},
    {"string_view", "vu", ALD__SYNTAX_PLAIN, 0},
    {"binary", "z", ALD__SYNTAX_PLAIN, 0},
    {"large_binary", "Z", ALD__SYNTAX_PLAIN, 0},
    {"binary_view", "vz", ALD__SYNTAX_PLAIN, 0},
    {"date32[day]", "tdD", ALD__SYNTAX_PLAIN, 0},
    {"date64[ms]", "tdm", ALD__SYNTAX_PLAIN, 0},
    {"month_interval", "tiM", ALD__SYNTAX_PLAIN, 0},
    {"day_time_interval", "tiD", ALD__SYNTAX_PLAIN, 0},
    {"month_day_nano_interval", "tin", ALD__SYNTAX_PLAIN, 0},
    {"time32", "tt", ALD__SYNTAX_UNIT, 0},
    {"time64", "tt", ALD__SYNTAX_UNIT, 0},
    {"timestamp", "ts", ALD__SYNTAX_UNIT, 0},
    {"duration", "tD", ALD__SYNTAX_UNIT, 0},
    {"fixed_size_binary", "w:", ALD__SYNTAX_WIDTH, 0},
    {"decimal32", "d:", ALD__SYNTAX_DECIMAL, 0},
    {"decimal64", "d:", ALD__SYNTAX_DECIMAL, 0},
    {"decimal128", "d:", ALD__SYNTAX_DECIMAL, 0},
    {"decimal256", "d:", ALD__SYNTAX_DECIMAL, 0},
    {"list", "+l", ALD__SYNTAX_LIST, 0},
    {"large_list", "+L", ALD__SYNTAX_LIST, 0},
    {"list_view", "+vl", ALD__SYNTAX_LIST, 0},
    {"large_list_view", "+vL", ALD__SYNTAX_LIST, 0},
    {"fixed_size_list", "+w:", ALD__SYNTAX_FIXED_LIST, 0},
    {"struct", "+s", ALD__SYNTAX_STRUCT, 0},
    {"map", "+m", ALD__SYNTAX_MAP, 0},
    {"sparse_union", "+us:", ALD__SYNTAX_UNION, 0},
    {"dense_union", "+ud:", ALD__SYNTAX_UNION, 0},
    {"run_end_encoded", "+r", ALD__SYNTAX_RUN_END, 0},
    {"dictionary", "", ALD__SYNTAX_DICTIONARY, 0},
    {"boolean", "b", ALD__SYNTAX_PLAIN, 1},
    {"int", "l", ALD__SYNTAX_PLAIN, 1},
    {"float16", "e", ALD__SYNTAX_PLAIN, 1},
    {"float32", "f", ALD__SYNTAX_PLAIN, 1},
    {"float64", "g", ALD__SYNTAX_PLAIN, 1},
    {"utf8", "u", ALD__SYNTAX_PLAIN, 1},
    {"large_utf8", "U", ALD__SYNTAX_PLAIN, 1},
    {"utf8_view", "vu", ALD__SYNTAX_PLAIN, 1},
    {"date32", "tdD", ALD__SYNTAX_PLAIN, 1},
    {"date64", "tdm", ALD__SYNTAX_PLAIN, 1},
    {"decimal", "d:", ALD__SYNTAX_DECIMAL, 1},
};

const size_t ald__type_word_count = sizeof ald__type_words / sizeof ald__type_words[0];

/* Text goes to a buffer, or into a fixed array, where it is cut. */
typedef struct type_text {
    ald_buffer *buffer; /* or NULL */
    char *fixed;
    size_t fixed_left;
    ald_error *err;
    ald_status status;
} type_text;

static void type_put_bytes(type_text *out, const char *text, size_t size)
{
    if (out->status != ALD_OK)
        return;
    if (out->buffer != NULL) {
        out->status = ald__buffer_append(out->buffer, text, size, out->err);
        return;
    }
    if (size > out->fixed_left)
        size = out->fixed_left;
    memcpy(out->fixed, text, size);
    out->fixed += size;
    out->fixed_left -= size;
}

static void type_put(type_text *out, const char *text)
{
    type_put_bytes(out, text, strlen(text));
}

static void type_put_int(type_text *out, int32_t value)
{
    char digits[16];
    type_put_bytes(out, digits, ald__format(digits, sizeof digits, "%d", value));
}

static void type_put_type(type_text *out, const struct ArrowSchema *field, unsigned depth);

static const char *type_word(const ald__type *type, const char *format)
{
    size_t width = type->id == ALD__DECIMAL || type->id == ALD__TIME64 ? 1 : 0;
    for (size_t i = 0; i < ald__type_word_count; i++) {
        const ald__type_word *w = &ald__type_words[i];
        size_t size = strlen(w->format);
        int whole = w->syntax == ALD__SYNTAX_PLAIN || w->syntax == ALD__SYNTAX_LIST ||
                    w->syntax == ALD__SYNTAX_STRUCT || w->syntax == ALD__SYNTAX_MAP ||
                    w->syntax == ALD__SYNTAX_RUN_END;
        if (w->alias || size == 0 || strlen(format) < size ||
            memcmp(format, w->format, size) != 0 || (whole && format[size] != '\0'))
            continue;
        if (width == 0)
            return w->word;
        /* Words that differ only in their width share a format. */
        return type->id == ALD__TIME64  ? "time64"
               : type->bit_width == 32  ? "decimal32"
               : type->bit_width == 64  ? "decimal64"
               : type->bit_width == 128 ? "decimal128"
                                        : "decimal256";
    }
    return "?";
}

static const char *type_unit_name(ald__time_unit unit)
{
    static const char *const names[] = {"s", "ms", "us", "ns"};
    return names[unit];
}

static void type_put_field(type_text *out, const struct ArrowSchema *field, unsigned depth)
{
    type_put(out, ald__schema_name(field));
    type_put(out, ": ");
    type_put_type(out, field, depth);
    if ((field->flags & ARROW_FLAG_NULLABLE) == 0)
        type_put(out, " not null");
}

static void type_put_fields(type_text *out, const struct ArrowSchema *field, unsigned depth)
{
    type_put(out, "<");
    for (int64_t i = 0; i < field->n_children && out->status == ALD_OK; i++) {
        type_put(out, i > 0 ? ", " : "");
        type_put_field(out, field->children[i], depth);
    }
    type_put(out, ">");
}

static void type_put_union(type_text *out, const struct ArrowSchema *field, unsigned depth)
{
    int8_t ids[128];
    if (out->status == ALD_OK)
        out->status = ald__type_union_ids(field, ids, out->err);
    type_put(out, "<");
    for (int64_t i = 0; i < field->n_children && out->status == ALD_OK; i++) {
        type_put(out, i > 0 ? ", " : "");
        type_put_field(out, field->children[i], depth);
        type_put(out, "=");
        type_put_int(out, ids[i]);
    }
    type_put(out, ">");
}

/* A name is printed where it is not the usual one. */
static void type_put_odd_name(type_text *out, const struct ArrowSchema *field, const char *usual)
{
    const char *name = ald__schema_name(field);
    size_t size = strlen(usual);
    if (strlen(name) == size && memcmp(name, usual, size) == 0)
        return;
    type_put(out, " ('");
    type_put(out, name);
    type_put(out, "')");
}

static void type_put_map(type_text *out, const struct ArrowSchema *field, unsigned depth)
{
    const struct ArrowSchema *entries = field->children[0];
    type_put(out, "<");
    type_put_type(out, entries->children[0], depth);
    type_put_odd_name(out, entries->children[0], "key");
    type_put(out, ", ");
    type_put_type(out, entries->children[1], depth);
    type_put_odd_name(out, entries->children[1], "value");
    if ((field->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0)
        type_put(out, ", keys_sorted");
    type_put_odd_name(out, entries, "entries");
    type_put(out, ">");
}

static void type_put_unit(type_text *out, const ald__type *type)
{
    type_put(out, "[");
    type_put(out, type_unit_name(type->unit));
    if (type->zone[0] != '\0') {
        type_put(out, ", tz=");
        type_put(out, type->zone);
    }
    type_put(out, "]");
}

static void type_put_dictionary(type_text *out, const struct ArrowSchema *field, unsigned depth)
{
    struct ArrowSchema index = *field;
    index.dictionary = NULL;
    type_put(out, "dictionary<values=");
    type_put_type(out, field->dictionary, depth);
    type_put(out, ", indices=");
    type_put_type(out, &index, depth);
    type_put(out,
             (field->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0 ? ", ordered=1>" : ", ordered=0>");
}

static void type_put_parameters(type_text *out, const ald__type *type,
                                const struct ArrowSchema *field, unsigned depth)
{
    switch (type->id) {
    case ALD__TIME32:
    case ALD__TIME64:
    case ALD__TIMESTAMP:
    case ALD__DURATION:
        type_put_unit(out, type);
        break;
    case ALD__DECIMAL:
        type_put(out, "(");
        type_put_int(out, type->precision);
        type_put(out, ", ");
        type_put_int(out, type->scale);
        type_put(out, ")");
        break;
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        type_put_union(out, field, depth);
        break;
    case ALD__MAP:
        type_put_map(out, field, depth);
        break;
    case ALD__RUN_END:
        type_put(out, "<run_ends: ");
        type_put_type(out, field->children[0], depth);
        type_put(out, ", values: ");
        type_put_type(out, field->children[1], depth);
        type_put(out, ">");
        break;
    default:
        if (type->id == ALD__STRUCT || field->n_children > 0)
            type_put_fields(out, field, depth);
        if (type->id == ALD__FIXED_BINARY || type->id == ALD__FIXED_LIST) {
            type_put(out, "[");
            type_put_int(out, type->id == ALD__FIXED_LIST ? type->list_size : type->byte_width);
            type_put(out, "]");
        }
    }
}

/* Depth counts dictionaries too, which no schema nests as deep as its types. */
static void type_put_type(type_text *out, const struct ArrowSchema *field, unsigned depth)
{
    ald__type type;
    if (out->status == ALD_OK && depth >= 2 * ALD__MAX_TYPE_DEPTH)
        out->status = ald__fail(out->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                "column '%s': types nest too deep", ald__schema_name(field));
    if (out->status == ALD_OK)
        out->status = ald__type_of(field, &type, out->err);
    if (out->status != ALD_OK)
        return;
    if (field->dictionary != NULL) {
        type_put_dictionary(out, field, depth + 1);
        return;
    }
    type_put(out, type_word(&type, field->format));
    type_put_parameters(out, &type, field, depth + 1);
}

ald_status ald_type_format(const struct ArrowSchema *field, ald_buffer *buffer, ald_error *err)
{
    type_text out = {buffer, NULL, 0, err, ALD_OK};
    size_t before = buffer->size;
    type_put_type(&out, field, 0);
    if (out.status != ALD_OK)
        buffer->size = before;
    return out.status;
}

void ald__type_print(const struct ArrowSchema *field, char *text, size_t cap)
{
    type_text out = {NULL, text, cap - 1, NULL, ALD_OK};
    type_put_type(&out, field, 0);
    if (out.status != ALD_OK) {
        out.status = ALD_OK;
        type_put_bytes(&out, "?", 1);
    }
    *out.fixed = '\0';
}
