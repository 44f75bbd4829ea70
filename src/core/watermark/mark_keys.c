/* SPDX-License-Identifier: MIT */
#include "core/watermark/mark_keys.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/crypto/secret.h"

#define HALF (ALD__POLAR_PAYLOAD / 2)
#define ROUNDS 4

ald_status ald__mark_hash(const ald_crypto *crypto, const ald_allocator *alloc,
                          const uint8_t key[ALD__MARK_KEY_BYTES], const void *label,
                          size_t label_size, const void *data, size_t data_size,
                          uint8_t out[ALD_BLAKE3_BYTES], ald_error *err)
{
    void *state = NULL;
    if (!ALD_CRYPTO_HAS(crypto, blake3_new) || !ALD_CRYPTO_HAS(crypto, blake3_update) ||
        !ALD_CRYPTO_HAS(crypto, blake3_finish))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "watermarks need BLAKE3, which this host does not lend");
    ALD_TRY(crypto->blake3_new(alloc, key, &state, err));
    crypto->blake3_update(state, label, label_size);
    if (data_size > 0)
        crypto->blake3_update(state, data, data_size);
    crypto->blake3_finish(state, out);
    return ALD_OK;
}

static ald_status derive_sip(ald__mark_keys *keys, const char *label, int level, ald__sip_key *out,
                             ald_error *err)
{
    uint8_t bytes[ALD_BLAKE3_BYTES];
    ALD_TRY(ald__mark_hash(keys->crypto, keys->alloc, keys->seller, label, strlen(label), NULL, 0,
                           bytes, err));
    ald__sip_key_init(out, bytes, level);
    ald__wipe(bytes, sizeof bytes);
    return ALD_OK;
}

ald_status ald__mark_keys_init(ald__mark_keys *keys, const uint8_t *seller_key,
                               const ald_host *host, int level, ald_error *err)
{
    ald_status st;
    memset(keys, 0, sizeof *keys);
    keys->crypto = host->crypto;
    keys->alloc = &host->alloc;
    memcpy(keys->seller, seller_key, sizeof keys->seller);
    st = derive_sip(keys, "nwm1/carrier", level, &keys->carrier, err);
    if (st == ALD_OK)
        st = derive_sip(keys, "nwm1/origin", level, &keys->origin, err);
    if (st == ALD_OK)
        st = derive_sip(keys, "nwm1/lsb", level, &keys->lsb, err);
    if (st != ALD_OK)
        ald__mark_keys_clear(keys);
    else
        ald__polar_init(&keys->code);
    return st;
}

void ald__mark_keys_clear(ald__mark_keys *keys)
{
    ald__wipe(keys, sizeof *keys);
}

/* to ^= F_round(from) */
static ald_status feistel(const ald__mark_keys *keys, const ald_allocator *alloc, unsigned round,
                          const uint8_t *from, uint8_t *to, ald_error *err)
{
    static const char label[] = "nwm1/feistel/";
    uint8_t message[sizeof label + HALF], mask[ALD_BLAKE3_BYTES];
    memcpy(message, label, sizeof label - 1);
    message[sizeof label - 1] = (uint8_t)round;
    memcpy(message + sizeof label, from, HALF);
    ALD_TRY(ald__mark_hash(keys->crypto, alloc, keys->seller, message, sizeof message, NULL, 0,
                           mask, err));
    for (size_t i = 0; i < HALF; i++)
        to[i] ^= mask[i];
    return ALD_OK;
}

static void swap_halves(uint8_t *block)
{
    uint8_t left[HALF];
    memcpy(left, block, HALF);
    memcpy(block, block + HALF, HALF);
    memcpy(block + HALF, left, HALF);
}

static ald_status payload_with(const ald__mark_keys *keys, const ald_allocator *alloc,
                               const uint8_t *buyer_hash, uint8_t payload[ALD__POLAR_PAYLOAD],
                               ald_error *err)
{
    memset(payload, 0, ALD__POLAR_PAYLOAD);
    memcpy(payload, buyer_hash, ALD__MARK_BUYER_BYTES);
    for (unsigned r = 0; r < ROUNDS; r++) { /* (L, R) becomes (R, L ^ F(R)) */
        ALD_TRY(feistel(keys, alloc, r, payload + HALF, payload, err));
        swap_halves(payload);
    }
    return ALD_OK;
}

ald_status ald__mark_payload(const ald__mark_keys *keys, const uint8_t *buyer_hash,
                             uint8_t payload[ALD__POLAR_PAYLOAD], ald_error *err)
{
    return payload_with(keys, keys->alloc, buyer_hash, payload, err);
}

ald_status ald__mark_codeword_with(const ald__mark_keys *keys, const ald_allocator *alloc,
                                   const uint8_t *buyer_hash, uint64_t codeword[ALD__POLAR_WORDS],
                                   ald_error *err)
{
    uint8_t payload[ALD__POLAR_PAYLOAD];
    ALD_TRY(payload_with(keys, alloc, buyer_hash, payload, err));
    ald__polar_encode(&keys->code, payload, codeword);
    return ALD_OK;
}

ald_status ald__mark_codeword(const ald__mark_keys *keys, const uint8_t *buyer_hash,
                              uint64_t codeword[ALD__POLAR_WORDS], ald_error *err)
{
    return ald__mark_codeword_with(keys, keys->alloc, buyer_hash, codeword, err);
}

ald_status ald__mark_open(const ald__mark_keys *keys, const uint8_t *payload,
                          uint8_t buyer_hash[ALD__MARK_BUYER_BYTES], int *is_valid, ald_error *err)
{
    static const uint8_t zeros[ALD__POLAR_PAYLOAD - ALD__MARK_BUYER_BYTES];
    uint8_t block[ALD__POLAR_PAYLOAD];
    *is_valid = 0;
    memcpy(block, payload, sizeof block);
    for (unsigned r = ROUNDS; r-- > 0;) {
        swap_halves(block);
        ALD_TRY(feistel(keys, keys->alloc, r, block + HALF, block, err));
    }
    *is_valid = ald__equal_ct(block + ALD__MARK_BUYER_BYTES, zeros, sizeof zeros);
    if (*is_valid)
        memcpy(buyer_hash, block, ALD__MARK_BUYER_BYTES);
    return ALD_OK;
}
