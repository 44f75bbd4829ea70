/* SPDX-License-Identifier: MIT */
/* Row n against row n, a batch of each file in memory. Windows of rows whose buffers are the same bytes need no look at their
 * values; in the others, cells are compared. */
#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/diff.h"

#define WINDOW_ROWS 1024

typedef struct side {
    struct ArrowArray batch;
    int64_t at; /* rows of the batch that were compared */
    uint8_t is_over, is_bound;
    ald__view view; /* of the struct of columns */
    ald_buffer scratch;
} side;

typedef struct walk {
    diff_run *run;
    side sides[2];
    uint8_t changed[WINDOW_ROWS]; /* rows of the window at hand */
} walk;

/* ---- the same bytes */

static uint8_t bits_at(const uint8_t *bits, int64_t at, int64_t count)
{
    unsigned shift = (unsigned)(at & 7);
    unsigned value = (unsigned)bits[at >> 3] >> shift;
    if (shift + (unsigned)(count < 8 ? count : 8) > 8) {
        value |= (unsigned)bits[(at >> 3) + 1] << (8 - shift);
    }
    return (uint8_t)(value & (count < 8 ? (1U << count) - 1 : 0xFFU));
}

static int same_bits(const uint8_t *a, int64_t a_at, const uint8_t *b, int64_t b_at, int64_t count)
{
    for (int64_t i = 0; i < count; i += 8) {
        uint8_t x = a != NULL ? bits_at(a, a_at + i, count - i) : 0xFF;
        uint8_t y = b != NULL ? bits_at(b, b_at + i, count - i) : 0xFF;
        if (((x ^ y) & (count - i < 8 ? (1U << (count - i)) - 1 : 0xFFU)) != 0) {
            return 0;
        }
    }
    return 1;
}

static int same_values(const ald__view *a, const ald__view *b, int64_t x, int64_t y, int64_t count,
                       size_t width)
{
    return memcmp(a->values + (size_t)x * width, b->values + (size_t)y * width,
                  (size_t)count * width) == 0;
}

/* Text and binary with offsets of 32 bits: sizes, then bytes. */
static int same_strings(const ald__view *a, const ald__view *b, int64_t x, int64_t y, int64_t count)
{
    int32_t a_begin = ald__load_i32(a->offsets, x), b_begin = ald__load_i32(b->offsets, y);
    for (int64_t i = 1; i <= count; i++) {
        if (ald__load_i32(a->offsets, x + i) - a_begin !=
            ald__load_i32(b->offsets, y + i) - b_begin) {
            return 0;
        }
    }
    size_t size = (size_t)(ald__load_i32(a->offsets, x + count) - a_begin);
    return size == 0 || memcmp(a->values + a_begin, b->values + b_begin, size) == 0;
}

static size_t width_of(const ald__view *view)
{
    switch (view->cell) {
    case ALD__CELL_I8:
    case ALD__CELL_U8:
        return 1;
    case ALD__CELL_I16:
    case ALD__CELL_U16:
    case ALD__CELL_F16:
        return 2;
    case ALD__CELL_I32:
    case ALD__CELL_U32:
    case ALD__CELL_F32:
    case ALD__CELL_DATE32:
    case ALD__CELL_TIME32:
        return 4;
    case ALD__CELL_I64:
    case ALD__CELL_U64:
    case ALD__CELL_F64:
    case ALD__CELL_DATE64:
    case ALD__CELL_TIME64:
    case ALD__CELL_TIMESTAMP:
    case ALD__CELL_DURATION:
        return 8;
    case ALD__CELL_DECIMAL:
    case ALD__CELL_FIXED_BINARY:
        return (size_t)view->byte_width;
    default:
        return 0;
    }
}

/* Whether rows are seen to be the same without a look at each: 0 does not say that they differ. Rows count from 0 in the
 * arrays. */
static int same_at_a_glance(const diff_column *column, const ald__view *a, const ald__view *b,
                            int64_t x, int64_t y, int64_t count)
{
    if (!column->same_type || a->cell != b->cell) {
        return 0;
    }
    size_t width = width_of(a);
    int is_string = a->cell == ALD__CELL_UTF8 || a->cell == ALD__CELL_BINARY;
    x += a->offset;
    y += b->offset;
    if (width == 0 && !is_string && a->cell != ALD__CELL_BOOL) {
        return 0;
    }
    if ((a->validity != NULL || b->validity != NULL) &&
        !same_bits(a->validity, x, b->validity, y, count)) {
        return 0;
    }
    if (is_string) {
        return same_strings(a, b, x, y, count);
    }
    return width > 0 ? same_values(a, b, x, y, count, width)
                     : same_bits(a->values, x, b->values, y, count);
}

