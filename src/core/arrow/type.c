/* SPDX-License-Identifier: MIT */
/* The C data interface's format strings: the only place that knows their letters. */
#include "core/arrow/type.h"

#include <string.h>

#include "core/base/fail.h"

typedef struct fixed_format {
    char text[4];
    uint8_t id, unit, bit_width, buffer_count, has_validity;
} fixed_format;

#define MAX_UNION_CHILDREN 127

/* Formats without parameters. The unit is meant only where the type has one. */
static const fixed_format fixed_formats[] = {
    {"n", ALD__NULL, 0, 0, 0, 0},
    {"b", ALD__BOOL, 0, 1, 2, 1},
    {"c", ALD__INT8, 0, 8, 2, 1},
    {"C", ALD__UINT8, 0, 8, 2, 1},
    {"s", ALD__INT16, 0, 16, 2, 1},
    {"S", ALD__UINT16, 0, 16, 2, 1},
    {"i", ALD__INT32, 0, 32, 2, 1},
    {"I", ALD__UINT32, 0, 32, 2, 1},
    {"l", ALD__INT64, 0, 64, 2, 1},
    {"L", ALD__UINT64, 0, 64, 2, 1},
    {"e", ALD__FLOAT16, 0, 16, 2, 1},
    {"f", ALD__FLOAT32, 0, 32, 2, 1},
    {"g", ALD__FLOAT64, 0, 64, 2, 1},
    {"z", ALD__BINARY, 0, 0, 3, 1},
    {"Z", ALD__LARGE_BINARY, 0, 0, 3, 1},
    {"vz", ALD__BINARY_VIEW, 0, 128, 2, 1},
    {"u", ALD__UTF8, 0, 0, 3, 1},
    {"U", ALD__LARGE_UTF8, 0, 0, 3, 1},
    {"vu", ALD__UTF8_VIEW, 0, 128, 2, 1},
    {"tdD", ALD__DATE32, 0, 32, 2, 1},
    {"tdm", ALD__DATE64, ALD__MILLI, 64, 2, 1},
    {"tts", ALD__TIME32, ALD__SECOND, 32, 2, 1},
    {"ttm", ALD__TIME32, ALD__MILLI, 32, 2, 1},
    {"ttu", ALD__TIME64, ALD__MICRO, 64, 2, 1},
    {"ttn", ALD__TIME64, ALD__NANO, 64, 2, 1},
    {"tDs", ALD__DURATION, ALD__SECOND, 64, 2, 1},
    {"tDm", ALD__DURATION, ALD__MILLI, 64, 2, 1},
    {"tDu", ALD__DURATION, ALD__MICRO, 64, 2, 1},
    {"tDn", ALD__DURATION, ALD__NANO, 64, 2, 1},
    {"tiM", ALD__INTERVAL_MONTHS, 0, 32, 2, 1},
    {"tiD", ALD__INTERVAL_DAY_TIME, 0, 64, 2, 1},
    {"tin", ALD__INTERVAL_MONTH_DAY_NANO, 0, 128, 2, 1},
    {"+l", ALD__LIST, 0, 0, 2, 1},
    {"+L", ALD__LARGE_LIST, 0, 0, 2, 1},
    {"+vl", ALD__LIST_VIEW, 0, 0, 3, 1},
    {"+vL", ALD__LARGE_LIST_VIEW, 0, 0, 3, 1},
    {"+s", ALD__STRUCT, 0, 0, 1, 1},
    {"+m", ALD__MAP, 0, 0, 2, 1},
    {"+r", ALD__RUN_END, 0, 0, 0, 0},
};

static int format_starts(const char *text, const char *start)
{
    while (*start != '\0') {
        if (*text++ != *start++)
            return 0;
    }
    return 1;
}

static ald_status bad_format(const struct ArrowSchema *field, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                     "column '%s': '%s' is no Arrow format string",
                     field->name != NULL ? field->name : "", field->format);
}

/* A decimal number at *text, which moves behind it. Nonzero when there is one that fits. */
static int format_take_int(const char **text, int32_t *out)
{
    const char *p = *text;
    int negative = *p == '-';
    int64_t value = 0;
    p += negative;
    if (*p < '0' || *p > '9')
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (*p - '0');
        if (value > INT32_MAX)
            return 0;
    }
    *out = (int32_t)(negative ? -value : value);
    *text = p;
    return 1;
}

/* "precision,scale" or "precision,scale,bits" */
static int parse_decimal(const char *p, ald__type *out)
{
    int32_t bits = 128, max;
    if (!format_take_int(&p, &out->precision) || *p++ != ',' || !format_take_int(&p, &out->scale))
        return 0;
    if (*p == ',') {
        p++;
        if (!format_take_int(&p, &bits))
            return 0;
    }
    max = bits == 32 ? 9 : bits == 64 ? 18 : bits == 128 ? 38 : bits == 256 ? 76 : 0;
    if (*p != '\0' || out->precision < 1 || out->precision > max)
        return 0;
    out->id = ALD__DECIMAL;
    out->byte_width = bits / 8;
    out->bit_width = (uint32_t)bits;
    out->buffer_count = 2;
    out->has_validity = 1;
    return 1;
}

static int parse_timestamp(const char *p, ald__type *out)
{
    static const char units[] = "smun";
    size_t unit = 0;
    while (units[unit] != '\0' && units[unit] != p[0])
        unit++;
    if (units[unit] == '\0' || p[1] != ':')
        return 0;
    out->id = ALD__TIMESTAMP;
    out->unit = (ald__time_unit)unit;
    out->zone = p + 2;
    out->bit_width = 64;
    out->buffer_count = 2;
    out->has_validity = 1;
    return 1;
}

