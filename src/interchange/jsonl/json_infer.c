/* SPDX-License-Identifier: MIT */
/* The walk of the first pass. Most values say nothing new about their place, and that is the short way through. */
#include "interchange/jsonl/json_infer.h"

#include <string.h>

#include "interchange/jsonl/json_key.h"
#include "interchange/text/quick.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

static ald_status walk(ald__infer *w, ald__place *place, yyjson_val *value, unsigned depth);

static ald_status number_slow(ald__infer *w, ald__place *place, const char *text, size_t size)
{
    ald__token token;
    ald_status status = ald__place_numbers(w->tree, place, &w->fault->error);
    if (status != ALD_OK)
        return status;
    ald__token_number(text, size, &token);
    ald__profile_add(place->numbers, &token, w->where);
    return ALD_OK;
}

/* A long number as programs print doubles, which says nothing that others have not said. */
static int is_like_others(const ald__infer *w, const ald__profile *seen, yyjson_val *value)
{
    const char *text = unsafe_yyjson_get_str(value);
    size_t size = unsafe_yyjson_get_len(value);
    ald__quick q;
    if (size > 32 || !seen->count[ALD__TOKEN_FLOAT] ||
        !ald__quick_number((const uint8_t *)text, (uint32_t)size, &q) || !q.is_faithful || q.is_int)
        return 0;
    if (q.whole > seen->int_digits || q.decimals > seen->frac_digits ||
        (q.has_exponent && !(seen->flags & ALD__TOKEN_EXPONENT)))
        return 0;
    if (w->keeps_doubles)
        unsafe_yyjson_set_double(value, q.value);
    return 1;
}

static int is_zero(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] >= '1' && text[i] <= '9')
            return 0;
    }
    return 1;
}

/* A bit for each of the first 16 bytes that is a digit. Records have that many readable bytes behind any number. */
#if defined(__SSE2__)
static uint32_t digit_bits(const char *text)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)text);
    v = _mm_sub_epi8(v, _mm_set1_epi8('0'));
    v = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(9)), v);
    return (uint32_t)_mm_movemask_epi8(v);
}
#else
static uint32_t digit_bits(const char *text)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 16; i++)
        bits |= (uint32_t)((uint8_t)(text[i] - '0') <= 9) << i;
    return bits;
}
#endif

/* Up to 15 digits are exact in every type, so a plain number of no more digits than were met before only counts. */
static ald_status number(ald__infer *w, ald__place *place, yyjson_val *value)
{
    const char *text = unsafe_yyjson_get_str(value);
    ald__profile *seen = place->numbers;
    uint32_t negative = text[0] == '-', others;
    size_t size = unsafe_yyjson_get_len(value), point, digits;
    if (!seen)
        return number_slow(w, place, text, size);
    if (size > 15) {
        if (!is_like_others(w, seen, value))
            return number_slow(w, place, text, size);
        seen->count[ALD__TOKEN_FLOAT]++;
        return ALD_OK;
    }
    others = ~digit_bits(text) & ((1u << size) - 1) & ~negative;
    point = others ? (size_t)__builtin_ctz(others) : size;
    digits = text[negative] == '0' ? 0 : point - negative;
    /* A negative number that begins with 0 may be -0. */
    if (digits > seen->int_digits || (negative && digits == 0 && is_zero(text, size)))
        return number_slow(w, place, text, size);
    if (others) {
        if ((others & (others - 1)) || text[point] != '.' || !seen->count[ALD__TOKEN_FLOAT] ||
            size - point - 1 > seen->frac_digits)
            return number_slow(w, place, text, size);
        seen->count[ALD__TOKEN_FLOAT]++;
        return ALD_OK;
    }
    if (!seen->count[ALD__TOKEN_INT] || (negative && !(seen->flags & ALD__TOKEN_NEGATIVE)))
        return number_slow(w, place, text, size);
    seen->count[ALD__TOKEN_INT]++;
    return ALD_OK;
}

static uint32_t declared_index(const struct ArrowSchema *types, const char *name, size_t size)
{
    for (int64_t i = 0; types && i < types->n_children; i++) {
        const char *known = types->children[i]->name;
        if (known && strlen(known) == size && memcmp(known, name, size) == 0)
            return (uint32_t)i + 1;
    }
    return 0;
}

static ald_status new_field(ald__infer *w, ald__place *place, const char *name, size_t size,
                            ald__place **out)
{
    ald_status status;
    for (size_t i = 0; i < size; i++) {
        if (!name[i])
            return ald_error_set(&w->fault->error, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "a key with U+0000 in it cannot name a column");
    }
    status = ald__place_add(w->tree, place, name, size, out, &w->fault->error);
    if (status != ALD_OK)
        return status;
    (*out)->settled = 1u << YYJSON_TYPE_NULL;
    if (place == w->tree->root)
        (*out)->declared = declared_index(w->types, name, size);
    if ((*out)->declared)
        (*out)->settled = UINT8_MAX;
    return ALD_OK;
}

/* The field of a key, looked for behind the last one first, and marked as met in this object. */
static ald_status find_field(ald__infer *w, ald__place *place, const char *name, size_t size,
                             uint32_t *next, ald__place **out)
{
    uint32_t at = ald__place_find(w->tree, place, name, size);
    *next = at + 1;
    if (at == place->field_count)
        return new_field(w, place, name, size, out);
    *out = place->fields[at];
    return ALD_OK;
}

