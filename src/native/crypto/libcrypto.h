/* SPDX-License-Identifier: MIT */
/* OpenSSL's libcrypto, bound with dlopen at first need: its start-up would cost every command milliseconds. */
#ifndef NATIVE_CRYPTO_LIBCRYPTO_H
#define NATIVE_CRYPTO_LIBCRYPTO_H

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include "ald/error.h"

/* The functions that are used. Their types come from OpenSSL's headers. */
#define LIBCRYPTO_FUNCTIONS(X)                                                                     \
    X(OSSL_LIB_CTX_new)                                                                            \
    X(ERR_set_mark)                                                                                \
    X(ERR_pop_to_mark)                                                                             \
    X(EVP_MD_fetch)                                                                                \
    X(EVP_MD_CTX_new)                                                                              \
    X(EVP_MD_CTX_free)                                                                             \
    X(EVP_DigestInit_ex)                                                                           \
    X(EVP_DigestUpdate)                                                                            \
    X(EVP_DigestFinal_ex)                                                                          \
    X(EVP_CIPHER_fetch)                                                                            \
    X(EVP_CIPHER_CTX_new)                                                                          \
    X(EVP_CIPHER_CTX_free)                                                                         \
    X(EVP_CIPHER_CTX_ctrl)                                                                         \
    X(EVP_CipherInit_ex)                                                                           \
    X(EVP_CipherUpdate)                                                                            \
    X(EVP_CipherFinal_ex)                                                                          \
    X(EVP_KDF_fetch)                                                                               \
    X(EVP_KDF_CTX_new)                                                                             \
    X(EVP_KDF_CTX_free)                                                                            \
    X(EVP_KDF_derive)                                                                              \
    X(OSSL_PARAM_construct_utf8_string)                                                            \
    X(OSSL_PARAM_construct_octet_string)                                                           \
    X(OSSL_PARAM_construct_end)                                                                    \
    X(EVP_PKEY_new_raw_private_key_ex)                                                             \
    X(EVP_PKEY_new_raw_public_key_ex)                                                              \
    X(EVP_PKEY_get_raw_public_key)                                                                 \
    X(EVP_PKEY_free)                                                                               \
    X(EVP_PKEY_CTX_new_from_pkey)                                                                  \
    X(EVP_PKEY_CTX_free)                                                                           \
    X(EVP_PKEY_derive_init)                                                                        \
    X(EVP_PKEY_derive_set_peer)                                                                    \
    X(EVP_PKEY_derive)                                                                             \
    X(EVP_DigestSignInit_ex)                                                                       \
    X(EVP_DigestSign)                                                                              \
    X(EVP_DigestVerifyInit_ex)                                                                     \
    X(EVP_DigestVerify)                                                                            \
    X(EVP_aes_256_cbc)                                                                             \
    X(CRYPTO_free)                                                                                 \
    X(CRYPTO_clear_free)                                                                           \
    X(PKCS5_pbe2_set_scrypt)                                                                       \
    X(PKCS8_set0_pbe)                                                                              \
    X(PKCS8_decrypt)                                                                               \
    X(d2i_PKCS8_PRIV_KEY_INFO)                                                                     \
    X(i2d_PKCS8_PRIV_KEY_INFO)                                                                     \
    X(PKCS8_PRIV_KEY_INFO_free)                                                                    \
    X(d2i_X509_SIG)                                                                                \
    X(i2d_X509_SIG)                                                                                \
    X(X509_SIG_free)                                                                               \
    X(X509_ALGOR_free)

typedef struct ald_libcrypto {
#define LIBCRYPTO_MEMBER(name) __typeof__(name) *name;
    LIBCRYPTO_FUNCTIONS(LIBCRYPTO_MEMBER)
#undef LIBCRYPTO_MEMBER
    OSSL_LIB_CTX *context; /* our own: no configuration file, and the host's is left alone */
    EVP_MD *sha256, *sha512;
    EVP_CIPHER *aes_256_gcm;
    EVP_KDF *hkdf;
} ald_libcrypto;

/* Binds the library, once; it is never unloaded. */
ALD_NODISCARD ald_status ald__libcrypto(const ald_libcrypto **out, ald_error *err);
/* The same, where an object of it shows that it is bound. */
const ald_libcrypto *ald__libcrypto_bound(void);

/* ALD_E_NOMEM: libcrypto tells no reason that a caller could act on when its objects cannot be made. */
ald_status ald__libcrypto_failed(ald_error *err, const char *what);

#endif
