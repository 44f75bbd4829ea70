/* SPDX-License-Identifier: MIT */
/* Statistics of a stream: columns side by side, then everything copied into a result that outlives the stream. */
#include "ald/stats.h"

#include "ald/stream.h"
#include "interchange/format/options.h"
#include "interchange/format/pen.h"
#include "interchange/format/stats_column.h"

#define COMMON_DEFAULT 10

/* A block of the result; they are freed together. */
typedef struct stats_block {
    struct stats_block *next;
    size_t size; /* with this head */
} stats_block;

typedef struct stats_result {
    ald_stats stats; /* first: what the caller holds */
    ald_allocator alloc;
    stats_block *blocks;
} stats_result;

typedef struct stats_run {
    const ald_host *host;
    ald__view table;
    ald__stats_column *columns;
    size_t column_count;
    ald_status *failures; /* of the columns, and which error */
    ald_error *errors;
    int64_t first, count; /* rows of the bound batch */
    uint64_t rows;
} stats_run;

static void *stats_alloc(const ald_allocator *alloc, size_t count, size_t size, ald_error *err)
{
    size_t bytes = 0;
    void *p = NULL;
    if (!__builtin_mul_overflow(count, size, &bytes))
        p = alloc->alloc(alloc->ctx, bytes == 0 ? 1 : bytes);
    if (p == NULL) {
        (void)ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", bytes);
        return NULL;
    }
    return memset(p, 0, bytes == 0 ? 1 : bytes);
}

static void stats_release(const ald_allocator *alloc, void *p, size_t count, size_t size)
{
    if (p != NULL)
        alloc->release(alloc->ctx, p, count * size == 0 ? 1 : count * size);
}

/* ---- gathering */

static void gather_column(void *arg, uint32_t index)
{
    stats_run *run = arg;
    run->failures[index] =
        ald__stats_column_add(run->columns + index, run->first, run->count, run->errors + index);
}

static ald_status gather_batch(stats_run *run, const struct ArrowArray *batch, ald_error *err)
{
    ALD__PEN_TRY(ald__view_bind(&run->table, batch, err));
    run->first = run->table.offset;
    run->count = batch->length;
    run->rows += (uint64_t)batch->length;
    if (run->host->run_tasks != NULL && run->column_count > 1) {
        run->host->run_tasks(run->host->ctx, (uint32_t)run->column_count, gather_column, run);
    } else {
        for (size_t i = 0; i < run->column_count; i++)
            gather_column(run, (uint32_t)i);
    }
    for (size_t i = 0; i < run->column_count; i++) {
        if (run->failures[i] != ALD_OK) {
            if (err != NULL)
                *err = run->errors[i];
            return run->failures[i];
        }
    }
    return ALD_OK;
}

static ald_status gather(stats_run *run, struct ArrowArrayStream *batches, ald_error *err)
{
    struct ArrowArray batch;
    ald_status status;
    for (;;) {
        ALD__PEN_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return ALD_OK;
        status = gather_batch(run, &batch, err);
        batch.release(&batch);
        if (status != ALD_OK)
            return status;
    }
}

static ald_status run_open(stats_run *run, const struct ArrowSchema *schema, ald_error *err)
{
    const ald_allocator *alloc = &run->host->alloc;
    ALD__PEN_TRY(ald__view_init(&run->table, schema, alloc, err));
    if (run->table.cell != ALD__CELL_STRUCT)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the stream's schema is no struct of columns");
    run->column_count = (size_t)run->table.child_count;
    run->failures = stats_alloc(alloc, run->column_count, sizeof *run->failures, err);
    run->errors = stats_alloc(alloc, run->column_count, sizeof *run->errors, err);
    run->columns = stats_alloc(alloc, run->column_count, sizeof *run->columns, err);
    if (run->failures == NULL || run->errors == NULL || run->columns == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < run->column_count; i++)
        ald__stats_column_init(run->columns + i, run->table.children + i, run->column_count, alloc);
    return ALD_OK;
}

