/* SPDX-License-Identifier: MIT */
#include "ald/commercial.h"
#include "core/base/fail.h"
#include "core/dataset/settings.h"

/* A sale is by a known seller and for a time: what loosens these checks for others does not count here. */
ald_status ald_load_commercial(const ald_source *source, const ald_load_options *options,
                               const ald_host *host, ald_dataset **out, ald_error *err)
{
    ald__settings settings;
    *out = NULL;
    ALD_TRY(ald__settings_take(&settings, options, err));
    if (settings.trust.trusted_count == 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "commercial loading needs the seller's public key");
    settings.trust.commercial = 1;
    settings.trust.allow_untrusted = settings.trust.allow_unsigned = 0;
    settings.load.ignore_expiry = 0;
    return ald_load(source, &settings.load, host, out, err);
}
