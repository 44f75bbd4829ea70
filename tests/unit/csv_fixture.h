/* SPDX-License-Identifier: MIT */
/* CSV text read and shown as its schema and its rows, for tests. */
#ifndef CSV_FIXTURE_H
#define CSV_FIXTURE_H

#include "ald/ald.h"
#include "interchange/csv/reader.h"
#include "unit/check.h"
#include "unit/check_alloc.h"

typedef struct csv_reading {
    ald_status status;
    ald_error err;
    char *schema; /* "a: int64, b: string" */
    char *rows;   /* one JSON array a line */
    size_t rows_size, rows_capacity;
    char notes[4096];
    int64_t row_count;
    size_t batch_count, most_rows;
} csv_reading;

/* Tasks in the opposite order, all on this thread: results must not depend on the order. */
static inline void csv_backwards(void *ctx, uint32_t count, void (*task)(void *, uint32_t),
                                 void *arg)
{
    (void)ctx;
    while (count > 0)
        task(arg, --count);
}

static inline ald_host csv_host(const ald_allocator *alloc, uint32_t threads)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = *alloc;
    host.thread_count = threads;
    host.run_tasks = threads > 1 ? csv_backwards : NULL;
    return host;
}

static inline void csv_note(void *ctx, const char *text)
{
    csv_reading *r = (csv_reading *)ctx;
    size_t used = strlen(r->notes);
    snprintf(r->notes + used, sizeof r->notes - used, "%s\n", text);
}

static inline void csv_show(csv_reading *r, const void *data, size_t size)
{
    if (r->rows_size + size + 1 > r->rows_capacity) {
        r->rows_capacity = 2 * (r->rows_size + size) + 256;
        r->rows = (char *)realloc(r->rows, r->rows_capacity);
    }
    if (size > 0)
        memcpy(r->rows + r->rows_size, data, size);
    r->rows_size += size;
    r->rows[r->rows_size] = '\0';
}

static inline ald_status csv_show_batch(csv_reading *r, const struct ArrowSchema *schema,
                                        const struct ArrowArray *batch, ald_buffer *text)
{
    for (int64_t row = 0; row < batch->length; row++) {
        for (int64_t c = 0; c < batch->n_children; c++) {
            ald_status status;
            text->size = 0;
            status = ald_value_to_text(schema->children[c], batch->children[c], row, 1, NULL, text,
                                       &r->err);
            if (status != ALD_OK)
                return status;
            csv_show(r, c == 0 ? "[" : ",", 1);
            csv_show(r, text->data, text->size);
        }
        csv_show(r, "]\n", 2);
    }
    return ALD_OK;
}

static inline ald_status csv_show_all(csv_reading *r, struct ArrowArrayStream *stream,
                                      ald_buffer *text)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    char part[256];
    ald_status status = ald_stream_schema(stream, &schema, &r->err);
    if (status != ALD_OK)
        return status;
    for (int64_t c = 0; c < schema.n_children && status == ALD_OK; c++) {
        text->size = 0;
        status = ald_type_format(schema.children[c], text, &r->err);
        if (status == ALD_OK) {
            snprintf(part, sizeof part, "%s%.60s: %.*s", c > 0 ? ", " : "",
                     schema.children[c]->name, (int)text->size, (const char *)text->data);
            r->schema =
                (char *)realloc(r->schema, (r->schema ? strlen(r->schema) : 0) + strlen(part) + 1);
            if (c == 0)
                r->schema[0] = '\0';
            strcat(r->schema, part);
        }
    }
    while (status == ALD_OK) {
        status = ald_stream_next(stream, &batch, &r->err);
        if (status != ALD_OK || batch.release == NULL)
            break;
        r->batch_count++;
        r->row_count += batch.length;
        if ((size_t)batch.length > r->most_rows)
            r->most_rows = (size_t)batch.length;
        status = csv_show_batch(r, &schema, &batch, text);
        batch.release(&batch);
    }
    schema.release(&schema);
    return status;
}

/* Reads all of a source. Everything in `r` is filled anew; csv_reading_free it. */
static inline void csv_read(csv_reading *r, const ald_source *source,
                            const ald_csv_options *options, const ald_host *host,
                            const ald__csv_tuning *tuning)
{
    ald_csv_options with_notes = *options;
    struct ArrowArrayStream stream;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    memset(r, 0, sizeof *r);
    csv_show(r, "", 0);
    with_notes.text.note = csv_note;
    with_notes.text.note_ctx = r;
    r->status = ald__csv_open_tuned(source, &with_notes, host, tuning, &stream, &r->err);
    if (r->status == ALD_OK) {
        r->status = csv_show_all(r, &stream, &text);
        stream.release(&stream);
    }
    ald_buffer_clear(&text);
}

static inline void csv_reading_free(csv_reading *r)
{
    free(r->schema);
    free(r->rows);
}

#endif
