/* SPDX-License-Identifier: MIT */
#include "core/dataset/settings.h"

#include <string.h>

#include "core/base/caller_options.h"
#include "core/base/fail.h"
#include "core/crypto/digest.h"
#include "core/crypto/file_key.h"

/* The first version's structs ended before cache_bytes, and with all of ald_trust. */
#define LOAD_LEAST offsetof(ald_load_options, cache_bytes)
#define TRUST_LEAST sizeof(ald_trust)

static ald_status check_lists(const ald_trust *t, ald_error *err)
{
    if ((t->trusted_keys == NULL && t->trusted_count > 0) ||
        (t->private_keys == NULL && t->private_count > 0) ||
        (t->revocations != NULL && t->revocations->ids == NULL && t->revocations->count > 0))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "ald_trust counts keys that are not there");
    return ALD_OK;
}

ald_status ald__settings_take(ald__settings *out, const ald_load_options *given, ald_error *err)
{
    static const ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    static const ald_trust trust = ALD_TRUST_INIT;
    out->load = load;
    out->trust = trust;
    if (given != NULL && given->struct_size % sizeof(void *) != 0) /* half of a pointer */
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "ald_load_options.struct_size is %u, which no version had",
                         given->struct_size);
    ALD_TRY(ald__options_take(&out->load, sizeof out->load, LOAD_LEAST, given, "ald_load_options",
                              err));
    ALD_TRY(ald__options_take(&out->trust, sizeof out->trust, TRUST_LEAST, out->load.trust,
                              "ald_trust", err));
    out->load.trust = &out->trust;
    return check_lists(&out->trust, err);
}

typedef struct own_keys {
    const ald_trust *trust;
    const ald_host *host;
} own_keys;

static ald_status is_ours(void *ctx, const uint8_t wanted[8], int *ours, ald_error *err)
{
    const own_keys *own = ctx;
    const ald_crypto *crypto = own->host->crypto;
    uint8_t public_key[ALD_X25519_BYTES], hash[ALD__RECIPIENT_HASH_BYTES];
    *ours = 0;
    if (!ALD_CRYPTO_HAS(crypto, x25519_public))
        return ald__no_crypto("X25519", err);
    for (size_t i = 0; i < own->trust->private_count; i++) {
        const uint8_t *key = own->trust->private_keys + i * ALD_X25519_BYTES;
        ALD_TRY(crypto->x25519_public(key, public_key, err));
        ALD_TRY(ald__recipient_hash(own->host, public_key, hash, err));
        *ours |= memcmp(hash, wanted, sizeof hash) == 0;
    }
    return ALD_OK;
}

ald_status ald__settings_open(const ald__settings *settings, const ald_source *source,
                              ald__file_checks checks, const ald_host *host, ald__file *file,
                              ald_error *err)
{
    own_keys own = {&settings->trust, host};
    ald__recipient_test test = {is_ours, &own};
    return ald__file_open_as(file, source, settings->load.limits.metadata_bytes, checks,
                             settings->trust.private_count > 0 ? &test : NULL, &host->alloc, err);
}
