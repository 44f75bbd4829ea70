/* SPDX-License-Identifier: MIT */
/* The form of every node: buffers, children, lengths, extents, null counts. Values are in validate_values.c and
 * validate_views.c, nulls against nullability in validate_nulls.c. */
#include "core/arrow/validate.h"

#include <stdarg.h>

#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/arrow/validate_values.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/fail.h"
#include "core/base/format.h"

static void path_text(const ald__validator *v, char *out, size_t cap)
{
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < v->depth && used < cap; i++) {
        const char *name = ald__schema_name(v->path[i]);
        if (name[0] != '\0')
            used += ald__format(out + used, cap - used, used > 0 ? ".%s" : "%s", name);
    }
}

ald_status ald__validate_fail(const ald__validator *v, int64_t row, const char *fmt, ...)
{
    char what[140], path[80];
    va_list args;
    va_start(args, fmt);
    (void)ald__vformat(what, sizeof what, 1, fmt, args);
    va_end(args);
    path_text(v, path, sizeof path);
    if (row < 0)
        return ald__fail(v->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "column '%s': %s", path,
                         what);
    return ald__fail(v->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "column '%s', row %lld: %s", path,
                     (long long)row, what);
}

/* n_buffers that the C data interface asks for; views: at least so many. */
static int64_t expected_buffers(const ald__type *type)
{
    return type->buffer_count + (ald__type_is_view(type) ? 1 : 0);
}

static ald_status check_form(const ald__validator *v, const ald__node_view *n)
{
    const struct ArrowArray *a = n->array;
    int64_t buffers = expected_buffers(n->type);
    int64_t children = n->schema->dictionary != NULL ? 0 : n->schema->n_children;
    if (a->length < 0 || a->offset < 0 || a->length > INT64_MAX - a->offset)
        return ald__validate_fail(v, -1, "length %lld at offset %lld", (long long)a->length,
                                  (long long)a->offset);
    if (ald__type_is_view(n->type) ? a->n_buffers < buffers : a->n_buffers != buffers)
        return ald__validate_fail(v, -1, "%lld buffers, expected %lld", (long long)a->n_buffers,
                                  (long long)buffers);
    if (a->n_children != children || (n->schema->dictionary != NULL) != (a->dictionary != NULL))
        return ald__validate_fail(v, -1, "children or dictionary do not fit the type");
    if ((a->n_buffers > 0 && a->buffers == NULL) || (children > 0 && a->children == NULL))
        return ald__validate_fail(v, -1, "no buffers or children");
    for (int64_t i = 0; i < children; i++) {
        if (a->children[i] == NULL || a->children[i]->release == NULL)
            return ald__validate_fail(v, -1, "child %lld is a released array", (long long)i);
    }
    if (a->dictionary != NULL && a->dictionary->release == NULL)
        return ald__validate_fail(v, -1, "the dictionary is a released array");
    return ALD_OK;
}

static ald_status check_extents(const ald__validator *v, const ald__node_view *n)
{
    for (int64_t i = n->type->has_validity; i < n->type->buffer_count; i++) {
        ald__buffer_rule rule = ald__layout_buffer(n->type, i, n->array->offset + n->array->length);
        uint64_t size = n->sizes != NULL ? n->sizes[i] : rule.bytes;
        if (n->array->buffers[i] == NULL && n->array->length > 0 && rule.bytes > 0)
            return ald__validate_fail(v, -1, "buffer %lld is missing", (long long)i);
        if (size < rule.bytes || rule.bytes == UINT64_MAX)
            return ald__validate_fail(v, -1, "%lld rows need %llu bytes in buffer %lld, found %llu",
                                      (long long)n->array->length, (unsigned long long)rule.bytes,
                                      (long long)i, (unsigned long long)size);
    }
    return ALD_OK;
}

/* Sets n->validity, unless the bitmap has no zero. */
static ald_status check_validity(const ald__validator *v, ald__node_view *n)
{
    const struct ArrowArray *a = n->array;
    uint64_t begin = (uint64_t)a->offset, end = (uint64_t)(a->offset + a->length), nulls;
    const uint8_t *bitmap;
    if (!n->type->has_validity)
        return ALD_OK;
    bitmap = a->buffers[0];
    if (bitmap == NULL && a->null_count > 0)
        return ald__validate_fail(v, -1, "null count %lld without a validity buffer",
                                  (long long)a->null_count);
    if (bitmap == NULL)
        return ALD_OK;
    if (n->sizes != NULL && n->sizes[0] < ald__layout_bitmap(end))
        return ald__validate_fail(v, -1, "%lld rows need %llu bytes of validity, found %llu",
                                  (long long)a->length, (unsigned long long)ald__layout_bitmap(end),
                                  (unsigned long long)n->sizes[0]);
    nulls = end - begin - ald__bits_count(bitmap, begin, end - begin);
    if (a->null_count != -1 && (uint64_t)a->null_count != nulls)
        return ald__validate_fail(v, -1, "null count %lld, but %llu nulls",
                                  (long long)a->null_count, (unsigned long long)nulls);
    n->validity = nulls > 0 ? bitmap : NULL;
    return ALD_OK;
}

