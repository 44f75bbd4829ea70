/* SPDX-License-Identifier: MIT */
/* A sale in one call: the values are marked for the buyer, then saved encrypted, licensed and signed. */
#include <string.h>

#include "ald/commercial.h"
#include "core/base/caller_options.h"
#include "core/base/fail.h"
#include "core/dataset/protect.h"

typedef struct package {
    ald_save_options save;
    ald_protection protection;
    ald_license license;
} package;

static ald_status package_take(package *p, const ald_save_options *given, int is_marked,
                               ald_error *err)
{
    static const ald_save_options defaults = ALD_SAVE_OPTIONS_INIT;
    p->save = defaults;
    ALD_TRY(ald__options_take(&p->save, sizeof p->save, offsetof(ald_save_options, memory_bytes),
                              given, "ald_save_options", err));
    ALD_TRY(ald__protection_take(p->save.protection, 0, &p->protection, err));
    if (p->protection.license == NULL || p->protection.signer_seed == NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "what is sold has a license and is signed");
    p->license = *p->protection.license;
    if (is_marked)
        p->license.flags |= ALD_LICENSE_WATERMARKED;
    p->protection.license = &p->license;
    p->save.protection = &p->protection;
    return ALD_OK;
}

ald_status ald_package_commercial(struct ArrowArrayStream *batches, const ald_sink *sink,
                                  const ald_save_options *save, const ald_watermark_hook *watermark,
                                  const ald_host *host, ald_error *err)
{
    package p;
    ald_status st;
    memset(&p, 0, sizeof p);
    st = package_take(&p, save, watermark != NULL, err);
    if (st == ALD_OK && watermark != NULL)
        st = watermark->mark(watermark->ctx, batches, host, err);
    if (st == ALD_OK)
        return ald_save(batches, sink, &p.save, host, err);
    if (batches->release != NULL)
        batches->release(batches);
    return st;
}
