/* SPDX-License-Identifier: MIT */
/* Rows dealt out to parts by chance: each row to one part, so many to each, in their order. */
#ifndef CLI_DIVISION_H
#define CLI_DIVISION_H

#include "cli/class_index.h"
#include "cli/input.h"
#include "cli/select.h"

#define DIVISION_PARTS_MAX 64u

/* How many rows each part gets. */
typedef enum division_kind {
    DIVISION_ROWS,     /* `rows` to part 0, the others to part 1 */
    DIVISION_FRACTION, /* shares[0] billionths to part 0, rounded to the nearest, a half up */
    DIVISION_SHARES    /* in the proportion of shares[0 .. part_count) */
} division_kind;

typedef struct division {
    division_kind kind;
    uint32_t part_count;
    uint64_t seed, rows;
    uint64_t shares[DIVISION_PARTS_MAX];
    const char
        *stratify; /* a column whose every value is dealt out in the same proportion; NULL: none */
    /* Known once the rows were counted: */
    uint64_t row_count;
    uint64_t counts[DIVISION_PARTS_MAX];
    class_index classes;
    uint64_t *class_rows; /* of each class … */
    uint64_t
        *class_parts; /* … and of these, part_count for each class, those that each part gets */
    size_t class_count, class_capacity;
} division;

/* Counts the rows that `where` (or NULL) leaves, and those of each value of the column, and settles who gets how many. The
 * input's stream is read where that cannot be known otherwise; it stands at its beginning when this returns. */
ALD_NODISCARD ald_status division_count(cli_env *env, division *d, cli_input *in,
                                        const read_options *read, const char *where,
                                        ald_error *err);

/* The rows of one part of `from`, which is moved into *out (also on failure it is released): the rows that were counted, from
 * the first on. Several parts can be taken, one stream after the other. */
ALD_NODISCARD ald_status division_part(cli_env *env, division *d, uint32_t part,
                                       struct ArrowArrayStream *from, struct ArrowArrayStream *out,
                                       ald_error *err);
/* The same of the rows that fit what->where, of the columns that `what` names. `name` is the input's. */
ALD_NODISCARD ald_status division_choose(cli_env *env, division *d, uint32_t part,
                                         struct ArrowArrayStream *from, const char *name,
                                         const cli_selection *what, struct ArrowArrayStream *out,
                                         ald_error *err);
void division_clear(division *d);

#endif
