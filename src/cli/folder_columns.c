/* SPDX-License-Identifier: MIT */
/* A batch with more columns is a new parent that owns the old one, whose children it shows beside its own. */
#include "cli/folder_columns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/escape.h"

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns of folders");
}

/* ---- names of folders */

/* The next folder named key=value in [*at, end of path): its bounds and where = is. 0: none. */
static int next_pair(const char **at, const char **begin, const char **equal, const char **end)
{
    while (strchr(*at, '/') != NULL) {
        *begin = *at;
        *end = strchr(*at, '/');
        *equal = memchr(*begin, '=', (size_t)(*end - *begin));
        *at = *end + 1;
        if (*equal != NULL && *equal > *begin) {
            return 1;
        }
    }
    return 0;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* A copy with %20 and the like decoded; what decodes to a zero byte stays. */
static char *decoded(const char *begin, const char *end)
{
    char *out = malloc((size_t)(end - begin) + 1), *p = out;
    while (out != NULL && begin < end) {
        int high = *begin == '%' && end - begin > 2 ? hex_digit(begin[1]) : -1;
        int low = high >= 0 ? hex_digit(begin[2]) : -1;
        if (low >= 0 && high + low > 0) {
            *p++ = (char)(high * 16 + low);
            begin += 3;
        } else {
            *p++ = *begin++;
        }
    }
    if (out != NULL) {
        *p = '\0';
    }
    return out;
}

static size_t count_pairs(const char *path)
{
    const char *begin, *equal, *end;
    size_t count = 0;
    while (next_pair(&path, &begin, &equal, &end)) {
        count++;
    }
    return count;
}

static ald_status other_keys(const char *path, ald_error *err)
{
    return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "%s: its folders have other keys than those of the first file", path);
}

static ald_status same_keys(const char *path, const char *name, ald_error *err)
{
    return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "%s: two of its folders are named '%s=...', and would be two columns of "
                         "one name",
                         path, name);
}

