/* SPDX-License-Identifier: MIT */
/* Keys in memory: made, found, named. */
#define _GNU_SOURCE
#include <string.h>

#include "ald/crypto.h"
#include "native/crypto/libsodium.h"
#include "native/keys/key_set.h"
#include "native/keys/secret_pages.h"

ald_status ald__keys_new(ald_keys **out, ald_error *err)
{
    *out = ald__secret_pages_new(sizeof **out);
    if (*out == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for keys");
    return ALD_OK;
}

void ald_keys_free(ald_keys *keys)
{
    ald__secret_pages_free(keys, sizeof *keys);
}

size_t ald_keys_count(const ald_keys *keys)
{
    return keys->count;
}

const ald_key *ald_keys_get(const ald_keys *keys, size_t index)
{
    return index < keys->count ? &keys->items[index] : NULL;
}

const ald_key *ald_keys_find(const ald_keys *keys, uint32_t kind)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (keys->items[i].kind == kind)
            return &keys->items[i];
    }
    return NULL;
}

const char *ald_key_algorithm(const ald_key *key)
{
    return key->kind == ALD_KEY_SIGN ? "ed25519" : "x25519";
}

ald_status ald__key_derive_public(ald_key *key, const ald_host *host, ald_error *err)
{
    if (!ALD_CRYPTO_HAS(host->crypto, ed25519_public) ||
        !ALD_CRYPTO_HAS(host->crypto, x25519_public))
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "keys need cryptography that this host does not lend");
    return key->kind == ALD_KEY_SIGN
               ? host->crypto->ed25519_public(key->private_key, key->public_key, err)
               : host->crypto->x25519_public(key->private_key, key->public_key, err);
}

ald_status ald_keys_generate(uint32_t kinds, const ald_host *host, ald_keys **out, ald_error *err)
{
    ald_keys *keys = NULL;
    ald_status st;
    *out = NULL;
    if (kinds == 0 || (kinds & ~ALD_KEY_ALL) != 0)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "no such kind of key: %u",
                             kinds);
    if (host->random == NULL)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "new keys need randomness");
    st = ald__keys_new(&keys, err);
    for (uint32_t kind = ALD_KEY_SIGN; st == ALD_OK && kind <= ALD_KEY_RECEIVE; kind <<= 1) {
        ald_key *key = &keys->items[keys->count];
        if ((kinds & kind) == 0)
            continue;
        keys->count++;
        key->kind = (uint8_t)kind;
        key->is_private = 1;
        st = host->random(host->ctx, key->private_key, sizeof key->private_key, err);
        if (st == ALD_OK)
            st = ald__key_derive_public(key, host, err);
    }
    if (st != ALD_OK) {
        ald_keys_free(keys);
        return st;
    }
    *out = keys;
    return ALD_OK;
}

/* libsodium starts in a tenth of the time that libcrypto takes, and `info` hashes nothing else. */
static ald_status hash_key(const uint8_t public_key[ALD_KEY_BYTES], const ald_host *host,
                           uint8_t hash[ALD_SHA256_BYTES], ald_error *err)
{
    const ald_libsodium *sodium;
    void *state;
    ald_status st;
    if (ald__libsodium(&sodium, NULL) == ALD_OK) {
        (void)sodium->crypto_hash_sha256(hash, public_key, ALD_KEY_BYTES);
        return ALD_OK;
    }
    if (!ALD_CRYPTO_HAS(host->crypto, sha256_finish))
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "fingerprints need SHA-256, which this host does not lend");
    st = host->crypto->sha256_new(&host->alloc, &state, err);
    if (st != ALD_OK)
        return st;
    host->crypto->sha256_update(state, public_key, ALD_KEY_BYTES);
    host->crypto->sha256_finish(state, hash);
    return ALD_OK;
}

ald_status ald_key_fingerprint(const uint8_t public_key[ALD_KEY_BYTES], const ald_host *host,
                               char out[ALD_FINGERPRINT_BYTES], ald_error *err)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t hash[ALD_SHA256_BYTES];
    ald_status st;
    out[0] = '\0';
    st = hash_key(public_key, host, hash, err);
    if (st != ALD_OK)
        return st;
    for (size_t i = 0; i < sizeof hash; i++) {
        if (i > 0 && i % 4 == 0)
            *out++ = ':';
        *out++ = digits[hash[i] >> 4];
        *out++ = digits[hash[i] & 15u];
    }
    *out = '\0';
    return ALD_OK;
}
