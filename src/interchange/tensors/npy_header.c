/* SPDX-License-Identifier: MIT */
/* The dictionary is read by a grammar of its own, of which nothing can run: one dictionary of the keys descr, fortran_order
 * and shape, strings without prefixes, lists and tuples, True and False, and decimal numbers. */
#include "interchange/tensors/npy_header.h"

#include <string.h>

#include "interchange/text/text_utf8.h"

#define HEADER_BYTES ((size_t)16 << 20) /* a header has a field for each column at most */
#define DEEPEST 16

typedef struct npy_text {
    ald__tensor_memory *memory;
    const char *text;
    size_t size, at;
    int is_utf8;
    ald_error *err;
    size_t fields; /* so far, of all records */
} npy_text;

typedef struct text_value {
    char *text;
    size_t size;
} text_value;

static ald_status bad(const npy_text *n, const char *what)
{
    return ald_error_set(n->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "byte %zu of the header's text: %s", n->at, what);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* The next character that is no blank; NUL at the end. */
static char peek(npy_text *n)
{
    while (n->at < n->size && is_blank(n->text[n->at]))
        n->at++;
    return n->at < n->size ? n->text[n->at] : '\0';
}

static int take_char(npy_text *n, char c)
{
    if (peek(n) != c)
        return 0;
    n->at++;
    return 1;
}

static ald_status expect(npy_text *n, char c, const char *what)
{
    return take_char(n, c) ? ALD_OK : bad(n, what);
}

/* ---- strings */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static ald_status put_character(npy_text *n, text_value *out, uint32_t c)
{
    uint8_t *p = (uint8_t *)out->text + out->size;
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return bad(n, "a string has a character that names cannot have");
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        out->size += 1;
    } else if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 0x3F));
        out->size += 2;
    } else if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        p[2] = (uint8_t)(0x80 | (c & 0x3F));
        out->size += 3;
    } else {
        p[0] = (uint8_t)(0xF0 | c >> 18);
        p[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        p[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        p[3] = (uint8_t)(0x80 | (c & 0x3F));
        out->size += 4;
    }
    return ALD_OK;
}

/* Behind the backslash. */
static ald_status read_escape(npy_text *n, text_value *out)
{
    static const char plain[] = "\\'\"ntr", meant[] = "\\'\"\n\t\r";
    char c = n->at < n->size ? n->text[n->at++] : '\0';
    const char *at = c != '\0' ? strchr(plain, c) : NULL;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t value = 0;
    if (at != NULL)
        return put_character(n, out, (uint8_t)meant[at - plain]);
    if (digits == 0 || n->size - n->at < digits)
        return bad(n, "an unknown escape in a string");
    while (digits-- > 0) {
        int digit = hex_value(n->text[n->at++]);
        if (digit < 0 || value > UINT32_MAX >> 4)
            return bad(n, "an unknown escape in a string");
        value = value << 4 | (uint32_t)digit;
    }
    return put_character(n, out, value);
}

/* Up to the closing quote; *end is behind it. */
static ald_status find_end(npy_text *n, char quote, size_t *end)
{
    for (size_t at = n->at; at < n->size; at++) {
        if (n->text[at] == '\\')
            at++;
        else if (n->text[at] == quote) {
            *end = at + 1;
            return ALD_OK;
        }
    }
    return bad(n, "a string does not end");
}

/* As UTF-8. No escape is shorter than what it stands for; a Latin-1 character grows to two bytes. */
static ald_status read_string(npy_text *n, text_value *out)
{
    char quote = peek(n);
    size_t end = 0;
    ald_status status;
    if (quote != '\'' && quote != '"')
        return bad(n, "a string is missing");
    n->at++;
    status = find_end(n, quote, &end);
    if (status != ALD_OK)
        return status;
    out->size = 0;
    out->text = ald__tensor_alloc(n->memory, 2 * (end - n->at) + 1, 1, n->err);
    if (out->text == NULL)
        return ALD_E_NOMEM;
    while (status == ALD_OK && n->at < end - 1) {
        char c = n->text[n->at++];
        if (c == '\n')
            return bad(n, "a string does not end on its line");
        if (c == '\\')
            status = read_escape(n, out);
        else if (n->is_utf8 && (unsigned char)c >= 0x80)
            out->text[out->size++] = c;
        else
            status = put_character(n, out, (unsigned char)c);
    }
    n->at = status == ALD_OK ? end : n->at;
    return status;
}

/* ---- numbers */

static ald_status read_number(npy_text *n, uint64_t *out)
{
    char c = peek(n);
    size_t first = n->at;
    *out = 0;
    if (c == '-')
        return bad(n, "a dimension is negative");
    for (; n->at < n->size && n->text[n->at] >= '0' && n->text[n->at] <= '9'; n->at++) {
        uint64_t digit = (uint64_t)(n->text[n->at] - '0');
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, digit, out))
            return bad(n, "a dimension is too large");
    }
    if (n->at == first)
        return bad(n, "a number is missing");
    if (n->at < n->size && n->text[n->at] == 'L') /* Python 2's long integers */
        n->at++;
    return ALD_OK;
}

