/* SPDX-License-Identifier: MIT */
/* What a module has beside the public API, which it exports as it is: the host, and handles for what a caller on the other
 * side cannot make itself. src/wasm/exports.txt lists all exports.
 *
 * A module has one thread, so there is one error object; a call that fails has filled it. Counts and file positions pass as
 * doubles, which hold them up to 2^53. */
#ifndef WASM_GLUE_H
#define WASM_GLUE_H

#include <stddef.h>

#include "ald/commercial.h"
#include "ald/csv.h"
#include "ald/error.h"
#include "ald/io.h"
#include "ald/ipc.h"
#include "ald/jsonl.h"
#include "ald/license.h"
#include "ald/reader.h"
#include "ald/rewrite.h"
#include "ald/trust.h"
#include "ald/watermark.h"
#include "ald/writer.h"

#ifdef __wasm__
#define ALD_WASM_IMPORT(name) __attribute__((import_module("env"), import_name(name)))
#else
#define ALD_WASM_IMPORT(name)
#endif

/* The two imports, of the module `env`. */
ALD_WASM_IMPORT("host_random") int ald_wasm_import_random(void *buf, size_t size); /* 0: filled */
ALD_WASM_IMPORT("host_now_ms") double ald_wasm_import_now_ms(void); /* of 1970; NaN: unknown */

/* ---- memory and host */
void *ald_wasm_alloc(size_t size); /* NULL: no memory */
void ald_wasm_free(void *ptr);
const ald_host *ald_wasm_host(void);
ald_error *ald_wasm_error(void);
ald_status ald_wasm_no_memory(void);

/* ---- options of any call, set by name */
typedef struct ald_wasm_request {
    ald_load_options load;
    ald_trust trust;
    ald_save_options save;
    ald_protection protection;
    ald_license license;
    ald_revocations revocations;
    ald_rewrite_options rewrite;
    ald_csv_options csv;
    ald_csv_write_options csv_out;
    ald_jsonl_options jsonl;
    ald_jsonl_write_options jsonl_out;
    ald_ipc_options ipc_out;
    ald_watermark_options mark;
    ald_watermark_read_options reading;
    struct ald_wasm_blob *blobs; /* bytes that members point to */
    uint8_t has_license, has_revocations;
} ald_wasm_request;

ald_wasm_request *ald_wasm_request_new(void);
/* Wipes it and its bytes. */
void ald_wasm_request_free(ald_wasm_request *request);
/* Both: a name that there is not is ALD_E_INVALID_ARG. `data` comes from ald_wasm_alloc and is the request's from now on,
 * also on failure. */
ald_status ald_wasm_request_bytes(ald_wasm_request *request, const char *name, void *data,
                                  size_t size);
ald_status ald_wasm_request_number(ald_wasm_request *request, const char *name, double value);
/* Ready for use, with pointers between the parts. */
const ald_load_options *ald_wasm_request_load(ald_wasm_request *request);
const ald_save_options *ald_wasm_request_save(ald_wasm_request *request);
const ald_rewrite_options *ald_wasm_request_rewrite(ald_wasm_request *request);
ald_license *ald_wasm_request_license(ald_wasm_request *request);
const ald_watermark_options *ald_wasm_request_mark(ald_wasm_request *request);
const ald_watermark_read_options *ald_wasm_request_reading(ald_wasm_request *request);

/* ---- sources */
/* `data` comes from ald_wasm_alloc and is the source's. NULL: no memory, and `data` is freed. */
ald_source *ald_wasm_source_memory(void *data, size_t size);
/* A file whose bytes come piece by piece. A read of bytes that are not there fails with ALD_E_IO; ald_wasm_source_missing
 * then tells which, and the call is made again when they were supplied. */
ald_source *ald_wasm_source_remote(double size);
ald_status ald_wasm_source_supply(ald_source *source, double offset, void *data, size_t size);
/* The range that the last failed read asked for, as offset and size; NULL: none is missing. It is forgotten then. */
const double *ald_wasm_source_missing(ald_source *source);
/* Frees the pieces that lie at `begin` or behind it. */
void ald_wasm_source_forget(ald_source *source, double begin);
void ald_wasm_source_free(ald_source *source);

/* ---- keys under a passphrase */
/* `out` has as many bytes as asked for; numbers that ask for much time or memory are ALD_E_LIMIT_EXCEEDED. */
ald_status ald_wasm_scrypt(const uint8_t *passphrase, size_t passphrase_size, const uint8_t *salt,
                           size_t salt_size, uint32_t n, uint32_t r, uint32_t p, uint8_t *out,
                           size_t out_size);

/* ---- what calls write to */
struct ArrowArray *ald_wasm_array_new(void);
void ald_wasm_array_free(struct ArrowArray *array); /* released if need be */
struct ArrowArrayStream *ald_wasm_stream_new(void);
void ald_wasm_stream_free(struct ArrowArrayStream *stream);
ald_buffer *ald_wasm_buffer_new(void);
void ald_wasm_buffer_free(ald_buffer *buffer);

/* ---- facts */
/* The members of an ald_info as numbers, pointers included, in the order that info_row.c and bindings/js/src/info.js know. Valid
 * until the next call. */
const double *ald_wasm_info(const ald_info *info);

/* ---- batches out */
enum ald_wasm_format { ALD_WASM_CSV = 0, ALD_WASM_JSONL = 1, ALD_WASM_IPC = 2 };

/* Reads `batches` to its end and releases it. ALD_WASM_CSV or ALD_WASM_JSONL. */
ald_status ald_wasm_write(struct ArrowArrayStream *batches, int format, ald_wasm_request *request,
                          ald_buffer *out);

/* ---- the module that writes, too: src/wasm/writing */
ald_status ald_wasm_read(ald_source *source, int format, ald_wasm_request *request,
                         struct ArrowArrayStream *out);
ald_status ald_wasm_write_ipc(struct ArrowArrayStream *batches, ald_wasm_request *request,
                              ald_buffer *out);
ald_status ald_wasm_save(struct ArrowArrayStream *batches, ald_wasm_request *request,
                         ald_buffer *out);
ald_status ald_wasm_rewrite(ald_source *source, ald_wasm_request *request, ald_buffer *out);
/* The schema of a stream, as a handle; NULL: why is in the error. */
struct ArrowSchema *ald_wasm_stream_schema(struct ArrowArrayStream *stream);
void ald_wasm_schema_free(struct ArrowSchema *schema);
/* A table of `column_count` columns, filled one after the other. The buffers come from ald_wasm_alloc, and are the table's, also
 * on failure: validity (NULL: no nulls), then values, or offsets and bytes. ald_wasm_table_stream takes the table. */
struct ArrowArray *ald_wasm_table_new(uint32_t column_count, double row_count);
ald_status ald_wasm_table_column(struct ArrowArray *table, double null_count, void *validity,
                                 void *first, void *second);
void ald_wasm_table_free(struct ArrowArray *table); /* one that no stream took */
ald_status ald_wasm_table_stream(struct ArrowArray *table, const char *schema_json, size_t size,
                                 struct ArrowArrayStream *out);
/* The public key of a private one. */
ald_status ald_wasm_ed25519_public(const uint8_t *seed, uint8_t *public_key);
ald_status ald_wasm_x25519_public(const uint8_t *private_key, uint8_t *public_key);

#endif