static ald_status check_child_length(const ald__validator *v, const ald__node_view *n,
                                     int64_t child, uint64_t least)
{
    int64_t length = n->array->children[child]->length;
    if ((uint64_t)length >= least)
        return ALD_OK;
    return ald__validate_fail(v, -1, "child %lld has %lld values, expected %llu", (long long)child,
                              (long long)length, (unsigned long long)least);
}

static ald_status check_struct(const ald__validator *v, const ald__node_view *n)
{
    for (int64_t i = 0; i < n->array->n_children; i++)
        ALD_TRY(check_child_length(v, n, i, (uint64_t)(n->array->offset + n->array->length)));
    return ALD_OK;
}

static ald_status check_fixed_list(const ald__validator *v, const ald__node_view *n)
{
    uint64_t items;
    if (!ald__mul_u64((uint64_t)(n->array->offset + n->array->length), (uint64_t)n->type->list_size,
                      &items))
        return ald__validate_fail(v, -1, "%lld rows of %d values", (long long)n->array->length,
                                  (int)n->type->list_size);
    return check_child_length(v, n, 0, items);
}

static ald_status check_values(const ald__validator *v, const ald__node_view *n)
{
    if (n->schema->dictionary != NULL)
        return ald__validate_indices(v, n);
    switch (n->type->id) {
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return ald__validate_strings(v, n);
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return ald__validate_views(v, n);
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return ald__validate_offsets(v, n, (uint64_t)n->array->children[0]->length);
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return ald__validate_list_views(v, n);
    case ALD__FIXED_LIST:
        return check_fixed_list(v, n);
    case ALD__STRUCT:
        return check_struct(v, n);
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return ald__validate_union(v, n);
    case ALD__RUN_END:
        return ald__validate_runs(v, n);
    default:
        return ALD_OK;
    }
}

static ald_status validate_node(ald__validator *v, const struct ArrowSchema *schema,
                                const struct ArrowArray *array);

/* Values that a dictionary's indices refer to, when nobody has looked at them yet. */
static ald_status validate_dictionary(ald__validator *v, const ald__node_view *n)
{
    struct ArrowSchema values;
    if (v->sizes != NULL || n->array->dictionary == NULL)
        return ALD_OK;
    values = *n->schema->dictionary;
    values.flags |= ARROW_FLAG_NULLABLE;
    ALD_TRY(validate_node(v, &values, n->array->dictionary));
    return ald__validate_nulls(v, &values, n->array->dictionary);
}

/* Children before values: those refer to them. */
static ald_status validate_children(ald__validator *v, ald__node_view *n)
{
    ALD_TRY(check_form(v, n));
    n->sizes = v->sizes;
    if (v->sizes != NULL)
        v->sizes += n->array->n_buffers;
    ALD_TRY(check_extents(v, n));
    ALD_TRY(check_validity(v, n));
    for (int64_t i = 0; i < n->array->n_children; i++)
        ALD_TRY(validate_node(v, n->schema->children[i], n->array->children[i]));
    return validate_dictionary(v, n);
}

static ald_status validate_node(ald__validator *v, const struct ArrowSchema *schema,
                                const struct ArrowArray *array)
{
    ald__type type;
    ald__node_view n = {schema, array, &type, NULL, NULL};
    if (v->depth >= ALD__VALIDATE_LEVELS)
        return ald__fail(v->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "types nest deeper than %d levels", ALD__MAX_TYPE_DEPTH);
    ALD_TRY(ald__type_of(schema, &type, v->err));
    v->path[v->depth++] = schema;
    ALD_TRY(validate_children(v, &n));
    ALD_TRY(check_values(v, &n));
    v->depth--;
    return ALD_OK;
}

ald_status ald__array_validate(const ald_allocator *alloc, const struct ArrowSchema *schema,
                               const struct ArrowArray *array, const uint64_t *sizes,
                               ald_error *err)
{
    ald__validator v = {.alloc = alloc, .sizes = sizes, .err = err};
    if (array->release == NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "a released array");
    ALD_TRY(validate_node(&v, schema, array));
    v.depth = 0;
    return ald__validate_nulls(&v, schema, array);
}
