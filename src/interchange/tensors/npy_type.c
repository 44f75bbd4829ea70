/* SPDX-License-Identifier: MIT */
/* NumPy's names of types. Whatever has no Arrow type is refused with a word of why; nothing is rounded. */
#include <string.h>

#include "interchange/tensors/npy_header.h"

typedef struct type_text {
    const char *text;
    size_t size, at;
    char order, kind;
} type_text;

static ald_status refuse(const type_text *t, ald_status status, const char *why, ald_error *err)
{
    const char *hint = strchr(why, '\n');
    int line = hint != NULL ? (int)(hint - why) : (int)strlen(why);
    return ald_error_set(err, status, ALD_NO_OFFSET,
                         hint != NULL ? "the type '%.*s' %.*s\n%s" : "the type '%.*s' %.*s%s",
                         t->size < 40 ? (int)t->size : 40, t->text, line, why,
                         hint != NULL ? hint + 1 : "");
}

/* Digits; ALD_E_INVALID_FORMAT when there are none. */
static ald_status read_count(type_text *t, uint64_t *out, ald_error *err)
{
    size_t first = t->at;
    *out = 0;
    while (t->at < t->size && t->text[t->at] >= '0' && t->text[t->at] <= '9') {
        if (*out > UINT32_MAX)
            return refuse(t, ALD_E_LIMIT_EXCEEDED, "is too large", err);
        *out = *out * 10 + (uint64_t)(t->text[t->at++] - '0');
    }
    return t->at > first ? ALD_OK : refuse(t, ALD_E_INVALID_FORMAT, "has no size", err);
}

static void set(ald__tensor_node *node, uint8_t kind, const char *format, size_t width)
{
    node->kind = kind;
    memcpy(node->format, format, strlen(format) + 1);
    node->width = width;
}

static ald_status number_type(const type_text *t, uint64_t width, ald__tensor_node *node,
                              ald_error *err)
{
    static const struct {
        char kind;
        uint8_t width;
        const char *format;
    } numbers[] = {{'i', 1, "c"}, {'i', 2, "s"}, {'i', 4, "i"}, {'i', 8, "l"},
                   {'u', 1, "C"}, {'u', 2, "S"}, {'u', 4, "I"}, {'u', 8, "L"},
                   {'f', 2, "e"}, {'f', 4, "f"}, {'f', 8, "g"}, {'b', 1, "b"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].kind == t->kind && numbers[i].width == width) {
            set(node, t->kind == 'b' ? ALD__TENSOR_BOOL : ALD__TENSOR_COPY, numbers[i].format,
                numbers[i].width);
            return ALD_OK;
        }
    }
    return refuse(t, ALD_E_UNSUPPORTED, "has no Arrow type", err);
}

/* ---- times: "M8[ns]", "m8[25s]" */

typedef struct time_unit {
    const char *name;
    char letter; /* Arrow's unit of timestamps and durations; 0: days, 1: months */
    int64_t factor;
} time_unit;

static const time_unit units[] = {{"ns", 'n', 1}, {"us", 'u', 1},   {"ms", 'm', 1}, {"s", 's', 1},
                                  {"m", 's', 60}, {"h", 's', 3600}, {"D", 0, 1},    {"W", 0, 7},
                                  {"M", 1, 1},    {"Y", 1, 12}};

static ald_status duration_type(const type_text *t, const time_unit *unit, int64_t factor,
                                ald__tensor_node *node, ald_error *err)
{
    if (unit->letter == 1)
        return refuse(t, ALD_E_UNSUPPORTED, "has no Arrow type: months have no fixed length", err);
    set(node, ALD__TENSOR_TIME, "tDs", 8);
    if (unit->letter != 0)
        node->format[2] = unit->letter;
    else
        factor *= 86400;
    node->factor = factor;
    return ALD_OK;
}

static ald_status instant_type(const time_unit *unit, int64_t factor, ald__tensor_node *node)
{
    if (unit->letter <= 1) {
        set(node, unit->letter == 0 ? ALD__TENSOR_DAYS : ALD__TENSOR_MONTHS, "tdD", 8);
    } else {
        set(node, ALD__TENSOR_TIME, "tss:", 8);
        node->format[2] = unit->letter;
    }
    node->factor = factor;
    return ALD_OK;
}

