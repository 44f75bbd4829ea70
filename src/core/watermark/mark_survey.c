/* SPDX-License-Identifier: MIT */
/* Pass one over a stream: the values of every column, columns side by side on the host's threads. */
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "core/arrow/validate.h"
#include "core/base/buf.h"
#include "core/watermark/marker.h"

#define LEAST_LIMIT 65536
#define LONG_COLUMN 65536
#define PARTS_MOST 64  /* that a batch is cut into */
#define VALUE_BYTES 32 /* the value, its weight, and as much again while one of them grows */

void ald__mark_run_tasks(const ald_host *host, size_t count,
                         void (*task)(void *arg, uint32_t index), void *arg)
{
    if (count > 1 && host != NULL && host->run_tasks != NULL && host->thread_count > 1) {
        host->run_tasks(host->ctx, (uint32_t)count, task, arg);
        return;
    }
    for (size_t i = 0; i < count; i++)
        task(arg, (uint32_t)i);
}

int ald__mark_is_shared_out(const ald_host *host, size_t values, size_t columns)
{
    return host->run_tasks != NULL && host->thread_count > 1 && values >= LONG_COLUMN &&
           columns < 2 * (size_t)host->thread_count;
}

size_t ald__mark_value_limit(uint64_t memory_bytes, size_t columns)
{
    uint64_t limit = (memory_bytes != 0 ? memory_bytes : ALD__MARK_MEMORY) / VALUE_BYTES;
    limit /= columns > 0 ? columns : 1;
    if (limit < LEAST_LIMIT)
        return LEAST_LIMIT;
    return limit > SIZE_MAX / 64 || limit > INT32_MAX
               ? (size_t)(SIZE_MAX / 64 < INT32_MAX ? SIZE_MAX / 64 : INT32_MAX)
               : (size_t)limit;
}

/* One batch, laid out by leaf. */
typedef struct batch_work {
    ald__mark_survey *survey;
    ald__mark_slots *slots;
    uint8_t *is_there;
    ald_error *errors; /* one for each leaf */
} batch_work;

static ald_status note_slots(void *ctx, size_t leaf, const ald__mark_slots *slots, ald_error *err)
{
    batch_work *w = ctx;
    (void)err;
    w->slots[leaf] = *slots;
    w->is_there[leaf] = 1;
    return ALD_OK;
}

static ald_status add_row_bits(void *ctx, const double *values, size_t count, ald_error *err)
{
    (void)err;
    ald__row_bits_add(ctx, values, count);
    return ALD_OK;
}

static void add_leaf_values(void *arg, uint32_t leaf)
{
    batch_work *w = arg;
    ald__mark_survey *s = w->survey;
    if (!w->is_there[leaf])
        return;
    w->errors[leaf].status =
        (int32_t)ald__mark_leaf_add(&s->leaves.list[leaf], &w->slots[leaf], &s->tallies[leaf],
                                    &s->reasons[leaf], &w->errors[leaf]);
    if (s->reasons[leaf] != ALD_WATERMARK_NONE)
        ald__mark_tally_clear(&s->tallies[leaf]);
    else if (s->rows != NULL && w->errors[leaf].status == ALD_OK)
        w->errors[leaf].status = (int32_t)ald__mark_leaf_rows(
            &s->leaves.list[leaf], &w->slots[leaf], add_row_bits, &s->rows[leaf], &w->errors[leaf]);
}

/* ---- one column, its rows in parts */

typedef struct leaf_part {
    ald__mark_slots slots;
    ald__mark_tally tally;
    uint8_t reason;
    ald_error error;
} leaf_part;

typedef struct leaf_work {
    const ald__mark_leaf *leaf;
    leaf_part parts[PARTS_MOST];
} leaf_work;

static void add_part(void *arg, uint32_t index)
{
    leaf_work *w = arg;
    leaf_part *p = &w->parts[index];
    p->error.status =
        (int32_t)ald__mark_leaf_add(w->leaf, &p->slots, &p->tally, &p->reason, &p->error);
}

