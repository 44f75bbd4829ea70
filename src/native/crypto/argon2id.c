/* SPDX-License-Identifier: MIT */
/* Argon2id from libsodium, which has no lanes. */
#include "native/crypto/libsodium.h"
#include "native/crypto/provider.h"

ald_status ald__argon2id(const void *password, size_t password_size, const uint8_t *salt,
                         uint32_t m_kib, uint32_t t, uint32_t p, uint8_t *out, size_t out_size,
                         ald_error *err)
{
    const ald_libsodium *lib;
    uint64_t memory = (uint64_t)m_kib * 1024;
    ald_status st = ald__libsodium(&lib, err);
    if (st != ALD_OK)
        return st;
    if (p != 1)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "Argon2id with %u lanes; 1 is supported", p);
    if (t == 0 || m_kib < 8 || (size_t)memory != memory || out_size < 16 || out_size > UINT32_MAX ||
        password_size > UINT32_MAX)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "Argon2id: a setting is not allowed");
    if (lib->crypto_pwhash_argon2id(out, out_size, password, password_size, salt, t, (size_t)memory,
                                    crypto_pwhash_argon2id_ALG_ARGON2ID13) != 0)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET,
                             "no memory to derive a key from the password: %u MiB are needed",
                             m_kib / 1024);
    return ALD_OK;
}
