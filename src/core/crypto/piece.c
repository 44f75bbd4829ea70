/* SPDX-License-Identifier: MIT */
#include "core/crypto/piece.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"

#define AAD_MAX 48u
#define LABEL_BYTES 12u /* all three labels have so many */

static const char label_whole[] = "ald-v1-whole";
static const char label_first[] = "ald-v1-first";
static const char label_chunk[] = "ald-v1-chunk";

/* What goes into one call of AES-GCM. */
typedef struct piece_call {
    const uint8_t *key;
    uint8_t nonce[ALD_GCM_NONCE_BYTES];
    uint8_t aad[AAD_MAX];
    size_t aad_size;
} piece_call;

ald__piece ald__piece_at(const ald_chunk_entry *chunks, uint64_t count, uint64_t k)
{
    ald__piece piece = {ALD__PIECE_WHOLE, 0, 0, 0, 0};
    if (chunks == NULL)
        return piece;
    piece.kind = k == 0 ? ALD__PIECE_FIRST : k <= count ? ALD__PIECE_CHUNK : ALD__PIECE_LAST;
    if (piece.kind == ALD__PIECE_CHUNK) {
        piece.k = k;
        piece.row_offset = chunks[k - 1].row_offset;
        piece.num_rows = chunks[k - 1].num_rows;
        piece.uncompressed_size = chunks[k - 1].uncompressed_size;
    }
    return piece;
}

ald_status ald__piece_keys_init(ald__piece_keys *out, const ald_host *host, const uint8_t key[32],
                                const uint8_t nonce[ALD_GCM_NONCE_BYTES], const uint8_t *binding,
                                ald_error *err)
{
    ald_status st = ALD_OK;
    memset(out, 0, sizeof *out);
    memcpy(out->key, key, sizeof out->key);
    memcpy(out->nonce, nonce, sizeof out->nonce);
    if (binding != NULL) {
        out->is_bound = 1;
        memcpy(out->binding, binding, sizeof out->binding);
        st = ald__hkdf(host, key, "ald-v1-last", binding, sizeof out->binding, out->last, err);
    }
    if (st != ALD_OK)
        ald__piece_keys_clear(out);
    return st;
}

void ald__piece_keys_clear(ald__piece_keys *keys)
{
    ald__wipe(keys, sizeof *keys);
}

static void put_chunk_aad(piece_call *call, const ald__piece *piece)
{
    uint8_t *p = call->aad + LABEL_BYTES;
    memcpy(call->aad, label_chunk, LABEL_BYTES);
    ald__store_le64(p, piece->k);
    ald__store_le64(p + 8, piece->row_offset);
    ald__store_le32(p + 16, piece->num_rows);
    ald__store_le32(p + 20, piece->uncompressed_size);
    call->aad_size = LABEL_BYTES + 24;
}

static void prepare(const ald__piece_keys *keys, const ald__piece *piece, piece_call *call)
{
    memset(call, 0, sizeof *call);
    call->key = keys->key;
    memcpy(call->nonce, keys->nonce, sizeof call->nonce);
    switch (piece->kind) {
    case ALD__PIECE_WHOLE:
        if (keys->is_bound) {
            memcpy(call->aad, label_whole, LABEL_BYTES);
            memcpy(call->aad + LABEL_BYTES, keys->binding, sizeof keys->binding);
            call->aad_size = LABEL_BYTES + sizeof keys->binding;
        }
        break;
    case ALD__PIECE_FIRST: /* k = 0: the block's nonce as it is */
        memcpy(call->aad, label_first, LABEL_BYTES);
        call->aad_size = LABEL_BYTES;
        break;
    case ALD__PIECE_CHUNK:
        ald__store_le64(call->nonce + 4, ald__load_le64(call->nonce + 4) ^ piece->k);
        put_chunk_aad(call, piece);
        break;
    case ALD__PIECE_LAST:
        call->key = keys->last;
        memset(call->nonce, 0, sizeof call->nonce);
        break;
    }
}

ald_status ald__piece_seal(const ald__piece_keys *keys, const ald_host *host,
                           const ald__piece *piece, const uint8_t *text, size_t size,
                           uint8_t *sealed, ald_error *err)
{
    piece_call call;
    if (!ALD_CRYPTO_HAS(host->crypto, gcm_seal))
        return ald__no_crypto("AES-GCM", err);
    prepare(keys, piece, &call);
    return host->crypto->gcm_seal(call.key, call.nonce, call.aad, call.aad_size, text, size, sealed,
                                  err);
}

ald_status ald__piece_open(const ald__piece_keys *keys, const ald_host *host,
                           const ald__piece *piece, const uint8_t *sealed, size_t size,
                           uint8_t *text, ald_error *err)
{
    piece_call call;
    if (!ALD_CRYPTO_HAS(host->crypto, gcm_open))
        return ald__no_crypto("AES-GCM", err);
    prepare(keys, piece, &call);
    return host->crypto->gcm_open(call.key, call.nonce, call.aad, call.aad_size, sealed, size, text,
                                  err);
}

/* ---- a payload in memory */

static size_t list_count(const ald__piece_list *l)
{
    return l->chunks == NULL ? 1 : (size_t)l->chunk_count + 2;
}

/* The i-th to open; *begin and *end: where it lies. */
static ald__piece list_piece(const ald__piece_list *l, size_t i, size_t *begin, size_t *end)
{
    uint64_t k = l->chunks == NULL ? 0 : i == 0 ? l->chunk_count + 1 : i - 1;
    *begin = k == 0 ? 0 : (size_t)l->ends(l->ctx, k - 1);
    *end = (size_t)l->ends(l->ctx, k);
    return ald__piece_at(l->chunks, l->chunk_count, k);
}

static void list_call(const ald__piece_keys *keys, const ald__piece_list *l, size_t i,
                      ald_gcm_call *out)
{
    size_t begin, end;
    ald__piece piece = list_piece(l, i, &begin, &end);
    piece_call call;
    prepare(keys, &piece, &call);
    out->key = call.key;
    memcpy(out->nonce, call.nonce, sizeof out->nonce);
    memcpy(out->aad, call.aad, sizeof out->aad);
    out->aad_size = (uint32_t)call.aad_size;
    out->sealed = l->from + begin;
    out->sealed_size = end - begin;
    out->text = l->to + begin;
}

static ald_status open_together(const ald__piece_keys *keys, const ald_host *host,
                                const ald__piece_list *l, ald_error *err)
{
    size_t count = list_count(l), size;
    ald_gcm_call *calls;
    ald_status st;
    if (!ald__mul_size(count, sizeof *calls, &size))
        return ald__no_memory(err, SIZE_MAX);
    calls = ald__alloc(&host->alloc, size, err);
    if (calls == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        list_call(keys, l, i, &calls[i]);
    st = host->crypto->gcm_open_all(calls, count, err);
    ald__release(&host->alloc, calls, size);
    return st;
}

ald_status ald__piece_open_list(const ald__piece_keys *keys, const ald_host *host,
                                const ald__piece_list *l, ald_error *err)
{
    if (ALD_CRYPTO_HAS(host->crypto, gcm_open_all))
        return open_together(keys, host, l, err);
    for (size_t i = 0; i < list_count(l); i++) {
        size_t begin, end;
        ald__piece piece = list_piece(l, i, &begin, &end);
        ALD_TRY(
            ald__piece_open(keys, host, &piece, l->from + begin, end - begin, l->to + begin, err));
    }
    return ALD_OK;
}
