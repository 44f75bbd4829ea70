/* SPDX-License-Identifier: MIT */
/* Arrow C streams made and read by this library: how errors pass through an interface that has only errno. */
#ifndef ALD_STREAM_H
#define ALD_STREAM_H

#include <stddef.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

/* What a producer of batches implements. */
typedef struct ald_stream_impl {
    /* Writes a schema that the caller releases. */
    ald_status (*schema)(void *ctx, struct ArrowSchema *out, ald_error *err);
    /* The next batch, or an array with `release` NULL at the end. After a failure it is not called again. */
    ald_status (*next)(void *ctx, struct ArrowArray *out, ald_error *err);
    void (*free)(void *ctx);
    void *ctx;
    uint64_t row_count; /* of all batches, where it is known beforehand; 0: not known */
} ald_stream_impl;

/* Wraps `impl` as an ArrowArrayStream; the stream owns impl->ctx, also when this fails (it is then freed). get_next
 * returns an errno code (EINVAL, ENOMEM, EIO), get_last_error "Name: message". */
ALD_API ALD_NODISCARD ald_status ald_stream_new(const ald_stream_impl *impl,
                                                const ald_allocator *alloc,
                                                struct ArrowArrayStream *out, ald_error *err);

/* get_schema and get_next with the producer's own status and message where the stream is one of ald_stream_new; for
 * others ALD_E_IO with the stream's text. At the end of the stream *out has `release` NULL. */
ALD_API ALD_NODISCARD ald_status ald_stream_schema(struct ArrowArrayStream *stream,
                                                   struct ArrowSchema *out, ald_error *err);
ALD_API ALD_NODISCARD ald_status ald_stream_next(struct ArrowArrayStream *stream,
                                                 struct ArrowArray *out, ald_error *err);

/* Rows of all batches of a stream of this library that knows them beforehand; else 0. */
ALD_API uint64_t ald_stream_row_count(const struct ArrowArrayStream *stream);

/* Batches of another producer, validated in full (offsets, indices, UTF-8, nulls) before each is handed on, and the UTF-8 of
 * the schema's names, else ALD_E_INVALID_FORMAT. `from` is moved into the stream (also on failure it is released). */
ALD_API ALD_NODISCARD ald_status ald_stream_validated(struct ArrowArrayStream *from,
                                                      const ald_host *host,
                                                      struct ArrowArrayStream *out, ald_error *err);

/* A stream over one schema and `batch_count` struct arrays; all are moved into it (also on failure they are released). */
ALD_API ALD_NODISCARD ald_status ald_stream_from_batches(struct ArrowSchema *schema,
                                                         struct ArrowArray *batches,
                                                         size_t batch_count, const ald_host *host,
                                                         struct ArrowArrayStream *out,
                                                         ald_error *err);

ALD_END_DECLS
#endif
