/* SPDX-License-Identifier: MIT */
#include "cli/appending.h"

#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to append");
}

ald_status cli_appending_open(cli_env *env, appending *a, opt_scope scopes,
                              const struct ArrowSchema *schema, ald_error *err)
{
    struct ArrowSchema found;
    memset(&found, 0, sizeof(found));
    ald_status status = cli_input_open_all(env, a->files, a->read.from, &a->in, err);
    a->is_open = 1;
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, scopes | file_format_scope_in(a->in.format), err);
    }
    if (status == ALD_OK) {
        env->subject = a->in.name;
        a->in.text_schema = schema;
        status = cli_input_stream(&a->in, &a->read, NULL, err);
    }
    if (status == ALD_OK) {
        status = ald_stream_schema(&a->in.stream, &found, err);
    }
    if (status == ALD_OK) {
        status = ald_schema_compare(schema, &found, 0, err);
        found.release(&found);
    }
    return status;
}

void cli_appending_close(appending *a)
{
    if (a->is_open) {
        cli_input_close(&a->in);
    }
    a->is_open = 0;
}

/* ---- counted rows */

typedef struct counted {
    cli_env *env;
    appending *a;
    struct ArrowArrayStream from;
} counted;

static ald_status counted_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    counted *c = ctx;
    return ald_stream_schema(&c->from, out, err);
}

static ald_status counted_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    counted *c = ctx;
    ald_status status = ald_stream_next(&c->from, out, err);
    if (status != ALD_OK) {
        c->env->subject = c->a->in.name;
    } else if (out->release != NULL) {
        c->a->row_count += (uint64_t)out->length;
    }
    return status;
}

static void counted_free(void *ctx)
{
    counted *c = ctx;
    c->from.release(&c->from);
    free(c);
}

ald_status cli_appending_rows(cli_env *env, appending *a, struct ArrowArrayStream *out,
                              ald_error *err)
{
    counted *c = malloc(sizeof(*c));
    if (c == NULL) {
        return no_memory(err);
    }
    *c = (counted){env, a, a->in.stream};
    a->in.stream.release = NULL;
    ald_stream_impl impl = {counted_schema, counted_next, counted_free, c,
                            ald_stream_row_count(&c->from)};
    return ald_stream_new(&impl, &env->host.alloc, out, err);
}

/* ---- two streams as one */

typedef struct chain {
    struct ArrowArrayStream streams[2];
    size_t index;
} chain;

static ald_status chain_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    chain *c = ctx;
    return ald_stream_schema(&c->streams[0], out, err);
}

static ald_status chain_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    chain *c = ctx;
    for (;;) {
        ald_status status = ald_stream_next(&c->streams[c->index], out, err);
        if (status != ALD_OK || out->release != NULL || c->index == 1) {
            return status;
        }
        c->index++;
    }
}

static void chain_free(void *ctx)
{
    chain *c = ctx;
    c->streams[0].release(&c->streams[0]);
    c->streams[1].release(&c->streams[1]);
    free(c);
}

ald_status cli_chain(cli_env *env, struct ArrowArrayStream *first, struct ArrowArrayStream *second,
                     struct ArrowArrayStream *out, ald_error *err)
{
    chain *c = malloc(sizeof(*c));
    if (c == NULL) {
        first->release(first);
        second->release(second);
        return no_memory(err);
    }
    *c = (chain){{*first, *second}, 0};
    first->release = second->release = NULL;
    uint64_t a = ald_stream_row_count(&c->streams[0]), b = ald_stream_row_count(&c->streams[1]);
    ald_stream_impl impl = {chain_schema, chain_next, chain_free, c, a > 0 && b > 0 ? a + b : 0};
    return ald_stream_new(&impl, &env->host.alloc, out, err);
}
