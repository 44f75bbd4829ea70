/* SPDX-License-Identifier: MIT */
/* What callers do with whole schemas: copy, compare, and read or change metadata. */
#include <string.h>

#include "ald/schema.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/type.h"
#include "core/arrow/type_text.h"
#include "core/base/buf.h"
#include "core/base/fail.h"
#include "core/base/format.h"

/* A dictionary's values are one level deeper here, so that no chain of dictionaries is endless. */
#define SCHEMA_MAX_DEPTH (2 * ALD__MAX_TYPE_DEPTH)

/* Rest of two metadata lists, behind what is the same in the same order, that are compared pair by pair. */
#define MAX_METADATA_PAIRS 20000

static ald_status too_deep(const struct ArrowSchema *schema, ald_error *err)
{
    return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "column '%s': types nest too deep",
                     ald__schema_name(schema));
}

static ald_status copy_texts(const struct ArrowSchema *from, struct ArrowSchema *out,
                             ald_error *err)
{
    const char *name = ald__schema_name(from);
    ALD_TRY(ald__schema_set_format(out, from->format, strlen(from->format), err));
    if (name[0] != '\0')
        ALD_TRY(ald__schema_set_name(out, name, strlen(name), err));
    out->flags = from->flags;
    return ald__schema_set_metadata(out, from->metadata, ald__metadata_size(from->metadata), err);
}

