/* SPDX-License-Identifier: MIT */
/* Which Arrow types JSON values can fill, and how. */
#include "interchange/jsonl/json_plan_declared.h"

#include <string.h>

#include "interchange/jsonl/json_fault.h"
#include "interchange/text/column.h"

typedef struct declared {
    ald__plans *plans;
    ald_error *err;
} declared;

static ald_status from_field(declared *d, const struct ArrowSchema *field, const ald__plan *parent,
                             unsigned depth, ald__plan **out);

static int is_format(const char *format, const char *what)
{
    return strlen(format) == strlen(what) && memcmp(format, what, strlen(what)) == 0;
}

static ald_status unsupported(declared *d, const struct ArrowSchema *field)
{
    return ald_error_set(d->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "column '%.60s': JSON cannot be read into the Arrow type '%.40s'",
                         field->name ? field->name : "", field->format);
}

/* "+w:12": the number behind the colon; 0: none that is above 0. */
static int32_t fixed_size(const char *format)
{
    int64_t size = 0;
    for (const char *p = format + 3; *p; p++) {
        if (*p < '0' || *p > '9' || size > INT32_MAX / 10)
            return 0;
        size = size * 10 + (*p - '0');
    }
    return size <= INT32_MAX ? (int32_t)size : 0;
}

static ald_status children_of(declared *d, const struct ArrowSchema *field, unsigned depth,
                              ald__plan *plan)
{
    for (uint32_t i = 0; i < plan->child_count; i++) {
        const struct ArrowSchema *child = field->children[i];
        const char *name = child->name ? child->name : "";
        ald_status status = from_field(d, child, plan, depth, &plan->children[i]);
        if (status == ALD_OK && plan->op == ALD__PLAN_STRUCT)
            status = ald__plan_set_name(d->plans, plan->children[i], name, strlen(name), d->err);
        if (status != ALD_OK)
            return status;
        plan->has_required |= !plan->children[i]->nullable;
    }
    return ALD_OK;
}

/* Two columns of one name would both want the one value of that key. */
static ald_status check_names(declared *d, const struct ArrowSchema *field, ald__plan *plan)
{
    ald_status status = ald__plan_hash_fields(d->plans, plan, d->err);
    if (status != ALD_OK)
        return status;
    for (uint32_t i = 0; i < plan->child_count; i++) {
        const ald__plan *child = plan->children[i];
        if (ald__plan_find(d->plans, plan, child->name, child->name_size) != i)
            return ald_error_set(d->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "the schema names '%.60s' twice in '%.60s'", child->name,
                                 field->name ? field->name : "");
    }
    return ALD_OK;
}