/* ---- cells */

static ald_status compare_cells(walk *w, diff_column *column, int64_t count, ald_error *err)
{
    const ald__view *views[2];
    int64_t rows[2];
    for (int i = 0; i < 2; i++) {
        views[i] = w->sides[i].view.children + column->at[i];
        rows[i] = w->sides[i].at + w->sides[i].view.offset;
    }
    if (same_at_a_glance(column, views[0], views[1], rows[0], rows[1], count)) {
        return ALD_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        diff_cell cells[2];
        for (int k = 0; k < 2; k++) {
            ald_status status =
                diff_load(column, views[k], rows[k] + i, &w->sides[k].scratch, &cells[k], err);
            if (status != ALD_OK) {
                return status;
            }
        }
        if (diff_same(w->run, column, &cells[0], &cells[1])) {
            continue;
        }
        uint64_t row = w->run->rows[0] + (uint64_t)i;
        const diff_example where = {.rows = {row, row}};
        w->changed[i] = 1;
        column->changed++;
        ald_status status = diff_keep_pair(w->run, column, &where, &cells[0], &cells[1], err);
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

static ald_status compare_window(walk *w, int64_t count, ald_error *err)
{
    diff_run *run = w->run;
    memset(w->changed, 0, (size_t)count);
    for (size_t i = 0; i < run->column_count; i++) {
        ald_status status = compare_cells(w, &run->columns[i], count, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        run->changed_rows += w->changed[i];
    }
    for (int k = 0; k < 2; k++) {
        run->rows[k] += (uint64_t)count;
        w->sides[k].at += count;
    }
    return ALD_OK;
}

/* ---- batches */

/* Sees to it that there are rows, or the end. */
static ald_status fill(walk *w, int which, ald_error *err)
{
    side *s = &w->sides[which];
    while (!s->is_over && (s->batch.release == NULL || s->at == s->batch.length)) {
        if (s->batch.release != NULL) {
            s->batch.release(&s->batch);
        }
        s->at = 0;
        w->run->env->subject = w->run->names[which];
        ald_status status = ald_stream_next(&w->run->streams[which], &s->batch, err);
        if (status == ALD_OK && s->batch.release != NULL) {
            status = ald__view_bind(&s->view, &s->batch, err);
        }
        if (status != ALD_OK) {
            return status;
        }
        w->run->env->subject = NULL;
        s->is_over = s->batch.release == NULL;
    }
    return ALD_OK;
}

static int64_t rows_left(const side *s)
{
    return s->is_over ? 0 : s->batch.length - s->at;
}

static ald_status step(walk *w, int *done, ald_error *err)
{
    diff_run *run = w->run;
    for (int k = 0; k < 2; k++) {
        ald_status status = fill(w, k, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    int64_t left[2] = {rows_left(&w->sides[0]), rows_left(&w->sides[1])};
    *done = left[0] == 0 && left[1] == 0;
    if (left[0] > 0 && left[1] > 0) {
        int64_t count = left[0] < left[1] ? left[0] : left[1];
        return compare_window(w, count < WINDOW_ROWS ? count : WINDOW_ROWS, err);
    }
    for (int k = 0; k < 2; k++) { /* only one file has rows left */
        run->rows[k] += (uint64_t)left[k];
        run->only[k] += (uint64_t)left[k];
        w->sides[k].at += left[k];
    }
    return ALD_OK;
}

ald_status diff_by_position(diff_run *run, ald_error *err)
{
    walk *w = calloc(1, sizeof(*w));
    ald_status status = ALD_OK;
    if (w == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to compare rows");
    }
    w->run = run;
    for (int k = 0; k < 2; k++) {
        w->sides[k].scratch.alloc = &run->env->host.alloc;
    }
    for (int k = 0; status == ALD_OK && k < 2; k++) {
        status = ald__view_init(&w->sides[k].view, &run->schemas[k], &run->env->host.alloc, err);
        w->sides[k].is_bound = status == ALD_OK;
    }
    for (int done = 0; status == ALD_OK && !done;) {
        status = step(w, &done, err);
        cli_progress_update(&run->progress, run->rows[0], 0);
    }
    for (int k = 0; k < 2; k++) {
        if (w->sides[k].batch.release != NULL) {
            w->sides[k].batch.release(&w->sides[k].batch);
        }
        if (w->sides[k].is_bound) {
            ald__view_clear(&w->sides[k].view, &run->env->host.alloc);
        }
        ald_buffer_clear(&w->sides[k].scratch);
    }
    free(w);
    return status;
}
