/* SPDX-License-Identifier: MIT */
/* The walk of the second pass, and the short ways for the types that most values have. */
#include "interchange/jsonl/json_build.h"

#include <string.h>

#include "interchange/jsonl/json_key.h"
#include "interchange/text/mem.h"
#include "interchange/text/quick.h"

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

/* Short ways into a column that has room. */

static void mark_valid(ald__column *c)
{
    if (c->valid) {
        size_t i = (size_t)c->length;
        if (i % 8 == 0)
            c->valid[i / 8] = 0;
        c->valid[i / 8] |= (uint8_t)(1u << (i % 8));
    }
    c->length++;
}

static int has_room(const ald__column *c)
{
    return (size_t)c->length < c->row_capacity;
}

/* Up to 15 digits of a number as text. */
static inline int raw_int64(const yyjson_val *value, int64_t *out)
{
    const uint8_t *p = (const uint8_t *)unsafe_yyjson_get_raw(value);
    size_t size = unsafe_yyjson_get_len(value), negative = *p == '-', n = size - negative;
    ald__swar_shape shape;
    if (n - 1 >= 15)
        return 0;
    shape = ald__swar_shape16(p + negative, (uint32_t)n);
    if (!shape.plain || shape.point != n || (negative && p[1] == '0'))
        return 0;
    *out = (int64_t)ald__swar_digits16(p + negative, (uint32_t)n);
    *out = negative ? -*out : *out;
    return 1;
}

static inline int raw_double(const ald__plan *plan, const yyjson_val *value, double *out)
{
    size_t size = unsafe_yyjson_get_len(value);
    ald__quick q;
    if (size > 32 ||
        !ald__quick_number((const uint8_t *)unsafe_yyjson_get_raw(value), (uint32_t)size, &q))
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
    if (unsafe_yyjson_is_raw(value) && raw_int64(value, &parsed))
        bits = (uint64_t)parsed;
    else if (tag == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT)
                 ? bits > INT64_MAX
                 : tag != (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT))
        return ald__builder_convert(build, b, value);
    if (!has_room(c))
        return ald__column_add_int64(c, (int64_t)bits, &build->fault->error);
    memcpy(c->values + (size_t)c->length * 8, &bits, 8);
    mark_valid(c);
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
    if (!has_room(c))
        return ald__column_add_double(c, number, &build->fault->error);
    memcpy(c->values + (size_t)c->length * 8, &number, 8);
    mark_valid(c);
    return ALD_OK;
}

static ald_status add_string(ald__build *build, ald__builder *b, yyjson_val *value)
{
    ald__column *c = &b->column;
    size_t size = unsafe_yyjson_get_len(value), end;
    int32_t offset;
    if (!unsafe_yyjson_is_str(value))
        return ald__builder_convert(build, b, value);
    end = c->bytes_size + size;
    if (!has_room(c) || c->width != 4 || end >= c->bytes_capacity || end > INT32_MAX)
        return ald__column_add_bytes(c, unsafe_yyjson_get_str(value), size, &build->fault->error);
    memcpy(c->bytes + c->bytes_size, unsafe_yyjson_get_str(value), size);
    c->bytes_size = end;
    mark_valid(c);
    offset = (int32_t)end;
    memcpy(c->values + (size_t)c->length * 4, &offset, 4);
    return ALD_OK;
}

/* The child of a key, looked for behind the last one first. */
static ald__builder *find_child(const ald__build *build, ald__builder *b, const char *name,
                                size_t size, uint32_t *next)
{
    const ald__plan *plan = b->plan;
    uint32_t at = *next;
    if (at >= plan->child_count || plan->children[at]->name_size != size ||
        !ald__json_same(plan->children[at]->name, name, size)) {
        at = ald__plan_find(build->plans, plan, name, size);
        if (at == plan->child_count)
            return NULL;
    }
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

/* The key's child was looked for; it may be behind its parent, which means nulls, or ahead: the key came twice. */
static ald_status add_member(ald__build *build, const ald__builder *b, ald__builder *child,
                             yyjson_val *value)
{
    ald_error *err = &build->fault->error;
    ald_status status = ALD_OK;
    if (!child)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "a key that the schema does not have");
    if (child->column.length > b->column.length)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the same key twice in one object");
    if (child->column.length < b->column.length)
        status = ald__builder_pad(child, b->column.length, err);
    return status == ALD_OK ? ald__builder_value(build, child, value) : status;
}

/* Stores a number or text in a column that has room and no null so far: 1 if it did. */
static inline int add_quickly(ald__builder *child, yyjson_val *value)
{
    ald__column *c = &child->column;
    uint8_t tag = unsafe_yyjson_get_tag(value);
    size_t at = (size_t)c->length, size;
    int32_t offset;
    int64_t integer;
    double number;
    if (at >= c->row_capacity || c->valid)
        return 0;
    if (child->plan->op == ALD__PLAN_STRING && unsafe_yyjson_is_str(value)) {
        size = unsafe_yyjson_get_len(value);
        if (size >= c->bytes_capacity - c->bytes_size || c->bytes_size + size > INT32_MAX)
            return 0;
        memcpy(c->bytes + c->bytes_size, unsafe_yyjson_get_str(value), size);
        c->bytes_size += size;
        offset = (int32_t)c->bytes_size;
        memcpy(c->values + (at + 1) * 4, &offset, 4);
    } else if (child->plan->op == ALD__PLAN_INT64 &&
               (tag == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_SINT) ||
                (tag == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_UINT) && value->uni.u64 <= INT64_MAX))) {
        memcpy(c->values + at * 8, &value->uni.u64, 8);
    } else if (child->plan->op == ALD__PLAN_FLOAT64 &&
               tag == (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL)) {
        memcpy(c->values + at * 8, &value->uni.f64, 8);
    } else if (tag != YYJSON_TYPE_RAW) {
        return 0;
    } else if (child->plan->op == ALD__PLAN_INT64 && raw_int64(value, &integer)) {
        memcpy(c->values + at * 8, &integer, 8);
    } else if (child->plan->op == ALD__PLAN_FLOAT64 && raw_double(child->plan, value, &number)) {
        memcpy(c->values + at * 8, &number, 8);
    } else {
        return 0;
    }
    c->length++;
    return 1;
}

static ald_status add_object(ald__build *build, ald__builder *b, yyjson_val *value)
{
    int64_t row = b->column.length;
    yyjson_val *key;
    uint32_t next = 0;
    ald_status status;
    if (!unsafe_yyjson_is_obj(value))
        return ald__builder_mismatch(build, b, value);
    key = unsafe_yyjson_get_first(value);
    for (size_t count = unsafe_yyjson_get_len(value); count > 0; count--) {
        const char *name = unsafe_yyjson_get_str(key);
        size_t size = unsafe_yyjson_get_len(key);
        ald__builder *child = find_child(build, b, name, size, &next);
        if (!child || child->column.length != row || !add_quickly(child, key + 1)) {
            status = add_member(build, b, child, key + 1);
            if (status != ALD_OK) {
                ald__json_fault_step(build->fault, name, size);
                return status;
            }
        }
        key = unsafe_yyjson_get_next(key + 1);
    }
    status = b->plan->has_required ? check_required(build, b) : ALD_OK;
    return status == ALD_OK ? ald__builder_row(b, 1, &build->fault->error) : status;
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
