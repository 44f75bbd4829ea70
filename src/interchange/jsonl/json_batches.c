/* SPDX-License-Identifier: MIT */
/* Where a batch begins and ends follows from the index alone, so batches are the same whatever the number of threads. */
#include "interchange/jsonl/json_batches.h"

#include <string.h>

#include "interchange/jsonl/json_build.h"
#include "interchange/jsonl/json_learn.h"
#include "interchange/jsonl/json_parse.h"
#include "interchange/text/mem.h"

#define DEFAULT_ROWS 65536u
#define BATCH_BYTES ((uint64_t)16 << 20)      /* of input, at which a batch ends with its cell */
#define BATCH_BYTES_SLIM ((uint64_t)64 << 20) /* the same, of rows that take less than their text */
#define BATCH_MEMORY ((uint64_t)16 << 20)
#define BATCH_BYTES_ASKED ((uint64_t)256 << 20) /* when the number of rows was asked for */
#define COLUMN_BYTES ((uint64_t)64 << 20)       /* of fixed-width values, for very wide tables */
#define AT_ONCE_BYTES                                                                              \
    ((uint64_t)128 << 20) /* of input in all batches that are built side by side */

/* A batch's rows: those behind the first `skip` of `cell`. */
typedef struct batch_part {
    size_t cell;
    uint64_t skip, rows, bytes;
    uint64_t first_row; /* of the whole input */
} batch_part;

typedef struct batch_worker {
    ald__json_records records;
    ald__json_pool pool;
    ald__build build;
    uint64_t serial;   /* of objects, in one pass */
    uint64_t next_row; /* where its search stands; UINT64_MAX: nowhere */
} batch_worker;

typedef struct batch_result {
    batch_part part;
    struct ArrowArray array;
    ald__place_tree met;   /* in one pass */
    ald__json_fault fault; /* error.status is ALD_OK: none */
} batch_result;

struct ald__batches {
    const ald__json_input *input;
    const ald__plans *plans;
    ald__json_checked *checked;
    ald_text_options options;
    uint64_t most_rows, most_bytes;
    size_t cell;       /* where the next batch begins */
    uint64_t skip;     /* rows of that cell that were used */
    uint64_t next_row; /* of the whole input: the first one of the next batch */
    batch_worker *workers;
    batch_result *results;
    size_t worker_count;
    size_t ready, taken; /* results of the wave */
    uint32_t next_task;  /* atomic */
};

static uint64_t rows_for_width(uint64_t rows, uint64_t limit, size_t leaves)
{
    uint64_t fit = limit / 8 / (leaves ? leaves : 1);
    if (fit == 0)
        fit = 1;
    return rows < fit ? rows : fit;
}

static int has_lists(const ald__plan *plan)
{
    if (plan->op == ALD__PLAN_LIST || plan->op == ALD__PLAN_FIXED_LIST || plan->op == ALD__PLAN_MAP)
        return 1;
    for (uint32_t i = 0; plan->op == ALD__PLAN_STRUCT && i < plan->child_count; i++) {
        if (has_lists(plan->children[i]))
            return 1;
    }
    return 0;
}

/* Batches of DEFAULT_ROWS make chunks as they are, those of fewer rows have to be copied together. So a batch may take more
 * of the input when so many rows fit BATCH_MEMORY, going by samples; what the items of lists take is not known. */
static uint64_t usual_bytes(const ald__plans *plans, const ald__json_sampled *sampled)
{
    uint64_t row = 8 * (uint64_t)plans->leaf_count;
    if (!sampled->records || has_lists(plans->root))
        return BATCH_BYTES;
    row += sampled->text_bytes / sampled->records;
    return row <= BATCH_MEMORY / DEFAULT_ROWS ? BATCH_BYTES_SLIM : BATCH_BYTES;
}

