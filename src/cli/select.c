/* SPDX-License-Identifier: MIT */
/* A batch with chosen columns is a new parent whose children are those of the old one, which it owns: the C data interface
 * lets a consumer move a child out, and the old parent's release skips it. */
#include "cli/select.h"

#include <stdlib.h>
#include <string.h>

#include "ald/filter.h"
#include "ald/schema.h"
#include "ald/stream.h"

static const opt_spec choose_specs[] = {
    {.name = "where",
     .arg = "CONDITION",
     .kind = OPT_TEXT,
     .offset = offsetof(choose_options, where),
     .help = "only rows that fit: column, one of = != < <= > >=, value; or `column is null`, "
             "`column is not null`; joined by `and` and `or`, of which `and` binds tighter. Names "
             "and values of more than one word stand in quotes"},
    {.name = "columns",
     .letter = 'c',
     .arg = "A,B,...",
     .kind = OPT_LIST,
     .offset = offsetof(choose_options, columns),
     .help = "only these columns, in this order. May be repeated"},
};
const opt_group cli_group_choose = OPT_GROUP("Choice", choose_specs);

ald_status cli_choose(const choose_options *options, cli_selection *out, ald_error *err)
{
    *out = (cli_selection){&options->columns, UINT64_MAX, UINT64_MAX, options->where};
    if (options->where != NULL && options->where[0] == '\0') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--where: an empty condition");
    }
    return ALD_OK;
}

typedef struct column_list {
    size_t *items;
    size_t count;
    int all; /* every column, in order: batches pass as they are */
} column_list;

typedef struct select_state {
    cli_env *env;
    const char *name;
    struct ArrowArrayStream from;
    struct ArrowSchema schema; /* the stream's */
    column_list columns;
    uint64_t rows_left; /* of first_rows */
    uint64_t last_rows;
    struct ArrowArray *kept; /* the batches that hold the last rows */
    size_t kept_count, kept_next;
    int kept_ready;
} select_state;

/* ---- column names */

static int add_column(column_list *list, size_t index)
{
    size_t *items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (items == NULL) {
        return 0;
    }
    list->items = items;
    list->items[list->count++] = index;
    return 1;
}

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
}

/* Adds every column of this name; *found says whether there was one. */
static ald_status add_named(select_state *s, const char *name, size_t size, int *found,
                            ald_error *err)
{
    *found = 0;
    for (int64_t i = 0; i < s->schema.n_children; i++) {
        const char *other = s->schema.children[i]->name;
        if (other != NULL && strlen(other) == size && memcmp(other, name, size) == 0) {
            *found = 1;
            for (size_t k = 0; k < s->columns.count; k++) {
                if (s->columns.items[k] == (size_t)i) {
                    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                         "--columns: '%s' is named twice", other);
                }
            }
            if (!add_column(&s->columns, (size_t)i)) {
                return no_memory(err);
            }
        }
    }
    return ALD_OK;
}

static ald_status unknown_column(select_state *s, const char *name, size_t size, ald_error *err)
{
    cli_hint_columns(s->env, &s->schema);
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--columns: no column '%.*s'",
                         (int)(size < 100 ? size : 100), name);
}

