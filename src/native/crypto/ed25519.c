/* SPDX-License-Identifier: MIT */
/* Ed25519 over a message in memory, from libcrypto, which neither refuses small order (F-256) nor names a reason. */
#define _GNU_SOURCE
#include <string.h>

#include "native/crypto/libcrypto.h"
#include "native/crypto/provider.h"

/* The y coordinates of the points of order 1, 2, 4 and 8, and 0 and 1 once more as p and p + 1. */
static const uint8_t small_order[][32] = {
    {0},
    {1},
    {0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4,
     0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6,
     0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
    {0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b,
     0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39,
     0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    {0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
    {0xee, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
};

/* L, the order of the base point, little-endian. */
static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                  0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                  0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

static int is_small_order(const uint8_t *point)
{
    for (size_t i = 0; i < sizeof small_order / sizeof small_order[0]; i++) {
        if (memcmp(point, small_order[i], 31) == 0 && (point[31] & 0x7fu) == small_order[i][31])
            return 1;
    }
    return 0;
}

static int is_below_order(const uint8_t *s)
{
    for (int i = 31; i >= 0; i--) {
        if (s[i] != order[i])
            return s[i] < order[i];
    }
    return 0;
}

int ald__ed25519_acceptable(const uint8_t *signature, const uint8_t *public_key)
{
    return !is_small_order(signature) && !is_small_order(public_key) &&
           is_below_order(signature + 32);
}

ald_status ald__ed25519_invalid(ald_error *err)
{
    return ald_error_set(err, ALD_E_SIGNATURE_INVALID, ALD_NO_OFFSET,
                         "the signature does not verify");
}

ald_status ald__ed25519_public(const uint8_t *seed, uint8_t *public_key, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    size_t size = ALD_ED25519_PUBLIC_BYTES;
    EVP_PKEY *key;
    int done;
    if (st != ALD_OK)
        return st;
    (void)lib->ERR_set_mark();
    key = lib->EVP_PKEY_new_raw_private_key_ex(lib->context, "ED25519", NULL, seed,
                                               ALD_ED25519_SEED_BYTES);
    done = key != NULL && lib->EVP_PKEY_get_raw_public_key(key, public_key, &size) == 1 &&
           size == ALD_ED25519_PUBLIC_BYTES;
    lib->EVP_PKEY_free(key);
    (void)lib->ERR_pop_to_mark();
    return done ? ALD_OK : ald__libcrypto_failed(err, "Ed25519");
}

ald_status ald__ed25519_sign(const uint8_t *seed, const void *message, size_t size,
                             uint8_t *signature, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    size_t signature_size = ALD_ED25519_SIGNATURE_BYTES;
    EVP_MD_CTX *ctx;
    EVP_PKEY *key;
    int done;
    if (st != ALD_OK)
        return st;
    (void)lib->ERR_set_mark();
    ctx = lib->EVP_MD_CTX_new();
    key = lib->EVP_PKEY_new_raw_private_key_ex(lib->context, "ED25519", NULL, seed,
                                               ALD_ED25519_SEED_BYTES);
    done = ctx != NULL && key != NULL &&
           lib->EVP_DigestSignInit_ex(ctx, NULL, NULL, lib->context, NULL, key, NULL) == 1 &&
           lib->EVP_DigestSign(ctx, signature, &signature_size, message, size) == 1;
    lib->EVP_MD_CTX_free(ctx);
    lib->EVP_PKEY_free(key);
    (void)lib->ERR_pop_to_mark();
    return done ? ALD_OK : ald__libcrypto_failed(err, "Ed25519");
}

ald_status ald__ed25519_verify(const uint8_t *signature, const uint8_t *public_key,
                               const void *message, size_t size, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    EVP_MD_CTX *ctx;
    EVP_PKEY *key;
    if (st != ALD_OK)
        return st;
    if (!ald__ed25519_acceptable(signature, public_key))
        return ald__ed25519_invalid(err);
    (void)lib->ERR_set_mark();
    ctx = lib->EVP_MD_CTX_new();
    key = lib->EVP_PKEY_new_raw_public_key_ex(lib->context, "ED25519", NULL, public_key,
                                              ALD_ED25519_PUBLIC_BYTES);
    if (ctx == NULL || key == NULL ||
        lib->EVP_DigestVerifyInit_ex(ctx, NULL, NULL, lib->context, NULL, key, NULL) != 1)
        st = ald__libcrypto_failed(err, "Ed25519");
    else if (lib->EVP_DigestVerify(ctx, signature, ALD_ED25519_SIGNATURE_BYTES, message, size) != 1)
        st = ald__ed25519_invalid(err);
    lib->EVP_MD_CTX_free(ctx);
    lib->EVP_PKEY_free(key);
    (void)lib->ERR_pop_to_mark();
    return st;
}
