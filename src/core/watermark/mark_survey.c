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
#define PARTS_MOST 64  /* that values are cut into which are added at once */
#define PART 16384     /* values of one, if they are not too many */
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

size_t ald__mark_batches_held(const ald_host *host, const ald__mark_leaves *leaves)
{
    if (!ald__mark_is_shared_out(host, LONG_COLUMN, leaves->count))
        return 1;
    for (size_t i = 0; i < leaves->count; i++) {
        if (leaves->list[i].reason == ALD_WATERMARK_NOT_NUMERIC ||
            leaves->list[i].reason == ALD_WATERMARK_NESTED)
            return 1;
    }
    return ALD__MARK_HELD_MOST;
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
    struct ArrowArray batch;
    ald__arena arena;
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

/* Batches that are added together. */
typedef struct held_batches {
    size_t count, most;
    uint64_t values;
    batch_work list[ALD__MARK_HELD_MOST];
} held_batches;

#ifndef ALD_ONE_THREAD

/* ---- one column, its rows in parts */

typedef struct leaf_part {
    ald__mark_slots slots;
    ald__mark_tally tally;
    uint8_t reason;
    ald_error error;
} leaf_part;

typedef struct leaf_work {
    const ald__mark_leaf *leaf;
    size_t count;
    leaf_part parts[PARTS_MOST];
} leaf_work;

static void add_part(void *arg, uint32_t index)
{
    leaf_work *w = arg;
    /* from two places: fresh memory comes in large pages, and a page that two threads want at once is cleared by both */
    leaf_part *p = &w->parts[index / 2 + (index % 2 != 0 ? (w->count + 1) / 2 : 0)];
    p->error.status =
        (int32_t)ald__mark_leaf_add(w->leaf, &p->slots, &p->tally, &p->reason, &p->error);
}

/* Parts behind the tally's values; `at` of them are before these. Returns how many parts there are now. */
static size_t cut_slots(const ald__mark_slots *slots, const ald__mark_tally *tally, size_t at,
                        int64_t size, leaf_work *w, size_t n)
{
    for (int64_t i = 0; i < slots->count; i += size) {
        leaf_part *p = &w->parts[n++];
        p->slots = *slots;
        p->slots.begin = slots->begin + i;
        p->slots.count = slots->count - i < size ? slots->count - i : size;
        p->slots.mask = slots->mask != NULL ? slots->mask + i / 8 : NULL;
        ald__mark_tally_part(tally, at + (size_t)i, (size_t)p->slots.count, &p->tally);
    }
    return n;
}

/* Runs the parts of a leaf, and joins them. */
static ald_status add_parts(ald__mark_survey *s, size_t leaf, leaf_work *w, ald_error *err)
{
    ald_status st = ALD_OK;
    ald__mark_run_tasks(s->host, w->count, add_part, w);
    for (size_t i = 0; i < w->count && st == ALD_OK && s->reasons[leaf] == ALD_WATERMARK_NONE;
         i++) {
        st = (ald_status)w->parts[i].error.status;
        if (st != ALD_OK && err != NULL)
            *err = w->parts[i].error;
        s->reasons[leaf] = w->parts[i].reason;
        ald__mark_tally_join(&s->tallies[leaf], &w->parts[i].tally);
    }
    if (s->reasons[leaf] != ALD_WATERMARK_NONE)
        ald__mark_tally_clear(&s->tallies[leaf]);
    return st;
}

/* `count` values of the leaf in all batches. *is_done tells whether they were added so. */
static ald_status add_in_parts(ald__mark_survey *s, size_t leaf, const held_batches *held,
                               size_t count, int *is_done, ald_error *err)
{
    /* whole bytes of the mask; no more parts than there is room for */
    const size_t least = count / (PARTS_MOST - ALD__MARK_HELD_MOST) + 1;
    const int64_t size = (int64_t)((least > PART ? least : PART) + 63) / 64 * 64;
    ald__mark_tally *tally = &s->tallies[leaf];
    size_t n = 0, at = 0;
    leaf_work *w;
    ald_status st;
    *is_done = 0;
    if (s->leaves.list[leaf].has_runs || s->reasons[leaf] != ALD_WATERMARK_NONE || s->rows != NULL)
        return ALD_OK;
    ALD_TRY(ald__mark_tally_reserve(tally, count, is_done, err));
    if (!*is_done)
        return ALD_OK;
    w = ald__alloc_zero(&s->host->alloc, sizeof *w, err);
    if (w == NULL)
        return ALD_E_NOMEM;
    w->leaf = &s->leaves.list[leaf];
    for (size_t b = 0; b < held->count; b++) {
        const ald__mark_slots *slots = &held->list[b].slots[leaf];
        n = cut_slots(slots, tally, at, size, w, n);
        at += (size_t)slots->count;
    }
    w->count = n;
    st = add_parts(s, leaf, w, err);
    ald__release(&s->host->alloc, w, sizeof *w);
    return st;
}

/* Long columns of few first; is_there is 0 then. */
static ald_status add_long(ald__mark_survey *s, held_batches *held, ald_error *err)
{
    for (size_t i = 0; i < s->leaves.count; i++) {
        uint64_t count = 0;
        int is_done;
        if (!held->list[0].is_there[i])
            continue;
        for (size_t b = 0; b < held->count; b++)
            count += (uint64_t)held->list[b].slots[i].count;
        if (count > INT32_MAX || !ald__mark_is_shared_out(s->host, (size_t)count, s->leaves.count))
            continue;
        ALD_TRY(add_in_parts(s, i, held, (size_t)count, &is_done, err));
        for (size_t b = 0; b < held->count; b++)
            held->list[b].is_there[i] = (uint8_t)!is_done;
    }
    return ALD_OK;
}

#endif

static void release_held(held_batches *held)
{
    for (size_t i = 0; i < held->count; i++) {
        ald__arena_clear(&held->list[i].arena);
        held->list[i].batch.release(&held->list[i].batch);
    }
    held->count = 0;
    held->values = 0;
}

static ald_status add_held(ald__mark_survey *s, held_batches *held, ald_error *err)
{
    const size_t leaves = s->leaves.count;
    ald_status st = ALD_OK;
#ifndef ALD_ONE_THREAD
    if (held->count > 0 && leaves > 0)
        st = add_long(s, held, err);
#endif
    for (size_t b = 0; b < held->count && leaves > 0 && st == ALD_OK; b++) {
        batch_work *w = &held->list[b];
        ald__mark_run_tasks(s->host, leaves, add_leaf_values, w);
        for (size_t i = 0; i < leaves && st == ALD_OK; i++) {
            st = (ald_status)w->errors[i].status;
            if (st != ALD_OK && err != NULL)
                *err = w->errors[i];
        }
    }
    release_held(held);
    return st;
}

/* The batch is held, also on failure. */
static ald_status hold_batch(ald__mark_survey *s, held_batches *held, struct ArrowArray *batch,
                             ald_error *err)
{
    const size_t count = s->leaves.count;
    batch_work *w = &held->list[held->count++];
    w->survey = s;
    w->batch = *batch;
    ald__arena_init(&w->arena, &s->host->alloc);
    ALD_TRY(ald__array_validate(&s->host->alloc, &s->schema, &w->batch, NULL, err));
    if (count == 0)
        return ALD_OK;
    w->slots = ald__arena_alloc(&w->arena, count * sizeof *w->slots, err);
    w->is_there = ald__arena_alloc(&w->arena, count, err);
    w->errors = ald__arena_alloc(&w->arena, count * sizeof *w->errors, err);
    if (w->slots == NULL || w->is_there == NULL || w->errors == NULL)
        return ALD_E_NOMEM;
    ALD_TRY(ald__mark_walk(&s->leaves, &s->schema, &w->batch, NULL, &w->arena, note_slots, w, err));
    for (size_t i = 0; i < count; i++)
        held->values += w->is_there[i] ? (uint64_t)w->slots[i].count : 0;
    return ALD_OK;
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

static ald_status prepare(ald__mark_survey *s, uint64_t rows, uint64_t memory_bytes,
                          const uint32_t *columns, size_t column_count, ald__mark_use use,
                          ald_error *err)
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
    for (size_t i = 0; i < count; i++) {
        ald__mark_tally_init(&s->tallies[i], &s->host->alloc, limit);
        s->tallies[i].expected = rows < limit ? (size_t)rows : limit;
    }
    return ALD_OK;
}

static ald_status add_all(ald__mark_survey *s, struct ArrowArrayStream *batches, held_batches *held,
                          ald_error *err)
{
    for (;;) {
        struct ArrowArray batch;
        ALD_TRY(ald_stream_next(batches, &batch, err));
        if (batch.release == NULL)
            return add_held(s, held, err);
        ALD_TRY(hold_batch(s, held, &batch, err));
        if (held->count == held->most || held->values >= ALD__MARK_HELD_VALUES)
            ALD_TRY(add_held(s, held, err));
    }
}

static ald_status survey_batches(ald__mark_survey *s, struct ArrowArrayStream *batches,
                                 ald_error *err)
{
    held_batches *held = ald__alloc_zero(&s->host->alloc, sizeof *held, err);
    ald_status st;
    if (held == NULL)
        return ALD_E_NOMEM;
    held->most = ald__mark_batches_held(s->host, &s->leaves);
    st = add_all(s, batches, held, err);
    release_held(held);
    ald__release(&s->host->alloc, held, sizeof *held);
    return st;
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
        st = prepare(out, ald_stream_row_count(batches), memory_bytes, columns, column_count, use,
                     err);
    if (st == ALD_OK)
        st = survey_batches(out, batches, err);
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
