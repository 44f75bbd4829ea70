/* SPDX-License-Identifier: MIT */
/* SipHash-2-4 (Aumasson, Bernstein 2012) of many short messages at once, all of 8 or all of 16 bytes: hosts lend it one
 * message at a time, and a watermark needs it several times for each cell. */
#ifndef CORE_WATERMARK_SIP_H
#define CORE_WATERMARK_SIP_H

#include <stddef.h>
#include <stdint.h>

/* 0 portable, 1 AVX2, 2 AVX-512: the best that processor and system have, no more than `limit`. */
int ald__sip_level(int limit);

typedef struct ald__sip_key {
    uint64_t k0, k1; /* the 16 bytes, little-endian */
    int level;       /* of ald__sip_level */
} ald__sip_key;

void ald__sip_key_init(ald__sip_key *key, const uint8_t bytes[16], int level);

/* The hash of the bytes of a, or of a and b, little-endian. */
uint64_t ald__sip8(const ald__sip_key *key, uint64_t a);
uint64_t ald__sip16(const ald__sip_key *key, uint64_t a, uint64_t b);

/* out[i] of a[i], or of a[i] and b[i]. `out` may be one of them. The same at every level. */
void ald__sip8_many(const ald__sip_key *key, const uint64_t *a, size_t count, uint64_t *out);
void ald__sip16_many(const ald__sip_key *key, const uint64_t *a, const uint64_t *b, size_t count,
                     uint64_t *out);

#endif