static size_t cut_slots(const ald__mark_slots *slots, const ald__mark_tally *tally, size_t parts,
                        leaf_work *w)
{
    /* whole bytes of the mask */
    const int64_t size = (slots->count / (int64_t)parts + 64) / 64 * 64;
    size_t n = 0;
    for (int64_t at = 0; at < slots->count; at += size) {
        leaf_part *p = &w->parts[n++];
        p->slots = *slots;
        p->slots.begin = slots->begin + at;
        p->slots.count = slots->count - at < size ? slots->count - at : size;
        p->slots.mask = slots->mask != NULL ? slots->mask + at / 8 : NULL;
        ald__mark_tally_part(tally, (size_t)at, (size_t)p->slots.count, &p->tally);
    }
    return n;
}

/* *is_done tells whether the leaf's values were added so. */
static ald_status add_in_parts(ald__mark_survey *s, size_t leaf, const ald__mark_slots *slots,
                               int *is_done, ald_error *err)
{
    const size_t threads = s->host->thread_count < PARTS_MOST ? s->host->thread_count : PARTS_MOST;
    ald__mark_tally *tally = &s->tallies[leaf];
    leaf_work *w;
    ald_status st = ALD_OK;
    size_t count;
    *is_done = 0;
    if (s->leaves.list[leaf].has_runs || s->reasons[leaf] != ALD_WATERMARK_NONE || s->rows != NULL)
        return ALD_OK;
    ALD_TRY(ald__mark_tally_reserve(tally, (size_t)slots->count, is_done, err));
    if (!*is_done)
        return ALD_OK;
    w = ald__alloc_zero(&s->host->alloc, sizeof *w, err);
    if (w == NULL)
        return ALD_E_NOMEM;
    w->leaf = &s->leaves.list[leaf];
    count = cut_slots(slots, tally, threads, w);
    ald__mark_run_tasks(s->host, count, add_part, w);
    for (size_t i = 0; i < count && st == ALD_OK && s->reasons[leaf] == ALD_WATERMARK_NONE; i++) {
        st = (ald_status)w->parts[i].error.status;
        if (st != ALD_OK && err != NULL)
            *err = w->parts[i].error;
        s->reasons[leaf] = w->parts[i].reason;
        ald__mark_tally_join(tally, &w->parts[i].tally);
    }
    ald__release(&s->host->alloc, w, sizeof *w);
    if (s->reasons[leaf] != ALD_WATERMARK_NONE)
        ald__mark_tally_clear(tally);
    return st;
}

/* Long columns of few first; is_there is 0 then. */
static ald_status add_long(batch_work *w, ald_error *err)
{
    ald__mark_survey *s = w->survey;
    for (size_t i = 0; i < s->leaves.count; i++) {
        int is_done;
        if (!w->is_there[i] || w->slots[i].count < 0 ||
            !ald__mark_is_shared_out(s->host, (size_t)w->slots[i].count, s->leaves.count))
            continue;
        ALD_TRY(add_in_parts(s, i, &w->slots[i], &is_done, err));
        w->is_there[i] = (uint8_t)!is_done;
    }
    return ALD_OK;
}

static ald_status add_batch(ald__mark_survey *s, const struct ArrowArray *batch, ald_error *err)
{
    batch_work w = {s, NULL, NULL, NULL};
    size_t count = s->leaves.count;
    ald__arena arena;
    ald_status st;
    ALD_TRY(ald__array_validate(&s->host->alloc, &s->schema, batch, NULL, err));
    if (count == 0)
        return ALD_OK;
    ald__arena_init(&arena, &s->host->alloc);
    w.slots = ald__arena_alloc(&arena, count * sizeof *w.slots, err);
    w.is_there = ald__arena_alloc(&arena, count, err);
    w.errors = ald__arena_alloc(&arena, count * sizeof *w.errors, err);
    st = w.slots == NULL || w.is_there == NULL || w.errors == NULL
             ? ALD_E_NOMEM
             : ald__mark_walk(&s->leaves, &s->schema, batch, NULL, &arena, note_slots, &w, err);
    if (st == ALD_OK)
        st = add_long(&w, err);
    if (st == ALD_OK)
        ald__mark_run_tasks(s->host, count, add_leaf_values, &w);
    for (size_t i = 0; i < count && st == ALD_OK; i++) {
        st = (ald_status)w.errors[i].status;
        if (st != ALD_OK && err != NULL)
            *err = w.errors[i];
    }
    ald__arena_clear(&arena);
    return st;
}

