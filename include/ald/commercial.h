/* SPDX-License-Identifier: MIT */
/* Selling a dataset: everything in one call, in the order watermark, encrypt, license, sign. */
#ifndef ALD_COMMERCIAL_H
#define ALD_COMMERCIAL_H

#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/reader.h"
#include "ald/trust.h"
#include "ald/writer.h"

ALD_BEGIN_DECLS

/* Marks the values for one buyer: replaces *batches by a stream with the same schema and rows. On failure *batches is
 * released. The license then gets ALD_LICENSE_WATERMARKED. */
typedef struct ald_watermark_hook {
    ald_status (*mark)(void *ctx, struct ArrowArrayStream *batches, const ald_host *host,
                       ald_error *err);
    void *ctx;
} ald_watermark_hook;

/* ald_save with what a sale needs: `save->protection` must have a license and a signer, else ALD_E_INVALID_ARG. `watermark`
 * may be NULL. */
ALD_API ALD_NODISCARD ald_status ald_package_commercial(struct ArrowArrayStream *batches,
                                                        const ald_sink *sink,
                                                        const ald_save_options *save,
                                                        const ald_watermark_hook *watermark,
                                                        const ald_host *host, ald_error *err);

/* ald_load of such a file: signed by one of trust->trusted_keys (at least one is required), license bound by the signature,
 * in force now. The license is ald_dataset_info(*out)->license. */
ALD_API ALD_NODISCARD ald_status ald_load_commercial(const ald_source *source,
                                                     const ald_load_options *options,
                                                     const ald_host *host, ald_dataset **out,
                                                     ald_error *err);

ALD_END_DECLS
#endif
