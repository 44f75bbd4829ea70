/* SPDX-License-Identifier: MIT */
/* A new file key and the block from which its readers find it. Nothing in a block is ever used twice (F-216, F-229). */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"
#include "core/crypto/wrap.h"

static const ald__kdf kdf_default = ALD__KDF_DEFAULT;

ald__kdf ald__protection_kdf(const ald_protection *protection)
{
    ald__kdf kdf = kdf_default;
    if (protection->kdf_m_kib != 0)
        kdf.m = protection->kdf_m_kib;
    if (protection->kdf_t != 0)
        kdf.t = protection->kdf_t;
    return kdf;
}

int ald__kdf_is_default(const ald__kdf *kdf)
{
    return kdf->m == kdf_default.m && kdf->t == kdf_default.t && kdf->p == kdf_default.p;
}

/* ---- password */

static ald_status check_password(const ald_protection *p, const ald__kdf *kdf, ald_error *err)
{
    if (p->password == NULL || p->password_size == 0 || p->password_size > ALD__PASSWORD_MAX)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "a password of %zu bytes, expected 1 to %u",
                         p->password == NULL ? (size_t)0 : p->password_size, ALD__PASSWORD_MAX);
    if (kdf->m < kdf_default.m || kdf->t < kdf_default.t)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "Argon2id with m = %llu KiB, t = %llu is weaker than the default",
                         (unsigned long long)kdf->m, (unsigned long long)kdf->t);
    if (ald__kdf_check(kdf, err) != ALD_OK)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "Argon2id with m = %llu KiB, t = %llu is more than readers accept",
                         (unsigned long long)kdf->m, (unsigned long long)kdf->t);
    return ALD_OK;
}

static ald_status new_password(const ald_host *host, const ald_protection *p,
                               uint8_t key[ALD__KEY_BYTES], ald_buffer *block, ald_error *err)
{
    ald__kdf kdf = ald__protection_kdf(p);
    uint8_t bytes[ALD__BLOCK_PASSWORD_BYTES] = {0};
    ALD_TRY(check_password(p, &kdf, err));
    ALD_TRY(ald__random(host, bytes + 1, sizeof bytes - 1, err));
    ALD_TRY(ald__key_of_password(host, p->password, p->password_size, bytes + 1, &kdf, key, err));
    return ald__buffer_append(block, bytes, sizeof bytes, err);
}

/* ---- recipients */

static ald_status new_ephemeral(const ald_host *host, uint8_t private_key[32],
                                uint8_t public_key[32], ald_error *err)
{
    if (!ALD__HAS_X25519(host->crypto))
        return ald__no_crypto("X25519", err);
    ALD_TRY(ald__random(host, private_key, ALD_X25519_BYTES, err));
    return host->crypto->x25519_public(private_key, public_key, err);
}

/* X25519 gives zeros with every key of small order, and with no other. */
static ald_status name_bad_recipient(ald_status st, size_t index, ald_error *err)
{
    if (st != ALD_E_DECRYPTION_FAILED)
        return st;
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                     "recipient %zu is no public key that one can encrypt to", index + 1);
}

static ald_status check_recipients(const uint8_t *recipients, size_t count, size_t most,
                                   ald_error *err)
{
    if (recipients == NULL || count == 0 || count > most)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         most == 1 ? "%zu recipients, expected %zu"
                                   : "%zu recipients, expected 1 to %zu",
                         recipients == NULL ? (size_t)0 : count, most);
    return ALD_OK;
}

