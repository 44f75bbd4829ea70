/* SPDX-License-Identifier: MIT */
/* Cells are read side by side, each into a tree of its own; the trees are merged in the order of the input, so order of
 * columns, first lines and errors do not depend on who was faster. */
#include "interchange/jsonl/json_survey.h"

#include <string.h>

#include "interchange/jsonl/json_infer.h"
#include "interchange/jsonl/json_parse.h"
#include "interchange/text/mem.h"

#define CELLS_PER_THREAD 4u /* of a wave: enough for the threads to end nearly together */
#define SAMPLED 16u         /* records of a cell whose strings are measured */

typedef struct survey_worker {
    ald__json_records records;
    ald__json_pool pool;
    uint64_t serial;
} survey_worker;

typedef struct survey_cell {
    ald__place_tree tree;
    ald__json_fault fault; /* error.status is ALD_OK: none */
    uint64_t rows, lines;
    ald__json_sampled sampled;
} survey_cell;

typedef struct wave {
    const ald__survey *survey;
    survey_worker *workers;
    survey_cell *cells;
    size_t worker_count, capacity;
    size_t first, count; /* the input's cells of this wave */
    uint64_t infer_rows; /* of each of them; the others are only counted */
    uint32_t next;       /* cell to be taken; atomic */
} wave;

static ald_status read_record(const wave *w, survey_worker *worker, survey_cell *cell,
                              const ald__json_record *record)
{
    ald__infer infer = {&cell->tree,    w->survey->options->text.types,
                        worker->serial, record->offset,
                        &cell->fault,   0};
    yyjson_val *root;
    ald_status status = ald__json_parse(&worker->pool, record, 1, &root, &cell->fault);
    if (status == ALD_OK)
        status = ald__infer_record(&infer, root);
    worker->serial = infer.serial;
    if (status == ALD_OK && cell->sampled.records < SAMPLED) {
        cell->sampled.records++;
        cell->sampled.text_bytes += ald__infer_text_bytes(root);
    }
    return status;
}

static ald_status read_cell(const wave *w, survey_worker *worker, size_t number, survey_cell *cell)
{
    const ald__json_input *input = w->survey->input;
    uint64_t limit = ald__json_cell_end(input, number);
    ald__json_record record = {NULL, 0, ALD_NO_OFFSET};
    ald_status status;
    if (input->is_array && input->cells[number].rows == 0)
        return ALD_OK;
    if (input->is_array && w->infer_rows == 0) {
        cell->rows = input->cells[number].rows;
        return ALD_OK;
    }
    status = ald__json_input_seek(input, number, &worker->records, &cell->fault.error);
    while (status == ALD_OK && cell->rows < w->infer_rows) {
        status = ald__json_records_next(&worker->records, limit, &record, &cell->fault.error);
        if (status != ALD_OK || !record.data)
            break;
        status = read_record(w, worker, cell, &record);
        cell->rows += status == ALD_OK;
    }
    if (status == ALD_OK)
        status = ald__json_records_count(&worker->records, limit, &cell->rows, &record,
                                         &cell->fault.error);
    /* The first line of all begins behind no newline. */
    cell->lines = worker->records.lines - (number == 0 && worker->records.lines > 0);
    if (status != ALD_OK) {
        cell->fault.record = record.offset;
        cell->fault.error.status = (int32_t)status;
    }
    return status;
}

