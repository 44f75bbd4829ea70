/* SPDX-License-Identifier: MIT */
/* A batch that two pieces share is owned by all columns of both: each is a view of its part, and the last one that is released
 * lets go of the batch. A piece begins at offset 0 of its own, which Arrow's C++ library insists on. */
#include "cli/row_cutter.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"

typedef struct shared_batch {
    struct ArrowArray whole;
    atomic_size_t owners;
} shared_batch;

struct row_cutter {
    const ald_host *host;
    struct ArrowArrayStream from;
    struct ArrowSchema schema;
    shared_batch *batch; /* the one at hand, or NULL */
    int64_t used;        /* rows of it that were given out */
    uint64_t left;       /* rows of the piece that is read */
    uint64_t given;
    int is_over; /* the stream */
};

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to cut a batch");
}

static void drop(shared_batch *batch)
{
    if (batch != NULL && atomic_fetch_sub(&batch->owners, 1) == 1) {
        batch->whole.release(&batch->whole);
        free(batch);
    }
}

typedef struct piece {
    struct ArrowArray **children;
    struct ArrowArray columns[];
} piece;

static void release_column(struct ArrowArray *array)
{
    drop(array->private_data);
    array->release = NULL;
}

static void release_piece(struct ArrowArray *array)
{
    piece *p = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (p->columns[i].release != NULL) {
            p->columns[i].release(&p->columns[i]);
        }
    }
    free(p->children);
    free(p);
    array->release = NULL;
}

/* Rows [skip, skip + count) of the batch. */
static ald_status view(shared_batch *batch, int64_t skip, int64_t count, struct ArrowArray *out,
                       ald_error *err)
{
    static const void *no_buffer[1] = {NULL};
    const struct ArrowArray *whole = &batch->whole;
    size_t columns = (size_t)whole->n_children;
    piece *p = malloc(sizeof(*p) + columns * sizeof(p->columns[0]));
    struct ArrowArray **children = malloc((columns + 1) * sizeof(*children));
    if (p == NULL || children == NULL) {
        free(children);
        free(p);
        return no_memory(err);
    }
    p->children = children;
    for (size_t i = 0; i < columns; i++) {
        struct ArrowArray *column = children[i] = &p->columns[i];
        *column = *whole->children[i];
        column->offset += whole->offset + skip;
        column->length = count;
        column->null_count = column->null_count == 0 ? 0 : -1;
        column->private_data = batch;
        column->release = release_column;
        atomic_fetch_add(&batch->owners, 1);
    }
    *out = (struct ArrowArray){.length = count,
                               .n_buffers = 1,
                               .n_children = whole->n_children,
                               .buffers = no_buffer,
                               .children = children,
                               .release = release_piece,
                               .private_data = p};
    return ALD_OK;
}

/* ---- reading */

static ald_status fetch(row_cutter *c, ald_error *err)
{
    while (!c->is_over && c->batch == NULL) {
        struct ArrowArray next;
        memset(&next, 0, sizeof(next));
        ald_status status = ald_stream_next(&c->from, &next, err);
        if (status != ALD_OK) {
            return status;
        }
        c->is_over = next.release == NULL;
        if (next.release == NULL || next.length == 0) {
            if (next.release != NULL) {
                next.release(&next);
            }
            continue;
        }
        c->batch = malloc(sizeof(*c->batch));
        if (c->batch == NULL) {
            next.release(&next);
            return no_memory(err);
        }
        c->batch->whole = next;
        atomic_init(&c->batch->owners, 1);
        c->used = 0;
    }
    return ALD_OK;
}

static ald_status piece_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const row_cutter *c = ctx;
    return ald_schema_copy(c->host, &c->schema, out, err);
}

static ald_status piece_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    row_cutter *c = ctx;
    out->release = NULL;
    ald_status status = c->left > 0 ? fetch(c, err) : ALD_OK;
    if (status != ALD_OK || c->left == 0 || c->batch == NULL) {
        return status;
    }
    int64_t count = c->batch->whole.length - c->used;
    if ((uint64_t)count > c->left) {
        count = (int64_t)c->left;
    }
    if (count == c->batch->whole.length) {
        *out = c->batch->whole; /* nothing is shared */
        free(c->batch);
        c->batch = NULL;
    } else {
        status = view(c->batch, c->used, count, out, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    c->used += count;
    c->left -= (uint64_t)count;
    c->given += (uint64_t)count;
    if (c->batch != NULL && c->used == c->batch->whole.length) {
        drop(c->batch);
        c->batch = NULL;
    }
    return ALD_OK;
}

static void piece_free(void *ctx)
{
    (void)ctx; /* the cutter stays */
}

/* ---- */

ald_status row_cutter_new(struct ArrowArrayStream *from, const ald_host *host, row_cutter **out,
                          ald_error *err)
{
    row_cutter *c = calloc(1, sizeof(*c));
    *out = NULL;
    if (c == NULL) {
        from->release(from);
        return no_memory(err);
    }
    c->host = host;
    c->from = *from;
    from->release = NULL;
    ald_status status = ald_stream_schema(&c->from, &c->schema, err);
    if (status != ALD_OK) {
        row_cutter_free(c);
        return status;
    }
    *out = c;
    return ALD_OK;
}

ald_status row_cutter_look(row_cutter *c, int *has_rows, ald_error *err)
{
    ald_status status = fetch(c, err);
    *has_rows = c->batch != NULL;
    return status;
}

ald_status row_cutter_take(row_cutter *c, uint64_t row_count, struct ArrowArrayStream *out,
                           ald_error *err)
{
    ald_stream_impl impl = {piece_schema, piece_next, piece_free, c, 0};
    uint64_t total = ald_stream_row_count(&c->from);
    uint64_t rest = total > c->given ? total - c->given : 0;
    impl.row_count = rest < row_count ? rest : row_count;
    c->left = row_count;
    return ald_stream_new(&impl, &c->host->alloc, out, err);
}

uint64_t row_cutter_rows(const row_cutter *c)
{
    return c->given;
}

void row_cutter_free(row_cutter *c)
{
    if (c == NULL) {
        return;
    }
    drop(c->batch);
    if (c->schema.release != NULL) {
        c->schema.release(&c->schema);
    }
    if (c->from.release != NULL) {
        c->from.release(&c->from);
    }
    free(c);
}
