/* SPDX-License-Identifier: MIT */
/* The content hash of a table (docs/FORMAT.md, F-450): the same for the same column names, types and values in the same
 * order, whatever file they come from and however its batches, dictionaries and runs are cut. */
#ifndef ALD_HASH_H
#define ALD_HASH_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

#define ALD_CONTENT_HASH_BYTES 32

/* A hash in the making. Not for two threads at once. */
typedef struct ald_content_hash ald_content_hash;

/* `schema` is that of all batches (a struct of columns); it may be released afterwards. The host lends BLAKE3. Memory is that
 * of the schema's nodes, some 8 KiB each, whatever comes in. */
ALD_API ALD_NODISCARD ald_status ald_content_hash_new(const struct ArrowSchema *schema,
                                                      const ald_host *host, ald_content_hash **out,
                                                      ald_error *err);
/* Takes the rows of a struct array, which must be a valid one (those of this library's readers are; others go through
 * ald_stream_validated). It stays the caller's. Columns are worked on side by side through host->run_tasks. */
ALD_API ALD_NODISCARD ald_status ald_content_hash_update(ald_content_hash *hash,
                                                         const struct ArrowArray *batch,
                                                         ald_error *err);
/* The hash of all rows. `columns` is NULL, or takes 32 bytes for each column: a hash of its type and values (not its name), to
 * tell which columns differ. Afterwards `hash` can only be freed. */
ALD_API ALD_NODISCARD ald_status ald_content_hash_finish(ald_content_hash *hash,
                                                         uint8_t digest[ALD_CONTENT_HASH_BYTES],
                                                         uint8_t *columns, ald_error *err);
/* NULL is fine. */
ALD_API void ald_content_hash_free(ald_content_hash *hash);

/* Appends T of F-452: the bytes that stand for a field's type. Two types whose bytes are the same hold the same values, however
 * they store them. */
ALD_API ALD_NODISCARD ald_status ald_content_type(const struct ArrowSchema *field,
                                                  const ald_host *host, ald_buffer *out,
                                                  ald_error *err);

/* A hash of the batches of a stream, which is read to its end and released (also on failure). `row_count` may be
 * NULL. */
ALD_API ALD_NODISCARD ald_status ald_content_hash_stream(struct ArrowArrayStream *batches,
                                                         const ald_host *host,
                                                         uint8_t digest[ALD_CONTENT_HASH_BYTES],
                                                         uint64_t *row_count, ald_error *err);

ALD_END_DECLS
#endif
