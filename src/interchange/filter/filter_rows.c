/* SPDX-License-Identifier: MIT */
/* Streams of what was chosen. Rows are counted through the stream; a batch of which everything is wanted passes as it is,
 * else the wanted rows of the wanted columns are copied: slices would keep the rest in memory, and a condition would make
 * thousands of them. */
#include "ald/schema.h"
#include "ald/stream.h"
#include "interchange/filter/filter.h"
#include "interchange/format/options.h"
#include "interchange/text/mem.h"

/* ---- one batch */

static ald_status bind_tests(ald_filter *f, const struct ArrowArray *batch, ald_error *err)
{
    for (size_t i = 0; i < f->test_count; i++) {
        ald__filter_test *t = &f->tests[i];
        if (batch->n_children <= (int64_t)t->column)
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "condition: a batch has fewer columns than the schema");
        ald_status status = ald__view_bind(&t->view, batch->children[t->column], err);
        if (status != ALD_OK)
            return status;
    }
    return ALD_OK;
}

/* Terms are joined by `or`; within one, the first test that fails decides. */
static ald_status row_fits(const ald_filter *f, int64_t row, int *fits, ald_error *err)
{
    size_t i = 0;
    *fits = 0;
    while (i < f->test_count && !*fits) {
        *fits = 1;
        do {
            if (*fits) {
                ald_status status = ald__filter_fits(&f->tests[i], row, fits, err);
                if (status != ALD_OK)
                    return status;
            }
            i++;
        } while (i < f->test_count && !f->tests[i].starts_term);
    }
    return ALD_OK;
}

ald_status ald_filter_rows(ald_filter *filter, const struct ArrowArray *batch, int64_t *rows,
                           size_t *row_count, ald_error *err)
{
    size_t count = 0;
    int fits = 0;
    *row_count = 0;
    ald_status status = bind_tests(filter, batch, err);
    for (int64_t i = 0; status == ALD_OK && i < batch->length; i++) {
        status = row_fits(filter, i + batch->offset, &fits, err);
        rows[count] = i;
        count += status == ALD_OK && fits;
    }
    if (status == ALD_OK)
        *row_count = count;
    return status;
}

/* ---- streams */

typedef struct selection {
    const ald_host *host; /* `own_host` */
    ald_host own_host;
    struct ArrowArrayStream from;
    ald_filter *filter; /* NULL: all rows */
    uint64_t row_begin, row_end;
    uint64_t next_row; /* of the stream */
    uint64_t left;     /* of the limit */
    size_t *columns;   /* NULL: all */
    size_t column_count;
    struct ArrowSchema schema;   /* of the stream */
    struct ArrowSchema result;   /* its children are those of `schema`, borrowed */
    struct ArrowSchema **fields; /* of `result` */
    struct ArrowArray **parts;   /* of a batch, borrowed; as many as columns */
    int64_t *rows;
    size_t row_capacity;
} selection;

static void selection_free(void *ctx)
{
    selection *s = ctx;
    ald_allocator alloc = s->own_host.alloc;
    if (s->from.release != NULL)
        s->from.release(&s->from);
    if (s->schema.release != NULL)
        s->schema.release(&s->schema);
    ald_filter_free(s->filter);
    ald__text_free(&alloc, s->columns, s->column_count, sizeof *s->columns);
    ald__text_free(&alloc, s->fields, s->column_count, sizeof(void *));
    ald__text_free(&alloc, s->parts, s->column_count, sizeof(void *));
    ald__text_free(&alloc, s->rows, s->row_capacity, sizeof *s->rows);
    ald__text_free(&alloc, s, 1, sizeof *s);
}

static ald_status selection_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const selection *s = ctx;
    return ald_schema_copy(s->host, &s->result, out, err);
}

static ald_status find_columns(selection *s, const ald_select_options *o, ald_error *err)
{
    for (size_t i = 0; i < o->column_count; i++) {
        size_t matches = 0;
        for (int64_t k = 0; k < s->schema.n_children; k++) {
            const char *name = s->schema.children[k]->name;
            if (name == NULL || strlen(name) != strlen(o->columns[i]) ||
                memcmp(name, o->columns[i], strlen(name)) != 0)
                continue;
            matches++;
            s->columns[i] = (size_t)k;
            s->fields[i] = s->schema.children[k];
        }
        if (matches != 1)
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 matches == 0 ? "there is no column '%.80s'"
                                              : "several columns are named '%.80s'",
                                 o->columns[i]);
        for (size_t k = 0; k < i; k++) {
            if (s->columns[k] == s->columns[i])
                return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                     "the column '%.80s' is asked for twice", o->columns[i]);
        }
    }
    s->result.children = s->fields;
    s->result.n_children = (int64_t)o->column_count;
    return ALD_OK;
}

