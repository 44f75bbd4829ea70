/* SPDX-License-Identifier: MIT */
/* Format strings of the C data interface, and the tree of columns made from them. */
#include "interchange/format/column_view.h"
#include "interchange/format/string_text.h"

/* Types of one letter, in the order of their cells. */
static const struct {
    const char *format;
    ald__cell cell;
} plain_formats[] = {
    {"n", ALD__CELL_NULL},         {"b", ALD__CELL_BOOL},
    {"c", ALD__CELL_I8},           {"s", ALD__CELL_I16},
    {"i", ALD__CELL_I32},          {"l", ALD__CELL_I64},
    {"C", ALD__CELL_U8},           {"S", ALD__CELL_U16},
    {"I", ALD__CELL_U32},          {"L", ALD__CELL_U64},
    {"e", ALD__CELL_F16},          {"f", ALD__CELL_F32},
    {"g", ALD__CELL_F64},          {"z", ALD__CELL_BINARY},
    {"Z", ALD__CELL_LARGE_BINARY}, {"vz", ALD__CELL_BINARY_VIEW},
    {"u", ALD__CELL_UTF8},         {"U", ALD__CELL_LARGE_UTF8},
    {"vu", ALD__CELL_UTF8_VIEW},   {"tdD", ALD__CELL_DATE32},
    {"tdm", ALD__CELL_DATE64},     {"tiM", ALD__CELL_MONTHS},
    {"tiD", ALD__CELL_DAY_TIME},   {"tin", ALD__CELL_MONTH_DAY_NANO},
    {"+l", ALD__CELL_LIST},        {"+L", ALD__CELL_LARGE_LIST},
    {"+vl", ALD__CELL_LIST_VIEW},  {"+vL", ALD__CELL_LARGE_LIST_VIEW},
    {"+s", ALD__CELL_STRUCT},      {"+m", ALD__CELL_MAP},
    {"+r", ALD__CELL_RUN_END},
};

static int same_text(const char *a, const char *b)
{
    size_t n = strlen(a);
    return n == strlen(b) && memcmp(a, b, n) == 0;
}

static int starts_with(const char *text, const char *prefix)
{
    return strlen(text) >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

/* A decimal integer at *text, which moves behind it; 0 when there is none or it has more than 31 bits. */
static int read_int(const char **text, int32_t *out)
{
    const char *p = *text;
    int negative = *p == '-';
    int64_t v = 0;
    p += negative;
    if (*p < '0' || *p > '9')
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        v = v * 10 + (*p - '0');
        if (v > INT32_MAX)
            return 0;
    }
    *out = (int32_t)(negative ? -v : v);
    *text = p;
    return 1;
}

static int parse_decimal(ald__view *c, const char *p)
{
    int32_t precision, bits = 128;
    if (!read_int(&p, &precision) || *p++ != ',' || !read_int(&p, &c->scale))
        return 0;
    if (*p == ',') {
        p++;
        if (!read_int(&p, &bits))
            return 0;
    }
    c->cell = ALD__CELL_DECIMAL;
    c->byte_width = bits / 8;
    return *p == '\0' && (bits == 32 || bits == 64 || bits == 128 || bits == 256);
}

static int parse_unit(ald__view *c, char letter)
{
    static const char letters[] = "smun";
    for (unsigned i = 0; i < 4; i++) {
        if (letters[i] == letter) {
            c->unit = (ald__unit)i;
            return 1;
        }
    }
    return 0;
}

/* tts ttm ttu ttn (time), tss:ZONE … (timestamp), tDs … (duration) */
static int parse_temporal(ald__view *c, const char *f)
{
    if (f[1] == '\0' || !parse_unit(c, f[2]))
        return 0;
    if (f[1] == 't' && f[3] == '\0')
        c->cell = c->unit <= ALD__UNIT_MS ? ALD__CELL_TIME32 : ALD__CELL_TIME64;
    else if (f[1] == 'D' && f[3] == '\0')
        c->cell = ALD__CELL_DURATION;
    else if (f[1] == 's' && f[3] == ':') {
        c->cell = ALD__CELL_TIMESTAMP;
        c->zone = ald__zone_parse(f + 4);
    } else
        return 0;
    return 1;
}

static int parse_sized(ald__view *c, const char *p, ald__cell cell, int32_t *size)
{
    c->cell = cell;
    return read_int(&p, size) && *size >= 0 && *p == '\0';
}

static int parse_format(ald__view *c, const char *f)
{
    for (size_t i = 0; i < sizeof plain_formats / sizeof *plain_formats; i++) {
        if (same_text(f, plain_formats[i].format)) {
            c->cell = plain_formats[i].cell;
            return 1;
        }
    }
    if (starts_with(f, "d:"))
        return parse_decimal(c, f + 2);
    if (starts_with(f, "w:"))
        return parse_sized(c, f + 2, ALD__CELL_FIXED_BINARY, &c->byte_width);
    if (starts_with(f, "+w:"))
        return parse_sized(c, f + 3, ALD__CELL_FIXED_LIST, &c->list_size);
    if (starts_with(f, "+us:") || starts_with(f, "+ud:")) {
        c->cell = f[2] == 's' ? ALD__CELL_SPARSE_UNION : ALD__CELL_DENSE_UNION;
        return 1;
    }
    return f[0] == 't' && parse_temporal(c, f);
}

static ald_status bad_type(const struct ArrowSchema *field, ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "column '%s': '%s' with %lld children is no Arrow type",
                         field->name != NULL ? field->name : "", field->format,
                         (long long)field->n_children);
}

