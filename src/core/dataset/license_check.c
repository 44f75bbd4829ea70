/* SPDX-License-Identifier: MIT */
/* A license: bound by the signature, not revoked, in force. */
#include <string.h>

#include "core/base/fail.h"
#include "core/crypto/digest.h"
#include "core/dataset/guard.h"

static ald_status check_commercial(const ald__file *f, ald_error *err)
{
    uint8_t flags = f->header.flags;
    const char *what = NULL;
    if (!(flags & ALD_FLAG_LICENSED))
        what = "the file has no license, and one is asked for";
    else if (!(flags & ALD_FLAG_SIGNED))
        what = "the file is not signed, so nothing proves its license";
    else if (f->facts.license_sha256.data == NULL)
        what = "the license is not bound by the signature, so nothing proves it";
    if (what == NULL)
        return ALD_OK;
    return ald__fail(err, ALD_E_SIGNATURE_INVALID, ALD_NO_OFFSET, "%s", what);
}

static ald_status check_license_hash(const ald__file *f, const ald_host *host, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES];
    ald__part block = {f->license_block, f->license_size};
    if (f->facts.license_sha256.data == NULL)
        return ALD_OK;
    ALD_TRY(ald__sha256(host, &block, 1, digest, err));
    if (memcmp(digest, f->facts.license_sha256.data, sizeof digest) != 0)
        return ald__fail(err, ALD_E_SIGNATURE_INVALID, f->sections.license.begin,
                         "the license block is not the one that was signed");
    return ALD_OK;
}

/* A list speaks of its signer's files only: anyone can write a list. */
static ald_status check_revoked(const ald__file *f, const ald_revocations *list, ald_error *err)
{
    const uint8_t *id = f->license.license_id;
    if (list == NULL || !(f->license.flags & ALD_LICENSE_REVOCABLE) ||
        !(f->header.flags & ALD_FLAG_SIGNED) ||
        memcmp(list->signer, f->signature + 64, sizeof list->signer) != 0)
        return ALD_OK;
    for (size_t i = 0; i < list->count; i++) {
        if (memcmp(list->ids + i * ALD_LICENSE_ID_BYTES, id, ALD_LICENSE_ID_BYTES) == 0)
            return ald__fail(err, ALD_E_LICENSE_REVOKED, f->sections.license.begin,
                             "the seller has revoked the license");
    }
    return ALD_OK;
}

typedef struct license_date {
    int year, month, day;
} license_date;

/* Of the proleptic Gregorian calendar, by years that begin in March. */
static license_date date_of(uint64_t unix_seconds)
{
    uint64_t days = unix_seconds / 86400u + 719468u;
    uint64_t era_day = days % 146097u;
    uint64_t year = (era_day - era_day / 1460u + era_day / 36524u - era_day / 146096u) / 365u;
    uint64_t year_day = era_day - (365u * year + year / 4u - year / 100u);
    uint64_t month = (5u * year_day + 2u) / 153u;
    license_date date;
    date.day = (int)(year_day - (153u * month + 2u) / 5u + 1u);
    date.month = (int)(month < 10u ? month + 3u : month - 9u);
    date.year = (int)(year + days / 146097u * 400u) + (date.month <= 2);
    return date;
}

static ald_status check_expiry(const ald__file *f, const ald_load_options *options,
                               const ald_host *host, ald_error *err)
{
    const ald_license *l = &f->license;
    int64_t now;
    if (options->ignore_expiry || !(l->flags & ALD_LICENSE_EXPIRATION_ENFORCED) ||
        l->expires_at == 0)
        return ALD_OK;
    now = host->now != NULL ? host->now(host->ctx) : INT64_MIN;
    if (now == INT64_MIN)
        return ald__fail(err, ALD_E_LICENSE_EXPIRED, f->sections.license.begin,
                         "the license expires and the time is unknown");
    if (now > 0 && (uint64_t)now > l->expires_at) {
        license_date end = date_of(l->expires_at);
        license_date today = date_of((uint64_t)now);
        return ald__fail(err, ALD_E_LICENSE_EXPIRED, f->sections.license.begin,
                         "the license expired on %04d-%02d-%02d, today is %04d-%02d-%02d (UTC)",
                         end.year, end.month, end.day, today.year, today.month, today.day);
    }
    return ALD_OK;
}

ald_status ald__check_license(const ald__file *f, const ald__settings *settings,
                              const ald_host *host, ald_error *err)
{
    if (settings->trust.commercial)
        ALD_TRY(check_commercial(f, err));
    if (!(f->header.flags & ALD_FLAG_LICENSED))
        return ALD_OK;
    ALD_TRY(check_license_hash(f, host, err));
    ALD_TRY(check_revoked(f, settings->trust.revocations, err));
    return check_expiry(f, &settings->load, host, err);
}
