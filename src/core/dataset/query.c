/* SPDX-License-Identifier: MIT */
/* Envelopes of private queries. One function makes the key of each: what differs between a request and an answer is the
 * context's name, and that an answer is tied to its request by the hash of that envelope. */
#include "ald/query.h"

#include <string.h>

#include "ald/crypto.h"
#include "core/base/buf.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"

#define INFO_TEXT_MAX 16
#define HEAD_BYTES (ALD_X25519_BYTES + ALD_GCM_NONCE_BYTES)

static const char query_info[] = "ald-v1-query";
static const char answer_info[] = "ald-v1-answer";

/* F-246; the two public keys, in this order, end the context. */
typedef struct envelope {
    const char *info;
    const uint8_t *ephemeral_public;
    const uint8_t *receiver_public;
    const uint8_t *aad; /* ALD_SHA256_BYTES, or NULL */
} envelope;

static ald_status check_host(const ald_host *host, ald_error *err)
{
    const ald_crypto *c = host->crypto;
    if (!ALD_CRYPTO_HAS(c, gcm_open) || !ALD__HAS_SHA256(c) || !ALD__HAS_X25519(c) ||
        c->hkdf_sha256 == NULL || c->gcm_seal == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "the host lends no X25519, HKDF-SHA256 or AES-256-GCM");
    return ALD_OK;
}

static ald_status not_opened(ald_error *err)
{
    return ald__fail(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET, "%s", ALD_DECRYPTION_FAILED_TEXT);
}

static ald_status hash(const ald_host *host, const void *data, size_t size,
                       uint8_t digest[ALD_SHA256_BYTES], ald_error *err)
{
    void *state = NULL;
    ALD_TRY(host->crypto->sha256_new(&host->alloc, &state, err));
    host->crypto->sha256_update(state, data, size);
    host->crypto->sha256_finish(state, digest);
    return ALD_OK;
}

static ald_status make_key(const envelope *e, const uint8_t private_key[ALD_X25519_BYTES],
                           const uint8_t peer_public[ALD_X25519_BYTES], const ald_host *host,
                           uint8_t key[ALD_GCM_KEY_BYTES], ald_error *err)
{
    uint8_t shared[ALD_X25519_BYTES];
    uint8_t info[INFO_TEXT_MAX + 2 * ALD_X25519_BYTES];
    size_t size = strlen(e->info);
    memcpy(info, e->info, size);
    memcpy(info + size, e->ephemeral_public, ALD_X25519_BYTES);
    memcpy(info + size + ALD_X25519_BYTES, e->receiver_public, ALD_X25519_BYTES);
    ald_status status = host->crypto->x25519(private_key, peer_public, shared, err);
    if (status == ALD_OK)
        status = host->crypto->hkdf_sha256(shared, sizeof shared, info, size + 2 * ALD_X25519_BYTES,
                                           key, ALD_GCM_KEY_BYTES, err);
    ald__wipe(shared, sizeof shared);
    return status;
}

/* Seals out->data[HEAD_BYTES .. HEAD_BYTES + text_size) where it lies; the head is written here. */
static ald_status seal_in_place(envelope *e, size_t text_size, const ald_host *host,
                                ald_buffer *out, ald_error *err)
{
    uint8_t ephemeral[ALD_X25519_BYTES];
    uint8_t key[ALD_GCM_KEY_BYTES];
    uint8_t *nonce = out->data + ALD_X25519_BYTES;
    uint8_t *text = out->data + HEAD_BYTES;
    e->ephemeral_public = out->data;
    ald_status status = host->random(host->ctx, ephemeral, sizeof ephemeral, err);
    if (status == ALD_OK)
        status = host->random(host->ctx, nonce, ALD_GCM_NONCE_BYTES, err);
    if (status == ALD_OK)
        status = host->crypto->x25519_public(ephemeral, out->data, err);
    if (status == ALD_OK) {
        status = make_key(e, ephemeral, e->receiver_public, host, key, err);
        if (status == ALD_E_DECRYPTION_FAILED) /* F-208 */
            status = ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "the receiver's public key is of small order");
    }
    if (status == ALD_OK)
        status = host->crypto->gcm_seal(key, nonce, e->aad, e->aad != NULL ? ALD_SHA256_BYTES : 0,
                                        text, text_size, text, err);
    ald__wipe(ephemeral, sizeof ephemeral);
    ald__wipe(key, sizeof key);
    return status;
}