/* (), (3,), (3, 4): a number in parentheses without a comma is no tuple. */
static ald_status read_shape(npy_text *n, uint64_t *dimensions, size_t *count)
{
    int comma = 1;
    ald_status status = expect(n, '(', "a tuple of dimensions is missing");
    *count = 0;
    while (status == ALD_OK && !take_char(n, ')')) {
        if (!comma || *count == ALD__TENSOR_DIMENSIONS)
            return bad(n, comma ? "there are too many dimensions" : "a comma is missing");
        status = read_number(n, &dimensions[(*count)++]);
        comma = status == ALD_OK && take_char(n, ',');
        if (status == ALD_OK && !comma && *count == 1)
            return bad(n, "a comma is missing behind the only dimension");
    }
    return status;
}

/* ---- types */

static ald_status read_type(npy_text *n, ald__tensor_node *node, size_t depth);

/* (type, dimensions) or, in a list, what is behind the name. */
static ald_status repeat_type(npy_text *n, ald__tensor_node *node)
{
    uint64_t dimensions[ALD__TENSOR_DIMENSIONS];
    size_t count = 0;
    ald_status status = read_shape(n, dimensions, &count);
    for (size_t i = count; status == ALD_OK && i > 0; i--)
        status = ald__tensor_node_repeat(n->memory, dimensions[i - 1], node, n->err);
    if (status == ALD_OK && ald__tensor_node_depth(node) > ALD__TENSOR_DEPTH)
        return bad(n, "types are nested too deep");
    return status;
}

/* A name, or a title and a name, of which the name counts. */
static ald_status read_name(npy_text *n, text_value *name)
{
    if (!take_char(n, '('))
        return read_string(n, name);
    ald_status status = read_string(n, name);
    if (status == ALD_OK)
        status = expect(n, ',', "a title stands without its name");
    if (status == ALD_OK)
        status = read_string(n, name);
    if (status == ALD_OK)
        (void)take_char(n, ',');
    return status == ALD_OK ? expect(n, ')', "a parenthesis is missing") : status;
}

/* ('name', type) or ('name', type, dimensions) */
static ald_status read_field(npy_text *n, ald__tensor_node *field, size_t depth)
{
    text_value name = {NULL, 0};
    ald_status status = expect(n, '(', "a field is a tuple of name and type");
    if (status == ALD_OK)
        status = read_name(n, &name);
    if (status == ALD_OK)
        status = expect(n, ',', "a field has no type");
    if (status == ALD_OK)
        status = read_type(n, field, depth);
    if (status == ALD_OK && take_char(n, ',') && peek(n) != ')') {
        status = repeat_type(n, field);
        (void)take_char(n, ',');
    }
    field->name = name.text;
    field->name_size = name.size;
    return status == ALD_OK ? expect(n, ')', "a parenthesis is missing") : status;
}

/* Bytes between fields have the name '' and the type V; they are no field. */
static int is_padding(const ald__tensor_node *field)
{
    return field->name_size == 0 && field->kind == ALD__TENSOR_FIXED;
}

static ald_status add_field(npy_text *n, ald__tensor_node *node, size_t *room,
                            const ald__tensor_node *field)
{
    size_t width = node->width;
    if (__builtin_add_overflow(node->width, field->width, &node->width))
        return bad(n, "the fields are too large");
    if (is_padding(field))
        return ALD_OK;
    if (++n->fields > ALD__TENSOR_COLUMNS)
        return ald_error_set(n->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "more than %u fields are too many", ALD__TENSOR_COLUMNS);
    if (node->child_count == *room) {
        size_t grown = *room > 0 ? *room * 2 : 8;
        ald__tensor_node *children = ald__tensor_alloc(n->memory, grown, sizeof *children, n->err);
        if (children == NULL)
            return ALD_E_NOMEM;
        if (node->child_count > 0)
            memcpy(children, node->children, node->child_count * sizeof *children);
        node->children = children;
        *room = grown;
    }
    node->children[node->child_count] = *field;
    node->children[node->child_count++].offset = width;
    return ALD_OK;
}

static ald_status read_fields(npy_text *n, ald__tensor_node *node, size_t depth)
{
    size_t room = 0;
    int comma = 1;
    ald_status status = ALD_OK;
    node->kind = ALD__TENSOR_STRUCT;
    memcpy(node->format, "+s", 3);
    while (status == ALD_OK && !take_char(n, ']')) {
        ald__tensor_node field;
        memset(&field, 0, sizeof field);
        if (!comma)
            return bad(n, "a comma is missing");
        status = read_field(n, &field, depth);
        if (status == ALD_OK)
            status = add_field(n, node, &room, &field);
        comma = take_char(n, ',');
    }
    return status == ALD_OK && node->child_count == 0 ? bad(n, "a type without fields") : status;
}

