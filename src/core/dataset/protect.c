/* SPDX-License-Identifier: MIT */
/* Protection made ready before the first byte is written, and put around the file at its end. The order of computing is
 * F-271's: pieces, facts, seal, prefix_crc32, signature, license, CRC32. */
#include "core/dataset/protect.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/caller_options.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"
#include "core/dataset/license.h"

static const char seal_label[] = "ald-v1-seal";
#define SEAL_LABEL_BYTES (sizeof seal_label - 1)

/* ---- what is asked for */

static ald_status check_secrets(const ald_protection *p, ald_error *err)
{
    int by_password = p->encryption == ALD_ENCRYPTION_PASSWORD;
    int by_key =
        p->encryption == ALD_ENCRYPTION_RECIPIENT || p->encryption == ALD_ENCRYPTION_SEVERAL;
    if (p->encryption > ALD_ENCRYPTION_SEVERAL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "unknown encryption %u",
                         p->encryption);
    /* a secret that would not be used: somebody expects an encrypted file and would not get one */
    if (!by_password && p->password != NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "a password is given, and the file is not to be encrypted with one");
    if (!by_key && p->recipient_count > 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "recipients are given, and the file is not to be encrypted for them");
    return ALD_OK;
}

ald_status ald__protection_take(const ald_protection *given, uint8_t encryption,
                                ald_protection *out, ald_error *err)
{
    static const ald_protection none = ALD_PROTECTION_INIT;
    *out = none;
    ALD_TRY(ald__options_take(out, sizeof *out, sizeof *out, given, "ald_protection", err));
    if (out->encryption == ALD_ENCRYPTION_NONE)
        out->encryption = encryption;
    return check_secrets(out, err);
}

/* ---- parts */

void ald__protecting_begin(ald__protecting *out, const ald_host *host)
{
    memset(out, 0, sizeof *out);
    out->host = host;
    out->block.alloc = out->license.alloc = &host->alloc;
}

static ald_status check_crate(const ald_protection *asked, ald_error *err)
{
    ald__kdf kdf = ald__protection_kdf(asked);
    if (asked->encryption == ALD_ENCRYPTION_SEVERAL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 reads no file for several recipients");
    if (asked->encryption == ALD_ENCRYPTION_PASSWORD && !ald__kdf_is_default(&kdf))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 knows the default settings of Argon2id only");
    if (asked->license != NULL && asked->signer_seed != NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 has no license that the signature covers");
    return ALD_OK;
}

ald_status ald__protecting_encrypt(ald__protecting *p, const ald_protection *asked, int crate,
                                   ald_error *err)
{
    if (!ALD_CRYPTO_HAS(p->host->crypto, gcm_seal))
        return ald__no_crypto("AES-GCM", err);
    p->block.size = 0;
    ALD_TRY(ald__file_key_new(p->host, asked, crate, p->key, &p->block, err));
    p->kdf = ald__protection_kdf(asked);
    p->has_kdf = asked->encryption == ALD_ENCRYPTION_PASSWORD && !ald__kdf_is_default(&p->kdf);
    p->has_commit = !crate;
    return crate ? ALD_OK : ald__key_commit(p->host, p->key, p->commit, err);
}

ald_status ald__protecting_sign(ald__protecting *p, const uint8_t *seed, ald_error *err)
{
    const ald_crypto *c = p->host->crypto;
    if (!ALD_CRYPTO_HAS(c, ed25519_public) || !ALD_CRYPTO_HAS(c, ed25519_sign) ||
        !ALD_CRYPTO_HAS(c, ed25519_sign_stream))
        return ald__no_crypto("Ed25519", err);
    p->seed = seed;
    return c->ed25519_public(seed, p->signer, err);
}

ald_status ald__protecting_bind_license(ald__protecting *p, ald_error *err)
{
    ald__part part = {p->license.data, p->license.size};
    p->has_license_hash = p->seed != NULL && p->license.size > 0;
    return p->has_license_hash ? ald__sha256(p->host, &part, 1, p->license_sha256, err) : ALD_OK;
}

ald_status ald__protecting_new(ald__protecting *p, const ald_protection *asked, int crate,
                               ald_error *err)
{
    if (crate)
        ALD_TRY(check_crate(asked, err));
    if (asked->license != NULL)
        ALD_TRY(ald__license_encode(asked->license, &p->license, err));
    if (asked->signer_seed != NULL)
        ALD_TRY(ald__protecting_sign(p, asked->signer_seed, err));
    ALD_TRY(ald__protecting_bind_license(p, err));
    return asked->encryption != ALD_ENCRYPTION_NONE ? ald__protecting_encrypt(p, asked, crate, err)
                                                    : ALD_OK;
}

void ald__protecting_clear(ald__protecting *p)
{
    ald_buffer_clear(&p->block);
    ald_buffer_clear(&p->license);
    ald__wipe(p, sizeof *p);
}

int ald__protecting_encrypts(const ald__protecting *p)
{
    return p->block.size > 0;
}

uint8_t ald__protecting_flags(const ald__protecting *p)
{
    return (uint8_t)((p->block.size > 0 ? ALD_FLAG_ENCRYPTED : 0) |
                     (p->seed != NULL ? ALD_FLAG_SIGNED : 0) |
                     (p->license.size > 0 ? ALD_FLAG_LICENSED : 0));
}

/* ---- the end of the file */

ald_status ald__protecting_finish(const ald__protecting *p, ald__output *output,
                                  const ald_buffer *prefix, ald_error *err)
{
    ald_buffer tail = {NULL, 0, 0, &p->host->alloc};
    ald_status st = ALD_OK;
    if (p->seed != NULL) {
        uint8_t block[ALD__SIGNATURE_BYTES];
        st = ald__output_sign(output, prefix, p->seed, block, err);
        memcpy(block + ALD_ED25519_SIGNATURE_BYTES, p->signer, sizeof p->signer);
        if (st == ALD_OK)
            st = ald__buffer_append(&tail, block, sizeof block, err);
    }
    if (st == ALD_OK)
        st = ald__buffer_append(&tail, p->license.data, p->license.size, err);
    if (st == ALD_OK)
        st = ald__output_finish(output, prefix, tail.data, tail.size, err);
    ald_buffer_clear(&tail);
    return st;
}

/* ---- seal */

ald_status ald__seal_piece_hash(const ald_host *host, const void *stored, size_t size,
                                uint8_t hash[ALD_BLAKE3_BYTES], ald_error *err)
{
    ald__part part = {stored, size};
    return ald__blake3(host, &part, 1, hash, err);
}

ald_status ald__seal_sign(const ald__protecting *p, const uint8_t *prefix, size_t size,
                          uint8_t sig[ALD_ED25519_SIGNATURE_BYTES], ald_error *err)
{
    uint8_t text[SEAL_LABEL_BYTES + ALD_BLAKE3_BYTES];
    memcpy(text, seal_label, SEAL_LABEL_BYTES);
    ALD_TRY(ald__seal_piece_hash(p->host, prefix, size, text + SEAL_LABEL_BYTES, err));
    return p->host->crypto->ed25519_sign(p->seed, text, sizeof text, sig, err);
}
