/* SPDX-License-Identifier: MIT */
/* Which types hold numbers, and, of the first texts of the other columns, whether they are numbers in disguise. */
#include "cli/left_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "ald/text.h"

#define TEXTS_MOST 200u    /* of a column that are looked at */
#define TEXT_SIZE_MOST 64u /* of a number */
#define DEPTH_MOST 64
#define NAMES_SIZE 600u

/* ---- types */

static int has_numbers(const struct ArrowSchema *field, int depth)
{
    const char *f = field->format;
    if (field->dictionary != NULL) {
        return depth < DEPTH_MOST && has_numbers(field->dictionary, depth + 1);
    }
    if (f[0] == '+') {
        const int64_t first = f[1] == 'r' ? 1 : 0;
        int found = 0;
        if (strchr("rslLw", f[1]) == NULL || depth == DEPTH_MOST) {
            return 0;
        }
        for (int64_t i = first; i < field->n_children && !found; i++) {
            found = has_numbers(field->children[i], depth + 1);
        }
        return found;
    }
    return (f[0] != '\0' && f[1] == '\0' && strchr("cCsSiIlLfg", f[0]) != NULL) ||
           strncmp(f, "d:", 2) == 0 || (f[0] == 't' && f[1] != 'i');
}

static int is_text(const struct ArrowSchema *field)
{
    const char *f = field->dictionary != NULL ? field->dictionary->format : field->format;
    return strcmp(f, "u") == 0 || strcmp(f, "U") == 0 || strcmp(f, "vu") == 0;
}

static const char *why_not(const struct ArrowSchema *field)
{
    const char *f = field->dictionary != NULL ? field->dictionary->format : field->format;
    return is_text(field)                                                      ? "text"
           : f[0] == 'b'                                                       ? "true or false"
           : f[0] == 'n'                                                       ? "nulls"
           : f[0] == 'e'                                                       ? "half floats"
           : f[0] == 'z' || f[0] == 'Z' || strcmp(f, "vz") == 0 || f[0] == 'w' ? "binary"
           : f[0] == '+' && strchr("muv", f[1]) != NULL ? "a map, union or list view"
                                                        : "no numbers";
}

/* ---- what texts are like */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits, in groups of three where something stands in between; what follows them. */
static const char *skip_digits(const char *at)
{
    while (is_digit(*at)) {
        at++;
    }
    for (;;) {
        size_t gap = *at == '.' || *at == ' ' || *at == '\'' ? 1
                     : strncmp(at, "\xC2\xA0", 2) == 0       ? 2
                     : strncmp(at, "\xE2\x80\xAF", 3) == 0   ? 3
                                                             : 0;
        if (gap == 0 || !is_digit(at[gap]) || !is_digit(at[gap + 1]) || !is_digit(at[gap + 2]) ||
            is_digit(at[gap + 3])) {
            return at;
        }
        at += gap + 3;
    }
}

static int has_decimal_comma(const char *text)
{
    const char *at = text + (*text == '-' || *text == '+');
    const char *end = skip_digits(at);
    if (end == at || *end != ',' || !is_digit(end[1])) {
        return 0;
    }
    return end[1 + strspn(end + 1, "0123456789")] == '\0';
}

static int is_plain_number(const char *text)
{
    char *end = NULL;
    (void)strtod(text, &end);
    return text[0] != '\0' && *end == '\0' && strpbrk(text, "0123456789") != NULL;
}

static void note_text(left_out_column *c, const char *data, size_t size)
{
    char text[TEXT_SIZE_MOST + 4] = "";
    while (size > 0 && data[0] == ' ') {
        data++;
        size--;
    }
    while (size > 0 && data[size - 1] == ' ') {
        size--;
    }
    if (size == 0) {
        return; /* says nothing */
    }
    c->seen++;
    if (size <= TEXT_SIZE_MOST && memchr(data, '\0', size) == NULL) {
        memcpy(text, data, size);
        c->commas += (uint32_t)has_decimal_comma(text);
        c->points += (uint32_t)is_plain_number(text);
    }
}

/* ---- the stream */

typedef struct watched {
    const ald_host *host;
    left_out *list;
    struct ArrowArrayStream from;
    struct ArrowSchema schema;
} watched;

static ald_status note_column(const watched *w, left_out_column *c, const struct ArrowArray *batch,
                              ald_error *err)
{
    const struct ArrowSchema *field = w->schema.children[c->at];
    ald_buffer text = {NULL, 0, 0, &w->host->alloc};
    ald_status status = ALD_OK;
    for (int64_t row = 0; row < batch->length && row < 4 * (int64_t)TEXTS_MOST; row++) {
        if (status != ALD_OK || c->seen == TEXTS_MOST) {
            break;
        }
        text.size = 0;
        status = ald_value_to_text(field, batch->children[c->at], batch->offset + row, 0, NULL,
                                   &text, err);
        if (status == ALD_OK) {
            note_text(c, (const char *)text.data, text.size);
        }
    }
    ald_buffer_clear(&text);
    return status;
}

static ald_status watched_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    watched *w = ctx;
    return ald_stream_schema(&w->from, out, err);
}

