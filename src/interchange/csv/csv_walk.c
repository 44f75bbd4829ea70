/* SPDX-License-Identifier: MIT */
/* Knows how to see a stretch of the source at a time: by view where there is one, else through a buffer that grows only
 * when a record is longer than it. */
#include "interchange/csv/csv_walk.h"

#include <string.h>

#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

/* A buffer that one long record has blown up is given back. */
#define KEPT_BUFFER (8u * 1024 * 1024)

ald_status ald__csv_walk_init(ald__csv_walk *walk, const ald_source *source,
                              const ald__csv_dialect *dialect, size_t columns, size_t fill,
                              const ald_allocator *alloc, ald_error *err)
{
    *walk = (ald__csv_walk){.source = source, .alloc = *alloc, .fill = fill};
    return ald__csv_rows_init(&walk->rows, dialect, columns, alloc, err);
}

static void walk_drop_buffer(ald__csv_walk *walk)
{
    if (walk->buffer != NULL)
        walk->alloc.release(walk->alloc.ctx, walk->buffer, walk->buffer_capacity);
    walk->buffer = NULL;
    walk->buffer_capacity = 0;
    walk->window = NULL;
    walk->window_size = 0;
}

void ald__csv_walk_clear(ald__csv_walk *walk)
{
    if (walk->alloc.release == NULL)
        return;
    walk_drop_buffer(walk);
    ald__csv_rows_clear(&walk->rows);
}

/* Fills the buffer with `size` bytes from `at`, keeping what it has of them. */
static ald_status walk_fill(ald__csv_walk *walk, uint64_t at, size_t size, ald_error *err)
{
    size_t keep = 0;
    void *block;
    ald_status st;
    if (walk->window != NULL && walk->window == walk->buffer && at >= walk->window_at &&
        at < walk->window_at + walk->window_size) {
        keep = (size_t)(walk->window_at + walk->window_size - at);
        if (keep > size)
            keep = size;
        memmove(walk->buffer, walk->buffer + (size_t)(at - walk->window_at), keep);
    } else if (walk->buffer_capacity > KEPT_BUFFER && size < KEPT_BUFFER / 4) {
        walk_drop_buffer(walk);
    }
    walk->window = NULL;
    block = walk->buffer;
    st = ald__text_grow(&walk->alloc, &block, &walk->buffer_capacity, size + ALD__CSV_PADDING, err);
    walk->buffer = block;
    if (st == ALD_OK && size > keep)
        st = walk->source->read_at(walk->source->ctx, at + keep, walk->buffer + keep, size - keep,
                                   err);
    if (st != ALD_OK)
        return st;
    memset(walk->buffer + size, 0, ALD__CSV_PADDING);
    walk->window = walk->buffer;
    walk->window_at = at;
    walk->window_size = size;
    return ALD_OK;
}

ald_status ald__csv_walk_peek(ald__csv_walk *walk, uint64_t at, size_t size, const uint8_t **out,
                              size_t *got, ald_error *err)
{
    uint64_t left = walk->source->size_bytes - at;
    size_t ahead = walk->fill;
    *got = left < size ? (size_t)left : size;
    if (walk->window == NULL || at < walk->window_at || at - walk->window_at > walk->window_size ||
        walk->window_size - (size_t)(at - walk->window_at) < *got) {
        const uint8_t *view = NULL;
        /* The padding must be bytes of the source too. */
        if (walk->source->view != NULL && left > *got + (size_t)ALD__CSV_PADDING)
            view = walk->source->view(walk->source->ctx, at, *got + ALD__CSV_PADDING);
        if (view != NULL) {
            walk->window = view;
            walk->window_at = at;
            walk->window_size = *got;
        } else {
            ald_status st;
            if (ahead < *got)
                ahead = *got;
            if (walk->source->view != NULL)
                ahead = *got; /* only the last bytes are copied */
            st = walk_fill(walk, at, left < ahead ? (size_t)left : ahead, err);
            if (st != ALD_OK)
                return st;
        }
    }
    *out = walk->window + (size_t)(at - walk->window_at);
    return ALD_OK;
}

