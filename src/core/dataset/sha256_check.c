/* SPDX-License-Identifier: MIT */
/* The metadata's sha256: over what the payload decompresses to. */
#include <string.h>

#include "core/base/fail.h"
#include "core/crypto/digest.h"
#include "core/dataset/whole.h"

static int hex_value(char c)
{
    char low = (char)(c | 0x20);
    return c <= '9' ? c - '0' : low - 'a' + 10;
}

ald_status ald__sha256_check_begin(ald__sha256_check *check, const ald__file *f,
                                   const ald_host *host, ald_error *err)
{
    const ald_value *v = ald_value_find(f->tree, "sha256");
    memset(check, 0, sizeof *check);
    check->file = f;
    check->host = host;
    check->wanted = v != NULL && ald_value_get_type(v) == ALD_VALUE_STRING;
    if (!check->wanted)
        return ALD_OK;
    if (!ALD__HAS_SHA256(host->crypto))
        return ald__no_crypto("SHA-256", err);
    return host->crypto->sha256_new(&host->alloc, &check->state, err);
}

void ald__sha256_check_update(ald__sha256_check *check, const void *data, size_t size)
{
    check->host->crypto->sha256_update(check->state, data, size);
}

ald_status ald__sha256_check_end(ald__sha256_check *check, ald_status status, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES], wrong = 0;
    size_t size;
    const char *hex;
    check->host->crypto->sha256_finish(check->state, status == ALD_OK ? digest : NULL);
    if (status != ALD_OK)
        return status;
    /* 64 digits: checked with the metadata */
    hex = ald_value_get_bytes(ald_value_find(check->file->tree, "sha256"), &size);
    for (size_t i = 0; i < sizeof digest; i++)
        wrong |= (uint8_t)(digest[i] ^ (hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1])));
    if (wrong != 0)
        return ald__fail(err, ALD_E_CHECKSUM_MISMATCH, check->file->sections.payload.begin,
                         "SHA-256 of the decompressed payload is not the one in the metadata");
    return ALD_OK;
}

ald_status ald__check_sha256(const ald__file *f, const ald__shared *payload, const ald_host *host,
                             ald_error *err)
{
    ald__sha256_check check;
    ald_status st = ald__sha256_check_begin(&check, f, host, err);
    if (st != ALD_OK || !check.wanted)
        return st;
    ald__sha256_check_update(&check, ald__shared_data(payload), ald__shared_size(payload));
    return ald__sha256_check_end(&check, ALD_OK, err);
}