static void run_close(stats_run *run)
{
    const ald_allocator *alloc = &run->host->alloc;
    for (size_t i = 0; run->columns != NULL && i < run->column_count; i++)
        ald__stats_column_clear(run->columns + i);
    stats_release(alloc, run->columns, run->column_count, sizeof *run->columns);
    stats_release(alloc, run->failures, run->column_count, sizeof *run->failures);
    stats_release(alloc, run->errors, run->column_count, sizeof *run->errors);
    ald__view_clear(&run->table, alloc);
}

/* ---- the result */

static void *result_block(stats_result *r, size_t count, size_t size, ald_error *err)
{
    size_t bytes = count * size + sizeof(stats_block);
    stats_block *block = stats_alloc(&r->alloc, 1, bytes, err);
    if (block == NULL)
        return NULL;
    block->size = bytes;
    block->next = r->blocks;
    r->blocks = block;
    return block + 1;
}

/* NUL-terminated. */
static const char *result_text(stats_result *r, const void *data, size_t size, ald_error *err)
{
    char *text = result_block(r, size + 1, 1, err);
    if (text != NULL && size > 0)
        memcpy(text, data, size);
    return text;
}

static ald_status edge_text(stats_result *r, ald__stats_column *c, const ald__stats_edge *edge,
                            const char **text, size_t *size, ald_error *err)
{
    c->text.size = 0;
    ALD__PEN_TRY(ald__stats_edge_text(c, edge, &c->text, err));
    *size = c->text.size - 1;
    *text = result_text(r, c->text.data, *size, err);
    return *text == NULL ? ALD_E_NOMEM : ALD_OK;
}

static ald_status common_values(stats_result *r, ald__stats_column *c, size_t limit,
                                ald_column_stats *out, ald_error *err)
{
    size_t count = c->common.count < limit ? c->common.count : limit;
    ald_stats_value *values = result_block(r, count, sizeof *values, err);
    if (values == NULL)
        return ALD_E_NOMEM;
    ald__common_sort(&c->common);
    for (size_t i = 0; i < count; i++) {
        const struct ald__common_entry *e = c->common.entries + i;
        ald__stats_edge bytes = {{0}, e->size};
        memcpy(bytes.bytes, e->text, e->size);
        values[i].count = e->count;
        if (c->kind == ALD__STATS_BYTES) {
            ALD__PEN_TRY(edge_text(r, c, &bytes, &values[i].text, &values[i].size, err));
            continue;
        }
        values[i].size = e->size;
        values[i].text = result_text(r, e->text, e->size, err);
        if (values[i].text == NULL)
            return ALD_E_NOMEM;
    }
    out->common = values;
    out->common_count = (uint32_t)count;
    out->has_common = 1;
    return ALD_OK;
}

/* By Newton's method: the core of a browser build has no sqrt to call. */
static double square_root(double v)
{
    double root = v > 1 ? v : 1, next;
    if (!(v > 0))
        return 0;
    for (int i = 0; i < 2000; i++) { /* halves from far away, then doubles its digits */
        next = 0.5 * (root + v / root);
        if (!(next < root))
            break;
        root = next;
    }
    return root;
}

static void column_numbers(const ald__stats_column *c, ald_column_stats *out)
{
    if (c->averaged > 0 && c->plain->cell < ALD__CELL_DATE32) {
        out->has_mean = 1;
        out->mean = c->mean;
        out->stddev = square_root(c->squares / (double)c->averaged);
    }
    out->bin_count = c->bins.used;
    out->bin_width = c->bins.used > 0 ? c->bins.width : 0;
    out->bin_start = (double)c->bins.first * out->bin_width;
    memcpy(out->bins, c->bins.bins, sizeof out->bins);
}