/* The type codes behind "+us:", in the order of the children. */
static ald_status read_codes(ald__view *c, const struct ArrowSchema *field,
                             const ald_allocator *alloc, ald_error *err)
{
    const char *p = field->format + 4;
    int32_t code, n = 0;
    c->child_of_code = alloc->alloc(alloc->ctx, 128);
    if (c->child_of_code == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate 128 bytes");
    memset(c->child_of_code, -1, 128);
    while (*p != '\0') {
        if (!read_int(&p, &code) || code < 0 || code > 127 || n >= 127)
            return bad_type(field, err);
        c->child_of_code[code] = (int8_t)n++;
        if (*p == ',')
            p++;
    }
    return n == field->n_children ? ALD_OK : bad_type(field, err);
}

static int right_children(const ald__view *c, const struct ArrowSchema *field)
{
    const struct ArrowSchema *entries;
    switch (c->cell) {
    case ALD__CELL_STRUCT:
        return field->n_children >= 0 && field->n_children <= INT32_MAX / 1024;
    case ALD__CELL_RUN_END:
        return field->n_children == 2;
    case ALD__CELL_SPARSE_UNION:
    case ALD__CELL_DENSE_UNION:
        return field->n_children >= 0 && field->n_children <= 127;
    case ALD__CELL_MAP:
        entries = field->n_children == 1 ? field->children[0] : NULL;
        return entries != NULL && same_text(entries->format, "+s") && entries->n_children == 2;
    default:
        return field->n_children == (ald__cell_is_nested(c->cell) ? 1 : 0);
    }
}

static ald_status init_depth(ald__view *c, const struct ArrowSchema *field, int depth,
                             const ald_allocator *alloc, ald_error *err);

static ald_status init_children(ald__view *c, const struct ArrowSchema *field, int depth,
                                const ald_allocator *alloc, ald_error *err)
{
    size_t size = (size_t)field->n_children * sizeof(ald__view);
    if (field->n_children == 0)
        return ALD_OK;
    c->children = alloc->alloc(alloc->ctx, size);
    if (c->children == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
    memset(c->children, 0, size);
    c->child_count = (int32_t)field->n_children;
    for (int32_t i = 0; i < c->child_count; i++)
        ALD__PEN_TRY(init_depth(c->children + i, field->children[i], depth + 1, alloc, err));
    return ALD_OK;
}

static ald_status init_dictionary(ald__view *c, const struct ArrowSchema *field, int depth,
                                  const ald_allocator *alloc, ald_error *err)
{
    if (c->cell < ALD__CELL_I8 || c->cell > ALD__CELL_U64)
        return bad_type(field, err);
    c->index = c->cell;
    c->cell = ALD__CELL_DICTIONARY;
    c->dictionary = alloc->alloc(alloc->ctx, sizeof *c->dictionary);
    if (c->dictionary == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes",
                             sizeof *c->dictionary);
    memset(c->dictionary, 0, sizeof *c->dictionary);
    return init_depth(c->dictionary, field->dictionary, depth + 1, alloc, err);
}

static ald_status init_key(ald__view *c, const ald_allocator *alloc, ald_error *err)
{
    ald__pen pen;
    c->key.alloc = alloc;
    ald__pen_open(&pen, &c->key, err);
    ALD__PEN_TRY(ald__put_json_string(&pen, (const uint8_t *)c->name, strlen(c->name)));
    ALD__PEN_TRY(ald__pen_append(&pen, ":", 1));
    ald__pen_close(&pen);
    return ALD_OK;
}

static ald_status init_depth(ald__view *c, const struct ArrowSchema *field, int depth,
                             const ald_allocator *alloc, ald_error *err)
{
    c->name = field->name != NULL ? field->name : "";
    if (depth > ALD__VIEW_DEPTH)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "column '%s': types are nested deeper than %d", c->name,
                             ALD__VIEW_DEPTH);
    if (field->format == NULL || !parse_format(c, field->format) || !right_children(c, field))
        return bad_type(field, err);
    ALD__PEN_TRY(init_key(c, alloc, err));
    if (field->dictionary != NULL)
        return init_dictionary(c, field, depth, alloc, err);
    if (c->cell == ALD__CELL_SPARSE_UNION || c->cell == ALD__CELL_DENSE_UNION)
        ALD__PEN_TRY(read_codes(c, field, alloc, err));
    return init_children(c, field, depth, alloc, err);
}

ald_status ald__view_init(ald__view *column, const struct ArrowSchema *field,
                          const ald_allocator *alloc, ald_error *err)
{
    ald_status status;
    memset(column, 0, sizeof *column);
    status = init_depth(column, field, 1, alloc, err);
    if (status != ALD_OK)
        ald__view_clear(column, alloc);
    return status;
}

void ald__view_clear(ald__view *column, const ald_allocator *alloc)
{
    for (int32_t i = 0; i < column->child_count; i++)
        ald__view_clear(column->children + i, alloc);
    if (column->children != NULL)
        alloc->release(alloc->ctx, column->children,
                       (size_t)column->child_count * sizeof(ald__view));
    if (column->dictionary != NULL) {
        ald__view_clear(column->dictionary, alloc);
        alloc->release(alloc->ctx, column->dictionary, sizeof *column->dictionary);
    }
    if (column->child_of_code != NULL)
        alloc->release(alloc->ctx, column->child_of_code, 128);
    if (column->key.data != NULL)
        alloc->release(alloc->ctx, column->key.data, column->key.capacity);
    memset(column, 0, sizeof *column);
}