ald_status ald__batches_new(const ald__json_input *input, const ald__plans *plans,
                            const ald_text_options *options, ald__json_checked *checked,
                            ald__batches **out, ald_error *err)
{
    const ald_allocator *alloc = &input->host.alloc;
    ald__batches *b = ald__text_alloc(alloc, 1, sizeof *b, err);
    ald_status status = ALD_OK;
    *out = NULL;
    if (!b)
        return ALD_E_NOMEM;
    b->input = input;
    b->plans = plans;
    b->checked = checked;
    b->options = *options;
    b->most_bytes = options->batch_rows ? BATCH_BYTES_ASKED : usual_bytes(plans, &input->sampled);
    b->most_rows = options->batch_rows
                       ? rows_for_width(options->batch_rows, 16 * COLUMN_BYTES, plans->leaf_count)
                       : rows_for_width(DEFAULT_ROWS, COLUMN_BYTES, plans->leaf_count);
    b->worker_count =
        input->host.run_tasks && input->host.thread_count > 1 ? input->host.thread_count : 1;
    b->workers = ald__text_alloc(alloc, b->worker_count, sizeof *b->workers, err);
    b->results = ald__text_alloc(alloc, b->worker_count, sizeof *b->results, err);
    if (!b->workers || !b->results)
        status = ALD_E_NOMEM;
    for (size_t i = 0; i < b->worker_count && status == ALD_OK; i++) {
        ald__json_records_init(&b->workers[i].records, &input->source, alloc, input->max_bytes,
                               input->is_array);
        ald__json_pool_init(&b->workers[i].pool, alloc);
        status = ald__build_init(&b->workers[i].build, plans, alloc, err);
        b->workers[i].build.pool = &b->workers[i].pool;
        b->workers[i].next_row = UINT64_MAX;
        if (status == ALD_OK && checked)
            status = ald__place_tree_init(&b->results[i].met, alloc, plans->seed, err);
    }
    if (status != ALD_OK)
        ald__batches_free(b);
    else
        *out = b;
    return status;
}

void ald__batches_free(ald__batches *b)
{
    const ald_allocator *alloc;
    if (!b)
        return;
    alloc = &b->input->host.alloc;
    for (size_t i = 0; b->workers && i < b->worker_count; i++) {
        ald__json_records_clear(&b->workers[i].records);
        ald__json_pool_clear(&b->workers[i].pool);
        ald__build_clear(&b->workers[i].build);
    }
    for (size_t i = 0; b->results && i < b->worker_count; i++) {
        if (b->results[i].array.release)
            b->results[i].array.release(&b->results[i].array);
        if (b->results[i].met.blocks.alloc)
            ald__place_tree_clear(&b->results[i].met);
    }
    ald__text_free(alloc, b->workers, b->worker_count, sizeof *b->workers);
    ald__text_free(alloc, b->results, b->worker_count, sizeof *b->results);
    ald__text_free(alloc, b, 1, sizeof *b);
}

/* Cuts the next batch off the index. rows 0: there is none. */
static batch_part cut_part(ald__batches *b)
{
    batch_part part = {b->cell, b->skip, 0, 0, b->next_row};
    while (b->cell < b->input->cell_count) {
        uint64_t left = b->input->cells[b->cell].rows - b->skip;
        uint64_t room = b->most_rows - part.rows;
        if (part.rows == 0) {
            part.cell = b->cell;
            part.skip = b->skip;
        }
        if (left > room) {
            part.rows += room;
            b->skip += room;
            break;
        }
        part.rows += left;
        part.bytes += ALD__JSON_CELL_BYTES;
        b->cell++;
        b->skip = 0;
        if (part.rows && (part.bytes >= b->most_bytes || part.rows == b->most_rows))
            break;
    }
    b->next_row += part.rows;
    return part;
}

/* Puts the search at the part's cell, or lets it go on from where it stands when that is nearer: batches of few rows would
 * else go through the cell again and again. */
static ald_status seek_part(const ald__batches *b, batch_worker *worker, const batch_part *part,
                            uint64_t *skip, ald_error *err)
{
    uint64_t ahead = part->first_row - worker->next_row;
    int goes_on = worker->next_row <= part->first_row && ahead <= part->skip;
    *skip = goes_on ? ahead : part->skip;
    worker->next_row = UINT64_MAX;
    return goes_on ? ALD_OK : ald__json_input_seek(b->input, part->cell, &worker->records, err);
}

/* One row; in one pass with a look at what it has. */
static ald_status build_record(ald__batches *b, batch_worker *worker, batch_result *result,
                               const ald__json_record *record)
{
    int raw = b->plans->raw_numbers || b->checked != NULL;
    yyjson_val *root;
    ald_status status = ald__json_parse(&worker->pool, record, raw, &root, &result->fault);
    if (status == ALD_OK && b->checked) {
        ald__infer infer = {&result->met,   b->checked->rules.types, worker->serial,
                            record->offset, &result->fault,          !b->plans->raw_numbers};
        status = ald__learn_record(&worker->build, &infer, root);
        worker->serial = infer.serial;
        return status;
    }
    return status == ALD_OK ? ald__build_add(&worker->build, root) : status;
}

