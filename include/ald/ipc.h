/* SPDX-License-Identifier: MIT */
/* Arrow IPC files (.arrow, .feather = Feather V2) and streams (.arrows). */
#ifndef ALD_IPC_H
#define ALD_IPC_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

typedef enum ald_ipc_kind { ALD_IPC_AUTO = 0, ALD_IPC_FILE = 1, ALD_IPC_STREAM = 2 } ald_ipc_kind;

/* Reads either form: metadata V4 and V5, streams before 0.15, zstd and LZ4 buffers, dictionary replacement and delta.
 * All is validated before it is released. `source` must stay open until the stream is released; it is copied. Batches
 * are read one at a time. */
ALD_API ALD_NODISCARD ald_status ald_ipc_open(const ald_source *source, ald_ipc_kind kind,
                                              const ald_host *host, struct ArrowArrayStream *out,
                                              ald_error *err);

typedef struct ald_ipc_options {
    uint32_t struct_size;
    uint8_t kind;        /* ALD_IPC_FILE or ALD_IPC_STREAM */
    uint8_t compression; /* of buffers: ALD_COMPRESSION_NONE, _ZSTD_L3 or _LZ4 */
    uint8_t reserved[2];
} ald_ipc_options;

#define ALD_IPC_OPTIONS_INIT {sizeof(ald_ipc_options), 2, 0, {0, 0}}

/* Reads `batches` to its end, releases it (also on failure). */
ALD_API ALD_NODISCARD ald_status ald_ipc_write(struct ArrowArrayStream *batches,
                                               const ald_sink *sink, const ald_ipc_options *options,
                                               const ald_host *host, ald_error *err);

ALD_END_DECLS
#endif