static ald_status read_type(npy_text *n, ald__tensor_node *node, size_t depth)
{
    text_value text = {NULL, 0};
    ald_status status;
    if (depth == DEEPEST)
        return bad(n, "types are nested too deep");
    if (take_char(n, '['))
        return read_fields(n, node, depth + 1);
    if (take_char(n, '(')) {
        status = read_type(n, node, depth + 1);
        if (status == ALD_OK)
            status = expect(n, ',', "a comma is missing");
        if (status == ALD_OK)
            status = repeat_type(n, node);
        if (status == ALD_OK)
            (void)take_char(n, ',');
        return status == ALD_OK ? expect(n, ')', "a parenthesis is missing") : status;
    }
    status = read_string(n, &text);
    return status == ALD_OK ? ald__npy_type(n->memory, text.text, text.size, node, n->err) : status;
}

/* ---- the dictionary */

static ald_status read_bool(npy_text *n, uint8_t *out)
{
    static const char yes[] = "True", no[] = "False";
    (void)peek(n);
    if (n->size - n->at >= 4 && memcmp(n->text + n->at, yes, 4) == 0) {
        *out = 1;
        n->at += 4;
        return ALD_OK;
    }
    if (n->size - n->at >= 5 && memcmp(n->text + n->at, no, 5) == 0) {
        *out = 0;
        n->at += 5;
        return ALD_OK;
    }
    return bad(n, "True or False is missing");
}

static int is_key(const text_value *key, const char *name)
{
    return strlen(name) == key->size && memcmp(key->text, name, key->size) == 0;
}

static ald_status read_entry(npy_text *n, ald__tensor *out, unsigned *seen)
{
    text_value key = {NULL, 0};
    ald_status status = read_string(n, &key);
    unsigned bit;
    if (status == ALD_OK)
        status = expect(n, ':', "a colon is missing");
    if (status != ALD_OK)
        return status;
    bit = is_key(&key, "descr")           ? 1
          : is_key(&key, "fortran_order") ? 2
          : is_key(&key, "shape")         ? 4
                                          : 0;
    if (bit == 0 || (*seen & bit) != 0)
        return bad(n, bit == 0 ? "an unknown key" : "a key stands twice");
    *seen |= bit;
    return bit == 1   ? read_type(n, &out->node, 0)
           : bit == 2 ? read_bool(n, &out->fortran)
                      : read_shape(n, out->dimensions, &out->dimension_count);
}

ald_status ald__npy_header(ald__tensor_memory *memory, const char *text, size_t size, int is_utf8,
                           ald__tensor *out, ald_error *err)
{
    npy_text n = {memory, text, size, 0, is_utf8, err, 0};
    unsigned seen = 0;
    int comma = 1;
    if (is_utf8 && ald__text_utf8_check((const uint8_t *)text, size) < size)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the header is not UTF-8");
    ald_status status = expect(&n, '{', "the header is no dictionary");
    while (status == ALD_OK && !take_char(&n, '}')) {
        if (!comma)
            return bad(&n, "a comma is missing");
        status = read_entry(&n, out, &seen);
        comma = take_char(&n, ',');
    }
    if (status != ALD_OK)
        return status;
    if (seen != 7)
        return bad(&n, "descr, fortran_order or shape is missing");
    return peek(&n) == '\0' && n.at == n.size ? ALD_OK
                                              : bad(&n, "something follows the dictionary");
}

ald_status ald__npy_prefix(const uint8_t *prefix, size_t given, size_t *start, size_t *size,
                           int *is_utf8, ald_error *err)
{
    static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    size_t matched = given < sizeof magic ? given : sizeof magic;
    if (memcmp(prefix, magic, matched) != 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, 0, "this is no .npy");
    if (given < 10 || (prefix[6] != 1 && given < 12))
        return ald_error_set(err, ALD_E_TRUNCATED, given, "the .npy ends within its header");
    if (prefix[6] < 1 || prefix[6] > 3 || prefix[7] != 0)
        return ald_error_set(err, ALD_E_UNSUPPORTED_VERSION, 6,
                             "version %u.%u of .npy is not known", prefix[6], prefix[7]);
    *start = prefix[6] == 1 ? 10 : 12;
    *size = (size_t)prefix[8] | (size_t)prefix[9] << 8;
    if (prefix[6] > 1)
        *size |= (size_t)prefix[10] << 16 | (size_t)prefix[11] << 24;
    *is_utf8 = prefix[6] == 3;
    return *size <= HEADER_BYTES ? ALD_OK
                                 : ald_error_set(err, ALD_E_LIMIT_EXCEEDED, 8,
                                                 "a header of %zu bytes is too long", *size);
}