static ald_status choose_columns(selection *s, const ald_select_options *o, ald_error *err)
{
    const ald_allocator *alloc = &s->own_host.alloc;
    s->result = s->schema;
    if (o->column_count == 0)
        return ALD_OK;
    s->columns = ald__text_alloc(alloc, o->column_count, sizeof *s->columns, err);
    s->fields = ald__text_alloc(alloc, o->column_count, sizeof(void *), err);
    s->parts = ald__text_alloc(alloc, o->column_count, sizeof(void *), err);
    s->column_count = o->column_count;
    return s->columns == NULL || s->fields == NULL || s->parts == NULL ? ALD_E_NOMEM
                                                                       : find_columns(s, o, err);
}

/* The rows of this batch that are wanted, into s->rows. */
static ald_status choose_rows(selection *s, const struct ArrowArray *batch, size_t *count,
                              ald_error *err)
{
    uint64_t length = (uint64_t)batch->length, start = s->next_row, kept = 0;
    size_t fitting = (size_t)length;
    ald_status status = ALD_OK;
    if (length > s->row_capacity) {
        ald__text_free(&s->own_host.alloc, s->rows, s->row_capacity, sizeof *s->rows);
        s->row_capacity = 0;
        s->rows = ald__text_alloc(&s->own_host.alloc, (size_t)length, sizeof *s->rows, err);
        if (s->rows == NULL)
            return ALD_E_NOMEM;
        s->row_capacity = (size_t)length;
    }
    for (size_t i = 0; s->filter == NULL && i < fitting; i++)
        s->rows[i] = (int64_t)i;
    if (s->filter != NULL)
        status = ald_filter_rows(s->filter, batch, s->rows, &fitting, err);
    for (size_t i = 0; status == ALD_OK && i < fitting && kept < s->left; i++) {
        uint64_t row = start + (uint64_t)s->rows[i];
        if (row >= s->row_begin && row < s->row_end)
            s->rows[kept++] = s->rows[i];
    }
    *count = (size_t)kept;
    return status;
}

/* Copies the chosen rows and columns of *batch, which is released. */
static ald_status copy_chosen(selection *s, struct ArrowArray *batch, size_t count,
                              struct ArrowArray *out, ald_error *err)
{
    struct ArrowArray chosen = *batch;
    for (size_t i = 0; i < s->column_count; i++)
        s->parts[i] = batch->children[s->columns[i]];
    if (s->column_count > 0) {
        chosen.children = s->parts;
        chosen.n_children = (int64_t)s->column_count;
    }
    ald_status status = ald_array_take(&s->result, &chosen, s->rows, count, s->host, out, err);
    batch->release(batch);
    return status;
}

static ald_status take_batch(selection *s, struct ArrowArray *batch, struct ArrowArray *out,
                             ald_error *err)
{
    size_t count = 0;
    out->release = NULL;
    ald_status status = choose_rows(s, batch, &count, err);
    if (status != ALD_OK || count == 0) {
        batch->release(batch);
        return status;
    }
    s->left -= count;
    if (s->column_count == 0 && count == (size_t)batch->length) {
        *out = *batch;
        return ALD_OK;
    }
    return copy_chosen(s, batch, count, out, err);
}

static ald_status selection_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    selection *s = ctx;
    struct ArrowArray batch;
    out->release = NULL;
    while (s->left > 0 && s->next_row < s->row_end) {
        ald_status status = ald_stream_next(&s->from, &batch, err);
        if (status != ALD_OK || batch.release == NULL)
            return status;
        uint64_t length = (uint64_t)batch.length;
        if (s->next_row + length <= s->row_begin)
            batch.release(&batch);
        else
            status = take_batch(s, &batch, out, err);
        s->next_row += length;
        if (status != ALD_OK || out->release != NULL)
            return status;
    }
    return ALD_OK;
}

static ald_status selection_init(selection *s, const ald_select_options *given, ald_error *err)
{
    static const ald_select_options defaults = ALD_SELECT_OPTIONS_INIT;
    ald_select_options options = defaults;
    const ald_select_options *o = &options;
    ald_status status = ald__options_copy(&options, sizeof options, sizeof options, given, err);
    if (status != ALD_OK)
        return status;
    s->row_begin = o->row_begin;
    s->row_end = o->row_end != 0 ? o->row_end : UINT64_MAX;
    s->left = o->limit;
    if (s->row_begin > s->row_end)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the range of rows ends before it begins");
    status = ald_stream_schema(&s->from, &s->schema, err);
    if (status == ALD_OK)
        status = choose_columns(s, o, err);
    if (status == ALD_OK && o->where_size > 0)
        status = ald_filter_new(o->where, o->where_size, &s->schema, s->host, &s->filter, err);
    return status;
}

ald_status ald_select_stream(struct ArrowArrayStream *batches, const ald_select_options *options,
                             const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    out->release = NULL;
    selection *s = ald__text_alloc(&host->alloc, 1, sizeof *s, err);
    if (s == NULL) {
        batches->release(batches);
        return ALD_E_NOMEM;
    }
    s->own_host = *host;
    s->host = &s->own_host;
    s->from = *batches;
    batches->release = NULL;
    ald_status status = selection_init(s, options, err);
    if (status != ALD_OK) {
        selection_free(s);
        return status;
    }
    ald_stream_impl impl = {selection_schema, selection_next, selection_free, s, 0};
    return ald_stream_new(&impl, &host->alloc, out, err);
}