static ald_status new_recipient(const ald_host *host, const ald_protection *p, int crate,
                                uint8_t key[ALD__KEY_BYTES], ald_buffer *block, ald_error *err)
{
    uint8_t bytes[ALD__BLOCK_RECIPIENT_BYTES] = {1}, secret[32], shared[32];
    size_t size = crate ? ALD__BLOCK_CRATE_BYTES : ALD__BLOCK_RECIPIENT_BYTES;
    ald_status st;
    ALD_TRY(check_recipients(p->recipients, p->recipient_count, 1, err));
    st = new_ephemeral(host, secret, bytes + 1, err);
    if (st == ALD_OK)
        st = name_bad_recipient(host->crypto->x25519(secret, p->recipients, shared, err), 0, err);
    if (st == ALD_OK)
        st = ald__hkdf(host, shared, "ald-v1-encrypt", NULL, 0, key, err);
    ald__wipe(secret, sizeof secret);
    ald__wipe(shared, sizeof shared);
    if (st == ALD_OK && !crate)
        st = ald__recipient_hash(host, p->recipients, bytes + 33, err);
    if (st == ALD_OK)
        st = ald__random(host, bytes + size - ALD_GCM_NONCE_BYTES, ALD_GCM_NONCE_BYTES, err);
    return st == ALD_OK ? ald__buffer_append(block, bytes, size, err) : st;
}

static ald_status wrap_all(const ald_host *host, const uint8_t secret[32],
                           const uint8_t ephemeral[32], const uint8_t key[ALD__KEY_BYTES],
                           const uint8_t *recipients, size_t count, ald_buffer *block,
                           ald_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *recipient = recipients + i * ALD_X25519_BYTES;
        uint8_t entry[ALD__WRAPPED_BYTES];
        ALD_TRY(ald__recipient_hash(host, recipient, entry, err));
        ALD_TRY(name_bad_recipient(ald__wrap(host, secret, ephemeral, recipient, key,
                                             entry + ALD__RECIPIENT_HASH_BYTES, err),
                                   i, err));
        ALD_TRY(ald__buffer_append(block, entry, sizeof entry, err));
    }
    return ALD_OK;
}

ald_status ald__file_key_wrap(const ald_host *host, const uint8_t key[ALD__KEY_BYTES],
                              const uint8_t nonce[ALD_GCM_NONCE_BYTES], const uint8_t *recipients,
                              size_t count, ald_buffer *block, ald_error *err)
{
    uint8_t head[ALD__BLOCK_SEVERAL_BYTES] = {2}, secret[32];
    ald_status st;
    ALD_TRY(check_recipients(recipients, count, ALD__RECIPIENTS_MAX, err));
    ald__store_le16(head + 1, (uint16_t)count);
    st = new_ephemeral(host, secret, head + 3, err);
    memcpy(head + 3 + ALD_X25519_BYTES, nonce, ALD_GCM_NONCE_BYTES);
    if (st == ALD_OK)
        st = ald__buffer_append(block, head, sizeof head, err);
    if (st == ALD_OK)
        st = wrap_all(host, secret, head + 3, key, recipients, count, block, err);
    ald__wipe(secret, sizeof secret);
    return st;
}

static ald_status new_several(const ald_host *host, const ald_protection *p,
                              uint8_t key[ALD__KEY_BYTES], ald_buffer *block, ald_error *err)
{
    uint8_t nonce[ALD_GCM_NONCE_BYTES];
    ALD_TRY(check_recipients(p->recipients, p->recipient_count, ALD__RECIPIENTS_MAX, err));
    ALD_TRY(ald__random(host, key, ALD__KEY_BYTES, err));
    ALD_TRY(ald__random(host, nonce, sizeof nonce, err));
    return ald__file_key_wrap(host, key, nonce, p->recipients, p->recipient_count, block, err);
}

/* ---- all */

ald_status ald__file_key_new(const ald_host *host, const ald_protection *protection, int crate,
                             uint8_t key[ALD__KEY_BYTES], ald_buffer *block, ald_error *err)
{
    size_t before = block->size;
    ald_status st;
    switch (protection->encryption) {
    case ALD_ENCRYPTION_PASSWORD:
        st = new_password(host, protection, key, block, err);
        break;
    case ALD_ENCRYPTION_RECIPIENT:
        st = new_recipient(host, protection, crate, key, block, err);
        break;
    case ALD_ENCRYPTION_SEVERAL:
        st = new_several(host, protection, key, block, err);
        break;
    default:
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "unknown encryption %u",
                         protection->encryption);
    }
    if (st != ALD_OK) {
        ald__wipe(key, ALD__KEY_BYTES);
        block->size = before;
    }
    return st;
}
