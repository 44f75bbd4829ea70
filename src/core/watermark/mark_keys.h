/* SPDX-License-Identifier: MIT */
/* What a seller's watermark key derives: the hashes that place and scramble bits, and the cipher over the payload. */
#ifndef CORE_WATERMARK_MARK_KEYS_H
#define CORE_WATERMARK_MARK_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"
#include "ald/io.h"
#include "core/watermark/polar.h"
#include "core/watermark/sip.h"

#define ALD__MARK_KEY_BYTES 32
#define ALD__MARK_BUYER_BYTES 32
#define ALD__MARK_CODE_BINARY 255 /* the domain code of values that are no decimals */
#define ALD__MARK_CODE_PARITY 0x7fff

typedef struct ald__mark_keys {
    const ald_crypto *crypto;
    const ald_allocator *alloc;
    uint8_t seller[ALD__MARK_KEY_BYTES];
    ald__sip_key carrier, origin, lsb;
    ald__polar code;
} ald__mark_keys;

/* ALD_E_UNSUPPORTED when the host lends no BLAKE3. `host` outlives the keys. `level` as in ald__sip_level. */
ALD_NODISCARD ald_status ald__mark_keys_init(ald__mark_keys *keys, const uint8_t *seller_key,
                                             const ald_host *host, int level, ald_error *err);
/* Wipes. */
void ald__mark_keys_clear(ald__mark_keys *keys);

/* The keyed BLAKE3 of two texts, one behind the other. */
ALD_NODISCARD ald_status ald__mark_hash(const ald_crypto *crypto, const ald_allocator *alloc,
                                        const uint8_t key[ALD__MARK_KEY_BYTES], const void *label,
                                        size_t label_size, const void *data, size_t data_size,
                                        uint8_t out[ALD_BLAKE3_BYTES], ald_error *err);

/* The payload of a buyer and its codeword. */
ALD_NODISCARD ald_status ald__mark_payload(const ald__mark_keys *keys, const uint8_t *buyer_hash,
                                           uint8_t payload[ALD__POLAR_PAYLOAD], ald_error *err);
ALD_NODISCARD ald_status ald__mark_codeword(const ald__mark_keys *keys, const uint8_t *buyer_hash,
                                            uint64_t codeword[ALD__POLAR_WORDS], ald_error *err);
/* The same with memory from elsewhere, for many of them. */
ALD_NODISCARD ald_status ald__mark_codeword_with(const ald__mark_keys *keys,
                                                 const ald_allocator *alloc,
                                                 const uint8_t *buyer_hash,
                                                 uint64_t codeword[ALD__POLAR_WORDS],
                                                 ald_error *err);
/* *is_valid: 1 when the payload is one of this key; buyer_hash is then written. */
ALD_NODISCARD ald_status ald__mark_open(const ald__mark_keys *keys, const uint8_t *payload,
                                        uint8_t buyer_hash[ALD__MARK_BUYER_BYTES], int *is_valid,
                                        ald_error *err);

/* The first word of a carrier's message: the cell number is the second. */
static inline uint64_t ald__mark_head(unsigned plane, unsigned negative, unsigned domain, int e)
{
    return plane | (uint64_t)negative << 8 | (uint64_t)domain << 16 | (uint64_t)(uint32_t)e << 32;
}

static inline uint64_t ald__mark_origin(const ald__mark_keys *keys, unsigned domain, int e)
{
    return ald__sip8(&keys->origin, domain | (uint64_t)(uint32_t)e << 32);
}

#endif
