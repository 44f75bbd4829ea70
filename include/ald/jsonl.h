/* SPDX-License-Identifier: MIT */
/* JSON lines and JSON arrays of objects in; JSON lines and arrays out. */
#ifndef ALD_JSONL_H
#define ALD_JSONL_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/text.h"

ALD_BEGIN_DECLS

typedef enum ald_json_mixed {
    ALD_JSON_MIXED_ERROR = 0,
    ALD_JSON_MIXED_STRING = 1, /* a column of several kinds becomes text */
    ALD_JSON_MIXED_JSON = 2    /* … becomes JSON text */
} ald_json_mixed;

typedef struct ald_jsonl_options {
    uint32_t struct_size;
    uint8_t mixed; /* an ald_json_mixed */
    uint8_t reserved[3];
    uint64_t max_line_bytes; /* 0: 256 MiB */
    ald_text_options text;
} ald_jsonl_options;

#define ALD_JSONL_OPTIONS_INIT {sizeof(ald_jsonl_options), 0, {0, 0, 0}, 0, ALD_TEXT_OPTIONS_INIT}

/* As ald_csv_open. A file that begins with `[` is read as one array. */
ALD_API ALD_NODISCARD ald_status ald_jsonl_open(const ald_source *source,
                                                const ald_jsonl_options *options,
                                                const ald_host *host, struct ArrowArrayStream *out,
                                                ald_error *err);

typedef struct ald_jsonl_write_options {
    uint32_t struct_size;
    uint8_t array; /* one JSON array instead of lines */
    uint8_t reserved[3];
    ald_text_write_options text;
} ald_jsonl_write_options;

#define ALD_JSONL_WRITE_OPTIONS_INIT                                                               \
    {sizeof(ald_jsonl_write_options), 0, {0, 0, 0}, ALD_TEXT_WRITE_OPTIONS_INIT}

/* Reads `batches` to its end, releases it (also on failure). */
ALD_API ALD_NODISCARD ald_status ald_jsonl_write(struct ArrowArrayStream *batches,
                                                 const ald_sink *sink,
                                                 const ald_jsonl_write_options *options,
                                                 const ald_host *host, ald_error *err);

ALD_END_DECLS
#endif
