/* SPDX-License-Identifier: MIT */
/* AVX2 and AVX-512, two registers of messages side by side. Included by sip.c alone. */
#include <immintrin.h>

#define SIP_AVX2 __attribute__((target("avx2")))
#define SIP_AVX512 __attribute__((target("avx512f")))

#define SIP_ROUND2(add, xor, rot13, rot16, rot17, rot21, rot32)                                    \
    do {                                                                                           \
        for (int k_ = 0; k_ < 2; k_++) {                                                           \
            v0[k_] = add(v0[k_], v1[k_]);                                                          \
            v2[k_] = add(v2[k_], v3[k_]);                                                          \
            v1[k_] = xor(rot13(v1[k_]), v0[k_]);                                                   \
            v3[k_] = xor(rot16(v3[k_]), v2[k_]);                                                   \
            v0[k_] = rot32(v0[k_]);                                                                \
            v2[k_] = add(v2[k_], v1[k_]);                                                          \
            v0[k_] = add(v0[k_], v3[k_]);                                                          \
            v1[k_] = xor(rot17(v1[k_]), v2[k_]);                                                   \
            v3[k_] = xor(rot21(v3[k_]), v0[k_]);                                                   \
            v2[k_] = rot32(v2[k_]);                                                                \
        }                                                                                          \
    } while (0)

/* The whole function for one width. `pairs` messages at once; set1, load, store and the rest are the width's. */
#define SIP_BODY(vec, pairs, set1, load, store, add, xor, r13, r16, r17, r21, r32)                 \
    const vec i0 = set1((long long)(key->k0 ^ UINT64_C(0x736f6d6570736575)));                      \
    const vec i1 = set1((long long)(key->k1 ^ UINT64_C(0x646f72616e646f6d)));                      \
    const vec i2 = set1((long long)(key->k0 ^ UINT64_C(0x6c7967656e657261)));                      \
    const vec i3 = set1((long long)(key->k1 ^ UINT64_C(0x7465646279746573)));                      \
    const vec last = set1((long long)((b == NULL ? UINT64_C(8) : UINT64_C(16)) << 56));            \
    const vec finish = set1(0xff);                                                                 \
    size_t at = 0;                                                                                 \
    for (; at + 2 * (pairs) <= count; at += 2 * (pairs)) {                                         \
        vec v0[2] = {i0, i0}, v1[2] = {i1, i1}, v2[2] = {i2, i2}, v3[2] = {i3, i3}, word[2];       \
        for (int part = b == NULL ? 1 : 0; part < 3; part++) {                                     \
            const uint64_t *from = part == 0 || b == NULL ? a : b;                                 \
            for (int k = 0; k < 2; k++) {                                                          \
                word[k] =                                                                          \
                    part == 2 ? last : load((const void *)(from + at + (size_t)k * (pairs)));      \
                v3[k] = xor(v3[k], word[k]);                                                       \
            }                                                                                      \
            SIP_ROUND2(add, xor, r13, r16, r17, r21, r32);                                         \
            SIP_ROUND2(add, xor, r13, r16, r17, r21, r32);                                         \
            for (int k = 0; k < 2; k++)                                                            \
                v0[k] = xor(v0[k], word[k]);                                                       \
        }                                                                                          \
        for (int k = 0; k < 2; k++)                                                                \
            v2[k] = xor(v2[k], finish);                                                            \
        SIP_ROUND2(add, xor, r13, r16, r17, r21, r32);                                             \
        SIP_ROUND2(add, xor, r13, r16, r17, r21, r32);                                             \
        SIP_ROUND2(add, xor, r13, r16, r17, r21, r32);                                             \
        SIP_ROUND2(add, xor, r13, r16, r17, r21, r32);                                             \
        for (int k = 0; k < 2; k++)                                                                \
            store((void *)(out + at + (size_t)k * (pairs)),                                        \
                  xor(xor(v0[k], v1[k]), xor(v2[k], v3[k])));                                      \
    }                                                                                              \
    return at;

#define SIP_R(x, n) _mm256_or_si256(_mm256_slli_epi64(x, n), _mm256_srli_epi64(x, 64 - (n)))
#define SIP_R13(x) SIP_R(x, 13)
#define SIP_R16(x) _mm256_shuffle_epi8(x, turn16)
#define SIP_R17(x) SIP_R(x, 17)
#define SIP_R21(x) SIP_R(x, 21)
#define SIP_R32(x) _mm256_shuffle_epi32(x, 0xb1)
#define SIP_LOAD(p) _mm256_loadu_si256((const __m256i *)(p))
#define SIP_STORE(p, v) _mm256_storeu_si256((__m256i *)(p), v)

SIP_AVX2 static size_t sip_avx2(const ald__sip_key *key, const uint64_t *a, const uint64_t *b,
                                size_t count, uint64_t *out)
{
    const __m256i turn16 = _mm256_setr_epi8(6, 7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13, 6,
                                            7, 0, 1, 2, 3, 4, 5, 14, 15, 8, 9, 10, 11, 12, 13);
    SIP_BODY(__m256i, 4, _mm256_set1_epi64x, SIP_LOAD, SIP_STORE, _mm256_add_epi64,
             _mm256_xor_si256, SIP_R13, SIP_R16, SIP_R17, SIP_R21, SIP_R32)
}

#define SIP_Z13(x) _mm512_rol_epi64(x, 13)
#define SIP_Z16(x) _mm512_rol_epi64(x, 16)
#define SIP_Z17(x) _mm512_rol_epi64(x, 17)
#define SIP_Z21(x) _mm512_rol_epi64(x, 21)
#define SIP_Z32(x) _mm512_rol_epi64(x, 32)

SIP_AVX512 static size_t sip_avx512(const ald__sip_key *key, const uint64_t *a, const uint64_t *b,
                                    size_t count, uint64_t *out)
{
    SIP_BODY(__m512i, 8, _mm512_set1_epi64, _mm512_loadu_si512, _mm512_storeu_si512,
             _mm512_add_epi64, _mm512_xor_si512, SIP_Z13, SIP_Z16, SIP_Z17, SIP_Z21, SIP_Z32)
}

static sip_fn sip_variant(int level)
{
    return level >= 2 ? sip_avx512 : level == 1 ? sip_avx2 : NULL;
}

int ald__sip_level(int limit)
{
    int level = __builtin_cpu_supports("avx512f") ? 2 : __builtin_cpu_supports("avx2") ? 1 : 0;
    return level < limit ? level : limit;
}