static ald_status choose_columns(select_state *s, const opt_list *names, ald_error *err)
{
    s->columns.all = names == NULL || names->count == 0;
    for (size_t i = 0; !s->columns.all && i < names->count; i++) {
        const char *item = names->items[i];
        int found = 0;
        ald_status status = add_named(s, item, strlen(item), &found, err); /* it may hold a comma */
        while (status == ALD_OK && !found && item != NULL) {
            size_t size = strcspn(item, ",");
            int one = 0;
            status = add_named(s, item, size, &one, err);
            if (status == ALD_OK && !one) {
                status = unknown_column(s, item, size, err);
            }
            item = item[size] == ',' ? item + size + 1 : NULL;
        }
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

int cli_select_needs(const cli_env *env, const struct ArrowSchema *schema, const opt_list *columns,
                     const char *where, uint8_t *keep)
{
    cli_env silent = *env; /* what is wrong is said when rows are selected */
    select_state s;
    ald_filter *filter = NULL;
    int known = columns != NULL && columns->count > 0;
    if (!known) {
        return 0;
    }
    memset(&s, 0, sizeof(s));
    s.env = &silent;
    s.schema = *schema;
    known = choose_columns(&s, columns, NULL) == ALD_OK &&
            (where == NULL ||
             ald_filter_new(where, strlen(where), schema, &env->host, &filter, NULL) == ALD_OK);
    memset(keep, 0, (size_t)schema->n_children);
    for (size_t i = 0; i < s.columns.count; i++) {
        keep[s.columns.items[i]] = 1;
    }
    if (filter != NULL) {
        ald_filter_columns(filter, keep);
    }
    ald_filter_free(filter);
    free(s.columns.items);
    return known;
}

/* ---- parents with chosen children */

typedef struct array_owner {
    struct ArrowArray whole;
    struct ArrowArray *children[]; /* into `whole` */
} array_owner;

static void release_array(struct ArrowArray *array)
{
    array_owner *owner = array->private_data;
    owner->whole.release(&owner->whole);
    free(owner);
    array->release = NULL;
}

/* Moves *array into a parent of the chosen columns. */
static ald_status project(const column_list *columns, struct ArrowArray *array, ald_error *err)
{
    if (columns->all) {
        return ALD_OK;
    }
    array_owner *owner = malloc(sizeof(*owner) + columns->count * sizeof(owner->children[0]));
    if (owner == NULL) {
        array->release(array);
        return no_memory(err);
    }
    owner->whole = *array;
    for (size_t i = 0; i < columns->count; i++) {
        owner->children[i] = owner->whole.children[columns->items[i]];
    }
    array->children = owner->children;
    array->n_children = (int64_t)columns->count;
    array->private_data = owner;
    array->release = release_array;
    return ALD_OK;
}

/* A copy of the schema in which only the chosen fields are left, in their order. */
static ald_status select_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    select_state *s = ctx;
    struct ArrowSchema view = s->schema;
    if (s->columns.all) {
        return ald_schema_copy(&s->env->host, &s->schema, out, err);
    }
    view.children = malloc((s->columns.count + 1) * sizeof(*view.children));
    if (view.children == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < s->columns.count; i++) {
        view.children[i] = s->schema.children[s->columns.items[i]];
    }
    view.n_children = (int64_t)s->columns.count;
    ald_status status = ald_schema_copy(&s->env->host, &view, out, err);
    free(view.children);
    return status;
}

/* ---- rows */

static void cut(struct ArrowArray *array, int64_t skip, int64_t count)
{
    array->offset += skip;
    array->length = count;
    array->null_count = array->null_count == 0 ? 0 : -1;
}

static ald_status next_from(select_state *s, struct ArrowArray *out, ald_error *err)
{
    ald_status status = ald_stream_next(&s->from, out, err);
    if (status != ALD_OK) {
        s->env->subject = s->name;
    }
    return status;
}

static ald_status next_first(select_state *s, struct ArrowArray *out, ald_error *err)
{
    if (s->rows_left == 0) {
        out->release = NULL;
        return ALD_OK;
    }
    ald_status status = next_from(s, out, err);
    if (status != ALD_OK || out->release == NULL) {
        return status;
    }
    if ((uint64_t)out->length > s->rows_left) {
        cut(out, 0, (int64_t)s->rows_left);
    }
    s->rows_left -= s->rows_left == UINT64_MAX ? 0 : (uint64_t)out->length;
    return project(&s->columns, out, err);
}

/* Lets go of batches at the front that hold none of the last rows. */
static void drop_front(select_state *s, uint64_t *held)
{
    size_t drop = 0;
    while (drop < s->kept_count && *held - (uint64_t)s->kept[drop].length >= s->last_rows) {
        *held -= (uint64_t)s->kept[drop].length;
        s->kept[drop].release(&s->kept[drop]);
        drop++;
    }
    if (drop > 0) {
        memmove(s->kept, s->kept + drop, (s->kept_count - drop) * sizeof(*s->kept));
        s->kept_count -= drop;
    }
}

/* Reads to the end, holding only the batches that may be needed. */
static ald_status collect_last(select_state *s, ald_error *err)
{
    uint64_t held = 0;
    s->kept_ready = 1;
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        ald_status status = next_from(s, &batch, err);
        if (status != ALD_OK) {
            return status;
        }
        if (batch.release == NULL) {
            break;
        }
        struct ArrowArray *kept = realloc(s->kept, (s->kept_count + 1) * sizeof(*kept));
        if (kept == NULL) {
            batch.release(&batch);
            return no_memory(err);
        }
        s->kept = kept;
        s->kept[s->kept_count++] = batch;
        held += (uint64_t)batch.length;
        drop_front(s, &held);
    }
    if (held > s->last_rows) {
        int64_t skip = (int64_t)(held - s->last_rows);
        cut(&s->kept[0], skip, s->kept[0].length - skip);
    }
    return ALD_OK;
}