static int parse_fixed_binary(const char *p, ald__type *out)
{
    if (!format_take_int(&p, &out->byte_width) || *p != '\0' || out->byte_width < 0)
        return 0;
    out->id = ALD__FIXED_BINARY;
    /* bit_width has 32 bits; wider values would be legal, and of no use. */
    if ((uint32_t)out->byte_width > UINT32_MAX / 8)
        return 0;
    out->bit_width = (uint32_t)out->byte_width * 8;
    out->buffer_count = 2;
    out->has_validity = 1;
    return 1;
}

static int parse_fixed_list(const char *p, ald__type *out)
{
    if (!format_take_int(&p, &out->list_size) || *p != '\0' || out->list_size < 0)
        return 0;
    out->id = ALD__FIXED_LIST;
    out->buffer_count = 1;
    out->has_validity = 1;
    return 1;
}

static int parse_format(const char *format, ald__type *out)
{
    for (size_t i = 0; i < sizeof fixed_formats / sizeof fixed_formats[0]; i++) {
        const fixed_format *f = &fixed_formats[i];
        if (format_starts(format, f->text) && format[strlen(f->text)] == '\0') {
            out->id = (ald__type_id)f->id;
            out->unit = (ald__time_unit)f->unit;
            out->bit_width = f->bit_width;
            out->buffer_count = f->buffer_count;
            out->has_validity = f->has_validity;
            return 1;
        }
    }
    if (format_starts(format, "ts"))
        return parse_timestamp(format + 2, out);
    if (format_starts(format, "d:"))
        return parse_decimal(format + 2, out);
    if (format_starts(format, "w:"))
        return parse_fixed_binary(format + 2, out);
    if (format_starts(format, "+w:"))
        return parse_fixed_list(format + 3, out);
    if (format_starts(format, "+us:") || format_starts(format, "+ud:")) {
        int dense = format[2] == 'd';
        out->id = dense ? ALD__DENSE_UNION : ALD__SPARSE_UNION;
        out->type_ids = format + 4;
        out->buffer_count = dense ? 2 : 1;
        return 1;
    }
    return 0;
}

static int is_integer(ald__type_id id)
{
    return id >= ALD__INT8 && id <= ALD__UINT64;
}

static int format_is(const struct ArrowSchema *field, const char *format)
{
    return field->format != NULL && format_starts(field->format, format) &&
           field->format[strlen(format)] == '\0';
}

static int is_run_end(const struct ArrowSchema *child)
{
    return child->dictionary == NULL &&
           (format_is(child, "s") || format_is(child, "i") || format_is(child, "l"));
}

/* Wrong number or kind of children: what is wrong with them, else NULL. */
static const char *wrong_children(const struct ArrowSchema *field, const ald__type *type)
{
    int64_t n = field->n_children;
    if (n < 0 || (n > 0 && field->children == NULL))
        return "bad child count";
    for (int64_t i = 0; i < n; i++) {
        if (field->children[i] == NULL || field->children[i]->release == NULL)
            return "a child is missing";
    }
    switch (type->id) {
    case ALD__STRUCT:
        return NULL;
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return n > MAX_UNION_CHILDREN ? "a union has at most 127 children" : NULL;
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
    case ALD__FIXED_LIST:
        return n != 1 ? "a list has one child" : NULL;
    case ALD__MAP:
        if (n != 1 || field->children[0]->n_children != 2 || !format_is(field->children[0], "+s"))
            return "a map has one struct child of two fields";
        return NULL;
    case ALD__RUN_END:
        if (n != 2 || !is_run_end(field->children[0]))
            return "run-end encoding has two children, the first int16, int32 or int64";
        return NULL;
    default:
        return n != 0 ? "this type has no children" : NULL;
    }
}

ald_status ald__type_of(const struct ArrowSchema *field, ald__type *out, ald_error *err)
{
    const char *wrong;
    memset(out, 0, sizeof *out);
    out->zone = "";
    out->type_ids = "";
    if (field->release == NULL || field->format == NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the schema is a released one");
    if (!parse_format(field->format, out))
        return bad_format(field, err);
    wrong = wrong_children(field, out);
    if (wrong == NULL && field->dictionary != NULL) {
        if (!is_integer(out->id))
            wrong = "dictionary indices are integers";
        else if (field->dictionary->release == NULL)
            wrong = "the dictionary's type is missing";
    }
    if (wrong != NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "column '%s' ('%s'): %s",
                         field->name != NULL ? field->name : "", field->format, wrong);
    return ALD_OK;
}

ald_status ald__type_union_ids(const struct ArrowSchema *field, int8_t ids[128], ald_error *err)
{
    uint8_t seen[128] = {0};
    const char *p = field->format + 4;
    int64_t count = 0;
    int32_t id;
    if (field->n_children > MAX_UNION_CHILDREN)
        return bad_format(field, err);
    while (*p != '\0') {
        if ((count > 0 && *p++ != ',') || count >= field->n_children || !format_take_int(&p, &id) ||
            id < 0 || id > 127 || seen[id])
            return bad_format(field, err);
        seen[id] = 1;
        ids[count++] = (int8_t)id;
    }
    if (count != field->n_children)
        return bad_format(field, err);
    return ALD_OK;
}