/* first ‖ second, sealed. */
static ald_status seal(envelope *e, const void *first, size_t first_size, const void *second,
                       size_t second_size, const ald_host *host, ald_buffer *out, ald_error *err)
{
    ALD_TRY(check_host(host, err));
    if (host->random == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no randomness");
    if (second_size > SIZE_MAX - first_size - ALD_QUERY_OVERHEAD_BYTES)
        return ald__no_memory(err, second_size);
    size_t text_size = first_size + second_size;
    *out = (ald_buffer){NULL, 0, 0, &host->alloc};
    ALD_TRY(ald__buffer_reserve(out, text_size + ALD_QUERY_OVERHEAD_BYTES, err));
    uint8_t *text = out->data + HEAD_BYTES;
    if (first_size > 0)
        memcpy(text, first, first_size);
    if (second_size > 0)
        memcpy(text + first_size, second, second_size);
    ald_status status = seal_in_place(e, text_size, host, out, err);
    if (status != ALD_OK) {
        ald__wipe(text, text_size);
        ald_buffer_clear(out);
        return status;
    }
    out->size = text_size + ALD_QUERY_OVERHEAD_BYTES;
    return ALD_OK;
}

/* The text of an envelope in a new buffer of at least one byte. */
static ald_status open_sealed(const char *info, const uint8_t *aad,
                              const uint8_t private_key[ALD_X25519_BYTES], const uint8_t *data,
                              size_t size, const ald_host *host, ald_buffer *out, ald_error *err)
{
    uint8_t receiver_public[ALD_X25519_BYTES];
    uint8_t key[ALD_GCM_KEY_BYTES];
    envelope e = {info, data, receiver_public, aad};
    *out = (ald_buffer){NULL, 0, 0, &host->alloc};
    ALD_TRY(check_host(host, err));
    if (size < ALD_QUERY_OVERHEAD_BYTES)
        return not_opened(err);
    size_t text_size = size - ALD_QUERY_OVERHEAD_BYTES;
    ALD_TRY(host->crypto->x25519_public(private_key, receiver_public, err));
    ALD_TRY(ald__buffer_reserve(out, text_size > 0 ? text_size : 1, err));
    ald_status status = make_key(&e, private_key, data, host, key, err);
    if (status == ALD_OK)
        status = host->crypto->gcm_open(key, data + ALD_X25519_BYTES, aad,
                                        aad != NULL ? ALD_SHA256_BYTES : 0, data + HEAD_BYTES,
                                        text_size + ALD_GCM_TAG_BYTES, out->data, err);
    ald__wipe(key, sizeof key);
    if (status != ALD_OK) {
        ald_buffer_clear(out);
        return status == ALD_E_DECRYPTION_FAILED ? not_opened(err) : status;
    }
    out->size = text_size;
    return ALD_OK;
}

ald_status ald_query_seal(const uint8_t owner_public[ALD_QUERY_KEY_BYTES],
                          const uint8_t user_public[ALD_QUERY_KEY_BYTES], const void *request,
                          size_t request_size, const ald_host *host, ald_buffer *out,
                          ald_error *err)
{
    envelope e = {query_info, NULL, owner_public, NULL};
    return seal(&e, user_public, ALD_QUERY_KEY_BYTES, request, request_size, host, out, err);
}

ald_status ald_query_unseal(const uint8_t owner_private[ALD_QUERY_KEY_BYTES], const void *sealed,
                            size_t sealed_size, const ald_host *host,
                            uint8_t user_public[ALD_QUERY_KEY_BYTES], ald_buffer *request,
                            ald_error *err)
{
    ALD_TRY(open_sealed(query_info, NULL, owner_private, sealed, sealed_size, host, request, err));
    if (request->size < ALD_QUERY_KEY_BYTES) { /* F-247 */
        ald__wipe(request->data, request->size);
        ald_buffer_clear(request);
        return not_opened(err);
    }
    memcpy(user_public, request->data, ALD_QUERY_KEY_BYTES);
    request->size -= ALD_QUERY_KEY_BYTES;
    memmove(request->data, request->data + ALD_QUERY_KEY_BYTES, request->size);
    return ALD_OK;
}

ald_status ald_query_answer(const uint8_t user_public[ALD_QUERY_KEY_BYTES], const void *request,
                            size_t request_size, const void *answer, size_t answer_size,
                            const ald_host *host, ald_buffer *out, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES];
    envelope e = {answer_info, NULL, user_public, digest};
    *out = (ald_buffer){NULL, 0, 0, &host->alloc};
    ALD_TRY(check_host(host, err));
    ALD_TRY(hash(host, request, request_size, digest, err));
    return seal(&e, NULL, 0, answer, answer_size, host, out, err);
}

ald_status ald_query_open(const uint8_t user_private[ALD_QUERY_KEY_BYTES], const void *request,
                          size_t request_size, const void *sealed_answer, size_t answer_size,
                          const ald_host *host, ald_buffer *out, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES];
    *out = (ald_buffer){NULL, 0, 0, &host->alloc};
    ALD_TRY(check_host(host, err));
    ALD_TRY(hash(host, request, request_size, digest, err));
    return open_sealed(answer_info, digest, user_private, sealed_answer, answer_size, host, out,
                       err);
}
