/* SPDX-License-Identifier: MIT */
/* Pass two. Knows where batches begin and end, and parses as many of them side by side as memory allows. */
#include "interchange/csv/csv_checked.h"
#include "interchange/csv/parse.h"
#include "interchange/text/mem.h"

#define BATCH_ROWS 65536
/* Of the file, a batch of BATCH_ROWS; one of longer rows, several of which are joined to a chunk, in more memory; all batches
 * that are in memory at once. */
#define BATCH_BYTES (16u << 20)
#define BATCH_BYTES_LONG (8u << 20)
#define WAVE_BYTES (64u << 20)
#define MAX_WAVE 64

typedef struct batch_job {
    ald__csv_reader *reader;
    ald__csv_walk walk;
    ald__csv_parser parser;
    ald__csv_look look;          /* in one pass */
    uint64_t offset, skip, rows; /* from a mark; rows to skip; rows of the batch */
    int is_last;
    struct ArrowArray out;
    ald_status status;
    ald_error error;
} batch_job;

typedef struct ald__csv_batches {
    batch_job *jobs;
    uint32_t job_count, ready, taken; /* of the wave */
    uint64_t row;                     /* the next batch begins here */
    size_t mark;                      /* the last mark at or before it */
} ald__csv_batches;

static void job_free(ald__csv_reader *r, batch_job *job)
{
    ald__csv_walk_clear(&job->walk);
    for (size_t c = 0; job->parser.columns != NULL && c < r->column_count; c++)
        ald__column_clear(&job->parser.columns[c]);
    ald__text_free(&r->alloc, job->parser.columns, r->column_count, sizeof(ald__column));
    if (job->parser.scratch != NULL)
        r->alloc.release(r->alloc.ctx, job->parser.scratch, job->parser.scratch_capacity);
    ald__csv_look_clear(r, &job->look);
    if (job->out.release != NULL)
        job->out.release(&job->out);
}

void ald__csv_batches_free(ald__csv_reader *reader)
{
    ald__csv_batches *b = reader->batches;
    if (b == NULL)
        return;
    for (uint32_t i = 0; b->jobs != NULL && i < b->job_count; i++)
        job_free(reader, &b->jobs[i]);
    ald__text_free(&reader->alloc, b->jobs, b->job_count, sizeof *b->jobs);
    ald__text_free(&reader->alloc, b, 1, sizeof *b);
    reader->batches = NULL;
}

static ald_status batch_job_init(ald__csv_reader *r, batch_job *job, ald_error *err)
{
    size_t n = r->column_count;
    ald_status st;
    job->reader = r;
    job->parser.reader = r;
    st = ald__csv_walk_init(&job->walk, &r->source, &r->dialect, n,
                            r->dialect.block_bytes + ALD__CSV_OVERHANG_BYTES, &r->alloc, err);
    if (st != ALD_OK)
        return st;
    job->parser.columns = ald__text_alloc(&r->alloc, n, sizeof(ald__column), err);
    if (job->parser.columns == NULL)
        return ALD_E_NOMEM;
    for (size_t c = 0; c < n && st == ALD_OK; c++)
        st = ald__column_init(&job->parser.columns[c], r->fields.children[c]->format, &r->alloc,
                              err);
    return st == ALD_OK && r->checked != NULL ? ald__csv_look_init(r, &job->look, err) : st;
}

/* Batches that may be in memory at once: as many as there are threads, fewer when they are large. */
static uint32_t wave_size(const ald__csv_reader *r)
{
    uint64_t bytes = r->source.size_bytes - r->data_begin, per_batch = BATCH_BYTES, most;
    uint64_t batch_rows = r->text.batch_rows != 0 ? r->text.batch_rows : BATCH_ROWS;
    if (r->rows > 0 && batch_rows < r->rows && bytes / r->rows * batch_rows < per_batch)
        per_batch = bytes / r->rows * batch_rows + 1;
    most = WAVE_BYTES / per_batch;
    if (most > r->threads)
        most = r->threads;
    return most < 1 ? 1 : most > MAX_WAVE ? MAX_WAVE : (uint32_t)most;
}

