/* SPDX-License-Identifier: MIT */
/* CSV in and out. Types come from the whole file (docs/TEXT.md). */
#ifndef ALD_CSV_H
#define ALD_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/text.h"

ALD_BEGIN_DECLS

typedef enum ald_csv_ragged {
    ALD_CSV_RAGGED_ERROR = 0,
    ALD_CSV_RAGGED_PAD = 1, /* missing fields are null, surplus ones dropped; counted */
    ALD_CSV_RAGGED_SKIP = 2 /* the record is dropped; counted */
} ald_csv_ragged;

typedef struct ald_csv_options {
    uint32_t struct_size;
    char delimiter;    /* 0: found out (comma, tab, semicolon, pipe) */
    char quote;        /* 0: `"` */
    char comment;      /* lines that begin with it are skipped; 0: none */
    uint8_t no_header; /* columns are then named f0, f1, … */
    uint8_t ragged;    /* an ald_csv_ragged */
    uint8_t reserved[3];
    uint32_t null_count;      /* number of null tokens; 0: the empty bare field alone */
    const char *const *nulls; /* NUL-terminated; given ones replace the default */
    uint64_t max_field_bytes; /* 0: 256 MiB */
    ald_text_options text;
} ald_csv_options;

#define ALD_CSV_OPTIONS_INIT                                                                       \
    {sizeof(ald_csv_options), 0, 0, 0, 0, 0, {0, 0, 0}, 0, NULL, 0, ALD_TEXT_OPTIONS_INIT}

/* `source` is copied and must stay open until the stream is released. The whole input is scanned before this returns; the
 * stream then parses it a batch at a time. */
ALD_API ALD_NODISCARD ald_status ald_csv_open(const ald_source *source,
                                              const ald_csv_options *options, const ald_host *host,
                                              struct ArrowArrayStream *out, ald_error *err);

typedef struct ald_csv_write_options {
    uint32_t struct_size;
    char delimiter; /* 0: comma */
    uint8_t no_header;
    uint8_t crlf; /* line ends are CRLF */
    ald_text_write_options text;
} ald_csv_write_options;

#define ALD_CSV_WRITE_OPTIONS_INIT                                                                 \
    {sizeof(ald_csv_write_options), 0, 0, 0, ALD_TEXT_WRITE_OPTIONS_INIT}

/* Reads `batches` to its end, releases it (also on failure). Nested values are written as JSON text. */
ALD_API ALD_NODISCARD ald_status ald_csv_write(struct ArrowArrayStream *batches,
                                               const ald_sink *sink,
                                               const ald_csv_write_options *options,
                                               const ald_host *host, ald_error *err);

ALD_END_DECLS
#endif
