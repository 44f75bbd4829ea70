/* SPDX-License-Identifier: MIT */
/* The walk of the second pass, and the short ways for the types that most values have. */
#include "interchange/jsonl/json_build.h"

#include <string.h>

#include "interchange/jsonl/json_store.h"
#include "interchange/text/mem.h"

static int is_nested(const ald__builder *b)
{
    return b->plan->op >= ALD__PLAN_LIST && b->plan->op <= ALD__PLAN_MAP;
}

static unsigned offset_width(const ald__builder *b)
{
    if (b->plan->op == ALD__PLAN_MAP)
        return 4;
    return b->plan->op == ALD__PLAN_LIST ? (b->plan->is_large ? 8 : 4) : 0;
}

static void put_bit(uint8_t *bits, size_t i, int value)
{
    uint8_t mask = (uint8_t)(1u << (i % 8));
    if (i % 8 == 0)
        bits[i / 8] = 0;
    if (value)
        bits[i / 8] |= mask;
    else
        bits[i / 8] &= (uint8_t)~mask;
}

/* Room for one more row of a nested place. */
static ald_status nested_reserve(ald__builder *b, ald_error *err)
{
    ald__column *c = &b->column;
    size_t rows = (size_t)c->length + 1, width = offset_width(b);
    ald_status status = ALD_OK;
    void *block;
    if (rows <= c->row_capacity)
        return ALD_OK;
    rows = (rows + rows / 2 + 63) / 64 * 64;
    if (width) {
        block = c->values;
        status = ald__text_grow(&c->alloc, &block, &c->values_capacity, (rows + 1) * width, err);
        c->values = block;
        if (status == ALD_OK && c->length == 0)
            memset(c->values, 0, width);
    }
    if (status == ALD_OK && c->valid) {
        block = c->valid;
        status = ald__text_grow(&c->alloc, &block, &c->valid_capacity, rows / 8, err);
        c->valid = block;
    }
    if (status == ALD_OK)
        c->row_capacity = rows;
    return status;
}

static ald_status nested_first_null(ald__builder *b, ald_error *err)
{
    ald__column *c = &b->column;
    void *block = NULL;
    ald_status status =
        ald__text_grow(&c->alloc, &block, &c->valid_capacity, c->row_capacity / 8, err);
    c->valid = block;
    if (status == ALD_OK)
        memset(c->valid, 0xFF, c->row_capacity / 8);
    return status;
}

static ald_status put_offset(ald__builder *b, ald_error *err)
{
    ald__column *c = &b->column;
    int64_t end = b->children[0].column.length;
    int32_t narrow = (int32_t)end;
    size_t at = (size_t)c->length + 1;
    if (offset_width(b) == 8) {
        memcpy(c->values + at * 8, &end, 8);
        return ALD_OK;
    }
    if (end > INT32_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "a list column has more than 2^31 items in one batch");
    memcpy(c->values + at * 4, &narrow, 4);
    return ALD_OK;
}

ald_status ald__builder_row(ald__builder *b, int is_valid, ald_error *err)
{
    ald__column *c = &b->column;
    ald_status status = nested_reserve(b, err);
    if (status == ALD_OK && !is_valid && !c->valid)
        status = nested_first_null(b, err);
    if (status == ALD_OK && offset_width(b))
        status = put_offset(b, err);
    if (status != ALD_OK)
        return status;
    if (c->valid)
        put_bit(c->valid, (size_t)c->length, is_valid);
    c->null_count += !is_valid;
    c->length++;
    return ALD_OK;
}

ald_status ald__builder_pad(ald__builder *b, int64_t length, ald_error *err)
{
    ald_status status = ALD_OK;
    int nested = is_nested(b);
    while (b->column.length < length && status == ALD_OK)
        status = nested ? ald__builder_row(b, 0, err) : ald__column_add_null(&b->column, err);
    return status;
}

/* The values of most columns. */

static inline int raw_double(const ald__plan *plan, const yyjson_val *value, double *out)
{
    ald__quick q;
    if (!ald__store_read_double(value, &q))
        return 0;
    *out = q.value;
    return q.is_faithful || !plan->is_checked;
}

