/* SPDX-License-Identifier: MIT */
/* A random table as a stream that is not of this library: every batch is made when it is asked for, in memory that the
 * host under test does not see. */
#ifndef TABLE_STREAM_H
#define TABLE_STREAM_H

#include <errno.h>

#include "check_alloc.h"
#include "property/random_table.h"

typedef struct table_stream {
    uint64_t seed;
    size_t count, next;
} table_stream;

static check_heap table_heap;
static int64_t table_live_batches; /* handed out and not yet released */

static inline const ald_allocator *table_alloc(void)
{
    static ald_allocator alloc;
    if (alloc.alloc == NULL)
        alloc = check_heap_init(&table_heap, -1);
    return &alloc;
}

static inline void table_batch(uint64_t seed, size_t index, const struct ArrowSchema *schema,
                               struct ArrowArray *out)
{
    rt_batch(seed * 7 + index, seed + index, schema, out);
}

static inline void table_release_batch(struct ArrowArray *batch)
{
    table_live_batches--;
    rt_release(batch);
}

/* Everything that a consumer took is given back. */
#define TABLE_CHECK_RELEASED(stream)                                                               \
    do {                                                                                           \
        CHECK((stream)->release == NULL);                                                          \
        CHECK_INT(table_live_batches, 0);                                                          \
        CHECK_HEAP_EMPTY(&table_heap);                                                             \
        table_live_batches = 0;                                                                    \
    } while (0)

static inline int table_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    rt_schema(((const table_stream *)stream->private_data)->seed, table_alloc(), out);
    return 0;
}

static inline int table_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    table_stream *t = (table_stream *)stream->private_data;
    struct ArrowSchema schema;
    memset(out, 0, sizeof *out);
    if (t->next == t->count)
        return 0;
    rt_schema(t->seed, table_alloc(), &schema);
    table_batch(t->seed, t->next++, &schema, out);
    schema.release(&schema);
    out->release = table_release_batch;
    table_live_batches++;
    return 0;
}

static inline const char *table_last_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static inline void table_release(struct ArrowArrayStream *stream)
{
    free(stream->private_data);
    stream->release = NULL;
}

/* `count` batches of the table that belongs to `seed`. */
static inline void table_open(uint64_t seed, size_t count, struct ArrowArrayStream *out)
{
    table_stream *t = (table_stream *)rt_calloc(1, sizeof *t);
    t->seed = seed;
    t->count = count;
    *out = (struct ArrowArrayStream){table_get_schema, table_get_next, table_last_error,
                                     table_release, t};
}

/* What the whole table says, a line a row. Free out->data. */
static inline void table_render(uint64_t seed, size_t count, rt_out *out)
{
    struct ArrowSchema schema;
    rt_schema(seed, table_alloc(), &schema);
    for (size_t i = 0; i < count; i++) {
        struct ArrowArray batch;
        table_batch(seed, i, &schema, &batch);
        rt_render_batch(&schema, &batch, out);
        batch.release(&batch);
    }
    schema.release(&schema);
}

#endif