ald_status ald__csv_batches_new(ald__csv_reader *reader, ald_error *err)
{
    ald__csv_batches *b = ald__text_alloc(&reader->alloc, 1, sizeof *b, err);
    ald_status st = ALD_OK;
    if (b == NULL)
        return ALD_E_NOMEM;
    reader->batches = b;
    b->job_count = wave_size(reader);
    b->jobs = ald__text_alloc(&reader->alloc, b->job_count, sizeof *b->jobs, err);
    if (b->jobs == NULL)
        return ALD_E_NOMEM;
    for (uint32_t i = 0; i < b->job_count && st == ALD_OK; i++)
        st = batch_job_init(reader, &b->jobs[i], err);
    return st;
}

/* The row before `end` at which a batch that begins at b->row ends, at a mark, to be of about so many bytes; `end`, if it is
 * not longer. */
static uint64_t end_within(const ald__csv_reader *r, const ald__csv_batches *b, uint64_t end,
                           uint64_t bytes)
{
    uint64_t begin = r->marks[b->mark].offset;
    for (size_t m = b->mark + 1; m < r->mark_count && r->marks[m].row < end; m++) {
        if (m + 1 < r->mark_count && r->marks[m + 1].offset - begin <= bytes)
            continue;
        if (m + 1 == r->mark_count && r->source.size_bytes - begin <= bytes)
            continue;
        if (r->marks[m].row > b->row)
            return r->marks[m].row;
    }
    return end;
}

/* The row behind the batch that begins at b->row. Batches of the default size end early when their rows are long. */
static uint64_t batch_end(const ald__csv_reader *r, const ald__csv_batches *b)
{
    uint64_t left = r->rows - b->row, most = BATCH_ROWS, end;
    if (r->text.batch_rows != 0)
        return b->row + (left < r->text.batch_rows ? left : r->text.batch_rows);
    end = b->row + (most < left ? most : left);
    return end_within(r, b, end, BATCH_BYTES) == end ? end
                                                     : end_within(r, b, end, BATCH_BYTES_LONG);
}

static ald_status changed(const ald__csv_reader *r, ald_error *err)
{
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s: the file was changed while it was read",
                         ald__csv_source_name(&r->source));
}

/* The rows are not what was counted. In one pass nobody looked at them before: two passes say what is wrong. */
static ald_status miscounted(const ald__csv_reader *r, ald_error *err)
{
    return r->checked != NULL ? ALD_E_SCHEMA_MISMATCH : changed(r, err);
}

static ald_status skip_rows(batch_job *job, ald_error *err)
{
    uint64_t left = job->skip;
    while (left > 0) {
        ald_status st = ald__csv_walk_next(&job->walk, (size_t)left, err);
        if (st != ALD_OK)
            return st;
        if (job->walk.rows.rows == 0 && (job->walk.fault.kind != ALD__CSV_FINE ||
                                         job->walk.pos >= job->reader->source.size_bytes))
            return miscounted(job->reader, err);
        left -= job->walk.rows.rows;
    }
    return ALD_OK;
}

/* The rows of the slab; in one pass with a look at what they are. */
static ald_status parse_slab(batch_job *job, ald_error *err)
{
    if (job->reader->checked == NULL)
        return ald__csv_parse_slab(&job->parser, &job->walk, err);
    return ald__csv_take_slab(&job->parser, &job->look.infer, &job->walk, err);
}

/* Behind the last row that was counted there is none. */
static ald_status check_end(batch_job *job, ald_error *err)
{
    ald_status st;
    job->walk.limit = UINT64_MAX;
    st = ald__csv_walk_next(&job->walk, 1, err);
    if (st == ALD_OK && (job->walk.rows.rows > 0 || job->walk.fault.kind != ALD__CSV_FINE))
        st = miscounted(job->reader, err);
    return st;
}