static ald_status add_int64(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__column *c = &b->column;
    uint64_t bits = value->uni.u64;
    uint8_t tag = unsafe_yyjson_get_tag(value);
    int64_t parsed;
    uint32_t digits;
    if (unsafe_yyjson_is_raw(value) && ald__store_read_int(value, &parsed, &digits))
        bits = (uint64_t)parsed;
    else if (tag == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT)
                 ? bits > INT64_MAX
                 : tag != (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT))
        return ald__builder_convert(build, b, value);
    if (!ald__store_has_room(c))
        return ald__column_add_int64(c, (int64_t)bits, &build->fault->error);
    ald__store_eight(c, &bits);
    return ALD_OK;
}

static ald_status add_float64(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__column *c = &b->column;
    double number;
    if (unsafe_yyjson_is_num(value))
        number = unsafe_yyjson_get_num(value);
    else if (!unsafe_yyjson_is_raw(value) || !raw_double(b->plan, value, &number))
        return ald__builder_convert(build, b, value);
    if (!ald__store_has_room(c))
        return ald__column_add_double(c, number, &build->fault->error);
    ald__store_eight(c, &number);
    return ALD_OK;
}

static ald_status add_string(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__column *c = &b->column;
    if (!unsafe_yyjson_is_str(value))
        return ald__builder_convert(build, b, value);
    if (ald__store_has_room(c) && ald__store_string(c, value))
        return ALD_OK;
    return ald__column_add_bytes(c, unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value),
                                 &build->fault->error);
}

ald__builder *ald__builder_find(const ald__build *build, const ald__builder *b,
                                const yyjson_val *key, uint32_t *next)
{
    uint32_t at = ald__plan_find(build->plans, b->plan, unsafe_yyjson_get_str(key),
                                 unsafe_yyjson_get_len(key));
    if (at == b->plan->child_count)
        return NULL;
    *next = at + 1;
    return &b->children[at];
}

static ald_status check_required(ald__build *build, const ald__builder *b)
{
    for (uint32_t i = 0; i < b->plan->child_count; i++) {
        const ald__plan *field = b->plan->children[i];
        if (field->nullable || b->children[i].column.length > b->column.length)
            continue;
        (void)ald_error_set(&build->fault->error, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                            "missing, but declared as not nullable");
        ald__json_fault_step(build->fault, field->name, field->name_size);
        return ALD_E_SCHEMA_MISMATCH;
    }
    return ALD_OK;
}

/* It may be behind its parent, which means nulls, or ahead: the key came twice. */
ald_status ald__builder_turn(ald__build *build, const ald__builder *b, ald__builder *child)
{
    ald_error *err = &build->fault->error;
    if (child->column.length > b->column.length)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the same key twice in one object");
    if (child->column.length < b->column.length)
        return ald__builder_pad(child, b->column.length, err);
    return ALD_OK;
}

ald_status ald__builder_member(ald__build *build, const ald__builder *b, ald__builder *child,
                               yyjson_val *value)
{
    ald_status status;
    if (!child)
        return ald_error_set(&build->fault->error, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "a key that the schema does not have");
    status = ald__builder_turn(build, b, child);
    return status == ALD_OK ? ald__builder_value(build, child, value) : status;
}

/* Stores a number or text in a column that has room: 1 if it did. */
static inline int add_quickly(ald__builder *child, yyjson_val *value)
{
    ald__column *c = &child->column;
    uint8_t tag = unsafe_yyjson_get_tag(value);
    uint32_t digits;
    int64_t integer;
    double number;
    if (!ald__store_has_room(c))
        return 0;
    if (child->plan->op == ALD__PLAN_STRING)
        return unsafe_yyjson_is_str(value) && ald__store_string(c, value);
    if (child->plan->op == ALD__PLAN_INT64) {
        if (tag == YYJSON_TYPE_RAW ? !ald__store_read_int(value, &integer, &digits)
                                   : tag != (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT) &&
                                         (tag != (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT) ||
                                          value->uni.u64 > INT64_MAX))
            return 0;
        ald__store_eight(c, tag == YYJSON_TYPE_RAW ? &integer : &value->uni.i64);
        return 1;
    }
    if (child->plan->op != ALD__PLAN_FLOAT64)
        return 0;
    if (tag == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL))
        number = value->uni.f64;
    else if (tag != YYJSON_TYPE_RAW || !raw_double(child->plan, value, &number))
        return 0;
    ald__store_eight(c, &number);
    return 1;
}

