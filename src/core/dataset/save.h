/* SPDX-License-Identifier: MIT */
/* A table on its way into a file: collected first, so that all sizes are known, then written. */
#ifndef CORE_DATASET_SAVE_H
#define CORE_DATASET_SAVE_H

#include "ald/crypto.h"
#include "ald/stream.h"
#include "ald/writer.h"
#include "core/arrow/ipc_write.h"
#include "core/dataset/save_stream.h"

typedef struct ald__kept {
    struct ArrowArray array;
    uint64_t bytes; /* as IPC */
} ald__kept;

typedef struct ald__saving {
    const ald_host *host;
    ald_save_options options; /* defaults filled in */
    ald__protecting protecting;
    struct ArrowSchema schema;
    uint64_t rows;
    uint64_t uncompressed; /* bytes of the payload's IPC stream */
    uint8_t sha256[ALD_SHA256_BYTES];

    /* The batches, kept; or, past options.memory_bytes, the IPC stream's bytes in a spool; or, once the layout is chunks,
     * nothing: they went on. */
    ald__kept *batches;
    size_t batch_count, batch_cap;
    ald_spool spool;
    int spooled;

    ald_sink sink;
    uint64_t row_count;       /* of the whole stream, or 0: not known */
    ald__stream_save *chunks; /* or NULL */
    ald_streaming *base;      /* its rows come first; NULL: there are none */
    ald__ipc_writer *writer;  /* of the collecting pass */
    void *hash;               /* SHA-256 under way, or NULL */
} ald__saving;

/* Reads the stream to its end. */
ALD_NODISCARD ald_status ald__saving_collect(ald__saving *saving, struct ArrowArrayStream *stream,
                                             ald_error *err);
/* Emits the whole IPC stream: `uncompressed` bytes. */
ALD_NODISCARD ald_status ald__saving_emit(ald__saving *saving, const ald__emit *emit,
                                          ald_error *err);
/* Header to CRC32. */
ALD_NODISCARD ald_status ald__saving_write(ald__saving *saving, const ald_sink *sink,
                                           ald_error *err);

#endif
