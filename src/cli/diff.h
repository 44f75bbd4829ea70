/* SPDX-License-Identifier: MIT */
/* Two tables side by side: which columns they share, how a cell of one is compared with that of the other, and what was
 * found. Side 0 is the first file. */
#ifndef CLI_DIFF_H
#define CLI_DIFF_H

#include "ald/arrow.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "interchange/format/cell.h"

/* How the values of a column are compared. */
typedef enum diff_class {
    DIFF_INTEGER, /* both are integers */
    DIFF_NUMBER,  /* numbers, of which one at least is a float */
    DIFF_BYTES,   /* both are text, or both binary */
    DIFF_TEXT     /* all else: by their text */
} diff_class;

typedef enum diff_tag {
    DIFF_NULL,
    DIFF_INT,
    DIFF_UINT, /* above INT64_MAX */
    DIFF_F64,
    DIFF_F32,
    DIFF_DATA
} diff_tag;

/* One value. Data are borrowed. */
typedef struct diff_cell {
    diff_tag tag;
    uint64_t bits; /* of a number */
    const uint8_t *data;
    size_t size;
} diff_cell;

/* A difference that is shown. Texts are owned; NULL: null. */
typedef struct diff_example {
    uint64_t rows[2];
    uint8_t
        *key; /* texts, each behind its size as a uint32_t; NULL: rows are compared by position */
    size_t key_size;
    char *values[2];
    size_t sizes[2];
} diff_example;

typedef struct diff_examples {
    diff_example *items; /* by their row, rising */
    size_t count;
} diff_examples;

/* A column of both tables. */
typedef struct diff_column {
    const char *name;
    int64_t at[2]; /* where it stands */
    diff_class class;
    uint8_t same_type; /* floats then differ when their bits do */
    uint8_t trim;      /* DIFF_TEXT: zeros at the end of a fraction do not count */
    uint8_t from_text; /* one side was read from text, in which a float has no width */
    uint8_t is_binary; /* DIFF_BYTES: shown in hexadecimal */
    uint8_t is_key;
    uint64_t changed;
    diff_examples examples;
} diff_column;

/* How the schemas differ. */
typedef struct diff_finding {
    const char *kind;    /* "added", "removed", "type", "nullability", "order", "metadata" */
    char *column, *name; /* name: of a metadata key, or NULL */
    char *before, *after;
} diff_finding;

typedef struct diff_options {
    opt_list key, columns;
    uint64_t limit;
    const char *tolerance, *relative;
    uint8_t metadata, values_only, json;
} diff_options;

typedef struct diff_run {
    cli_env *env;
    const diff_options *options;
    const char *names[2];
    struct ArrowSchema schemas[2];
    uint8_t is_text[2]; /* read from CSV or JSON: its types were guessed */
    struct ArrowArrayStream streams[2];
    size_t limit;
    double absolute, relative; /* tolerances */
    uint8_t is_tolerant;
    diff_finding *findings;
    size_t finding_count;
    diff_column *columns;
    size_t column_count;
    uint32_t *keys; /* numbers of the key's columns */
    size_t key_count;
    uint64_t rows[2], changed_rows;
    uint64_t only[2];           /* rows without a counterpart */
    diff_examples only_rows[2]; /* with a key: the first of them */
    cli_progress progress;
} diff_run;

void diff_clear(diff_run *run);

/* ---- schemas (diff_schema.c) */

/* Compares run->schemas; fills findings, columns and keys. */
ALD_NODISCARD ald_status diff_schemas(diff_run *run, ald_error *err);

/* ---- cells (diff_cell.c) */

/* The value of a bound column; `row` counts from 0 in the array. `scratch` may hold its text. */
ALD_NODISCARD ald_status diff_load(const diff_column *column, const ald__view *view, int64_t row,
                                   ald_buffer *scratch, diff_cell *out, ald_error *err);
int diff_same(const diff_run *run, const diff_column *column, const diff_cell *a,
              const diff_cell *b);
/* A key's cell, in the one form that equal keys share. */
void diff_normalise_key(diff_cell *cell);
/* Appends what a person reads. A null is `null`. */
ALD_NODISCARD ald_status diff_text(const diff_column *column, const diff_cell *cell,
                                   ald_buffer *out, ald_error *err);

/* ---- rows */

/* Both fail with ALD_E_INVALID_ARG or what reading fails with. Streams are read to their ends. */
ALD_NODISCARD ald_status diff_by_position(diff_run *run, ald_error *err);
ALD_NODISCARD ald_status diff_by_key(diff_run *run, ald_error *err);

/* ---- what was found (diff_report.c) */

/* Whether an example of this row would be kept. */
int diff_wants(const diff_run *run, const diff_examples *examples, uint64_t row);
/* Keeps it among the first. Takes key and values, also on failure. */
ALD_NODISCARD ald_status diff_keep(const diff_run *run, diff_examples *examples,
                                   const diff_example *example, ald_error *err);
void diff_example_clear(diff_example *example);
/* A column's pair of values as an example; `where` has rows and key, and is taken. */
ALD_NODISCARD ald_status diff_keep_pair(diff_run *run, diff_column *column,
                                        const diff_example *where, const diff_cell *a,
                                        const diff_cell *b, ald_error *err);
/* The next text of a key, from *at on; 0: none is left. */
int diff_key_next(const diff_example *example, size_t *at, const char **text, size_t *size);
int diff_is_same(const diff_run *run);
void diff_print(const diff_run *run);
void diff_print_json(const diff_run *run);

#endif