static void work(void *arg, uint32_t index)
{
    wave *w = arg;
    uint32_t i;
    while ((i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->count) {
        survey_cell *cell = &w->cells[i];
        ald__json_fault_clear(&cell->fault);
        cell->rows = cell->lines = 0;
        cell->sampled = (ald__json_sampled){0, 0};
        if (ald__place_tree_reset(&cell->tree, &cell->fault.error) == ALD_OK)
            (void)read_cell(w, &w->workers[index], w->first + i, cell);
    }
}

static void run_wave(wave *w)
{
    const ald_host *host = &w->survey->input->host;
    uint32_t tasks = (uint32_t)(w->count < w->worker_count ? w->count : w->worker_count);
    w->next = 0;
    if (tasks > 1)
        host->run_tasks(host->ctx, tasks, work, w);
    else
        work(w, 0);
}

static void put_hint(ald__json_fault *fault, const ald__place *place)
{
    ald_error text;
    while (place->parent && place->parent->parent)
        place = place->parent;
    if (!place->parent)
        return;
    (void)ald_error_set(&text, ALD_E_OK, 0,
                        "pass --mixed string or --mixed json, or --types %.*s:string",
                        place->name_size < 30 ? (int)place->name_size : 30, place->name);
    text.msg[sizeof fault->hint - 1] = 0;
    memcpy(fault->hint, text.msg, strlen(text.msg) + 1);
}

/* The clash of kinds that comes first, if it is in a record before `before`. */
static ald_status find_clash(const wave *w, const ald__place_tree *tree, uint64_t before,
                             ald__json_fault *fault)
{
    uint64_t where, other_line;
    ald__json_kind kind, other = ALD__JSON_BOOL;
    const ald__place *place;
    ald_status status;
    if (w->survey->options->mixed != ALD_JSON_MIXED_ERROR)
        return ALD_OK;
    place = ald__place_clash(tree->root, &where, &kind);
    if (!place || where >= before)
        return ALD_OK;
    ald__json_fault_clear(fault);
    for (int i = 0; i < ALD__JSON_KINDS; i++) {
        if (i != (int)kind && place->first[i] < place->first[other])
            other = (ald__json_kind)i;
    }
    if (other == kind)
        other = ALD__JSON_NUMBER; /* cannot be: bool was the second kind, so another is first */
    status =
        ald__json_input_line(w->survey->input, place->first[other], &other_line, &fault->error);
    if (status != ALD_OK)
        return status;
    ald__json_fault_place(fault, place);
    put_hint(fault, place);
    fault->record = where;
    return ald_error_set(&fault->error, ALD_E_SCHEMA_MISMATCH, where, "%s here, %s on line %llu",
                         ald__json_kind_name(kind), ald__json_kind_name(other),
                         (unsigned long long)other_line);
}

/* What the cells of a wave found, in order. A fault that is left in *fault is the first one so far. */
static ald_status take_wave(wave *w, ald__place_tree *tree, uint64_t *rows, ald__json_fault *fault)
{
    ald__json_input *input = w->survey->input;
    int stop = w->survey->options->mixed != ALD_JSON_MIXED_ERROR;
    ald_status status = ALD_OK;
    for (size_t i = 0; i < w->count && status == ALD_OK; i++) {
        survey_cell *cell = &w->cells[i];
        input->cells[w->first + i].rows = cell->rows;
        input->cells[w->first + i].lines = cell->lines;
        input->cells_known = w->first + i + 1;
        input->sampled.records += cell->sampled.records;
        input->sampled.text_bytes += cell->sampled.text_bytes;
        *rows += cell->rows;
        if (cell->tree.root)
            status = ald__place_merge(tree, &cell->tree, stop, &fault->error);
        if (status == ALD_OK && cell->fault.error.status != ALD_OK) {
            input->cells_known = w->first + i;
            status = find_clash(w, tree, cell->fault.record, fault);
            if (status == ALD_OK) {
                *fault = cell->fault;
                status = (ald_status)fault->error.status;
            }
        }
    }
    return status == ALD_OK ? find_clash(w, tree, UINT64_MAX, fault) : status;
}

static ald_status tell_progress(const wave *w, ald_error *err)
{
    const ald_text_options *text = &w->survey->options->text;
    uint64_t size = w->survey->input->source.size_bytes;
    uint64_t done = (uint64_t)(w->first + w->count) * ALD__JSON_CELL_BYTES;
    if (text->progress && text->progress(text->note_ctx, done < size ? done : size, 2 * size))
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cancelled");
    return ALD_OK;
}

static ald_status run_waves(wave *w, ald__place_tree *tree, ald__json_fault *fault)
{
    const ald__survey *survey = w->survey;
    uint64_t rows = 0, wanted = survey->options->text.infer_rows;
    ald_status status = ALD_OK;
    if (survey->count_only)
        wanted = 0;
    else if (!wanted)
        wanted = UINT64_MAX;
    for (w->first = 0; w->first < survey->input->cell_count && status == ALD_OK;
         w->first += w->count) {
        size_t left = survey->input->cell_count - w->first;
        w->infer_rows = rows < wanted ? wanted - rows : 0;
        w->count = left < w->capacity ? left : w->capacity;
        /* With a limit of rows the next cell must know how many came before. */
        if (wanted != UINT64_MAX && w->infer_rows)
            w->count = 1;
        run_wave(w);
        status = take_wave(w, tree, &rows, fault);
        if (status == ALD_OK)
            status = tell_progress(w, &fault->error);
    }
    return status;
}

static void free_wave(wave *w)
{
    const ald_allocator *alloc = &w->survey->input->host.alloc;
    for (size_t i = 0; w->workers && i < w->worker_count; i++) {
        ald__json_records_clear(&w->workers[i].records);
        ald__json_pool_clear(&w->workers[i].pool);
    }
    for (size_t i = 0; w->cells && i < w->capacity; i++)
        ald__place_tree_clear(&w->cells[i].tree);
    ald__text_free(alloc, w->workers, w->worker_count, sizeof *w->workers);
    ald__text_free(alloc, w->cells, w->capacity, sizeof *w->cells);
}

static ald_status make_wave(const ald__survey *survey, uint64_t seed, wave *w, ald_error *err)
{
    const ald__json_input *input = survey->input;
    const ald_allocator *alloc = &input->host.alloc;
    ald_status status = ALD_OK;
    memset(w, 0, sizeof *w);
    w->survey = survey;
    w->worker_count =
        input->host.run_tasks && input->host.thread_count > 1 ? input->host.thread_count : 1;
    w->capacity = w->worker_count == 1 ? 1 : w->worker_count * CELLS_PER_THREAD;
    w->workers = ald__text_alloc(alloc, w->worker_count, sizeof *w->workers, err);
    w->cells = ald__text_alloc(alloc, w->capacity, sizeof *w->cells, err);
    if (!w->workers || !w->cells)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < w->worker_count; i++) {
        ald__json_records_init(&w->workers[i].records, &input->source, alloc, input->max_bytes,
                               input->is_array);
        ald__json_pool_init(&w->workers[i].pool, alloc);
    }
    for (size_t i = 0; i < w->capacity && status == ALD_OK; i++)
        status = ald__place_tree_init(&w->cells[i].tree, alloc, seed, err);
    return status;
}

ald_status ald__survey_run(const ald__survey *survey, ald__place_tree *tree, ald_error *err)
{
    ald__json_fault fault;
    wave w;
    ald_status status = make_wave(survey, tree->seed, &w, err);
    if (status == ALD_OK) {
        ald__json_fault_clear(&fault);
        status = run_waves(&w, tree, &fault);
        if (status == ALD_OK && survey->pending->record != ALD_NO_OFFSET) {
            fault = *survey->pending;
            status = (ald_status)fault.error.status;
        }
        if (status != ALD_OK) {
            fault.error.status = (int32_t)status;
            status = ald__json_input_report(survey->input, &fault, err);
        }
    }
    free_wave(&w);
    return status;
}
