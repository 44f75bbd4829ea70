/* SPDX-License-Identifier: MIT */
/* Columns are matched by name; where a name occurs several times, the first with the first and so on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/hash.h"
#include "ald/schema.h"
#include "cli/diff.h"

#define ORDER_SHOWN 20 /* names of columns in another order */

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to compare the columns");
}

static const char *name_of(const struct ArrowSchema *field)
{
    return field->name != NULL ? field->name : "";
}

/* ---- findings */

/* Texts are copied; all but `kind` may be NULL. */
static ald_status find(diff_run *run, const char *kind, const char *column, const char *name,
                       const char *before, const char *after, ald_error *err)
{
    diff_finding *items = realloc(run->findings, (run->finding_count + 1) * sizeof(*run->findings));
    if (items == NULL) {
        return no_memory(err);
    }
    run->findings = items;
    diff_finding *f = &items[run->finding_count++];
    *f = (diff_finding){kind, NULL, NULL, NULL, NULL};
    f->column = column != NULL ? strdup(column) : NULL;
    f->name = name != NULL ? strdup(name) : NULL;
    f->before = before != NULL ? strdup(before) : NULL;
    f->after = after != NULL ? strdup(after) : NULL;
    if ((column != NULL && f->column == NULL) || (name != NULL && f->name == NULL) ||
        (before != NULL && f->before == NULL) || (after != NULL && f->after == NULL)) {
        return no_memory(err);
    }
    return ALD_OK;
}

/* The type's text, NUL-terminated, in `out`. */
static ald_status type_text(const struct ArrowSchema *field, ald_buffer *out, ald_error *err)
{
    out->size = 0;
    ald_status status = ald_type_format(field, out, err);
    ald_sink sink = ald_buffer_sink(out);
    return status == ALD_OK ? sink.write(sink.ctx, "", 1, err) : status;
}

static ald_status find_types(diff_run *run, const char *kind, const char *column,
                             const struct ArrowSchema *before, const struct ArrowSchema *after,
                             ald_error *err)
{
    ald_buffer texts[2] = {{NULL, 0, 0, &run->env->host.alloc},
                           {NULL, 0, 0, &run->env->host.alloc}};
    ald_status status = before != NULL ? type_text(before, &texts[0], err) : ALD_OK;
    if (status == ALD_OK && after != NULL) {
        status = type_text(after, &texts[1], err);
    }
    if (status == ALD_OK) {
        status = find(run, kind, column, NULL, (const char *)texts[0].data,
                      (const char *)texts[1].data, err);
    }
    ald_buffer_clear(&texts[0]);
    ald_buffer_clear(&texts[1]);
    return status;
}

/* ---- how a column is compared */

/* The field of the values, behind dictionaries and runs. */
static const struct ArrowSchema *values_of(const struct ArrowSchema *field)
{
    for (;;) {
        if (field->dictionary != NULL) {
            field = field->dictionary;
        } else if (strcmp(field->format, "+r") == 0) {
            field = field->children[1];
        } else {
            return field;
        }
    }
}

static int is_one_of(const char *format, const char *letters)
{
    return format[0] != '\0' && format[1] == '\0' && strchr(letters, format[0]) != NULL;
}

static int is_integer_format(const char *format)
{
    return is_one_of(format, "cCsSiIlL");
}

static int is_float_format(const char *format)
{
    return is_one_of(format, "efg");
}

static int is_decimal_format(const char *format)
{
    return strncmp(format, "d:", 2) == 0;
}

static int is_number_format(const char *format)
{
    return is_integer_format(format) || is_float_format(format) || is_decimal_format(format);
}

static int is_text_format(const char *format)
{
    return is_one_of(format, "uU") || strcmp(format, "vu") == 0;
}

static int is_binary_format(const char *format)
{
    return is_one_of(format, "zZ") || strcmp(format, "vz") == 0 || strncmp(format, "w:", 2) == 0;
}