static ald_status time_type(type_text *t, uint64_t width, ald__tensor_node *node, ald_error *err)
{
    uint64_t count = 1;
    if (width != 8)
        return refuse(t, ALD_E_UNSUPPORTED, "has no Arrow type", err);
    if (t->at == t->size)
        return refuse(t, ALD_E_UNSUPPORTED,
                      "has no unit\nsave it as one with a unit: datetime64[s]", err);
    if (t->text[t->at++] != '[')
        return refuse(t, ALD_E_INVALID_FORMAT, "is none", err);
    if (t->at < t->size && t->text[t->at] >= '0' && t->text[t->at] <= '9') {
        ald_status status = read_count(t, &count, err);
        if (status != ALD_OK)
            return status;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t size = strlen(units[i].name);
        if (t->size - t->at == size + 1 && memcmp(t->text + t->at, units[i].name, size) == 0 &&
            t->text[t->size - 1] == ']' && count > 0) {
            int64_t factor = (int64_t)count * units[i].factor; /* count is below 2^36 */
            t->at = t->size;
            return t->kind == 'M' ? instant_type(&units[i], factor, node)
                                  : duration_type(t, &units[i], factor, node, err);
        }
    }
    return refuse(t, ALD_E_UNSUPPORTED, "has a unit that no Arrow type has", err);
}

/* ---- bytes and text */

static ald_status fixed_type(const type_text *t, uint64_t count, ald__tensor_node *node,
                             ald_error *err)
{
    char digits[12];
    size_t n = 0, used = 2;
    uint64_t rest = count;
    if (count > INT32_MAX / 4)
        return refuse(t, ALD_E_UNSUPPORTED, "is too large", err);
    if (t->kind == 'S') {
        set(node, ALD__TENSOR_BYTES, "z", (size_t)count);
        return ALD_OK;
    }
    if (t->kind == 'U') {
        set(node, ALD__TENSOR_UCS4, "u", (size_t)count * 4);
        return ALD_OK;
    }
    set(node, ALD__TENSOR_FIXED, "w:", (size_t)count);
    do {
        digits[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    while (n > 0)
        node->format[used++] = digits[--n];
    node->format[used] = '\0';
    return ALD_OK;
}

static ald_status complex_type(ald__tensor_memory *memory, const type_text *t, uint64_t width,
                               ald__tensor_node *node, ald_error *err)
{
    const char *name = node->name;
    size_t name_size = node->name_size, offset = node->offset;
    if (width != 8 && width != 16)
        return refuse(t, ALD_E_UNSUPPORTED, "has no Arrow type", err);
    ald_status status = ald__tensor_node_complex(memory, (size_t)width / 2, width == 8 ? "f" : "g",
                                                 t->order == '>', node, err);
    node->name = name;
    node->name_size = name_size;
    node->offset = offset;
    return status;
}

static ald_status type_of_kind(ald__tensor_memory *memory, type_text *t, uint64_t width,
                               ald__tensor_node *node, ald_error *err)
{
    switch (t->kind) {
    case 'b':
    case 'i':
    case 'u':
    case 'f':
        return number_type(t, width, node, err);
    case 'c':
        return complex_type(memory, t, width, node, err);
    case 'M':
    case 'm':
        return time_type(t, width, node, err);
    case 'S':
    case 'a':
    case 'U':
    case 'V':
        return fixed_type(t, width, node, err);
    default:
        return refuse(t, ALD_E_UNSUPPORTED, "has no Arrow type", err);
    }
}

ald_status ald__npy_type(ald__tensor_memory *memory, const char *text, size_t size,
                         ald__tensor_node *node, ald_error *err)
{
    type_text t = {text, size, 2, size > 0 ? text[0] : '\0', size > 1 ? text[1] : '\0'};
    uint64_t width = 0;
    if (size < 2 || (t.order != '<' && t.order != '>' && t.order != '|'))
        return refuse(&t, ALD_E_INVALID_FORMAT, "is none", err);
    if (t.kind == 'O' || t.kind == 'T')
        return refuse(&t, ALD_E_UNSUPPORTED,
                      "holds Python objects: pickles are never read\nsave it with a type of its "
                      "own, as `a.astype(str)`",
                      err);
    t.kind = t.kind == 'a' ? 'S' : t.kind;
    ald_status status = read_count(&t, &width, err);
    if (status == ALD_OK)
        status = type_of_kind(memory, &t, width, node, err);
    if (status == ALD_OK && t.at != size)
        return refuse(&t, ALD_E_INVALID_FORMAT, "is none", err);
    if (status == ALD_OK && t.order == '|' && strchr("biuSV", t.kind) == NULL)
        return refuse(&t, ALD_E_INVALID_FORMAT, "does not say the order of its bytes", err);
    if (status == ALD_OK && t.order == '|' && strchr("biu", t.kind) != NULL && width != 1)
        return refuse(&t, ALD_E_INVALID_FORMAT, "does not say the order of its bytes", err);
    node->swap = t.order == '>';
    return status;
}
