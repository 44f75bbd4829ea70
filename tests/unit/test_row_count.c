/* SPDX-License-Identifier: MIT */
/* Streams whose row_count is wrong: the file is right all the same, or there is an error that says so. */
#include "ald/native.h"
#include "ald/stream.h"
#include "ald/writer.h"
#include "unit/check.h"

#define ROWS 40
#define MOST_BYTES (1u << 20) /* of a file of so few rows */

static void release_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
    a->release = NULL;
}

static ald_status rows_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    static struct ArrowSchema column, *columns[1] = {&column};
    (void)ctx;
    (void)err;
    column = (struct ArrowSchema){.format = "l", .name = "a", .release = release_schema};
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = 1,
                                .children = columns,
                                .release = release_schema};
    return ALD_OK;
}

static ald_status rows_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    static int64_t values[ROWS];
    static const void *buffers[2] = {NULL, values}, *none[1] = {NULL};
    static struct ArrowArray column, *columns[1] = {&column};
    int *left = ctx;
    (void)err;
    out->release = NULL;
    if ((*left)-- <= 0)
        return ALD_OK;
    column = (struct ArrowArray){
        .length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_array};
    *out = (struct ArrowArray){.length = ROWS,
                               .n_buffers = 1,
                               .buffers = none,
                               .n_children = 1,
                               .children = columns,
                               .release = release_array};
    return ALD_OK;
}

static void rows_free(void *ctx)
{
    (void)ctx;
}

static ald_status put_at(void *ctx, uint64_t offset, const void *buf, size_t size, ald_error *err)
{
    uint64_t *end = ctx;
    (void)buf;
    if (offset + size > MOST_BYTES)
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "too much");
    *end = offset + size > *end ? offset + size : *end;
    return ALD_OK;
}

static ald_status put(void *ctx, const void *buf, size_t size, ald_error *err)
{
    return put_at(ctx, *(uint64_t *)ctx, buf, size, err);
}

/* A chunk for each row. */
static ald_status save_rows(uint64_t said, ald_error *err)
{
    ald_host host = ald_native_host(1);
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    int left = 1;
    uint64_t end = 0;
    ald_stream_impl impl = {rows_schema, rows_next, rows_free, &left, said};
    ald_sink sink = {.write = put, .write_at = put_at, .ctx = &end};
    ald_status st = ald_stream_new(&impl, &host.alloc, &stream, err);
    options.layout = ALD_LAYOUT_STREAMING;
    options.chunk_rows = 1;
    return st == ALD_OK ? ald_save(&stream, &sink, &options, &host, err) : st;
}

static void test_wrong_counts(void)
{
    static const uint64_t fine[] = {0, ROWS - 1, ROWS, ROWS + 1, 100, 20000000, UINT64_MAX};
    ald_error err;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        CHECK_INT(save_rows(fine[i], &err), ALD_OK);
    CHECK_INT(save_rows(1, &err), ALD_E_INVALID_ARG);
    CHECK_INT(strstr(err.msg, "said that it has 1 rows") != NULL, 1);
}

int main(void)
{
    RUN(test_wrong_counts);
    return check_done();
}