static int is_time_format(const char *format)
{
    return strncmp(format, "ts", 2) == 0 || strncmp(format, "tt", 2) == 0;
}

static void choose_class(const diff_run *run, diff_column *column)
{
    const char *a = values_of(run->schemas[0].children[column->at[0]])->format;
    const char *b = values_of(run->schemas[1].children[column->at[1]])->format;
    column->class = DIFF_TEXT;
    column->from_text = run->is_text[0] || run->is_text[1];
    if (is_integer_format(a) && is_integer_format(b)) {
        column->class = DIFF_INTEGER;
    } else if (is_number_format(a) && is_number_format(b) &&
               (is_float_format(a) || is_float_format(b))) {
        column->class = DIFF_NUMBER;
    } else if (is_text_format(a) && is_text_format(b)) {
        column->class = DIFF_BYTES;
    } else if (is_binary_format(a) && is_binary_format(b)) {
        column->class = DIFF_BYTES;
        column->is_binary = 1;
    } else {
        column->trim = !column->same_type && ((is_number_format(a) && is_number_format(b)) ||
                                              (is_time_format(a) && is_time_format(b)));
    }
}

/* ---- columns */

static ald_status compare_types(diff_run *run, diff_column *column, ald_error *err)
{
    const struct ArrowSchema *a = run->schemas[0].children[column->at[0]];
    const struct ArrowSchema *b = run->schemas[1].children[column->at[1]];
    ald_buffer types[2] = {{NULL, 0, 0, &run->env->host.alloc},
                           {NULL, 0, 0, &run->env->host.alloc}};
    int loose = run->options->values_only || run->is_text[0] || run->is_text[1];
    ald_status status = ald_content_type(a, &run->env->host, &types[0], err);
    if (status == ALD_OK) {
        status = ald_content_type(b, &run->env->host, &types[1], err);
    }
    if (status == ALD_OK) {
        column->same_type = types[0].size == types[1].size &&
                            memcmp(types[0].data, types[1].data, types[0].size) == 0;
        if (!column->same_type && !loose) {
            status = find_types(run, "type", column->name, a, b, err);
        }
    }
    if (status == ALD_OK && !loose && ((a->flags ^ b->flags) & ARROW_FLAG_NULLABLE) != 0) {
        const char *words[] = {"not null", "nullable"};
        int first = (a->flags & ARROW_FLAG_NULLABLE) != 0;
        status = find(run, "nullability", column->name, NULL, words[first], words[!first], err);
    }
    ald_buffer_clear(&types[0]);
    ald_buffer_clear(&types[1]);
    return status;
}

/* Columns of one name, in the order of the tables. Sorted, so that wide tables are matched in little time. */
typedef struct named_column {
    const char *name;
    int64_t at;
} named_column;

