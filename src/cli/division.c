/* SPDX-License-Identifier: MIT */
/* Selection sampling (Knuth's algorithm S), for any number of parts and for each class by itself: of the rows of a class that are
 * still to come, each part has so many to get, and a row goes to one of these places by chance. So all counts are exact, and
 * memory holds counts alone. */
#include "cli/division.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ald/filter.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/draw.h"
#include "interchange/format/cell.h"

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to deal out rows");
}

static ald_status changed(ald_error *err)
{
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the input changed while it was read");
}

void division_clear(division *d)
{
    class_index_clear(&d->classes);
    free(d->class_rows);
    free(d->class_parts);
    d->class_rows = d->class_parts = NULL;
    d->class_count = d->class_capacity = 0;
}

/* ---- the class of a row */

/* A stream whose rows are told apart. */
typedef struct sorter {
    division *d;
    const ald_allocator *alloc;
    struct ArrowSchema schema;
    int64_t column; /* -1: all rows are of one class */
    ald__view view;
    ald_buffer text;
} sorter;

static void sorter_clear(sorter *s)
{
    ald__view_clear(&s->view, s->alloc);
    if (s->schema.release != NULL) {
        s->schema.release(&s->schema);
    }
    ald_buffer_clear(&s->text);
}

static ald_status find_column(cli_env *env, sorter *s, ald_error *err)
{
    s->column = -1;
    for (int64_t i = 0; s->d->stratify != NULL && i < s->schema.n_children; i++) {
        const char *name = s->schema.children[i]->name;
        if (name != NULL && strcmp(name, s->d->stratify) == 0) {
            if (s->column >= 0) {
                return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                     "--stratify: several columns are named '%s'", name);
            }
            s->column = i;
        }
    }
    if (s->column < 0 && s->d->stratify != NULL) {
        cli_hint_columns(env, &s->schema);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--stratify: no column '%s'",
                             s->d->stratify);
    }
    return ALD_OK;
}

/* sorter_clear in any case. */
static ald_status sorter_init(cli_env *env, sorter *s, division *d, struct ArrowArrayStream *stream,
                              ald_error *err)
{
    memset(s, 0, sizeof(*s));
    s->d = d;
    s->alloc = &env->host.alloc;
    s->text.alloc = s->alloc;
    ald_status status = ald_stream_schema(stream, &s->schema, err);
    if (status == ALD_OK) {
        status = find_column(env, s, err);
    }
    return status == ALD_OK && s->column >= 0
               ? ald__view_init(&s->view, s->schema.children[s->column], s->alloc, err)
               : status;
}

static ald_status sorter_bind(sorter *s, const struct ArrowArray *batch, ald_error *err)
{
    return s->column >= 0 ? ald__view_bind(&s->view, batch->children[s->column], err) : ALD_OK;
}

/* Of row `row`, counted from 0 in the batch's columns. */
static ald_status sorter_class(sorter *s, int64_t row, int add, size_t *number, ald_error *err)
{
    static const ald__style style = {0};
    ald__cell_ref at;
    *number = 0;
    if (s->column < 0) {
        return ALD_OK;
    }
    ald_status status = ald__view_resolve(&s->view, row, &at, err);
    s->text.size = 0;
    if (status == ALD_OK && at.column != NULL) {
        ald__pen pen;
        ald__pen_open(&pen, &s->text, err);
        status = ald__put_value_text(&pen, at.column, at.row, &style);
        ald__pen_close(&pen);
    }
    return status == ALD_OK ? class_index_find(&s->d->classes, (const char *)s->text.data,
                                               s->text.size, at.column == NULL, add, number, err)
                            : status;
}

/* ---- counting */

static ald_status count_row(division *d, size_t number, uint64_t rows, ald_error *err)
{
    while (number >= d->class_capacity) {
        size_t capacity = d->class_capacity == 0 ? 16 : 2 * d->class_capacity;
        uint64_t *grown = realloc(d->class_rows, capacity * sizeof(*grown));
        if (grown == NULL) {
            return no_memory(err);
        }
        d->class_rows = grown;
        d->class_capacity = capacity;
    }
    if (number >= d->class_count) {
        d->class_rows[number] = 0;
        d->class_count = number + 1;
    }
    d->class_rows[number] += rows;
    d->row_count += rows;
    return ALD_OK;
}

static ald_status count_batch(sorter *s, const struct ArrowArray *batch, ald_error *err)
{
    if (s->column < 0) {
        return count_row(s->d, 0, (uint64_t)batch->length, err);
    }
    ald_status status = sorter_bind(s, batch, err);
    for (int64_t i = 0; status == ALD_OK && i < batch->length; i++) {
        size_t number;
        status = sorter_class(s, i + batch->offset, 1, &number, err);
        if (status == ALD_OK) {
            status = count_row(s->d, number, 1, err);
        }
    }
    return status;
}

