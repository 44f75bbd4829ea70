/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "native/crypto/pkcs8.h"

#include <string.h>

#include "native/crypto/libcrypto.h"

/* Copies the DER that libcrypto made, which is `size` long, and frees it wiped. 0: there is none, or no room. */
static int copy_der(const ald_libcrypto *lib, unsigned char *der, int size, uint8_t *out,
                    size_t capacity, size_t *out_size)
{
    int fits = size > 0 && (size_t)size <= capacity;
    if (fits) {
        memcpy(out, der, (size_t)size);
        *out_size = (size_t)size;
    }
    if (size > 0)
        lib->CRYPTO_clear_free(der, (size_t)size, __FILE__, __LINE__);
    return fits;
}

ald_status ald__pkcs8_encrypt(const uint8_t *plain, size_t size, const char *passphrase,
                              size_t passphrase_size, const uint8_t salt[16], const uint8_t iv[16],
                              uint8_t *out, size_t capacity, size_t *out_size, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    const unsigned char *at = plain;
    PKCS8_PRIV_KEY_INFO *info;
    X509_ALGOR *scheme = NULL;
    X509_SIG *sealed = NULL;
    unsigned char *der = NULL, salt_copy[16], iv_copy[16];
    int der_size = 0, done;
    if (st != ALD_OK)
        return st;
    memcpy(salt_copy, salt, sizeof salt_copy); /* its parameters are not const */
    memcpy(iv_copy, iv, sizeof iv_copy);
    (void)lib->ERR_set_mark();
    info = lib->d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)size);
    if (info != NULL)
        scheme = lib->PKCS5_pbe2_set_scrypt(lib->EVP_aes_256_cbc(), salt_copy, sizeof salt_copy,
                                            iv_copy, 1u << 14, 8, 5);
    if (scheme != NULL)
        sealed = lib->PKCS8_set0_pbe(passphrase, (int)passphrase_size, info, scheme);
    if (sealed == NULL)
        lib->X509_ALGOR_free(scheme);
    else
        der_size = lib->i2d_X509_SIG(sealed, &der);
    done = copy_der(lib, der, der_size, out, capacity, out_size);
    lib->X509_SIG_free(sealed);
    lib->PKCS8_PRIV_KEY_INFO_free(info);
    (void)lib->ERR_pop_to_mark();
    return done ? ALD_OK : ald__libcrypto_failed(err, "encrypting a key");
}

ald_status ald__pkcs8_decrypt(const uint8_t *sealed, size_t size, const char *passphrase,
                              size_t passphrase_size, uint8_t *out, size_t capacity,
                              size_t *out_size, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    const unsigned char *at = sealed;
    PKCS8_PRIV_KEY_INFO *info = NULL;
    X509_SIG *sig;
    unsigned char *der = NULL;
    if (st != ALD_OK)
        return st;
    (void)lib->ERR_set_mark();
    sig = lib->d2i_X509_SIG(NULL, &at, (long)size);
    if (sig == NULL || at != sealed + size)
        st = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                           "an encrypted key's bytes are damaged");
    else
        info = lib->PKCS8_decrypt(sig, passphrase, (int)passphrase_size);
    if (st == ALD_OK && info == NULL)
        st = ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET,
                           "the passphrase is wrong, or the key is damaged");
    if (st == ALD_OK) {
        int der_size = lib->i2d_PKCS8_PRIV_KEY_INFO(info, &der);
        if (!copy_der(lib, der, der_size, out, capacity, out_size))
            st = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                               "an encrypted key is of another kind");
    }
    lib->PKCS8_PRIV_KEY_INFO_free(info);
    lib->X509_SIG_free(sig);
    (void)lib->ERR_pop_to_mark();
    return st;
}
