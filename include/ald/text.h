/* SPDX-License-Identifier: MIT */
/* What CSV and JSON share: declared types, notes, how values are written. */
#ifndef ALD_TEXT_H
#define ALD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

typedef enum ald_encoding {
    ALD_ENCODING_UTF8 = 0, /* anything else is refused, with the line */
    ALD_ENCODING_LATIN1 = 1,
    ALD_ENCODING_WINDOWS_1252 = 2,
    ALD_ENCODING_UTF16 = 3, /* by its byte order mark; without one, little-endian */
    ALD_ENCODING_UTF16LE = 4,
    ALD_ENCODING_UTF16BE = 5
} ald_encoding;

typedef struct ald_text_options {
    uint32_t struct_size;
    uint32_t batch_rows;              /* 0: 65,536, or fewer to keep a batch near 16 MiB */
    const struct ArrowSchema *schema; /* all columns declared: nothing is inferred; or NULL */
    const struct ArrowSchema
        *types;          /* a struct of some columns, by name: these are not inferred; or NULL */
    uint64_t infer_rows; /* 0: the whole file; else a later surprise is an error */
    uint8_t encoding;    /* an ald_encoding */
    uint8_t reserved[7];
    /* Called with one line for each thing that a person should know (a column became text, rows were padded). */
    void (*note)(void *note_ctx, const char *text);
    void *note_ctx;
    /* Called now and then with bytes done and in all (two passes count twice); nonzero return stops with
     * ALD_E_IO "cancelled". */
    int (*progress)(void *note_ctx, uint64_t done, uint64_t total);
    /* For who can begin its work again: types are then taken from samples of a large input and checked by every value, so
     * that values are parsed once. Where a type turns out not to be that of the whole input, the stream fails with
     * ALD_E_SCHEMA_MISMATCH and *restart (zeroed before) is another one, from the first row, with the right schema. The
     * caller releases both. Any failure that leaves restart->release NULL is a failure. NULL: types are known before the
     * first row. Types, values, notes (told at the end) and errors are the same either way. */
    struct ArrowArrayStream *restart;
} ald_text_options;

#define ALD_TEXT_OPTIONS_INIT                                                                      \
    {sizeof(ald_text_options), 0, NULL, NULL, 0, 0, {0}, NULL, NULL, NULL, NULL}

typedef enum ald_binary_form { ALD_BINARY_BASE64 = 0, ALD_BINARY_HEX = 1 } ald_binary_form;

typedef struct ald_text_write_options {
    uint32_t struct_size;
    uint8_t binary; /* an ald_binary_form */
    uint8_t
        plain_json; /* JSON: NaN and infinities as null instead of the strings "NaN", "Infinity", "-Infinity" */
    uint8_t reserved[2];
    const char *null_text; /* CSV: what a null is written as; NULL: empty */
} ald_text_write_options;

#define ALD_TEXT_WRITE_OPTIONS_INIT {sizeof(ald_text_write_options), 0, 0, {0, 0}, NULL}

/* {"fields":[{"name","type","nullable","metadata"}]} as JSON text, and back (`text` may also be `name:type,name:type`).
 * Types as ald_type_format prints and ald_type_parse reads them. */
ALD_API ALD_NODISCARD ald_status ald_schema_to_json(const struct ArrowSchema *schema,
                                                    ald_buffer *out, ald_error *err);
ALD_API ALD_NODISCARD ald_status ald_schema_from_json(const char *text, size_t size,
                                                      const ald_host *host, struct ArrowSchema *out,
                                                      ald_error *err);

/* One value of a column as text. `json` nonzero: as JSON (as `cat --json` prints it); else as a CSV field's content,
 * unquoted. `array` may be a record batch's child; `row` counts from 0, the array's own offset is added. Appended to
 * `out`. Dictionaries and run-end encoding give plain values; binary as options say. */
ALD_API ALD_NODISCARD ald_status ald_value_to_text(const struct ArrowSchema *field,
                                                   const struct ArrowArray *array, int64_t row,
                                                   int json, const ald_text_write_options *options,
                                                   ald_buffer *out, ald_error *err);

ALD_END_DECLS
#endif