static ald_status count_stream(cli_env *env, division *d, struct ArrowArrayStream *stream,
                               const char *name, ald_error *err)
{
    sorter s;
    ald_status status = sorter_init(env, &s, d, stream, err);
    while (status == ALD_OK) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        status = ald_stream_next(stream, &batch, err);
        env->subject = status == ALD_OK ? env->subject : name;
        if (status != ALD_OK || batch.release == NULL) {
            break;
        }
        status = count_batch(&s, &batch, err);
        batch.release(&batch);
    }
    sorter_clear(&s);
    return status;
}

static ald_status read_and_count(cli_env *env, division *d, cli_input *in, const read_options *read,
                                 const char *where, ald_error *err)
{
    const cli_selection what = {NULL, UINT64_MAX, UINT64_MAX, where};
    struct ArrowArrayStream fitting;
    ald_status status = cli_select(env, &in->stream, in->name, &what, &fitting, err);
    if (status == ALD_OK) {
        status = count_stream(env, d, &fitting, in->name, err);
        fitting.release(&fitting);
    }
    return status == ALD_OK ? cli_input_rewind(in, read, err) : status;
}

/* ---- who gets how many */

/* Of the rows of all classes, `count` go to a part: so many of each, rounded so that they add up. Sums over the classes are
 * rounded, and their differences taken: each is off by less than one. */
static void share_out(division *d, uint32_t part, uint64_t *rest, uint64_t rest_total,
                      uint64_t count)
{
    uint64_t seen = 0, given = 0;
    for (size_t c = 0; c < d->class_count; c++) {
        seen += rest[c];
        /* floor(x + 1/2) = floor((floor(2x) + 1) / 2) */
        uint64_t twice = rest_total > 0 ? draw_muldiv(2 * seen, count, rest_total) : 0;
        uint64_t until = twice / 2 + twice % 2;
        d->class_parts[c * d->part_count + part] = until - given;
        given = until;
        rest[c] -= d->class_parts[c * d->part_count + part];
    }
}

static ald_status settle_classes(division *d, ald_error *err)
{
    uint64_t *rest = calloc(d->class_count + 1, sizeof(*rest)), total = d->row_count;
    d->class_parts = calloc(d->class_count * d->part_count + 1, sizeof(*d->class_parts));
    if (rest == NULL || d->class_parts == NULL) {
        free(rest);
        return no_memory(err);
    }
    if (d->class_count > 0) {
        memcpy(rest, d->class_rows, d->class_count * sizeof(*rest));
    }
    for (uint32_t i = 0; i < d->part_count; i++) {
        share_out(d, i, rest, total, d->counts[i]);
        total -= d->counts[i];
    }
    free(rest);
    return ALD_OK;
}

static ald_status settle(cli_env *env, division *d, const char *name, ald_error *err)
{
    uint64_t remainders[DIVISION_PARTS_MAX], share = d->shares[0];
    if (d->kind == DIVISION_SHARES) {
        draw_counts(d->row_count, d->shares, d->counts, remainders, d->part_count);
        return settle_classes(d, err);
    }
    d->counts[0] =
        d->kind == DIVISION_ROWS
            ? d->rows
            : d->row_count / DRAW_WHOLE * share +
                  (2 * (d->row_count % DRAW_WHOLE) * share + DRAW_WHOLE) / 2 / DRAW_WHOLE;
    if (d->counts[0] > d->row_count) {
        env->subject = name;
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "there are only %" PRIu64 " rows", d->row_count);
    }
    d->counts[1] = d->row_count - d->counts[0];
    return settle_classes(d, err);
}

ald_status division_count(cli_env *env, division *d, cli_input *in, const read_options *read,
                          const char *where, ald_error *err)
{
    const ald_info *info = cli_input_info(in);
    uint64_t known =
        info != NULL && in->many == NULL ? info->num_rows : ald_stream_row_count(&in->stream);
    ald_status status = known > 0 && where == NULL && d->stratify == NULL
                            ? count_row(d, 0, known, err)
                            : read_and_count(env, d, in, read, where, err);
    return status == ALD_OK ? settle(env, d, in->name, err) : status;
}

/* ---- the rows of a part */

typedef struct part_stream {
    sorter sorter;
    const ald_host *host;
    struct ArrowArrayStream from;
    uint32_t part;
    uint64_t row;   /* the next one */
    uint64_t left;  /* rows that the part still gets */
    uint64_t *rest; /* of each class: rows to come */
    uint64_t *due;  /* and how many of these go to each part */
    int64_t *rows;  /* of a batch */
    size_t row_capacity;
} part_stream;

