/* SPDX-License-Identifier: MIT */
/* New licenses, and the bytes that stand for one in a file. */
#include "core/dataset/license.h"
#include "core/crypto/digest.h"

#include <string.h>

#include "ald/crypto.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/utf8_step.h"
#include "core/container/file.h"

#define FLAGS_KNOWN 0x3Fu

static int is_utf8(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t step = ald__utf8_step((const uint8_t *)text + i, size - i);
        if (step == 0)
            return 0;
        i += step;
    }
    return 1;
}

ald_status ald__license_encode(const ald_license *l, ald_buffer *out, ald_error *err)
{
    uint8_t bytes[ALD__LICENSE_FIXED_BYTES];
    if (l->flags & ~FLAGS_KNOWN)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no license flags %02x", l->flags);
    if (l->terms_size > UINT32_MAX || (l->terms_size > 0 && l->terms == NULL) ||
        !is_utf8(l->terms, l->terms_size))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the license terms are too long or not UTF-8");
    memcpy(bytes, l->license_id, ALD_LICENSE_ID_BYTES);
    memcpy(bytes + 16, l->licensee_hash, 32);
    ald__store_le64(bytes + 48, l->issued_at);
    ald__store_le64(bytes + 56, l->expires_at);
    bytes[64] = l->flags;
    ald__store_le16(bytes + 65, l->seat_limit);
    ald__store_le32(bytes + 67, l->query_limit);
    ald__store_le32(bytes + 71, (uint32_t)l->terms_size);
    ALD_TRY(ald__buffer_append(out, bytes, sizeof bytes, err));
    return ald__buffer_append(out, l->terms, l->terms_size, err);
}

ald_status ald_license_hash_licensee(const char *name, size_t name_size, const ald_host *host,
                                     uint8_t out[32], ald_error *err)
{
    void *state = NULL;
    if (name_size == 0 || !is_utf8(name, name_size))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "a licensee's name is not empty, and UTF-8");
    if (!ALD__HAS_SHA256(host->crypto))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no SHA-256");
    ALD_TRY(host->crypto->sha256_new(&host->alloc, &state, err));
    host->crypto->sha256_update(state, name, name_size);
    host->crypto->sha256_finish(state, out);
    return ALD_OK;
}

ald_status ald_license_init(ald_license *license, const char *licensee, size_t licensee_size,
                            const ald_host *host, ald_error *err)
{
    ald_license l;
    int64_t now = host->now != NULL ? host->now(host->ctx) : INT64_MIN;
    memset(license, 0, sizeof *license);
    memset(&l, 0, sizeof l);
    if (now < 0)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "a license says when it was issued, and the host has no clock");
    if (host->random == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no randomness");
    ALD_TRY(ald_license_hash_licensee(licensee, licensee_size, host, l.licensee_hash, err));
    ALD_TRY(host->random(host->ctx, l.license_id, sizeof l.license_id, err));
    l.license_id[6] = (uint8_t)((l.license_id[6] & 0x0F) | 0x40); /* a UUID of version 4 */
    l.license_id[8] = (uint8_t)((l.license_id[8] & 0x3F) | 0x80);
    l.issued_at = (uint64_t)now;
    *license = l;
    return ALD_OK;
}
