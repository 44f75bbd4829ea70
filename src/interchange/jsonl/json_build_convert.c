/* SPDX-License-Identifier: MIT */
/* Values that change their form on the way in: numbers kept as text, declared types, text of anything, maps,
 * dictionaries. */
#include <string.h>

#include "ald/schema.h"
#include "interchange/jsonl/json_build.h"
#include "interchange/jsonl/json_duplicate.h"
#include "interchange/text/classify.h"
#include "interchange/text/mem.h"

static ald_error *error_of(ald__build *build)
{
    return &build->fault->error;
}

/* The type's name, or nothing where it cannot be had. */
static void type_name(const ald__build *build, const ald__plan *plan, char *out, size_t capacity)
{
    struct ArrowSchema field;
    ald_buffer text = {NULL, 0, 0, NULL};
    size_t size;
    text.alloc = build->alloc;
    *out = 0;
    if (plan->child_count ||
        ald__field_new(build->alloc, "", 0, plan->format, 1, 0, &field, NULL) != ALD_OK)
        return;
    if (ald_type_format(&field, &text, NULL) == ALD_OK) {
        size = text.size < capacity - 1 ? text.size : capacity - 1;
        memcpy(out, text.data, size);
        out[size] = 0;
    }
    ald_buffer_clear(&text);
    field.release(&field);
}

static const char *shape_name(const ald__plan *plan)
{
    switch (plan->op) {
    case ALD__PLAN_LIST:
    case ALD__PLAN_FIXED_LIST:
        return "list";
    case ALD__PLAN_STRUCT:
        return "struct";
    case ALD__PLAN_MAP:
        return "map";
    default:
        return "dictionary of strings";
    }
}

ald_status ald__builder_mismatch(ald__build *build, const ald__builder *b, yyjson_val *value)
{
    char name[40];
    const char *text = unsafe_yyjson_get_str(value), *mark = "'";
    size_t size = unsafe_yyjson_get_len(value);
    switch (unsafe_yyjson_get_type(value)) {
    case YYJSON_TYPE_STR:
        mark = "\"";
        break;
    case YYJSON_TYPE_RAW:
        break;
    case YYJSON_TYPE_BOOL:
        text = unsafe_yyjson_get_bool(value) ? "true" : "false";
        size = strlen(text);
        break;
    default:
        mark = "";
        text = unsafe_yyjson_is_arr(value)   ? "a list"
               : unsafe_yyjson_is_obj(value) ? "an object"
                                             : "the number";
        size = strlen(text);
    }
    type_name(build, b->plan, name, sizeof name);
    return ald_error_set(error_of(build), ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "%s%.*s%s does not fit the type %s", mark, size < 40 ? (int)size : 40,
                         text, mark, *name ? name : shape_name(b->plan));
}

/* The value as JSON, in the record's pool. */
static ald_status add_json(ald__build *build, ald__builder *b, yyjson_val *value)
{
    yyjson_alc alc = ald__json_pool_alc(build->pool);
    yyjson_write_err why;
    size_t size;
    char *text;
    ald_status status =
        ald__json_check_value(build->alloc, build->plans->seed, value, build->fault);
    if (status != ALD_OK)
        return status;
    text = yyjson_val_write_opts(value, 0, &alc, &size, &why);
    if (!text)
        return ald_error_set(error_of(build), ALD_E_NOMEM, ALD_NO_OFFSET,
                             "no memory for a value as JSON text");
    return ald__column_add_bytes(&b->column, text, size, error_of(build));
}

static ald_status add_text(ald__build *build, ald__builder *b, yyjson_val *value)
{
    const char *word;
    switch (unsafe_yyjson_get_type(value)) {
    case YYJSON_TYPE_STR:
    case YYJSON_TYPE_RAW:
        return ald__column_add_bytes(&b->column, unsafe_yyjson_get_str(value),
                                     unsafe_yyjson_get_len(value), error_of(build));
    case YYJSON_TYPE_BOOL:
        word = unsafe_yyjson_get_bool(value) ? "true" : "false";
        return ald__column_add_bytes(&b->column, word, strlen(word), error_of(build));
    default:
        return add_json(build, b, value);
    }
}

