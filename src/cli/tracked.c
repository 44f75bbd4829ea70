/* SPDX-License-Identifier: MIT */
#include "cli/tracked.h"

#include "ald/schema.h"
#include "ald/stream.h"

static ald_status tracked_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    cli_tracked *t = ctx;
    ald_status status = t->schema != NULL ? ald_schema_copy(&t->env->host, t->schema, out, err)
                                          : ald_stream_schema(&t->from, out, err);
    if (status == ALD_OK) {
        t->column_count = (size_t)out->n_children;
    } else {
        t->env->subject = t->name;
    }
    return status;
}

static ald_status tracked_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    cli_tracked *t = ctx;
    ald_status status = ald_stream_next(&t->from, out, err);
    if (status != ALD_OK) {
        t->env->subject = t->name;
        t->is_over = 1;
        return status;
    }
    t->is_over = out->release == NULL;
    if (out->release != NULL) {
        t->row_count += (uint64_t)out->length;
        if (t->progress != NULL) {
            cli_progress_update(t->progress, t->row_count, t->total_rows);
        }
    }
    return ALD_OK;
}

static void tracked_free(void *ctx)
{
    cli_tracked *t = ctx;
    if (t->from.release != NULL) {
        t->from.release(&t->from);
    }
}

ald_status cli_tracked_open(cli_tracked *t, struct ArrowArrayStream *out, ald_error *err)
{
    ald_stream_impl impl = {tracked_schema, tracked_next, tracked_free, t,
                            ald_stream_row_count(&t->from)};
    return ald_stream_new(&impl, &t->env->host.alloc, out, err);
}
