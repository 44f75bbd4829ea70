/* SPDX-License-Identifier: MIT */
#include "core/watermark/sip.h"

#include "core/base/endian.h"

typedef struct sip_state {
    uint64_t v0, v1, v2, v3;
} sip_state;

static inline uint64_t rotate(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline sip_state sip_round(sip_state s)
{
    s.v0 += s.v1;
    s.v2 += s.v3;
    s.v1 = rotate(s.v1, 13) ^ s.v0;
    s.v3 = rotate(s.v3, 16) ^ s.v2;
    s.v0 = rotate(s.v0, 32);
    s.v2 += s.v1;
    s.v0 += s.v3;
    s.v1 = rotate(s.v1, 17) ^ s.v2;
    s.v3 = rotate(s.v3, 21) ^ s.v0;
    s.v2 = rotate(s.v2, 32);
    return s;
}

static inline sip_state sip_begin(const ald__sip_key *key)
{
    sip_state s = {key->k0 ^ UINT64_C(0x736f6d6570736575), key->k1 ^ UINT64_C(0x646f72616e646f6d),
                   key->k0 ^ UINT64_C(0x6c7967656e657261), key->k1 ^ UINT64_C(0x7465646279746573)};
    return s;
}

static inline sip_state sip_take(sip_state s, uint64_t word)
{
    s.v3 ^= word;
    s = sip_round(sip_round(s));
    s.v0 ^= word;
    return s;
}

static inline uint64_t sip_end(sip_state s, uint64_t size)
{
    s = sip_take(s, size << 56);
    s.v2 ^= 0xff;
    s = sip_round(sip_round(sip_round(sip_round(s))));
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t ald__sip8(const ald__sip_key *key, uint64_t a)
{
    return sip_end(sip_take(sip_begin(key), a), 8);
}

uint64_t ald__sip16(const ald__sip_key *key, uint64_t a, uint64_t b)
{
    return sip_end(sip_take(sip_take(sip_begin(key), a), b), 16);
}

static void sip_portable(const ald__sip_key *key, const uint64_t *a, const uint64_t *b,
                         size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = b == NULL ? ald__sip8(key, a[i]) : ald__sip16(key, a[i], b[i]);
}

/* Hashes a multiple of its width, and says how many. `b` NULL: messages of 8 bytes. */
typedef size_t (*sip_fn)(const ald__sip_key *key, const uint64_t *a, const uint64_t *b,
                         size_t count, uint64_t *out);

#if defined(__x86_64__) && defined(__GNUC__)
#include "core/watermark/x86/sip_impl.h"
#else
static sip_fn sip_variant(int level)
{
    (void)level;
    return NULL;
}

int ald__sip_level(int limit)
{
    (void)limit;
    return 0;
}
#endif

void ald__sip_key_init(ald__sip_key *key, const uint8_t bytes[16], int level)
{
    key->k0 = ald__load_le64(bytes);
    key->k1 = ald__load_le64(bytes + 8);
    key->level = level;
}

static void sip_many(const ald__sip_key *key, const uint64_t *a, const uint64_t *b, size_t count,
                     uint64_t *out)
{
    sip_fn fast = sip_variant(key->level);
    size_t done = fast != NULL ? fast(key, a, b, count, out) : 0;
    sip_portable(key, a + done, b == NULL ? NULL : b + done, count - done, out + done);
}

void ald__sip8_many(const ald__sip_key *key, const uint64_t *a, size_t count, uint64_t *out)
{
    sip_many(key, a, NULL, count, out);
}

void ald__sip16_many(const ald__sip_key *key, const uint64_t *a, const uint64_t *b, size_t count,
                     uint64_t *out)
{
    sip_many(key, a, b, count, out);
}