static int is_number_store(const ald__column *c)
{
    return c->store == ALD__STORE_INT || c->store == ALD__STORE_UINT ||
           c->store == ALD__STORE_FLOAT || c->store == ALD__STORE_DECIMAL;
}

/* Text of a string or of a number, by the column's own grammar. */
static ald_status add_parsed(ald__build *build, ald__builder *b, yyjson_val *value, int strings)
{
    ald_status status = ALD_E_SCHEMA_MISMATCH;
    int fits = strings && unsafe_yyjson_is_str(value);
    if (unsafe_yyjson_is_raw(value))
        fits = is_number_store(&b->column) || b->plan->op == ALD__PLAN_NUMBER;
    if (fits)
        status = ald__column_add_text(&b->column, unsafe_yyjson_get_str(value),
                                      unsafe_yyjson_get_len(value), error_of(build));
    return status == ALD_E_SCHEMA_MISMATCH ? ald__builder_mismatch(build, b, value) : status;
}

/* Whether a double holds a number that inference has not seen. */
static int is_faithful(yyjson_val *value)
{
    ald__token token;
    if (!unsafe_yyjson_is_raw(value))
        return 0;
    ald__token_number(unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value), &token);
    return token.kind == ALD__TOKEN_FLOAT ||
           (token.kind == ALD__TOKEN_INT && !(token.flags & ALD__TOKEN_INEXACT));
}

static ald_status add_uint64(ald__build *build, ald__builder *b, yyjson_val *value)
{
    if (unsafe_yyjson_get_tag(value) == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT))
        return ald__column_add_uint64(&b->column, value->uni.u64, error_of(build));
    return add_parsed(build, b, value, 0);
}

/* DICTIONARY */

static const char *text_at(const ald__column *values, int64_t row, size_t *size)
{
    const uint8_t *at = values->values + (size_t)row * values->width;
    uint64_t from = 0, to = 0; /* little-endian, as all hosts that this is built for */
    memcpy(&from, at, values->width);
    memcpy(&to, at + values->width, values->width);
    *size = (size_t)(to - from);
    return (const char *)values->bytes + from;
}