static ald_status same_key_twice(ald__infer *w)
{
    return ald_error_set(&w->fault->error, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "the same key twice in one object");
}

static ald_status object(ald__infer *w, ald__place *place, yyjson_val *value, unsigned depth)
{
    yyjson_val *key = unsafe_yyjson_get_first(value);
    uint64_t serial = ++w->serial;
    uint32_t next = 0;
    for (size_t count = unsafe_yyjson_get_len(value); count > 0; count--) {
        const char *name = unsafe_yyjson_get_str(key);
        size_t size = unsafe_yyjson_get_len(key);
        ald__place *field = next < place->field_count ? place->fields[next] : NULL;
        ald_status status = ALD_OK;
        if (field && field->name_size == size && ald__json_same(field->name, name, size))
            next++;
        else
            status = find_field(w, place, name, size, &next, &field);
        if (status == ALD_OK && field->stamp == serial)
            status = same_key_twice(w);
        if (status == ALD_OK) {
            field->stamp = serial;
            /* Nothing new in most values: a kind that was met before and has no inside. */
            if (!(field->settled & (1u << unsafe_yyjson_get_type(key + 1))))
                status = walk(w, field, key + 1, depth);
        }
        if (status != ALD_OK) {
            ald__json_fault_step(w->fault, name, size);
            return status;
        }
        key = unsafe_yyjson_get_next(key + 1);
    }
    return ALD_OK;
}

static ald_status list(ald__infer *w, ald__place *place, yyjson_val *value, unsigned depth)
{
    yyjson_val *item = unsafe_yyjson_get_first(value);
    ald__place *items = NULL;
    for (size_t count = unsafe_yyjson_get_len(value); count > 0; count--) {
        ald_status status = ald__place_item(w->tree, place, &items, &w->fault->error);
        if (status == ALD_OK)
            status = walk(w, items, item, depth);
        if (status != ALD_OK) {
            ald__json_fault_step(w->fault, NULL, 0);
            return status;
        }
        item = unsafe_yyjson_get_next(item);
    }
    return ALD_OK;
}

static void met(ald__place *place, ald__json_kind kind, uint64_t where)
{
    if (place->first[kind] == ALD__NEVER)
        place->first[kind] = where;
}

/* `depth` is that of what holds the value. */
static ald_status walk(ald__infer *w, ald__place *place, yyjson_val *value, unsigned depth)
{
    switch (unsafe_yyjson_get_type(value)) {
    case YYJSON_TYPE_STR:
        met(place, ALD__JSON_STRING, w->where);
        place->settled |= 1u << YYJSON_TYPE_STR;
        return ALD_OK;
    case YYJSON_TYPE_RAW:
        met(place, ALD__JSON_NUMBER, w->where);
        return number(w, place, value);
    case YYJSON_TYPE_BOOL:
        met(place, ALD__JSON_BOOL, w->where);
        place->settled |= 1u << YYJSON_TYPE_BOOL;
        return ALD_OK;
    case YYJSON_TYPE_ARR:
    case YYJSON_TYPE_OBJ:
        if (depth >= ALD__JSON_MAX_DEPTH)
            return ald_error_set(&w->fault->error, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                 "nested deeper than %d levels", ALD__JSON_MAX_DEPTH);
        if (unsafe_yyjson_is_arr(value)) {
            met(place, ALD__JSON_LIST, w->where);
            return list(w, place, value, depth + 1);
        }
        met(place, ALD__JSON_OBJECT, w->where);
        return object(w, place, value, depth + 1);
    default:
        return ALD_OK; /* null */
    }
}

void ald__infer_object(const ald__infer *infer, ald__place *place)
{
    if (place->parent)
        met(place, ALD__JSON_OBJECT, infer->where);
}

ald_status ald__infer_field(ald__infer *infer, ald__place *place, yyjson_val *key, ald__place **out)
{
    uint32_t next;
    return find_field(infer, place, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key), &next,
                      out);
}

ald_status ald__infer_value(ald__infer *infer, ald__place *field, yyjson_val *value, unsigned depth)
{
    return field->settled & (1u << unsafe_yyjson_get_type(value))
               ? ALD_OK
               : walk(infer, field, value, depth);
}

ald_status ald__infer_record(ald__infer *infer, yyjson_val *record)
{
    return object(infer, infer->tree->root, record, 1);
}

/* What is below a declared column may be deeper than the rest. */
static uint64_t text_of(yyjson_val *value, unsigned depth)
{
    int is_object = unsafe_yyjson_is_obj(value);
    uint64_t bytes = 0;
    yyjson_val *item;
    if (unsafe_yyjson_is_str(value))
        return unsafe_yyjson_get_len(value);
    if (!unsafe_yyjson_is_ctn(value) || depth > ALD__JSON_MAX_DEPTH)
        return 0;
    item = unsafe_yyjson_get_first(value);
    for (size_t count = unsafe_yyjson_get_len(value); count > 0; count--) {
        item += is_object;
        bytes += text_of(item, depth + 1);
        item = unsafe_yyjson_get_next(item);
    }
    return bytes;
}

uint64_t ald__infer_text_bytes(yyjson_val *record)
{
    return text_of(record, 1);
}