static ald_status column_result(stats_result *r, ald__stats_column *c, size_t limit,
                                ald_column_stats *out, ald_error *err)
{
    int sized = c->kind == ALD__STATS_BYTES ||
                (ald__cell_is_nested(c->plain->cell) && c->plain->cell != ALD__CELL_STRUCT);
    out->name = result_text(r, c->view->name, strlen(c->view->name), err);
    if (out->name == NULL)
        return ALD_E_NOMEM;
    out->null_count = c->nulls;
    out->nan_count = c->nans;
    out->infinite_count = c->infinities;
    out->distinct_count = ald__distinct_count(&c->distinct);
    if (out->distinct_count > c->values + c->nans) /* an estimate may exceed what there is */
        out->distinct_count = c->values + c->nans;
    out->distinct_is_estimate = c->distinct.registers != NULL;
    if (c->values == 0)
        return ALD_OK;
    out->has_size = (uint8_t)sized;
    out->shortest = c->shortest;
    out->longest = c->longest;
    column_numbers(c, out);
    if (c->common.entries != NULL)
        ALD__PEN_TRY(common_values(r, c, limit, out, err));
    if (c->kind == ALD__STATS_JSON || c->kind == ALD__STATS_NOTHING)
        return ALD_OK;
    out->has_range = 1;
    ALD__PEN_TRY(edge_text(r, c, &c->min, &out->min, &out->min_size, err));
    return edge_text(r, c, &c->max, &out->max, &out->max_size, err);
}

static ald_status build_result(stats_run *run, const ald_stats_options *options, ald_stats **out,
                               ald_error *err)
{
    size_t limit = options->common_limit != 0 ? options->common_limit : COMMON_DEFAULT;
    stats_result *r = stats_alloc(&run->host->alloc, 1, sizeof *r, err);
    ald_status status = ALD_OK;
    if (r == NULL)
        return ALD_E_NOMEM;
    r->alloc = run->host->alloc;
    r->stats.row_count = run->rows;
    r->stats.columns = result_block(r, run->column_count, sizeof *r->stats.columns, err);
    if (r->stats.columns == NULL)
        status = ALD_E_NOMEM;
    else
        r->stats.column_count = run->column_count;
    for (size_t i = 0; status == ALD_OK && i < run->column_count; i++)
        status = column_result(r, run->columns + i, limit, r->stats.columns + i, err);
    if (status == ALD_OK)
        *out = &r->stats;
    else
        ald_stats_free(&r->stats);
    return status;
}

ald_status ald_stats_compute(struct ArrowArrayStream *batches, const ald_stats_options *options,
                             const ald_host *host, ald_stats **out, ald_error *err)
{
    ald_stats_options opts = ALD_STATS_OPTIONS_INIT;
    struct ArrowSchema schema = {0};
    stats_run run = {.host = host};
    ald_status status;
    if (out != NULL)
        *out = NULL;
    if (host == NULL || out == NULL) {
        batches->release(batches);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no host, or no out");
    }
    status = ald__options_copy(&opts, sizeof opts, sizeof opts, options, err);
    if (status == ALD_OK)
        status = ald_stream_schema(batches, &schema, err);
    if (status == ALD_OK)
        status = run_open(&run, &schema, err);
    if (status == ALD_OK)
        status = gather(&run, batches, err);
    if (status == ALD_OK)
        status = build_result(&run, &opts, out, err);
    run_close(&run);
    if (schema.release != NULL)
        schema.release(&schema);
    batches->release(batches);
    return status;
}

void ald_stats_free(ald_stats *stats)
{
    stats_result *r = (stats_result *)stats;
    ald_allocator alloc;
    if (stats == NULL)
        return;
    alloc = r->alloc;
    while (r->blocks != NULL) {
        stats_block *next = r->blocks->next;
        stats_release(&alloc, r->blocks, 1, r->blocks->size);
        r->blocks = next;
    }
    stats_release(&alloc, r, 1, sizeof *r);
}