static void walk_fault(ald__csv_walk *walk, uint8_t kind, uint64_t offset)
{
    if (walk->fault.kind == ALD__CSV_FINE || offset < walk->fault.offset)
        walk->fault = (ald__csv_fault){offset, 0, 0, kind};
}

static void check_field_sizes(ald__csv_walk *walk)
{
    const ald__csv_rows *r = &walk->rows;
    for (size_t row = 0; row < r->rows; row++) {
        for (size_t c = 0; c < r->columns; c++) {
            ald__csv_field f = ald__csv_field_at(r, walk->slab, row, c);
            if (!f.missing && f.end - f.begin > r->dialect->max_field_bytes) {
                walk_fault(walk, ALD__CSV_FAULT_FIELD_SIZE, walk->slab_at + f.begin);
                return;
            }
        }
    }
}

/* What the whole records of the slab may not hold. */
static void check_slab(ald__csv_walk *walk)
{
    const ald__csv_rows *r = &walk->rows;
    size_t n = r->consumed, bad;
    if (n > r->dialect->max_field_bytes)
        check_field_sizes(walk);
    if (r->seen & ALD__CSV_NUL) {
        bad = ald__text_nul_check(walk->slab, n);
        if (bad < n)
            walk_fault(walk, ALD__CSV_FAULT_NUL, walk->slab_at + bad);
    }
    if (r->seen & ALD__CSV_HIGH) {
        bad = ald__text_utf8_check(walk->slab, n);
        if (bad < n)
            walk_fault(walk, ALD__CSV_FAULT_UTF8, walk->slab_at + bad);
    }
}

/* No record ends in the `size` bytes of the slab: how many to look at next; 0: too many. */
static size_t longer_slab(ald__csv_walk *walk, size_t size)
{
    const ald__csv_rows *r = &walk->rows;
    if (size - r->open_field > r->dialect->max_field_bytes) {
        walk_fault(walk, ALD__CSV_FAULT_FIELD_SIZE, walk->slab_at + r->open_field);
        return 0;
    }
    if (size >= ALD__CSV_SLAB_MAX) {
        walk_fault(walk, ALD__CSV_FAULT_RECORD_SIZE, walk->slab_at);
        return 0;
    }
    size += size < 16u * 1024 * 1024 ? size : size / 2;
    return size < ALD__CSV_SLAB_MAX ? size : ALD__CSV_SLAB_MAX;
}

ald_status ald__csv_walk_next(ald__csv_walk *walk, size_t row_limit, ald_error *err)
{
    const uint64_t end = walk->source->size_bytes;
    size_t want = walk->rows.dialect->slab_bytes;
    walk->rows.rows = 0;
    walk->rows.padded = walk->rows.skipped = 0;
    while (walk->fault.kind == ALD__CSV_FINE && row_limit > 0 && walk->pos < walk->limit &&
           walk->pos < end) {
        uint64_t room = walk->limit - walk->pos;
        size_t n;
        ald_status st = ald__csv_walk_peek(walk, walk->pos, want, &walk->slab, &n, err);
        if (st != ALD_OK)
            return st;
        walk->slab_at = walk->pos;
        ald__csv_rows_cut(&walk->rows, walk->slab, n, end - walk->pos == n, row_limit,
                          room < SIZE_MAX ? (size_t)room : SIZE_MAX);
        if (walk->rows.fault.kind != ALD__CSV_FINE) {
            walk->fault = walk->rows.fault;
            walk->fault.offset += walk->slab_at;
        }
        if (walk->rows.consumed > 0 || walk->fault.kind != ALD__CSV_FINE) {
            check_slab(walk);
            walk->pos += walk->rows.consumed;
            return ALD_OK;
        }
        want = longer_slab(walk, n);
    }
    return ALD_OK;
}
