/* SPDX-License-Identifier: MIT */
/* Pass one. Knows how the file is gone through in blocks, side by side where there are threads, with the same outcome.
 *
 * A record belongs to the block in which it begins. With threads a wave of blocks is first run through the quote
 * automaton from every possible state; the true state of each then follows from the one before. Alone, or with comments
 * (which the automaton of states.h does not know), each block begins where the one before ended. */
#include "interchange/csv/infer.h"
#include "interchange/csv/states.h"
#include "interchange/text/mem.h"

#define MAX_JOBS 64

typedef struct block_job {
    const ald__csv_reader *reader;
    ald__csv_walk walk;
    uint64_t begin, end; /* the block */
    uint64_t start;      /* its first record; end or more: none */
    ald__csv_exit exits[ALD__CSV_ENTRIES];
    ald__csv_infer infer;
    uint64_t infer_rows; /* rows to look at */
    uint64_t rows, padded, skipped;
    uint32_t *marks; /* from begin */
    size_t mark_count, marks_capacity;
    ald_status status;
    ald_error error;
} block_job;

typedef struct survey {
    ald__csv_reader *reader;
    block_job *jobs;
    uint32_t job_count;
    uint8_t *done; /* per column, carried from block to block */
    uint8_t bare_seen;
    uint64_t infer_left;
} survey;

static void job_clear(survey *s, block_job *job)
{
    const ald_allocator *alloc = &s->reader->alloc;
    size_t n = s->reader->column_count;
    ald__csv_walk_clear(&job->walk);
    ald__text_free(alloc, job->infer.bare, n, sizeof(ald__profile));
    ald__text_free(alloc, job->infer.quoted, n, sizeof(ald__profile));
    ald__text_free(alloc, job->infer.done, n, 1);
    if (job->marks != NULL)
        alloc->release(alloc->ctx, job->marks, job->marks_capacity);
}

static ald_status job_init(survey *s, block_job *job, ald_error *err)
{
    ald__csv_reader *r = s->reader;
    size_t n = r->column_count;
    ald_status st;
    job->reader = r;
    st = ald__csv_walk_init(&job->walk, &r->source, &r->dialect, n,
                            r->dialect.block_bytes + ALD__CSV_OVERHANG_BYTES, &r->alloc, err);
    if (st != ALD_OK)
        return st;
    job->infer.nulls = &r->nulls;
    job->infer.columns = n;
    job->infer.bare = ald__text_alloc(&r->alloc, n, sizeof(ald__profile), err);
    job->infer.done = ald__text_alloc(&r->alloc, n, 1, err);
    if (job->infer.bare == NULL || job->infer.done == NULL)
        return ALD_E_NOMEM;
    if (!r->header_quoted)
        return ALD_OK;
    job->infer.quoted = ald__text_alloc(&r->alloc, n, sizeof(ald__profile), err);
    return job->infer.quoted == NULL ? ALD_E_NOMEM : ALD_OK;
}

static void survey_clear(survey *s)
{
    const ald_allocator *alloc = &s->reader->alloc;
    for (uint32_t i = 0; s->jobs != NULL && i < s->job_count; i++)
        job_clear(s, &s->jobs[i]);
    ald__text_free(alloc, s->jobs, s->job_count, sizeof *s->jobs);
    ald__text_free(alloc, s->done, s->reader->column_count, 1);
}

