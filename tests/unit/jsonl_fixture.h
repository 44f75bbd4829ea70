/* SPDX-License-Identifier: MIT */
/* JSON text read and shown as its schema and its rows, for tests. */
#ifndef JSONL_FIXTURE_H
#define JSONL_FIXTURE_H

#include "ald/ald.h"
#include "check.h"
#include "check_alloc.h"

typedef struct reading {
    ald_status status;
    ald_error err;
    char *schema; /* "a: int64, b: string" */
    char *rows;   /* JSON lines as the library writes them */
    char notes[2048];
    int64_t row_count;
    size_t batch_count;
    int64_t batch_rows[64];
} reading;

/* Tasks in the opposite order, all on this thread: results must not depend on the order. */
static inline void fixture_backwards(void *ctx, uint32_t count, void (*task)(void *, uint32_t),
                                     void *arg)
{
    (void)ctx;
    while (count > 0)
        task(arg, --count);
}

static inline ald_host fixture_host(const ald_allocator *alloc, uint32_t threads)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = *alloc;
    host.thread_count = threads;
    host.run_tasks = threads > 1 ? fixture_backwards : NULL;
    return host;
}

static inline void fixture_note(void *ctx, const char *text)
{
    reading *r = (reading *)ctx;
    size_t used = strlen(r->notes);
    snprintf(r->notes + used, sizeof r->notes - used, "%s\n", text);
}

static inline ald_status fixture_schema(struct ArrowArrayStream *stream, const ald_host *host,
                                        reading *r)
{
    struct ArrowSchema schema;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&text);
    ald_status status = ald_stream_schema(stream, &schema, &r->err);
    if (status != ALD_OK)
        return status;
    for (int64_t i = 0; i < schema.n_children && status == ALD_OK; i++) {
        const char *name = schema.children[i]->name;
        if (i > 0)
            status = sink.write(sink.ctx, ", ", 2, &r->err);
        if (status == ALD_OK && *name)
            status = sink.write(sink.ctx, name, strlen(name), &r->err);
        if (status == ALD_OK)
            status = sink.write(sink.ctx, ": ", 2, &r->err);
        if (status == ALD_OK)
            status = ald_type_format(schema.children[i], &text, &r->err);
    }
    if (status == ALD_OK) {
        r->schema = (char *)calloc(1, text.size + 1);
        if (text.size > 0)
            memcpy(r->schema, text.data, text.size);
    }
    ald_buffer_clear(&text);
    schema.release(&schema);
    return status;
}

/* Counts batches on their way to the writer. */
typedef struct fixture_tap {
    struct ArrowArrayStream inner;
    reading *r;
} fixture_tap;

static inline ald_status fixture_tap_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    return ald_stream_schema(&((fixture_tap *)ctx)->inner, out, err);
}

static inline ald_status fixture_tap_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    fixture_tap *tap = (fixture_tap *)ctx;
    ald_status status = ald_stream_next(&tap->inner, out, err);
    if (status == ALD_OK && out->release != NULL) {
        if (tap->r->batch_count < 64)
            tap->r->batch_rows[tap->r->batch_count] = out->length;
        tap->r->batch_count++;
        tap->r->row_count += out->length;
    }
    return status;
}

static inline void fixture_tap_free(void *ctx)
{
    fixture_tap *tap = (fixture_tap *)ctx;
    tap->inner.release(&tap->inner);
    free(tap);
}

static inline ald_status fixture_rows(struct ArrowArrayStream *stream, const ald_host *host,
                                      reading *r)
{
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&text);
    ald_jsonl_write_options options = ALD_JSONL_WRITE_OPTIONS_INIT;
    struct ArrowArrayStream tapped;
    fixture_tap *tap = (fixture_tap *)calloc(1, sizeof *tap);
    ald_stream_impl impl;
    memset(&impl, 0, sizeof impl);
    impl.schema = fixture_tap_schema;
    impl.next = fixture_tap_next;
    impl.free = fixture_tap_free;
    impl.ctx = tap;
    tap->inner = *stream;
    tap->r = r;
    ald_status status = ald_stream_new(&impl, &host->alloc, &tapped, &r->err);
    if (status == ALD_OK)
        status = ald_jsonl_write(&tapped, &sink, &options, host, &r->err);
    if (status == ALD_OK) {
        r->rows = (char *)calloc(1, text.size + 1);
        if (text.size > 0)
            memcpy(r->rows, text.data, text.size);
    }
    ald_buffer_clear(&text);
    return status;
}

static inline void read_source(reading *r, const ald_source *source, const ald_jsonl_options *given,
                               const ald_host *host)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    memset(r, 0, sizeof *r);
    if (given != NULL)
        options = *given;
    if (options.text.note == NULL) {
        options.text.note = fixture_note;
        options.text.note_ctx = r;
    }
    r->status = ald_jsonl_open(source, &options, host, &stream, &r->err);
    if (r->status != ALD_OK) {
        CHECK(stream.release == NULL);
        return;
    }
    r->status = fixture_schema(&stream, host, r);
    if (r->status == ALD_OK)
        r->status = fixture_rows(&stream, host, r);
    else
        stream.release(&stream);
}

static inline void reading_free(reading *r)
{
    free(r->schema);
    free(r->rows);
    memset(r, 0, sizeof *r);
}

/* Reads with one thread and with three, checks that both agree and that no memory is left. */
static inline void read_bytes(reading *r, const void *data, size_t size,
                              const ald_jsonl_options *options)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_source source = ald_source_memory(data, size);
    ald_host host = fixture_host(&alloc, 3);
    reading other;
    source.name = "folder/in.jsonl";
    read_source(&other, &source, options, &host);
    host = fixture_host(&alloc, 1);
    read_source(r, &source, options, &host);
    CHECK_HEAP_EMPTY(&heap);
    CHECK_INT(other.status, r->status);
    CHECK_STR(other.err.msg, r->err.msg);
    CHECK_STR(other.notes, r->notes);
    CHECK_STR(other.schema, r->schema);
    CHECK_STR(other.rows, r->rows);
    CHECK_UINT(other.batch_count, r->batch_count);
    reading_free(&other);
}

static inline void read_text(reading *r, const char *text, const ald_jsonl_options *options)
{
    read_bytes(r, text, strlen(text), options);
}

/* The text reads as this schema and these rows. */
static inline void expect_rows(const char *text, const ald_jsonl_options *options,
                               const char *schema, const char *rows)
{
    reading r;
    read_text(&r, text, options);
    if (CHECK_OK(r.status, &r.err)) {
        CHECK_STR(r.schema, schema);
        CHECK_STR(r.rows, rows);
    } else {
        printf("    while reading: %s\n", text);
    }
    reading_free(&r);
}

/* The text is refused with this status and these words in the message. */
static inline void expect_error(const char *text, const ald_jsonl_options *options,
                                ald_status status, const char *words)
{
    reading r;
    read_text(&r, text, options);
    CHECK_INT(r.status, status);
    if (!CHECK_CONTAINS(r.err.msg, words))
        printf("    while reading: %s\n", text);
    reading_free(&r);
}

#endif
