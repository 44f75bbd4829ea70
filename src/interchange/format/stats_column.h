/* SPDX-License-Identifier: MIT */
/* What is gathered of one column while batches go by. */
#ifndef INTERCHANGE_FORMAT_STATS_COLUMN_H
#define INTERCHANGE_FORMAT_STATS_COLUMN_H

#include "interchange/format/column_view.h"
#include "interchange/format/stats_sketch.h"

/* How the values of a column are compared and counted. */
typedef enum ald__stats_class {
    ALD__STATS_NOTHING, /* null type */
    ALD__STATS_BOOL,
    ALD__STATS_SIGNED,
    ALD__STATS_UNSIGNED,
    ALD__STATS_FLOAT,
    ALD__STATS_DECIMAL,
    ALD__STATS_BYTES, /* text, binary */
    ALD__STATS_JSON   /* nested, unions, intervals: by their JSON text */
} ald__stats_class;

#define ALD__STATS_EDGE 256 /* bytes of a text kept as min or max */

typedef struct ald__stats_edge {
    uint8_t
        bytes[ALD__STATS_EDGE]; /* a value as the column stores it, or the beginning of a text */
    size_t size;
} ald__stats_edge;

typedef struct ald__stats_column {
    const ald__view *view;
    const ald__view *plain; /* where dictionaries and run ends lead to */
    ald__stats_class kind;
    uint64_t nulls, nans, infinities, values;
    uint64_t shortest, longest;
    double unit;          /* a stored 1, for decimals 10^-scale */
    double mean, squares; /* Welford's: of `averaged` values */
    uint64_t averaged;
    uint64_t last_mix; /* a run of equal values needs no look-up */
    ald__distinct distinct;
    ald__bins bins;
    ald__common common;
    ald__stats_edge min, max;
    ald_buffer text;
} ald__stats_column;

/* `column_count` sets how much memory a column may take. Nothing is allocated yet. */
void ald__stats_column_init(ald__stats_column *c, const ald__view *view, size_t column_count,
                            const ald_allocator *alloc);
void ald__stats_column_clear(ald__stats_column *c);
/* The first `count` rows from `first` on of the array that the view is bound to. */
ALD_NODISCARD ald_status ald__stats_column_add(ald__stats_column *c, int64_t first, int64_t count,
                                               ald_error *err);
/* Appends a NUL-terminated text of an edge. */
ALD_NODISCARD ald_status ald__stats_edge_text(const ald__stats_column *c,
                                              const ald__stats_edge *edge, ald_buffer *out,
                                              ald_error *err);

#endif