static ald_status nested(declared *d, const struct ArrowSchema *field, const ald__plan *parent,
                         ald__plan_op op, unsigned depth, ald__plan **out)
{
    ald__plan *plan;
    ald_status status;
    if (depth >= ALD__JSON_MAX_DEPTH)
        return ald_error_set(d->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the schema is nested deeper than %d levels", ALD__JSON_MAX_DEPTH);
    plan = ald__plan_new(d->plans, op, field->format, parent, (size_t)field->n_children, d->err);
    *out = plan;
    if (!plan)
        return ALD_E_NOMEM;
    plan->is_large = is_format(field->format, "+L") != 0;
    if (op == ALD__PLAN_FIXED_LIST)
        plan->list_size = fixed_size(field->format);
    status = children_of(d, field, depth + 1, plan);
    if (status == ALD_OK && op == ALD__PLAN_STRUCT)
        status = check_names(d, field, plan);
    return status;
}

static ald_status dictionary(declared *d, const struct ArrowSchema *field, const ald__plan *parent,
                             unsigned depth, ald__plan **out)
{
    const struct ArrowSchema *values = field->dictionary;
    ald__plan *plan;
    if (!is_format(values->format, "u") && !is_format(values->format, "U"))
        return unsupported(d, field);
    plan = ald__plan_new(d->plans, ALD__PLAN_DICTIONARY, field->format, parent, 1, d->err);
    *out = plan;
    if (!plan)
        return ALD_E_NOMEM;
    return from_field(d, values, plan, depth + 1, &plan->children[0]);
}

static ald_status scalar(declared *d, const struct ArrowSchema *field, const ald__plan *parent,
                         ald__plan **out)
{
    ald_allocator *alloc = (ald_allocator *)(uintptr_t)d->plans->blocks.alloc;
    ald__plan_op op = ALD__PLAN_CONVERT;
    ald__column column;
    ald_error ignored;
    if (ald__column_init(&column, field->format, alloc, &ignored) != ALD_OK)
        return unsupported(d, field);
    if (column.store == ALD__STORE_NULL)
        op = ALD__PLAN_NULL;
    else if (column.store == ALD__STORE_BOOL)
        op = ALD__PLAN_BOOL;
    else if (column.store == ALD__STORE_TEXT)
        op = ALD__PLAN_TEXT;
    ald__column_clear(&column);
    *out = ald__plan_new(d->plans, op, field->format, parent, 0, d->err);
    return *out ? ALD_OK : ALD_E_NOMEM;
}

static ald_status by_format(declared *d, const struct ArrowSchema *field, const ald__plan *parent,
                            unsigned depth, ald__plan **out)
{
    const char *format = field->format;
    if (field->dictionary)
        return dictionary(d, field, parent, depth, out);
    if (is_format(format, "+s"))
        return nested(d, field, parent, ALD__PLAN_STRUCT, depth, out);
    if (is_format(format, "+l") || is_format(format, "+L"))
        return nested(d, field, parent, ALD__PLAN_LIST, depth, out);
    if (is_format(format, "+m"))
        return nested(d, field, parent, ALD__PLAN_MAP, depth, out);
    if (strlen(format) > 3 && memcmp(format, "+w:", 3) == 0)
        return nested(d, field, parent, ALD__PLAN_FIXED_LIST, depth, out);
    if (format[0] == '+')
        return unsupported(d, field);
    return scalar(d, field, parent, out);
}

static ald_status from_field(declared *d, const struct ArrowSchema *field, const ald__plan *parent,
                             unsigned depth, ald__plan **out)
{
    ald_status status = by_format(d, field, parent, depth, out);
    if (status == ALD_OK)
        (*out)->nullable = (field->flags & ARROW_FLAG_NULLABLE) != 0;
    return status;
}

/* Children that a nested format must have; the rest of a foreign schema is the type parser's to judge. */
static ald_status check_shape(declared *d, const struct ArrowSchema *field, unsigned depth)
{
    const char *format = field->format;
    int64_t wanted = -1;
    ald_status status = ALD_OK;
    if (!format || depth > ALD__JSON_MAX_DEPTH)
        return ald_error_set(d->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the schema has no types, or is nested too deeply");
    if (is_format(format, "+l") || is_format(format, "+L") || is_format(format, "+m") ||
        (strlen(format) > 3 && memcmp(format, "+w:", 3) == 0))
        wanted = 1;
    if ((wanted >= 0 && field->n_children != wanted) || field->n_children < 0 ||
        (is_format(format, "+m") &&
         (field->children[0]->n_children != 2 || !is_format(field->children[0]->format, "+s"))) ||
        field->n_children > (int64_t)ALD__JSON_MAX_FIELDS)
        return ald_error_set(d->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "column '%.60s': wrong children for the type '%.40s'",
                             field->name ? field->name : "", format);
    for (int64_t i = 0; i < field->n_children && status == ALD_OK; i++)
        status = check_shape(d, field->children[i], depth + 1);
    if (status == ALD_OK && field->dictionary)
        status = check_shape(d, field->dictionary, depth + 1);
    return status;
}

ald_status ald__plan_from_schema(ald__plans *plans, const struct ArrowSchema *field,
                                 const ald__plan *parent, ald__plan **out, ald_error *err)
{
    declared d = {plans, err};
    ald_status status = check_shape(&d, field, 0);
    if (status == ALD_OK && !parent && !is_format(field->format, "+s"))
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "not the schema of a table");
    return status == ALD_OK ? from_field(&d, field, parent, parent ? 1 : 0, out) : status;
}
