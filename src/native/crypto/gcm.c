/* SPDX-License-Identifier: MIT */
/* AES-256-GCM from libcrypto. Its sizes are ints, so long texts go in pieces. */
#define _GNU_SOURCE
#include <string.h>

#include "native/crypto/libcrypto.h"
#include "native/crypto/provider.h"

#define PIECE_BYTES ((size_t)1 << 30)
#define TEXT_MAX (((uint64_t)1 << 36) - 32) /* SP 800-38D, 5.2.1.1 */

/* `out` NULL: additional data. */
static int update(const ald_libcrypto *lib, EVP_CIPHER_CTX *ctx, uint8_t *out, const uint8_t *in,
                  size_t size)
{
    while (size > 0) {
        size_t piece = size < PIECE_BYTES ? size : PIECE_BYTES;
        int written;
        if (lib->EVP_CipherUpdate(ctx, out, &written, in, (int)piece) != 1)
            return 0;
        if (out != NULL)
            out += piece;
        in += piece;
        size -= piece;
    }
    return 1;
}

static EVP_CIPHER_CTX *begin(const ald_libcrypto *lib, int seal, const uint8_t *key,
                             const uint8_t *nonce, const void *aad, size_t aad_size)
{
    EVP_CIPHER_CTX *ctx = lib->EVP_CIPHER_CTX_new();
    if (ctx != NULL && lib->EVP_CipherInit_ex(ctx, lib->aes_256_gcm, NULL, key, nonce, seal) == 1 &&
        update(lib, ctx, NULL, aad, aad_size))
        return ctx;
    lib->EVP_CIPHER_CTX_free(ctx);
    return NULL;
}

ald_status ald__gcm_seal(const uint8_t *key, const uint8_t *nonce, const void *aad, size_t aad_size,
                         const void *text, size_t text_size, uint8_t *sealed, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    EVP_CIPHER_CTX *ctx;
    int rest, done;
    if (st != ALD_OK)
        return st;
    if (text_size > TEXT_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "AES-GCM seals 64 GiB at most in one piece");
    (void)lib->ERR_set_mark();
    ctx = begin(lib, 1, key, nonce, aad, aad_size);
    done = ctx != NULL && update(lib, ctx, sealed, text, text_size) &&
           lib->EVP_CipherFinal_ex(ctx, sealed + text_size, &rest) == 1 &&
           lib->EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, ALD_GCM_TAG_BYTES,
                                    sealed + text_size) == 1;
    lib->EVP_CIPHER_CTX_free(ctx);
    (void)lib->ERR_pop_to_mark();
    return done ? ALD_OK : ald__libcrypto_failed(err, "AES-256-GCM");
}

ald_status ald__gcm_open(const uint8_t *key, const uint8_t *nonce, const void *aad, size_t aad_size,
                         const void *sealed, size_t sealed_size, uint8_t *text, ald_error *err)
{
    const ald_libcrypto *lib;
    ald_status st = ald__libcrypto(&lib, err);
    uint8_t tag[ALD_GCM_TAG_BYTES], unused[ALD_GCM_TAG_BYTES];
    size_t text_size = sealed_size - sizeof tag;
    EVP_CIPHER_CTX *ctx;
    int rest, done;
    if (st != ALD_OK)
        return st;
    if (sealed_size < sizeof tag || text_size > TEXT_MAX)
        return ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s",
                             ALD_DECRYPTION_FAILED_TEXT);
    memcpy(tag, (const uint8_t *)sealed + text_size, sizeof tag);
    (void)lib->ERR_set_mark();
    ctx = begin(lib, 0, key, nonce, aad, aad_size);
    if (ctx == NULL) {
        (void)lib->ERR_pop_to_mark();
        return ald__libcrypto_failed(err, "AES-256-GCM"); /* `text` was not touched */
    }
    done = lib->EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) == 1 &&
           update(lib, ctx, text, sealed, text_size) &&
           lib->EVP_CipherFinal_ex(ctx, unused, &rest) == 1;
    lib->EVP_CIPHER_CTX_free(ctx);
    (void)lib->ERR_pop_to_mark();
    if (done)
        return ALD_OK;
    if (text_size > 0)
        explicit_bzero(text, text_size);
    return ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s",
                         ALD_DECRYPTION_FAILED_TEXT);
}