static ald_status grow_slots(ald__build *build, ald__builder *b)
{
    const ald__column *values = &b->children[0].column;
    size_t count = b->slot_count ? 2 * b->slot_count : 64;
    uint32_t *slots = ald__text_alloc(build->alloc, count, sizeof *slots, error_of(build));
    if (!slots)
        return ALD_E_NOMEM;
    ald__text_free(build->alloc, b->slots, b->slot_count, sizeof *b->slots);
    b->slots = slots;
    b->slot_count = count;
    for (int64_t i = 0; i < values->length; i++) {
        size_t size;
        const char *text = text_at(values, i, &size);
        size_t slot = ald__json_hash(text, size, build->plans->seed) & (count - 1);
        while (slots[slot])
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    return ALD_OK;
}

static ald_status add_dictionary(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__column *values = &b->children[0].column;
    const char *text = unsafe_yyjson_get_str(value);
    size_t size = unsafe_yyjson_get_len(value), slot;
    ald_status status = ALD_OK;
    if (!unsafe_yyjson_is_str(value))
        return ald__builder_mismatch(build, b, value);
    if (values->length >= INT32_MAX)
        return ald_error_set(error_of(build), ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "too many different values for a dictionary");
    if ((size_t)values->length * 2 >= b->slot_count)
        status = grow_slots(build, b);
    if (status != ALD_OK)
        return status;
    slot = ald__json_hash(text, size, build->plans->seed) & (b->slot_count - 1);
    for (; b->slots[slot]; slot = (slot + 1) & (b->slot_count - 1)) {
        size_t known_size;
        const char *known = text_at(values, b->slots[slot] - 1, &known_size);
        if (known_size == size && memcmp(known, text, size) == 0)
            break;
    }
    if (!b->slots[slot]) {
        status = ald__column_add_bytes(values, text, size, error_of(build));
        if (status != ALD_OK)
            return status;
        b->slots[slot] = (uint32_t)values->length;
    }
    status = ald__column_add_int64(&b->column, (int64_t)b->slots[slot] - 1, error_of(build));
    if (status == ALD_E_SCHEMA_MISMATCH)
        return ald_error_set(error_of(build), ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "more different values than the dictionary's index type counts");
    return status;
}

ald_status ald__builder_convert(ald__build *build, ald__builder *b, yyjson_val *value)
{
    switch (b->plan->op) {
    case ALD__PLAN_TEXT:
        return add_text(build, b, value);
    case ALD__PLAN_JSON:
        return add_json(build, b, value);
    case ALD__PLAN_CONVERT:
        return add_parsed(build, b, value, 1);
    case ALD__PLAN_UINT64:
        return add_uint64(build, b, value);
    case ALD__PLAN_INT64:
    case ALD__PLAN_NUMBER:
        return add_parsed(build, b, value, 0);
    case ALD__PLAN_FLOAT64:
        if (b->plan->is_checked && !is_faithful(value))
            return ald__builder_mismatch(build, b, value);
        return add_parsed(build, b, value, 0);
    case ALD__PLAN_DICTIONARY:
        return add_dictionary(build, b, value);
    default: /* NULL, STRING: what inference has not seen */
        return ald__builder_mismatch(build, b, value);
    }
}

/* MAP: {"k": v}, [[k, v]] or [{"key": k, "value": v}]. */

static ald_status add_entry(ald__build *build, ald__builder *entries, yyjson_val *key,
                            yyjson_val *value)
{
    ald_status status;
    if (unsafe_yyjson_is_null(key))
        return ald_error_set(error_of(build), ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "a null as the key of a map");
    status = ald__builder_value(build, &entries->children[0], key);
    if (status == ALD_OK)
        status = ald__builder_value(build, &entries->children[1], value);
    return status == ALD_OK ? ald__builder_row(entries, 1, error_of(build)) : status;
}

static ald_status entry_of_item(ald__build *build, ald__builder *entries, yyjson_val *item)
{
    yyjson_val *first;
    if (unsafe_yyjson_is_arr(item) && unsafe_yyjson_get_len(item) == 2) {
        first = unsafe_yyjson_get_first(item);
        return add_entry(build, entries, first, unsafe_yyjson_get_next(first));
    }
    if (unsafe_yyjson_is_obj(item) && unsafe_yyjson_get_len(item) == 2) {
        yyjson_val *key = yyjson_obj_get(item, "key"), *value = yyjson_obj_get(item, "value");
        if (key && value)
            return add_entry(build, entries, key, value);
    }
    return ald_error_set(error_of(build), ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "an entry of a map is [key, value] or {\"key\": …, \"value\": …}");
}

ald_status ald__builder_map(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__builder *entries = &b->children[0];
    int is_object = unsafe_yyjson_is_obj(value);
    yyjson_val *item;
    ald_status status = ALD_OK;
    if (!is_object && !unsafe_yyjson_is_arr(value))
        return ald__builder_mismatch(build, b, value);
    if (is_object)
        status = ald__json_check_keys(build->alloc, build->plans->seed, value, build->fault);
    item = unsafe_yyjson_get_first(value);
    for (size_t count = unsafe_yyjson_get_len(value); count > 0 && status == ALD_OK; count--) {
        yyjson_val *last = is_object ? item + 1 : item;
        status =
            is_object ? add_entry(build, entries, item, last) : entry_of_item(build, entries, item);
        if (status != ALD_OK && is_object)
            ald__json_fault_step(build->fault, unsafe_yyjson_get_str(item),
                                 unsafe_yyjson_get_len(item));
        item = unsafe_yyjson_get_next(last);
    }
    return status == ALD_OK ? ald__builder_row(b, 1, error_of(build)) : status;
}
