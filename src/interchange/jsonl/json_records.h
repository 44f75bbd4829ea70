/* SPDX-License-Identifier: MIT */
/* The input cut into records: lines, or elements of one JSON array. A window over the source moves along; it is as large
 * as the largest record. */
#ifndef INTERCHANGE_JSONL_JSON_RECORDS_H
#define INTERCHANGE_JSONL_JSON_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"

/* Bytes of the window behind every record: yyjson's in-place parsing writes 4, and numbers are looked at 16 bytes at a
 * time. */
#define ALD__JSON_PADDING 16

typedef struct ald__json_record {
    uint8_t *data; /* NULL: there is no more; valid until the next call */
    size_t size;
    uint64_t offset; /* in the source */
} ald__json_record;

typedef struct ald__json_records {
    const ald_source *source; /* borrowed */
    const ald_allocator *alloc;
    uint64_t max_bytes; /* of a record */
    int is_array;
    uint8_t *data;
    size_t capacity;
    uint64_t start;   /* source offset of data[0] */
    size_t size, pos; /* filled; where the next record is looked for */
    uint64_t reached; /* the limit at which the last search ended; 0: none */
    uint64_t lines;   /* lines begun since the last seek (not for arrays) */
    int state;        /* of the search for array elements */
    int is_lost;      /* no line begins where it was looked for: there are no records */
} ald__json_records;

void ald__json_records_init(ald__json_records *records, const ald_source *source,
                            const ald_allocator *alloc, uint64_t max_bytes, int is_array);
void ald__json_records_clear(ald__json_records *records);

/* The next record is the one that begins at `offset`. */
void ald__json_records_seek(ald__json_records *records, uint64_t offset);
/* Lines: the next record is the first that begins at `offset` or behind, up to `limit`. No more is read than that takes,
 * however long the line around `offset` is. */
ALD_NODISCARD ald_status ald__json_records_find(ald__json_records *records, uint64_t offset,
                                                uint64_t limit, ald_error *err);
/* The next record that begins before `limit`; blank lines are none. */
ALD_NODISCARD ald_status ald__json_records_next(ald__json_records *records, uint64_t limit,
                                                ald__json_record *out, ald_error *err);

/* Adds to *count the records that begin before `limit`, all that are left. A failure is that of *last. */
ALD_NODISCARD ald_status ald__json_records_count(ald__json_records *records, uint64_t limit,
                                                 uint64_t *count, ald__json_record *last,
                                                 ald_error *err);

/* More of the source behind what the window holds, from `pos` on; *grew is 0 at the end of the source. What was before
 * `pos` goes. */
ALD_NODISCARD ald_status ald__json_records_more(ald__json_records *records, int *grew,
                                                ald_error *err);

/* The first newline of n bytes at p, or NULL. */
const uint8_t *ald__json_find_newline(const uint8_t *p, size_t n);
uint64_t ald__json_count_newlines(const uint8_t *p, size_t n);

#endif