static ald_status watched_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    watched *w = ctx;
    ald_status status = ald_stream_next(&w->from, out, err);
    if (status != ALD_OK || out->release == NULL) {
        return status;
    }
    for (size_t i = 0; i < w->list->count && status == ALD_OK; i++) {
        left_out_column *c = &w->list->items[i];
        if (c->seen < TEXTS_MOST && is_text(w->schema.children[c->at])) {
            status = note_column(w, c, out, err);
        }
    }
    if (status != ALD_OK) {
        out->release(out);
    }
    return status;
}

static void watched_free(void *ctx)
{
    watched *w = ctx;
    if (w->from.release != NULL) {
        w->from.release(&w->from);
    }
    if (w->schema.release != NULL) {
        w->schema.release(&w->schema);
    }
    free(w);
}

static ald_status list_columns(left_out *list, const struct ArrowSchema *schema, ald_error *err)
{
    list->items = calloc((size_t)schema->n_children + 1, sizeof(*list->items));
    for (int64_t i = 0; i < schema->n_children && list->items != NULL; i++) {
        const struct ArrowSchema *field = schema->children[i];
        left_out_column *c = &list->items[list->count];
        if (has_numbers(field, 0)) {
            list->number_count++;
            continue;
        }
        c->at = (size_t)i;
        c->why = why_not(field);
        c->name = strdup(field->name != NULL ? field->name : "");
        if (c->name == NULL) {
            break;
        }
        list->count++;
    }
    return list->items != NULL && list->count + list->number_count == (size_t)schema->n_children
               ? ALD_OK
               : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
}

ald_status left_out_watch(left_out *list, const ald_host *host, struct ArrowArrayStream *stream,
                          ald_error *err)
{
    watched *w = calloc(1, sizeof(*w));
    if (w == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    }
    w->host = host;
    w->list = list;
    ald_status status = ald_stream_schema(stream, &w->schema, err);
    if (status == ALD_OK) {
        status = list_columns(list, &w->schema, err);
    }
    if (status != ALD_OK) {
        watched_free(w);
        return status;
    }
    ald_stream_impl impl = {watched_schema, watched_next, watched_free, w,
                            ald_stream_row_count(stream)};
    w->from = *stream;
    memset(stream, 0, sizeof(*stream));
    return ald_stream_new(&impl, &host->alloc, stream, err);
}

void left_out_clear(left_out *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
    }
    free(list->items);
    memset(list, 0, sizeof(*list));
}

/* ---- what is said of it */

/* Nine of ten: a column of numbers may have a few words in it. */
static int is_most(uint32_t some, uint32_t all)
{
    return all > 0 && (uint64_t)some * 10 >= (uint64_t)all * 9;
}

static int looks_like_commas(const left_out_column *c)
{
    return c->commas > 0 && is_most(c->commas + c->points, c->seen);
}

static int looks_like_points(const left_out_column *c)
{
    return c->commas == 0 && is_most(c->points, c->seen);
}

int left_out_has_numbers(const left_out *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (looks_like_commas(&list->items[i]) || looks_like_points(&list->items[i])) {
            return 1;
        }
    }
    return 0;
}

/* Names of columns, those of `which` (NULL: all, with the reason), as far as there is room. 0: none. */
static int gather_names(const left_out *list, int (*which)(const left_out_column *c),
                        char out[NAMES_SIZE])
{
    size_t used = 0, count = 0;
    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const left_out_column *c = &list->items[i];
        if (which != NULL && !which(c)) {
            continue;
        }
        if (used + strlen(c->name) + 48 > NAMES_SIZE) {
            (void)snprintf(out + used, NAMES_SIZE - used, ", ...");
            return 1;
        }
        used += (size_t)snprintf(out + used, NAMES_SIZE - used, "%s%s", count++ > 0 ? ", " : "",
                                 c->name);
        if (which == NULL) {
            used += (size_t)snprintf(out + used, NAMES_SIZE - used, " (%s)", c->why);
        }
    }
    return count > 0;
}

void left_out_note(const left_out *list, const cli_env *env)
{
    char names[NAMES_SIZE];
    if (gather_names(list, NULL, names)) {
        cli_note(env, "not looked at: %s", names);
    }
    if (gather_names(list, looks_like_commas, names)) {
        cli_note(env,
                 "numbers with decimal commas, it seems, were read as text: %s. Write them with "
                 "points and look again (`tr , . <FILE >NEW`, where no other commas are)",
                 names);
    }
    if (gather_names(list, looks_like_points, names)) {
        cli_note(env,
                 "numbers, it seems, were read as text: %s. --types NAME:float64 reads them as "
                 "numbers (CSV and JSON; `convert` makes those), --null names words that stand for "
                 "no value",
                 names);
    }
}

void left_out_json(const left_out *list, json_print *j)
{
    json_uint(j, "columns_with_numbers", list->number_count);
    json_open(j, "not_looked_at", '[');
    for (size_t i = 0; i < list->count; i++) {
        const left_out_column *c = &list->items[i];
        json_open(j, NULL, '{');
        json_text(j, "name", c->name);
        json_text(j, "reason", c->why);
        json_text(j, "looks_like",
                  looks_like_commas(c)   ? "numbers with decimal commas"
                  : looks_like_points(c) ? "numbers"
                                         : NULL);
        json_close(j, '}');
    }
    json_close(j, ']');
}