static ald_status survey_init(survey *s, ald__csv_reader *r, ald_error *err)
{
    size_t profile_bytes = r->column_count * sizeof(ald__profile) * 2;
    *s = (survey){.reader = r, .job_count = 1};
    if (r->threads > 1 && r->dialect.comment == 0)
        s->job_count = 2 * r->threads < MAX_JOBS ? 2 * r->threads : MAX_JOBS;
    while (s->job_count > 1 && s->job_count * profile_bytes > (32u << 20))
        s->job_count--;
    s->infer_left = UINT64_MAX;
    s->jobs = ald__text_alloc(&r->alloc, s->job_count, sizeof *s->jobs, err);
    s->done = ald__text_alloc(&r->alloc, r->column_count, 1, err);
    if (s->jobs == NULL || s->done == NULL)
        return ALD_E_NOMEM;
    for (size_t c = 0; c < r->column_count; c++)
        s->done[c] = r->columns[c].declared ? ALD__CSV_DONE_DECLARED : 0;
    for (uint32_t i = 0; i < s->job_count; i++) {
        ald_status st = job_init(s, &s->jobs[i], err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}

/* Phase A of one block: its exits. */
static void job_states(void *arg, uint32_t index)
{
    survey *s = arg;
    block_job *job = &s->jobs[index];
    size_t size = (size_t)(job->end - job->begin), got;
    size_t first = job->begin == s->reader->data_begin; /* nothing of records before it */
    const uint8_t *data;
    job->status =
        ald__csv_walk_peek(&job->walk, job->begin - 1 + first, size + 2, &data, &got, &job->error);
    if (job->status == ALD_OK)
        ald__csv_states_run(&s->reader->dialect, first ? '\n' : data[0], data + 1 - first, size,
                            job->end == s->reader->source.size_bytes, job->exits);
}

static ald_status job_mark(block_job *job, ald_error *err)
{
    const ald__csv_rows *r = &job->walk.rows;
    size_t first =
        (size_t)((ALD__CSV_MARK_ROWS - job->rows % ALD__CSV_MARK_ROWS) % ALD__CSV_MARK_ROWS);
    for (size_t row = first; row < r->rows; row += ALD__CSV_MARK_ROWS) {
        void *block = job->marks;
        ald_status st = ald__text_grow(&job->reader->alloc, &block, &job->marks_capacity,
                                       (job->mark_count + 1) * sizeof *job->marks, err);
        job->marks = block;
        if (st != ALD_OK)
            return st;
        job->marks[job->mark_count++] = (uint32_t)(job->walk.slab_at + r->starts[row] - job->begin);
    }
    return ALD_OK;
}

/* Phase B of one block: its records. */
static void job_records(void *arg, uint32_t index)
{
    survey *s = arg;
    block_job *job = &s->jobs[index];
    ald__csv_walk *walk = &job->walk;
    size_t look;
    walk->pos = job->start;
    walk->limit = job->end;
    while (job->status == ALD_OK && walk->pos < walk->limit && walk->fault.kind == ALD__CSV_FINE) {
        job->status = ald__csv_walk_next(walk, SIZE_MAX, &job->error);
        if (job->status == ALD_OK)
            job->status = job_mark(job, &job->error);
        if (job->status != ALD_OK)
            return;
        look = job->infer_rows < walk->rows.rows ? (size_t)job->infer_rows : walk->rows.rows;
        job->infer_rows -= look;
        if (look > 0)
            ald__csv_infer_slab(&job->infer, walk, look);
        job->rows += walk->rows.rows;
        job->padded += walk->rows.padded;
        job->skipped += walk->rows.skipped;
    }
}

static void job_reset(survey *s, block_job *job, uint64_t begin)
{
    const uint64_t size = s->reader->source.size_bytes;
    size_t n = s->reader->column_count;
    job->begin = begin;
    job->end = size - begin > s->reader->dialect.block_bytes
                   ? begin + s->reader->dialect.block_bytes
                   : size;
    job->rows = job->padded = job->skipped = 0;
    job->mark_count = 0;
    job->status = ALD_OK;
    job->walk.fault.kind = ALD__CSV_FINE;
    job->infer_rows = s->infer_left;
    job->infer.bare_seen = s->bare_seen;
    job->infer.empties = s->reader->empties;
    memcpy(job->infer.done, s->done, n);
    for (size_t c = 0; c < n; c++) {
        if (job->infer.done[c] == 0)
            ald__profile_init(&job->infer.bare[c]);
        if (job->infer.done[c] == 0 && job->infer.quoted != NULL)
            ald__profile_init(&job->infer.quoted[c]);
    }
}

static ald_status keep_marks(ald__csv_reader *r, const block_job *job, ald_error *err)
{
    void *block = r->marks;
    ald_status st = ald__text_grow(&r->alloc, &block, &r->marks_capacity,
                                   (r->mark_count + job->mark_count) * sizeof *r->marks, err);
    r->marks = block;
    if (st != ALD_OK)
        return st;
    for (size_t i = 0; i < job->mark_count; i++)
        r->marks[r->mark_count++] =
            (ald__csv_mark){job->begin + job->marks[i], r->rows + i * ALD__CSV_MARK_ROWS};
    return ALD_OK;
}

static void merge_column(ald__csv_column *column, const ald__csv_infer *infer, size_t c)
{
    uint64_t text = infer->bare[c].count[ALD__TOKEN_TEXT];
    ald__profile_merge(&column->bare, &infer->bare[c]);
    if (infer->quoted == NULL)
        return;
    for (int k = 0; k < ALD__TOKEN_KINDS; k++)
        text += infer->quoted[c].count[k];
    column->quoted_many |= text >= ALD__CSV_MANY_TEXT;
    ald__profile_merge(&column->quoted, &infer->quoted[c]);
}

/* Adds what a block found. In the order of the blocks. */
static ald_status survey_merge(survey *s, block_job *job, ald_error *err)
{
    ald__csv_reader *r = s->reader;
    ald_status st = job->status;
    if (st != ALD_OK) {
        if (err != NULL)
            *err = job->error;
        return st;
    }
    if (job->walk.fault.kind != ALD__CSV_FINE)
        return ald__csv_fault_error(r, &job->walk.fault, err);
    st = keep_marks(r, job, err);
    if (st != ALD_OK)
        return st;
    r->rows += job->rows;
    r->padded += job->padded;
    r->skipped += job->skipped;
    s->bare_seen |= job->infer.bare_seen;
    r->empties |= job->infer.empties;
    for (size_t c = 0; c < r->column_count; c++) {
        r->empties |= job->infer.bare[c].count[ALD__TOKEN_NULL] > 0;
        if (s->done[c] == 0)
            merge_column(&r->columns[c], &job->infer, c);
        s->done[c] |= job->infer.done[c];
    }
    if (s->infer_left != UINT64_MAX)
        s->infer_left = job->infer_rows;
    return ALD_OK;
}

/* Where the records of each block of the wave begin. */
static ald_status wave_starts(survey *s, uint32_t count, ald__csv_entry *entry, ald_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        block_job *job = &s->jobs[i];
        const ald__csv_entry before = *entry;
        const ald__csv_exit *exit = &job->exits[before];
        const uint8_t *data;
        size_t got;
        ald_status st = job->status;
        if (st != ALD_OK) {
            if (err != NULL)
                *err = job->error;
            return st;
        }
        job->start = exit->has_newline ? job->begin + exit->first_record : job->end;
        *entry = (ald__csv_entry)exit->entry;
        if (job->begin == s->reader->data_begin) {
            job->start = job->begin;
            continue;
        }
        st = ald__csv_walk_peek(&job->walk, job->begin - 1, 2, &data, &got, err);
        if (st != ALD_OK)
            return st;
        /* The block may begin with a record, or with the LF before one. */
        if (before == ALD__CSV_ENTRY_OUTSIDE && (data[0] == '\n' || data[0] == '\r'))
            job->start = job->begin + (data[0] == '\r' && data[1] == '\n');
    }
    return ALD_OK;
}

/* The next block, from where the one before ended. */
static ald_status survey_serial(survey *s, uint64_t *begin, uint64_t *record, ald_error *err)
{
    block_job *job = &s->jobs[0];
    job_reset(s, job, *begin);
    job->start = *record;
    job_records(s, 0);
    *record = job->walk.pos;
    *begin = job->end;
    return survey_merge(s, job, err);
}

static ald_status survey_wave(survey *s, uint64_t *begin, ald__csv_entry *entry, ald_error *err)
{
    const uint64_t size = s->reader->source.size_bytes;
    uint32_t count = 0;
    ald_status st = ALD_OK;
    for (; count < s->job_count && *begin < size; count++) {
        job_reset(s, &s->jobs[count], *begin);
        *begin = s->jobs[count].end;
    }
    ald__csv_run(s->reader, count, job_states, s);
    st = wave_starts(s, count, entry, err);
    if (st != ALD_OK)
        return st;
    ald__csv_run(s->reader, count, job_records, s);
    for (uint32_t i = 0; i < count && st == ALD_OK; i++)
        st = survey_merge(s, &s->jobs[i], err);
    return st;
}

static ald_status survey_run(survey *s, ald_error *err)
{
    ald__csv_reader *r = s->reader;
    uint64_t begin = r->data_begin, record = begin;
    ald__csv_entry entry = ALD__CSV_ENTRY_OUTSIDE;
    ald_status st = ALD_OK;
    while (begin < r->source.size_bytes && st == ALD_OK) {
        if (s->job_count > 1)
            st = survey_wave(s, &begin, &entry, err);
        else
            st = survey_serial(s, &begin, &record, err);
        if (st == ALD_OK)
            st = ald__csv_progress(r, begin, err);
    }
    return st;
}

/* With a limit on the rows to look at: these first, in turn; the whole file is then gone through without a look. */
static ald_status survey_first_rows(survey *s, ald_error *err)
{
    ald__csv_reader *r = s->reader;
    uint64_t begin = r->data_begin, record = begin;
    ald_status st = ALD_OK;
    s->infer_left = r->text.infer_rows;
    while (begin < r->source.size_bytes && s->infer_left > 0 && st == ALD_OK)
        st = survey_serial(s, &begin, &record, err);
    s->infer_left = 0;
    r->rows = r->padded = r->skipped = 0;
    r->mark_count = 0;
    return st;
}

void ald__csv_settle_quotes(ald__csv_reader *r, int bare_seen)
{
    r->all_quoted = r->header_quoted && !bare_seen;
    for (size_t c = 0; c < r->column_count; c++) {
        ald__csv_column *column = &r->columns[c];
        uint64_t total = 0, first = ALD__NEVER;
        if (r->all_quoted) {
            ald__profile_merge(&column->bare, &column->quoted);
            continue;
        }
        column->many_text |= column->quoted_many;
        for (int k = 0; k < ALD__TOKEN_KINDS; k++) {
            total += column->quoted.count[k];
            if (column->quoted.first_kind[k] < first)
                first = column->quoted.first_kind[k];
        }
        column->bare.count[ALD__TOKEN_TEXT] += total;
        if (first < column->bare.first_kind[ALD__TOKEN_TEXT])
            column->bare.first_kind[ALD__TOKEN_TEXT] = first;
    }
}

ald_status ald__csv_survey(ald__csv_reader *reader, ald_error *err)
{
    survey s;
    ald_status st = survey_init(&s, reader, err);
    for (size_t c = 0; c < reader->column_count; c++) {
        ald__profile_init(&reader->columns[c].bare);
        ald__profile_init(&reader->columns[c].quoted);
    }
    if (st == ALD_OK && reader->text.infer_rows != 0)
        st = survey_first_rows(&s, err);
    if (st == ALD_OK)
        st = survey_run(&s, err);
    if (st == ALD_OK) {
        for (size_t c = 0; c < reader->column_count; c++)
            reader->columns[c].many_text = (s.done[c] & ALD__CSV_DONE_TEXT) != 0;
        ald__csv_settle_quotes(reader, s.bare_seen);
    }
    survey_clear(&s);
    return st;
}

ald_status ald__csv_survey_shape(ald__csv_reader *reader, ald_error *err)
{
    survey s;
    ald_status st = survey_init(&s, reader, err);
    s.infer_left = 0;
    if (st == ALD_OK)
        st = survey_run(&s, err);
    survey_clear(&s);
    return st;
}
