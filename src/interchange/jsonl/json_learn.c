/* SPDX-License-Identifier: MIT */
/* Each builder remembers its place of the tree. A value that its place has met the like of is only stored, and its number is
 * read once for both; all else goes through inference and the builders one after the other. */
#include "interchange/jsonl/json_learn.h"

#include "interchange/jsonl/json_store.h"

static void forget_places(ald__builder *b)
{
    b->met = NULL;
    for (uint32_t i = 0; b->plan->op == ALD__PLAN_STRUCT && i < b->plan->child_count; i++)
        forget_places(&b->children[i]); /* as deep as plans are */
}

void ald__learn_begin(ald__build *build)
{
    forget_places(&build->root);
}

static inline int learn_int(ald__column *c, ald__profile *seen, const yyjson_val *value)
{
    int64_t number;
    uint32_t digits;
    if (!ald__store_read_int(value, &number, &digits) || digits > seen->int_digits ||
        !seen->count[ALD__TOKEN_INT] || (number < 0 && !(seen->flags & ALD__TOKEN_NEGATIVE)))
        return 0;
    seen->count[ALD__TOKEN_INT]++;
    ald__store_eight(c, &number);
    return 1;
}

static inline int learn_double(ald__column *c, ald__profile *seen, const yyjson_val *value)
{
    int kind = ALD__TOKEN_FLOAT;
    ald__quick q;
    if (!ald__store_read_double(value, &q) || !q.is_faithful || q.whole > seen->int_digits ||
        q.decimals > seen->frac_digits || (q.has_exponent && !(seen->flags & ALD__TOKEN_EXPONENT)))
        return 0;
    if (q.is_int) {
        kind = ALD__TOKEN_INT;
        if (q.value < 0 && !(seen->flags & ALD__TOKEN_NEGATIVE))
            return 0;
    }
    if (!seen->count[kind])
        return 0;
    seen->count[kind]++;
    ald__store_eight(c, &q.value);
    return 1;
}

/* A value that tells nothing new, and that its column has room for. */
static inline int learn_quickly(ald__builder *child, const yyjson_val *value)
{
    ald__column *c = &child->column;
    ald__place *place = child->met;
    if (!place || !ald__store_has_room(c))
        return 0;
    if (unsafe_yyjson_is_raw(value)) {
        if (!place->numbers)
            return 0;
        if (child->plan->op == ALD__PLAN_INT64)
            return learn_int(c, place->numbers, value);
        return child->plan->op == ALD__PLAN_FLOAT64 && learn_double(c, place->numbers, value);
    }
    return child->plan->op == ALD__PLAN_STRING && unsafe_yyjson_is_str(value) &&
           (place->settled & (1u << YYJSON_TYPE_STR)) && ald__store_string(c, value);
}

static ald_status learn_object(ald__build *build, ald__infer *infer, ald__builder *b,
                               ald__place *place, yyjson_val *object, unsigned depth);

/* The long way of a member. `child` is NULL when no column was expected of the key. */
static ald_status learn_member(ald__build *build, ald__infer *infer, const ald__builder *b,
                               ald__builder *child, ald__place *place, yyjson_val *key,
                               unsigned depth)
{
    ald__place *field = child ? child->met : NULL;
    ald_status status = ALD_OK;
    if (!field)
        status = ald__infer_field(infer, place, key, &field);
    if (status != ALD_OK)
        return status;
    if (child)
        child->met = field;
    if (!child || child->plan->op != ALD__PLAN_STRUCT || !unsafe_yyjson_is_obj(key + 1) ||
        field->declared) {
        status = ald__infer_value(infer, field, key + 1, depth);
        return status == ALD_OK ? ald__builder_member(build, b, child, key + 1) : status;
    }
    status = ald__builder_turn(build, b, child);
    return status == ALD_OK ? learn_object(build, infer, child, field, key + 1, depth + 1) : status;
}

static ald_status learn_object(ald__build *build, ald__infer *infer, ald__builder *b,
                               ald__place *place, yyjson_val *object, unsigned depth)
{
    yyjson_val *key = unsafe_yyjson_get_first(object);
    int64_t row = b->column.length;
    uint32_t next = 0;
    ald__infer_object(infer, place);
    for (size_t count = unsafe_yyjson_get_len(object); count > 0; count--) {
        ald__builder *child = ald__builder_child(build, b, key, &next);
        if (!child || child->column.length != row || !learn_quickly(child, key + 1)) {
            ald_status status = learn_member(build, infer, b, child, place, key, depth);
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

ald_status ald__learn_record(ald__build *build, ald__infer *infer, yyjson_val *record)
{
    return learn_object(build, infer, &build->root, infer->tree->root, record, 1);
}
