/* SPDX-License-Identifier: MIT */
/* Cutting batches into ranges of rows, formatting rounds of them, writing in order. */
#include "interchange/format/row_writer.h"

#include "ald/stream.h"

/* Text of one range: large enough that a task's start does not count, small enough for the caches. */
#define RANGE_BYTES ((size_t)512 * 1024)
/* A buffer that one huge row has grown is not kept. */
#define KEEP_BYTES ((size_t)8 * 1024 * 1024)
/* Ranges in a round for each thread: more than one, for ranges do not cost the same. */
#define RANGES_PER_THREAD 3
#define MOST_RANGES 192

typedef struct row_range {
    ald_buffer text;
    int64_t first, count;
    ald_status status;
    ald_error err;
} row_range;

typedef struct row_writer {
    const ald__row_form *form;
    const ald_sink *sink;
    const ald_host *host;
    ald__view table;
    row_range *ranges;
    uint32_t range_capacity, range_count;
    uint64_t rows_before; /* rows of earlier batches */
    uint64_t bytes_written, rows_written;
} row_writer;

static void format_range(void *arg, uint32_t index)
{
    row_writer *w = arg;
    row_range *r = w->ranges + index;
    ald__pen pen;
    r->text.size = 0;
    ald__pen_open(&pen, &r->text, &r->err);
    r->status = w->form->rows(w->form->ctx, &w->table, r->first, r->count,
                              w->rows_before + (uint64_t)r->first, &pen);
    ald__pen_close(&pen);
}

static ald_status write_range(row_writer *w, row_range *r, ald_error *err)
{
    ald_status status = r->status;
    if (status != ALD_OK) {
        if (err != NULL)
            *err = r->err;
        return status;
    }
    if (r->text.size > 0)
        status = w->sink->write(w->sink->ctx, r->text.data, r->text.size, err);
    w->bytes_written += r->text.size;
    w->rows_written += (uint64_t)r->count;
    if (r->text.capacity > KEEP_BYTES)
        ald_buffer_clear(&r->text);
    return status;
}

static ald_status run_round(row_writer *w, ald_error *err)
{
    if (w->host->run_tasks != NULL && w->range_count > 1) {
        w->host->run_tasks(w->host->ctx, w->range_count, format_range, w);
    } else {
        for (uint32_t i = 0; i < w->range_count; i++)
            format_range(w, i);
    }
    for (uint32_t i = 0; i < w->range_count; i++)
        ALD__PEN_TRY(write_range(w, w->ranges + i, err));
    return ALD_OK;
}

/* As many rows as fill a range, by the rows so far. */
static int64_t rows_per_range(const row_writer *w)
{
    uint64_t row_bytes = 16 + 12 * (uint64_t)w->table.child_count;
    if (w->rows_written > 0)
        row_bytes = w->bytes_written / w->rows_written + 1;
    return row_bytes >= RANGE_BYTES ? 1 : (int64_t)(RANGE_BYTES / row_bytes);
}

static ald_status write_batch(row_writer *w, const struct ArrowArray *batch, ald_error *err)
{
    int64_t done = 0;
    ALD__PEN_TRY(ald__view_bind(&w->table, batch, err));
    while (done < batch->length) {
        int64_t step = rows_per_range(w);
        for (w->range_count = 0; w->range_count < w->range_capacity && done < batch->length;
             w->range_count++) {
            row_range *r = w->ranges + w->range_count;
            r->first = done;
            r->count = batch->length - done < step ? batch->length - done : step;
            done += r->count;
        }
        ALD__PEN_TRY(run_round(w, err));
    }
    w->rows_before += (uint64_t)batch->length;
    return ALD_OK;
}

static ald_status open_ranges(row_writer *w, ald_error *err)
{
    const ald_allocator *alloc = &w->host->alloc;
    size_t size;
    w->range_capacity = 1;
    if (w->host->run_tasks != NULL && w->host->thread_count > 1)
        w->range_capacity = w->host->thread_count > MOST_RANGES / RANGES_PER_THREAD
                                ? MOST_RANGES
                                : w->host->thread_count * RANGES_PER_THREAD;
    size = w->range_capacity * sizeof *w->ranges;
    w->ranges = alloc->alloc(alloc->ctx, size);
    if (w->ranges == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
    memset(w->ranges, 0, size);
    for (uint32_t i = 0; i < w->range_capacity; i++)
        w->ranges[i].text.alloc = alloc;
    return ALD_OK;
}

static void close_ranges(row_writer *w)
{
    const ald_allocator *alloc = &w->host->alloc;
    if (w->ranges == NULL)
        return;
    for (uint32_t i = 0; i < w->range_capacity; i++)
        ald_buffer_clear(&w->ranges[i].text);
    alloc->release(alloc->ctx, w->ranges, w->range_capacity * sizeof *w->ranges);
}

/* What comes before and behind the rows, through the first range's buffer. */
static ald_status write_frame(row_writer *w, int at_end, ald_error *err)
{
    row_range *r = w->ranges;
    ald__pen pen;
    r->text.size = 0;
    r->count = 0;
    ald__pen_open(&pen, &r->text, &r->err);
    r->status = ALD_OK;
    if (!at_end && w->form->open != NULL)
        r->status = w->form->open(w->form->ctx, &w->table, &pen);
    if (at_end && w->form->close != NULL)
        r->status = w->form->close(w->form->ctx, w->rows_before, &pen);
    ald__pen_close(&pen);
    ALD__PEN_TRY(write_range(w, r, err));
    w->bytes_written = 0; /* the estimate of a row's size is of rows alone */
    return ALD_OK;
}

static ald_status write_all(row_writer *w, struct ArrowArrayStream *batches, ald_error *err)
{
    struct ArrowArray batch;
    ald_status status;
    ALD__PEN_TRY(open_ranges(w, err));
    ALD__PEN_TRY(write_frame(w, 0, err));
    for (;;) {
        ALD__PEN_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return write_frame(w, 1, err);
        status = write_batch(w, &batch, err);
        batch.release(&batch);
        if (status != ALD_OK)
            return status;
    }
}

ald_status ald__rows_write(struct ArrowArrayStream *batches, const ald_sink *sink,
                           const ald__row_form *form, const ald_host *host, ald_error *err)
{
    struct ArrowSchema schema = {0};
    row_writer w = {.form = form, .sink = sink, .host = host};
    ald_status status;
    if (sink == NULL || host == NULL) {
        batches->release(batches);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no sink, or no host");
    }
    status = ald_stream_schema(batches, &schema, err);
    if (status == ALD_OK)
        status = ald__view_init(&w.table, &schema, &host->alloc, err);
    if (status == ALD_OK && w.table.cell != ALD__CELL_STRUCT)
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "the stream's schema is no struct of columns");
    if (status == ALD_OK)
        status = write_all(&w, batches, err);
    close_ranges(&w);
    ald__view_clear(&w.table, &host->alloc);
    if (schema.release != NULL)
        schema.release(&schema);
    batches->release(batches);
    return status;
}