static void part_free(void *ctx)
{
    part_stream *p = ctx;
    sorter_clear(&p->sorter);
    if (p->from.release != NULL) {
        p->from.release(&p->from);
    }
    free(p->rest);
    free(p->due);
    free(p->rows);
    free(p);
}

static ald_status part_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const part_stream *p = ctx;
    return ald_schema_copy(p->host, &p->sorter.schema, out, err);
}

/* To whom the next row goes, which is of this class. */
static ald_status deal(part_stream *p, size_t number, uint32_t *part, ald_error *err)
{
    const division *d = p->sorter.d;
    uint64_t *due = p->due + number * d->part_count;
    if (number >= d->class_count || p->rest[number] == 0) {
        return changed(err);
    }
    uint64_t place = draw_below(d->seed, p->row++, p->rest[number]--);
    uint32_t i = 0;
    while (place >= due[i]) {
        place -= due[i++];
    }
    due[i]--;
    *part = i;
    return ALD_OK;
}

static ald_status deal_batch(part_stream *p, const struct ArrowArray *batch, size_t *count,
                             ald_error *err)
{
    size_t length = (size_t)batch->length;
    *count = 0;
    if (length > p->row_capacity) {
        int64_t *rows = realloc(p->rows, length * sizeof(*rows));
        if (rows == NULL) {
            return no_memory(err);
        }
        p->rows = rows;
        p->row_capacity = length;
    }
    ald_status status = sorter_bind(&p->sorter, batch, err);
    for (int64_t i = 0; status == ALD_OK && i < batch->length; i++) {
        size_t number;
        uint32_t part = 0;
        status = sorter_class(&p->sorter, i + batch->offset, 0, &number, err);
        if (status == ALD_OK) {
            status = deal(p, number, &part, err);
        }
        if (status == ALD_OK && part == p->part) {
            p->rows[(*count)++] = i;
        }
    }
    return status;
}

static ald_status part_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    part_stream *p = ctx;
    struct ArrowArray batch;
    size_t count = 0;
    out->release = NULL;
    while (p->left > 0 && count == 0) {
        memset(&batch, 0, sizeof(batch));
        ald_status status = ald_stream_next(&p->from, &batch, err);
        if (status != ALD_OK || batch.release == NULL) {
            return status != ALD_OK ? status : changed(err);
        }
        status = deal_batch(p, &batch, &count, err);
        p->left -= count;
        if (status == ALD_OK && count > 0 && count == (size_t)batch.length) {
            *out = batch;
            return ALD_OK;
        }
        if (status == ALD_OK && count > 0) {
            status = ald_array_take(&p->sorter.schema, &batch, p->rows, count, p->host, out, err);
        }
        batch.release(&batch);
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

static ald_status copy_counts(part_stream *p, ald_error *err)
{
    const division *d = p->sorter.d;
    size_t dues = d->class_count * d->part_count;
    p->rest = malloc((d->class_count + 1) * sizeof(*p->rest));
    p->due = malloc((dues + 1) * sizeof(*p->due));
    if (p->rest == NULL || p->due == NULL) {
        return no_memory(err);
    }
    if (d->class_count > 0) {
        memcpy(p->rest, d->class_rows, d->class_count * sizeof(*p->rest));
        memcpy(p->due, d->class_parts, dues * sizeof(*p->due));
    }
    return ALD_OK;
}

ald_status division_part(cli_env *env, division *d, uint32_t part, struct ArrowArrayStream *from,
                         struct ArrowArrayStream *out, ald_error *err)
{
    part_stream *p = calloc(1, sizeof(*p));
    if (p == NULL) {
        from->release(from);
        return no_memory(err);
    }
    p->host = &env->host;
    p->from = *from;
    p->part = part;
    p->left = d->counts[part];
    from->release = NULL;
    ald_status status = sorter_init(env, &p->sorter, d, &p->from, err);
    if (status == ALD_OK) {
        status = copy_counts(p, err);
    }
    if (status != ALD_OK) {
        part_free(p);
        return status;
    }
    ald_stream_impl impl = {part_schema, part_next, part_free, p, d->counts[part]};
    return ald_stream_new(&impl, &env->host.alloc, out, err);
}

ald_status division_choose(cli_env *env, division *d, uint32_t part, struct ArrowArrayStream *from,
                           const char *name, const cli_selection *what,
                           struct ArrowArrayStream *out, ald_error *err)
{
    const cli_selection rows = {NULL, UINT64_MAX, UINT64_MAX, what->where};
    const cli_selection columns = {what->columns, UINT64_MAX, UINT64_MAX, NULL};
    struct ArrowArrayStream fitting, dealt;
    ald_status status = cli_select(env, from, name, &rows, &fitting, err);
    if (status == ALD_OK) {
        status = division_part(env, d, part, &fitting, &dealt, err);
    }
    return status == ALD_OK ? cli_select(env, &dealt, name, &columns, out, err) : status;
}