/* Ends a row of a struct. */
ald_status ald__builder_end(ald__build *build, ald__builder *b)
{
    ald_status status = b->plan->has_required ? check_required(build, b) : ALD_OK;
    return status == ALD_OK ? ald__builder_row(b, 1, &build->fault->error) : status;
}

static ald_status add_object(ald__build *build, ald__builder *b, yyjson_val *value)
{
    int64_t row = b->column.length;
    yyjson_val *key;
    uint32_t next = 0;
    if (!unsafe_yyjson_is_obj(value))
        return ald__builder_mismatch(build, b, value);
    key = unsafe_yyjson_get_first(value);
    for (size_t count = unsafe_yyjson_get_len(value); count > 0; count--) {
        ald__builder *child = ald__builder_child(build, b, key, &next);
        if (!child || child->column.length != row || !add_quickly(child, key + 1)) {
            ald_status status = ald__builder_member(build, b, child, key + 1);
            if (status != ALD_OK) {
                ald__json_fault_step(build->fault, unsafe_yyjson_get_str(key),
                                     unsafe_yyjson_get_len(key));
                return status;
            }
        }
        key = unsafe_yyjson_get_next(key + 1);
    }
    return ald__builder_end(build, b);
}

static ald_status add_list(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__builder *items = &b->children[0];
    yyjson_val *item;
    ald_status status = ALD_OK;
    size_t count;
    if (!unsafe_yyjson_is_arr(value))
        return ald__builder_mismatch(build, b, value);
    count = unsafe_yyjson_get_len(value);
    if (b->plan->op == ALD__PLAN_FIXED_LIST) {
        if (count != (size_t)b->plan->list_size)
            return ald_error_set(&build->fault->error, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                                 "a list of %zu, the type wants %d", count, b->plan->list_size);
        status =
            ald__builder_pad(items, b->column.length * b->plan->list_size, &build->fault->error);
    }
    item = unsafe_yyjson_get_first(value);
    for (; count > 0 && status == ALD_OK; count--) {
        status = ald__builder_value(build, items, item);
        item = unsafe_yyjson_get_next(item);
    }
    if (status != ALD_OK) {
        ald__json_fault_step(build->fault, NULL, 0);
        return status;
    }
    return ald__builder_row(b, 1, &build->fault->error);
}

ald_status ald__builder_add(ald__build *build, ald__builder *b, yyjson_val *value)
{
    switch (b->plan->op) {
    case ALD__PLAN_INT64:
        return add_int64(build, b, value);
    case ALD__PLAN_FLOAT64:
        return add_float64(build, b, value);
    case ALD__PLAN_STRING:
        return add_string(build, b, value);
    case ALD__PLAN_BOOL:
        if (!unsafe_yyjson_is_bool(value))
            return ald__builder_mismatch(build, b, value);
        return ald__column_add_bool(&b->column, unsafe_yyjson_get_bool(value),
                                    &build->fault->error);
    case ALD__PLAN_LIST:
    case ALD__PLAN_FIXED_LIST:
        return add_list(build, b, value);
    case ALD__PLAN_STRUCT:
        return add_object(build, b, value);
    case ALD__PLAN_MAP:
        return ald__builder_map(build, b, value);
    default:
        return ald__builder_convert(build, b, value);
    }
}

ald_status ald__builder_value(ald__build *build, ald__builder *b, yyjson_val *value)
{
    if (unsafe_yyjson_is_null(value)) {
        if (!b->plan->nullable)
            return ald_error_set(&build->fault->error, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                                 "null, but declared as not nullable");
        return is_nested(b) ? ald__builder_row(b, 0, &build->fault->error)
                            : ald__column_add_null(&b->column, &build->fault->error);
    }
    return ald__builder_add(build, b, value);
}

ald_status ald__build_add(ald__build *build, yyjson_val *record)
{
    return add_object(build, &build->root, record);
}
