/* SPDX-License-Identifier: MIT */
/* Counting distinct values, a histogram without knowing the range beforehand, and the most frequent values; each of bounded
 * size. The order of the values does not count. */
#ifndef INTERCHANGE_FORMAT_STATS_SKETCH_H
#define INTERCHANGE_FORMAT_STATS_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/stats.h"

/* Well-mixed bits of a value. */
uint64_t ald__mix_u64(uint64_t v);
uint64_t ald__mix_bytes(const uint8_t *data, size_t size);

/* Exact, by 64-bit mixes, up to `limit` values; beyond it HyperLogLog with 2^precision registers. */
typedef struct ald__distinct {
    uint64_t *set; /* open addressing; 0 is free */
    size_t capacity, count, limit;
    uint8_t *registers; /* NULL: still exact */
    uint8_t precision;
} ald__distinct;

ALD_NODISCARD ald_status ald__distinct_add(ald__distinct *d, uint64_t mix,
                                           const ald_allocator *alloc, ald_error *err);
uint64_t ald__distinct_count(const ald__distinct *d);
void ald__distinct_clear(ald__distinct *d, const ald_allocator *alloc);

/* Equal bins of a width that is a power of two, aligned to it: the smallest width for which the values fit the bins, but not
 * below the one that was set at the start (1 for integers). Starting from 0, not below the spacing of doubles around the
 * first value. */
typedef struct ald__bins {
    double width;
    int64_t first; /* bins[i] counts floor(v / width) == first + i */
    uint32_t used; /* bins from the first value's to the last one's */
    uint64_t bins[ALD_STATS_BINS];
} ald__bins;

/* `v` is finite. */
void ald__bins_add(ald__bins *b, double v);

#define ALD__COMMON_VALUES 256
#define ALD__COMMON_BYTES 128 /* a value longer than this ends the count */

/* All values with their counts, until they are too many. */
typedef struct ald__common {
    struct ald__common_entry *entries; /* NULL: none yet, or given up */
    size_t count;
    uint8_t given_up;
} ald__common;

struct ald__common_entry {
    uint64_t mix, count;
    uint8_t size;
    uint8_t text[ALD__COMMON_BYTES];
};

ALD_NODISCARD ald_status ald__common_add(ald__common *c, uint64_t mix, const uint8_t *text,
                                         size_t size, const ald_allocator *alloc, ald_error *err);
/* Most frequent first, equal ones by their bytes. */
void ald__common_sort(ald__common *c);
void ald__common_clear(ald__common *c, const ald_allocator *alloc);

#endif