static ald_status parse_rows(batch_job *job, ald_error *err)
{
    const ald__csv_reader *r = job->reader;
    uint64_t left = job->rows;
    if (r->checked != NULL)
        ald__csv_look_begin(r, &job->look, job->walk.pos);
    while (left > 0) {
        size_t limit = left < SIZE_MAX ? (size_t)left : SIZE_MAX;
        ald_status st;
        if (r->checked != NULL)
            job->walk.limit = ald__csv_look_block(r, &job->look, job->walk.pos);
        st = ald__csv_walk_next(&job->walk, limit, err);
        if (st == ALD_OK)
            st = parse_slab(job, err);
        if (st != ALD_OK)
            return st;
        if (job->parser.fault.kind != ALD__CSV_FINE && r->checked != NULL)
            return ALD_E_SCHEMA_MISMATCH; /* a pass for the types alone says what it is */
        if (job->parser.fault.kind != ALD__CSV_FINE)
            return ald__csv_fault_error(job->reader, &job->parser.fault, err);
        left -= job->walk.rows.rows;
        if (job->walk.fault.kind != ALD__CSV_FINE
                ? left > 0 || r->checked != NULL
                : left > 0 && job->walk.pos >= job->reader->source.size_bytes)
            return miscounted(job->reader, err);
    }
    return job->is_last && r->checked != NULL ? check_end(job, err) : ALD_OK;
}

static ald_status finish_batch(batch_job *job, ald_error *err)
{
    ald__csv_reader *r = job->reader;
    void *no_validity = NULL;
    size_t none = 0;
    ald_status st = ald__text_array_new(&r->alloc, (int64_t)job->rows, 0, 1, &no_validity, &none,
                                        r->column_count, &job->out, err);
    for (size_t c = 0; c < r->column_count && st == ALD_OK; c++)
        st = ald__column_finish(&job->parser.columns[c], job->out.children[c], err);
    if (st != ALD_OK && job->out.release != NULL)
        job->out.release(&job->out);
    return st;
}

static void job_run(void *arg, uint32_t index)
{
    ald__csv_batches *b = arg;
    batch_job *job = &b->jobs[index];
    job->walk.pos = job->offset;
    job->walk.limit = UINT64_MAX;
    job->walk.fault.kind = ALD__CSV_FINE;
    job->status = skip_rows(job, &job->error);
    for (size_t c = 0; c < job->reader->column_count && job->status == ALD_OK; c++)
        job->status = ald__column_reserve(&job->parser.columns[c], (size_t)job->rows, &job->error);
    if (job->status == ALD_OK)
        job->status = parse_rows(job, &job->error);
    if (job->status == ALD_OK)
        job->status = finish_batch(job, &job->error);
}

static ald_status run_batch_wave(ald__csv_reader *r, ald_error *err)
{
    ald__csv_batches *b = r->batches;
    uint64_t done;
    b->ready = b->taken = 0;
    for (; b->ready < b->job_count && b->row < r->rows; b->ready++) {
        batch_job *job = &b->jobs[b->ready];
        uint64_t end;
        while (b->mark + 1 < r->mark_count && r->marks[b->mark + 1].row <= b->row)
            b->mark++;
        end = batch_end(r, b);
        job->offset = r->marks[b->mark].offset;
        job->skip = b->row - r->marks[b->mark].row;
        job->rows = end - b->row;
        job->is_last = end == r->rows;
        b->row = end;
    }
    ald__csv_run(r, b->ready, job_run, b);
    while (b->mark + 1 < r->mark_count && r->marks[b->mark + 1].row <= b->row)
        b->mark++;
    done = b->row < r->rows ? r->marks[b->mark].offset : r->source.size_bytes;
    return ald__csv_progress(r, r->source.size_bytes + done, err);
}

ald_status ald__csv_batches_next(ald__csv_reader *reader, struct ArrowArray *out, ald_error *err)
{
    ald__csv_batches *b = reader->batches;
    batch_job *job;
    out->release = NULL;
    if (b->taken == b->ready) {
        ald_status st;
        if (b->row >= reader->rows)
            return reader->checked != NULL ? ald__csv_checked_end(reader, err) : ALD_OK;
        st = run_batch_wave(reader, err);
        if (st != ALD_OK)
            return st;
    }
    job = &b->jobs[b->taken++];
    if (reader->checked != NULL && job->status == ALD_OK) {
        ald_status st = ald__csv_look_merge(reader, &job->look, err);
        if (st != ALD_OK)
            return st;
    } else if (reader->checked != NULL && job->status != ALD_E_NOMEM && job->status != ALD_E_IO) {
        return ald__csv_surprise(reader, err);
    }
    if (job->status != ALD_OK) {
        if (err != NULL)
            *err = job->error;
        return job->status;
    }
    *out = job->out;
    job->out.release = NULL;
    return ALD_OK;
}