static int has_key(const cli_folder_columns *c, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(c->names[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

static ald_status not_utf8(const char *path, ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "%s: a folder's name is to be a column, and is not UTF-8", path);
}

static ald_status read_path(cli_folder_columns *c, size_t file, const char *path, size_t root,
                            ald_error *err)
{
    const char *at = path + root, *begin, *equal, *end;
    if (count_pairs(at) != c->count) {
        return other_keys(path, err);
    }
    for (size_t i = 0; next_pair(&at, &begin, &equal, &end); i++) {
        char *name = decoded(begin, equal), *value = decoded(equal + 1, end);
        if (name == NULL || value == NULL) {
            free(name);
            free(value);
            return no_memory(err);
        }
        c->values[file * c->count + i] = value;
        int is_text = cli_is_utf8(name) && cli_is_utf8(value);
        if (file == 0) {
            c->names[i] = name;
            if (!is_text) {
                return not_utf8(path, err);
            }
            if (has_key(c, i, name)) {
                return same_keys(path, name, err);
            }
            continue;
        }
        if (!is_text) {
            free(name);
            return not_utf8(path, err);
        }
        int same = strcmp(name, c->names[i]) == 0;
        free(name);
        if (!same) {
            return other_keys(path, err);
        }
    }
    return ALD_OK;
}

static int is_number(const char *text)
{
    char again[32], *end = NULL;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    (void)snprintf(again, sizeof(again), "%lld", value);
    return errno == 0 && strcmp(again, text) == 0;
}

static void find_types(cli_folder_columns *c)
{
    for (size_t i = 0; i < c->count; i++) {
        c->are_numbers[i] = 1;
        for (size_t f = 0; f < c->file_count; f++) {
            char **value = &c->values[f * c->count + i];
            if (strcmp(*value, "__HIVE_DEFAULT_PARTITION__") == 0) {
                free(*value);
                *value = NULL;
            } else if (!is_number(*value)) {
                c->are_numbers[i] = 0;
            }
        }
    }
}

ald_status cli_folder_columns_find(char *const *paths, size_t count, size_t root,
                                   cli_folder_columns *out, ald_error *err)
{
    memset(out, 0, sizeof(*out));
    out->count = count_pairs(paths[0] + root);
    out->file_count = count;
    out->names = calloc(out->count + 1, sizeof(*out->names));
    out->values = calloc(out->count * count + 1, sizeof(*out->values));
    out->are_numbers = calloc(out->count + 1, 1);
    if (out->names == NULL || out->values == NULL || out->are_numbers == NULL) {
        return no_memory(err);
    }
    for (size_t f = 0; f < count; f++) {
        ald_status status = read_path(out, f, paths[f], root, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    find_types(out);
    return ALD_OK;
}

void cli_folder_columns_clear(cli_folder_columns *c)
{
    for (size_t i = 0; c->names != NULL && i < c->count; i++) {
        free(c->names[i]);
    }
    for (size_t i = 0; c->values != NULL && i < c->count * c->file_count; i++) {
        free(c->values[i]);
    }
    free(c->names);
    free(c->values);
    free(c->are_numbers);
    memset(c, 0, sizeof(*c));
}

/* ---- schema */

typedef struct wide_schema {
    struct ArrowSchema whole;
    struct ArrowSchema *added; /* into the same block, behind children */
    size_t added_count;
    struct ArrowSchema *children[];
} wide_schema;

static void release_added_schema(struct ArrowSchema *schema)
{
    free(schema->private_data);
    schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    wide_schema *w = schema->private_data;
    for (size_t i = 0; i < w->added_count; i++) {
        if (w->added[i].release != NULL) {
            w->added[i].release(&w->added[i]);
        }
    }
    w->whole.release(&w->whole);
    free(w->added);
    free(w);
    schema->release = NULL;
}

static int has_name(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->name != NULL && strcmp(schema->children[i]->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static ald_status fill_schema(const cli_folder_columns *c, wide_schema *w,
                              const struct ArrowSchema *schema, ald_error *err)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        w->children[i] = schema->children[i];
    }
    for (size_t i = 0; i < c->count; i++) {
        struct ArrowSchema *field = &w->added[i];
        if (has_name(schema, c->names[i])) {
            return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                                 "column '%s' is in the file and in the name of its folder",
                                 c->names[i]);
        }
        field->private_data = strdup(c->names[i]);
        if (field->private_data == NULL) {
            return no_memory(err);
        }
        field->name = field->private_data;
        field->format = c->are_numbers[i] ? "l" : "u";
        field->flags = ARROW_FLAG_NULLABLE;
        field->release = release_added_schema;
        w->children[(size_t)schema->n_children + i] = field;
    }
    return ALD_OK;
}

ald_status cli_folder_columns_schema(const cli_folder_columns *c, struct ArrowSchema *schema,
                                     ald_error *err)
{
    size_t old = (size_t)schema->n_children;
    wide_schema *w = calloc(1, sizeof(*w) + (old + c->count) * sizeof(w->children[0]));
    if (w != NULL) {
        w->added = calloc(c->count, sizeof(*w->added));
    }
    if (w == NULL || w->added == NULL) {
        free(w);
        return no_memory(err);
    }
    w->added_count = c->count;
    ald_status status = fill_schema(c, w, schema, err);
    if (status != ALD_OK) {
        for (size_t i = 0; i < c->count; i++) {
            free(w->added[i].private_data);
        }
        free(w->added);
        free(w);
        return status;
    }
    w->whole = *schema;
    schema->children = w->children;
    schema->n_children = (int64_t)(old + c->count);
    schema->private_data = w;
    schema->release = release_schema;
    return ALD_OK;
}

/* ---- batches */

typedef struct wide_batch {
    struct ArrowArray whole;
    struct ArrowArray *added;
    size_t added_count;
    struct ArrowArray *children[];
} wide_batch;

/* The buffers of a column of one value. */
typedef struct constant {
    const void *buffers[3];
    void *validity, *first, *bytes;
} constant;

static void release_constant(struct ArrowArray *array)
{
    constant *c = array->private_data;
    free(c->validity);
    free(c->first);
    free(c->bytes);
    free(c);
    array->release = NULL;
}

static void release_batch(struct ArrowArray *array)
{
    wide_batch *w = array->private_data;
    for (size_t i = 0; i < w->added_count; i++) {
        if (w->added[i].release != NULL) {
            w->added[i].release(&w->added[i]);
        }
    }
    w->whole.release(&w->whole);
    free(w->added);
    free(w);
    array->release = NULL;
}

static int fill_numbers(constant *c, const char *value, size_t rows)
{
    int64_t number = value != NULL ? strtoll(value, NULL, 10) : 0;
    int64_t *numbers = c->first = malloc((rows + 1) * sizeof(*numbers));
    for (size_t i = 0; numbers != NULL && i < rows; i++) {
        numbers[i] = number;
    }
    return numbers != NULL;
}

static int fill_text(constant *c, const char *value, size_t rows)
{
    size_t size = value != NULL ? strlen(value) : 0;
    int32_t *offsets = c->first = malloc((rows + 1) * sizeof(*offsets));
    char *bytes = c->bytes = size == 0 || rows <= INT32_MAX / size ? malloc(rows * size + 1) : NULL;
    for (size_t i = 0; offsets != NULL && bytes != NULL && i <= rows; i++) {
        offsets[i] = (int32_t)(i * size);
        if (i < rows && size > 0) {
            memcpy(bytes + i * size, value, size);
        }
    }
    return offsets != NULL && bytes != NULL;
}

static int make_constant(const char *value, int number, size_t rows, struct ArrowArray *out)
{
    constant *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return 0;
    }
    memset(out, 0, sizeof(*out));
    out->private_data = c;
    out->release = release_constant;
    out->length = (int64_t)rows;
    out->n_buffers = number ? 2 : 3;
    out->buffers = c->buffers;
    if (value == NULL) {
        c->validity = calloc(rows / 8 + 1, 1);
        out->null_count = (int64_t)rows;
    }
    int made = number ? fill_numbers(c, value, rows) : fill_text(c, value, rows);
    c->buffers[0] = c->validity;
    c->buffers[1] = c->first;
    c->buffers[2] = c->bytes;
    return made && (value != NULL || c->validity != NULL);
}

ald_status cli_folder_columns_add(const cli_folder_columns *c, size_t file,
                                  struct ArrowArray *batch, ald_error *err)
{
    size_t old = (size_t)batch->n_children, rows = (size_t)(batch->offset + batch->length);
    wide_batch *w = calloc(1, sizeof(*w) + (old + c->count) * sizeof(w->children[0]));
    if (w != NULL) {
        w->added = calloc(c->count, sizeof(*w->added));
    }
    if (w == NULL || w->added == NULL) {
        free(w);
        batch->release(batch);
        return no_memory(err);
    }
    w->added_count = c->count;
    w->whole = *batch;
    for (size_t i = 0; i < old; i++) {
        w->children[i] = batch->children[i];
    }
    batch->children = w->children;
    batch->n_children = (int64_t)(old + c->count);
    batch->private_data = w;
    batch->release = release_batch;
    for (size_t i = 0; i < c->count; i++) {
        w->children[old + i] = &w->added[i];
        if (!make_constant(c->values[file * c->count + i], c->are_numbers[i], rows, &w->added[i])) {
            batch->release(batch);
            return no_memory(err);
        }
    }
    return ALD_OK;
}
