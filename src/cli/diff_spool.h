/* SPDX-License-Identifier: MIT */
/* Rows of a table in parts by the hash of their key: in memory while they are few, else in a temporary file. Rows of one key are
 * in one part, of either table, so that parts can be compared one by one. */
#ifndef CLI_DIFF_SPOOL_H
#define CLI_DIFF_SPOOL_H

#include "ald/io.h"
#include "cli/cli.h"

#define DIFF_PARTS 64

/* A row: this, its key, its values. `size` counts all of it. */
typedef struct diff_record {
    uint64_t hash, row;
    uint64_t size, key_size;
} diff_record;

typedef struct diff_segment {
    uint64_t at, size;
} diff_segment;

typedef struct diff_part {
    ald_buffer held; /* not in the file yet */
    diff_segment *segments;
    size_t segment_count;
    uint64_t bytes;
} diff_part;

typedef struct diff_spool {
    const ald_host *host;
    unsigned level; /* how often the rows were parted before */
    ald_spool file; /* close NULL: nothing was written */
    uint64_t file_bytes, held_bytes;
    diff_part parts[DIFF_PARTS];
} diff_spool;

void diff_spool_init(diff_spool *spool, const ald_host *host, unsigned level);
void diff_spool_clear(diff_spool *spool);
/* Adds a row whose bytes are `record` and what follows it. */
ALD_NODISCARD ald_status diff_spool_add(diff_spool *spool, const diff_record *record,
                                        ald_error *err);
/* All bytes of a part, behind each other. The caller clears `out`. */
ALD_NODISCARD ald_status diff_spool_load(const diff_spool *spool, unsigned part, ald_buffer *out,
                                         ald_error *err);
/* Parts a part's rows anew, by other bits of their hashes; the part's memory is given back. */
ALD_NODISCARD ald_status diff_spool_split(diff_spool *spool, unsigned part, diff_spool *into,
                                          ald_error *err);

#endif