/* Leaves a half-made copy in *out, whose release frees all of it. */
static ald_status copy_node(const ald_allocator *alloc, const struct ArrowSchema *from,
                            unsigned depth, struct ArrowSchema *out, ald_error *err)
{
    if (depth > SCHEMA_MAX_DEPTH)
        return too_deep(from, err);
    if (from->release == NULL || from->format == NULL || from->n_children < 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the schema is a released one");
    ALD_TRY(ald__schema_new(alloc, (size_t)from->n_children, from->dictionary != NULL, out, err));
    ALD_TRY(copy_texts(from, out, err));
    for (int64_t i = 0; i < from->n_children; i++)
        ALD_TRY(copy_node(alloc, from->children[i], depth + 1, out->children[i], err));
    if (from->dictionary != NULL)
        return copy_node(alloc, from->dictionary, depth + 1, out->dictionary, err);
    return ALD_OK;
}

ald_status ald_schema_copy(const ald_host *host, const struct ArrowSchema *from,
                           struct ArrowSchema *out, ald_error *err)
{
    struct ArrowSchema copy = {0};
    ald_status status = copy_node(&host->alloc, from, 0, &copy, err);
    if (status != ALD_OK && copy.release != NULL)
        copy.release(&copy);
    *out = copy;
    return status;
}

/* ---- Comparison */

/* From the root to the field at hand, for messages. */
typedef struct field_path {
    const struct field_path *parent;
    const char *name;
    unsigned depth;
} field_path;

static size_t path_write(const field_path *path, char *out, size_t cap)
{
    size_t used = path->parent != NULL ? path_write(path->parent, out, cap) : 0;
    if (used + 1 < cap)
        used += ald__format(out + used, cap - used, "%s%s", used > 0 ? "." : "", path->name);
    return used < cap ? used : cap - 1;
}

/* "column 'a.b': expected …, found …" */
static ald_status differ(const field_path *path, ald_error *err, const char *expected,
                         const char *found)
{
    char name[96] = "";
    (void)path_write(path, name, sizeof name);
    if (name[0] == '\0')
        return ald__fail(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "the table: expected %s, found %s", expected, found);
    return ald__fail(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                     "column '%s': expected %s, found %s", name, expected, found);
}

__attribute__((noinline)) static ald_status differ_types(const field_path *path,
                                                         const struct ArrowSchema *a,
                                                         const struct ArrowSchema *b,
                                                         ald_error *err)
{
    char expected[64], found[64];
    ald__type_print(a, expected, sizeof expected);
    ald__type_print(b, found, sizeof found);
    return differ(path, err, expected, found);
}

__attribute__((noinline)) static ald_status differ_names(const field_path *path,
                                                         const struct ArrowSchema *a,
                                                         const struct ArrowSchema *b,
                                                         ald_error *err)
{
    char expected[80], found[80];
    (void)ald__format(expected, sizeof expected, "a field '%s'", ald__schema_name(a));
    (void)ald__format(found, sizeof found, "'%s'", ald__schema_name(b));
    return differ(path, err, expected, found);
}

static int same_text(const char *a, const char *b)
{
    size_t size = strlen(a);
    return size == strlen(b) && memcmp(a, b, size) == 0;
}

/* Format strings alone would take "d:5,2" and "d:5,2,128" for different types. */
__attribute__((noinline)) static ald_status
same_types(const struct ArrowSchema *a, const struct ArrowSchema *b, int *same, ald_error *err)
{
    ald__type x, y;
    int64_t mask = 0;
    ALD_TRY(ald__type_of(a, &x, err));
    ALD_TRY(ald__type_of(b, &y, err));
    if (x.id == ALD__MAP)
        mask |= ARROW_FLAG_MAP_KEYS_SORTED;
    if (a->dictionary != NULL)
        mask |= ARROW_FLAG_DICTIONARY_ORDERED;
    *same = x.id == y.id && x.byte_width == y.byte_width && x.list_size == y.list_size &&
            x.precision == y.precision && x.scale == y.scale && x.unit == y.unit &&
            same_text(x.zone, y.zone) && same_text(x.type_ids, y.type_ids) &&
            (a->flags & mask) == (b->flags & mask) &&
            (a->dictionary != NULL) == (b->dictionary != NULL);
    return ALD_OK;
}

static int same_pair(const ald__metadata_iter *a, const ald__metadata_iter *b)
{
    return a->key_size == b->key_size && a->value_size == b->value_size &&
           memcmp(a->key, b->key, a->key_size) == 0 &&
           memcmp(a->value, b->value, a->value_size) == 0;
}

static size_t count_pair(ald__metadata_iter list, const ald__metadata_iter *pair)
{
    size_t count = 0;
    while (ald__metadata_next(&list))
        count += (size_t)same_pair(&list, pair);
    return count;
}

static ald_status differ_metadata(const field_path *path, const ald__metadata_iter *pair,
                                  int is_missing, ald_error *err)
{
    char key[72];
    (void)ald__format(key, sizeof key, "metadata '%.*s'",
                      pair->key_size > 50 ? 50 : (int)pair->key_size, pair->key);
    return is_missing ? differ(path, err, key, "none, or another value")
                      : differ(path, err, "no such metadata", key);
}

/* As multisets. Without memory to sort in, what is not in the same order costs its square. */
__attribute__((noinline)) static ald_status same_metadata(const struct ArrowSchema *a,
                                                          const struct ArrowSchema *b,
                                                          const field_path *path, ald_error *err)
{
    ald__metadata_iter x = ald__metadata_begin(a->metadata), y = ald__metadata_begin(b->metadata);
    ald__metadata_iter left, right, pair;
    do {
        left = x;
        right = y;
    } while (ald__metadata_next(&x) && ald__metadata_next(&y) && same_pair(&x, &y));
    if (left.left + (int64_t)right.left > MAX_METADATA_PAIRS)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "more than %d metadata pairs in different order", MAX_METADATA_PAIRS);
    for (pair = left; ald__metadata_next(&pair);) {
        if (count_pair(left, &pair) != count_pair(right, &pair))
            return differ_metadata(path, &pair, 1, err);
    }
    for (pair = right; ald__metadata_next(&pair);) {
        if (count_pair(left, &pair) == 0)
            return differ_metadata(path, &pair, 0, err);
    }
    return ALD_OK;
}

__attribute__((noinline)) static ald_status differ_count(const field_path *path,
                                                         const struct ArrowSchema *a,
                                                         const struct ArrowSchema *b,
                                                         ald_error *err)
{
    char expected[40], found[40];
    (void)ald__format(expected, sizeof expected, "%lld fields", (long long)a->n_children);
    (void)ald__format(found, sizeof found, "%lld", (long long)b->n_children);
    return differ(path, err, expected, found);
}

static ald_status compare_nodes(const struct ArrowSchema *a, const struct ArrowSchema *b,
                                int with_metadata, const field_path *path, ald_error *err);

