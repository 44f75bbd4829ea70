/* SPDX-License-Identifier: MIT */
#include "core/crypto/digest.h"

#include <string.h>

#include "core/base/fail.h"

#define INFO_MAX 200u

ald_status ald__no_crypto(const char *what, ald_error *err)
{
    return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no %s", what);
}

ald_status ald__not_opened(ald_error *err)
{
    return ald__fail(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s", ALD_DECRYPTION_FAILED_TEXT);
}

ald_status ald__sha256(const ald_host *host, const ald__part *parts, size_t count,
                       uint8_t digest[ALD_SHA256_BYTES], ald_error *err)
{
    const ald_crypto *c = host->crypto;
    void *state = NULL;
    if (!ALD__HAS_SHA256(c))
        return ald__no_crypto("SHA-256", err);
    ALD_TRY(c->sha256_new(&host->alloc, &state, err));
    for (size_t i = 0; i < count; i++)
        c->sha256_update(state, parts[i].data, parts[i].size);
    c->sha256_finish(state, digest);
    return ALD_OK;
}

ald_status ald__blake3(const ald_host *host, const ald__part *parts, size_t count,
                       uint8_t digest[ALD_BLAKE3_BYTES], ald_error *err)
{
    const ald_crypto *c = host->crypto;
    void *state = NULL;
    if (!ALD__HAS_BLAKE3(c))
        return ald__no_crypto("BLAKE3", err);
    ALD_TRY(c->blake3_new(&host->alloc, NULL, &state, err));
    for (size_t i = 0; i < count; i++)
        c->blake3_update(state, parts[i].data, parts[i].size);
    c->blake3_finish(state, digest);
    return ALD_OK;
}

ald_status ald__hkdf(const ald_host *host, const uint8_t ikm[32], const char *label,
                     const void *more, size_t more_size, uint8_t out[32], ald_error *err)
{
    uint8_t info[INFO_MAX];
    size_t size = strlen(label);
    if (!ALD_CRYPTO_HAS(host->crypto, hkdf_sha256))
        return ald__no_crypto("HKDF", err);
    if (size > INFO_MAX || more_size > INFO_MAX - size)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "too much to derive a key from");
    memcpy(info, label, size);
    if (more_size > 0)
        memcpy(info + size, more, more_size);
    return host->crypto->hkdf_sha256(ikm, 32, info, size + more_size, out, 32, err);
}

ald_status ald__random(const ald_host *host, void *out, size_t size, ald_error *err)
{
    if (host->random == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no random bytes");
    return host->random(host->ctx, out, size, err);
}
