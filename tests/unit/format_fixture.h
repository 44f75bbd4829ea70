/* SPDX-License-Identifier: MIT */
/* Arrays by hand, an allocator that can be told to fail, and streams over them, for the tests of text output. */
#ifndef FORMAT_FIXTURE_H
#define FORMAT_FIXTURE_H

#include "ald/io.h"
#include "ald/stream.h"
#include "ald/text.h"
#include "check.h"

static int64_t fixture_live;       /* blocks not yet released */
static int64_t fixture_fail_after; /* allocations that still work; negative: all */

static void *fixture_alloc(void *ctx, size_t size)
{
    void *p;
    (void)ctx;
    if (fixture_fail_after == 0)
        return NULL;
    if (fixture_fail_after > 0)
        fixture_fail_after--;
    p = malloc(size);
    if (p != NULL)
        fixture_live++;
    return p;
}

static void *fixture_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    /* Always moves, so that a stale pointer is seen by the sanitizer. */
    void *p = fixture_alloc(ctx, new_size);
    if (p == NULL)
        return NULL;
    memcpy(p, ptr, old_size < new_size ? old_size : new_size);
    free(ptr);
    fixture_live--;
    return p;
}

static void fixture_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
    fixture_live--;
}

static inline ald_host fixture_host(void)
{
    ald_host host = {0};
    host.struct_size = sizeof host;
    host.alloc.alloc = fixture_alloc;
    host.alloc.resize = fixture_resize;
    host.alloc.release = fixture_release;
    fixture_live = 0;
    fixture_fail_after = -1;
    return host;
}

static void fixture_drop_array(struct ArrowArray *array)
{
    array->release = NULL;
}

static void fixture_drop_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static inline struct ArrowSchema fixture_field(const char *format, const char *name)
{
    struct ArrowSchema s = {0};
    s.format = format;
    s.name = name;
    s.flags = ARROW_FLAG_NULLABLE;
    s.release = fixture_drop_schema;
    return s;
}

/* Buffers: validity first where the type has one. */
static inline struct ArrowArray fixture_array(int64_t length, int64_t n_buffers,
                                              const void **buffers)
{
    struct ArrowArray a = {0};
    a.length = length;
    a.null_count = -1;
    a.n_buffers = n_buffers;
    a.buffers = buffers;
    a.release = fixture_drop_array;
    return a;
}

#define BUFFERS(...) ((const void *[]){__VA_ARGS__})

/* The text of one value, NUL-terminated, in static storage. */
static inline const char *fixture_text(const struct ArrowSchema *field,
                                       const struct ArrowArray *array, int64_t row, int json,
                                       const ald_text_write_options *options)
{
    static char text[65536];
    ald_host host = fixture_host();
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_error err = {0};
    ald_status status = ald_value_to_text(field, array, row, json, options, &out, &err);
    if (status != ALD_OK)
        snprintf(text, sizeof text, "%s: %s", ald_status_name(status), err.msg);
    else
        snprintf(text, sizeof text, "%.*s", (int)out.size, (const char *)out.data);
    ald_buffer_clear(&out);
    CHECK_INT(fixture_live, 0);
    return text;
}

/* A table of columns; the arrays must stay until the stream is released. */
typedef struct fixture_table {
    struct ArrowSchema schema, *fields[64];
    struct ArrowArray batch, *columns[64];
    const void *no_validity[1];
} fixture_table;

static inline void fixture_table_init(fixture_table *t, int64_t rows)
{
    memset(t, 0, sizeof *t);
    t->schema = fixture_field("+s", "");
    t->schema.children = t->fields;
    t->batch = fixture_array(rows, 1, t->no_validity);
    t->batch.null_count = 0;
    t->batch.children = t->columns;
}

static inline void fixture_add(fixture_table *t, struct ArrowSchema *field,
                               struct ArrowArray *array)
{
    t->fields[t->schema.n_children++] = field;
    t->columns[t->batch.n_children++] = array;
}

static inline ald_status fixture_stream(fixture_table *t, size_t batches, const ald_host *host,
                                        struct ArrowArrayStream *out, ald_error *err)
{
    struct ArrowSchema schema = t->schema;
    struct ArrowArray copies[16];
    for (size_t i = 0; i < batches; i++)
        copies[i] = t->batch;
    return ald_stream_from_batches(&schema, copies, batches, host, out, err);
}

#endif
