/* SPDX-License-Identifier: MIT */
/* Rows behind those of a file, whose chunks stay as they are stored. */
#ifndef ALD_APPEND_H
#define ALD_APPEND_H

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/streaming.h"
#include "ald/writer.h"

ALD_BEGIN_DECLS

/* Writes one .ald: the rows of `base`, then those of `batches`, which is released in any case; ALD_E_SCHEMA_MISMATCH when
 * their columns are not those of `base`. `options` are those of ald_save for the new file: nothing of `base` is kept but its
 * schema and rows, so metadata and license are passed here. The new file is STREAMING.
 *
 * Chunks are copied without being decompressed when compression is that of `base`, neither file is aligned, there is no
 * options->write_sha256, and the schema section of `base` is as this library writes it; each is compared with the seal, or
 * opened, where `base` is signed or encrypted. Otherwise its rows are decoded and written anew. `base` was opened with
 * check_all where the whole file has to be right. */
ALD_API ALD_NODISCARD ald_status ald_append(ald_streaming *base, struct ArrowArrayStream *batches,
                                            const ald_sink *sink, const ald_save_options *options,
                                            const ald_host *host, ald_error *err);

ALD_END_DECLS
#endif