static ald_status build_rows(ald__batches *b, batch_worker *worker, batch_result *result)
{
    ald__json_fault *fault = &result->fault;
    ald__json_record record = {NULL, 0, ALD_NO_OFFSET};
    uint64_t skip, rows = result->part.rows;
    ald_status status = seek_part(b, worker, &result->part, &skip, &fault->error);
    worker->build.fault = fault;
    if (status == ALD_OK && b->checked)
        status = ald__place_tree_reset(&result->met, &fault->error);
    ald__learn_begin(&worker->build);
    if (status == ALD_OK)
        status = ald__build_reserve(&worker->build, (size_t)rows, &fault->error);
    while (status == ALD_OK && rows > 0) {
        status = ald__json_records_next(&worker->records, UINT64_MAX, &record, &fault->error);
        if (status == ALD_OK && !record.data)
            status = ald_error_set(&fault->error, ALD_E_IO, ALD_NO_OFFSET,
                                   "the input changed while it was read");
        if (status != ALD_OK)
            break;
        if (skip > 0) {
            skip--;
            continue;
        }
        status = build_record(b, worker, result, &record);
        rows--;
    }
    if (status == ALD_OK)
        status = ald__build_finish(&worker->build, &result->array, &fault->error);
    if (status != ALD_OK) {
        fault->record = record.offset;
        fault->error.status = (int32_t)status;
    } else {
        worker->next_row = result->part.first_row + result->part.rows;
    }
    return status;
}

static void work(void *arg, uint32_t index)
{
    ald__batches *b = arg;
    uint32_t i;
    while ((i = __atomic_fetch_add(&b->next_task, 1, __ATOMIC_RELAXED)) < b->ready)
        (void)build_rows(b, &b->workers[index], &b->results[i]);
}

static void run_wave(ald__batches *b)
{
    const ald_host *host = &b->input->host;
    uint64_t bytes = 0;
    b->ready = b->taken = 0;
    while (b->ready < b->worker_count && (b->ready == 0 || bytes < AT_ONCE_BYTES)) {
        batch_result *result = &b->results[b->ready];
        result->part = cut_part(b);
        if (result->part.rows == 0)
            break;
        ald__json_fault_clear(&result->fault);
        bytes += result->part.bytes;
        b->ready++;
    }
    b->next_task = 0;
    if (b->ready > 1)
        host->run_tasks(host->ctx, (uint32_t)b->ready, work, b);
    else if (b->ready == 1)
        work(b, 0);
}

static ald_status tell_progress(const ald__batches *b, ald_error *err)
{
    uint64_t size = b->input->source.size_bytes, done = b->cell * ALD__JSON_CELL_BYTES;
    if (b->options.progress &&
        b->options.progress(b->options.note_ctx, size + (done < size ? done : size), 2 * size))
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cancelled");
    return ALD_OK;
}

/* Another fault than of the host may come from the plans: two passes say what it is. */
static ald_status check_result(ald__batches *b, const batch_result *result, ald_error *err)
{
    int32_t status = result->fault.error.status;
    if (status == ALD_OK)
        return ald__json_checked_merge(b->checked, &result->met, err);
    return status == ALD_E_NOMEM || status == ALD_E_IO ? ALD_OK
                                                       : ald__json_surprise(b->checked, err);
}

ald_status ald__batches_next(ald__batches *b, struct ArrowArray *out, ald_error *err)
{
    batch_result *result;
    memset(out, 0, sizeof *out);
    if (b->taken == b->ready) {
        ald_status status;
        run_wave(b);
        status = tell_progress(b, err);
        if (status != ALD_OK)
            return status;
        if (b->ready == 0)
            return b->checked ? ald__json_checked_end(b->checked, err) : ALD_OK;
    }
    result = &b->results[b->taken++];
    if (b->checked) {
        ald_status status = check_result(b, result, err);
        if (status != ALD_OK)
            return status;
    }
    if (result->fault.error.status != ALD_OK)
        return ald__json_input_report(b->input, &result->fault, err);
    *out = result->array;
    memset(&result->array, 0, sizeof result->array);
    return ALD_OK;
}
