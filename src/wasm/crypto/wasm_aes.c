/* SPDX-License-Identifier: MIT */
/* AES-256-GCM from BearSSL: bit-sliced AES and a GHASH of plain multiplications. Neither looks anything up in a table at a
 * place that depends on a secret. */
#include <string.h>

#include <bearssl.h>

#include "wasm/crypto/deferral.h"
#include "wasm/crypto/wasm_crypto.h"

#define TEXT_MAX 0xFFFFFFFE0ull /* 2^39 - 256 bits: the counter has 32 */

typedef struct gcm {
    br_aes_ct64_ctr_keys keys;
    br_gcm_context context;
} gcm;

static void gcm_begin(gcm *g, const uint8_t *key, const uint8_t *nonce, const void *aad,
                      size_t aad_size)
{
    br_aes_ct64_ctr_init(&g->keys, key, ALD_GCM_KEY_BYTES);
    br_gcm_init(&g->context, &g->keys.vtable, br_ghash_ctmul64);
    br_gcm_reset(&g->context, nonce, ALD_GCM_NONCE_BYTES);
    if (aad_size > 0)
        br_gcm_aad_inject(&g->context, aad, aad_size);
    br_gcm_flip(&g->context);
}

ald_status ald__wasm_gcm_seal(const uint8_t *key, const uint8_t *nonce, const void *aad,
                              size_t aad_size, const void *text, size_t text_size, uint8_t *sealed,
                              ald_error *err)
{
    gcm g;
    if ((uint64_t)text_size > TEXT_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "AES-GCM seals 64 GiB at most in one piece");
    gcm_begin(&g, key, nonce, aad, aad_size);
    if (text_size > 0) {
        if (text != sealed)
            memcpy(sealed, text, text_size);
        br_gcm_run(&g.context, 1, sealed, text_size);
    }
    br_gcm_get_tag(&g.context, sealed + text_size);
    ald__wasm_wipe(&g, sizeof g);
    return ALD_OK;
}

static ald_status open_here(const uint8_t *key, const uint8_t *nonce, const void *aad,
                            size_t aad_size, const void *sealed, size_t sealed_size, uint8_t *text,
                            ald_error *err)
{
    gcm g;
    uint8_t tag[ALD_GCM_TAG_BYTES];
    size_t text_size = sealed_size - sizeof tag;
    int fits = 0;
    if (sealed_size >= sizeof tag && (uint64_t)text_size <= TEXT_MAX) {
        memcpy(tag, (const uint8_t *)sealed + text_size, sizeof tag);
        gcm_begin(&g, key, nonce, aad, aad_size);
        if (text_size > 0) {
            if (text != sealed)
                memcpy(text, sealed, text_size);
            br_gcm_run(&g.context, 0, text, text_size);
        }
        fits = br_gcm_check_tag(&g.context, tag) == 1;
        ald__wasm_wipe(&g, sizeof g);
        if (!fits && text_size > 0)
            ald__wasm_wipe(text, text_size);
    }
    return fits ? ALD_OK
                : ald_error_set(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s",
                                ALD_DECRYPTION_FAILED_TEXT);
}

static ald_status waits(ald_error *err)
{
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                         "an encrypted piece that is opened elsewhere");
}

ald_status ald__wasm_gcm_open(const uint8_t *key, const uint8_t *nonce, const void *aad,
                              size_t aad_size, const void *sealed, size_t sealed_size,
                              uint8_t *text, ald_error *err)
{
    ald_gcm_call c = {.key = key, .sealed = sealed, .sealed_size = sealed_size, .text = text};
    if (aad_size <= sizeof c.aad) {
        memcpy(c.nonce, nonce, sizeof c.nonce);
        if (aad_size > 0)
            memcpy(c.aad, aad, aad_size);
        c.aad_size = (uint32_t)aad_size;
        if (ald__wasm_deferred_waits(&c, 0))
            return waits(err);
        if (ald__wasm_deferred_take(&c))
            return ALD_OK;
    }
    return open_here(key, nonce, aad, aad_size, sealed, sealed_size, text, err);
}

/* All go elsewhere before one text is given out. */
ald_status ald__wasm_gcm_open_all(const ald_gcm_call *calls, size_t count, ald_error *err)
{
    int wait = 0;
    for (size_t i = 0; i < count; i++)
        wait |= ald__wasm_deferred_waits(&calls[i], 1);
    if (wait)
        return waits(err);
    for (size_t i = 0; i < count; i++) {
        const ald_gcm_call *c = &calls[i];
        ald_status st = ALD_OK;
        if (!ald__wasm_deferred_take(c))
            st = open_here(c->key, c->nonce, c->aad, c->aad_size, c->sealed, c->sealed_size,
                           c->text, err);
        if (st != ALD_OK)
            return st;
    }
    return ALD_OK;
}