static int compare_names(const void *a, const void *b)
{
    const named_column *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static named_column *sorted_names(const struct ArrowSchema *schema)
{
    size_t count = (size_t)schema->n_children;
    named_column *names = malloc((count + 1) * sizeof(*names));
    for (size_t i = 0; names != NULL && i < count; i++) {
        names[i] = (named_column){name_of(schema->children[i]), (int64_t)i};
    }
    if (names != NULL) {
        qsort(names, count, sizeof(*names), compare_names);
    }
    return names;
}

/* partner[i] is the place in the second table of column i of the first, or -1; found[j] the other way round. */
static void match(const diff_run *run, const named_column *a, const named_column *b,
                  int64_t *partner, int64_t *found)
{
    size_t a_count = (size_t)run->schemas[0].n_children, i = 0;
    size_t b_count = (size_t)run->schemas[1].n_children, j = 0;
    memset(partner, 0xFF, a_count * sizeof(*partner));
    memset(found, 0xFF, b_count * sizeof(*found));
    while (i < a_count && j < b_count) {
        int order = strcmp(a[i].name, b[j].name);
        if (order == 0) {
            partner[a[i].at] = b[j].at;
            found[b[j].at] = a[i].at;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

/* The names of columns in the order of one table, a few of them. */
static void list_names(const diff_run *run, int side, const int64_t *partner, char *out,
                       size_t room)
{
    const struct ArrowSchema *schema = &run->schemas[side];
    size_t shown = 0, used = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < schema->n_children && used + 1 < room; i++) {
        if (partner[i] < 0) {
            continue;
        }
        const char *text = shown == ORDER_SHOWN ? "..." : name_of(schema->children[i]);
        used += (size_t)snprintf(out + used, room - used, "%s%s", shown > 0 ? ", " : "", text);
        if (shown++ == ORDER_SHOWN) {
            break;
        }
    }
}

static ald_status compare_order(diff_run *run, const int64_t *partner, const int64_t *found,
                                ald_error *err)
{
    char before[1024], after[1024];
    int64_t last = -1;
    int ordered = 1;
    for (int64_t i = 0; i < run->schemas[0].n_children; i++) {
        if (partner[i] >= 0) {
            ordered = ordered && partner[i] > last;
            last = partner[i];
        }
    }
    if (ordered || run->options->values_only) {
        return ALD_OK;
    }
    list_names(run, 0, partner, before, sizeof(before));
    list_names(run, 1, found, after, sizeof(after));
    return find(run, "order", NULL, NULL, before, after, err);
}

static ald_status pair_columns(diff_run *run, const int64_t *partner, ald_error *err)
{
    const struct ArrowSchema *first = &run->schemas[0];
    ald_status status = ALD_OK;
    for (int64_t i = 0; status == ALD_OK && i < first->n_children; i++) {
        const char *name = name_of(first->children[i]);
        if (partner[i] < 0) {
            status = find_types(run, "removed", name, first->children[i], NULL, err);
            continue;
        }
        diff_column *column = &run->columns[run->column_count++];
        *column = (diff_column){.name = name, .at = {i, partner[i]}};
        status = compare_types(run, column, err);
        choose_class(run, column);
    }
    return status;
}

static ald_status match_columns(diff_run *run, ald_error *err)
{
    const struct ArrowSchema *second = &run->schemas[1];
    size_t counts[2] = {(size_t)run->schemas[0].n_children, (size_t)second->n_children};
    named_column *names[2] = {sorted_names(&run->schemas[0]), sorted_names(second)};
    int64_t *partner = malloc((counts[0] + 1) * sizeof(*partner));
    int64_t *found = malloc((counts[1] + 1) * sizeof(*found));
    ald_status status = ALD_OK;
    run->columns = calloc(counts[0] + 1, sizeof(*run->columns));
    if (names[0] == NULL || names[1] == NULL || partner == NULL || found == NULL ||
        run->columns == NULL) {
        status = no_memory(err);
    } else {
        match(run, names[0], names[1], partner, found);
        status = pair_columns(run, partner, err);
        for (size_t i = 0; status == ALD_OK && i < counts[1]; i++) {
            if (found[i] < 0) {
                status = find_types(run, "added", name_of(second->children[i]), NULL,
                                    second->children[i], err);
            }
        }
        if (status == ALD_OK) {
            status = compare_order(run, partner, found, err);
        }
    }
    free(names[0]);
    free(names[1]);
    free(partner);
    free(found);
    return status;
}

/* ---- metadata */

/* The next pair of the C data interface's bytes: int32 sizes in front of key and value. */
static const char *take_text(const char *at, char **out)
{
    int32_t size;
    memcpy(&size, at, sizeof(size));
    *out = strndup(at + sizeof(size), (size_t)size);
    return at + sizeof(size) + size;
}

/* Pairs of `from` that `other` has not, or has with another value. `side` is that of `from`. */
static ald_status compare_pairs(diff_run *run, const char *column, const struct ArrowSchema *from,
                                const struct ArrowSchema *other, int side, ald_error *err)
{
    const char *at = from->metadata;
    ald_status status = ALD_OK;
    int32_t count = 0;
    if (at != NULL) {
        memcpy(&count, at, sizeof(count));
        at += sizeof(count);
    }
    for (int32_t i = 0; status == ALD_OK && i < count; i++) {
        char *key = NULL, *value = NULL, *theirs = NULL;
        size_t size = 0;
        at = take_text(at, &key);
        at = take_text(at, &value);
        if (key == NULL || value == NULL) {
            status = no_memory(err);
        } else if (strncmp(key, "ARROW:extension:", 16) != 0) { /* that is the type's */
            const char *found = ald_schema_get_metadata(other, key, &size);
            theirs = found != NULL ? strndup(found, size) : NULL;
            if (found == NULL || (side == 0 && (theirs == NULL || strcmp(theirs, value) != 0))) {
                status = find(run, "metadata", column, key, side == 0 ? value : theirs,
                              side == 0 ? theirs : value, err);
            }
        }
        free(key);
        free(value);
        free(theirs);
    }
    return status;
}

static ald_status compare_metadata(diff_run *run, ald_error *err)
{
    const struct ArrowSchema *a = &run->schemas[0], *b = &run->schemas[1];
    ald_status status = compare_pairs(run, NULL, a, b, 0, err);
    if (status == ALD_OK) {
        status = compare_pairs(run, NULL, b, a, 1, err);
    }
    for (size_t i = 0; status == ALD_OK && i < run->column_count; i++) {
        const diff_column *column = &run->columns[i];
        const struct ArrowSchema *x = a->children[column->at[0]], *y = b->children[column->at[1]];
        status = compare_pairs(run, column->name, x, y, 0, err);
        if (status == ALD_OK) {
            status = compare_pairs(run, column->name, y, x, 1, err);
        }
    }
    return status;
}

/* ---- keys */

/* A column of both tables that the key names; ALD_OK with *size bytes of `item` used, or 0: none. */
static int find_key(const diff_run *run, const char *name, size_t size, uint32_t *out)
{
    for (size_t i = 0; i < run->column_count; i++) {
        const char *other = run->columns[i].name;
        if (strlen(other) == size && memcmp(other, name, size) == 0) {
            *out = (uint32_t)i;
            return 1;
        }
    }
    return 0;
}

static ald_status add_key(diff_run *run, const char *name, size_t size, ald_error *err)
{
    uint32_t at = 0;
    if (!find_key(run, name, size, &at)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--key: no column '%.*s' that both files have", (int)size, name);
    }
    if (run->columns[at].is_key) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--key: '%.*s' is named twice",
                             (int)size, name);
    }
    uint32_t *keys = realloc(run->keys, (run->key_count + 1) * sizeof(*keys));
    if (keys == NULL) {
        return no_memory(err);
    }
    run->keys = keys;
    run->keys[run->key_count++] = at;
    run->columns[at].is_key = 1;
    return ALD_OK;
}

/* Each item is one name, or several with commas. */
static ald_status find_keys(diff_run *run, ald_error *err)
{
    const opt_list *list = &run->options->key;
    ald_status status = ALD_OK;
    uint32_t at;
    for (size_t i = 0; status == ALD_OK && i < list->count; i++) {
        const char *item = list->items[i];
        if (find_key(run, item, strlen(item), &at)) {
            status = add_key(run, item, strlen(item), err);
            continue;
        }
        while (status == ALD_OK && item != NULL) {
            size_t size = strcspn(item, ",");
            status = add_key(run, item, size, err);
            item = item[size] == ',' ? item + size + 1 : NULL;
        }
    }
    return status;
}

ald_status diff_schemas(diff_run *run, ald_error *err)
{
    ald_status status = match_columns(run, err);
    if (status == ALD_OK && run->options->metadata) {
        status = compare_metadata(run, err);
    }
    return status == ALD_OK ? find_keys(run, err) : status;
}