static ald_status next_last(select_state *s, struct ArrowArray *out, ald_error *err)
{
    ald_status status = s->kept_ready ? ALD_OK : collect_last(s, err);
    out->release = NULL;
    if (status != ALD_OK || s->kept_next >= s->kept_count) {
        return status;
    }
    *out = s->kept[s->kept_next];
    s->kept[s->kept_next++].release = NULL;
    return project(&s->columns, out, err);
}

static ald_status select_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    select_state *s = ctx;
    return s->last_rows != UINT64_MAX ? next_last(s, out, err) : next_first(s, out, err);
}

static void select_free(void *ctx)
{
    select_state *s = ctx;
    for (size_t i = s->kept_next; i < s->kept_count; i++) {
        s->kept[i].release(&s->kept[i]);
    }
    free(s->kept);
    free(s->columns.items);
    if (s->schema.release != NULL) {
        s->schema.release(&s->schema);
    }
    if (s->from.release != NULL) {
        s->from.release(&s->from);
    }
    free(s);
}

/* The rows that fit, of all columns. */
static ald_status choose_rows(select_state *s, const char *where, ald_error *err)
{
    ald_select_options options = ALD_SELECT_OPTIONS_INIT;
    struct ArrowArrayStream fitting;
    if (where == NULL) {
        return ALD_OK;
    }
    options.where = where;
    options.where_size = strlen(where);
    s->env->subject = "--where";
    ald_status status = ald_select_stream(&s->from, &options, &s->env->host, &fitting, err);
    if (status == ALD_OK) {
        s->env->subject = s->name;
        s->from = fitting;
    } else if (err != NULL && strstr(err->msg, "there is no column") != NULL) {
        cli_hint_columns(s->env, &s->schema);
    }
    return status;
}

ald_status cli_select(cli_env *env, struct ArrowArrayStream *from, const char *name,
                      const cli_selection *what, struct ArrowArrayStream *out, ald_error *err)
{
    select_state *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        from->release(from);
        return no_memory(err);
    }
    ald_stream_impl impl = {select_schema, select_next, select_free, s, 0};
    s->env = env;
    s->name = name;
    s->from = *from;
    s->rows_left = what->first_rows;
    s->last_rows = what->last_rows;
    from->release = NULL;
    ald_status status = ald_stream_schema(&s->from, &s->schema, err);
    if (status == ALD_OK) {
        status = choose_rows(s, what->where, err);
    }
    if (status == ALD_OK) {
        status = choose_columns(s, what->columns, err);
    }
    if (status != ALD_OK) {
        select_free(s);
        return status;
    }
    if (what->first_rows == UINT64_MAX && what->last_rows == UINT64_MAX) {
        impl.row_count = ald_stream_row_count(&s->from);
    }
    return ald_stream_new(&impl, &env->host.alloc, out, err);
}
