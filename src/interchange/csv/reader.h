/* SPDX-License-Identifier: MIT */
/* An open CSV file: what pass one found out, and what pass two hands out batch by batch. */
#ifndef INTERCHANGE_CSV_READER_H
#define INTERCHANGE_CSV_READER_H

#include "ald/csv.h"
#include <string.h>

#include "interchange/csv/csv_walk.h"
#include "interchange/text/classify.h"

/* Bytes that one task reads at once: a block and what its last record hangs over. */
#define ALD__CSV_OVERHANG_BYTES (64u << 10)
/* A row whose place is known at least this often: a batch begins by skipping fewer. */
#define ALD__CSV_MARK_ROWS 1024

/* A record that pass two can begin at. */
typedef struct ald__csv_mark {
    uint64_t offset, row;
} ald__csv_mark;

typedef struct ald__csv_text {
    const char *data;
    size_t size;
} ald__csv_text;

typedef struct ald__csv_nulls {
    ald__csv_text *tokens;
    size_t count;
    uint8_t lead[32]; /* bitmap of their first bytes */
    uint8_t empty;    /* the empty field is null */
    uint8_t numeric;  /* one of them may look like a number */
    uint8_t given;    /* by the caller: in a file that quotes everything quoted ones count too */
} ald__csv_nulls;

typedef struct ald__csv_column {
    ald__csv_text name;
    uint8_t declared;    /* its field is in the schema already; nothing is inferred */
    uint8_t many_text;   /* text for more reasons than a person wants to hear about */
    uint8_t quoted_many; /* many_text, if quotes make text */
    uint8_t nullable;
    ald__profile bare, quoted; /* quoted: by content, as long as all fields may be quoted */
    ald__profile expected;     /* in one pass: what samples said */
} ald__csv_column;

typedef struct ald__csv_reader {
    ald_allocator alloc;
    ald_host host;
    ald_source source; /* UTF-8 */
    uint8_t owns_source;
    uint8_t no_header;
    uint8_t header_quoted; /* each field of the header was quoted, or there is none */
    uint8_t all_quoted;    /* each field of the file is */
    uint32_t threads;
    ald__csv_dialect dialect;
    ald__csv_nulls nulls;
    ald_text_options text; /* schema and types are NULL here: copies are in `fields` */

    size_t column_count;
    ald__csv_column *columns;
    char *names; /* their bytes */
    size_t names_size;
    char *null_bytes;
    size_t null_bytes_size;
    struct ArrowSchema fields; /* the struct that the stream has */

    uint64_t data_begin; /* of the first record behind the header */
    uint64_t rows, padded, skipped;
    uint8_t empties; /* where no null text was given: a field is empty, and so null; for a note */
    ald__csv_mark *marks;
    size_t mark_count, marks_capacity; /* capacity in bytes */
    struct ald__csv_batches *batches;  /* pass two */
    struct ald__csv_checked *checked;  /* pass two is also pass one; else NULL */
    struct ArrowArrayStream *restart; /* where the stream goes that starts over; NULL: two passes */
    uint64_t done_bytes;              /* for progress */
} ald__csv_reader;

/* What the speed and, in tests, the edges depend on; the outcome does not. */
typedef struct ald__csv_tuning {
    size_t block_bytes, slab_bytes;  /* 0: the default */
    ald__csv_masks_fn masks;         /* NULL: the best */
    uint64_t one_pass_bytes;         /* files of this size and more; 0: the default */
    size_t samples;                  /* for the types in one pass; 0: the default */
    const ald__csv_numbers *numbers; /* NULL: the best */
} ald__csv_tuning;

/* ald_csv_open with a tuning (NULL: the default). */
ALD_NODISCARD ald_status ald__csv_open_tuned(const ald_source *source,
                                             const ald_csv_options *options, const ald_host *host,
                                             const ald__csv_tuning *tuning,
                                             struct ArrowArrayStream *out, ald_error *err);

/* Pass one: rows, marks, profiles; faults become errors. */
ALD_NODISCARD ald_status ald__csv_survey(ald__csv_reader *reader, ald_error *err);
/* The same without profiles. */
ALD_NODISCARD ald_status ald__csv_survey_shape(ald__csv_reader *reader, ald_error *err);
/* Quotes say nothing only when every field is quoted; else each quoted field is text. */
void ald__csv_settle_quotes(ald__csv_reader *reader, int bare_seen);

/* The types that the profiles give, in reader->fields. */
ALD_NODISCARD ald_status ald__csv_resolve_types(ald__csv_reader *reader, ald_error *err);
/* Notes for what a person should know. */
ALD_NODISCARD ald_status ald__csv_tell(ald__csv_reader *reader, ald_error *err);

/* Pass two. */
ALD_NODISCARD ald_status ald__csv_batches_new(ald__csv_reader *reader, ald_error *err);
void ald__csv_batches_free(ald__csv_reader *reader);
ALD_NODISCARD ald_status ald__csv_batches_next(ald__csv_reader *reader, struct ArrowArray *out,
                                               ald_error *err);

/* A fault with its line as an error. */
ALD_NODISCARD ald_status ald__csv_fault_error(ald__csv_reader *reader, const ald__csv_fault *fault,
                                              ald_error *err);
/* Sorted offsets in, the 1-based lines on which they stand out. */
ALD_NODISCARD ald_status ald__csv_lines_of(const ald_source *source, const ald_allocator *alloc,
                                           const uint64_t *offsets, size_t count, uint64_t *lines,
                                           ald_error *err);
/* The end of the source's name, for messages. */
const char *ald__csv_source_name(const ald_source *source);

/* Reports bytes done; ALD_E_IO when the caller wants to stop. */
ALD_NODISCARD ald_status ald__csv_progress(ald__csv_reader *reader, uint64_t done, ald_error *err);

/* Runs task(arg, 0 … count − 1) on the host's threads, or in turn. */
void ald__csv_run(const ald__csv_reader *reader, uint32_t count,
                  void (*task)(void *arg, uint32_t index), void *arg);

/* Nonzero: the text of a bare field is one of the null tokens. */
static inline int ald__csv_is_null(const ald__csv_nulls *nulls, const char *text, size_t size)
{
    if (size == 0)
        return nulls->empty;
    if (nulls->count == 0 || !(nulls->lead[(uint8_t)text[0] / 8] >> ((uint8_t)text[0] % 8) & 1))
        return 0;
    for (size_t i = 0; i < nulls->count; i++) {
        if (nulls->tokens[i].size == size && memcmp(nulls->tokens[i].data, text, size) == 0)
            return 1;
    }
    return 0;
}

/* 01067, +49 30, 12,5: a number to people, so nobody wants it to be null. */
static inline int ald__csv_is_number_like(const char *text, size_t size)
{
    if (size > 1 && (text[0] == '+' || text[0] == '-' || text[0] == '.'))
        text++;
    return size > 0 && text[0] >= '0' && text[0] <= '9';
}

/* Whether the empty field means null and does so somewhere: the first --null would end that. */
static inline int ald__csv_has_empty_nulls(const ald__csv_reader *reader)
{
    return reader->empties && reader->nulls.given == 0;
}

/* Copies a quoted field's content without the second of doubled quotes; `out` has room for `size` bytes. */
static inline size_t ald__csv_unquote(const uint8_t *in, size_t size, uint8_t quote, uint8_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        out[n++] = in[i];
        i += in[i] == quote; /* its twin follows */
    }
    return n;
}

#endif