static int is_chosen(const uint32_t *columns, size_t count, uint32_t column)
{
    if (columns == NULL)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if (columns[i] == column)
            return 1;
    }
    return 0;
}

static ald_status prepare(ald__mark_survey *s, uint64_t memory_bytes, const uint32_t *columns,
                          size_t column_count, ald__mark_use use, ald_error *err)
{
    size_t used = 0, count, limit;
    for (size_t i = 0; i < column_count && columns != NULL; i++) {
        if (columns[i] >= (uint64_t)s->schema.n_children)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "there is no column %u: the data set has %jd", columns[i],
                             (intmax_t)s->schema.n_children);
    }
    ALD_TRY(ald__mark_leaves_init(&s->leaves, &s->host->alloc, &s->schema, err));
    count = s->leaves.count;
    if (count == 0)
        return ALD_OK;
    s->tallies = ald__arena_alloc(&s->leaves.arena, count * sizeof *s->tallies, err);
    s->reasons = ald__arena_alloc(&s->leaves.arena, count, err);
    if (s->tallies == NULL || s->reasons == NULL)
        return ALD_E_NOMEM;
    if (use == ALD__MARK_FOR_ENTROPY) {
        s->rows = ald__arena_alloc(&s->leaves.arena, count * sizeof *s->rows, err);
        if (s->rows == NULL)
            return ALD_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        ald__mark_leaf *leaf = &s->leaves.list[i];
        if (use == ALD__MARK_FOR_READING)
            ald__mark_leaf_suspect(leaf);
        if (leaf->reason == ALD_WATERMARK_NONE && !is_chosen(columns, column_count, leaf->column))
            leaf->reason = ALD_WATERMARK_NOT_CHOSEN;
        s->reasons[i] = leaf->reason;
        used += leaf->reason == ALD_WATERMARK_NONE;
    }
    limit = ald__mark_value_limit(memory_bytes, used);
    for (size_t i = 0; i < count; i++)
        ald__mark_tally_init(&s->tallies[i], &s->host->alloc, limit);
    return ALD_OK;
}

static ald_status add_all(ald__mark_survey *s, struct ArrowArrayStream *batches, ald_error *err)
{
    for (;;) {
        struct ArrowArray batch;
        ald_status st;
        ALD_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return ALD_OK;
        st = add_batch(s, &batch, err);
        batch.release(&batch);
        if (st != ALD_OK)
            return st;
    }
}

ald_status ald__mark_survey_read(ald__mark_survey *out, const ald_host *host,
                                 struct ArrowArrayStream *batches, uint64_t memory_bytes,
                                 const uint32_t *columns, size_t column_count, ald__mark_use use,
                                 ald_error *err)
{
    struct ArrowSchema schema;
    ald_status st;
    memset(out, 0, sizeof *out);
    out->host = host;
    ALD_TRY(ald_stream_schema(batches, &schema, err));
    st = ald_schema_copy(host, &schema, &out->schema, err);
    schema.release(&schema);
    if (st == ALD_OK)
        st = prepare(out, memory_bytes, columns, column_count, use, err);
    if (st == ALD_OK)
        st = add_all(out, batches, err);
    if (st != ALD_OK)
        ald__mark_survey_clear(out);
    return st;
}

void ald__mark_survey_clear(ald__mark_survey *survey)
{
    for (size_t i = 0; survey->tallies != NULL && i < survey->leaves.count; i++)
        ald__mark_tally_clear(&survey->tallies[i]);
    survey->tallies = NULL;
    if (survey->leaves.arena.alloc.alloc != NULL)
        ald__mark_leaves_clear(&survey->leaves);
    if (survey->schema.release != NULL)
        survey->schema.release(&survey->schema);
}
