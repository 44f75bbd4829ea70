/* SPDX-License-Identifier: MIT */
/* Seeking the file key: every way to fail looks the same from outside. */
#include "core/crypto/file_key.h"

#include <string.h>

#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"
#include "core/crypto/wrap.h"

/* F-211 */
#define M_KIB_MAX 1048576u
#define T_MAX 16u
#define M_T_MAX 4194304u

#define RECIPIENT_HASH_AT 33u
#define SEVERAL_EPHEMERAL_AT 3u

ald_status ald__key_commit(const ald_host *host, const uint8_t key[ALD__KEY_BYTES],
                           uint8_t commit[ALD__COMMIT_BYTES], ald_error *err)
{
    return ald__hkdf(host, key, "ald-v1-commit", NULL, 0, commit, err);
}

ald_status ald__recipient_hash(const ald_host *host, const uint8_t public_key[ALD_X25519_BYTES],
                               uint8_t hash[ALD__RECIPIENT_HASH_BYTES], ald_error *err)
{
    ald__part part = {public_key, ALD_X25519_BYTES};
    uint8_t digest[ALD_SHA256_BYTES];
    ALD_TRY(ald__sha256(host, &part, 1, digest, err));
    memcpy(hash, digest, ALD__RECIPIENT_HASH_BYTES);
    return ALD_OK;
}

const uint8_t *ald__block_nonce(const uint8_t *block, size_t size)
{
    switch (block[0]) {
    case 0:
        return block + 1 + ALD_ARGON2_SALT_BYTES;
    case 1:
        return block + size - ALD_GCM_NONCE_BYTES;
    default:
        return block + SEVERAL_EPHEMERAL_AT + ALD_X25519_BYTES;
    }
}

/* ---- password */

ald_status ald__kdf_check(const ald__kdf *kdf, ald_error *err)
{
    if (kdf->m > M_KIB_MAX || kdf->t > T_MAX || kdf->p != 1 || kdf->m * kdf->t > M_T_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "Argon2id with m = %llu KiB, t = %llu, p = %llu; at most m = %u KiB, t = "
                         "%u, p = 1 and 4 GiB in all are accepted",
                         (unsigned long long)kdf->m, (unsigned long long)kdf->t,
                         (unsigned long long)kdf->p, M_KIB_MAX, T_MAX);
    return ALD_OK;
}

ald_status ald__key_of_password(const ald_host *host, const void *password, size_t size,
                                const uint8_t *salt, const ald__kdf *kdf,
                                uint8_t key[ALD__KEY_BYTES], ald_error *err)
{
    ALD_TRY(ald__kdf_check(kdf, err));
    if (!ALD_CRYPTO_HAS(host->crypto, argon2id))
        return ald__no_crypto("Argon2id", err);
    return host->crypto->argon2id(password, size, salt, (uint32_t)kdf->m, (uint32_t)kdf->t, 1, key,
                                  ALD__KEY_BYTES, err);
}

/* ---- private keys */

/* Of a private key's own public one. */
static ald_status own_hash(const ald_host *host, const uint8_t *private_key, uint8_t public_key[32],
                           uint8_t hash[ALD__RECIPIENT_HASH_BYTES], ald_error *err)
{
    if (!ALD__HAS_X25519(host->crypto))
        return ald__no_crypto("X25519", err);
    ALD_TRY(host->crypto->x25519_public(private_key, public_key, err));
    return ald__recipient_hash(host, public_key, hash, err);
}

static ald_status of_recipient(const ald__key_search *s, uint8_t key[ALD__KEY_BYTES],
                               ald_error *err)
{
    const uint8_t *private_key = s->private_keys + s->key * ALD_X25519_BYTES;
    uint8_t public_key[ALD_X25519_BYTES], hash[ALD__RECIPIENT_HASH_BYTES];
    uint8_t shared[ALD_X25519_BYTES];
    ald_status st;
    ALD_TRY(own_hash(s->host, private_key, public_key, hash, err));
    if (s->block_size == ALD__BLOCK_RECIPIENT_BYTES &&
        memcmp(hash, s->block + RECIPIENT_HASH_AT, sizeof hash) != 0)
        return ald__not_opened(err);
    st = s->host->crypto->x25519(private_key, s->block + 1, shared, err);
    if (st == ALD_OK)
        st = ald__hkdf(s->host, shared, "ald-v1-encrypt", NULL, 0, key, err);
    ald__wipe(shared, sizeof shared);
    return st;
}

/* The next entry with this private key's name that opens; s->entry is left behind it. */
static ald_status of_several(ald__key_search *s, uint8_t key[ALD__KEY_BYTES], ald_error *err)
{
    const uint8_t *private_key = s->private_keys + s->key * ALD_X25519_BYTES;
    size_t count = (s->block_size - ALD__BLOCK_SEVERAL_BYTES) / ALD__WRAPPED_BYTES;
    uint8_t public_key[ALD_X25519_BYTES], hash[ALD__RECIPIENT_HASH_BYTES];
    if (count > ALD__RECIPIENTS_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "%zu recipients, at most %u are accepted", count, ALD__RECIPIENTS_MAX);
    ALD_TRY(own_hash(s->host, private_key, public_key, hash, err));
    while (s->entry < count) {
        const uint8_t *e = s->block + ALD__BLOCK_SEVERAL_BYTES + s->entry++ * ALD__WRAPPED_BYTES;
        ald_status st;
        if (memcmp(hash, e, sizeof hash) != 0)
            continue;
        st = ald__unwrap(s->host, private_key, public_key, s->block + SEVERAL_EPHEMERAL_AT,
                         e + sizeof hash, key, err);
        if (st != ALD_E_DECRYPTION_FAILED)
            return st;
    }
    return ald__not_opened(err);
}

/* ---- the search */

static ald_status candidate(ald__key_search *s, uint8_t key[ALD__KEY_BYTES], ald_error *err)
{
    ald_status st;
    if (s->block[0] == 0) {
        if (s->password == NULL || s->key++ > 0)
            return ald__not_opened(err);
        return ald__key_of_password(s->host, s->password, s->password_size, s->block + 1, &s->kdf,
                                    key, err);
    }
    for (; s->key < s->private_count; s->key++, s->entry = 0) {
        if (s->block[0] == 1)
            st = s->entry++ > 0 ? ald__not_opened(err) : of_recipient(s, key, err);
        else
            st = of_several(s, key, err);
        if (st != ALD_E_DECRYPTION_FAILED)
            return st;
    }
    return ald__not_opened(err);
}

static ald_status fits_commit(const ald__key_search *s, const uint8_t key[ALD__KEY_BYTES],
                              ald_error *err)
{
    uint8_t commit[ALD__COMMIT_BYTES];
    if (s->commit == NULL)
        return ALD_OK;
    ALD_TRY(ald__key_commit(s->host, key, commit, err));
    return ald__equal_ct(commit, s->commit, sizeof commit) ? ALD_OK : ald__not_opened(err);
}

ald_status ald__key_search_next(ald__key_search *s, uint8_t key[ALD__KEY_BYTES], ald_error *err)
{
    ald_status st;
    do {
        ALD_TRY(candidate(s, key, err));
        st = fits_commit(s, key, err);
        if (st != ALD_OK)
            ald__wipe(key, ALD__KEY_BYTES);
    } while (st == ALD_E_DECRYPTION_FAILED);
    return st;
}

int ald__key_search_is_open(const ald__key_search *s)
{
    if (s->commit != NULL || s->block[0] == 0)
        return 0;
    return s->block[0] == 2 || s->private_count > 1;
}