static ald_status compare_children(const struct ArrowSchema *a, const struct ArrowSchema *b,
                                   int with_metadata, const field_path *path, ald_error *err)
{
    if (a->n_children != b->n_children)
        return differ_count(path, a, b, err);
    for (int64_t i = 0; i < a->n_children; i++) {
        const struct ArrowSchema *x = a->children[i], *y = b->children[i];
        field_path child = {path, ald__schema_name(x), path->depth + 1};
        if (!same_text(ald__schema_name(x), ald__schema_name(y)))
            return differ_names(path, x, y, err);
        if (((x->flags ^ y->flags) & ARROW_FLAG_NULLABLE) != 0)
            return differ(&child, err,
                          (x->flags & ARROW_FLAG_NULLABLE) != 0 ? "nullable" : "not null",
                          (y->flags & ARROW_FLAG_NULLABLE) != 0 ? "nullable" : "not null");
        ALD_TRY(compare_nodes(x, y, with_metadata, &child, err));
    }
    return ALD_OK;
}

/* Type, children, values of a dictionary, metadata; name and nullability are the parent's to compare. */
static ald_status compare_nodes(const struct ArrowSchema *a, const struct ArrowSchema *b,
                                int with_metadata, const field_path *path, ald_error *err)
{
    int same = 0;
    if (path->depth > SCHEMA_MAX_DEPTH)
        return too_deep(a, err);
    ALD_TRY(same_types(a, b, &same, err));
    if (!same)
        return differ_types(path, a, b, err);
    ALD_TRY(compare_children(a, b, with_metadata, path, err));
    if (a->dictionary != NULL) {
        field_path values = {path->parent, path->name, path->depth + 1};
        ALD_TRY(compare_nodes(a->dictionary, b->dictionary, with_metadata, &values, err));
    }
    return with_metadata ? same_metadata(a, b, path, err) : ALD_OK;
}

ald_status ald_schema_compare(const struct ArrowSchema *expected, const struct ArrowSchema *found,
                              int with_metadata, ald_error *err)
{
    field_path root = {NULL, "", 0};
    return compare_nodes(expected, found, with_metadata, &root, err);
}

/* ---- Metadata */

static int is_key(const ald__metadata_iter *pair, const char *key, size_t key_size)
{
    return pair->key_size == key_size && memcmp(pair->key, key, key_size) == 0;
}

const char *ald_schema_get_metadata(const struct ArrowSchema *schema, const char *key, size_t *size)
{
    ald__metadata_iter iter = ald__metadata_begin(schema->metadata);
    size_t key_size = strlen(key);
    while (ald__metadata_next(&iter)) {
        if (!is_key(&iter, key, key_size))
            continue;
        *size = iter.value_size;
        return iter.value;
    }
    *size = 0;
    return NULL;
}

/* The new pair takes the place of the first of its key; others of that key go. */
static ald_status rebuild_metadata(const struct ArrowSchema *schema, const char *key,
                                   const char *value, size_t value_size, ald_buffer *out,
                                   ald_error *err)
{
    ald__metadata_iter iter = ald__metadata_begin(schema->metadata);
    size_t key_size = strlen(key);
    int todo = value != NULL;
    while (ald__metadata_next(&iter)) {
        int same = is_key(&iter, key, key_size);
        if (!same)
            ALD_TRY(ald__metadata_append(out, iter.key, iter.key_size, iter.value, iter.value_size,
                                         err));
        else if (todo)
            ALD_TRY(ald__metadata_append(out, key, key_size, value, value_size, err));
        todo = todo && !same;
    }
    return todo ? ald__metadata_append(out, key, key_size, value, value_size, err) : ALD_OK;
}

ald_status ald_schema_set_metadata(const ald_host *host, struct ArrowSchema *schema,
                                   const char *key, const char *value, size_t value_size,
                                   ald_error *err)
{
    ald_buffer encoded = {NULL, 0, 0, &host->alloc};
    ald_status status;
    if (!ald__schema_is_own(schema))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "metadata can be set on this library's own schemas alone: copy it first");
    status = rebuild_metadata(schema, key, value, value_size, &encoded, err);
    if (status == ALD_OK)
        status = ald__schema_set_metadata(schema, encoded.data, encoded.size, err);
    ald_buffer_clear(&encoded);
    return status;
}
